"""Every kind of error, raised once: its class, what it says, and a remedy in the words of Python."""

from __future__ import annotations

import re
import typing
import warnings
from pathlib import Path
from typing import Any, Callable

import chrysalis as ch
import pandas
import pytest
from catalogue import flags_in, knobs_of_remedies
from chrysalis import _knobs, _native

TABLE = ch.example(300, seed=1)
GOOD: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"], "require": ["l=3"], "seed": 1}


def publish(**changed: Any) -> ch.Made:
    return ch.publish(TABLE, **{**GOOD, **changed})


def frame(**columns: list[Any]) -> pandas.DataFrame:
    return pandas.DataFrame(columns)


def publish_frame(**columns: list[Any]) -> ch.Made:
    return ch.publish(frame(**columns), quasi=list(columns), require="k=2")


def clustered(rows_per_cell: int = 1000, seed: int | None = None, **changed: Any) -> object:
    """Publishing on a cluster, as far as it gets without one."""
    said = {name: value for name, value in {**GOOD, **changed}.items() if name != "seed"}
    if rows_per_cell < 1 or seed is not None:
        from chrysalis import spark

        return spark.publish(typing.cast(Any, TABLE), out="unused", rows_per_cell=rows_per_cell, seed=seed, **said)
    return _native.ClusterJob(TABLE, said, "unused", None, False, rows_per_cell)


RELEASE = publish().release
TINY = frame(age=[1, 2, 3, 4], disease=["a", "b", "a", "b"])

#: A call, the class of its error, what its message says, and what its remedy says.
CASES: list[tuple[str, Callable[[], object], type[ch.ChrysalisError], str, str]] = [
    # Keywords.
    ("unknown keyword", lambda: publish(requires="l=3"), ch.RequestError, "no keyword `requires`", "mean `require`?"),
    ("strange keyword", lambda: publish(xyz=1), ch.RequestError, "no keyword `xyz`", "help(chrysalis.publish)"),
    ("wrong type", lambda: publish(collude="many"), ch.RequestError, "`collude`: expected a whole number", "collude=2"),
    ("strange value", lambda: publish(quasi=[object()]), ch.RequestError, "value of type object", 'quasi=["age", "sex"]'),
    ("not a number", lambda: publish(suppress=float("nan")), ch.RequestError, "not a number to use", "finite"),
    ("too large", lambda: publish(collude=2**70), ch.RequestError, "too large a number", "smaller"),
    ("not by column", lambda: publish(kind="integer"), ch.RequestError, "dictionary with their names", 'kind={"zip_code"'),
    ("unknown of a column", lambda: publish(attributes={"age": {"roles": "quasi"}}), ch.RequestError,
     "column `age`: there is no keyword `roles`", "mean `role`?"),
    ("of another call", lambda: publish(queries=3), ch.RequestError, "`queries` has no effect here", "leave it out"),
    ("of another call too", lambda: ch.profile(TABLE, method="anatomy"), ch.RequestError, "no effect", "leave it"),
    ("about files", lambda: publish(delimiter=";"), ch.RequestError, "is in memory", "`delimiter`"),
    ("a principle", lambda: publish(k=10), ch.RequestError, "no keyword `k`", 'require=["k=10"]'),
    ("not a list", lambda: publish(require={"k": 10}), ch.RequestError, "expected a list, but this is a dictionary",
     'require=["k=10", "l=4"]'),
    ("no text", lambda: publish(accept=True), ch.RequestError, "this is True", 'accept=["disclosure"]'),
    ("a set", lambda: publish(quasi={"age", "sex"}), ch.RequestError, "of type set", "no order"),
    ("several in one", lambda: publish(quasi="age,sex"), ch.RequestError, "no column `age,sex`", "each on its own"),
    ("no run", lambda: ch.compare(TABLE, **GOOD, runs=["anatomy"]), ch.RequestError, "expected a dictionary",
     'runs=[{"require": '),
    ("a frame of lines", lambda: publish(taxonomy={"sex": frame(value=["F", "M"])}), ch.RequestError, "of type DataFrame",
     'taxonomy={"sex": [["F", "*"]'),
    ("below 0", lambda: publish(seed=-1), ch.RequestError, "`seed` is -1", "from 0 on"),
    ("2**64 or more", lambda: publish(seed=2**64), ch.RequestError, "`seed` is 18446744073709551616", "a smaller number"),
    ("people without number", lambda: ch.risk(TABLE, quasi="age", population=2**70), ch.RequestError, "`population` is",
     "a smaller number"),
    ("wrong delimiter", lambda: _of_file(delimiter="long"), ch.RequestError, "delimiter: expected one character", "help("),
    ("wrong share", lambda: publish(partitioner="full-domain", suppress=2), ch.RequestError, "suppress: expected", "help("),
    ("wrong memory", lambda: _of_spec("memory = \"much\""), ch.RequestError, "memory: expected an amount", "`memory="),
    ("no such field", lambda: _of_spec("qausi = []"), ch.RequestError, "unknown field `qausi`", "chrysalis init"),
    ("series", lambda: publish(sensitive=["disease"], require=["m=3"], person="patient_id", series="clinic.ledger"),
     ch.RequestError, "appears together with its ledger", "with `folder`"),
    # Tables.
    ("no table", lambda: ch.publish(3, **GOOD), ch.RequestError, "of type int, which is no table", "pandas, polars"),
    ("a column", lambda: ch.publish(TABLE.to_pandas()["age"], **GOOD), ch.RequestError, "one column", ".to_frame()"),
    ("mixed types", lambda: publish_frame(age=[1, "a", 2]), ch.RequestError, "age with type object", ".astype(str)"),
    ("not computed", lambda: ch.publish(_lazy(), **GOOD), ch.RequestError, "LazyFrame", ".collect()"),
    ("no file", lambda: ch.publish("nothing.csv", **GOOD), ch.RequestError, "nothing.csv", ""),
    ("no rows", lambda: ch.publish(TINY[:0], quasi="age", sensitive="disease", require="l=2"), ch.RequestError,
     "the table has no rows", "export"),
    ("no such column", lambda: publish(quasi=["agee"]), ch.RequestError, "there is no column `agee`", ""),
    ("nested column", lambda: ch.publish(frame(age=[[1], [2]], disease=["a", "b"]), quasi="age", sensitive="disease",
                                         require="l=2"), ch.RequestError, "has the type", "numbers, text or a date"),
    ("two alike", lambda: ch.publish(pandas.DataFrame([[1, 2]], columns=["a", "a"]), quasi="a", require="k=1"),
     ch.RequestError, "", ""),
    ("wrong kind", lambda: publish(kind={"sex": "integer"}), ch.RequestError, "not an integer", ""),
    ("missing values", lambda: ch.publish(frame(age=[1, 2, None, 4], disease=["a", "b", "a", "b"]), quasi="age",
                                          sensitive="disease", require="l=2", missing="error"), ch.RequestError,
     "", "missing="),
    # Knobs.
    ("nothing required", lambda: publish(require=[]), ch.RequestError, "no principle is required", 'require=["k=10"]'),
    ("no such principle", lambda: publish(require="m=3,4,5"), ch.RequestError, "m=3,4,5", ""),
    ("no such method", lambda: publish(method="anatomyy"), ch.RequestError, "anatomyy", ""),
    ("no such partitioner", lambda: publish(partitioner="mondrain"), ch.RequestError, "mondrain", ""),
    ("no effect", lambda: publish(suppress=0.1), ch.RequestError, "suppress", ""),
    ("of another method", lambda: publish(marginals=[["age"]]), ch.RequestError, "`marginals` goes with the method angel",
     "leave `marginals` out"),
    ("of another partitioner", lambda: publish(transparent=True, relaxed=True), ch.RequestError, "`relaxed` goes with",
     "leave `relaxed=True` out"),
    ("no sensitive", lambda: ch.publish(TABLE, quasi="age", require="l=3"), ch.RequestError, "", "sensitive"),
    ("about no sensitive", lambda: publish(require="cost:l=3"), ch.RequestError, "not a sensitive", 'sensitive=["cost"]'),
    ("required twice", lambda: publish(require=["l=3", "l=3"]), ch.RequestError, "twice", "once"),
    ("no taxonomy", lambda: publish(taxonomy={"sex": "nothing.csv"}), ch.RequestError, "nothing.csv", ""),
    ("unfit taxonomy", lambda: publish(quasi=["sex"], taxonomy={"sex": [["F", "*"]]}), ch.RequestError, "M", ""),
    ("no such step", lambda: publish(prepare={"age": "bottomm:3"}), ch.RequestError, "bottomm", ""),
    ("person of no use", lambda: publish(rows_known=True), ch.RequestError, "", 'person="patient_id"'),
    ("population of no use", lambda: publish(population_table=TABLE), ch.RequestError, "no principle is about it",
     'require=["k-map=5"]'),
    ("population missing", lambda: publish(require="k-map=5"), ch.RequestError, "", 'population_table="census.csv"'),
    ("identifying", lambda: publish(other=["patient_id"]), ch.InfeasibleError, "patient_id", "identifying=patient_id"),
    # Memory, and cells.
    ("memory of a release that stays", lambda: ch.publish(TABLE, **GOOD, memory="1GB"), ch.RequestError, "`memory`", ""),
    ("memory of cells", lambda: clustered(memory="1GB"), ch.RequestError, "no effect on a cluster", "`rows_per_cell`"),
    ("no cells of angel", lambda: clustered(method="angel"), ch.RequestError, "cell by cell", "publish on one machine"),
    ("no rows in a cell", lambda: clustered(rows_per_cell=0), ch.RequestError, "`rows_per_cell` is 0", "1_000_000"),
    ("fewer than none", lambda: clustered(rows_per_cell=-1), ch.RequestError, "`rows_per_cell` is -1", "1_000_000"),
    ("seed below 0", lambda: clustered(seed=-1), ch.RequestError, "`seed` is -1", "from 0 on"),
    ("a folder that is not shared", lambda: _native.cluster_survey("/nowhere/.chrysalis-abcdef", TABLE), ch.RequestError,
     "does not see the folder /nowhere: it is not shared", "`out`"),
    ("accepted in vain", lambda: publish(accept="everything"), ch.RequestError, "everything", 'accept=["disclosure"]'),
    # What these rows cannot keep.
    ("infeasible", lambda: publish(require="l=200"), ch.InfeasibleError, "l=200", ""),
    ("too few rows", lambda: publish(require="k=3000"), ch.InfeasibleError, "k=3000", ""),
    ("disclosed", lambda: publish(require="k=2", quasi=["age", "sex", "zip_code"]), ch.InfeasibleError, "disclosed",
     'accept=["disclosure"]'),
    # Releases.
    ("no release", lambda: ch.open("nowhere"), ch.RequestError, "nowhere", ""),
    ("memory", lambda: ch.open("nowhere", memory="much"), ch.RequestError, "`memory`: expected an amount", '"2GB"'),
    ("format", lambda: RELEASE.save("unused", format="xml"), ch.RequestError, "`format`: expected parquet or csv", ""),
    ("other microdata", lambda: RELEASE.audit(microdata=TINY), ch.RequestError, "there is no column `sex`",
     "the release was made from"),
    ("person of rows", lambda: RELEASE.audit(microdata=TABLE, person="patient_id"), ch.RequestError, "no effect",
     "`person`"),
    ("unsaved certificate", lambda: RELEASE.audit(certificate="page.html"), ch.RequestError, "not saved yet", "save"),
    ("no evaluation", lambda: RELEASE.evaluate(TABLE, from_table="t"), ch.RequestError, "no effect", "attributes"),
    ("no workload", lambda: RELEASE.evaluate(TABLE, workload="x"), ch.RequestError, "`workload`", ""),
    ("no worlds", lambda: RELEASE.sample(worlds=0), ch.RequestError, "0 worlds", "1 to 1,000"),
    ("no dialect", lambda: RELEASE.rewrite("SELECT COUNT(*) FROM microdata", dialect="basic"), ch.RequestError,
     "`dialect`", ""),
    ("no estimate", lambda: RELEASE.query("SELECT COUNT(*) FROM microdata", estimate="odd"), ch.RequestError,
     "`learned` or `even`", ""),
    ("no page", lambda: _compared().page("page.txt"), ch.RequestError, "does not end in .html", "comparison.html"),
    ("two populations", lambda: ch.risk(TABLE, quasi="age", population=9, fraction=0.1), ch.RequestError,
     "both describe the population", "`population` or `fraction`"),
    ("half a taxonomy", lambda: ch.check_taxonomy([["a", "*"]], TABLE), ch.RequestError, "looked up in a table", ""),
    # Questions.
    ("no SQL", lambda: RELEASE.query("how many?"), ch.QuestionError, "", ""),
    ("no such question", lambda: RELEASE.query("SELECT COUNT(*) FROM microdata WHERE wage > 3"), ch.QuestionError,
     "wage", ""),
    ("rows", lambda: RELEASE.query("SELECT * FROM microdata"), ch.QuestionError, "", ""),
    # Stopped, and failed.
    ("stopped", lambda: ch.publish(ch.example(200_000), **GOOD, progress=lambda *_: False), ch.StoppedError, "stopped",
     ""),
    ("failed audit", lambda: _forged().raise_if_failed(), ch.AuditFailedError, "the audit failed", "publish"),
]


def _of_file(**said: Any) -> object:
    """A look at a file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        TINY.to_csv(Path(folder) / "table.csv", index=False)
        return ch.profile(Path(folder) / "table.csv", **said)


def _of_spec(line: str) -> object:
    """A release that a spec describes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        TINY.to_csv(Path(folder) / "table.csv", index=False)
        (Path(folder) / "chrysalis.toml").write_text(f'input = "table.csv"\n{line}\n')
        return ch.publish(Path(folder) / "chrysalis.toml", quasi="age", require="k=2", folder=Path(folder) / "release")


def _lazy() -> Any:
    import polars

    return polars.LazyFrame({"age": [1]})


def _compared() -> ch.Comparison:
    return ch.compare(TABLE, **GOOD, runs=[{"method": "generalize"}], queries=5)


def _forged() -> ch.Audit:
    """A release whose promise was made larger by hand."""
    import json
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        publish().release.save(place)
        manifest = json.loads((place / "release.json").read_text())
        manifest["promises"][0]["principle"] = "l=40"
        (place / "release.json").write_text(json.dumps(manifest))
        return ch.open(place).audit()


@pytest.mark.parametrize(("call", "kind", "message", "remedy"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_an_error_says_what_is_wrong_and_what_to_do(
    call: Callable[[], object], kind: type[ch.ChrysalisError], message: str, remedy: str
) -> None:
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert type(error) is kind
    assert error.message and message in error.message, error.message
    assert remedy in error.remedy, error.remedy
    for text in (str(error), error.message, error.remedy):
        assert not flags_in(text), text
    assert error.remedy or kind is ch.StoppedError


def test_every_class_is_raised() -> None:
    classes = {case[2] for case in CASES}
    known = {ch.RequestError, ch.InfeasibleError, ch.QuestionError, ch.StoppedError, ch.AuditFailedError}
    assert classes == known
    # A bug cannot be raised on purpose: only its class can be looked at.
    assert issubclass(ch.InternalError, ch.ChrysalisError)


def test_the_example_of_a_keyword_can_be_written_so() -> None:
    """Whoever writes a keyword in a strange way is shown one that is understood."""
    shown = 0
    for name in typing.get_type_hints(_knobs.CompareKnobs):
        with pytest.raises(ch.RequestError) as caught:
            ch.compare(TABLE, **{name: object()})
        example = re.fullmatch(r"write it like `(.*)`", caught.value.remedy)
        if not example:
            continue
        shown += 1
        with pytest.raises(ch.ChrysalisError) as refused:
            ch.compare(TABLE, **eval(f"dict({example[1]})"), method="none of these")
        assert not re.search("expected|cannot be used|dictionary", refused.value.message), refused.value.message
    assert shown > 15


def test_a_remedy_names_no_keyword_that_is_not_there() -> None:
    import inspect

    calls = [getattr(ch, name) for name in ch.__all__ if inspect.isfunction(getattr(ch, name))]
    calls += [value for name, value in vars(ch.Release).items() if not name.startswith("_") and inspect.isfunction(value)]
    known = {parameter for call in calls for parameter in inspect.signature(call).parameters}
    known |= typing.get_type_hints(_knobs.CompareKnobs).keys()
    named = knobs_of_remedies()
    assert len(named) > 30 and sorted(named - known) == []


def test_what_was_made_says_where_its_release_is() -> None:
    with pytest.raises(AttributeError, match=r"write `made\.release\.save`"):
        publish().save("release")  # type: ignore[attr-defined]


def test_one_may_stand_for_a_list_of_one(tmp_path: Path) -> None:
    release = publish().release.save(tmp_path / "one")
    other = publish(seed=2).release
    assert release.audit(others=other).to_dict()["attacks"].keys() == release.audit(others=[other])["attacks"].keys()
    assert release.audit(sensitive="disease").ok and not release.audit(sensitive="age").ok
    assert release.evaluate(TABLE, attributes=["age"]).to_dict() == release.evaluate(TABLE, attributes=[["age"]]).to_dict()


def test_columns_may_have_numbers_as_names() -> None:
    made = ch.publish(frame(a=[1, 2, 3, 4] * 5, b=["x", "y"] * 10).set_axis([0, 1], axis=1), quasi=[0], sensitive=1,
                      require="l=2")
    assert [it["name"] for it in made.release.manifest["attributes"]] == ["0", "1"]


def test_errors_are_also_what_python_has() -> None:
    with pytest.raises(ValueError, match="no keyword"):
        publish(wat=1)
    with pytest.raises(TypeError):
        ch.publish()  # type: ignore[call-arg]


def test_notes_are_warnings_and_speak_of_no_flag(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        publish(quasi=["age", "sex", "patient_id"])
        publish(partitioner="sequential", require="l=2", accept="disclosure")
        first = publish().release.save(tmp_path / "one")
        publish(seed=2).release.save(tmp_path / "two")
        audit = first.audit(others=[tmp_path / "two"], microdata=TABLE)
    said = [str(warning.message) for warning in caught if warning.category is ch.ChrysalisWarning]
    assert any("looks like another release" in text for text in said), said
    assert any("patient_id" in text for text in said), said
    told = [*said, *audit.headline, *audit.findings, *audit.attacks().values(), audit._repr_html_(), str(audit)]
    assert not [text for text in told if flags_in(re.sub(r"<style>.*?</style>|<!--.*?-->", "", text, flags=re.S))]
