"""One parallelism for the whole run (Siachamis 2024, Figure 1.7: provisioned for the maximum, or for the mean)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.spec.experiment import scaling

from .policy import exact
from .truth import Truth


def fixed_parallelism(about: scaling.Fixed, document: Mapping[str, int], truth: Truth) -> dict[str, int]:
    """By vertex: as in the document, or the least that carries the maximum or the mean of the load with the headroom."""
    if about.for_ == "document":
        return dict(document)
    rate_per_s = max(truth.rates_per_s) if about.for_ == "maximum" else truth.mean_per_s
    return truth.needed(rate_per_s * exact(about.headroom)).parallelism
