"""Prices of Spark's Structured Streaming, as `manage.py calibrate` measured them on one machine."""

from __future__ import annotations

from .price import PriceList, microseconds

PRICES = PriceList(
    "spark_structured",
    "Spark Structured Streaming",
    "Spark 4.3 in one process, on two cores of a virtual machine (AMD EPYC), 2 December 2026. The medians behind them spread by 10 to "
    "40 %. `manage.py calibrate` measures one's own machine.",
    {
        "source": microseconds(0.3055, 0, 0, "measured", "read a row of a Parquet file"),
        "filter": microseconds(0.0058, 0, 0, "measured", "half of a map and a filter in one task"),
        "map": microseconds(0.0058, 0, 0, "measured", "as filter"),
        "project": microseconds(0, 0, 0, "assumed", "next to nothing in the task before it"),
        "split": microseconds(0.0058, 0, 0, "assumed", "as filter"),
        "union": microseconds(0, 0, 0, "assumed", "next to nothing in the task before it"),
        "aggregate": microseconds(
            0.0668, 32.0351, 190_700, "measured", "put a record into its group; a watermark commits the state of a partition"
        ),
        "session_aggregate": microseconds(8.2364, 0, 214_200, "measured", "as aggregate"),
        "count_window_aggregate": microseconds(8.2364, 0, 214_200, "assumed", "as session aggregate"),
        "join": microseconds(
            45.6941, 0, 586_400, "measured", "store, then look up the other side; a watermark commits the state of a partition"
        ),
        "window_join": microseconds(22.4398, 0, 661_400, "measured", "as join"),
        "interval_join": microseconds(43.9992, 0, 469_900, "measured", "as join"),
        "expiring_join": microseconds(45.6941, 0, 586_400, "assumed", "as join"),
        "path_join": microseconds(45.6941, 0, 586_400, "assumed", "as join"),
        "sink": microseconds(1.1486, 0, 0, "measured", "write a row of a Parquet file"),
    },
    source="measured",
    position=8,
)
