"""Prices of the node of Costream's evaluation: by values, types and network hops, as records of 9 to 30 values need."""

from __future__ import annotations

from .price import PriceList, ValuePrices, microseconds

PRICES = PriceList(
    "costream_2024",
    "Costream 2024",
    "Storm 2.4 on one reference core: parsing, comparing and serialising cost by value and type, and records that stay on their host are "
    "not serialised. Windows read all of their records when they fire. The source gives no costs: these are five times those assumed for a "
    "fast core, so that about a third of random queries falls behind.",
    {
        "source": microseconds(125, 20, 25, "assumed", "poll and hand over"),
        "filter": microseconds(10, 20, 25, "assumed"),
        "map": microseconds(10, 20, 25, "assumed", "as filter"),
        "project": microseconds(10, 20, 25, "assumed", "as filter"),
        "split": microseconds(10, 20, 25, "assumed", "as filter"),
        "union": microseconds(5, 20, 25, "assumed"),
        "aggregate": microseconds(15, 20, 25, "assumed", "store in a window; each firing reads the whole window", read=1.5),
        "session_aggregate": microseconds(15, 20, 25, "assumed", "as aggregate", read=1.5),
        "count_window_aggregate": microseconds(15, 20, 25, "assumed", "as aggregate", read=1.5),
        "window_join": microseconds(15, 20, 25, "assumed", "store in a window; each firing builds and probes a hash table", read=7.5),
        "join": microseconds(22.5, 20, 25, "assumed", "as window_join, at arrival"),
        "interval_join": microseconds(22.5, 20, 25, "assumed", "as join"),
        "expiring_join": microseconds(22.5, 20, 25, "assumed", "as join"),
        "path_join": microseconds(22.5, 20, 25, "assumed", "as join"),
        "sink": microseconds(25, 0, 25, "assumed"),
    },
    source="Heinrich 2024, V",
    position=3,
    values=ValuePrices(
        parsed_ps=3_000_000,
        sent_ps=5_000_000,
        received_ps=5_000_000,
        compared_ps={"int": 1_000_000, "timestamp": 1_000_000, "bool": 1_000_000, "float": 1_500_000, "string": 3_000_000},
    ),
)
