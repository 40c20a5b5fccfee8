"""What labels depend on besides the trace: prices, models of hosts, and what the engine does with them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from typing import Any

from engine.prices import PRICE_LISTS
from engine.simulation import Simulation
from engine.spec import load

from .experiments import CHANGED_MEMORY, CHANGED_PRICES, PRICES, experiment
from .traces import CHANGED_ENGINE, trace

EXAMPLES, EXAMPLE_S = 8, 2.0
TEXTS: Any = {"query": {"operators": {"__all__": {"cost": {"fitted_to"}}}}}


@cache
def fingerprint(draw: str = "") -> str:
    """Of the price list, of documents of some traces with all of their defaults, and of short runs of these. draw: what else the traces of
    this draw are measured with belongs to it."""
    if draw == CHANGED_ENGINE:
        return _hash([fingerprint(), asdict(PRICE_LISTS[CHANGED_PRICES]), CHANGED_MEMORY])
    if draw:
        return fingerprint()
    examples = [load(experiment(trace("fingerprint", 1, index), 1, EXAMPLE_S)) for index in range(EXAMPLES)]
    return _hash(
        [asdict(PRICE_LISTS[PRICES]), [[example.model_dump(mode="json", exclude=TEXTS), _digest(example)] for example in examples]]
    )


def _hash(whole: object) -> str:
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _digest(example: object) -> str:
    simulation = Simulation(example)
    simulation.run_until(simulation.end_ns)
    return simulation.digest()
