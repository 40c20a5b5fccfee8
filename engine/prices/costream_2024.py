"""Prices of the node of Costream's evaluation: by values, types and network hops, as records of 9 to 30 values need."""

from __future__ import annotations

from .price import PriceList, ValuePrices, microseconds

PRICES = PriceList(
    "costream_2024",
    "Costream 2024",
    "Storm 2.4 on one reference core: parsing, comparing and serialising cost by value and type, and records that stay on their host are "
    "not serialised. The source gives no costs: these are assumed, and three times those of a fast core, so that a third of the corpus's "
    "queries falls behind. Windows read all of their records when they fire.",
    {
        "source": microseconds(75, 12, 15, "assumed", "poll and hand over"),
        "filter": microseconds(6, 12, 15, "assumed"),
        "map": microseconds(6, 12, 15, "assumed", "as filter"),
        "project": microseconds(6, 12, 15, "assumed", "as filter"),
        "split": microseconds(6, 12, 15, "assumed", "as filter"),
        "union": microseconds(3, 12, 15, "assumed"),
        "aggregate": microseconds(9, 12, 15, "assumed", "store in a window; each firing reads the whole window", read=0.9),
        "session_aggregate": microseconds(9, 12, 15, "assumed", "as aggregate", read=0.9),
        "count_window_aggregate": microseconds(9, 12, 15, "assumed", "as aggregate", read=0.9),
        "window_join": microseconds(9, 12, 15, "assumed", "store in a window; each firing builds and probes a hash table", read=4.5),
        "join": microseconds(13.5, 12, 15, "assumed", "as window_join, at arrival"),
        "interval_join": microseconds(13.5, 12, 15, "assumed", "as join"),
        "expiring_join": microseconds(13.5, 12, 15, "assumed", "as join"),
        "path_join": microseconds(13.5, 12, 15, "assumed", "as join"),
        "sink": microseconds(15, 0, 15, "assumed"),
    },
    source="Heinrich 2024, V",
    position=3,
    values=ValuePrices(
        parsed_ps=1_800_000,
        sent_ps=3_000_000,
        received_ps=3_000_000,
        compared_ps={"int": 600_000, "timestamp": 600_000, "bool": 600_000, "float": 900_000, "string": 1_800_000},
    ),
)
