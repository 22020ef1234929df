"""Tables that speak Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _html, _native

if TYPE_CHECKING:
    import pandas
    import polars


class Table:
    """A table, in memory.

    It speaks the Arrow C stream interface, so pandas, polars, pyarrow and DuckDB take it as it is, without a copy
    through text: ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``duckdb.sql("FROM table")``.

    >>> import chrysalis as ch
    >>> table = ch.example(100)
    >>> len(table), table.columns[:3]
    (100, ['patient_id', 'age', 'sex'])
    >>> table.to_pandas()["sex"].nunique()
    2
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow C stream interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self._native.num_rows

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return self._native.column_names

    def to_arrow(self) -> Any:
        """As a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas (which needs pyarrow for that)."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<Table of {len(self):,} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return _html.page("table", _html.title(f"{len(self):,} rows") + _html.listing(self.columns))
