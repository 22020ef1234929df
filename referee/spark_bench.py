"""What publishing on a cluster costs beside one machine: CPU seconds of all processes, per row.

    spark_bench.py FOLDER MAKER [--rows 2000000] [--forms anatomy,permute,generalize] [--partitions 2,7,32]
                   [--rows-per-cell 1000000] [--faults]

MAKER is `make_census_like.py`; its rows are kept in FOLDER and used again.

Starts a cluster of two workers on this machine. Every release is audited by the cluster; those of one form must have the
same hashes. With `--faults` so must two more of each form: one during which a worker is killed, and one with speculation, where
every task that is slower than others runs twice. JVM start is counted apart: it is what an empty job has cost before. Run it with the Python that has the
package, PySpark and the tests' folder on its path: `cargo xtask bench-spark` does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster import Cluster, cpu_of, end_session, session

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]
SENSITIVE = "salary_class"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("maker", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--forms", default="anatomy,permute,generalize")
    parser.add_argument("--partitions", default="8")
    parser.add_argument("--rows-per-cell", type=int, default=1_000_000)
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = options.folder.absolute() / f"census-like-{options.rows}.parquet"
    if not rows.is_file():
        make(options, rows)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=options.folder.absolute()))
    try:
        measure(options, rows, folder)
    finally:
        shutil.rmtree(folder)


def make(options: argparse.Namespace, rows: Path) -> None:
    """Several seeds, so that no run of the maker is large."""
    import pyarrow.csv
    import pyarrow.parquet

    csv, most = rows.with_suffix(".csv"), 2_000_000
    writer = None
    for seed, start in enumerate(range(0, options.rows, most), 1):
        count = min(most, options.rows - start)
        subprocess.run([sys.executable, options.maker, str(count), str(seed), csv], check=True)
        table = pyarrow.csv.read_csv(csv)
        writer = writer or pyarrow.parquet.ParquetWriter(rows, table.schema)
        writer.write_table(table, row_group_size=250_000)
        csv.unlink()
    if writer is not None:
        writer.close()


#: Tasks that are slower than others are started a second time, at the other machine.
SPECULATION = {
    "speculation": "true", "speculation__interval": "10ms", "speculation__quantile": "0.1",
    "speculation__multiplier": "1.0", "speculation__minTaskRuntime": "0ms",
}  # fmt: skip


def measure(options: argparse.Namespace, file: Path, folder: Path) -> None:
    cluster = Cluster(folder)
    try:
        rows = session(cluster).read.parquet(f"file:{file}").count()
        start = used()
        print(f"{rows:,} rows; starting Java and a first job took {start:.1f} CPU s")
        print(f"{'form':<12}{'partitions':>11}{'seconds':>9}{'CPU s':>8}{'us/row':>8}{'shuffled':>10}{'one machine':>13}{'ratio':>7}")
        for form in options.forms.split(","):
            alone = one_machine(file, form, folder / "alone")
            seen = set()
            for partitions in map(int, options.partitions.split(",")):
                seconds, cpu, loss, hashes = published(cluster, options, file, form, partitions, folder / "release")
                moved = shuffled(cluster)
                seen.add(hashes)
                print(
                    f"{form:<12}{partitions:>11}{seconds:>9.1f}{cpu:>8.1f}{1e6 * cpu / rows:>8.2f}{moved / rows:>8.1f} B"
                    f"{alone:>11.1f} s{cpu / alone:>7.1f}",
                    flush=True,
                )
                audited(cluster, folder / "release", f"loss {loss:.4f}")
            if options.faults:
                seen |= faulty(cluster, options, file, form, partitions, folder)
            assert len(seen) == 1, "partitions or faults changed a byte"
    finally:
        end_session()
        cluster.stop()


def published(
    cluster: Cluster, options: argparse.Namespace, file: Path, form: str, partitions: int, out: Path, **more: object
) -> tuple[float, float, float, tuple[str, ...]]:
    """Seconds, CPU seconds of all processes, loss, and the hashes of all parts."""
    import chrysalis.spark as on_cluster

    settings = more.pop("settings", {})
    df = session(cluster, **settings).read.parquet(f"file:{file}").repartition(partitions)
    before, began = used(), time.monotonic()
    knobs = {"quasi": QUASI, "sensitive": SENSITIVE, "require": ["k=10", "l=4"], "method": form, "seed": 1}
    made = on_cluster.publish(df, out=out, rows_per_cell=options.rows_per_cell, **{"progress": False, **knobs, **more})
    seconds, cpu = time.monotonic() - began, used() - before
    tables = json.loads((out / "release.json").read_text())["tables"]
    hashes = tuple(part["sha256"] for table in tables for part in table["parts"])
    return seconds, cpu, made.summary.ncp, hashes


def audited(cluster: Cluster, out: Path, note: str, settings: dict[str, str] | None = None) -> None:
    """The audit of a release, which is removed then."""
    import chrysalis.spark as on_cluster

    began, before = time.monotonic(), used()
    on_cluster.audit(out, session(cluster, **settings or {}), progress=False).raise_if_failed()
    print(f"{'  audit passed':<23}{time.monotonic() - began:>9.1f}{used() - before:>8.1f}  {note}", flush=True)
    shutil.rmtree(out)


def faulty(
    cluster: Cluster, options: argparse.Namespace, file: Path, form: str, partitions: int, folder: Path
) -> set[tuple[str, ...]]:
    """The hashes of a release during which a worker went down, and of one whose tasks ran twice."""
    killed = []

    def watching(phase: str | None, done: int, *_: object) -> None:
        if phase == "cells" and done > 0 and not killed:
            killed.append(done)
            cluster.kill_worker()

    out = folder / "release"
    seconds, *_, one = published(cluster, options, file, form, partitions, out, progress=watching)
    assert killed, "no worker was killed"
    cluster.add_worker()
    print(f"{form:<12}{'killed':>11}{seconds:>9.1f}  a worker, after {killed[0]} cells")
    audited(cluster, out, "the whole release")
    end_session()
    seconds, *_, other = published(cluster, options, file, form, partitions, out, settings=SPECULATION)
    print(f"{form:<12}{'twice':>11}{seconds:>9.1f}  with speculation")
    audited(cluster, out, "the whole release", SPECULATION)
    end_session()
    return {one, other}


def used() -> float:
    """CPU seconds of this process, of its JVM, and of the cluster."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + cpu_of(os.getpid())


def shuffled(cluster: Cluster) -> int:
    """Bytes of new shuffle files on the workers' disks."""
    files = {file: file.stat().st_size for file in (cluster.folder / "local").rglob("shuffle_*.data")}
    known: dict[Path, int] = getattr(shuffled, "known", {})
    shuffled.known = files  # type: ignore[attr-defined]
    # Spark may have removed those of a job before.
    return sum(size for file, size in files.items() if file not in known)


def one_machine(rows: Path, form: str, out: Path) -> float:
    """CPU seconds of the command."""
    program = Path(sys.executable).with_name("chrysalis")
    command = [program, "publish", rows, "--quasi", ",".join(QUASI), "--sensitive", SENSITIVE, "--require", "k=10"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command), "--require", "l=4", "--method", form, "--seed", "1", "--out", str(out)],
                   check=True, capture_output=True)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(out)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
