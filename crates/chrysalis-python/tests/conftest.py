"""What all tests share: the example hospital in every kind of frame, and the command."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import chrysalis as ch
import pytest

#: Columns that mean the same in a file and in a frame.
COLUMNS = ["age", "sex", "zip_code", "disease", "cost"]


def run(*arguments: object) -> str:
    """Runs the command that the wheel brought, and returns what it printed."""
    program = Path(sys.executable).with_name("chrysalis")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def hashes(release: Path) -> dict[str, list[str]]:
    """The sha256 of every file of every table, from the files, and as the manifest says."""
    manifest = json.loads((release / "release.json").read_text())
    found = {}
    for table in manifest["tables"]:
        found[table["name"]] = [hashlib.sha256((release / part["file"]).read_bytes()).hexdigest() for part in table["parts"]]
        assert found[table["name"]] == [part["sha256"] for part in table["parts"]]
    return found


def data(name: str) -> Path:
    """A file of real data: where `CHRYSALIS_DATA` says, or beside the repository. Skips the test without it."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    path = Path(os.environ.get("CHRYSALIS_DATA", beside)) / name
    if not path.is_file():
        pytest.skip(f"there is no {name}")
    return path


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example hospital as CSV."""
    path = tmp_path_factory.mktemp("data") / "hospital.csv"
    ch.example(5000, seed=3).to_pandas()[COLUMNS].to_csv(path, index=False)
    return path


def _pandas(path: Path, texts: list[str]) -> Any:
    import pandas

    return pandas.read_csv(path, dtype=dict.fromkeys(texts, str), keep_default_na=False, na_values=[""])


def _polars(path: Path, texts: list[str]) -> Any:
    import polars

    return polars.from_pandas(_pandas(path, texts))


def _pyarrow(path: Path, texts: list[str]) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(_pandas(path, texts), preserve_index=False)


def _duckdb(path: Path, texts: list[str]) -> Any:
    import duckdb

    frame = _pyarrow(path, texts)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE microdata AS SELECT * FROM frame")
    return connection.sql("SELECT * FROM microdata")


@pytest.fixture(params=[_pandas, _polars, _pyarrow, _duckdb], ids=["pandas", "polars", "pyarrow", "duckdb"])
def frame(request: pytest.FixtureRequest) -> Callable[[Path, list[str]], Any]:
    """Reads a CSV file into a frame; the named columns are text."""
    reader: Callable[[Path, list[str]], Any] = request.param
    return reader
