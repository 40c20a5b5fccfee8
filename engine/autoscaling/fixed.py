"""Fixed parallelism for the whole run (Siachamis 2024, Figure 1.7: provisioned for the maximum, or for the mean)."""

from __future__ import annotations

from engine.spec.experiment.scaling import fixed

from .known_load import Truth
from .policy import exact


def plan(about: fixed.Fixed, truth: Truth) -> tuple[dict[str, int], list[tuple[int, dict[str, int]]]]:
    """Return, by vertex, the minimum parallelism that sustains the maximum or mean load plus headroom; no orders."""
    rate_per_s = max(truth.rates_per_s) if about.for_ == "maximum" else truth.mean_per_s
    return truth.needed(rate_per_s * exact(about.headroom)).parallelism, []
