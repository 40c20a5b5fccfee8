"""Prices of the node of Klink's evaluation, chosen so that a modelled node lands where the authors' did."""

from __future__ import annotations

from .price import PriceList, microseconds

KLINK_FIGURES = ("klink/3.4a", "klink/3.5b")
"""There 80 Yahoo queries of 10,000 events/s overload a node of 24 threads."""

PRICES = PriceList(
    "klink_2020",
    "Klink 2020",
    "The Yahoo query on Flink 1.8: 44 us of core time for each event, so 24 threads process some 546,000 events/s. The source gives no "
    "costs.",
    {
        "source": microseconds(6, 0, 5, "fitted", fitted_to=KLINK_FIGURES),
        "project": microseconds(21, 0, 5, "fitted", "deserialise, and take the timestamp", fitted_to=KLINK_FIGURES),
        "filter": microseconds(3, 0, 5, "fitted", fitted_to=KLINK_FIGURES),
        "map": microseconds(18, 0, 5, "fitted", "look up the campaign of an advertisement", fitted_to=KLINK_FIGURES),
        "aggregate": microseconds(24, 20, 5, "fitted", fitted_to=KLINK_FIGURES),
        "sink": microseconds(5, 0, 5, "fitted", fitted_to=KLINK_FIGURES),
        "split": microseconds(3, 0, 5, "assumed", "as filter"),
        "union": microseconds(3, 0, 5, "assumed", "as filter"),
        "session_aggregate": microseconds(24, 20, 5, "assumed", "as aggregate"),
        "count_window_aggregate": microseconds(24, 20, 5, "assumed", "as aggregate"),
        "join": microseconds(24, 20, 5, "assumed", "as aggregate, for each pair as for each row"),
        "window_join": microseconds(24, 20, 5, "assumed", "as join"),
        "interval_join": microseconds(24, 20, 5, "assumed", "as join"),
        "expiring_join": microseconds(24, 20, 5, "assumed", "as join"),
        "path_join": microseconds(24, 20, 5, "assumed", "as join"),
    },
    source="Farhat 2020, 3.4",
    position=2,
)
