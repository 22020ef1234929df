"""The same tasks in pycanon or anjana and in Chrysalis, on Adult: lines of code and seconds, side by side.

    anjana_side_by_side.py ADULT HIERARCHIES [--rounds 5]

ADULT is `adult_complete.csv.gz`, and HIERARCHIES a folder with a file for each column in the format of ARX, such as
`age.csv`. What is counted and timed is the text below, nothing else; the table is a data frame of pandas in both. Run it with
a Python that has the wheel (of a release build), anjana and pycanon:

    cargo xtask python --build --profile release
    pip install anjana==1.2.3
"""

from __future__ import annotations

import argparse
import os
import statistics
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import anjana
import chrysalis as ch
import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity
from pycanon import anonymity

QUASI = ["age", "education", "marital_status", "race", "sex"]
SENSITIVE = "occupation"

#: A task, a tool, and how the tool does it. `adult` is the data frame, and the hierarchies are in the current folder.
TASKS = [
    ("measure k and l", "pycanon", """
        k = anonymity.k_anonymity(adult, QUASI)
        l = anonymity.l_diversity(adult, QUASI, [SENSITIVE])
    """),
    ("measure k and l", "Chrysalis", """
        levels = ch.profile(adult, quasi=QUASI, sensitive=SENSITIVE).anonymity
        k, l = levels["k"], levels["distinct_l"]
    """),
    ("groups of ten", "anjana", """
        hierarchies = {name: dict(pd.read_csv(f"{name}.csv", sep=";", header=None)) for name in QUASI}
        made = k_anonymity(adult, [], QUASI, 10, 5, hierarchies)
        if len(made) == 0:
            raise SystemExit("not found")
        suppressed = len(adult) - len(made)
    """),
    ("groups of ten", "Chrysalis", """
        made = ch.publish(adult, quasi=QUASI, require="k=10", partitioner="full-domain", suppress=0.05,
                          taxonomy={name: f"{name}.csv" for name in QUASI})
        suppressed = made.summary.suppressed_rows
    """),
    ("groups of ten with four values", "anjana", """
        hierarchies = {name: dict(pd.read_csv(f"{name}.csv", sep=";", header=None)) for name in QUASI}
        made = l_diversity(adult, [], QUASI, SENSITIVE, 10, 4, 5, hierarchies)
        if len(made) == 0:
            raise SystemExit("not found")
        suppressed = len(adult) - len(made)
    """),
    ("groups of ten with four values", "Chrysalis", """
        made = ch.publish(adult, quasi=QUASI, sensitive=SENSITIVE, require=["k=10", "distinct-l=4"],
                          partitioner="full-domain", suppress=0.05, taxonomy={name: f"{name}.csv" for name in QUASI})
        suppressed = made.summary.suppressed_rows
    """),
    ("the same, cut as groups need it", "Chrysalis", """
        made = ch.publish(adult, quasi=QUASI, sensitive=SENSITIVE, require=["k=10", "distinct-l=4"])
        suppressed = 0
    """),
]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("hierarchies", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    adult = pd.read_csv(options.adult)
    os.chdir(options.hierarchies)
    print(f"Adult, {len(adult):,} rows; anjana {anjana.__version__ if hasattr(anjana, '__version__') else ''}, "
          f"Chrysalis {ch.__version__}; medians of {options.rounds} rounds in turns\n")
    print(f"| {'task':<32} | {'tool':<9} | {'lines':>5} | {'seconds':>8} | {'CPU':>6} | {'found':<28} |")
    print(f"|{'-' * 34}|{'-' * 11}|{'-' * 6}:|{'-' * 9}:|{'-' * 7}:|{'-' * 30}|")
    runs = [(task, tool, textwrap.dedent(code).strip(), []) for task, tool, code in TASKS]
    found: dict[str, str] = {}
    for _ in range(options.rounds):
        for _, _, code, times in runs:
            times.append(timed(code, adult, found))
    for task, tool, code, times in runs:
        wall, cpu = (statistics.median(one[at] for one in times) for at in (0, 1))
        lines = sum(bool(line.strip()) for line in code.splitlines())
        print(f"| {task:<32} | {tool:<9} | {lines:>5} | {wall:>8.3f} | {cpu:>6.3f} | {found[code]:<28} |")


def timed(code: str, adult: pd.DataFrame, found: dict[str, str]) -> tuple[float, float]:
    """Seconds and CPU seconds of one run."""
    names: dict[str, object] = {
        "adult": adult.copy(), "QUASI": QUASI, "SENSITIVE": SENSITIVE, "pd": pd, "ch": ch, "anonymity": anonymity,
        "k_anonymity": k_anonymity, "l_diversity": l_diversity,
    }
    program = compile(code, "task", "exec")
    quiet: Callable[..., None] = lambda *_, **__: None
    names["print"] = quiet
    cpu, began = time.process_time(), time.perf_counter()
    exec(program, names)
    seconds, used = time.perf_counter() - began, time.process_time() - cpu
    told = [f"{name} = {names[name]}" for name in ("k", "l") if name in names]
    found[code] = ", ".join(told) or f"{names['suppressed']:,} rows suppressed"
    return seconds, used


if __name__ == "__main__":
    main()
