"""Answers to questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _html, _native
from ._table import Table

if TYPE_CHECKING:
    import pandas
    import polars


class Value(NamedTuple):
    """One number of an answer.

    The truth always lies between ``lower`` and ``upper``; ``estimate`` is what to expect, and ``std_error`` how far off
    that typically is. ``None`` where there is no such number.
    """

    name: str
    estimate: float | None
    lower: float | None
    upper: float | None
    std_error: float | None


class Row(NamedTuple):
    """One line of an answer: the values of the columns behind GROUP BY, and the numbers asked for."""

    group: dict[str, Any]
    values: list[Value]


class Answer:
    """What a release says about a question.

    >>> import chrysalis as ch
    >>> made = ch.publish(ch.example(2000), quasi=["age", "sex"], sensitive=["disease"], require="l=4",
    ...                   method="anatomy", seed=1)
    >>> answer = made.release.query("SELECT COUNT(*) AS n FROM microdata WHERE disease = 'influenza' AND age < 30")
    >>> answer.value.lower <= answer.value.estimate <= answer.value.upper
    True
    >>> answer.to_pandas().columns.tolist()
    ['n', 'n_lower', 'n_upper', 'n_std_error']
    """

    def __init__(self, native: _native.Answer, question: str) -> None:
        self._native = native
        self._json: dict[str, Any] = json.loads(native.json())
        #: The question.
        self.question = question.strip()

    @property
    def rows(self) -> list[Row]:
        """All lines."""
        pick = ("name", "estimate", "lower", "upper", "std_error")
        return [
            Row(row["group"], [Value(*(number[name] for name in pick)) for number in row["aggregates"]])
            for row in self._json["rows"]
        ]

    @property
    def value(self) -> Value:
        """The only number, if the question asked for one."""
        rows = self.rows
        if len(rows) != 1 or len(rows[0].values) != 1:
            numbers = sum(len(row.values) for row in rows)
            raise ValueError(f"the answer has {numbers} numbers in {len(rows)} rows: look at `rows`")
        return rows[0].values[0]

    @property
    def explanation(self) -> list[str]:
        """Where the numbers come from, in sentences."""
        return self._native.explanation

    @property
    def notes(self) -> list[str]:
        """What was asked for and the release does not have."""
        return self._native.notes

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values, the same that the command line prints as JSON."""
        values: dict[str, Any] = json.loads(self._native.json())
        return values

    def table(self) -> Table:
        """One line per group: its keys, and of every number the estimate under its name, ``…_lower``, ``…_upper`` and
        ``…_std_error``."""
        return Table(self._native.table())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow C stream interface, of :meth:`table`."""
        return self.table().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """:meth:`table`, of pyarrow."""
        return self.table().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """:meth:`table`, of pandas."""
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """:meth:`table`, of polars."""
        return self.table().to_polars()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, at: int) -> Row:
        return self.rows[at]

    def __len__(self) -> int:
        return len(self._json["rows"])

    def __repr__(self) -> str:
        lines = [self.question]
        for row in self.rows:
            keys = ", ".join(f"{name} = {_html.shown(key)}" for name, key in row.group.items())
            for value in row.values:
                bounds = f"from {_html.shown(value.lower)} to {_html.shown(value.upper)}"
                lines.append(f"  {keys + ': ' if keys else ''}{value.name} about {_html.shown(value.estimate)}, {bounds}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return _html.answer(self.question, self.rows, self.notes)
