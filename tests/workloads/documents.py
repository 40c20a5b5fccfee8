"""Experiments with sources only, for tests of their input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.experiment.experiment import Experiment
from engine.workloads import Feed, Strings, build_feed, lookup

DATA = Path(__file__).parents[2] / "fixtures" / "data"
BIDS = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000.0}}


def experiment(source: dict[str, Any] = BIDS, parallelism: int = 3, horizon_s: float = 1.0, seed: int = 1, scale: int = 1) -> Experiment:
    return Experiment.model_validate(
        {
            "format": 1,
            "query": {"operators": [{"id": "source", "kind": "source", "parallelism": parallelism}]},
            "cluster": {"hosts": [{"name": "w"}]},
            "workload": {"seed": seed, "horizon_s": horizon_s, "scale": scale, "sources": {"source": source}},
        }
    )


def feed(source: dict[str, Any] = BIDS, *, number: int = 0, strings: Strings | None = None, data: Path = DATA, **settings: Any) -> Feed:
    return build_feed(experiment(source, **settings), "source", number, Strings() if strings is None else strings, lookup([data]))
