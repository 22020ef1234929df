"""The keywords of ``publish``, ``compare`` and others, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, Union

Path = Union[str, "PathLike[str]"]
Number = Union[int, float, str]
Names = Union[str, Sequence[str]]


class Reading(TypedDict, total=False):
    """How a table is read: of a file, and of its columns."""

    delimiter: str
    encoding: str
    na: Names
    date_format: str
    missing: str
    kind: Mapping[str, str]
    order: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Mapping[str, Any]]


class Source(TypedDict, total=False):
    """How the microdata behind a release are read."""

    delimiter: str
    encoding: str
    na: Names
    date_format: str
    person: str
    key: Path


class ProfileKnobs(Reading, total=False):
    """What ``profile`` takes."""

    memory: str
    quasi: Names
    sensitive: Names
    prepare: Mapping[str, Names]
    person: str
    key: Path
    taxonomy: Mapping[str, Union[Path, Sequence[Sequence[str]]]]


class RiskKnobs(Reading, total=False):
    """What ``risk`` takes."""

    quasi: Names
    weight: str


class Knobs(ProfileKnobs, total=False):
    """What ``publish`` takes."""

    quasi: Union[Names, Sequence[Sequence[str]]]  # type: ignore[misc]
    other: Names
    weight: str
    require: Names
    method: str
    partitioner: str
    relaxed: bool
    transparent: bool
    rows_known: bool
    rows_per_person: int
    memory: str
    series: Path
    values_change: bool
    only_new: bool
    after: Union[Path, Sequence[Path]]
    like: Path
    intervals: Mapping[str, Union[Number, Sequence[Number]]]
    prefix: Names
    categories: Mapping[str, Sequence[Sequence[str]]]
    weights: Union[str, Sequence[Number], Mapping[str, Union[str, Sequence[Number]]]]
    ordinary: Union[Sequence[str], Mapping[str, Names]]
    near: Mapping[str, Number]
    accept: Names
    group_column: str
    bucket_columns: Names
    marginals: Sequence[Sequence[str]]
    together: Sequence[Sequence[str]]
    collude: int
    format: str
    suppress: Number
    population_table: object
    metric: str
    levels: Mapping[str, int]
    time_limit: Number


class CompareKnobs(Knobs, total=False):
    """What ``compare`` takes."""

    runs: Sequence[Mapping[str, Any]]
    workload: str
    queries: int
    selectivity: float
    dimensions: int
