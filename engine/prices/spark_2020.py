"""Prices of Spark Streaming in Karimov's evaluation, chosen so that windowed sums land where the authors' did."""

from __future__ import annotations

from .price import PriceList, microseconds

TABLES = ("benchmark/table-3.1",)

PRICES = PriceList(
    "spark_2020",
    "Spark 2020",
    "Spark Streaming 2.0 on cores of 2.4 GHz: 54 us of core time to read a record of a block, and 10 us for each window that reads it when "
    "it ends. What stages and tasks take besides stands with the engine. The source gives no costs.",
    {
        "source": microseconds(54, 0, 5, "fitted", "read a block, deserialise, assign to a key", fitted_to=TABLES),
        "filter": microseconds(1, 0, 5, "assumed"),
        "map": microseconds(1, 0, 5, "assumed"),
        "project": microseconds(1, 0, 5, "assumed"),
        "split": microseconds(1, 0, 5, "assumed", "as filter"),
        "union": microseconds(0.5, 0, 5, "assumed"),
        "aggregate": microseconds(0, 2, 5, "assumed", "keep in memory; its end reads all of them", read=10),
        "session_aggregate": microseconds(0, 2, 5, "assumed", "as aggregate", read=10),
        "count_window_aggregate": microseconds(0, 2, 5, "assumed", "as aggregate", read=10),
        "window_join": microseconds(0, 2, 5, "assumed", "as aggregate, for both sides", read=10),
        "join": microseconds(20, 2, 5, "assumed", "update the state of a key, and find its matches"),
        "interval_join": microseconds(20, 2, 5, "assumed", "as join"),
        "expiring_join": microseconds(20, 2, 5, "assumed", "as join"),
        "path_join": microseconds(20, 2, 5, "assumed", "as join"),
        "sink": microseconds(1, 0, 5, "assumed"),
    },
    source="Karimov 2020, 3.6",
    position=7,
)
