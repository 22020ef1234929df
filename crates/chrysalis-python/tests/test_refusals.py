"""Every sentence with which the hall or the publisher refuses a request, raised once from Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
import pytest
import months
import package
from catalogue import PASSED_ON, REFUSING, flags_in, pattern, refusals, sites
from chrysalis import _native
from test_catalogue import BUTTERFLY, COUNT, FRAME, GOOD, SWAPPED, TABLE, changed, column, file, publish, saved

Case = tuple[str, Callable[[Path], object], str, type[ch.ChrysalisError]]


def case(
    start: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError] = ch.RequestError
) -> Case:
    return start, call, remedy, kind


def spec(here: Path, text: str) -> Path:
    """A file that describes a release of the example."""
    FRAME.to_csv(here / "data.csv", index=False)
    return file(here, text, "chrysalis.toml")


def of_file(here: Path, **knobs: Any) -> ch.Made:
    """A release of the example, as a Parquet file."""
    FRAME.to_parquet(here / "data.parquet")
    return publish(here / "data.parquet", **knobs)


def moved(**evidence: Any) -> ch.Audit:
    """An audit of a release whose dates were moved."""
    knobs: dict[str, Any] = {"person": "patient_id", "key": evidence.pop("made_with")}
    made = publish(quasi=["age", "admission_date"], prepare={"admission_date": "shift"}, **knobs)
    return made.release.audit(microdata=TABLE, **evidence)


def clustered(here: Path, table: object, later: object = None, **knobs: Any) -> object:
    """The first steps of publishing on a cluster: what is counted may be another table than the one that was surveyed."""
    job = _native.ClusterJob(table, {**GOOD_OF_CLUSTER, **knobs}, str(here / "out"), 1, False, 1000)
    try:
        job.plan([_native.cluster_survey(job.private, table)])
        return job.settle([_native.cluster_count(job.private, later, job.round)])
    finally:
        job.close()
        assert list(here.iterdir()) == []


def of_cells(here: Path, **columns: Any) -> ch.Made:
    """A release that is made in little memory."""
    known = {"quasi": ["age"], "require": ["l=2"], "memory": "142MB", "folder": here / "out"}
    return publish(pandas.DataFrame(columns), **known)


def weighed(weights: list[Any], **knobs: Any) -> ch.Made:
    frame = FRAME[: len(weights) * 50].assign(w=weights * 50)
    return publish(frame, weight="w", **knobs)


#: Some persons have two rows, and some have one.
TWICE = FRAME.assign(patient_id=[f"p{at // 2 if at < 100 else at}" for at in range(300)], g="1", h=["a", "b"] * 150)
#: More columns than fit into 64 bits.
NAMES = [f"c{at}" for at in range(70)]
WIDE = pandas.DataFrame({**dict.fromkeys(NAMES, range(20)), "disease": ["a", "b"] * 10})
FULL: dict[str, Any] = {"partitioner": "full-domain", "intervals": {"age": [5, 10]}}
SEVERAL: dict[str, Any] = {"sensitive": ["disease", "cost"], "require": ["disease:l=3"]}
USERS: dict[str, Any] = {"quasi": [["age", "sex"], ["age", "zip_code"]], "require": "k=3"}
SERIES: dict[str, Any] = {"person": "patient_id", "require": "m=3", "method": "anatomy", "series": "clinic.ledger"}
ORDER = ["F", "M"]
GOOD_OF_CLUSTER: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"], "require": ["l=3"]}

#: How a sentence begins in the sources, a call that ends in it, and what its remedy says.
CASES = [
    # Files and specs.
    case("{file} names no input", lambda here: publish(spec(here, 'quasi = ["age"]')), 'input = "data.csv"'),
    case("{}, line {line}, column", lambda here: publish(spec(here, "quasi = [")), "`chrysalis init"),
    case("{}: delimiter: {problem}", lambda here: publish(spec(here, 'input="data.csv"\ndelimiter="long"')), "help("),
    case("{}: encoding: {problem}", lambda here: publish(spec(here, 'input="data.csv"\nencoding="morse"')), "help("),
    case("{}: date_format: {problem}", lambda here: publish(spec(here, 'input="data.csv"\ndate_format="%"')), "help("),
    case("{}: missing: {problem}", lambda here: publish(spec(here, 'input="data.csv"\nmissing="maybe"')), "help("),
    case("missing: {problem}", lambda here: publish(missing="maybe"), "help("),
    case("format: {problem}", lambda here: publish(format="xml"), "help("),
    case("`{knob}` has no effect on Parquet", lambda here: of_file(here, delimiter=";"), "leave `delimiter` out"),
    case("`{knob}` has no effect on {name}: it is about files", lambda here: publish(na="?"), "leave `na` out"),
    case("cannot read {}: ", lambda here: publish(taxonomy={"sex": here / "nothing"}), "check that the path"),
    case("{name} has more than {most}", lambda here: publish(taxonomy={"sex": _large(here)}), '`memory="4GB"`'),
    case("{} is already there", lambda here: ch.risk(TABLE, quasi="age", rows=file(here, "")), "`rows`"),
    case("`{}` has no effect, because no taxonomy", lambda here: publish(memory="1GB"), "leave it out"),
    # The owner's key.
    case("there is no key {}", lambda here: moved(made_with=here / "key", person="patient_id", key=here / "no"), "`key`"),
    case("the key {} would be part", lambda here: publish(
        prepare={"sex": "pseudonym"}, key=here / "release" / "key", folder=here / "release"), "`key`"),
    case("{} is not a key", lambda here: publish(prepare={"sex": "pseudonym"}, key=_short(here)), "`key`"),
    case("a key cannot be made", lambda here: publish(prepare={"sex": "pseudonym"}, key=here / "no" / "key"), "`key`"),
    case("the dates of this release were moved", lambda here: moved(made_with=here / "key"), '`person="patient_id"`'),
    case("`{}` has no effect: this release counts rows", lambda here: publish().release.audit(
        microdata=TABLE, person="patient_id"), "leave `person` out"),
    case("the microdata of this release can be prepared", lambda here: moved(
        made_with=here / "key", person="patient_id"), '`key="chrysalis.key"`'),
    case("`{}` has no effect: no column of this release was prepared", lambda here: publish().release.audit(
        microdata=TABLE, key=here / "key"), "leave `key` out"),
    case("the releases prepared `{}` differently", lambda here: publish().release.audit(
        others=[saved(here, prepare={"age": "top:80"})]), "each of them alone"),
    case("`{}` has no effect: no column is prepared with it", lambda here: publish(key=here / "key"), "leave `key` out"),
    # Preparation.
    case("column `{name}`: {problem}", lambda here: publish(prepare={"age": "bottomm:3"}), 'prepare={"age": "top:90"}'),
    case("`{step}` is for {}, but column `{name}` is {kind}", lambda here: publish(prepare={"disease": "round:3"}),
         'kind={"disease": "integer"}'),
    case("`{step}` is for {}, but column `{name}` is said to be", lambda here: publish(
        prepare={"age": "date:year"}, kind={"age": "integer"}), "leave `kind` or `prepare` out"),
    case("`{step}` is no whole number", lambda here: publish(prepare={"age": "round:0.5"}), 'kind={"age": "real"}'),
    case("{rows} without a person in `{name}`: dates", lambda here: publish(
        FRAME.assign(patient_id=[float("nan"), *FRAME["patient_id"][1:]]), quasi=["admission_date"], person="patient_id",
        prepare={"admission_date": "shift"}, key=here / "key"), ""),
    case("`{one}` is moved by `{a}`", lambda here: publish(
        FRAME.assign(left=FRAME["admission_date"]), quasi=["admission_date", "left"], person="patient_id",
        prepare={"admission_date": "shift", "left": "shift:7"}), "in the same way"),
    case("`{step}` moves the dates", lambda here: publish(
        quasi=["admission_date"], prepare={"admission_date": "shift"}), '`person="patient_id"`'),
    case("`{step}` {problem} in column", lambda here: column([2**63 - 1, 2], prepare={"x": "round:1000"}),
         "make them missing"),
    # Columns and their roles.
    case("column `{}` is named as sensitive twice", lambda here: ch.profile(TABLE, sensitive=["cost", "cost"]), "once"),
    case("column `{both}` is named as quasi and as sensitive", lambda here: ch.profile(
        TABLE, quasi="cost", sensitive="cost"), "one role"),
    case("every row lacks a value", lambda here: publish(pandas.DataFrame({"age": [1, None], "sex": [None, "F"],
         "disease": ["a", "b"]}), missing="drop"), '`missing="as-value"`'),
    case("the order of column `{name}`", lambda here: publish(order={"sex": ["F", "M", "F"]}), "every value once"),
    case("`{}` has no effect on column `{name}`, which is of kind", lambda here: publish(
        order={"sex": ORDER}, kind={"sex": "category"}), 'kind={"sex": "ordinal"}'),
    case("column `{name}` is ordinal", lambda here: publish(kind={"sex": "ordinal"}), 'order={"sex": ['),
    case("quasi columns are listed twice", lambda here: ch.publish(spec(
        here, 'input = "data.csv"\nquasi = ["age"]\nquasi_identifiers = [["age"], ["sex"]]'), require="k=3"), "one of the lists"),
    case("column `{name}` is named twice", lambda here: publish(quasi=["age", "disease"]), "one role"),
    case("column `{weight}` is named twice", lambda here: publish(weight="age"), "kept as it is"),
    case("`{knob}` does not say which column it is for", lambda here: publish(**SEVERAL, ordinary=["x"]),
         'ordinary={"disease": "VALUE"}'),
    case("column `{name}` is of kind {kind}, but only words", lambda here: publish(
        kind={"age": "integer"}, prefix=["age"]), "leave `prefix` or `kind` out"),
    case("`{knob}` has no effect on column `{name}`: {} shows its values", lambda here: publish(
        method="anatomy", partitioner="anatomize", taxonomy={"sex": [["F", "*"], ["M", "*"]]}), "leave `taxonomy` out"),
    case("values are called ordinary", lambda here: publish(sensitive=None, require="k=3", ordinary=["x"]), "`ordinary`"),
    case("`{}` has no effect on column `{name}`, which only holds groups", lambda here: publish(
        partitioner="column", group_column="cost", prepare={"cost": "round:9"}), "leave `prepare` out"),
    case("column `{name}` has {what} but no role", lambda here: publish(kind={"cost": "integer"}), "name it with `quasi`"),
    case("column `{name}` has the role {role}", lambda here: publish(attributes={"cost": {"role": "quasi"}}), "the list"),
    case("`{knob}` has no effect on column `{name}`, which is {}", lambda here: publish(near={"age": 3}), "`near`"),
    case("`{text}` of column `{name}` is not a width", lambda here: publish(
        sensitive="cost", near={"cost": -3}), '`near={"cost": 1000}`'),
    case("column `{name}` has several taxonomies", lambda here: publish(
        intervals={"age": 5}, prefix=["age"]), "choose one"),
    case("weights are for categories", lambda here: publish(weights=[1, 0.5]), "`categories`"),
    # Methods and partitioners.
    case("`{name}` is not a method", lambda here: publish(method="x"), "use one of"),
    case("{} forms no groups", lambda here: publish(**SWAPPED, partitioner="mondrian"), "leave `partitioner` out"),
    case("{} does not find butterflies", lambda here: publish(**USERS, method="butterfly", partitioner="mondrian"),
         "leave it out"),
    case("`{name}` finds butterflies", lambda here: publish(partitioner="union"), '`method="butterfly"`'),
    case("`{name}` is not a partitioner", lambda here: publish(partitioner="x"), "use compact, mondrian"),
    case("`{knob}` goes with the method", lambda here: publish(collude=2), '`method="butterfly"`'),
    case("`{knob}` has no effect on {}, which takes no such partitioner", lambda here: publish(**SWAPPED, relaxed=True),
         "leave `relaxed=True` out"),
    case("`{knob}` goes with the partitioner", lambda here: publish(suppress=0.1), '`partitioner="full-domain"`'),
    case("{} forms batches and buckets apart", lambda here: publish(method="angel", transparent=True), "`transparent=True`"),
    case("`{name}` is not a quasi column, so", lambda here: publish(**FULL, levels={"cost": 1}), "`levels`"),
    case("no level is fixed", lambda here: publish(**FULL, levels={}), "leave `levels` out"),
    case("all levels are fixed", lambda here: publish(**FULL, levels={"age": 1, "sex": 1}, time_limit=5), "`time_limit`"),
    case("the partitioner `column` needs", lambda here: publish(partitioner="column"), "`group_column`"),
    case("rows can be suppressed only", lambda here: publish(
        method="anatomy", partitioner="full-domain", suppress=0.1), '`method="generalize"`'),
    # Promises.
    case("no principle is required", lambda here: publish(require=[]), 'require=["k=10"]'),
    case("`{}` is required twice", lambda here: publish(require=["l=3", "l=3"]), "say it once"),
    case("`{required}` is about `{name}`", lambda here: publish(require="cost:l=3"), 'sensitive=["cost"]'),
    case("`{}` has no effect beside `{ke}`", lambda here: publish(sensitive="cost", require="ke=3,100",
         near={"cost": 9}), "leave `near` out"),
    case("{form} protects several", lambda here: publish(method="butterfly", require="k=3"), 'quasi=["c", "d"]'),
    case("the method {form} protects one", lambda here: publish(quasi=USERS["quasi"]), '`method="butterfly"`'),
    case("`{spec}` promises nothing", lambda here: publish(require="l=1"), 'require=["l=2"]'),
    case("{form} needs a principle for batches", lambda here: publish(method="angel", require="k=5"), 'require=["l=4"]'),
    case("there is nothing to accept", lambda here: publish(other=["occupation"], accept="identifying=occupation"),
         "leave `accept` out"),
    case("every row has {same}", lambda here: publish(FRAME.assign(disease="flu")), "another column"),
    # Sensitive columns together.
    case("`{}` has no effect: fewer than two", lambda here: publish(together=[["disease", "cost"]]), "`together`"),
    case("{form} cannot show columns together", lambda here: publish(
        **{**SWAPPED, "quasi": ["sex"], "sensitive": ["cost", "age"]}, together=[["cost", "age"]]), "leave `together` out"),
    case("`{}` names `{name}`, which", lambda here: publish(**SEVERAL, method="anatomy", together=[["disease", "age"]]),
         'sensitive=["age"]'),
    case("`{}` names `{name}` twice", lambda here: publish(**SEVERAL, method="anatomy", together=[["cost", "cost"]]),
         "every column once"),
    case("`{} = {}` has no effect: it takes two", lambda here: publish(**SEVERAL, method="anatomy", together=[["cost"]]),
         "leave `together` out"),
    # Persons and weights.
    case("`{knob}` has no effect: no column says whose", lambda here: publish(rows_known=True), '`person="patient_id"`'),
    case("column `{column}` says whose a row is", lambda here: publish(person="age"), "the other lists"),
    case("`{}` has no effect: {form} promises nothing", lambda here: publish(**SWAPPED, person="patient_id"),
         "leave `person` out"),
    case("`{}` is 0", lambda here: publish(person="patient_id", rows_per_person=0), "`rows_per_person=1` or more"),
    case("`{} = false` cannot be", lambda here: publish(person="patient_id", rows_known=False, method="anatomy"),
         '`method="generalize"`'),
    case("{form} cuts every link between columns, so the weight", lambda here: weighed([1, 2], method="permute"), "leave `weight` out"),
    case("the weight `{weight}` must hold numbers", lambda here: weighed(["a", "b"]), "another column"),
    case("the weight `{weight}` is missing", lambda here: weighed([1, None]), '`missing="drop"`'),
    case("the weight `{weight}` has negative values", lambda here: weighed([1, -2]), "another column"),
    # Populations.
    case("a table of the population has no effect: no principle", lambda here: publish(population_table=TABLE),
         'require=["k-map=5"]'),
    case("{asked} counts people under the ranges", lambda here: publish(
        require=["l=3", "k-map=5"], method="anatomy", population_table=TABLE), '`method="generalize"`'),
    case("{asked} bounds shares", lambda here: publish(
        require=["l=3", "delta-presence=0,0.5"], population_table=TABLE), '`partitioner="full-domain"`'),
    case("{asked} counts rows of a population", lambda here: publish(
        require=["l=3", "k-map=5"], person="patient_id", population_table=TABLE), "leave `person` out"),
    case("{asked} needs a table of the people", lambda here: publish(require="k-map=5"), '`population_table="census.csv"`'),
    case("a table of the population has no effect: a release by", lambda here: publish(
        method="anatomy").release.audit(population_table=TABLE), "leave `population_table` out"),
    # Looking at releases.
    case("no question uses the public table", lambda here: publish().release.query(COUNT, tables={"t": TABLE}),
         "or leave it out"),
    case("cannot read {} again", lambda here: _changing(here), "once more"),
    case("{} questions are more", lambda here: ch.compare(TABLE, **GOOD, queries=10**9), "ask at most"),
    case("`{name}` is not a sensitive column of this", lambda here: publish().release.evaluate(TABLE, about="x"),
         "there are: `disease`"),
    case("the release has {}, the microdata {}", lambda here: publish().release.evaluate(FRAME[:99]), "was made from"),
    case("nothing is learned", lambda here: publish().release.evaluate(TABLE, target="age", worlds=0), "at least one world"),
    case("`{name}` is not a column of this release", lambda here: publish().release.evaluate(TABLE, target="x", worlds=1),
         "there are: `age`"),
    case("{} worlds cannot be drawn", lambda here: publish().release.sample(worlds=0), "1 to 1,000"),
    # Risk.
    case("column `{twice}` is named as quasi and as weight", lambda here: ch.risk(TABLE, quasi=["age"], weight="age"),
         "one role"),
    case("column `{twice}` is named as quasi twice", lambda here: ch.risk(TABLE, quasi=["age", "age"]), "once"),
    case("`{one}` and `{other}` both", lambda here: ch.risk(TABLE, quasi="age", population=9, fraction=0.1), "`fraction`"),
    case("the fraction {fraction}", lambda here: ch.risk(TABLE, quasi="age", fraction=2), "`fraction=0.1`"),
    # Cells, and risks that are accepted.
    case("this cannot be published cell by cell", lambda here: _native.ClusterJob(
        TABLE, {**GOOD_OF_CLUSTER, **FULL}, here / "out", None, False, 1000), ""),
    case("column `{column}` has {n} missing values", lambda here: clustered(
        here, FRAME.assign(age=[None, None, *FRAME["age"][2:]]), missing="error"), '`missing="drop"`'),
    case("the table gave other rows", lambda here: clustered(
        here, FRAME, FRAME.assign(disease=list(FRAME["disease"][::-1]))), "cache it"),
    case("{memory} of memory is too little", lambda here: publish(memory="130MB", folder=here / "out"), '`memory="500MB"`'),
    case("{found} of {of} rows stay together in one cell, because no cut", lambda here: of_cells(
        here, age=[30, 40] * 125_000, disease=["a", "b"] * 125_000), "`memory="),
    case("{found} of {of} rows stay together in one cell, because no quasi", lambda here: of_cells(
        here, age=[40] * 250_000, disease=["a", "b"] * 125_000), "`memory="),
    case("`{name}` has {} different values or more", lambda here: of_cells(
        here, age=range(1_000_000), disease=["a", "b"] * 500_000), "`prepare="),
    case("`{risk}` has no effect: `{name}` is not kept", lambda here: publish(accept="identifying=cost"),
         'accept=["disclosure"]'),
    case("`{risk}` has no effect: {form} has no groups", lambda here: publish(**SWAPPED, accept="disclosure"),
         'accept=["disclosure"]'),
    # Groups, and what is shown of them.
    case("`{name}` shows all of `{column}` at one level", lambda here: publish(TWICE, **FULL, person="patient_id"),
         '`partitioner="mondrian"`'),
    case("`{name}` shows columns at one level for all rows", lambda here: publish(TWICE.assign(age=40, sex="F"), **FULL,
         person="patient_id", rows_known=True), "`rows_per_person=1`"),
    case("{split} rows stand in other groups", lambda here: publish(TWICE, person="patient_id", partitioner="column",
         group_column="h"), "help("),
    case("persons with different numbers of rows share", lambda here: publish(TWICE, person="patient_id", rows_known=True,
         partitioner="column", group_column="g"), "help("),
    case("{n} rows have no person", lambda here: publish(FRAME.assign(patient_id=[float("nan"), *FRAME["patient_id"][1:]]),
         person="patient_id"), '`missing="drop"`'),
    case("{form} separates quasi values", lambda here: publish(sensitive=None, require="k=3", method="anatomy"), "help("),
    case("`{other}` and `{shows}` would both", lambda here: publish(FRAME.rename(columns={"disease": "a b", "cost": "a-b"}),
         sensitive=["a b", "a-b"], require="k=3", method="anatomy", accept="disclosure"), "rename one"),
    case("{} bucket columns are named", lambda here: publish(method="angel", partitioner="column", group_column="cost",
         bucket_columns=["cost", "cost"]), "help("),
    case("a marginal names", lambda here: publish(method="angel", marginals=[["cost"]]), "help("),
    case("the marginal `{text}`", lambda here: publish(method="angel", marginals=[["age", "age"]]), "help("),
    case("{} takes one sensitive column", lambda here: publish(**{**BUTTERFLY, "sensitive": ["disease", "cost"]}),
         '`method="generalize"`'),
    case("{} cannot keep persons with different", lambda here: publish(TWICE, **BUTTERFLY, person="patient_id",
         rows_known=True), "`rows_per_person=1`"),
    case("{form} cuts every link between columns, so a column", lambda here: publish(method="permute", other=["occupation"]),
         "leave `other` out"),
    case("{form} takes how far values move", lambda here: publish(**{**SWAPPED, "require": "l=3"}), 'require=["ke=4,100"]'),
    case("sums or squares", lambda here: publish(FRAME.assign(cost=range(2**62, 2**62 + 300)), sensitive="cost",
         require="k=5", method="shuffle", accept="disclosure"), "help("),
    case("{form} moves values", lambda here: publish(sensitive=None, require="k=5", method="shuffle"), "help("),
    case("{form} needs a numeric sensitive column", lambda here: publish(method="shuffle"), "help("),
    case("{form} cannot use rows whose", lambda here: publish(FRAME.assign(cost=[None, *FRAME["cost"][1:]]),
         sensitive="cost", require="k=5", method="shuffle"), '`missing="drop"`'),
    case("`{}` has no effect on `{name}`, which is {kind}", lambda here: publish(near={"disease": 3}), "leave `near` out"),
    case("`{value}` is called ordinary", lambda here: publish(ordinary={"disease": "x"}), "its spelling"),
    case("`{name}` sorts by the sensitive column", lambda here: publish(sensitive=None, require="k=3",
         partitioner="min-sum"), "help("),
    case("`{name}` needs a numeric sensitive column", lambda here: publish(require="k=3", partitioner="min-sum"), "help("),
    case("`{name}` forms groups for ke", lambda here: publish(sensitive="cost", partitioner="min-sum"), "help("),
    case("`{name}` counts distinct values: it cannot promise", lambda here: publish(
        sensitive="cost", partitioner="min-max-exact", require=["distinct-l=3", "k=9"]), "help("),
    case("`{name}` counts distinct values: it cannot keep", lambda here: publish(
        sensitive="cost", partitioner="min-max-exact", require="distinct-l=3", near={"cost": 500}), '`partitioner="min-max"`'),
    case("`{name}` cannot place rows", lambda here: publish(FRAME.assign(cost=[None, *FRAME["cost"][1:]]),
         sensitive="cost", partitioner="min-sum", require="ke=3,10"), '`missing="drop"`'),
    case("`{}` sorts rows by one sensitive column", lambda here: publish(sensitive=["cost", "age"], quasi=["sex"],
         partitioner="min-max", require="cost:ke=3,10"), '`partitioner="min-sum"`'),
    case("`min-max-exact` would take too long", lambda here: publish(
        pandas.DataFrame({"age": 7, "cost": [at * at for at in range(20_000)]}), quasi="age", sensitive="cost",
        partitioner="min-max-exact", require="distinct-l=100", near={"cost": 0.5}), "help("),
    case("column `{name}` has no level", lambda here: publish(**FULL, levels={"age": 9}), "`levels`"),
    case("full-domain cannot search", lambda here: publish(WIDE, quasi=NAMES, require="l=2", partitioner="full-domain"),
         "help("),
    case("{} attributes have too many values", lambda here: ch.publish(_fine(), quasi=list(_fine()), require="k=2",
         partitioner="full-domain"), "help("),
    case("time ran out", lambda here: publish(
        ch.example(60_000), quasi=["age", "zip_code", "admission_date", "sex", "occupation"], prefix=["zip_code"],
        intervals={"age": [5, 10, 20, 40]}, partitioner="full-domain", levels={"admission_date": 0}, time_limit=0.001,
        require=["k=50", "l=8"]), "raise `time_limit`"),
    case("`nearby` takes up to 64", lambda here: publish(WIDE, quasi=NAMES, require="l=2", method="anatomy",
         partitioner="nearby"), "help("),
    case("nobody has proved a safe way", lambda here: publish(transparent=True, require="distinct-l-alpha=2,1",
         categories={"disease": [sorted({*FRAME["disease"]})[at::2] for at in (0, 1)]}), "leave `transparent=True` out"),
    case("the quasi-identifier `{text}`", lambda here: publish(**{**BUTTERFLY, "quasi": [["age", "age"], ["sex"]]}), "help("),
    case("{c} of {n} users", lambda here: publish(**BUTTERFLY, collude=9), "help("),
    case("{c} of {} users", lambda here: publish(WIDE, **{**BUTTERFLY, "quasi": [[name] for name in NAMES]},
         collude=30), "help("),
    # Series.
    case("`{asked}` is about a series", lambda here: publish(require="m=3"), "`series="),
    case("`{knob}` has no effect: no ledger", lambda here: publish(only_new=True), "`series="),
    case("a series follows people", lambda here: publish(require="m=3", series="clinic.ledger"), '`person="patient_id"`'),
    case("a ledger has no effect", lambda here: publish(person="patient_id", series="clinic.ledger"), 'require=["m=4"]'),
    case("`{}` goes with other principles", lambda here: publish(**SERIES, only_new=True), "leave `only_new"),
    case("`{asked}` cannot be transparent", lambda here: publish(**SERIES, transparent=True), "leave `transparent"),
    case("`{asked}` itself decides", lambda here: publish(**SERIES, partitioner="mondrian"), "leave `partitioner` out"),
    case("`{knob}` has no effect: `{asked}` takes one row", lambda here: publish(**SERIES, rows_known=True),
         "leave `rows_known"),
    case("`{asked}` takes no survey weights", lambda here: publish(**SERIES, weight="cost"), "leave `weight` out"),
    case("{form} has no place for counterfeit values, which `{asked}`", lambda here: publish(**{**SERIES, "method": "shuffle"}), "`method="),
    case("`{}` has no effect on people who are published once", lambda here: publish(
        **{**SERIES, "require": "l=3"}, only_new=True, values_change=True), "leave `values_change"),
    *months.CASES,
    *package.CASES,
]


def _fine() -> pandas.DataFrame:
    """Columns with so many values that their labels do not fit into 1,024 bits together."""
    return pandas.DataFrame({f"c{at}": range(100_000) for at in range(63)})


def _large(here: Path) -> Path:
    path = file(here, "")
    with path.open("wb") as content:
        content.truncate(200 << 20)
    return path


def _short(here: Path) -> Path:
    path = file(here, "abc", "key")
    path.chmod(0o600)
    return path


def _changing(here: Path) -> ch.Audit:
    """The manifest changes while its release is audited."""
    table = ch.example(2_000)
    folder = saved(here, table=table)

    def change(phase: str | None, *_: object) -> None:
        if phase == "audit":
            changed(folder, lambda manifest: manifest.update(rows=1))

    return ch.open(folder).audit(microdata=table, certificate=here / "page.html", replay=30, progress=change)


#: Sentences that no call from Python can end in, or files that have no others, and why.
UNREACHABLE = {
    "{name} has no question": "only the command takes files of questions",
    "chrysalis/src/audit/sql.rs": "only the command takes a table of the population for the audit as SQL",
    "chrysalis/src/exposure.rs": "only the studio asks for it",
    "chrysalis/src/spec_text.rs": "only the command and the studio write specs",
    "no table is named": "the table is the first argument of every call",
    "{goal} may be lost when groups are merged": "only presence is, and the hall refuses it before; m is of series",
    **dict.fromkeys(
        [
            "m={m} is about a series",
            "a series hides sensitive values",
            "a series keeps signatures of one sensitive column",
            "{form} has no place for counterfeit values, which m={m}",
            "m={m} allows one row per person",
            "{goal} counts rows of a population",
            "{form} shows no labels",
            "`{}` cannot be shown together",
            "`{name}` is not a sensitive column, but",
            "`{name}` is not a quasi column",
            "the quasi column `{name}` is in no quasi-identifier",
            "only tables with one row per person can be judged",
        ],
        "the hall says it before",
    ),
    "the ledger has values that the column cannot have": "a ledger with such values has another kind, or a wrong checksum",
    "an earlier release does not show its column": "such a release cannot be opened",
    "the earlier release does not show its column": "such a release cannot be opened",
    "{} cannot be read": "its manifest was read a moment before",
    "`{}` has no effect on a table that is in memory": "Python says it of a release that stays in memory",
    "stopped; nothing was written": "test_errors.py raises it, and there is nothing to remedy",
    "a value of `{}` stands in more than {} rows": "that takes more than four billion rows",
    "`{name}` is {one} in some rows": "a table of Spark has one type per column",
    "the words of `{}` have an order that nobody gave": "ordinals are read with their order, which has all words",
    "`{column}` has values that it did not have before": "only a table that changes while a cluster reads it twice",
}


def begins(sentence: str, start: str) -> bool:
    """Whether a sentence begins so. A whole sentence means itself only."""
    return sentence == start or sentence.startswith(start) and start not in refusals()


@pytest.mark.parametrize(("start", "call", "remedy", "kind"), CASES, ids=[one[0] for one in CASES])
@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_a_refusal_is_raised_as_it_is_written(
    start: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError], tmp_path: Path
) -> None:
    with pytest.raises(ch.ChrysalisError) as caught:
        call(tmp_path)
    error = caught.value
    assert type(error) is kind, error
    (written,) = [sentence for sentence in refusals() if begins(sentence, start)]
    assert pattern(written).match(error.message), (written, error.message)
    assert error.remedy and remedy in error.remedy, error.remedy
    for text in (str(error), error.message, error.remedy):
        assert not flags_in(text), text


def test_no_refusal_is_overlooked() -> None:
    """Every call that refuses has a sentence in the sources, or it is said where its sentence comes from."""
    unread = {(str(site.path), site.argument) for site in sites(*REFUSING) if not site.sentences}
    assert unread == {place for place in PASSED_ON if not place[0].startswith("chrysalis-sql")}


def test_every_refusal_is_raised() -> None:
    """A new refusal needs a case, or a reason why there is none; what is gone from the sources goes from here, too."""
    known = refusals()

    def is_excused(sentence: str) -> bool:
        return any(begins(sentence, name) or str(known[sentence]) == name for name in UNREACHABLE)

    raised = {sentence for sentence in known for one in CASES if begins(sentence, one[0])}
    assert sorted(filter(is_excused, raised)) == [], "raised, and said to be out of reach"
    assert sorted({*known} - raised - {*filter(is_excused, known)}) == [], "neither raised nor said to be out of reach"
    files = {str(path) for path in known.values()}
    stale = [name for name in UNREACHABLE if name not in files and not any(begins(it, name) for it in known)]
    assert stale == [], "no such sentence, and no such file"
