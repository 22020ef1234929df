"""The part of the package that is written in Rust. Nothing here is public."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Protocol, final

__all__ = [
    "Answer",
    "ClusterJob",
    "Comparison",
    "Release",
    "Table",
    "audit_sql",
    "check_taxonomy",
    "cluster_count",
    "cluster_merge_again",
    "cluster_merge_counts",
    "cluster_merge_surveys",
    "cluster_publish",
    "cluster_route",
    "cluster_survey",
    "cluster_survey_again",
    "cluster_write",
    "command",
    "compare",
    "example",
    "manifest",
    "open",
    "profile",
    "propose_taxonomy",
    "publish",
    "rewrite",
    "risk",
    "series",
]

class _Progress(Protocol):
    def __call__(self, phase: str | None, done: int, total: int | None, unit: str, /) -> bool | None: ...

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...

@final
class Answer:
    def json(self) -> str: ...
    @property
    def explanation(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    def table(self) -> Table: ...

@final
class ClusterJob:
    def __new__(
        cls,
        table: object,
        keywords: dict[str, Any],
        out: str | PathLike[str],
        seed: int | None,
        force: bool,
        rows_per_cell: int,
    ) -> ClusterJob: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def private(self) -> str: ...
    def plan(self, surveys: Sequence[bytes]) -> None: ...
    def settle(self, counts: Sequence[bytes]) -> int: ...
    @property
    def round(self) -> int: ...
    def has_large(self) -> bool: ...
    def plan_again(self, surveys: Sequence[bytes]) -> None: ...
    def number(self, facts: Sequence[bytes]) -> None: ...
    def finish(self, parts: Sequence[bytes]) -> tuple[str, list[str]]: ...
    def close(self) -> None: ...

@final
class Comparison:
    @property
    def is_sound(self) -> bool: ...
    @property
    def notes(self) -> list[str]: ...
    def json(self) -> str: ...
    def html(self) -> str: ...
    def page(self, path: str | PathLike[str], force: bool = False) -> None: ...

@final
class Release:
    def manifest(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    def table_names(self) -> list[str]: ...
    def table(self, name: str, progress: _Progress | None = None) -> Table: ...
    def save(
        self,
        folder: str | PathLike[str],
        format: str | None = None,
        force: bool = False,
        progress: _Progress | None = None,
    ) -> tuple[str, list[str]]: ...
    def audit(
        self,
        keywords: dict[str, Any],
        microdata: object | None = None,
        population: object | None = None,
        others: Sequence[tuple[str, Release]] = ...,
        with_microdata: Sequence[object] = ...,
        series: str | PathLike[str] | None = None,
        sensitive: Sequence[str] = ...,
        replay: int | None = None,
        certificate: str | PathLike[str] | None = None,
        force: bool = False,
        memory: str | None = None,
        progress: _Progress | None = None,
    ) -> tuple[str, bool, list[str], list[str]]: ...
    def query(
        self,
        question: str,
        tables: Sequence[tuple[str, object]] = ...,
        estimate: str = "learned",
        progress: _Progress | None = None,
        others: Sequence[tuple[str | PathLike[str], Release | None]] = ...,
    ) -> Answer: ...
    def rewrite(
        self,
        question: str,
        dialect: str,
        tables: Sequence[tuple[str, object]] = ...,
        progress: _Progress | None = None,
    ) -> str: ...
    def evaluate(
        self,
        keywords: dict[str, Any],
        microdata: object,
        options: dict[str, Any],
        holdout: object | None = None,
        progress: _Progress | None = None,
    ) -> tuple[str, list[str]]: ...
    def sample(
        self,
        worlds: int = 1,
        seed: int | None = None,
        estimate: str = "learned",
        progress: _Progress | None = None,
    ) -> tuple[list[Table], str]: ...

def publish(
    table: object,
    keywords: dict[str, Any],
    seed: int | None = None,
    folder: str | PathLike[str] | None = None,
    force: bool = False,
    progress: _Progress | None = None,
) -> tuple[Release, str, list[str]]: ...
def open(
    folder: str | PathLike[str], memory: str | None = None, progress: _Progress | None = None
) -> Release: ...
def compare(
    table: object, keywords: dict[str, Any], seed: int | None = None, progress: _Progress | None = None
) -> Comparison: ...
def profile(
    table: object, keywords: dict[str, Any], progress: _Progress | None = None
) -> tuple[str, list[str]]: ...
def risk(
    table: object,
    keywords: dict[str, Any],
    population: int | None = None,
    population_table: object | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    max_size: int | None = None,
    rows: str | PathLike[str] | None = None,
    progress: _Progress | None = None,
) -> tuple[str, list[str]]: ...
def series(ledger: str | PathLike[str]) -> tuple[str, list[str]]: ...
def propose_taxonomy(
    table: object, name: str, keywords: dict[str, Any]
) -> tuple[list[list[str]], str]: ...
def check_taxonomy(
    taxonomy: str | PathLike[str] | Sequence[Sequence[str]],
    keywords: dict[str, Any],
    table: object | None = None,
    name: str | None = None,
) -> str: ...
def example(rows: int, seed: int) -> Table: ...
def command(arguments: Sequence[str]) -> int: ...
def manifest(folder: str | PathLike[str], memory: str | None = None) -> str: ...
def audit_sql(folder: str | PathLike[str], dialect: str, memory: str | None = None) -> str: ...
def rewrite(
    folder: str | PathLike[str],
    question: str,
    dialect: str,
    tables: Sequence[tuple[str, object]] = ...,
    memory: str | None = None,
) -> str: ...
def cluster_survey(private: str | PathLike[str], rows: object) -> bytes: ...
def cluster_survey_again(private: str | PathLike[str], rows: object, round: int) -> bytes: ...
def cluster_count(private: str | PathLike[str], rows: object, round: int) -> bytes: ...
def cluster_merge_surveys(told: Sequence[bytes]) -> bytes: ...
def cluster_merge_again(told: Sequence[bytes]) -> bytes: ...
def cluster_merge_counts(told: Sequence[bytes]) -> bytes: ...
def cluster_route(private: str | PathLike[str], rows: object, round: int) -> list[tuple[int, bytes]]: ...
def cluster_publish(
    private: str | PathLike[str], cell: int, blocks: Sequence[bytes], round: int
) -> bytes: ...
def cluster_write(private: str | PathLike[str], cell: int) -> bytes: ...
