"""Taxonomies: what values have in common, for publishing them in broader terms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._report import Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._knobs import ProfileKnobs, Reading


class Taxonomy(Sequence[Any]):
    """The lines of a taxonomy, each from a value to the root: ``["nurse", "health and teaching", "*"]``.

    Pass it as it is: ``publish(…, taxonomy={"occupation": taxonomy})``.
    """

    def __init__(self, lines: list[list[str]], grouping: str) -> None:
        self._lines = lines
        #: How values were grouped.
        self.grouping = grouping

    def __getitem__(self, at: Any) -> Any:
        return self._lines[at]

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def tolist(self) -> list[list[str]]:
        """The lines."""
        return [list(line) for line in self._lines]

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes it to a new file, in the format of ARX."""
        with Path(path).open("x", encoding="utf-8") as file:
            file.writelines(";".join(line) + "\n" for line in self._lines)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Taxonomy of {len(self)} values, grouped by {self.grouping}>"


def propose_taxonomy(table: object, column: str, **knobs: Unpack[ProfileKnobs]) -> Taxonomy:
    """Proposes a taxonomy for a column of a table, to be looked over before it is used.

    >>> import chrysalis as ch
    >>> taxonomy = ch.propose_taxonomy(ch.example(1000), "zip_code")
    >>> taxonomy[0][-1]
    '*'
    """
    lines, grouping = _native.propose_taxonomy(table, column, dict(knobs))
    return Taxonomy(lines, grouping)


def check_taxonomy(
    taxonomy: Taxonomy | Sequence[Sequence[str]] | str | PathLike[str],
    table: object | None = None,
    column: str | None = None,
    memory: str | None = None,
    **knobs: Unpack[Reading],
) -> Report:
    """Examines a taxonomy (its lines, or the path of a file), alone or together with a column of a table.

    A file that would take more than ``memory`` (such as ``"2GB"``) is refused.

    >>> import chrysalis as ch
    >>> found = ch.check_taxonomy([["F", "*"], ["M", "*"]], ch.example(100), "sex")
    >>> found.ok
    True
    """
    given: str | list[list[str]]
    if isinstance(taxonomy, (str, PathLike)):
        given = fspath(taxonomy)
    else:
        given = [list(line) for line in taxonomy]
    values: dict[str, Any] = json.loads(_native.check_taxonomy(given, {**knobs, "memory": memory}, table, column))
    verdict = "is sound" if column is None else f"fits column {column}"
    return Report(values, f"{values['file']} {verdict if values['ok'] else values['problem']}")
