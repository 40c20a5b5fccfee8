"""What labels depend on besides the trace: prices, rules and models of hosts. Two corpora may be joined if theirs are the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache

from engine.prices import PRICE_LISTS
from engine.spec import load
from engine.spec.base.version import ENGINE_VERSION

from .experiments import PRICES, experiment
from .traces import trace

EXAMPLES = 8


@cache
def fingerprint() -> str:
    """Of the engine's version, the price list, and documents of some traces with all of their defaults."""
    documents = [load(experiment(trace("fingerprint", 1, index), 1, 60)).model_dump(mode="json") for index in range(EXAMPLES)]
    whole = [ENGINE_VERSION, asdict(PRICE_LISTS[PRICES]), documents]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()[:16]
