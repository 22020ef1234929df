"""From a data frame on a cluster to a release.

The table is published cell by cell. Steps, each a job of Spark whose tasks call the native library:

1. *survey*: every partition is counted and sampled, and what it tells is merged: whole-table counts, and a sample of
   bounded size. The driver draws the plan from it: a tree of cuts.
2. *count*: how many rows, and which sensitive values, every cell would have. The driver undoes cuts that would fail. Where
   that leaves cells that are much too large, their rows are surveyed, cut and counted again.
3. *cells*: rows are routed to their cells, and each cell is published where its rows have come together. What is to be
   published waits in the private folder, because group ids are drawn over the whole release. The driver refuses what would
   disclose rows before anything is written as it would be published.
4. *write*: the parts are written, each under a name of its own and then renamed.

Between driver and tasks, everything private goes through a folder beside the release that only its owner may read: the
secret that all randomness is made from, the plan, and cells that wait. The closures that Spark pickles, ships, logs and
spills hold the path of that folder and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from .._errors import RequestError, natural
from .._progress import Callback, Progress, shown
from .._release import told
from .._report import Report
from ._session import require_spark, watched

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from .._knobs import Knobs

Batches = Iterator["pyarrow.RecordBatch"]

#: Rows that a cell may have: fewer than are numbered in 32 bits, because cells may be larger than they were to be.
_MOST_ROWS = 1_000_000_000
#: So many surveys or counts the driver merges itself, at most; tasks merge the others.
_MERGED_LAST = 16


class Published:
    """What ``publish`` made: a release in its folder, and how it was made."""

    def __init__(self, path: Path, report: dict[str, Any], notes: list[str]) -> None:
        #: The folder of the release.
        self.path = path
        #: How it was made and what it costs.
        self.summary = Report(report, f"Published {report['rows']:,} rows in {report['groups']:,} groups", notes)
        #: What the owner should know, in sentences.
        self.notes = notes

    def __repr__(self) -> str:
        return repr(self.summary)


def publish(
    df: DataFrame,
    *,
    out: str | PathLike[str],
    seed: int | None = None,
    force: bool = False,
    rows_per_cell: int = 1_000_000,
    progress: Progress = None,
    **knobs: Unpack[Knobs],
) -> Published:
    """Publishes a data frame of Spark: hides people in groups that satisfy what is required.

    Keywords are those of :func:`chrysalis.publish`. ``out`` is the folder of the release, on storage that the driver and
    all executors see at the same place; the release appears there whole or not at all, and ``force=True`` replaces one
    that is there. ``rows_per_cell`` is how many rows are published together, and so how much one task holds in memory:
    more rows lose less.

    The release is the same however the data frame is partitioned, and whichever tasks are repeated. The data frame is
    computed three times, and twice more whenever cells that came out too large are cut again: cache it if that is expensive,
    and if it does not give the same rows every time, write it first.
    """
    natural(seed=seed)
    if isinstance(rows_per_cell, int) and not 1 <= rows_per_cell <= _MOST_ROWS:
        problem = f"`rows_per_cell` is {rows_per_cell}, and a cell has 1 to {_MOST_ROWS:,} rows"
        raise RequestError(problem, "use `rows_per_cell=1_000_000`")
    require_spark()
    from pyspark.sql.pandas.types import to_arrow_schema

    tell = shown(progress)
    job = _native.ClusterJob(
        to_arrow_schema(df.schema).empty_table(), dict(knobs), fspath(out), seed, force, rows_per_cell
    )
    try:
        report, notes = _carried_out(df.select(*[_quoted(name) for name in job.columns]), job, tell)
    finally:
        job.close()
        if tell is not None:
            tell(None, 0, None, "tasks")
    told(notes)
    return Published(Path(fspath(out)), json.loads(report), notes)


def _carried_out(df: DataFrame, job: _native.ClusterJob, tell: Callback | None) -> tuple[str, list[str]]:
    private, spark = job.private, df.sparkSession

    def told(phase: str, frame: DataFrame) -> list[bytes]:
        return [bytes(row.told) for row in watched(spark, phase, tell, frame.collect)]

    surveys = df.mapInArrow(_each_chunk(private, "cluster_survey"), _TOLD)
    job.plan(told("survey", _merged(surveys, "cluster_merge_surveys")))

    def settled() -> int:
        counts = df.mapInArrow(_each_chunk(private, "cluster_count", job.round), _TOLD)
        return job.settle(told("count", _merged(counts, "cluster_merge_counts")))

    cells = settled()
    while job.has_large():
        again = df.mapInArrow(_each_chunk(private, "cluster_survey_again", job.round), _TOLD)
        job.plan_again(told("survey", _merged(again, "cluster_merge_again")))
        cells = settled()

    routed = df.mapInArrow(_routed(private, job.round), "cell int, block binary")
    # As many partitions as cells, so that cells that share one are few.
    together = routed.repartition(cells, "cell").groupBy("cell")
    job.number(told("cells", together.applyInArrow(_published(private, job.round), _TOLD)))

    numbers = spark.range(0, cells, 1, cells)
    return job.finish(told("write", numbers.mapInArrow(_written(private), _TOLD)))


_TOLD = "told binary"
#: Rows that a task reads at once.
_CHUNK = 1 << 19


def _each_chunk(private: str, function: str, *more: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        _use_own_cores()
        for chunk in _chunks(batches):
            yield _row(told=getattr(_native, function)(private, chunk, *more))

    return run


def _merged(frame: DataFrame, function: str) -> DataFrame:
    """Fewer rows that say the same: the driver merges the last of them."""

    def run(batches: Batches) -> Batches:
        told = [value for batch in batches for value in batch.column("told").to_pylist()]
        if told:
            _use_own_cores()
            yield _row(told=getattr(_native, function)(told))

    # Their number depends on the machines, and what they say together does not.
    tasks = frame.sparkSession.sparkContext.defaultParallelism
    return frame.repartition(max(1, min(tasks, _MERGED_LAST))).mapInArrow(run, _TOLD)


def _routed(private: str, round: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        _use_own_cores()
        for chunk in _chunks(batches):
            for cell, block in _native.cluster_route(private, chunk, round):
                yield _row(cell=cell, block=block)

    return run


def _published(private: str, round: int) -> Callable[[Any], Any]:
    # Spark evaluates these annotations.
    def run(blocks: Any) -> Any:
        import pyarrow

        _use_own_cores()
        cell = blocks.column("cell")[0].as_py()
        told = _native.cluster_publish(private, cell, blocks.column("block").to_pylist(), round)
        return pyarrow.table({"told": [told]})

    return run


def _written(private: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        _use_own_cores()
        for batch in batches:
            for cell in batch.column("id").to_pylist():
                yield _row(told=_native.cluster_write(private, cell))

    return run


def _chunks(batches: Batches) -> Iterator[pyarrow.Table]:
    """The rows of a partition, so many of them at once as a task holds well."""
    import pyarrow

    waiting: list[pyarrow.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= _CHUNK:
            yield pyarrow.Table.from_batches(waiting)
            waiting = []
    if any(one.num_rows for one in waiting):
        yield pyarrow.Table.from_batches(waiting)


def _row(**values: Any) -> pyarrow.RecordBatch:
    import pyarrow

    types = {"cell": pyarrow.int32()}
    arrays = [pyarrow.array([value], types.get(name, pyarrow.binary())) for name, value in values.items()]
    return pyarrow.RecordBatch.from_arrays(arrays, names=list(values))


def _use_own_cores() -> None:
    """A task has cores of its own, and leaves those of others alone."""
    from pyspark import TaskContext

    context = TaskContext.get()
    os.environ.setdefault("RAYON_NUM_THREADS", str(context.cpus() if context else 1))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
