"""The audit of a release, carried out by the cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from .._errors import AuditFailedError
from .._progress import Progress, shown
from ._session import Place, folder_of, manifest_of, require_spark, watched, with_tables

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

#: As many rows of what is wrong are kept.
MOST = 20


@dataclass(frozen=True)
class Statement:
    """A promise or a check, and what the cluster found."""

    #: Such as ``promise/l=4`` or ``check/groups``.
    name: str
    #: What it decides, in words.
    about: str
    #: ``exactly``, ``errs towards complaint``, or ``cannot be decided in SQL``.
    decides: str
    #: The statement, for whoever wants to run it again.
    sql: str | None
    #: Rows that break it, at most twenty of them.
    broken: list[dict[str, Any]] = field(default_factory=list)


class Audit:
    """What the cluster found: every promise and check, and the groups that break it."""

    def __init__(self, statements: list[Statement]) -> None:
        #: All promises and checks.
        self.statements = statements

    @property
    def ok(self) -> bool:
        """Whether nothing is broken of what can be decided."""
        return not self.broken

    @property
    def broken(self) -> list[Statement]:
        """What does not hold."""
        return [one for one in self.statements if one.broken]

    @property
    def undecided(self) -> list[Statement]:
        """What no statement over the tables can decide; ``about`` says why."""
        return [one for one in self.statements if one.sql is None and one.name != FILES]

    def raise_if_failed(self) -> Audit:
        """Returns the audit, or raises an ``AuditFailedError`` that says what is wrong."""
        broken = self.broken
        if not broken:
            return self
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        message = f"the audit failed: {broken[0].name}{more}: {broken[0].about}"
        raise AuditFailedError(message, "do not hand this release out; publish the table again")

    def __repr__(self) -> str:
        decided = len(self.statements) - len(self.undecided)
        lines = [f"{decided} promises and checks hold" if self.ok else f"{len(self.broken)} of {decided} do not hold"]
        lines += [f"  {one.name}: {len(one.broken)}{'+' if len(one.broken) == MOST else ''} rows" for one in self.broken]
        if self.undecided:
            lines.append(f"  not decided in SQL: {', '.join(one.name for one in self.undecided)}")
        return "\n".join(lines)


#: The check that is not SQL.
FILES = "check/files"


def audit(
    release: Place, spark: SparkSession, *, memory: str | None = None, progress: Progress = None
) -> Audit:
    """Checks everything that a release promises, on the cluster, from its tables alone.

    These are the statements of ``chrysalis audit --sql spark``, each of which looks for groups that break a promise, and
    the hash of every file. ``release`` is a folder that all machines see at the same place. ``memory`` limits what the
    manifest may take. What is not SQL (attacks, other releases, the microdata) is left to ``release.audit()`` on one
    machine; :attr:`Audit.undecided` lists it.
    """
    require_spark()
    folder = folder_of(release)
    manifest = manifest_of(folder, memory)
    session = with_tables(spark, folder, manifest)
    tell = shown(progress)
    told = [
        Statement(one["name"], one["about"], one["decides"], one["sql"])
        for one in json.loads(_native.audit_sql(folder, "spark", memory))
        if one["name"] != FILES
    ]
    try:
        found = [_run(session, one, tell) for one in told]
        found.append(_files(session, folder, manifest, tell))
    finally:
        if tell is not None:
            tell(None, 0, None, "tasks")
    return Audit(found)


def _run(session: SparkSession, statement: Statement, tell: Any) -> Statement:
    if statement.sql is None:
        return statement
    # Only what is wrong comes to the driver, and not all of it.
    wrong = session.sql(statement.sql).limit(MOST)
    rows = watched(session, statement.name, tell, wrong.collect)
    broken = [row.asDict() for row in rows]
    return Statement(statement.name, statement.about, statement.decides, statement.sql, broken)


def _files(session: SparkSession, folder: Path, manifest: dict[str, Any], tell: Any) -> Statement:
    """Whether every file has the bytes that the manifest tells."""
    parts = [(str(folder / part["file"]), part["sha256"]) for table in manifest["tables"] for part in table["parts"]]
    listed = session.createDataFrame(parts, "file string, sha256 string").repartition(max(1, len(parts)))
    wrong = listed.mapInArrow(_hashed, "file string, sha256 string, found string").where("sha256 <> found").limit(MOST)
    rows = watched(session, "check/files", tell, wrong.collect)
    about = "every file has the SHA-256 that the manifest tells. A row is a file that has another."
    return Statement(FILES, about, "exactly", None, [row.asDict() for row in rows])


def _hashed(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    import hashlib

    import pyarrow

    for batch in batches:
        found = []
        for path in batch.column("file").to_pylist():
            try:
                hashed = hashlib.sha256()
                with open(path, "rb") as file:
                    while piece := file.read(1 << 20):
                        hashed.update(piece)
                found.append(hashed.hexdigest())
            except OSError as error:
                found.append(f"cannot be read: {error.strerror}")
        yield pyarrow.RecordBatch.from_arrays(
            [batch.column("file"), batch.column("sha256"), pyarrow.array(found, pyarrow.string())],
            names=["file", "sha256", "found"],
        )
