"""Prices of Spark's Structured Streaming, as `manage.py calibrate` measured them on one machine."""

from __future__ import annotations

from .price import PriceList, microseconds

PRICES = PriceList(
    "spark_structured",
    "Spark Structured Streaming",
    "Spark 4.3 in one process, on two cores.",
    {
        "source": microseconds(2, 0, 0, "assumed", "read a row of a Parquet file"),
        "filter": microseconds(0.2, 0, 0, "assumed"),
        "map": microseconds(0.2, 0, 0, "assumed"),
        "project": microseconds(0.2, 0, 0, "assumed"),
        "split": microseconds(0.2, 0, 0, "assumed", "as filter"),
        "union": microseconds(0, 0, 0, "assumed"),
        "aggregate": microseconds(1, 5, 20_000, "assumed", "update a group; a watermark commits the state of a partition"),
        "session_aggregate": microseconds(5, 5, 20_000, "assumed", "as aggregate"),
        "count_window_aggregate": microseconds(5, 5, 20_000, "assumed", "as aggregate"),
        "join": microseconds(10, 2, 40_000, "assumed", "store, then look up the other side; a watermark commits the state of a partition"),
        "window_join": microseconds(10, 2, 40_000, "assumed", "as join"),
        "interval_join": microseconds(10, 2, 40_000, "assumed", "as join"),
        "expiring_join": microseconds(10, 2, 40_000, "assumed", "as join"),
        "path_join": microseconds(10, 2, 40_000, "assumed", "as join"),
        "sink": microseconds(1, 0, 0, "assumed", "write a row"),
    },
    source="measured",
    position=8,
)
