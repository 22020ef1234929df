"""The yardstick of the benchmark: move a table without protecting it.

usage: move_rows.py IN.csv OUT.parquet COLUMN [COLUMN ...]

Reads the CSV with polars, sorts by the columns, writes Parquet; default settings everywhere, so
polars uses every core it finds.
"""

import sys

import polars


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, target, *columns = sys.argv[1:]
    polars.read_csv(source).sort(columns).write_parquet(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
