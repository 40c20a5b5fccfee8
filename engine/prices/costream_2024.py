"""Prices of the node of Costream's evaluation: by values, types and network hops, as records of 9 to 30 values need."""

from __future__ import annotations

from .price import PriceList, ValuePrices, microseconds

PRICES = PriceList(
    "costream_2024",
    "Costream 2024",
    "Storm 2.4 on one reference core: parsing, comparing and serialising cost by value and type, and records that stay on their host are "
    "not serialised. The source gives no costs. Windows read all of their records when they fire.",
    {
        "source": microseconds(25, 4, 5, "assumed", "poll and hand over"),
        "filter": microseconds(2, 4, 5, "assumed"),
        "map": microseconds(2, 4, 5, "assumed", "as filter"),
        "project": microseconds(2, 4, 5, "assumed", "as filter"),
        "split": microseconds(2, 4, 5, "assumed", "as filter"),
        "union": microseconds(1, 4, 5, "assumed"),
        "aggregate": microseconds(3, 4, 5, "assumed", "store in a window; each firing reads the whole window", read=0.3),
        "session_aggregate": microseconds(3, 4, 5, "assumed", "as aggregate", read=0.3),
        "count_window_aggregate": microseconds(3, 4, 5, "assumed", "as aggregate", read=0.3),
        "window_join": microseconds(3, 4, 5, "assumed", "store in a window; each firing builds and probes a hash table", read=1.5),
        "join": microseconds(4.5, 4, 5, "assumed", "as window_join, at arrival"),
        "interval_join": microseconds(4.5, 4, 5, "assumed", "as join"),
        "expiring_join": microseconds(4.5, 4, 5, "assumed", "as join"),
        "path_join": microseconds(4.5, 4, 5, "assumed", "as join"),
        "sink": microseconds(5, 0, 5, "assumed"),
    },
    source="Heinrich 2024, V",
    position=3,
    values=ValuePrices(
        parsed_ps=600_000,
        sent_ps=1_000_000,
        received_ps=1_000_000,
        compared_ps={"int": 200_000, "timestamp": 200_000, "bool": 200_000, "float": 300_000, "string": 600_000},
    ),
)
