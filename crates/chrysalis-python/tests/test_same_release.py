"""The same seed gives the same bytes and the same answers, whichever way a table comes in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import chrysalis as ch
import pytest
from conftest import data, hashes, run

Reader = Callable[[Path, list[str]], Any]
QUASI = ["age", "sex", "zip_code"]
QUESTION = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM microdata WHERE disease = 'influenza' GROUP BY sex"


def same_answers(release: ch.Release, folder: Path, question: str) -> None:
    told = json.loads(run("query", folder, question, "--output", "json"))
    own = release.query(question).to_dict()
    for row in own["rows"]:
        del row["because"]
    assert own["rows"] == told["rows"]


def test_the_contract_on_the_hospital(hospital: Path, frame: Reader, tmp_path: Path) -> None:
    table = frame(hospital, ["zip_code"])
    made = ch.publish(
        table, quasi=QUASI, sensitive=["disease"], require=["k=10", "l=4"], method="anatomy", seed=7
    )
    release = made.release.save(tmp_path / "release")
    run(
        "publish", hospital, "--quasi", ",".join(QUASI), "--sensitive", "disease", "--require", "k=10", "--require",
        "l=4", "--method", "anatomy", "--seed", 7, "--out", tmp_path / "told",
    )
    assert hashes(tmp_path / "release") == hashes(tmp_path / "told")
    own, told = (json.loads((tmp_path / name / "release.json").read_text()) for name in ("release", "told"))
    assert own == told
    opened = ch.open(tmp_path / "release")
    table = frame(hospital, ["zip_code"])
    audit = opened.audit(microdata=table).raise_if_failed()
    assert audit.ok and audit["disclosed_rows"] == 0
    assert {"faithful", "files"} <= {check["name"] for check in audit["checks"]}
    same_answers(release, tmp_path / "told", QUESTION)
    same_answers(opened, tmp_path / "told", QUESTION)


@pytest.mark.parametrize("rows", [3_000, 130_000])
def test_little_memory_gives_the_cells_of_the_command(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    ch.example(rows, seed=6).to_pandas().to_csv(path, index=False)
    said: dict[str, Any] = {"quasi": QUASI, "sensitive": ["disease"], "require": ["l=4"], "method": "anatomy", "seed": 7}
    made = ch.publish(path, **said, memory="151MB", folder=tmp_path / "release", kind={"zip_code": "category"})
    run(
        "publish", path, "--quasi", ",".join(QUASI), "--sensitive", "disease", "--require", "l=4", "--method", "anatomy",
        "--seed", 7, "--memory", "151MB", "--kind", "zip_code=category", "--out", tmp_path / "told",
    )
    assert hashes(tmp_path / "release") == hashes(tmp_path / "told")
    parts = made.release.manifest["tables"][0]["parts"]
    assert (len(parts) > 1) == (rows > 100_000) and made.summary.rows == rows
    # It is read when somebody asks for it.
    assert made.release.audit(microdata=path).ok
    assert made.release.query("SELECT COUNT(*) AS n FROM microdata").to_dict()["rows"]
    assert sorted(place.name for place in tmp_path.iterdir()) == ["release", "rows.csv", "told"]


def test_the_contract_on_adult(frame: Reader, tmp_path: Path) -> None:
    path = data("adult_complete.csv.gz")
    quasi, sensitive = ["age", "sex", "race", "education", "marital_status"], "occupation"
    table = frame(path, [])
    made = ch.publish(table, quasi=quasi, sensitive=[sensitive], require=["k=5", "l=4"], seed=11)
    made.release.save(tmp_path / "release")
    run(
        "publish", path, "--quasi", ",".join(quasi), "--sensitive", sensitive, "--require", "k=5", "--require", "l=4",
        "--seed", 11, "--out", tmp_path / "told",
    )
    assert hashes(tmp_path / "release") == hashes(tmp_path / "told")
    question = "SELECT sex, COUNT(*) AS n FROM microdata WHERE age BETWEEN 30 AND 50 GROUP BY sex"
    same_answers(made.release, tmp_path / "told", question)


def test_the_example_of_the_contract_on_adult(frame: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line: publish, save, open, audit, ask, profile, compare, sample, rewrite."""
    import duckdb

    df = frame(data("adult_complete.csv.gz"), [])
    roles: dict[str, Any] = {"quasi": ["age", "sex", "native_country"], "sensitive": ["occupation"]}
    monkeypatch.chdir(tmp_path)
    made = ch.publish(df, **roles, require=["k=10", "l=4"], method="anatomy")
    made.release.save("release")
    assert made.summary.rows == 45_222 and made.summary["guarantees"] == ["k=10", "l=4"]
    assert made.summary["disclosed_rows"] == 0
    release = ch.open("release")
    assert release.audit(microdata=df).raise_if_failed().ok
    answers = release.query("SELECT sex, AVG(age) FROM microdata GROUP BY sex").to_pandas()
    plain = _pandas_of(df)
    truth = plain.groupby("sex")["age"].mean()
    # Ages are published as they are.
    assert answers["avg(age)"].tolist() == pytest.approx(truth.tolist())
    about = release.query("SELECT sex, COUNT(*) AS n FROM microdata WHERE occupation = 'Sales' GROUP BY sex").to_pandas()
    sold = plain[plain["occupation"] == "Sales"].groupby("sex").size()
    assert (about["n_lower"] <= sold.to_numpy()).all() and (sold.to_numpy() <= about["n_upper"]).all()
    assert ch.profile(df, **roles).anonymity["k"] == plain.groupby(roles["quasi"]).size().min()
    found = ch.compare(df, **roles, require="l=4", runs=[{"method": "anatomy"}], queries=5).page("report.html")
    assert found.is_file() and Path("report.json").is_file()
    assert [len(world) for world in release.sample(worlds=2)] == [45_222] * 2
    sql = release.rewrite("SELECT COUNT(*) AS n FROM microdata WHERE occupation = 'Sales'", dialect="duckdb")
    connection = duckdb.connect()
    for name, table in release.tables.items():
        connection.register(name, table.to_arrow())
    (row,) = connection.sql(sql).fetchall()
    assert row[0] == pytest.approx(sold.sum())


def _pandas_of(table: Any) -> Any:
    """The same table, of pandas."""
    import pandas

    if isinstance(table, pandas.DataFrame):
        return table
    # DuckDB has another name for it.
    return (getattr(table, "to_pandas", None) or table.df)()


def test_tables_leave_as_they_came(frame: Reader, hospital: Path, tmp_path: Path) -> None:
    made = ch.publish(
        frame(hospital, ["zip_code"]), quasi=QUASI, sensitive=["disease"], require="l=4", method="permute", seed=1
    )
    made.release.save(tmp_path / "release", format="csv")
    import pandas

    for name, table in made.release.tables.items():
        back = table.to_pandas()
        file = next(tmp_path.glob(f"release/{name}*.csv"))
        told = pandas.read_csv(file, dtype={"zip_code": str}, keep_default_na=False, na_values=[""])
        assert back.columns.tolist() == told.columns.tolist() == table.columns
        for column in back:
            assert back[column].tolist() == told[column].tolist()
        assert table.to_polars().shape == back.shape
        assert table.to_arrow().num_rows == len(table)
    import duckdb

    arrow = made.release.tables[name].to_arrow()
    assert duckdb.sql("SELECT COUNT(*) FROM arrow").fetchall() == [(arrow.num_rows,)]


@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_a_file_and_a_spec_are_tables_too(hospital: Path, tmp_path: Path) -> None:
    knobs: dict[str, Any] = {"quasi": QUASI, "sensitive": "disease", "require": "l=4", "seed": 5}
    from_file = ch.publish(hospital, **knobs).release.save(tmp_path / "file")
    from_frame = ch.publish(ch.example(5000, seed=3), **knobs).release.save(tmp_path / "frame")
    spec = tmp_path / "chrysalis.toml"
    spec.write_text(
        f'input = "{hospital}"\nquasi = ["age", "sex", "zip_code"]\nsensitive = "disease"\n[release]\nrequire = ["l=4"]\n'
    )
    from_spec = ch.publish(str(spec), seed=5).release.save(tmp_path / "spec")
    found = [hashes(Path(str(release.path))) for release in (from_file, from_frame, from_spec)]
    assert found[0] == found[1] == found[2]


def test_rewritten_questions_give_the_same_bounds_in_duckdb(hospital: Path, tmp_path: Path) -> None:
    import duckdb

    made = ch.publish(hospital, quasi=QUASI, sensitive="disease", require="l=4", method="anatomy", seed=2)
    question = "SELECT COUNT(*) AS n FROM microdata WHERE age < 40 AND disease = 'influenza'"
    connection = duckdb.connect()
    for name, table in made.release.tables.items():
        connection.register(name, table.to_arrow())
    row = connection.sql(made.release.rewrite(question, dialect="duckdb")).fetchall()[0]
    value = made.release.query(question, estimate="even").value
    assert [round(float(number), 6) for number in row[-4:]][:3] == [
        round(float(number), 6) for number in (value.estimate, value.lower, value.upper) if number is not None
    ]
