"""Releases: saving them, judging them, and asking them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _native
from ._answer import Answer
from ._errors import AuditFailedError, ChrysalisWarning, RequestError, natural
from ._progress import Progress, shown
from ._report import Report
from ._table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._knobs import Source


def told(notes: Sequence[str]) -> None:
    """Says what a person should know."""
    for note in notes:
        warnings.warn(note, ChrysalisWarning, stacklevel=3)


def _of_series(release: Release | str | PathLike[str]) -> tuple[str, _native.Release | None]:
    """Where a release is, and what is known of it."""
    if not isinstance(release, Release):
        return fspath(release), None
    if release.path is None:
        raise RequestError("a release is in no folder, so no series can be checked", "save it first")
    return fspath(release.path), release._native


class Release:
    """A release: tables that may be handed out, and a manifest that says what they promise.

    >>> import chrysalis as ch
    >>> made = ch.publish(ch.example(2000), quasi=["age", "sex"], sensitive=["disease"], require=["k=10", "l=4"],
    ...                   method="anatomy", seed=1)
    >>> made.release
    <Release of 2,000 rows by anatomy: k=10, l=4>
    >>> sorted(made.release.tables)
    ['qit', 'st']
    """

    def __init__(self, native: _native.Release) -> None:
        self._native = native
        self._manifest: dict[str, Any] = json.loads(native.manifest())

    @property
    def manifest(self) -> dict[str, Any]:
        """What the tables are and what they promise. Hashes are there once it is saved."""
        return self._manifest

    @property
    def promises(self) -> list[str]:
        """What every group satisfies, as it was required."""
        return list(dict.fromkeys(promise["principle"] for promise in self._manifest.get("promises", [])))

    @property
    def path(self) -> Path | None:
        """The folder that it was read from, or saved to."""
        return None if self._native.path is None else Path(self._native.path)

    def __fspath__(self) -> str:
        """Its folder, so that it can stand where a folder is asked for: ``like=made.release``."""
        if self._native.path is None:
            raise RequestError("this release is in no folder", "save it first")
        return self._native.path

    @property
    def tables(self) -> Mapping[str, Table]:
        """Its tables, by name."""
        return {name: Table(self._native.table(name, shown(None))) for name in self._native.table_names()}

    def save(
        self,
        folder: str | PathLike[str],
        *,
        format: str | None = None,
        force: bool = False,
        progress: Progress = None,
    ) -> Release:
        """Writes it to a folder, completely or not at all.

        ``format`` is ``"parquet"`` or ``"csv"``; ``force=True`` replaces a release that is there.

        >>> import chrysalis as ch, tempfile, pathlib
        >>> made = ch.publish(ch.example(500), quasi=["age"], sensitive=["disease"], require="l=3", method="anatomy", seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = made.release.save(pathlib.Path(folder) / "release", format="csv")
        ...     sorted(file.name for file in saved.path.iterdir())
        ['qit.csv', 'release.json', 'st.csv']
        """
        manifest, beside = self._native.save(fspath(folder), format, force, shown(progress))
        self._manifest = json.loads(manifest)
        told([
            f"{other} looks like another release of the same table. Anybody who gets both can intersect them, and with "
            "every further release more people are left with a single value. Check them together: "
            f"release.audit(others=[{str(other)!r}])"
            for other in beside
        ])
        return self

    def audit(
        self,
        *,
        microdata: object | None = None,
        others: Release | str | PathLike[str] | Sequence[Release | str | PathLike[str]] = (),
        with_microdata: Sequence[object] = (),
        series: str | PathLike[str] | None = None,
        sensitive: str | Sequence[str] = (),
        population_table: object | None = None,
        replay: int | None = None,
        certificate: str | PathLike[str] | None = None,
        force: bool = False,
        memory: str | None = None,
        progress: Progress = None,
        **source: Unpack[Source],
    ) -> Audit:
        """Recomputes everything that the release promises, from its tables alone, and attacks it.

        ``microdata`` is the table that it was made from: then it is checked, too, whether the release is faithful to it,
        and how often attacks are right. ``others`` are releases about the same people; ``sensitive`` are columns that
        must be protected; ``population_table`` is a table of the people who could be in the data; ``replay`` says how
        many times members of groups exchange their values to see whether the groups still come out;
        ``certificate="page.html"`` writes a page to hand out with a saved release. ``person`` and ``key`` say whose a
        row of the microdata is, and where the owner's key is. For releases of a series: ``with_microdata`` are the tables
        that the ``others`` were made from, in their order, and ``series`` is the ledger; with ``microdata`` and ``person``
        it is checked what all of them tell together.

        A release that declares more than fits into ``memory`` (such as ``"2GB"``) is audited part by part if it is in parts,
        from its own files alone, and refused otherwise.

        >>> import chrysalis as ch
        >>> table = ch.example(2000)
        >>> made = ch.publish(table, quasi=["age", "sex"], sensitive=["disease"], require="l=4", seed=1)
        >>> made.release.audit(microdata=table).raise_if_failed().ok
        True
        """
        natural(replay=replay)
        known = []
        for other in [others] if isinstance(others, (Release, str, PathLike)) else others:
            if isinstance(other, Release):
                known.append((str(other.path or "the other release"), other._native))
            else:
                known.append((fspath(other), _native.open(fspath(other), memory, shown(progress))))
        report, ok, headline, notes = self._native.audit(
            dict(source),
            microdata,
            population_table,
            known,
            list(with_microdata),
            None if series is None else fspath(series),
            [sensitive] if isinstance(sensitive, str) else list(sensitive),
            replay,
            None if certificate is None else fspath(certificate),
            force,
            memory,
            shown(progress),
        )
        return Audit(json.loads(report), ok, headline, notes)

    def query(
        self,
        question: str,
        *,
        others: Sequence[Release | str | PathLike[str]] = (),
        tables: Mapping[str, object] | None = None,
        estimate: str = "learned",
        progress: Progress = None,
    ) -> Answer:
        """Answers a question in SQL, with estimates, and with bounds that are certain to hold.

        The table is called ``microdata``. ``others`` are releases of the same series, in their folders: then the question
        is about the latest one, or about ``microdata VERSION AS OF 3``. ``tables`` are public tables that the question
        joins; ``estimate="even"`` gives the estimates of the papers. A release is opened at the first question and stays
        open; of ``others``, those that are given as releases do, and folders are read again for every question.

        >>> import chrysalis as ch
        >>> made = ch.publish(ch.example(2000), quasi=["age", "sex"], sensitive=["disease"], require="l=4",
        ...                   method="anatomy", seed=1)
        >>> answer = made.release.query("SELECT COUNT(*) AS n FROM microdata WHERE disease = 'influenza' AND age < 30")
        >>> answer.value.lower <= answer.value.estimate <= answer.value.upper
        True
        """
        public = list((tables or {}).items())
        known = [_of_series(other) for other in others]
        answer = Answer(self._native.query(question, public, estimate, shown(progress), known), question)
        told(answer.notes)
        return answer

    def rewrite(
        self, question: str, *, dialect: str = "duckdb", tables: Mapping[str, object] | None = None
    ) -> str:
        """The same question as one SQL statement for a database that holds the release's tables.

        ``dialect`` is ``"duckdb"``, ``"postgres"``, ``"sqlite"`` or ``"spark"``. The statement computes the bounds of
        :meth:`query`, and the estimates of ``estimate="even"``.

        >>> import chrysalis as ch
        >>> made = ch.publish(ch.example(500), quasi=["age"], sensitive=["disease"], require="l=3", method="anatomy", seed=1)
        >>> sql = made.release.rewrite("SELECT COUNT(*) AS n FROM microdata WHERE age < 40", dialect="duckdb")
        >>> "qit" in sql
        True
        """
        return self._native.rewrite(question, dialect, list((tables or {}).items()))

    def evaluate(
        self,
        microdata: object,
        *,
        attributes: Sequence[str] | Sequence[Sequence[str]] | None = None,
        from_table: str | None = None,
        workload: str | None = None,
        queries: int | None = None,
        selectivity: float | None = None,
        dimensions: int | None = None,
        seed: int | None = None,
        estimate: str | None = None,
        about: str | None = None,
        worlds: int | None = None,
        target: str | None = None,
        holdout: object | None = None,
        progress: Progress = None,
        **source: Unpack[Source],
    ) -> Report:
        """Says how useful the release is: compares it with the table that it was made from.

        ``attributes`` are sets of quasi columns whose distributions are compared (``from_table`` says in which table of
        the release); ``workload``, ``queries``, ``selectivity``, ``dimensions``, ``seed`` and ``estimate`` describe the
        random questions that are asked; ``worlds`` is how many tables of rows are drawn, ``target`` what learners
        predict from them, and ``holdout`` a table of rows that were not published, to test them; ``about`` chooses one
        of several sensitive columns.

        >>> import chrysalis as ch
        >>> table = ch.example(500)
        >>> made = ch.publish(table, quasi=["age", "sex"], sensitive=["disease"], require="l=3", method="anatomy", seed=1)
        >>> worth = made.release.evaluate(table, queries=20, worlds=0, seed=1)
        >>> all(aggregate["inside"] == 1.0 for aggregate in worth["workload"]["aggregates"])
        True
        """
        natural(queries=queries, dimensions=dimensions, seed=seed, worlds=worlds)
        # One set of columns, or several.
        sets = [attributes] if attributes and all(isinstance(name, str) for name in attributes) else attributes
        options = {
            "attributes": sets and [list(names) for names in sets],
            "from_table": from_table,
            "workload": workload,
            "queries": queries,
            "selectivity": selectivity,
            "dimensions": dimensions,
            "seed": seed,
            "estimate": estimate,
            "about": about,
            "worlds": worlds,
            "target": target,
        }
        options = {name: value for name, value in options.items() if value is not None}
        report, notes = self._native.evaluate(dict(source), microdata, options, holdout, shown(progress))
        told(notes)
        return Report(json.loads(report), "What the release is worth", notes)

    def sample(
        self, worlds: int = 1, *, seed: int | None = None, estimate: str = "learned", progress: Progress = None
    ) -> Sample:
        """Draws tables in the original columns from the worlds that the release allows.

        Of several, each is drawn from a distribution learned from groups drawn with replacement, so that results differ
        between them as much as the release leaves open.

        >>> import chrysalis as ch
        >>> made = ch.publish(ch.example(500), quasi=["age", "sex"], sensitive=["disease"], require="l=3", seed=1)
        >>> [len(world) for world in made.release.sample(worlds=2, seed=1)]
        [500, 500]
        """
        natural(worlds=worlds, seed=seed)
        tables, report = self._native.sample(worlds, seed, estimate, shown(progress))
        return Sample([Table(table) for table in tables], json.loads(report))

    def __repr__(self) -> str:
        promises = ", ".join(self.promises) or "nothing is promised"
        return f"<Release of {self._manifest['rows']:,} rows by {self._manifest['method']}: {promises}>"

    def _repr_html_(self) -> str:
        lines = [
            ("promises", ", ".join(self.promises) or "nothing"),
            ("method", str(self._manifest["method"])),
            ("groups", f"{self._manifest.get('groups', 0):,}"),
            ("tables", ", ".join(self._native.table_names())),
            ("folder", str(self.path or "not saved yet")),
        ]
        return _html.page("release", _html.title(f"Release of {self._manifest['rows']:,} rows") + _html.fact_table(lines))


class Sample(Sequence[Table]):
    """Tables that were drawn from a release."""

    def __init__(self, worlds: list[Table], report: dict[str, Any]) -> None:
        #: The tables.
        self.worlds = worlds
        #: Which columns are exact people's values, and which are drawn.
        self.report = Report(report, "What was drawn")

    def __getitem__(self, at: Any) -> Any:
        return self.worlds[at]

    def __iter__(self) -> Iterator[Table]:
        return iter(self.worlds)

    def __len__(self) -> int:
        return len(self.worlds)

    def __repr__(self) -> str:
        return f"<Sample of {len(self)} tables of {self.report['rows']:,} rows>"


class Audit(Report):
    """What an audit found."""

    def __init__(self, values: dict[str, Any], ok: bool, headline: list[str], notes: list[str]) -> None:
        super().__init__(values, headline[0], notes)
        #: Whether the release keeps its promises, and discloses nothing that its owner did not accept.
        self.is_ok = ok
        #: The verdict, and what is not promised, in sentences.
        self.headline = headline

    @property
    def ok(self) -> bool:
        """Whether the release keeps its promises, and discloses nothing that its owner did not accept."""
        return self.is_ok

    @property
    def findings(self) -> list[str]:
        """What is wrong, in sentences; empty if nothing is."""
        broken = [
            f"{promise['principle']} does not hold: the worst group has {promise['worst_exact']}"
            for promise in self["principles"]
            if promise["holds"] is False
        ]
        checks = [
            f"{check['name']}: {finding}"
            for check in self["checks"]
            if not check["ok"]
            for finding in (check["findings"] or [check["detail"]])
        ]
        found = broken + checks
        if not self.is_ok and not found:
            found.append(f"{self['disclosed_rows']:,} rows are disclosed, and the owner did not accept that")
        return found

    def raise_if_failed(self) -> Audit:
        """Returns the audit, or raises an ``AuditFailedError`` that says what is wrong."""
        if self.is_ok:
            return self
        found = self.findings
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        message = f"the audit failed: {found[0]}{more}"
        raise AuditFailedError(message, "do not hand this release out; publish the table again")

    def attacks(self) -> dict[str, str]:
        """What somebody could do with the release: a sentence for every attack that was run."""
        found = _sentences(self["attacks"], "")
        for column in self.get("columns", []):
            found.update(_sentences(column["attacks"], f" on {column['column']}"))
        return found

    def __repr__(self) -> str:
        lines = [*self.headline, *(f"  {finding}" for finding in self.findings)]
        lines += [f"  {promise}: {told}" for promise, _, told in self.promises()]
        return "\n".join(lines)

    def promises(self) -> list[tuple[str, str, str]]:
        """Every promise, whether it holds, and what the worst group has."""
        words = {True: "yes", False: "NO", None: "nobody can tell"}
        return [(it["principle"], words[it["holds"]], str(it["worst_exact"])) for it in self["principles"]]

    def _repr_html_(self) -> str:
        return _html.audit(self)


def _sentences(attacks: dict[str, Any], suffix: str) -> dict[str, str]:
    """The finding of every attack. Some are tried several times, with other releases or by several users together."""
    found = {}
    for name, told in attacks.items():
        for at, one in enumerate(told if isinstance(told, list) else [told]):
            if name != "not_run" and isinstance(one, dict) and one.get("finding"):
                found[f"{name}{suffix}" if at == 0 else f"{name}{suffix} {at + 1}"] = str(one["finding"])
    return found


class Made:
    """What ``publish`` made: a release, and how it was made."""

    def __init__(self, release: Release, report: dict[str, Any], notes: list[str]) -> None:
        #: The release, which may be handed out once it is saved.
        self.release = release
        #: How it was made and what it costs.
        self.summary = Summary(report, release, notes)
        #: What the owner should know, in sentences.
        self.notes = notes

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            where = f": write `made.release.{name}`" if hasattr(Release, name) else ""
            raise AttributeError(f"what `publish` made has no {name!r}{where}")

    def __repr__(self) -> str:
        return repr(self.summary)

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


class Summary(Report):
    """How a release was made and what it costs."""

    def __init__(self, values: dict[str, Any], release: Release, notes: list[str]) -> None:
        rows, groups = values["rows"], values["groups"]
        super().__init__(values, f"Published {rows:,} rows" + (f" in {groups:,} groups" if groups else ""), notes)
        self._release = release

    def lines(self) -> list[tuple[str, str]]:
        """What the owner wants to know, by name."""
        groups = self["groups"]
        lines = [
            ("method", f"{self['method']} by {self['partitioner']}" if groups else str(self["method"])),
            ("every group", ", ".join(self["guarantees"]) or "nothing is promised"),
        ]
        if groups:
            sizes = f"{self['smallest_group']:,} to {self['largest_group']:,} rows, {self['rows'] / groups:,.1f} on average"
            lines.append(("group size", sizes))
        if self.get("persons"):
            lines.append(("persons", f"{self['persons']:,}, {self['fewest_persons']:,} to {self['most_persons']:,} in a group"))
        if self["disclosed_rows"] is not None:
            disclosed, certain = self["disclosed_rows"], self["certain_rows"]
            ordinary = f" ({certain - disclosed:,} with an ordinary value can be inferred)" if certain > disclosed else ""
            accepted = f"{disclosed:,} rows: ACCEPTED, their sensitive values can be inferred"
            lines.append(("disclosed", accepted if disclosed else f"no row{ordinary}"))
        lines.append(("loss (NCP)", f"{self['ncp']:.4g} per cell (0 nothing lost, 1 nothing left)"))
        if self.get("suppressed_rows"):
            lines.append(("suppressed rows", f"{self['suppressed_rows']:,}"))
        if self["dropped_rows"]:
            lines.append(("dropped rows", f"{self['dropped_rows']:,} with missing values"))
        for step in self.get("prepared", []):
            lines.append(("prepared", f"{step['column']} {step['preparation']} ({step['changed_rows']:,} rows)"))
        left_out: dict[str, list[str]] = {}
        for column in self["dropped_columns"]:
            left_out.setdefault(column["reason"], []).append(column["name"])
        if left_out:
            lines.append(("left out", "; ".join(f"{', '.join(names)} ({why})" for why, names in left_out.items())))
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in self.get("phases", {}).items())
        lines.append(("seconds", f"{self['seconds']:.2f} ({phases})"))
        return lines

    def __repr__(self) -> str:
        return "\n".join([self._title, *(f"  {name}: {value}" for name, value in self.lines())])

    def _repr_html_(self) -> str:
        attributes = [
            [it["name"], it["role"], it["kind"], it["published"], _html.shown(self["ncp_by_attribute"].get(it["name"]))]
            for it in self._release.manifest["attributes"]
        ]
        rows = [[*cells[:-1], "" if cells[-1] == "none" else cells[-1]] for cells in attributes]
        columns = _html.table(["column", "role", "kind", "published", "loss"], rows)
        facts = _html.title(self._title) + _html.fact_table(self.lines())
        return _html.page("summary", facts + columns + _html.remarks(self.notes))


class Comparison:
    """Several releases of one table, side by side.

    >>> import chrysalis as ch
    >>> runs = [{"method": "anatomy"}, {"method": "generalize"}]
    >>> found = ch.compare(ch.example(500), quasi=["age", "sex"], sensitive=["disease"], require="l=3", runs=runs,
    ...                    queries=20, seed=1)
    >>> [run["made"] for run in found.runs]
    [True, True]
    """

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native
        self._json: dict[str, Any] = json.loads(native.json())
        #: What the owner should know, in sentences.
        self.notes = native.notes

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Every release, with everything that was measured."""
        runs: list[dict[str, Any]] = self._json["runs"]
        return runs

    @property
    def advice(self) -> list[str]:
        """Which release to choose for what, in sentences."""
        return [f"{it['goal']}: {it['sentence']}" for it in self._json["choose"]]

    @property
    def is_sound(self) -> bool:
        """Whether every release that was made keeps its promises."""
        return self._native.is_sound

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as plain values."""
        values: dict[str, Any] = json.loads(self._native.json())
        return values

    def page(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Writes the page about it, and its numbers beside it (``report.html`` and ``report.json``)."""
        self._native.page(fspath(path), force)
        return Path(path)

    def html(self) -> str:
        """The page, as HTML."""
        return self._native.html()

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["release", "promise", "disclosed rows", "loss (NCP)", "groups"]
        rows = []
        for run in self.runs:
            promise = ", ".join(run["guarantees"])
            if run["made"]:
                numbers = [_html.shown(run.get(name)) for name in ("disclosed_rows", "ncp", "groups")]
                rows.append([run["name"], promise, *numbers])
            else:
                rows.append([run["name"], promise, run["reason"], "", ""])
        return header, rows

    def __repr__(self) -> str:
        lines = ["  ".join(cell for cell in row if cell) for row in self._table()[1]]
        return "\n".join([f"Compared {len(self.runs)} releases", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        advice = _html.table(["what matters", "which to choose"], [[it["goal"], it["sentence"]] for it in self._json["choose"]])
        runs = _html.title(f"Compared {len(self.runs)} releases") + _html.table(*self._table())
        return _html.page("comparison", runs + advice + _html.remarks(self.notes))
