"""Levels of anonymity as pycanon measures them, for comparison with `chrysalis profile`.

usage: pycanon_levels.py TABLE.csv[.gz] < cases.json > levels.json

Standard input is a JSON list of cases, each {"quasi": ["a", "b"], "sensitive": "s"}. Standard
output is a JSON list in the same order, each with k, distinct_l, entropy_l, alpha, k_of_alpha,
recursive_c, l_of_recursive_c, t, beta, enhanced_beta and delta. A level pycanon cannot compute
(recursive_c when distinct_l is 1, t when a numeric column has one value) is null.
"""

import json
import math
import sys

import pandas
from pycanon import anonymity


def levels(table: pandas.DataFrame, quasi: list[str], sensitive: str) -> dict:
    """All levels of one case. pycanon wants the sensitive columns as a list."""
    columns = [sensitive]
    alpha, k_of_alpha = anonymity.alpha_k_anonymity(table, quasi, columns)
    c, l_of_c = anonymity.recursive_c_l_diversity(table, quasi, columns)
    try:
        t = anonymity.t_closeness(table, quasi, columns)
    except ZeroDivisionError:
        t = None
    return {
        "k": int(anonymity.k_anonymity(table, quasi)),
        "distinct_l": int(anonymity.l_diversity(table, quasi, columns)),
        "entropy_l": int(anonymity.entropy_l_diversity(table, quasi, columns)),
        "alpha": number(alpha),
        "k_of_alpha": int(k_of_alpha),
        "recursive_c": number(c),
        "l_of_recursive_c": int(l_of_c),
        "t": number(t),
        "beta": number(anonymity.basic_beta_likeness(table, quasi, columns)),
        "enhanced_beta": number(anonymity.enhanced_beta_likeness(table, quasi, columns)),
        "delta": number(anonymity.delta_disclosure(table, quasi, columns)),
    }


def number(value) -> float | None:
    """A plain float that JSON can hold, or None for what is not a number."""
    if value is None or not math.isfinite(value):
        return None
    return float(value)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    # An empty field stays an empty text: a missing value is a value of its own, and no row drops
    # out of a group. low_memory=False keeps one type per column in large files.
    table = pandas.read_csv(sys.argv[1], keep_default_na=False, low_memory=False)
    cases = json.load(sys.stdin)
    answers = [levels(table, case["quasi"], case["sensitive"]) for case in cases]
    json.dump(answers, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
