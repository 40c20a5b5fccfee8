"""Cost models with random weights: what works with models must not need their training."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.core.random import RandomStream
from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace
from engine.costmodels.architecture import Architecture
from engine.costmodels.encoding import Encoder
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.inference import Trained
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import save, shapes

FACTS = {"corpus": "tests", "traces": 20, "digest": "0" * 16}


def graphs(count: int = 20) -> list[JointGraph]:
    """Of random traces."""
    drawn = [trace("tests", 1, index) for index in range(count)]
    return [joint_graph(of.query, of.hosts, of.placed, estimated(of.query, 1, index)) for index, of in enumerate(drawn)]


def untrained(metric: str, seed: int, encoder: Encoder | None = None) -> Trained:
    encoder = encoder or Encoder.fitted(graphs())
    architecture = Architecture(hidden=8, classifies=METRICS[metric].classifies)
    weights = {
        name: (RandomStream(seed, metric, name).below(np.arange(np.prod(shape)), 2000) / 2000 - 0.4).reshape(shape).astype(np.float32)
        for name, shape in shapes({type: encoder.width(type) for type in encoder.scales}, architecture).items()
    }
    return Trained(METRICS[metric], seed, architecture, encoder, weights)


def put_models(directory: Path, members: int = 3) -> None:
    """Of every cost, each in a folder of the directory."""
    encoder = Encoder.fitted(graphs())
    for metric in METRICS:
        for seed in range(members):
            save(directory / f"{metric}-{seed}", untrained(metric, seed, encoder), FACTS, [])
