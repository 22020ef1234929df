"""Refusals about releases that follow others: what `test_refusals.py` raises for series, ledgers and earlier releases."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
from test_catalogue import COUNT, FRAME, TABLE, file, publish, saved

Case = tuple[str, Callable[[Path], object], str, type[ch.ChrysalisError]]

#: People of a month, one row each.
MONTH = pandas.DataFrame(
    [(f"p{at}", 20 + at // 2, "FM"[at % 2], f"d{at % 4}") for at in range(80)],
    columns=["person", "age", "sex", "disease"],
)


def month(here: Path, number: int = 1, table: pandas.DataFrame = MONTH, **said: Any) -> ch.Made:
    """The release of a month, with its ledger."""
    knobs: dict[str, Any] = {
        "quasi": ["age", "sex"], "sensitive": "disease", "person": "person", "require": "m=3", "method": "anatomy",
        "series": here / "ledger", "folder": here / f"release-{number}",
    }
    here.mkdir(exist_ok=True)
    return ch.publish(table, **{**knobs, **said})


def once(here: Path, number: int = 1, **said: Any) -> ch.Made:
    """A release of people who are published once."""
    return month(here, number, require="l=3", only_new=True, **said)


def after(here: Path, table: Any = FRAME, *, earlier: dict[str, Any] | None = None, **said: Any) -> ch.Made:
    """A release that follows another."""
    return publish(table, after=[saved(here, **(earlier or {}))], **said)


def restored(here: Path) -> ch.Made:
    """A third month, with the ledger of the first."""
    month(here)
    shutil.copy(here / "ledger", here / "old")
    month(here, 2)
    shutil.copy(here / "old", here / "ledger")
    return month(here, 3)


def forked(here: Path) -> ch.Made:
    """A third month, after two different second ones."""
    month(here)
    shutil.copy(here / "ledger", here / "old")
    month(here, 2)
    (here / "away").mkdir()
    (here / "release-2").rename(here / "away" / "release-2")
    shutil.copy(here / "old", here / "ledger")
    month(here, 2)
    (here / "away" / "release-2").rename(here / "other")
    return month(here, 3)


def forgotten(here: Path) -> ch.Made:
    """The next month of people who are published once, whose ledger is gone."""
    once(here)
    (here / "ledger").unlink()
    return once(here, 2)


def damaged(here: Path) -> ch.Made:
    """The next month, with a ledger that has lost its last byte."""
    month(here)
    content = (here / "ledger").read_bytes()
    (here / "ledger").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    return month(here, 2)


def unfinished(here: Path) -> ch.Report:
    """What a first run leaves that was cut off before the ledger was in its place."""
    month(here)
    (here / "ledger").rename(here / "ledger.next")
    return ch.series(here / "ledger")


def no_ledger(here: Path) -> ch.Made:
    """A month with something else for a ledger."""
    file(here, "x" * 99, "ledger").chmod(0o600)
    return month(here)


def two(here: Path, *numbers: int) -> list[ch.Release]:
    """The releases of these months, of a series that is longer."""
    made = [month(here, number).release for number in range(1, max(numbers) + 1)]
    return [made[number - 1] for number in numbers]


def case(
    start: str, call: Callable[[Path], object], remedy: str, kind: type[ch.ChrysalisError] = ch.RequestError
) -> Case:
    return start, call, remedy, kind


CASES = [
    # Ledgers.
    case("there is no ledger {name}", lambda here: month(here).release.audit(series=here / "nothing"), "`series="),
    case("the ledger {name} is not there yet", unfinished, "same ledger"),
    case("{} holds release {} of this series", lambda here: (month(here), month(here, force=True)), "`folder`"),
    case("the ledger {name} is older", restored, "`series="),
    case("the ledger {name} is of another series", lambda here: (
        month(here), month(here / "x"), month(here, 2, series=here / "x" / "ledger")), "`series="),
    case("the ledger {name} is new", lambda here: (month(here), month(here, 2, series=here / "other")), "`series="),
    case("the ledger {name} knows another release", forked, "`series="),
    case("the ledger {name} does not know {folder}, which shows", forgotten, "`series="),
    case("the ledger {name} tells people apart", lambda here: (
        month(here), month(here, 2, person="number", table=MONTH.assign(number=MONTH["person"]))), '`person="person"`'),
    case("the ledger {} would be part", lambda here: month(here, series=here / "release-1" / "ledger"), "`series`"),
    case("{name} is not a ledger", no_ledger, "the right file"),
    case("the ledger {name} is damaged", damaged, "the last good copy"),
    case("{rows} without a person in `{name}`", lambda here: month(
        here, table=MONTH.assign(person=[float("nan"), *MONTH["person"][1:]])), '`missing="drop"`'),
    case("everybody in the table was published before", lambda here: (once(here), once(here, 2)), "other people",
         ch.InfeasibleError),
    case("a release of a series appears together", lambda here: month(here, folder=None), "`folder`"),
    case("a series follows one sensitive column", lambda here: month(
        here, sensitive=["disease", "age"], quasi=["sex"]), "`sensitive`"),
    case("the ledger is of people who are published once: what", lambda here: (once(here), month(here, 2)), "`series="),
    case("the ledger is of a series with {}", lambda here: (month(here), month(here, 2, require="m=4")), "`series="),
    case("the ledger is of a series with m={m}", lambda here: (
        month(here), once(here, 2, table=MONTH.assign(person=[f"q{at}" for at in range(80)]))), "`series="),
    case("{people} several rows", lambda here: month(here, table=pandas.concat([MONTH, MONTH])), "one row of each"),
    case("the ledger {name} is of people who are published once, and", lambda here: (
        once(here).release.audit(series=here / "ledger")), "`series="),
    # What cannot be published in a series.
    case("{} rows have no value", lambda here: month(here, table=MONTH.assign(disease=[None, *MONTH["disease"][1:]])),
         '`missing="drop"`'),
    case("values `{one}` and `{other}` of `{name}` look alike", lambda here: month(
        here, table=MONTH.assign(disease=["D1" if at == 1 else f"d{at % 4}" for at in range(80)])), "alike"),
    case("a series takes up to 64", lambda here: month(
        here, table=MONTH.assign(**dict.fromkeys([f"c{at}" for at in range(70)], 1)),
        quasi=[f"c{at}" for at in range(70)]), "help("),
    case("`{other}` cannot be promised beside m={m}", lambda here: month(here, require=["m=3", "t=0.2"]), "leave `require="),
    case("in {form}, counterfeit values would stand", lambda here: month(
        here, table=MONTH.assign(ward=["a", "b"] * 40), other=["ward"], method="generalize"), "leave `other` out"),
    # Releases of a series together.
    case("`{}` has no effect: this is no release of a series", lambda here: (
        month(here), publish().release.audit(series=here / "ledger")), "leave `series` out"),
    case("tables of other releases have no effect", lambda here: publish().release.audit(
        others=[saved(here)], microdata=TABLE, with_microdata=[TABLE]), "leave `with_microdata` out"),
    case("the tables of other releases are of use only", lambda here: two(here, 2)[0].audit(
        others=[here / "release-1"], with_microdata=[MONTH]), '`person="patient_id"`'),
    case("{tables} tables of other releases", lambda here: two(here, 2)[0].audit(
        others=[here / "release-1"], microdata=MONTH, person="person", with_microdata=[MONTH, MONTH]), ""),
    case("{} is not a release of a series", lambda here: month(here).release.query(COUNT, others=[saved(here)]), "alone"),
    case("{} and {} both say", lambda here: month(here).release.query(COUNT, others=[month(here / "x").release]), "one series"),
    case("{missing} between {} and {}", lambda here: two(here, 3)[0].query(COUNT, others=[here / "release-1"]), "`others`"),
    case("{} says that it is release {late}", lambda here: two(here, 1)[0].query(COUNT, others=two(here / "x", 2)),
         "one series"),
    # Releases that are like others.
    case("the ledger {ledger} does not know {folder}, so that", lambda here: once(
        here / "x", like=saved(here, quasi=["age", "sex"])), "leave `like` out"),
    case("`{what}` and `{}` do not go together: {why}", lambda here: publish(
        like=saved(here), partitioner="mondrian"), "leave `partitioner` out"),
    case("a release of the form {form} is no plan", lambda here: publish(like=saved(here, method="angel")), "anatomy"),
    case("the earlier release has no quasi column", lambda here: publish(
        like=saved(here, quasi=["age"]), quasi=["age", "sex"]), "`quasi="),
    case("the groups of the earlier release are told apart", lambda here: publish(
        like=saved(here, quasi=["age", "sex"]), quasi=["age"]), "`quasi="),
    case("`{name}` is {kind} here, and {}", lambda here: publish(
        like=saved(here, quasi=["age"]), quasi=["age"], kind={"age": "real"}), '`kind={"age": "integer"}`'),
    # Releases that follow others without a ledger.
    case("nobody has worked out what a release of a series", lambda here: month(here, after=[saved(here)]), "`after`"),
    case("`{}` and `{}` do not go together: one takes", lambda here: once(here, after=[saved(here)]), "`only_new`"),
    case("beside earlier releases, only tables", lambda here: after(here, person="patient_id"), "leave `person` out"),
    case("nobody has worked out what releases", lambda here: after(
        here, method="shuffle", sensitive="cost", require="k=5", accept="disclosure"), '`method="generalize"`'),
    case("{name} is a release of a series", lambda here: (
        month(here), publish(after=[here / "release-1"])), '`series="FILE"`'),
    case("only releases with one sensitive column", lambda here: after(
        here, sensitive=["disease", "cost"], require=["disease:l=3"], accept="disclosure"), "help("),
    case("releases of the form {form} cannot be judged", lambda here: after(here, earlier={
        "method": "shuffle", "sensitive": "cost", "require": "k=5", "accept": "disclosure"}), "help("),
    case("an earlier release does not show the sensitive column", lambda here: after(
        here, earlier={"sensitive": "cost", "accept": "disclosure"}), "help("),
    case("an earlier release has the quasi column", lambda here: after(
        here, earlier={"quasi": ["age", "occupation"]}), "help("),
]
