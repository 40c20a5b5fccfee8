"""Prices of Flink in Karimov's evaluation, chosen so that windowed sums and joins land where the authors' did."""

from __future__ import annotations

from .price import PriceList, microseconds

TABLES = ("benchmark/table-3.1", "benchmark/table-3.3")
"""The sustainable throughputs of windowed sums and joins."""

SINGLE_KEY = "benchmark/skew"
"""That of a single key, 0.48 million records/s."""

PRICES = PriceList(
    "flink_2020",
    "Flink 2020",
    "Flink 1.1 on cores of 2.4 GHz: 23 us of core time for each record of a sliding sum over two windows, of which 2.08 us is in the slot "
    "of its key, and 37.6 us for each record of a windowed join. The source gives no costs.",
    {
        "source": microseconds(20.92, 0, 5, "fitted", "pull, deserialise, assign to a key, serialise", fitted_to=TABLES),
        "filter": microseconds(1, 0, 5, "assumed"),
        "map": microseconds(1, 0, 5, "assumed"),
        "project": microseconds(1, 0, 5, "assumed"),
        "split": microseconds(1, 0, 5, "assumed", "as filter"),
        "union": microseconds(0.5, 0, 5, "assumed"),
        "aggregate": microseconds(1.04, 2, 5, "fitted", "for each window of a record", fitted_to=(*TABLES, SINGLE_KEY)),
        "session_aggregate": microseconds(1.04, 2, 5, "assumed", "as aggregate"),
        "count_window_aggregate": microseconds(1.04, 2, 5, "assumed", "as aggregate"),
        "window_join": microseconds(4.17, 2, 5, "fitted", "store in a window; each firing reads both sides", fitted_to=TABLES, read=4.17),
        "join": microseconds(8.34, 2, 5, "assumed", "as window_join, at arrival"),
        "interval_join": microseconds(8.34, 2, 5, "assumed", "as join"),
        "expiring_join": microseconds(8.34, 2, 5, "assumed", "as join"),
        "path_join": microseconds(8.34, 2, 5, "assumed", "as join"),
        "sink": microseconds(1, 0, 5, "assumed"),
    },
    source="Karimov 2020, 3.6",
    position=5,
)
