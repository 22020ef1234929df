"""Questions to a release, answered by the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .. import _native
from ._session import Place, folder_of, manifest_of, require_spark, with_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def query(
    release: Place,
    question: str,
    spark: SparkSession,
    *,
    tables: Mapping[str, object] | None = None,
    memory: str | None = None,
) -> DataFrame:
    """Answers a question in SQL on the cluster: a data frame with the estimates and their bounds, not computed yet.

    The table is called ``microdata``. The question is rewritten for the tables of the release
    (``chrysalis rewrite --dialect spark``): bounds are those of ``Release.query``, estimates those of
    ``estimate="even"``. ``release`` is a folder that all machines see at the same place; ``tables`` are small public
    tables that the question joins. ``memory`` limits what the driver reads: the manifest, and columns whose labels the
    statement names.
    """
    require_spark()
    folder = folder_of(release)
    statement = _native.rewrite(folder, question, "spark", list((tables or {}).items()), memory)
    session = with_tables(spark, folder, manifest_of(folder, memory))
    return session.sql(statement)
