"""What a call from Python costs above the same work of the command: seconds, CPU seconds and memory.

    python_overhead.py CENSUS [--copies 4] [--rounds 5] [--only anatomy]

CENSUS is `census_sal_500k.csv.gz`; its rows are repeated to two million. In every round each of three processes runs once,
in turns: pandas, which only reads the table; Python, which reads it with pandas and publishes the frame; and the command,
which reads the file itself. Python's call is compared with the phases of the command that form groups and make tables, and
its peak of memory with that of pandas. Run it with a Python that has the wheel, pandas and pyarrow, of a release build:

    cargo xtask python --build --profile release
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

QUASI = ["age", "gender", "education", "marital_status", "race", "work_class", "country"]
SENSITIVE = "salary_class"
TASKS = {
    "anatomy": {"method": "anatomy", "require": ["l=10"]},
    "generalize": {"method": "generalize", "require": ["k=10", "l=4"]},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("census", type=Path)
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=list(TASKS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        table = Path(folder) / "rows.csv"
        rows = repeated(options.census, options.copies, table)
        for name in [options.only] if options.only else TASKS:
            measure(name, table, rows, options.rounds)


def repeated(census: Path, copies: int, table: Path) -> int:
    """Writes the rows so many times, and returns how many that are."""
    with gzip.open(census, "rb") as file:
        header, rows = file.readline(), file.read()
    with table.open("wb") as file:
        file.write(header)
        for _ in range(copies):
            file.write(rows)
    return rows.count(b"\n") * copies


def measure(name: str, table: Path, rows: int, rounds: int) -> None:
    found: dict[str, list[dict[str, float]]] = {"pandas": [], "python": [], "command": []}
    kinds = list(found)
    for at in range(rounds):
        # In turns, each first as often as the others.
        for kind in kinds[at % 3 :] + kinds[: at % 3]:
            found[kind].append(command(name, table) if kind == "command" else child(kind, name, table))

    def middle(kind: str, what: str) -> float:
        return statistics.median(one[what] for one in found[kind])

    def spread(kind: str, what: str) -> str:
        values = [one[what] for one in found[kind]]
        return f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"

    wall = middle("python", "seconds") / middle("command", "phases") - 1
    grown = middle("python", "peak") - middle("pandas", "peak")
    print(f"{name}, {', '.join(TASKS[name]['require'])}: {rows:,} rows, {rounds} rounds in turns")
    print(f"  ch.publish(frame)           {spread('python', 'seconds')}, {middle('python', 'cpu'):.2f} CPU seconds")
    print(f"  of it, forming and making   {spread('python', 'phases')}")
    print(f"  command, forming and making {spread('command', 'phases')}")
    print(f"  command, all of it          {spread('command', 'seconds')}, {middle('command', 'cpu'):.2f} CPU seconds")
    print(f"  overhead of the call        {100 * wall:+.1f} % of the command's two phases")
    print(f"  peak of memory              {middle('pandas', 'peak'):,.0f} MB reading with pandas, {middle('python', 'peak'):,.0f} MB "
          f"with publishing ({grown:+,.0f} MB); the command {middle('command', 'peak'):,.0f} MB")


def child(kind: str, name: str, table: Path) -> dict[str, float]:
    """One run in a process of its own, whose peak of memory is its own."""
    done = subprocess.run([sys.executable, __file__, "--child", kind, name, str(table)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def run_child(kind: str, name: str, table: str) -> None:
    import pandas

    frame = pandas.read_csv(table)
    told: dict[str, Any] = {}
    if kind == "python":
        import chrysalis

        cpu, began = time.process_time(), time.perf_counter()
        made = chrysalis.publish(frame, quasi=QUASI, sensitive=SENSITIVE, **TASKS[name])
        told = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "phases": phases(made.summary)}
    json.dump({**told, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}, sys.stdout)


def command(name: str, table: Path) -> dict[str, float]:
    """One run of the command, whose phases it reports itself."""
    task = TASKS[name]
    with tempfile.TemporaryDirectory(dir=table.parent) as folder:
        line = [str(Path(sys.executable).with_name("chrysalis")), "publish", str(table), "--quasi", ",".join(QUASI)]
        line += ["--sensitive", SENSITIVE, "--method", str(task["method"]), "--out", f"{folder}/release", "--output", "json"]
        line += [word for one in task["require"] for word in ("--require", one)]
        began = time.perf_counter()
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"the command failed: {' '.join(line)}")
        seconds = time.perf_counter() - began
    return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "phases": phases(report), "peak": used.ru_maxrss / 1024}


def phases(report: Any) -> float:
    """The seconds of forming groups and making tables."""
    return float(sum(report["phases"].get(name, 0.0) for name in ("partition", "publish")))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(*sys.argv[2:])
    else:
        main()
