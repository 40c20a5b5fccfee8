"""Prices of the workers in the evaluation of S3J. The source gives no costs."""

from __future__ import annotations

from .price import PriceList, microseconds

PRICES = PriceList(
    "s3j_2024",
    "S3J 2024",
    "Similarity joins on Flink, on cores of 2.6 GHz: 0.3 us for a distance or a comparison, 2 us for a pair, 20 us for a copy of a record. "
    "The source gives no costs.",
    {
        "source": microseconds(5, 0, 5, "assumed", "read and deserialise"),
        "filter": microseconds(1, 0, 5, "assumed"),
        "map": microseconds(1, 0, 5, "assumed"),
        "project": microseconds(1, 0, 5, "assumed"),
        "split": microseconds(1, 0, 5, "assumed", "as filter"),
        "union": microseconds(0.5, 0, 5, "assumed"),
        "aggregate": microseconds(2, 2, 5, "assumed"),
        "session_aggregate": microseconds(2, 2, 5, "assumed", "as aggregate"),
        "count_window_aggregate": microseconds(2, 2, 5, "assumed", "as aggregate"),
        "join": microseconds(20, 2, 5, "assumed", "as similarity_join"),
        "window_join": microseconds(20, 2, 5, "assumed", "as join"),
        "interval_join": microseconds(20, 2, 5, "assumed", "as join"),
        "expiring_join": microseconds(20, 2, 5, "assumed", "as join"),
        "path_join": microseconds(20, 2, 5, "assumed", "as join"),
        "space_partitioner": microseconds(1, 0, 5, "assumed", read=0.3),
        "cluster_partitioner": microseconds(1, 0, 5, "assumed", read=0.3),
        "workset_formulation": microseconds(1, 0, 5, "assumed", read=0.3),
        "similarity_join": microseconds(20, 2, 5, "assumed", "a copy; a pair, with its way to the sink", read=0.3),
        "cluster_join": microseconds(20, 2, 5, "assumed", "as similarity_join", read=0.3),
        "brute_force_join": microseconds(20, 2, 5, "assumed", "as similarity_join", read=0.3),
        "sink": microseconds(0.01, 0, 5, "assumed", "the way there is part of a pair"),
    },
    source="Siachamis 2024, 2.5",
    position=8,
)
