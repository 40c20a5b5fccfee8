"""Prices of the system of CheckMate, fitted to the rates that its authors chose."""

from __future__ import annotations

from .price import PriceList, microseconds

CHECKMATE_RATES = ("the rates of the authors' sample configurations: 1,000 to 1,500 records/s per worker",)

PRICES = PriceList(
    "checkmate_2024",
    "CheckMate 2024",
    "A Python engine on one core per worker: about 0.7 ms per record over all operators of Q1, 0.8 of Q12, 0.9 of Q8, 1.0 of Q3 with "
    "a join of 850 us, which gives the 1,000 to 1,500 records/s per worker of the authors' configurations.",
    {
        "source": microseconds(150, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
        "filter": microseconds(100, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
        "map": microseconds(400, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
        "project": microseconds(100, 0, 100, "assumed", "as filter"),
        "split": microseconds(100, 0, 100, "assumed", "as filter"),
        "union": microseconds(100, 0, 100, "assumed", "as filter"),
        "aggregate": microseconds(500, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
        "session_aggregate": microseconds(500, 0, 100, "assumed", "as aggregate"),
        "count_window_aggregate": microseconds(500, 0, 100, "assumed", "as aggregate"),
        "join": microseconds(550, 50, 100, "fitted", fitted_to=CHECKMATE_RATES),
        "window_join": microseconds(550, 50, 100, "assumed", "as join"),
        "interval_join": microseconds(550, 50, 100, "assumed", "as join"),
        "expiring_join": microseconds(550, 50, 100, "assumed", "as join"),
        "path_join": microseconds(550, 50, 100, "assumed", "as join"),
        "sink": microseconds(150, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
    },
    source="Siachamis 2024, 3.5",
    position=1,
)
