"""Round numbers, assumed."""

from __future__ import annotations

from .price import PriceList, microseconds

PRICES = PriceList(
    "reference",
    "Reference",
    "Round numbers of the order of a JVM stream processor with serialisation between operators. Assumed, fitted to no figure.",
    {
        "source": microseconds(10, 0, 5, "assumed", "read and deserialise"),
        "filter": microseconds(4, 0, 5, "assumed"),
        "map": microseconds(4, 0, 5, "assumed"),
        "project": microseconds(2, 0, 5, "assumed"),
        "split": microseconds(4, 0, 5, "assumed", "one predicate"),
        "union": microseconds(1, 0, 5, "assumed"),
        "aggregate": microseconds(20, 5, 5, "assumed", "one state access per pane"),
        "session_aggregate": microseconds(25, 5, 5, "assumed", "one state access, and the session's place among the others"),
        "count_window_aggregate": microseconds(20, 5, 5, "assumed", "one state access per window"),
        "join": microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
        "window_join": microseconds(20, 10, 5, "assumed", "store; all pairs when the window ends"),
        "interval_join": microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
        "expiring_join": microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
        "path_join": microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
        "sink": microseconds(10, 0, 5, "assumed", "serialise and write"),
    },
    position=0,
)
