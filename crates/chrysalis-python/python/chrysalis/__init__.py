"""Publish a table about people without giving away who is who, check releases, and ask them questions.

>>> import chrysalis as ch
>>> table = ch.example(2000)
>>> made = ch.publish(table, quasi=["age", "sex", "zip_code"], sensitive=["disease"], require=["k=10", "l=4"],
...                   method="anatomy", seed=1)
>>> made.release.audit(microdata=table).raise_if_failed().ok
True
>>> answer = made.release.query("SELECT sex, COUNT(*) AS n FROM microdata WHERE disease = 'influenza' GROUP BY sex")
>>> [row.group["sex"] for row in answer.rows]
['F', 'M']

Tables are data frames of pandas or polars, tables of pyarrow, relations of DuckDB, or anything else that speaks the
Arrow C stream interface; or paths of files. Errors are :class:`ChrysalisError`, and say what to do about them.
"""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from . import _native
from ._answer import Answer, Row, Value
from ._errors import (
    AuditFailedError,
    ChrysalisError,
    ChrysalisWarning,
    InfeasibleError,
    InternalError,
    QuestionError,
    RequestError,
    StoppedError,
    natural,
)
from ._progress import Progress, shown
from ._release import Audit, Comparison, Made, Release, Sample, Summary, told
from ._report import Report
from ._table import Table
from ._taxonomy import Taxonomy, check_taxonomy, propose_taxonomy

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._knobs import CompareKnobs, Knobs, ProfileKnobs, RiskKnobs

__all__ = [
    "Answer",
    "Audit",
    "AuditFailedError",
    "ChrysalisError",
    "ChrysalisWarning",
    "Comparison",
    "InfeasibleError",
    "InternalError",
    "Made",
    "QuestionError",
    "Release",
    "Report",
    "RequestError",
    "Row",
    "Sample",
    "StoppedError",
    "Summary",
    "Table",
    "Taxonomy",
    "Value",
    "check_taxonomy",
    "compare",
    "example",
    "open",
    "profile",
    "propose_taxonomy",
    "publish",
    "risk",
    "series",
]


def publish(
    table: object,
    *,
    seed: int | None = None,
    folder: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = None,
    **knobs: Unpack[Knobs],
) -> Made:
    """Publishes a table: hides people in groups that satisfy what is required.

    ``table`` is a data frame (pandas, polars, pyarrow, DuckDB, anything that speaks the Arrow C stream interface), or the
    path of a file or of a ``chrysalis.toml``. Keywords are the knobs of the command line, by the same names:

    - *columns*: ``quasi`` (what an attacker may know; several lists for several users), ``sensitive`` (what nobody may
      learn about a person), ``other`` (kept as they are), ``person`` (whose a row is, where persons may have several),
      ``weight`` (survey weights). Columns that nobody names are not published.
    - *promise*: ``require=["k=10", "l=4"]``, ``accept``, ``transparent``, ``rows_known``, ``rows_per_person``,
      ``population_table``, ``collude``.
    - *how*: ``method``, ``partitioner``, ``relaxed``, ``suppress``, ``metric``, ``levels``, ``time_limit``,
      ``marginals``, ``group_column``, ``bucket_columns``, ``together``.
    - *of columns, as dictionaries by their names*: ``kind``, ``order``, ``prepare``, ``taxonomy``, ``intervals``,
      ``near``, ``ordinary``, ``categories``, ``weights``; ``prefix`` is a list of columns; ``attributes`` holds several
      at once, as in a ``chrysalis.toml``.
    - *again next month*: ``series`` (the ledger, a private file that is made on first use), ``values_change``,
      ``only_new``; ``after`` (earlier releases, where there is no ledger); ``like`` (an earlier release whose groups and
      labels are kept as far as they satisfy what is required).
    - *files*: ``delimiter``, ``encoding``, ``na``, ``date_format``, ``missing``, ``key``, ``format``; ``memory`` (how much
      publishing to ``folder`` may take: a table that needs more is published cell by cell, with rows waiting on disk beside
      it, and the release is read when you ask it; or, without a folder, how much reading a taxonomy may take).

    ``folder`` is where to write the release to, completely or not at all (``force`` replaces one that is there). A release
    of a series needs it, because it appears together with its ledger or not at all.

    ``seed`` makes the same release again, for experiments only: whoever knows it can undo the randomness. ``progress``
    shows a bar where somebody can see it; ``False`` shows none, and a function is called with the phase, how much of it
    is done, what that adds up to, and what is counted. If it returns ``False``, the work stops.

    >>> import chrysalis as ch
    >>> made = ch.publish(ch.example(1000), quasi=["age", "sex"], sensitive=["disease"], require="l=4",
    ...                   intervals={"age": [5, 10]}, method="generalize", partitioner="full-domain", seed=1)
    >>> made.summary.guarantees
    ['l=4']
    >>> ch.publish(ch.example(100), qausi=["age"])
    Traceback (most recent call last):
    ...
    chrysalis._errors.RequestError: there is no keyword `qausi`
    hint: did you mean `quasi`?
    """
    natural(seed=seed)
    native, report, notes = _native.publish(
        table, dict(knobs), seed, None if folder is None else fspath(folder), force, shown(progress)
    )
    told(notes)
    return Made(Release(native), json.loads(report), notes)


def open(
    folder: str | PathLike[str], *, memory: str | None = None, progress: Progress = None
) -> Release:
    """Opens a release in its folder.

    A release that declares more than fits into ``memory`` (such as ``"2GB"``) is refused, unless it is in parts that fit one
    by one: then its manifest is read, :meth:`Release.audit` judges it part by part, and what needs all of it is refused.

    >>> import chrysalis as ch, tempfile, pathlib
    >>> made = ch.publish(ch.example(500), quasi=["age"], sensitive=["disease"], require="l=3", seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "release"
    ...     release = ch.open(made.release.save(place).path)
    >>> release
    <Release of 500 rows by generalize: l=3>
    """
    return Release(_native.open(fspath(folder), memory, shown(progress)))


def compare(
    table: object, *, seed: int | None = None, progress: Progress = None, **knobs: Unpack[CompareKnobs]
) -> Comparison:
    """Publishes a table in several ways, judges and measures each, and says which to choose for what.

    Keywords are those of :func:`publish`, and ``runs``: the releases to compare, such as
    ``[{"method": "anatomy", "require": ["l={l}"], "vary": {"l": [2, 4]}}]``. Without it, a set that shows what the
    methods are like. ``workload``, ``queries``, ``selectivity`` and ``dimensions`` describe the questions that every
    release is asked. Nothing is written but the page: :meth:`Comparison.page`.

    >>> import chrysalis as ch
    >>> runs = [{"method": "anatomy"}, {"method": "generalize"}]
    >>> found = ch.compare(ch.example(500), quasi=["age", "sex"], sensitive=["disease"], require="l=3", runs=runs,
    ...                    queries=20, seed=1)
    >>> [run["name"] for run in found.runs]
    ['anatomy by nearby', 'generalize by compact']
    """
    natural(seed=seed)
    native = _native.compare(table, dict(knobs), seed, shown(progress))
    told(native.notes)
    return Comparison(native)


def profile(table: object, *, progress: Progress = None, **knobs: Unpack[ProfileKnobs]) -> Report:
    """Says what a table satisfies today, and guesses the roles of its columns.

    >>> import chrysalis as ch
    >>> found = ch.profile(ch.example(1000), quasi=["age", "sex"], sensitive=["disease"])
    >>> found.anonymity["k"]
    1
    """
    report, notes = _native.profile(table, dict(knobs), shown(progress))
    told(notes)
    values: dict[str, Any] = json.loads(report)
    return Report(values, f"{values['rows']:,} rows, {len(values['columns'])} columns", notes)


def risk(
    table: object,
    *,
    population: int | None = None,
    population_table: object | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    max_size: int | None = None,
    rows: str | PathLike[str] | None = None,
    progress: Progress = None,
    **knobs: Unpack[RiskKnobs],
) -> Report:
    """Says how easily rows of a table are found again by their ``quasi`` columns.

    What the rows were drawn from is told by one of ``population`` (how many people), ``population_table``,
    ``fraction`` (the share of the population that is in the table) and ``weight`` (a column). Rows with a risk above
    ``threshold`` count; a minimal unique set has at most ``max_size`` columns; ``rows`` is a new file, for the owner
    only, with a line for every row.

    >>> import chrysalis as ch
    >>> found = ch.risk(ch.example(1000), quasi=["age", "sex", "zip_code"], fraction=0.1)
    >>> 0 < found.prosecutor["mean"] <= 1
    True
    """
    natural(population=population, max_size=max_size)
    place = None if rows is None else fspath(rows)
    report, notes = _native.risk(
        table, dict(knobs), population, population_table, fraction, threshold, max_size, place, shown(progress)
    )
    told(notes)
    values: dict[str, Any] = json.loads(report)
    return Report(values, f"Risk of {values['rows']:,} rows", notes)


def series(ledger: str | PathLike[str]) -> Report:
    """Says what a ledger remembers of releases of the same people: of nobody in particular.

    ``ledger`` is the file that ``publish`` was given as ``series``. The report has ``m`` and ``column`` (what is promised),
    how many ``people`` were ever published, how many ``signatures`` they have, and ``releases``: for each its rows, who
    stayed, who was new, its counterfeits, and the room that it left. If a run did not come to its end, ``unfinished`` says
    which, and a warning what puts it right.

    >>> import chrysalis as ch
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ch.publish(ch.example(500), quasi=["age"], sensitive="disease", person="patient_id", require="m=3",
    ...                       method="anatomy", series=folder + "/ledger", folder=folder + "/release-1")
    ...     found = ch.series(folder + "/ledger")
    >>> found.people, found.m, [release["counterfeits"] for release in found.releases]
    (500, 3, [0])
    """
    report, notes = _native.series(fspath(ledger))
    told(notes)
    values: dict[str, Any] = json.loads(report)
    return Report(values, f"{len(values['releases']):,} releases, {values['people']:,} people", notes)


def example(rows: int = 1000, *, seed: int = 1) -> Table:
    """A hospital's table to try things on: as many patients as you like, none of them real.

    >>> import chrysalis as ch
    >>> ch.example(10).columns
    ['patient_id', 'age', 'sex', 'zip_code', 'occupation', 'admission_date', 'disease', 'cost']
    """
    natural(rows=rows, seed=seed)
    return Table(_native.example(rows, seed))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("chrysalis-privacy")
    raise AttributeError(f"module 'chrysalis' has no attribute {name!r}")
