"""On a cluster: a master and two workers, started for these tests. `cargo xtask spark` runs them; elsewhere they skip."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chrysalis as ch
import pytest
from cluster import Cluster, end_session, missing, session
from conftest import COLUMNS

if missing() is not None:
    pytest.skip(f"no cluster: {missing()} (see `cargo xtask spark`)", allow_module_level=True)

import chrysalis.spark as cluster_privacy  # noqa: E402

QUASI = ["age", "sex", "zip_code"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield running
    finally:
        end_session()
        running.stop()


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Any:
    return session(cluster.address, cluster.folder)


def release_of(folder: Path, method: str, format: str = "parquet", **knobs: Any) -> Path:
    """A release of the example hospital, made on one machine."""
    said = {"quasi": QUASI, "sensitive": ["disease"], "require": ["l=4"], "method": method, "seed": 5, **knobs}
    place = folder / f"{method}-{format}"
    ch.publish(ch.example(4000, seed=3), **said).release.save(place, format=format)
    return place


# --- audit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["anatomy", "permute", "generalize"])
def test_the_audit_of_an_honest_release_finds_nothing(method: str, spark: Any, tmp_path: Path) -> None:
    found = cluster_privacy.audit(release_of(tmp_path, method), spark)
    assert found.raise_if_failed().ok
    names = [one.name for one in found.statements]
    assert "promise/l=4" in names and "check/files" in names and len(names) == len(set(names))
    assert spark.catalog.listTables() == [], "the caller's session has no new tables"


def test_the_audit_of_a_csv_release_reads_it_as_it_is(spark: Any, tmp_path: Path) -> None:
    assert cluster_privacy.audit(release_of(tmp_path, "permute", "csv"), spark).ok


def test_a_tampered_release_is_found_out(spark: Any, tmp_path: Path) -> None:
    import pandas

    place = release_of(tmp_path, "anatomy", "csv")
    manifest = json.loads((place / "release.json").read_text())
    file = next(table["parts"][0]["file"] for table in manifest["tables"] if table["name"] == "st")
    shown = pandas.read_csv(place / file)
    # One group shows one disease alone.
    victim = shown["group_id"] == 1
    shown = pandas.concat([shown[~victim], shown[victim].head(1).assign(count=shown[victim]["count"].sum())])
    shown.to_csv(place / file, index=False)
    found = cluster_privacy.audit(place, spark)
    broken = {one.name: one.broken for one in found.broken}
    assert broken["promise/l=4"][0]["group_id"] == 1
    assert [row["file"] for row in broken["check/files"]] == [str(place / file)]
    with pytest.raises(ch.AuditFailedError, match="l=4"):
        found.raise_if_failed()
    assert "promise/l=4" in repr(found)


# --- query ---------------------------------------------------------------------------------------------------------


def questions() -> list[str]:
    """A hundred questions: every kind of aggregate and condition, in turns."""
    aggregates = ["COUNT(*) AS n", "AVG(age) AS mean, COUNT(*) AS n", "SUM(age) AS total", "MIN(age) AS a, MAX(age) AS b"]
    sensitive = ["", "disease = 'influenza'", "disease IN ('influenza', 'asthma')", "disease <> 'hypertension'"]
    quasi = ["", "sex = 'F'", "age BETWEEN 30 AND 52", "zip_code < '3' AND age > 40", "NOT (sex = 'M' OR age < 25)"]
    keys = ["", "sex", "disease", "age / 20"]
    made = []
    for at in range(100):
        conditions = [one for one in (sensitive[at % 4], quasi[at // 4 % 5]) if one]
        key = keys[at // 20 % 4]
        chosen = aggregates[at % 3 if key == "disease" else (at + at // 4) % 4]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        group = f" GROUP BY {key}" if key else ""
        made.append(f"SELECT {key + ', ' if key else ''}{chosen} FROM microdata{where}{group}")
    assert len(set(made)) == 100
    return made


def test_a_hundred_questions_have_the_answers_of_one_machine(spark: Any, tmp_path: Path) -> None:
    place = release_of(tmp_path, "permute")
    release = ch.open(place)
    for question in questions():
        own = release.query(question, estimate="even").to_arrow().to_pylist()
        told = [row.asDict() for row in cluster_privacy.query(place, question, spark).collect()]
        same_rows(own, told, question)


def same_rows(own: list[dict[str, Any]], told: list[dict[str, Any]], question: str) -> None:
    assert len(own) == len(told), question

    def order(row: dict[str, Any]) -> str:
        return str([value if isinstance(value, str) else round(float(value or 0), 3) for value in row.values()])

    for one, other in zip(sorted(own, key=order), sorted(told, key=order)):
        for mine, theirs in zip(one.values(), other.values()):
            if isinstance(mine, float):
                assert theirs == pytest.approx(mine, rel=1e-6, abs=1e-6), (question, one, other)
            else:
                assert theirs == mine, (question, one, other)


def test_a_question_that_cannot_be_answered_says_why(spark: Any, tmp_path: Path) -> None:
    place = release_of(tmp_path, "permute")
    with pytest.raises(ch.QuestionError, match="no column"):
        cluster_privacy.query(place, "SELECT COUNT(*) FROM microdata WHERE height > 1", spark)
