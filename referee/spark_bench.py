"""What publishing on a cluster costs beside one machine: CPU seconds of all processes, per row.

    spark_bench.py FOLDER MAKER [--rows 2000000] [--forms anatomy,permute,generalize] [--partitions 2,7,32]
                   [--rows-per-cell 1000000]

MAKER is `make_census_like.py`; its rows are kept in FOLDER and used again.

Starts a cluster of two workers on this machine. Every release is audited by the cluster; those of one form must have the
same hashes. JVM start is counted apart: it is what an empty job has cost before. Run it with the Python that has the
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


def measure(options: argparse.Namespace, file: Path, folder: Path) -> None:
    import chrysalis.spark as on_cluster

    cluster = Cluster(folder)
    try:
        spark = session(cluster)
        path = f"file:{file}"
        rows = spark.read.parquet(path).count()
        start = used()
        print(f"{rows:,} rows; starting Java and a first job took {start:.1f} CPU s")
        print(f"{'form':<12}{'partitions':>11}{'seconds':>9}{'CPU s':>8}{'us/row':>8}{'shuffled':>10}{'one machine':>13}{'ratio':>7}")
        for form in options.forms.split(","):
            alone = one_machine(file, form, folder / "alone")
            seen = set()
            for partitions in map(int, options.partitions.split(",")):
                out = folder / "release"
                before, began = used(), time.monotonic()
                df = spark.read.parquet(path).repartition(partitions)
                knobs = {"quasi": QUASI, "sensitive": SENSITIVE, "require": ["k=10", "l=4"], "method": form, "seed": 1}
                made = on_cluster.publish(df, out=out, rows_per_cell=options.rows_per_cell, progress=False, **knobs)
                seconds, cpu = time.monotonic() - began, used() - before
                moved = shuffled(cluster)
                parts = json.loads((out / "release.json").read_text())["tables"]
                seen.add(tuple(part["sha256"] for table in parts for part in table["parts"]))
                print(
                    f"{form:<12}{partitions:>11}{seconds:>9.1f}{cpu:>8.1f}{1e6 * cpu / rows:>8.2f}{moved / rows:>8.1f} B"
                    f"{alone:>11.1f} s{cpu / alone:>7.1f}",
                    flush=True,
                )
                began, before = time.monotonic(), used()
                on_cluster.audit(out, spark, progress=False).raise_if_failed()
                print(f"{'  audit':<23}{time.monotonic() - began:>9.1f}{used() - before:>8.1f}  loss {made.summary.ncp:.4f}")
                shutil.rmtree(out)
            assert len(seen) == 1, "partitions changed a byte"
    finally:
        end_session()
        cluster.stop()


def used() -> float:
    """CPU seconds of this process, of its JVM, and of the cluster."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + cpu_of(os.getpid())


def shuffled(cluster: Cluster) -> int:
    """Bytes of shuffle files on the workers' disks; they stay until the application ends."""
    now = sum(file.stat().st_size for file in (cluster.folder / "local").rglob("shuffle_*.data"))
    before = getattr(shuffled, "before", 0)
    shuffled.before = now  # type: ignore[attr-defined]
    return now - before


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
