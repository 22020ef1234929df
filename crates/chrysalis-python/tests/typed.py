"""What type checkers see of the package: right calls pass, wrong ones are found (an unused `ignore` is an error)."""

from __future__ import annotations

from pathlib import Path

import chrysalis as ch


def right(table: ch.Table, frame: object) -> list[float | None]:
    made: ch.Made = ch.publish(
        table, quasi=["age", "sex"], sensitive="disease", require=["k=10", "l=4"], near={"cost": 100}, seed=1,
        taxonomy={"occupation": ch.propose_taxonomy(frame, "occupation")}, progress=lambda *_: None,
    )
    release = ch.open(Path("release"), memory="2GB").save("copy", force=True)
    audit: ch.Audit = release.audit(microdata=frame, person="id").raise_if_failed()
    answer = made.release.query("SELECT COUNT(*) FROM microdata", estimate="even")
    shape: tuple[int, int] = answer.to_pandas().shape
    found = ch.compare(frame, quasi="age", runs=[{"method": "anatomy"}], queries=shape[0]).page("report.html")
    assert audit.ok and found.is_file()
    return [value.estimate for row in answer.rows for value in row.values]


def wrong(table: ch.Table) -> None:
    ch.publish(table, qausi=["age"])  # type: ignore[call-arg]
    ch.publish(table, quasi=3)  # type: ignore[arg-type]
    ch.profile(table, method="anatomy")  # type: ignore[call-arg]
    ch.risk(table, quasi="age", fraction="a tenth")  # type: ignore[arg-type]
    ch.open(3)  # type: ignore[arg-type]
