"""What every call needs of Spark: that it is there, tables under their names, and work that is watched and can be stopped."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union

from .. import _errors, _native
from .._errors import RequestError, StoppedError
from .._progress import Callback
from .._release import Release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
Place = Union[str, "PathLike[str]", Release]

#: How often the driver looks how far the cluster is.
_PACE = 0.2
#: How many seconds tasks have to stop.
_LONGEST = 30.0
_OLDEST = 4


def require_spark() -> None:
    """Refuses to go on without PySpark."""
    install = "pip install 'chrysalis-privacy[spark]', on the driver and on every machine of the cluster"
    try:
        import pyspark
    except ImportError:
        raise RequestError("this needs PySpark, which is not installed", install) from None
    if int(pyspark.__version__.split(".")[0]) < _OLDEST:
        raise RequestError(f"this needs PySpark {_OLDEST}, and version {pyspark.__version__} is installed", install)


def folder_of(release: Place) -> Path:
    """Where a release is. It must be a folder that all machines see at the same place."""
    if isinstance(release, Release):
        if release.path is None:
            raise RequestError("this release was not saved yet", "save it to storage that all machines share")
        return release.path.absolute()
    return Path(fspath(release)).absolute()


def manifest_of(folder: Path, memory: str | None) -> dict[str, Any]:
    """What a release says of itself."""
    told: dict[str, Any] = json.loads(_native.manifest(folder, memory))
    return told


#: What Spark calls the kinds of columns; all others are words.
_TYPES = {"integer": "BIGINT", "real": "DOUBLE", "date": "DATE", "datetime": "TIMESTAMP_NTZ"}


def with_tables(spark: SparkSession, folder: Path, manifest: dict[str, Any]) -> SparkSession:
    """A session of its own, in which the tables of a release have their names; the caller's tables keep theirs."""
    session = spark.newSession()
    # What statements mean must not depend on what the caller has set.
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.conf.set("spark.sql.caseSensitive", "true")
    for table in manifest["tables"]:
        table_of(session, folder, table).createOrReplaceTempView(table["name"])
    return session


def table_of(session: SparkSession, folder: Path, table: dict[str, Any]) -> DataFrame:
    """One table of a release, with the columns that the manifest tells."""
    names = [(column["name"].replace("`", "``"), column["kind"]) for column in table["columns"]]
    schema = ", ".join(f"`{name}` {_TYPES.get(kind, 'STRING')}" for name, kind in names)
    files = [part["file"] for part in table["parts"]]
    paths = [_escaped(f"file:{folder / file}") for file in files]
    reader = session.read.schema(schema)
    if all(file.endswith(".parquet") for file in files):
        return reader.parquet(*paths)
    return reader.csv(paths, header=True, nullValue="", escape='"', mode="FAILFAST", enforceSchema=False)


def _escaped(address: str) -> str:
    """The address of a file, in which no letter stands for others."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in address)


def watched(spark: SparkSession, phase: str, progress: Callback | None, work: Callable[[], T]) -> T:
    """Does work on the cluster, tells how many of its tasks are done, and cancels them when somebody stops it."""
    from pyspark import InheritableThread

    context = spark.sparkContext
    group = f"chrysalis-{uuid.uuid4()}"
    done: dict[str, Any] = {}

    def run() -> None:
        context.setJobGroup(group, f"chrysalis: {phase}", interruptOnCancel=True)
        try:
            done["made"] = work()
        except BaseException as error:  # noqa: BLE001 - it is raised again, where somebody waits for it
            done["error"] = error

    thread = InheritableThread(target=run, name=f"chrysalis {phase}", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_PACE)
            if progress is not None and progress(phase, *_tasks(context, group), "tasks") is False:
                raise StoppedError(f"stopped while the cluster was at work ({phase})")
    except BaseException:
        context.cancelJobGroup(group)
        thread.join(_LONGEST)
        _wait_for_tasks(context, group)
        raise
    if "error" in done:
        _wait_for_tasks(context, group)
        raise _own(done["error"])
    made: T = done["made"]
    return made


#: What a task of ours says last when it fails.
_SAID = re.compile(r"chrysalis\._errors\.(\w+): (.*?)(?:\nhint: (.*?))?(?:\n\s*\n|\Z)", re.DOTALL)


def _own(error: BaseException) -> BaseException:
    """An error of a task as it was raised there; Spark only tells what was printed."""
    said = _SAID.search(str(error))
    known = getattr(_errors, said[1], None) if said else None
    if said is None or known is None:
        return error
    own: BaseException = known(said[2].strip(), (said[3] or "").strip())
    own.__cause__ = error
    return own


def _wait_for_tasks(context: Any, group: str) -> None:
    """Waits until tasks that were told to stop have stopped: they may be writing."""
    until = time.monotonic() + _LONGEST
    while any(stage.numActiveTasks for stage in _stages(context, group)) and time.monotonic() < until:
        time.sleep(_PACE)


def _stages(context: Any, group: str) -> Iterator[Any]:
    tracker = context.statusTracker()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            told = tracker.getStageInfo(stage)
            if told:
                yield told


def _tasks(context: Any, group: str) -> tuple[int, int | None]:
    """How many tasks are done, and how many are known of. Stages that another job has carried out never begin."""
    stages = [stage for stage in _stages(context, group) if stage.numActiveTasks or stage.numCompletedTasks]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages) or None
