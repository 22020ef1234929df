"""What every call gives back, and how it looks."""

from __future__ import annotations

import inspect
import json
import sys
import typing
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
import polars
import pytest
from chrysalis import _knobs
from package import in_parts

TABLE = ch.example(3000, seed=2)
GOOD: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"], "require": ["k=10", "l=4"]}


@pytest.fixture(scope="module")
def made() -> ch.Made:
    return ch.publish(TABLE, **GOOD, method="anatomy", seed=1)


class Checker(HTMLParser):
    """Everything that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def test_a_summary(made: ch.Made) -> None:
    summary = made.summary
    assert summary.rows == summary["rows"] == 3000
    assert summary["guarantees"] == ["k=10", "l=4"] and summary.reproducible
    assert set(summary["phases"]) >= {"partition", "publish"} and summary["seconds"] > 0
    assert json.loads(summary.to_json()) == summary.to_dict()
    assert "k=10, l=4" in repr(made) and "k=10, l=4" in Checker(made._repr_html_()).text
    with pytest.raises(AttributeError, match="has no 'rowz'"):
        summary.rowz
    assert "rows" in dir(summary)


def test_an_audit(made: ch.Made) -> None:
    audit = made.release.audit(microdata=TABLE, sensitive=["disease"])
    assert audit.ok and audit.raise_if_failed() is audit and not audit.findings
    assert audit["disclosed_rows"] == 0 and len(audit.promises()) == 2
    text = Checker(audit._repr_html_()).text
    assert "Every promise holds" in text and "k=10" in text and "linking" in text
    assert "Every promise holds" in repr(audit)


def test_a_series(tmp_path: Path) -> None:
    table = ch.example(600).to_pandas()
    months = [table.iloc[:400], table.iloc[60:460], table.iloc[120:520]]
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "person": "patient_id"}
    ledger, releases = tmp_path / "clinic.ledger", []
    for number, month in enumerate(months, start=1):
        made = ch.publish(month, **roles, require="m=3", method="anatomy", series=ledger, folder=tmp_path / f"release-{number}")
        assert made.summary["series"]["number"] == number and made.release.path == tmp_path / f"release-{number}"
        releases.append(made.release)
    # The release appears together with what the ledger remembers of it, or not at all.
    with pytest.raises(ch.RequestError, match="appears together with its ledger"):
        ch.publish(months[0], **roles, require="m=3", method="anatomy", series=ledger)
    assert not (tmp_path / "release-4").exists()
    audit = releases[2].audit(microdata=months[2], person="patient_id", others=releases[:2], with_microdata=months[:2],
                              series=ledger).raise_if_failed()
    checks = {check["check"] if "check" in check else check["name"]: check["detail"] for check in audit["checks"]}
    assert "the one that the ledger remembers" in checks["signatures"] and "releases 1, 2, 3" in checks["sequence"]
    found = ch.series(ledger)
    assert (found.m, found.column, found.people) == (3, "disease", 520) and not found.notes
    assert [(release["number"], release["rows"], release["newcomers"]) for release in found.releases] == [
        (1, 400, 400), (2, 400, 60), (3, 400, 60)]
    assert "3 releases, 520 people" in repr(found)
    # A run that was cut off before its release was written.
    (tmp_path / "clinic.ledger.next").write_bytes(ledger.read_bytes())
    (tmp_path / "clinic.ledger.next").chmod(0o600)
    with pytest.warns(ch.ChrysalisWarning, match="was to publish release 3 ended after it was written"):
        assert ch.series(ledger).unfinished == {"number": 3, "is_published": True}
    (tmp_path / "clinic.ledger.next").unlink()
    with pytest.raises(ch.RequestError, match="there is no ledger"):
        ch.series(tmp_path / "nothing")
    # Everybody only once.
    apart = tmp_path / "once"
    apart.mkdir()
    once = {**roles, "require": "l=3", "method": "anatomy", "series": apart / "once.ledger", "only_new": True}
    ch.publish(months[0], **once, folder=apart / "release-1")
    assert ch.publish(months[1], **once, folder=apart / "release-2").summary["series"]["left_out"] == 340
    # The labels of the first month, for those who are new in the third.
    like = {**once, "folder": apart / "release-3", "like": ch.open(apart / "release-1")}
    kept = ch.publish(months[2], **like).summary["like"]
    assert kept["groups"] >= kept["kept"] and kept["outside"] >= 0
    # Without a ledger, a plain release of the same people leaks.
    plain = {"quasi": ["age", "sex"], "sensitive": "disease", "require": "l=3", "method": "anatomy"}
    first = ch.publish(months[0], **plain, folder=tmp_path / "plain").release
    with pytest.raises(ch.InfeasibleError):
        ch.publish(months[1], **plain, after=[first.path])


def test_an_answer(made: ch.Made) -> None:
    question = "SELECT sex, COUNT(*) AS n, AVG(age) FROM microdata WHERE disease = 'influenza' GROUP BY sex"
    answer = made.release.query(question)
    assert len(answer) == 2 and [row.group["sex"] for row in answer] == ["F", "M"]
    frame = answer.to_pandas()
    names = ["sex", "n", "n_lower", "n_upper", "n_std_error"]
    assert frame.columns.tolist()[:5] == names and frame.shape == (2, 9)
    assert ((frame["n_lower"] <= frame["n"]) & (frame["n"] <= frame["n_upper"])).all()
    assert answer.to_polars().to_dict(as_series=False)["n"] == frame["n"].tolist()
    assert polars.DataFrame(answer).shape == (2, 9)
    checked = Checker(answer._repr_html_())
    assert answer._repr_html_().count("<svg") == 4 and "influenza" in checked.text
    assert answer.explanation and "n about" in repr(answer)
    with pytest.raises(ValueError, match="4 numbers in 2 rows"):
        answer.value
    truth = (TABLE.to_pandas().query("disease == 'influenza'").groupby("sex")).size()
    assert (frame["n_lower"].to_numpy() <= truth.to_numpy()).all() and (truth.to_numpy() <= frame["n_upper"].to_numpy()).all()


def test_values_of_a_table_are_no_html() -> None:
    hostile = "<script>alert(1)</script>"
    frame = pandas.DataFrame({"place": [hostile, "b"] * 20, "disease": ["x", "y", "z", "x"] * 10})
    made = ch.publish(frame, quasi="place", sensitive="disease", require="l=2", method="anatomy", seed=1)
    answer = made.release.query("SELECT place, COUNT(*) AS n FROM microdata GROUP BY place")
    assert hostile in {row.group["place"] for row in answer}
    assert hostile in Checker(answer._repr_html_()).text


@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_keys_keep_their_types(made: ch.Made) -> None:
    ages = made.release.query("SELECT age, COUNT(*) AS n FROM microdata GROUP BY age").to_arrow()
    assert str(ages.schema.field("age").type) == "int64"
    none = made.release.query("SELECT sex, COUNT(*) AS n FROM microdata WHERE age > 200 GROUP BY sex")
    Checker(none._repr_html_())
    assert len(none.to_pandas()) == len(none)


def test_notes_come_with_answers(made: ch.Made) -> None:
    with pytest.warns(ch.ChrysalisWarning, match="did you mean"):
        answer = made.release.query("SELECT COUNT(*) AS n FROM microdata WHERE disease = 'influenzo'")
    assert answer.notes and answer.notes[0] in Checker(answer._repr_html_()).text


def test_public_tables_are_joined(made: ch.Made) -> None:
    regions = pandas.DataFrame({"code": ["F", "M"], "word": ["women", "men"]})
    question = "SELECT COUNT(*) AS n FROM microdata WHERE sex IN (SELECT code FROM words WHERE word = 'women')"
    plain = made.release.query("SELECT COUNT(*) AS n FROM microdata WHERE sex = 'F'").value
    assert made.release.query(question, tables={"words": regions}).value == plain
    assert "words" in made.release.rewrite(question, tables={"words": regions}) or plain.estimate


def test_a_sample(made: ch.Made) -> None:
    sample = made.release.sample(worlds=2, seed=1)
    frames = [world.to_pandas() for world in sample]
    assert len(sample) == 2 and frames[0].columns.tolist() == ["age", "sex", "disease"]
    assert not frames[0].equals(frames[1])
    assert frames[0].equals(made.release.sample(worlds=2, seed=1)[0].to_pandas())
    assert {column["name"] for column in sample.report["columns"]} == {"age", "sex", "disease"}


def test_an_evaluation(made: ch.Made) -> None:
    found = made.release.evaluate(TABLE, queries=50, worlds=0, attributes=[["age", "sex"]])
    aggregates = found["workload"]["aggregates"]
    assert aggregates and all(aggregate["inside"] == 1.0 for aggregate in aggregates)
    Checker(found._repr_html_())


def test_a_comparison(tmp_path: Path) -> None:
    runs = [{"method": "anatomy"}, {"method": "generalize", "require": ["l={l}"], "vary": {"l": [2, 400]}}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ch.compare(TABLE, **GOOD, runs=runs, queries=20, seed=1)
    assert [run["made"] for run in found.runs] == [True, True, False] and found.is_sound and found.advice
    page = found.page(tmp_path / "report.html")
    assert page.read_text().startswith("<!") and json.loads((tmp_path / "report.json").read_text()) == found.to_dict()
    assert "--seed" not in found.html() and "chrysalis.publish(" in found.html()
    with pytest.raises(ch.RequestError, match="exists"):
        found.page(tmp_path / "report.html")
    found.page(tmp_path / "report.html", force=True)
    assert "generalize" in Checker(found._repr_html_()).text


def test_a_look_at_a_table(tmp_path: Path) -> None:
    found = ch.profile(TABLE, quasi=["age", "sex"], sensitive="disease")
    frame = TABLE.to_pandas()
    assert found.anonymity["k"] == frame.groupby(["age", "sex"]).size().min()
    Checker(found._repr_html_())
    risk = ch.risk(TABLE, quasi=["age", "sex"], rows=tmp_path / "rows.csv")
    sizes = frame.groupby(["age", "sex"])["sex"].transform("size")
    assert risk["prosecutor"]["mean"] == pytest.approx((1 / sizes).mean())
    assert (tmp_path / "rows.csv").stat().st_mode & 0o777 == 0o600
    of_people = ch.risk(TABLE, quasi=["age", "sex"], population_table=pandas.concat([frame, frame]))
    assert of_people["prosecutor"]["mean"] == pytest.approx(risk["prosecutor"]["mean"])


def test_a_population_in_memory_is_like_one_in_a_file(tmp_path: Path) -> None:
    people = ch.example(9000, seed=2).to_pandas()
    people.to_csv(tmp_path / "people.csv", index=False)
    knobs: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "require": ["l=3", "k-map=9"], "seed": 1}
    one = ch.publish(TABLE, **knobs, population_table=people).release
    other = ch.publish(TABLE, **knobs, population_table=tmp_path / "people.csv").release
    assert [table.to_arrow() for table in one.tables.values()] == [table.to_arrow() for table in other.tables.values()]
    assert one.audit(population_table=people).ok


def test_a_comparison_takes_a_population_in_memory(tmp_path: Path) -> None:
    people = ch.example(9000, seed=2).to_pandas()
    people.to_csv(tmp_path / "people.csv", index=False)
    knobs: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "require": ["l=3", "k-map=9"], "seed": 1,
                             "queries": 5, "runs": [{"partitioner": "mondrian"}, {"partitioner": "full-domain",
                                                                                "suppress": 0.1}]}
    one = ch.compare(TABLE, **knobs, population_table=people)
    other = ch.compare(TABLE, **knobs, population_table=tmp_path / "people.csv")
    assert [run["made"] for run in one.runs] == [True, True]

    def figures(found: ch.Comparison) -> list[tuple[Any, ...]]:
        return [(run["name"], run["ncp"], run["groups"], run["guarantees"]) for run in found.runs]

    assert figures(one) == figures(other)
    assert 'population_table=…' in one.html() or "population_table=…" in json.dumps(one.to_dict())


@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_a_release_that_does_not_fit_is_audited_part_by_part(tmp_path: Path) -> None:
    release = in_parts(tmp_path)
    whole = ch.open(tmp_path / "release").audit()
    assert release.manifest["rows"] == 300_000 and "300,000 rows" in repr(release)
    assert len(release.manifest["tables"][0]["parts"]) > 1
    audit = release.audit().raise_if_failed()
    assert audit["disclosed_rows"] == whole["disclosed_rows"] and audit.promises() == whole.promises()
    assert any("part by part" in note for note in audit.notes), audit.notes
    assert not any("part by part" in note for note in whole.notes)
    # What needs all of it is refused, and evidence that does as well.
    with pytest.raises(ch.RequestError, match="would need about"):
        release.query("SELECT COUNT(*) FROM microdata")
    with pytest.raises(ch.RequestError, match="microdata can be compared only") as caught:
        release.audit(microdata=tmp_path / "table.csv")
    assert "`memory=" in caught.value.remedy
    assert release.audit(memory="1GB", microdata=tmp_path / "table.csv").ok


def test_releases_of_a_series_stay_open(tmp_path: Path) -> None:
    """A second question reads no table again: their files may even be gone."""
    table = ch.example(600).to_pandas()
    roles: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "person": "patient_id", "require": "m=3",
                             "method": "anatomy", "series": tmp_path / "clinic.ledger"}
    ch.publish(table[:400], **roles, folder=tmp_path / "one")
    ch.publish(table[60:460], **roles, folder=tmp_path / "two")
    first, second = ch.open(tmp_path / "one"), ch.open(tmp_path / "two")
    question = "SELECT (SELECT COUNT(*) FROM microdata WHERE age < 40) - (SELECT COUNT(*) FROM microdata VERSION AS OF 1 " \
        "WHERE age < 40) AS n"
    told = second.query(question, others=[tmp_path / "one"]).to_dict()["rows"]
    assert second.query(question, others=[first]).to_dict()["rows"] == told
    for folder in ("one", "two"):
        for file in (tmp_path / folder).glob("*.parquet"):
            file.unlink()
    assert second.query(question, others=[first]).to_dict()["rows"] == told
    with pytest.raises(ch.RequestError, match="No such file"):
        second.query(question, others=[tmp_path / "one"])


def test_taxonomies(tmp_path: Path) -> None:
    taxonomy = ch.propose_taxonomy(TABLE, "occupation")
    assert ch.check_taxonomy(taxonomy, TABLE, "occupation").ok
    path = taxonomy.save(tmp_path / "occupation.csv")
    assert ch.check_taxonomy(path).ok
    by_lines = ch.publish(TABLE, quasi=["occupation", "age"], sensitive="disease", require="l=3", seed=1,
                          taxonomy={"occupation": taxonomy})
    by_file = ch.publish(TABLE, quasi=["occupation", "age"], sensitive="disease", require="l=3", seed=1,
                         taxonomy={"occupation": path})
    assert [t.to_arrow() for t in by_lines.release.tables.values()] == [t.to_arrow() for t in by_file.release.tables.values()]


def test_the_index_of_pandas_is_no_column() -> None:
    frame = TABLE.to_pandas().query("age > 30")
    found = ch.profile(frame)
    assert [column["name"] for column in found["columns"]] == TABLE.columns


def test_a_certificate(made: ch.Made, tmp_path: Path) -> None:
    made.release.save(tmp_path / "release").audit(certificate=tmp_path / "page.html")
    assert "Certificate" in (tmp_path / "page.html").read_text()
    with pytest.raises(ch.RequestError, match="inside the release"):
        made.release.audit(certificate=tmp_path / "release" / "page.html")


def test_every_knob_is_typed() -> None:
    """Types and knobs agree: each keyword is known to the hall, which refuses unknown ones by name."""
    hints = typing.get_type_hints(_knobs.CompareKnobs)
    for name in hints:
        with pytest.raises(ch.ChrysalisError) as caught:
            ch.compare(TABLE, **{name: object()})
        assert "no keyword" not in caught.value.message, name
    with pytest.raises(ch.RequestError) as caught:
        ch.publish(TABLE, **{"": 1})
    assert "no keyword" in caught.value.message


def test_everything_public_is_documented() -> None:
    for name in ch.__all__:
        thing = getattr(ch, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, (Exception, tuple)):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"
    assert ch.__version__.count(".") == 2


def test_everything_that_is_called_has_an_example() -> None:
    """Examples run as doctests."""
    called = [getattr(ch, name) for name in ch.__all__ if inspect.isfunction(getattr(ch, name))]
    called += [value for name, value in vars(ch.Release).items() if not name.startswith("_") and inspect.isfunction(value)]
    assert len(called) > 12
    assert [it.__qualname__ for it in called if ">>> " not in (inspect.getdoc(it) or "")] == []


def test_without_pyspark_the_cluster_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The module can be imported all the same."""
    import chrysalis.spark as cluster

    monkeypatch.setitem(sys.modules, "pyspark", None)
    nothing: Any = None
    for call in (
        lambda: cluster.publish(nothing, out=tmp_path / "release", quasi=["age"]),
        lambda: cluster.audit(tmp_path, nothing),
        lambda: cluster.query(tmp_path, "SELECT COUNT(*) FROM microdata", nothing),
    ):
        with pytest.raises(ch.RequestError, match="PySpark, which is not installed") as caught:
            call()
        assert "pip install 'chrysalis-privacy[spark]'" in caught.value.remedy
    for name in cluster.__all__:
        assert inspect.getdoc(getattr(cluster, name)), name
