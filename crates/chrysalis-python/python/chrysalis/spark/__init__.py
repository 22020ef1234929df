"""Chrysalis on a Spark cluster: for tables that no one machine holds.

A data frame goes in, and a release comes out: a folder of ordinary tables on storage that all machines share. Rows never
come to the driver; it sees counts, and a sample of bounded size.

.. code-block:: python

    import chrysalis.spark as spark_privacy

    made = spark_privacy.publish(df, quasi=["age", "sex", "zip"], sensitive=["disease"], require=["k=10", "l=4"],
                                 method="anatomy", out="/shared/release")
    spark_privacy.audit("/shared/release", spark).raise_if_failed()
    spark_privacy.query("/shared/release", "SELECT sex, COUNT(*) FROM microdata GROUP BY sex", spark).show()

It needs PySpark 4 (``pip install 'chrysalis-privacy[spark]'``) and this package on every machine of the cluster.
"""

from __future__ import annotations

from ._audit import Audit, Statement, audit
from ._publish import Published, publish
from ._query import query

__all__ = ["Audit", "Published", "Statement", "audit", "publish", "query"]
