"""Every variant of every error, raised once from Python: its class, its message, and a remedy in the words of Python."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
import pyarrow
import pytest
from catalogue import HELD, SPOKEN, flags_in, is_any, pattern, sentences, variants
from conftest import run

TABLE = ch.example(300, seed=1)
FRAME = TABLE.to_pandas()
GOOD: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"], "require": ["l=3"], "seed": 1}
COUNT = "SELECT COUNT(*) FROM microdata"

Change = Callable[[dict[str, Any]], object]
RequestError, InfeasibleError, QuestionError = ch.RequestError, ch.InfeasibleError, ch.QuestionError


def publish(table: object = TABLE, **changed: Any) -> ch.Made:
    return ch.publish(table, **{**GOOD, **changed})


def file(here: Path, content: str | bytes, name: str = "table.csv") -> Path:
    """A file with this content."""
    content = content.encode() if isinstance(content, str) else content
    (here / name).write_bytes(content)
    return here / name


def profile(here: Path, content: str | bytes, name: str = "table.csv", **knobs: Any) -> ch.Report:
    """A look at a file."""
    return ch.profile(file(here, content, name), **knobs)


def taxonomy(*lines: str, **changed: Any) -> ch.Made:
    """A release whose column `sex` has this taxonomy."""
    return publish(taxonomy={"sex": [line.split(";") for line in lines]}, **changed)


def column(values: list[Any], **knobs: Any) -> ch.Made:
    """A release with a column `x` of these values."""
    frame = pandas.DataFrame({"x": values * 4, "disease": (["a"] * len(values) + ["b"] * len(values)) * 2})
    return ch.publish(frame, quasi=["x"], sensitive="disease", require="k=2", accept="disclosure", **knobs)


def saved(here: Path, name: str = "release", format: str = "csv", **said: Any) -> Path:
    """The folder of a release."""
    publish(**said).release.save(here / name, format=format)
    return here / name


def forged(here: Path, change: Change, **changed: Any) -> ch.Release:
    """A release whose manifest was changed by hand."""
    folder = saved(here, **changed)
    return edited(folder, change)


def changed(folder: Path, change: Change) -> None:
    """Changes a manifest by hand."""
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


def edited(folder: Path, change: Change) -> ch.Release:
    """The release with a manifest that was changed by hand."""
    changed(folder, change)
    return ch.open(folder)


def audited(here: Path, change: Change, **changed: Any) -> ch.Audit:
    """An audit of a release whose manifest was changed by hand."""
    return forged(here, change, **changed).audit()


def attribute(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(it for it in manifest["attributes"] if it["name"] == name)
    return found


def table_of(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(it for it in manifest["tables"] if it["name"] == name)
    return found


def rewritten(folder: Path, table: str, change: Callable[[str], str], *, rows: int | None = None) -> ch.Release:
    """Changes a file of a release, and its hash in the manifest: as if it had been published so."""
    def rehashed(manifest: dict[str, Any]) -> None:
        part = table_of(manifest, table)["parts"][0]
        path = folder / part["file"]
        path.write_text(change(path.read_text()))
        part["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        if rows is not None:
            part["rows"] = table_of(manifest, table)["rows"] = rows

    return edited(folder, rehashed)


def others(here: Path, *names: str, own: dict[str, Any], other: dict[str, Any], **evidence: Any) -> ch.Audit:
    """An audit of one release together with others."""
    rest = [saved(here, name, **other) for name in names]
    return ch.open(saved(here, "own", **own)).audit(others=rest, **evidence)


GENERALIZED = {"method": "generalize"}
SWAPPED: dict[str, Any] = {"method": "rank-swap", "sensitive": ["cost"], "require": "ke=3,100"}
BUTTERFLY: dict[str, Any] = {"method": "butterfly", "quasi": [["age", "sex"], ["zip_code", "age"]], "require": "k=3",
                             "accept": "disclosure"}

Case = tuple[str, Callable[[Path], object], str, type[ch.ChrysalisError]]


def case(
    variant: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError] = RequestError
) -> Case:
    return variant, call, remedy, kind


#: A variant, a call that raises it, what its remedy says, and its class.
CASES = [
    # Tables in files.
    case("TableError::Empty", lambda here: profile(here, ""), "the export"),
    case("TableError::NoRows", lambda here: profile(here, "a,b\n"), "the export"),
    case("TableError::Ragged", lambda here: profile(here, "a,b\n1,2\n3\n"), "`delimiter`"),
    case("TableError::NotText", lambda here: profile(here, b"a,b\nx,\xff\n"), '`encoding="latin-1"`'),
    case("TableError::Encoding", lambda here: profile(here, b"\xff\xfe\x00\x00a"), "save it as UTF-8"),
    case("TableError::LongRecord", lambda here: profile(here, b"a,b\n" + b"x" * (140 << 20)), "a quote"),
    case("TableError::OpenQuote", lambda here: profile(here, 'a,b\n1,"x\n'), "never closed"),
    case("TableError::DuplicateColumn", lambda here: profile(here, "a,a\n1,2\n"), "rename"),
    case("TableError::UnnamedColumn", lambda here: profile(here, "a,,b\n1,2,3\n"), "a name"),
    case("TableError::UnknownColumn", lambda here: publish(quasi=["agee"]), "did you mean `age`?"),
    case("TableError::WrongKind", lambda here: publish(kind={"sex": "integer"}), "leave the kind out"),
    case("TableError::NotInOrder", lambda here: publish(kind={"sex": "ordinal"}, order={"sex": ["M"]}), "`order`"),
    case("TableError::MissingValue", lambda here: column([1, None, 3], missing="error"), '`missing="drop"`'),
    case("TableError::TooManyColumns", lambda here: profile(here, ",".join(f"c{at}" for at in range(20_001)) + "\n1"),
         "`delimiter`"),
    case("TableError::Io", lambda here: profile(here, gzip.compress(FRAME.to_csv().encode())[:-99], "a.csv.gz"),
         "copy it again"),
    # Taxonomies.
    case("TaxonomyError::Empty", lambda here: publish(taxonomy={"sex": []}), "one line per value"),
    case("TaxonomyError::Ragged", lambda here: taxonomy("F;*", "M;x;*"), "repeat a label"),
    case("TaxonomyError::TooLarge", lambda here: ch.check_taxonomy(file(here, "\n" * 3_000_000)), "`memory="),
    case("TaxonomyError::TooDeep", lambda here: taxonomy(";".join("F" * 99)), "leave some levels out"),
    case("TaxonomyError::EmptyLabel", lambda here: taxonomy("F;;*", "M;x;*"), "needs a label"),
    case("TaxonomyError::NotText", lambda here: taxonomy("F;\a;*", "M;x;*"), "a text file"),
    case("TaxonomyError::Duplicate", lambda here: taxonomy("F;x;*", "F;y;*"), "keep one"),
    case("TaxonomyError::Cycle", lambda here: taxonomy("F;x;y;*", "M;y;x;*"), "rename"),
    case("TaxonomyError::TwoParents", lambda here: taxonomy("F;x;y;*", "M;x;z;*"), "rename"),
    case("TaxonomyError::LeafIsGroup", lambda here: taxonomy("F;M;*", "M;x;*"), "rename the group"),
    case("TaxonomyError::TwoRoots", lambda here: taxonomy("F;*", "M;all"), "usually `*`"),
    case("TaxonomyError::MissingLeaf", lambda here: taxonomy("F;*"), "add a line `M;…;*`"),
    case("TaxonomyError::WrongKind", lambda here: column([1, 2], kind={"x": "integer"}, taxonomy={"x": [["a", "*"]]}),
         "correct the leaf"),
    case("TaxonomyError::NotARange", lambda here: column(
        [1, 2, 3], kind={"x": "integer"}, taxonomy={"x": [["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"]]}
    ), "neighbouring"),
    case("TaxonomyError::Widths", lambda here: publish(intervals={"age": [5, 7]}), "5,10,20,40"),
    case("TaxonomyError::Units", lambda here: publish(quasi=["admission_date"], intervals={
        "admission_date": ["week", "month"]}), "day,month,year"),
    case("TaxonomyError::OneDay", lambda here: publish(quasi=["admission_date"], intervals={
        "admission_date": ["day", "month"]}), "the first unit"),
    case("TaxonomyError::NoCalendar", lambda here: publish(intervals={"age": ["month"]}), "as numbers"),
    case("TaxonomyError::NoIntervals", lambda here: publish(intervals={"sex": [5]}), "taxonomy file"),
    case("TaxonomyError::Unwritable", lambda here: ch.propose_taxonomy(pandas.DataFrame({"x": ["a;b"]}), "x"), "clean"),
    case("TaxonomyError::NotOfKind", lambda here: ch.propose_taxonomy(TABLE, "sex", kind={"sex": "integer"}),
         "leave the kind out"),
    case("TaxonomyError::Masked", lambda here: column(["1*", "23"], prefix="x"), "taxonomy file"),
    case("TaxonomyError::PrefixLength", lambda here: column(["1", "23"], prefix="x", kind={"x": "category"}), "pad"),
    # Principles.
    case("CriteriaError::Unknown", lambda here: publish(require="l"), "k=10, distinct-l=4"),
    case("CriteriaError::Several", lambda here: publish(require="k=2 l=3"), '`require=["k=2"]` `require=["l=3"]`'),
    case("CriteriaError::Parameter", lambda here: publish(require="l=0"), "`help(chrysalis.publish)`"),
    case("CriteriaError::Column", lambda here: publish(require="disease:k=3"), 'write `require=["k=3"]`'),
    case("CriteriaError::NoSensitive", lambda here: publish(sensitive=None), "`sensitive`"),
    case("CriteriaError::NotNumeric", lambda here: publish(require="ke=3,100"), "integer or real"),
    case("CriteriaError::NoCategories", lambda here: publish(require="distinct-l-alpha=2,1"), '`categories={"disease": [["A", "B"], ["C"], ["…"]]}`'),
    case("CriteriaError::TooManyValues", lambda here: publish(_many(), quasi=["age"], person="person",
         require="entropy-l=2"), "`rows_per_person="),
    case("CriteriaError::Categories", lambda here: publish(require="distinct-l-alpha=2,1", categories={
        "disease": [["flu"]]}), "exactly one category"),
    case("CriteriaError::Weights", lambda here: column([1, 2], categories={"disease": [["a"], ["b"]]}, weights="heavy"),
         '"uniform"'),
    # Manifests.
    case("ReleaseError::Manifest", lambda here: _cut(saved(here)), "the folder of a release"),
    case("ReleaseError::TooLarge", lambda here: ch.open(saved(here), memory="20KB"), "`memory="),
    case("ReleaseError::Excess", lambda here: forged(here, lambda it: it.update(promises=it["promises"] * 20_001)),
         "get it again"),
    case("ReleaseError::Format", lambda here: forged(here, lambda it: it.update(format="x")), "the folder of a release"),
    case("ReleaseError::Version", lambda here: forged(here, lambda it: it.update(version=9)), "a newer chrysalis"),
    case("ReleaseError::Feature", lambda here: forged(here, lambda it: it.update(features=["x"])), "a newer chrysalis"),
    case("ReleaseError::Method", lambda here: forged(here, lambda it: it.update(method="x")), "a newer chrysalis"),
    case("ReleaseError::Promise", lambda here: forged(here, lambda it: it["promises"][0].update(principle="x=1")),
         "get it again"),
    case("ReleaseError::UnsafeFile", lambda here: forged(here, lambda it: it["tables"][0]["parts"][0].update(
        file="../x")), "get it again"),
    case("ReleaseError::Twice", lambda here: forged(here, lambda it: it["attributes"].append(it["attributes"][0])),
         "get it again"),
    case("ReleaseError::MissingTable", lambda here: audited(here, lambda it: it["tables"].pop(), method="anatomy"),
         "get it again"),
    case("ReleaseError::MissingColumn", lambda here: _narrowed(saved(here)).audit(), "get it again"),
    case("ReleaseError::Nonsense", lambda here: forged(here, lambda it: it["tables"][0].update(rows=1)), "get it again"),
    # What this table cannot keep, and what cannot be published.
    case("PublishError::Infeasible", lambda here: publish(require="l=200"), "strongest", InfeasibleError),
    case("PublishError::GroupFails", lambda here: publish(require="l=2", partitioner="column", group_column="cost"),
         "merge it", InfeasibleError),
    case("PublishError::NoQuasi", lambda here: publish(quasi=None), '`quasi=["a", "b", "c"]`'),
    case("PublishError::NameClash", lambda here: publish(FRAME.rename(columns={"age": "group_id"}), quasi=["group_id"],
         method="anatomy"), "rename the column"),
    case("PublishError::Taxonomy", lambda here: taxonomy("F;*"), "add a line"),
    case("PublishError::Request", lambda here: publish(method="permute", other=["occupation"]), "leave `other` out"),
    # Questions.
    case("QueryError::Question", lambda here: publish().release.query("how many?"), "ask, for example", QuestionError),
    case("QueryError::Unanswerable", lambda here: publish().release.query("SELECT MIN(disease) FROM microdata"), "",
         QuestionError),
    # Audits.
    case("AuditError::SwappedIntersection", lambda here: others(here, "a", own=SWAPPED, other=SWAPPED),
         '`method="generalize"`'),
    case("AuditError::TooManyPairs", lambda here: _finely_cut(here).audit(others=[here / "b"]), "`microdata`"),
    case("AuditError::TooManyOverlaps", lambda here: _everywhere(here, "own").audit(
        others=[_everywhere(here, name) for name in "abcd"], microdata=TABLE), "`others`"),
    case("AuditError::TooManyTables", lambda here: others(here, *"abcdefghi", own=BUTTERFLY, other=BUTTERFLY),
         "`others`"),
    case("AuditError::OtherSensitive", lambda here: others(here, "a", own={}, other={"sensitive": ["cost"]}),
         "protect `disease`"),
    case("AuditError::NoSeries", lambda here: _counterfeits(here).audit(others=[saved(here)]), "releases of one series"),
    case("AuditError::HidesNobody", lambda here: others(here, "a", own={"method": "anatomy"}, other={
        "sensitive": None, "require": "k=3"}), '`method="generalize"`'),
    case("AuditError::NobodyToCount", lambda here: others(here, "a", own={}, other={
        "sensitive": None, "require": "k=3"}), "`microdata`"),
    case("AuditError::WrongKind", lambda here: audited(here, lambda it: attribute(it, "disease").update(
        kind="integer")), "get it again"),
    case("AuditError::Attribute", lambda here: audited(here, lambda it: attribute(it, "disease").update(
        categories=[["x"]])), "get it again"),
    case("AuditError::NoSensitive", lambda here: audited(here, lambda it: it.update(attributes=[
        *it["attributes"][:-1]], promises=[]), method="anatomy"), "get it again"),
    case("AuditError::Promise", lambda here: audited(here, lambda it: it["promises"][0].update(
        principle="k-map=3", about=None), method="anatomy"), "get it again"),
    case("AuditError::NoRows", lambda here: _emptied(here).audit(), "below its header"),
    case("AuditError::MicrodataKind", lambda here: others(here, "a", own={}, other={"kind": {"age": "category"}},
         microdata=TABLE), "each alone"),
    # Evaluations.
    case("EvaluateError::Method", lambda here: publish(**SWAPPED).release.evaluate(TABLE, worlds=0), "evaluate one by"),
    case("EvaluateError::NoSensitive", lambda here: publish(sensitive=None, require="k=3").release.evaluate(TABLE),
         "`sensitive`"),
    case("EvaluateError::NotQuasi", lambda here: publish().release.evaluate(TABLE, attributes=[["cost"]]),
         "the quasi attributes are"),
    case("EvaluateError::NoTable", lambda here: publish().release.evaluate(TABLE, attributes=[["age"]],
         from_table="gt"), "`from_table`"),
    case("EvaluateError::NoRows", lambda here: publish().release.evaluate(FRAME.assign(age=float("nan"))), "made from"),
    case("EvaluateError::Workload", lambda here: publish().release.evaluate(TABLE, queries=9, selectivity=2.0),
         "for example"),
    # Rows.
    case("SampleError::Method", lambda here: publish(**SWAPPED).release.sample(), "draw from a release by"),
    case("SampleError::Marginal", lambda here: _misfit(here).sample(), "draw again"),
    # Risk.
    case("RiskError::NoRows", lambda here: ch.risk(TABLE, quasi="age", missing="drop",
         population_table=FRAME.assign(age=float("nan"))), "another table"),
    case("RiskError::NoColumns", lambda here: ch.risk(TABLE), "`quasi="),
    case("RiskError::TooManyColumns", lambda here: ch.risk(pandas.DataFrame([range(70)] * 2, columns=list(map(str, range(
        70)))), quasi=list(map(str, range(70)))), "fewer columns"),
    case("RiskError::Limit", lambda here: ch.risk(TABLE, quasi="age", max_size=9), "`max_size=1`"),
    case("RiskError::Threshold", lambda here: ch.risk(TABLE, quasi="age", threshold=2), "`threshold=0.2`"),
    case("RiskError::SmallPopulation", lambda here: ch.risk(TABLE, quasi="age", population=9), "how many people"),
    # Files.
    case("StoreError::Io", lambda here: ch.open(here / "nothing"), "name the folder of a release"),
    case("StoreError::Table", lambda here: profile(here, "a,b\n"), "the export"),
    case("StoreError::Foreign", lambda here: profile(here, '{"a": 1}'), "CSV or Parquet"),
    case("StoreError::Parquet", lambda here: profile(here, b"PAR1" + b"x" * 99 + b"PAR1"), "written whole"),
    case("StoreError::Batches", lambda here: publish(FRAME[:0]), "the export"),
    case("StoreError::ColumnType", lambda here: profile(here, _parquet(pyarrow.array([b"x"])), "a.parquet",
         quasi="x"), "numbers, text or a date"),
    case("StoreError::Digits", lambda here: profile(here, _parquet(_nanoseconds()), "a.parquet", quasi="x"), "round it"),
    case("StoreError::Secret", lambda here: publish(prepare={"sex": "pseudonym"}, key=_open_to_all(here)),
         "chmod 600"),
    case("StoreError::Private", lambda here: publish(require="m=3", person="patient_id", method="anatomy",
         series=_open_to_all(here), folder=here / "release"), "chmod 600"),
    case("StoreError::Exists", lambda here: publish().release.save(saved(here)), "`force=True`"),
    case("StoreError::NotARelease", lambda here: publish().release.save(file(here, "x").parent, force=True),
         "move them away"),
    case("StoreError::NotAFolder", lambda here: ch.open(saved(here) / "release.json"), "the folder that it is in"),
    case("StoreError::Release", lambda here: forged(here, lambda it: it.update(format="x")), "the folder of a release"),
    case("StoreError::Hash", lambda here: _touched(saved(here)), "get it again"),
    case("StoreError::TooLarge", lambda here: forged(here, lambda it: _declared(it, 10**12)), "`memory="),
    case("StoreError::TooMuchText", lambda here: ch.open(_swollen(here), memory="35MB"), "`memory="),
    case("StoreError::Swollen", lambda here: ch.open(_swollen(here)), "get it again"),
    case("StoreError::Mismatch", lambda here: rewritten(saved(here), "generalized", lambda it: it + it.splitlines()[
        -1]), "get it again"),
    # Batches.
    case("ArrowTableError::ColumnType", lambda here: publish(pyarrow.table({"age": [b"x"], "sex": ["F"],
         "disease": ["a"]})), "numbers, text or a date"),
    case("ArrowTableError::Digits", lambda here: publish(pyarrow.table({"age": _nanoseconds(), "sex": ["F"],
         "disease": ["a"]})), "round it"),
    case("ArrowTableError::Source", lambda here: publish(failing()), "made from"),
]


def _many() -> pandas.DataFrame:
    """Persons with 1 to 60 values each: more than shares can be counted of."""
    rows = [(f"p{n}", 20 + n, f"d{at}") for n in range(1, 61) for at in range(n)]
    return pandas.DataFrame(rows, columns=["person", "age", "disease"])


def _cut(folder: Path) -> ch.Release:
    """The manifest is cut off."""
    path = folder / "release.json"
    path.write_text(path.read_text()[:99])
    return ch.open(folder)


def _narrowed(folder: Path) -> ch.Release:
    """A table has lost its first column, in the file and in the manifest."""

    changed(folder, lambda manifest: table_of(manifest, "generalized")["columns"].pop(0))
    return rewritten(folder, "generalized", lambda text: "\n".join(line.split(",", 1)[1] for line in text.splitlines()))


def _counterfeits(here: Path) -> ch.Release:
    """The second release of a series, in which values stand that nobody has."""
    # Ten people leave, each group loses one of its values, and nobody new has it.
    rows = [(f"p{at}", 20 + at // 2, "FM"[at % 2], f"d{at % 4}") for at in range(80)]
    for number, kept in ((1, rows), (2, [row for at, row in enumerate(rows) if at % 8])):
        frame = pandas.DataFrame(kept, columns=["person", "age", "sex", "disease"])
        frame.to_csv(here / f"{number}.csv", index=False)
        run("publish", here / f"{number}.csv", "--quasi", "age,sex", "--sensitive", "disease", "--person", "person",
            "--require", "m=3", "--method", "anatomy", "--series", here / "ledger", "--out", here / f"release-{number}")
    return ch.open(here / "release-2")


def _finely_cut(here: Path) -> ch.Release:
    """Two releases with so many groups that nobody can look at all pairs."""
    table = ch.example(30_000)
    knobs: dict[str, Any] = {"quasi": ["age", "zip_code"], "require": "l=2", "accept": "disclosure"}
    publish(table, **{**knobs, "quasi": ["age", "sex", "zip_code"]}).release.save(here / "b")
    return publish(table, **knobs).release.save(here / "own")


def _everywhere(here: Path, name: str) -> ch.Release:
    """A release each of whose groups could be anybody's."""

    def change(text: str) -> str:
        frame = pandas.read_csv(io.StringIO(text))
        return frame.assign(age_min=frame["age_min"].min(), age_max=frame["age_max"].max()).to_csv(index=False)

    return rewritten(saved(here, name, quasi=["age"], sensitive=None, require="k=3"), "generalized", change)


def _emptied(here: Path) -> ch.Release:
    """A release that has lost all its rows."""
    folder = saved(here)
    rewritten(folder, "generalized", lambda text: text.splitlines()[0] + "\n", rows=0)
    return edited(folder, lambda manifest: manifest.update(rows=0, groups=0))


def _misfit(here: Path) -> ch.Release:
    """A release in which one table says that all people are of one age, and the other that they are not."""

    def change(text: str) -> str:
        return pandas.read_csv(io.StringIO(text)).assign(age_min=50, age_max=50).to_csv(index=False)

    folder = saved(here, method="angel", require=["l=3", "k=5"], marginals=[["age"]])
    return rewritten(folder, "gt_age", change)


def _parquet(values: Any) -> bytes:
    import pyarrow.parquet

    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table({"x": values}), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _nanoseconds() -> Any:
    return pyarrow.array([1], pyarrow.timestamp("ns"))


def _open_to_all(here: Path) -> Path:
    path = file(here, "ab" * 32, "key")
    path.chmod(0o644)
    return path


def _touched(folder: Path) -> ch.Release:
    table = next(folder.glob("*.csv"))
    table.write_text(table.read_text() + " ")
    return ch.open(folder)


def _declared(manifest: dict[str, Any], rows: int) -> None:
    manifest["rows"] = rows
    for table in manifest["tables"]:
        table["rows"] = table["parts"][0]["rows"] = rows


def _swollen(here: Path) -> Path:
    """A release with a label that is far too long."""
    folder = saved(here)

    def change(manifest: dict[str, Any]) -> None:
        path = folder / table_of(manifest, "generalized")["parts"][0]["file"]
        path.write_text(path.read_text().replace("\n", "\n" + "x" * (70 << 20), 1))
        table_of(manifest, "generalized")["parts"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    changed(folder, change)
    return folder


def failing() -> Any:
    schema = pyarrow.schema([("age", pyarrow.int64()), ("sex", pyarrow.string()), ("disease", pyarrow.string())])

    def batches() -> Any:
        yield pyarrow.record_batch([[1], ["F"], ["a"]], schema=schema)
        raise OSError("the connection is gone")

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


#: Variants that no call from Python can raise, and why.
UNREACHABLE = {
    "ReleaseError::Counterfeits": "every reader allows for counterfeit values, and `after` refuses releases of a series first",
    "TableError::TooManyRows": "more than four billion rows; of a part of a release, StoreError::Mismatch says it",
    "TableError::TooMuchText": "only parts of releases have a limit, and of those StoreError says it",
    "ReleaseError::NoGroups": "whoever asks, evaluates or draws from a form without groups says so in words of their own",
    "PublishError::Internal": "only a bug of the publisher's could raise it",
    "AuditError::TooManyRows": "more than four billion rows",
    "AuditError::InOnePiece": "only the command audits releases part by part",
    "AuditError::Taxonomy": "a taxonomy is always bound to the column that it is used with",
    "AuditError::UnknownColumn": "microdata are read with the columns of the release, and other names are looked up before",
    "EvaluateError::MissingColumn": "microdata are read with the columns of the release",
    "EvaluateError::WrongKind": "microdata are read with the kinds of the release",
    "RiskError::TooManyRows": "more than four billion rows",
    "ArrowTableError::TypeChanges": "the batches of one Arrow stream have one schema",
    "ArrowTableError::Columns": "the batches of one Arrow stream have one schema",
}


@pytest.mark.parametrize(("variant", "call", "remedy", "kind"), CASES, ids=[one[0] for one in CASES])
@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_every_variant_is_raised_as_it_is_written(
    variant: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError], tmp_path: Path
) -> None:
    with pytest.raises(ch.ChrysalisError) as caught:
        call(tmp_path)
    error = caught.value
    assert type(error) is kind, error
    said = sentences(variant)
    assert any(pattern(sentence).match(error.message) for sentence in said), (said[:1], error.message)
    assert remedy in error.remedy, error.remedy
    assert error.remedy
    for text in (str(error), error.message, error.remedy):
        assert not flags_in(text), text


def test_the_catalogue_is_complete() -> None:
    """A new variant needs a case, or a reason why there is none; what is gone from the sources goes from here, too."""
    known = variants()
    raised = {one[0] for one in CASES}
    assert sorted(raised - known.keys()) == [], "no such variant"
    assert sorted(UNREACHABLE.keys() - known.keys()) == [], "no such variant"
    assert sorted(raised & UNREACHABLE.keys()) == [], "raised, and said to be out of reach"
    assert sorted(known.keys() - raised - UNREACHABLE.keys()) == [], "neither raised nor said to be out of reach"
    assert {name for name, text in known.items() if is_any(text)} == SPOKEN.keys() | HELD.keys()
