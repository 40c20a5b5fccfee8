"""The values that queries and hosts of a corpus are drawn from (Heinrich et al. 2024, Tables II and IV)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.costmodels.description import Dtype

DTYPES: tuple[Dtype, ...] = ("int", "double", "string")

FUNCTIONS: Mapping[Dtype, tuple[str, ...]] = {
    "int": ("<", ">", "<=", ">=", "!="),
    "double": ("<", ">", "<=", ">=", "!="),
    "string": ("startswith", "endswith", "not startswith", "not endswith", "contains"),
}
"""Comparisons of filters. The source's table names `=` as well, which lets too little through to be drawn."""

AGGREGATES = ("min", "max", "mean", "sum")
AGGREGATED: tuple[Dtype, ...] = ("int", "double")

VALUES_OF_EACH = range(3, 11)
"""Values of each type in a record."""

RATES: Mapping[str, tuple[int, ...]] = {
    "linear": (100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600),
    "two_way": (50, 100, 250, 500, 750, 1000, 1250, 1500, 1750, 2000),
    "three_way": (20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000),
}
"""Records per second of each source, by template."""

COUNTS = (5, 10, 20, 40, 80, 160, 320, 640)
TIMES_MS = (250, 500, 1000, 2000, 4000, 8000, 16000)
"""Sizes of windows."""

SLIDES = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Slide over size."""


@dataclass(frozen=True)
class Hardware:
    """Features of hosts by bin, weak to strong. Bins overlap, so a value alone does not tell its bin."""

    cpu_percent: Sequence[tuple[int, ...]]
    ram_mb: Sequence[tuple[int, ...]]
    mbit_per_s: Sequence[tuple[int, ...]]
    latency_ms: Sequence[tuple[int, ...]]


TRAINING = Hardware(
    cpu_percent=((50, 100, 200, 300), (300, 400, 500, 600), (600, 700, 800)),
    ram_mb=((1000, 2000, 4000), (4000, 8000, 16000), (8000, 16000, 24000, 32000)),
    mbit_per_s=((25, 50, 100, 200), (200, 400, 800, 1600), (1600, 3200, 6400, 10000)),
    latency_ms=((160, 80, 40), (40, 20, 10), (10, 5, 2, 1)),
)

UNSEEN = Hardware(
    cpu_percent=((75, 150, 250, 350), (350, 450, 550, 650), (650, 750)),
    ram_mb=((1500, 3000, 6000), (6000, 12000, 20000), (20000, 28000)),
    mbit_per_s=((35, 75, 150, 250), (250, 550, 1200, 1900), (1900, 4800, 8000)),
    latency_ms=((120, 60, 30), (60, 30, 15), (15, 7, 3)),
)
"""Inside the ranges of training, without a value of it (experiment 3)."""

FEATURES: Mapping[str, str] = {"ram": "ram_mb", "cpu": "cpu_percent", "bandwidth": "mbit_per_s", "latency": "latency_ms"}

BEYOND: Mapping[str, Hardware] = {
    f"{direction}_{feature}": replace(TRAINING, **{FEATURES[feature]: (values,) * 3})
    for direction, of in {
        "stronger": {"ram": (24000, 32000), "cpu": (700, 800), "bandwidth": (6400, 10000), "latency": (1, 2)},
        "weaker": {"ram": (1000, 2000), "cpu": (50, 100), "bandwidth": (25, 50), "latency": (80, 160)},
    }.items()
    for feature, values in of.items()
}
"""One feature of all hosts beyond what restricted training has seen, whatever their bin (experiment 4)."""
