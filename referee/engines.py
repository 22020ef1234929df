"""A database that answers rewritten questions, for comparison with `chrysalis query`.

usage: engines.py duckdb RELEASE_FOLDER
       engines.py sqlite FILE.db
       engines.py spark RELEASE_FOLDER

DuckDB and Spark see every Parquet file of the folder as a view of its name; SQLite opens the file as it is. Standard input has one
JSON object per line, {"sql": "..."}; standard output answers each with one line, {"rows": [[...], ...]} or
{"error": "..."}. Dates are texts of the form YYYY-MM-DD.
"""

import datetime
import decimal
import json
import pathlib
import sys


def open_duckdb(folder: str):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for file in sorted(pathlib.Path(folder).glob("*.parquet")):
        name = file.stem.replace('"', '""')
        path = str(file).replace("'", "''")
        connection.execute(f"CREATE VIEW \"{name}\" AS SELECT * FROM read_parquet('{path}')")
    return connection


def open_sqlite(file: str):
    import sqlite3

    connection = sqlite3.connect(file)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return connection


class Spark:
    """As much of a connection as is needed here."""

    def __init__(self, folder: str):
        from pyspark.sql import SparkSession

        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.log.level": "OFF"}
        self.session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
        for file in sorted(pathlib.Path(folder).glob("*.parquet")):
            self.session.read.parquet(str(file)).createOrReplaceTempView(f"`{file.stem}`")

    def execute(self, sql: str):
        self.rows = self.session.sql(sql)
        return self

    def fetchall(self):
        return self.rows.collect()


def plain(value):
    """A value that JSON can hold."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value


def main() -> int:
    openers = {"duckdb": open_duckdb, "sqlite": open_sqlite, "spark": Spark}
    if len(sys.argv) != 3 or sys.argv[1] not in openers:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    connection = openers[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        try:
            rows = connection.execute(json.loads(line)["sql"]).fetchall()
            answer = {"rows": [[plain(value) for value in row] for row in rows]}
        except Exception as error:  # Whatever the database says is the answer.
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
