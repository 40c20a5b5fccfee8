"""Prices of Storm in Karimov's evaluation, chosen so that windowed sums land where the authors' did."""

from __future__ import annotations

from .price import PriceList, microseconds

TABLES = ("benchmark/table-3.1",)

PRICES = PriceList(
    "storm_2020",
    "Storm 2020",
    "Storm 1.0 on cores of 2.4 GHz: 74, 83 and 107 us of core time for each tuple of a sliding sum over two windows on 2, 4 and 8 workers, "
    "of which 5 us is in the slot of its key. Spouts cost what their profile gives them. The source gives no costs.",
    {
        "source": microseconds(45.5, 0, 5, "fitted", "on one worker", fitted_to=TABLES),
        "filter": microseconds(3, 0, 5, "assumed"),
        "map": microseconds(3, 0, 5, "assumed"),
        "project": microseconds(3, 0, 5, "assumed"),
        "split": microseconds(3, 0, 5, "assumed", "as filter"),
        "union": microseconds(2, 0, 5, "assumed"),
        "aggregate": microseconds(1.25, 2, 5, "fitted", "keep in a window; its end reads all of them", fitted_to=TABLES, read=1.25),
        "session_aggregate": microseconds(1.25, 2, 5, "assumed", "as aggregate", read=1.25),
        "count_window_aggregate": microseconds(1.25, 2, 5, "assumed", "as aggregate", read=1.25),
        "window_join": microseconds(37.25, 2, 5, "assumed", "a nested loop over both sides", read=37.25),
        "join": microseconds(37.25, 2, 5, "assumed", "as window_join, at arrival"),
        "interval_join": microseconds(37.25, 2, 5, "assumed", "as join"),
        "expiring_join": microseconds(37.25, 2, 5, "assumed", "as join"),
        "path_join": microseconds(37.25, 2, 5, "assumed", "as join"),
        "sink": microseconds(3, 0, 5, "assumed"),
    },
    source="Karimov 2020, 3.6",
    position=6,
)
