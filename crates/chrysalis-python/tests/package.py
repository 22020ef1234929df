"""Refusals of the package itself, of comparisons, and of what people would not expect: raised by `test_refusals.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
from chrysalis import _native
from test_catalogue import BUTTERFLY, COUNT, FRAME, GOOD, SWAPPED, TABLE, failing, file, publish, saved

Case = tuple[str, Callable[[Path], object], str, type[ch.ChrysalisError]]
SEVERAL: dict[str, Any] = {"require": ["l={l}"]}
OF_CLUSTER: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"], "require": ["l=3"]}


def case(
    start: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError] = ch.RequestError
) -> Case:
    return start, call, remedy, kind


def compared(*runs: dict[str, Any], **said: Any) -> ch.Comparison:
    """A comparison of these runs."""
    return ch.compare(TABLE, **{**GOOD, "runs": list(runs), "queries": 5, **said})


def of_spec(here: Path, text: str) -> ch.Comparison:
    """A comparison that a spec describes."""
    FRAME.to_csv(here / "data.csv", index=False)
    begin = 'input = "data.csv"\nquasi = ["age", "sex"]\nsensitive = "disease"\n'
    return ch.compare(file(here, begin + text, "chrysalis.toml"))


def job(here: Path, table: object = TABLE, **said: Any) -> _native.ClusterJob:
    """Publishing on a cluster, as far as it gets without one."""
    return _native.ClusterJob(table, {**OF_CLUSTER, **said}, str(here / "out"), 1, False, 1000)


def without_key(here: Path) -> object:
    """A task on a machine that does not have the key."""
    made = job(here, prepare={"sex": "pseudonym"}, key=here / "key")
    try:
        (here / "key").unlink()
        return _native.cluster_survey(made.private, TABLE)
    finally:
        made.close()


def of_nobody(here: Path) -> None:
    """A data frame on a cluster that has no rows."""
    made = job(here)
    try:
        made.plan([])
    finally:
        made.close()


def of_spark() -> object:
    """What looks like a data frame of Spark, which need not be there."""

    def arrow(self: object, requested_schema: object = None) -> object:
        raise AssertionError("its rows were asked for")

    return type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe", "__arrow_c_stream__": arrow})()


def beside(here: Path) -> ch.Made:
    """The next month of people who were published already, without a ledger."""
    people = ch.example(600).to_pandas()
    knobs: dict[str, Any] = {"sensitive": "disease", "method": "anatomy"}
    publish(people[:400], **knobs).release.save(here / "one")
    return publish(people[60:460], **knobs, after=[here / "one"])


def left_behind(here: Path) -> ch.Made:
    """All people of a release but one."""
    people = pandas.DataFrame({"age": range(1, 8), "disease": list("abcabca")})
    knobs: dict[str, Any] = {"quasi": ["age"], "sensitive": "disease", "require": "distinct-l=3", "method": "anatomy"}
    publish(people, **knobs).release.save(here / "one")
    return publish(people[:6], **knobs, after=[here / "one"])


def open_question(here: Path) -> ch.Made:
    """Another table beside two earlier ones, each of which has people that the others lack."""
    people = ch.example(600).to_pandas()
    knobs: dict[str, Any] = {"sensitive": "disease", "method": "anatomy"}
    publish(people[:400], **knobs).release.save(here / "one")
    publish(people[200:], **knobs).release.save(here / "two")
    return publish(people[100:500], **knobs, after=[here / "one", here / "two"])


def in_parts(here: Path) -> ch.Release:
    """A release of 300,000 rows of which only one part fits into memory at a time."""
    ch.example(300_000, seed=6).to_pandas().to_csv(here / "table.csv", index=False)
    said: dict[str, Any] = {"quasi": ["age", "sex", "zip_code"], "sensitive": "disease", "require": "l=4"}
    ch.publish(here / "table.csv", **said, method="anatomy", memory="170MB", folder=here / "release")
    return ch.open(here / "release", memory=PART)


#: As much as a part takes, but not all of them.
PART = "40MB"


CASES = [
    # Keywords.
    case("there is no keyword `{name}`", lambda here: publish(xyz=1), "`help(chrysalis.publish)`"),
    case("there is no keyword `{other}`", lambda here: publish().release._native.evaluate({}, TABLE, {"x": 1}), "leave it out"),
    case("`{name}` has no effect here", lambda here: publish(queries=3), "leave it out"),
    case("`{name}`: {value} is too large", lambda here: publish(collude=2**70), "a smaller one"),
    case("`{name}`: {number} is not a number", lambda here: publish(suppress=float("nan")), "a finite one"),
    case("`{name}`: a value of type {class}", lambda here: publish(quasi={"age"}), "a set has no order"),
    case("`{name}` says something of columns", lambda here: publish(near="3"), "near={"),
    case("`memory`: {problem}", lambda here: ch.open(here, memory="much"), '`memory="2GB"`'),
    case("`format`: {problem}", lambda here: publish().release.save(here / "x", format="xml"), "one of the two"),
    case("`workload`: {problem}", lambda here: publish().release.evaluate(TABLE, workload="x"), "one of the workloads"),
    case("`dialect`: {problem}", lambda here: publish().release.rewrite(COUNT, dialect="basic"), "one of the databases"),
    case("`from_table` has no effect without", lambda here: publish().release.evaluate(TABLE, from_table="t"),
         "which attributes"),
    case("`memory` has no effect, because no taxonomy", lambda here: ch.check_taxonomy([["a", "*"]], memory="1GB"),
         "leave it out"),
    case("a column is looked up", lambda here: ch.check_taxonomy([["a", "*"]], TABLE), "`table` and `column`"),
    case("column `{name}` has no value", lambda here: ch.propose_taxonomy(
        pandas.DataFrame({"x": [float("nan")] * 3}), "x"), "another column"),
    # Tables.
    case("`{name}` is of type {class}", lambda here: ch.publish(3, **GOOD), "pandas, polars"),
    case("`{name}` is one column", lambda here: ch.publish(FRAME["age"], **GOOD), "`.to_frame()`"),
    case("`{name}` is a data frame of Spark", lambda here: ch.publish(of_spark(), **GOOD), "`chrysalis.spark.publish`"),
    case("the table cannot be read as Arrow", lambda here: publish(FRAME.assign(age=[1, "a", 2] * 100)), ".astype(str)"),
    case("the table cannot be read: {error}", lambda here: compared(
        {"method": "generalize"}, require=["l=3", "k-map=5"], population_table=failing()), "made from"),
    # Places.
    case("`force` has no effect: no folder", lambda here: publish(force=True), "`folder`"),
    case("`{}` has no effect on a release that stays in memory", lambda here: _in_memory(here), '`folder="release"`'),
    case("this release is in no folder", lambda here: publish().release.query(COUNT, others=[saved(here)]), "save it first"),
    case("a certificate names the hashes", lambda here: publish().release.audit(certificate=here / "page.html"),
         "save it first"),
    case("a certificate inside the release", lambda here: ch.open(saved(here)).audit(
        certificate=here / "release" / "page.html"), "beside the release"),
    case("{} does not end in .html", lambda here: compared({"method": "generalize"}).page(here / "page.txt"), "comparison.html"),
    # Comparisons.
    case("`{}` has no effect on a comparison: its releases", lambda here: of_spec(
        here, 'after = ["x"]\n[release]\nrequire = ["l=3"]'), "leave `after` out"),
    case("`{}` has no effect on a comparison, whose runs", lambda here: of_spec(
        here, 'like = "x"\n[release]\nrequire = ["l=3"]'), "leave `like` out"),
    case("there are more than {MAX_RUNS} runs", lambda here: compared(
        *[{**SEVERAL, "vary": {"l": list(range(2, 102))}}] * 3), "fewer values"),
    case("`{key}` has no values", lambda here: compared({**SEVERAL, "vary": {"l": []}}), "take `l` out of `vary`"),
    case("what varies has more than", lambda here: compared(
        {"require": ["l={a}{b}"], "vary": {"a": [1] * 15, "b": [2] * 15}}), "fewer values"),
    case("`format` has no effect on a run", lambda here: compared({"format": "csv"}), "leave it out"),
    case("`{knob}` has no effect on any", lambda here: compared({"method": "anatomy"}, method="permute"), "`runs`"),
    case("nothing says what to put", lambda here: compared({"require": ["l={m}"]}), "`vary`"),
    case("`{key}` varies, but nothing", lambda here: compared({"vary": {"l": [2]}}), "`l={l}`"),
    case("none of the {n_tried} releases", lambda here: compared(
        {"require": ["l=200"]}, {"require": ["k=2000"]}), "", ch.InfeasibleError),
    case("`workload`: {problem}", lambda here: compared({"method": "anatomy"}, workload="hard"), ""),
    # Clusters.
    case("the data frame has no rows", of_nobody, "made from"),
    case("a machine of the cluster does not see the folder", lambda here: _native.cluster_survey(
        "/nowhere/.chrysalis-abcdef", TABLE), "`out`"),
    case("a machine of the cluster does not see the key", without_key, "all machines share"),
    case("`memory` has no effect on a cluster", lambda here: job(here, memory="1GB"), "`rows_per_cell`"),
    case("{form} has no groups that could be formed", lambda here: job(here, **SWAPPED), "choose something else"),
    case("{form} forms batches and buckets apart, which", lambda here: job(here, method="angel"), ""),
    case("{form} forms groups for several users", lambda here: job(here, **BUTTERFLY), ""),
    # What would be given away.
    case("`{name}` would be kept as it is", lambda here: publish(other=["patient_id"]), "identifying=patient_id",
         ch.InfeasibleError),
    case("{} of {rows} ({share:.1} %) would be disclosed", lambda here: publish(
        require="k=2", quasi=["age", "sex", "zip_code"]), 'accept=["disclosure"]', ch.InfeasibleError),
    case("of {people}, {above} could be bet on", beside, "publish only people", ch.InfeasibleError),
    case("{} of an earlier release who left", left_behind, "publish only people", ch.InfeasibleError),
    case("{}{open} of them stand in groups", open_question, "publish only people", ch.InfeasibleError),
    case("{evidence} can be compared only", lambda here: in_parts(here).audit(microdata=TABLE), "`memory="),
]


def _in_memory(here: Path) -> ch.Made:
    """A spec limits the memory of a release that is not written."""
    FRAME.to_csv(here / "data.csv", index=False)
    return publish(file(here, 'input = "data.csv"\nmemory = "1GB"', "chrysalis.toml"))
