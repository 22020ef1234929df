"""Reports: what was found, as plain values that can be looked at and turned into JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _html


class Report(Mapping[str, Any]):
    """What was found: a mapping of names to plain values, the same that the command line prints as JSON.

    Names can be read as attributes, too: ``report.rows`` is ``report["rows"]``.
    """

    def __init__(self, values: dict[str, Any], title: str, notes: list[str] | None = None) -> None:
        self._values = values
        self._title = title
        #: What a person should know, in sentences.
        self.notes: list[str] = notes or []

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"this report has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def to_dict(self) -> dict[str, Any]:
        """All of it, as plain values."""
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    def to_json(self, indent: int | None = None) -> str:
        """All of it, as JSON."""
        return json.dumps(self._values, indent=indent)

    def __repr__(self) -> str:
        return "\n".join([self._title, *(f"  {name}: {value}" for name, value in _html.facts(self._values))])

    def _repr_html_(self) -> str:
        return _html.page("report", _html.title(self._title) + _html.fact_table(_html.facts(self._values)))
