"""DuckDB's side of `cargo xtask bench-queries`, with default settings: it uses every core it finds.

usage: ask_duckdb.py -c SQL              answer one statement
       ask_duckdb.py FILE.sql            answer the statements of a file, `;` between them
       ask_duckdb.py --compare PLAN.json run {"setup": [SQL], "pairs": [[SQL, SQL]], "repeat": N}

Answers are printed as they come. --compare prints, as JSON, the seconds of every run by pair and side; the two sides of a
pair alternate, after one run of each that is not counted.
"""

import sys

import duckdb


def compare(file: str) -> None:
    import json
    import time

    with open(file, encoding="utf-8") as text:
        plan = json.load(text)
    connection = duckdb.connect()
    for statement in plan["setup"]:
        connection.execute(statement)
    seconds = [[[], []] for _ in plan["pairs"]]
    for number in range(plan["repeat"] + 1):
        for pair, kept in zip(plan["pairs"], seconds):
            for statement, times in zip(pair, kept):
                start = time.perf_counter()
                connection.execute(statement).fetchall()
                if number > 0:
                    times.append(time.perf_counter() - start)
    print(json.dumps(seconds))


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "-c":
        print(duckdb.sql(sys.argv[2]).fetchall())
    elif len(sys.argv) == 3 and sys.argv[1] == "--compare":
        compare(sys.argv[2])
    elif len(sys.argv) == 2:
        with open(sys.argv[1], encoding="utf-8") as text:
            statements = text.read().split(";")
        connection = duckdb.connect()
        for statement in statements:
            if statement.strip():
                print(connection.execute(statement).fetchall())
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
