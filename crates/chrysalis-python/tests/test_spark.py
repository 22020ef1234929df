"""On a cluster: a master and two workers, started for these tests. `cargo xtask spark` runs them; elsewhere they skip."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chrysalis as ch
import pytest
from cluster import Cluster, end_session, missing, session
from conftest import hashes

if missing() is not None:
    pytest.skip(f"no cluster: {missing()} (see `cargo xtask spark`)", allow_module_level=True)

import chrysalis.spark as cluster_privacy  # noqa: E402

QUASI = ["age", "sex", "zip_code"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield running
    finally:
        end_session()
        running.stop()


@pytest.fixture
def spark(cluster: Cluster) -> Any:
    return session(cluster)


def release_of(folder: Path, method: str, format: str = "parquet", **knobs: Any) -> Path:
    """A release of the example hospital, made on one machine."""
    said = {"quasi": QUASI, "sensitive": ["disease"], "require": ["l=4"], "method": method, "seed": 5, **knobs}
    place = folder / f"{method}-{format}"
    ch.publish(ch.example(4000, seed=3), **said).release.save(place, format=format)
    return place


# --- audit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["anatomy", "permute", "generalize"])
def test_the_audit_of_an_honest_release_finds_nothing(method: str, spark: Any, tmp_path: Path) -> None:
    found = cluster_privacy.audit(release_of(tmp_path, method), spark)
    assert found.raise_if_failed().ok
    names = [one.name for one in found.statements]
    assert "promise/l=4" in names and "check/files" in names and len(names) == len(set(names))
    assert spark.catalog.listTables() == [], "the caller's session has no new tables"


def test_the_audit_of_a_csv_release_reads_it_as_it_is(spark: Any, tmp_path: Path) -> None:
    assert cluster_privacy.audit(release_of(tmp_path, "permute", "csv"), spark).ok


def test_a_tampered_release_is_found_out(spark: Any, tmp_path: Path) -> None:
    import pandas

    place = release_of(tmp_path, "anatomy", "csv")
    manifest = json.loads((place / "release.json").read_text())
    file = next(table["parts"][0]["file"] for table in manifest["tables"] if table["name"] == "st")
    shown = pandas.read_csv(place / file)
    # One group shows one disease alone.
    victim = shown["group_id"] == 1
    shown = pandas.concat([shown[~victim], shown[victim].head(1).assign(count=shown[victim]["count"].sum())])
    shown.to_csv(place / file, index=False)
    found = cluster_privacy.audit(place, spark)
    broken = {one.name: one.broken for one in found.broken}
    assert broken["promise/l=4"][0]["group_id"] == 1
    assert [row["file"] for row in broken["check/files"]] == [str(place / file)]
    with pytest.raises(ch.AuditFailedError, match="l=4"):
        found.raise_if_failed()
    assert "promise/l=4" in repr(found)


# --- query ---------------------------------------------------------------------------------------------------------


def questions() -> list[str]:
    """A hundred questions: aggregates, conditions and keys in combination."""
    aggregates = ["COUNT(*) AS n", "AVG(age) AS mean, COUNT(*) AS n", "SUM(age) AS total", "MIN(age) AS a, MAX(age) AS b"]
    sensitive = ["", "disease = 'influenza'", "disease IN ('influenza', 'asthma')", "disease <> 'hypertension'"]
    quasi = ["", "sex = 'F'", "age BETWEEN 30 AND 52", "zip_code < '3' AND age > 40", "NOT (sex = 'M' OR age < 25)"]
    keys = ["", "sex", "disease", "age / 20"]
    made = []
    for aggregate, about, who, key in list(itertools.product(aggregates, sensitive, quasi, keys))[::3][:100]:
        where = " AND ".join(condition for condition in (about, who) if condition)
        made.append(
            f"SELECT {key + ', ' if key else ''}{aggregate} FROM microdata"
            f"{' WHERE ' + where if where else ''}{' GROUP BY ' + key if key else ''}"
        )
    assert len(set(made)) == 100
    return made


def test_a_hundred_questions_have_the_answers_of_one_machine(spark: Any, tmp_path: Path) -> None:
    place = release_of(tmp_path, "permute")
    release = ch.open(place)
    # A question takes a busy machine seconds: all hundred (and twelve below) only where long suites run in full.
    asked = questions() if os.environ.get("CHRYSALIS_SLOW") else questions()[::12]
    for question in asked:
        own = release.query(question, estimate="even").to_arrow().to_pylist()
        told = [row.asDict() for row in cluster_privacy.query(place, question, spark).collect()]
        same_rows(own, told, question)


def same_rows(own: list[dict[str, Any]], told: list[dict[str, Any]], question: str) -> None:
    assert len(own) == len(told), question

    def plain(value: object) -> object:
        """Keys are texts here, and numbers there."""
        try:
            return round(float(value or 0), 3)  # type: ignore[arg-type]
        except ValueError:
            return value

    def order(row: dict[str, Any]) -> str:
        return str([plain(value) for value in row.values()])

    for one, other in zip(sorted(own, key=order), sorted(told, key=order)):
        for mine, theirs in zip(one.values(), other.values()):
            if isinstance(mine, float):
                assert theirs == pytest.approx(mine, rel=1e-6, abs=1e-6), (question, one, other)
            else:
                assert plain(theirs) == plain(mine), (question, one, other)


def test_a_question_that_cannot_be_answered_says_why(spark: Any, tmp_path: Path) -> None:
    place = release_of(tmp_path, "permute")
    with pytest.raises(ch.QuestionError, match="no column"):
        cluster_privacy.query(place, "SELECT COUNT(*) FROM microdata WHERE height > 1", spark)


# --- publish -------------------------------------------------------------------------------------------------------

ROWS = 120_000
KNOBS: dict[str, Any] = {"quasi": QUASI, "sensitive": ["disease"], "require": ["k=10", "l=4"]}
#: So that there are several cells.
CELL = 20_000


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many patients, as Parquet."""
    import pyarrow.parquet

    place = tmp_path_factory.mktemp("rows") / "hospital.parquet"
    pyarrow.parquet.write_table(ch.example(ROWS, seed=4).to_arrow(), place, row_group_size=10_000)
    return place


def publish(spark: Any, hospital: Path, out: Path, partitions: int = 4, **knobs: Any) -> cluster_privacy.Published:
    df = spark.read.parquet(f"file:{hospital}").repartition(partitions)
    said = {**KNOBS, "rows_per_cell": CELL, "progress": False, **knobs}
    return cluster_privacy.publish(df, out=out, **said)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("method", ["anatomy", "permute", "generalize"])
def test_a_data_frame_becomes_a_release(method: str, spark: Any, hospital: Path, tmp_path: Path) -> None:
    made = publish(spark, hospital, tmp_path / "release", method=method)
    assert (made.summary.rows, left(tmp_path)) == (ROWS, ["release"])
    release = ch.open(tmp_path / "release")
    assert max(len(table["parts"]) for table in release.manifest["tables"]) >= 4
    release.audit(microdata=hospital).raise_if_failed()
    cluster_privacy.audit(tmp_path / "release", spark).raise_if_failed()
    assert set(release.promises) == {"k=10", "l=4"} and not release.manifest.get("reproducible")


@pytest.mark.parametrize("method", ["anatomy", "permute", "generalize"])
def test_partitions_do_not_change_a_byte(method: str, spark: Any, hospital: Path, tmp_path: Path) -> None:
    found = []
    for partitions in (2, 7, 32):
        publish(spark, hospital, tmp_path / str(partitions), partitions, method=method, seed=9)
        found.append(hashes(tmp_path / str(partitions)))
        told = json.loads((tmp_path / str(partitions) / "release.json").read_text())
        assert told["reproducible"] is True
    assert found[0] == found[1] == found[2]
    again = publish(spark, hospital, tmp_path / "secret", method=method)
    assert hashes(again.path) != found[0], "without a seed the randomness is new every time"


@pytest.mark.parametrize("promise", ["t=0.2", "beta=2"])
def test_promises_about_the_whole_table_hold_in_the_whole_release(
    promise: str, spark: Any, hospital: Path, tmp_path: Path
) -> None:
    publish(spark, hospital, tmp_path / "release", method="generalize", require=[promise])
    release = ch.open(tmp_path / "release")
    assert len(release.manifest["tables"][0]["parts"]) > 1
    audit = release.audit(microdata=hospital).raise_if_failed()
    assert [principle["holds"] for principle in audit["principles"]] == [True]


def test_questions_to_a_release_in_parts(spark: Any, hospital: Path, tmp_path: Path) -> None:
    publish(spark, hospital, tmp_path / "release", method="anatomy")
    release = ch.open(tmp_path / "release")
    for question in questions()[:: 9 if os.environ.get("CHRYSALIS_SLOW") else 30]:
        own = release.query(question, estimate="even").to_arrow().to_pylist()
        told = [row.asDict() for row in cluster_privacy.query(tmp_path / "release", question, spark).collect()]
        same_rows(own, told, question)


# --- faults --------------------------------------------------------------------------------------------------------


def test_a_machine_goes_down_in_the_middle(cluster: Cluster, spark: Any, hospital: Path, tmp_path: Path) -> None:
    publish(spark, hospital, tmp_path / "quiet", 16, method="permute", seed=2)
    killed: list[str] = []

    def watching(phase: str | None, done: int, total: int | None, unit: str) -> None:
        if phase == "cells" and done > 0 and not killed:
            killed.append(phase)
            cluster.kill_worker()

    try:
        publish(spark, hospital, tmp_path / "killed", 16, method="permute", seed=2, progress=watching)
    finally:
        if killed:
            cluster.add_worker()
    assert killed and left(tmp_path) == ["killed", "quiet"]
    assert hashes(tmp_path / "killed") == hashes(tmp_path / "quiet")
    ch.open(tmp_path / "killed").audit(microdata=hospital).raise_if_failed()


def test_tasks_that_run_twice(cluster: Cluster, hospital: Path, tmp_path: Path) -> None:
    """Tasks that take longer than the others are started a second time, at the other machine."""
    events = tmp_path / "events"
    events.mkdir()
    eager = {
        "eventLog__enabled": "true", "eventLog__dir": f"file:{events}", "eventLog__compress": "false",
        "speculation": "true", "speculation__interval": "10ms", "speculation__quantile": "0.1",
        "speculation__multiplier": "1.0", "speculation__minTaskRuntime": "0ms",
    }  # fmt: skip
    spark = session(cluster, **eager)

    def slow_once(batches: Any) -> Any:
        import time

        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.partitionId() == 0 and context.attemptNumber() == 0:
            time.sleep(6)
        yield from batches

    df = spark.read.parquet(f"file:{hospital}").repartition(8)
    df = df.mapInArrow(slow_once, df.schema)
    cluster_privacy.publish(
        df, out=tmp_path / "twice", **KNOBS, rows_per_cell=CELL, progress=False, method="anatomy", seed=2
    )
    spark = session(cluster)
    told = "".join(file.read_text() for file in events.rglob("*") if file.is_file())
    assert '"Speculative":true' in told
    shutil.rmtree(events)
    publish(spark, hospital, tmp_path / "once", 8, method="anatomy", seed=2)
    assert hashes(tmp_path / "twice") == hashes(tmp_path / "once")
    assert left(tmp_path) == ["once", "twice"]
    ch.open(tmp_path / "twice").audit(microdata=hospital).raise_if_failed()


def test_the_secret_is_nowhere_but_in_the_private_folder(cluster: Cluster, hospital: Path, tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.mkdir()
    spark = session(cluster, eventLog__enabled="true", eventLog__dir=f"file:{events}", eventLog__compress="false")
    (tmp_path / "out").mkdir()
    seen: set[bytes] = set()
    phases: list[object] = []
    shuffled = 0

    def look(*places: Path) -> int:
        """Bytes of all files there, none of which has the secret."""
        (secret,) = seen
        assert len(secret) == 32
        forms = [secret, secret.hex().encode(), base64.b64encode(secret)[:42], str(list(secret)).encode()[1:-1]]
        looked_at = 0
        for file in itertools.chain.from_iterable(place.rglob("*") for place in places):
            try:
                text = file.read_bytes() if file.is_file() else b""
            except OSError:
                continue  # Spark removes what it needs no more.
            assert not any(form in text for form in forms), file
            looked_at += len(text)
        return looked_at

    def watching(phase: object, *_: object) -> None:
        nonlocal shuffled
        for file in (tmp_path / "out").glob(".chrysalis-*/secret"):
            assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
            seen.add(file.read_bytes())
        # While it runs: shuffle files, broadcasts, and what machines were sent are there only now.
        if seen and phase not in phases:
            phases.append(phase)
            look(cluster.folder, events)
            files = [file for file in (cluster.folder / "local").rglob("shuffle_*.data")]
            shuffled = max(shuffled, len(files))

    publish(spark, hospital, tmp_path / "out" / "release", method="permute", progress=watching)
    assert {"count", "cells", "write"} <= set(phases) and shuffled > 0
    look(cluster.folder)
    end_session()
    # The release, what Spark logged, and what it left on the disks of driver and workers.
    assert any(events.rglob("*")) and look(tmp_path, cluster.folder) > 100_000


def failing() -> Any:
    """What machines of the cluster run is not in a module that they could import."""

    def rows(batches: Any) -> Any:
        for at, batch in enumerate(batches):
            if at > 0:
                raise ValueError("the disk is gone")
            yield batch

    return rows


def changing() -> Any:
    """Other ages every time."""

    def rows(batches: Any) -> Any:
        import os

        import pyarrow

        for batch in batches:
            at = batch.schema.get_field_index("age")
            ages = pyarrow.array([20 + byte % 60 for byte in os.urandom(batch.num_rows)], batch.schema.field(at).type)
            yield batch.set_column(at, batch.schema.field(at), ages)

    return rows


def trading() -> Any:
    """The same values of every column every time, but not of the same people."""

    def rows(batches: Any) -> Any:
        import os

        import pyarrow

        for batch in batches:
            at = batch.schema.get_field_index("disease")
            order = sorted(range(batch.num_rows), key=lambda _: os.urandom(8))
            yield batch.set_column(at, batch.schema.field(at), batch.column(at).take(pyarrow.array(order)))

    return rows


def divided() -> Any:
    """Women have diseases that men do not have."""

    def rows(batches: Any) -> Any:
        import pyarrow

        for batch in batches:
            at = batch.schema.get_field_index("disease")
            pairs = enumerate(batch.column("sex").to_pylist())
            values = pyarrow.array([f"{sex}{place % 4}" for place, sex in pairs], batch.schema.field(at).type)
            yield batch.set_column(at, batch.schema.field(at), values)

    return rows


def test_values_that_change_between_the_phases_are_noticed(spark: Any, hospital: Path, tmp_path: Path) -> None:
    df = spark.read.parquet(f"file:{hospital}")
    said: dict[str, Any] = {**KNOBS, "out": tmp_path / "release", "rows_per_cell": CELL, "progress": False}
    with pytest.raises(ch.RequestError, match="other rows"):
        cluster_privacy.publish(df.mapInArrow(trading(), df.schema), **said, method="permute")
    assert left(tmp_path) == []


def test_large_cells_are_cut_again(spark: Any, hospital: Path, tmp_path: Path) -> None:
    """No cut by `sex` stands, and every partition of the rows gives the same files all the same."""
    df = spark.read.parquet(f"file:{hospital}")
    df.mapInArrow(divided(), df.schema).write.parquet(f"file:{tmp_path / 'rows'}")
    divided_rows = spark.read.parquet(f"file:{tmp_path / 'rows'}")
    said: dict[str, Any] = {"quasi": QUASI, "sensitive": ["disease"], "require": ["beta=0.9"], "seed": 3}
    found = []
    for partitions in (3, 8):
        out = tmp_path / f"release-{partitions}"
        more: dict[str, Any] = {"rows_per_cell": CELL, "progress": False, "method": "generalize", "out": out}
        cluster_privacy.publish(divided_rows.repartition(partitions), **said, **more)
        found.append(hashes(out))
        rows = [part["rows"] for part in ch.open(out).manifest["tables"][0]["parts"]]
        assert len(rows) >= 5 and max(rows) <= CELL * 5 / 4, rows
    assert found[0] == found[1]


def test_nothing_is_written_that_is_refused_then(spark: Any, hospital: Path, tmp_path: Path) -> None:
    seen: set[str] = set()

    def watching(phase: str | None, *_: object) -> None:
        seen.add(str(phase))
        seen.update(file.name for file in tmp_path.glob(".chrysalis-*/whole/*"))
        assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in tmp_path.glob(".chrysalis-*"))

    df = spark.read.parquet(f"file:{hospital}")
    said: dict[str, Any] = {**KNOBS, "out": tmp_path / "release", "rows_per_cell": CELL, "method": "permute"}
    with pytest.raises(ch.InfeasibleError, match="disclosed"):
        cluster_privacy.publish(df, **{**said, "require": ["k=2"], "progress": watching})
    assert seen >= {"survey", "count", "cells"} and seen <= {"survey", "count", "cells", "None"}, seen
    assert left(tmp_path) == []


def test_missing_values_are_counted_in_the_whole_table(spark: Any, hospital: Path, tmp_path: Path) -> None:
    df = spark.read.parquet(f"file:{hospital}").selectExpr(
        *["nullif(age, 40) AS age" if name == "age" else name for name in ["age", "sex", "zip_code", "disease"]]
    )
    lacking = df.where("age IS NULL").count()
    said: dict[str, Any] = {**KNOBS, "out": tmp_path / "release", "progress": False, "missing": "error"}
    with pytest.raises(ch.RequestError, match=f"column `age` has {lacking} missing values"):
        cluster_privacy.publish(df, **said, method="permute")
    assert left(tmp_path) == []


def test_whatever_fails_leaves_nothing(spark: Any, hospital: Path, tmp_path: Path) -> None:
    df = spark.read.parquet(f"file:{hospital}")
    out = tmp_path / "release"
    said: dict[str, Any] = {**KNOBS, "out": out, "rows_per_cell": CELL, "progress": False, "method": "permute"}
    with pytest.raises(Exception, match="the disk is gone"):
        cluster_privacy.publish(df.mapInArrow(failing(), df.schema), **said)
    with pytest.raises(ch.RequestError, match="other rows|values that it did not have"):
        cluster_privacy.publish(df.mapInArrow(changing(), df.schema), **said)
    with pytest.raises(ch.InfeasibleError, match="l=9"):
        cluster_privacy.publish(df, **{**said, "require": ["l=900"]})
    with pytest.raises(ch.InfeasibleError, match="disclosed"):
        cluster_privacy.publish(df, **{**said, "require": ["k=2"]})
    with pytest.raises(ch.StoppedError, match="cells"):
        cluster_privacy.publish(df, **{**said, "progress": lambda phase, *_: phase != "cells"})
    with pytest.raises(ch.RequestError, match="no rows"):
        cluster_privacy.publish(df.where("age > 1000"), **said)
    assert left(tmp_path) == []
    # The cluster is as it was.
    cluster_privacy.publish(df, **said)
    assert left(tmp_path) == ["release"]


def test_refused_before_anything_is_computed(spark: Any, hospital: Path, tmp_path: Path) -> None:
    df = spark.read.parquet(f"file:{hospital}").mapInArrow(failing(), "age int, disease string")
    said: dict[str, Any] = {"quasi": ["age"], "sensitive": ["disease"], "require": ["l=2"], "out": tmp_path / "release"}
    for knobs, message in [
        ({"quasi": ["height"]}, "height"),
        ({"method": "angel"}, "cell"),
        ({"partitioner": "full-domain"}, "cell"),
        ({"qausi": ["age"]}, "no keyword"),
        ({"out": tmp_path / "nowhere" / "release"}, "no such folder"),
        ({"out": tmp_path}, "exists|is not a release|something"),
    ]:
        with pytest.raises(ch.RequestError, match=message):
            cluster_privacy.publish(df, **{**said, **knobs})
    assert left(tmp_path) == []


def test_progress_is_told(spark: Any, hospital: Path, tmp_path: Path) -> None:
    told: list[tuple[Any, ...]] = []
    publish(spark, hospital, tmp_path / "release", method="anatomy", progress=lambda *step: told.append(step))
    assert list(dict.fromkeys(step[0] for step in told)) == ["survey", "count", "cells", "write", None]
    assert all(step[2] is None or step[1] <= step[2] for step in told)
