"""Predictions of a trained network from its weights alone, with numpy: advice needs no torch.

The steps are those of `engine.costmodels.network`, in which they are explained and trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .architecture import Architecture
from .encoding import Encoder, Floats
from .features import JointGraph
from .metrics import Metric
from .packing import Batch, Packed, Step

Weights = Mapping[str, NDArray[np.float32]]
States = NDArray[np.float32]

SLOPE = np.float32(0.01)  # of LeakyReLU below zero
GREATEST = 20.0
"""Of the logarithm of 1 + a cost, as predicted: about five hundred million."""


@dataclass(frozen=True)
class Trained:
    """A trained model of one cost. seed: what members of an ensemble differ in. weights: by name, as torch names them."""

    metric: Metric
    seed: int
    architecture: Architecture
    encoder: Encoder
    weights: Weights

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        """(graphs,) of costs, or of the probability of the good class."""
        return self.predict_batch(Packed(graphs, self.encoder).batch()) if graphs else np.zeros(0)

    def predict_batch(self, batch: Batch) -> Floats:
        return as_costs(self.metric, self._outputs(batch).astype(np.float64))

    def _outputs(self, batch: Batch) -> States:
        h = self._encoded(batch)
        architecture = self.architecture
        if architecture.passing == "traditional":
            h = self._heard_all(h, batch)
        else:
            if architecture.hosts != "none":
                self._pass(h, batch.up, "up")
                self._pass(h, batch.down, "down")
            for level in batch.levels:
                self._pass(h, level, "flow")
        return self._read_out(h, batch)

    def _encoded(self, batch: Batch) -> States:
        h = np.zeros((batch.count, self.architecture.hidden), np.float32)
        for name, numbers in batch.nodes.items():
            if f"encoders.{name}.0.weight" not in self.weights or (name == "host" and self.architecture.hosts == "none"):
                continue
            x = batch.features[name].astype(np.float32)
            h[numbers] = self._layers(f"encoders.{name}", np.zeros((len(numbers), 1), np.float32) if self._is_dummy(name) else x)
        return h

    def _is_dummy(self, name: str) -> bool:
        return name == "host" and self.architecture.hosts == "nodes"

    def _layers(self, name: str, x: States) -> States:
        """Layers with activation; every third module is one, between activation and dropout."""
        for n in (0, 3, 6):
            x = self._linear(f"{name}.{n}", x)
            x = np.where(x < 0, SLOPE * x, x)
        return x

    def _linear(self, name: str, x: States) -> States:
        made: States = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return made

    def _pass(self, h: States, steps: Sequence[Step], name: str) -> None:
        """All nodes of the steps at once: they read what was there before."""
        fresh = [
            (step.nodes, self._layers(f"{name}.{step.type}", np.concatenate([h[step.nodes], _heard(h, step)], 1)))
            for step in steps
            if f"{name}.{step.type}.0.weight" in self.weights
        ]
        for nodes, states in fresh:
            h[nodes] = states

    def _heard_all(self, h: States, batch: Batch) -> States:
        steps = [step for level in batch.levels for step in level]
        if self.architecture.hosts != "none":
            steps += batch.up
        one_way = np.concatenate([np.stack([step.messages[0], step.nodes[step.messages[1]]]) for step in steps], 1)
        senders, receivers = np.concatenate([one_way, one_way[::-1]], 1)
        for _ in range(self.architecture.rounds):
            heard = np.zeros_like(h)
            np.add.at(heard, receivers, h[senders])
            h = self._layers("shared", np.concatenate([h, heard], 1))
        return h

    def _read_out(self, h: States, batch: Batch) -> States:
        graph = batch.graph
        if self.architecture.readout == "sink":
            h, graph = h[batch.nodes["sink"]], graph[batch.nodes["sink"]]
        elif self.architecture.hosts == "none":
            operators = np.setdiff1d(np.arange(batch.count), batch.nodes["host"])
            h, graph = h[operators], graph[operators]
        z = np.zeros((batch.graphs, self.architecture.hidden), np.float32)
        np.add.at(z, graph, h)
        if self.architecture.classifies:
            return self._linear("out.0", z)[:, 0]
        for n in (0, 2):
            z = self._linear(f"out.{n}", z)
            z = np.where(z < 0, SLOPE * z, z)
        return self._linear("out.4", z)[:, 0]


def as_costs(metric: Metric, outputs: Floats) -> Floats:
    """Of a network's outputs: the cost, of which they are the logarithm of 1 + it, or the probability of the good class."""
    with np.errstate(invalid="ignore"):  # who trains looks for outputs that are no numbers
        return np.exp(-np.logaddexp(0.0, -outputs)) if metric.classifies else np.expm1(np.clip(outputs, 0.0, GREATEST))


def _heard(h: States, step: Step) -> States:
    senders, receivers = step.messages
    heard = np.zeros((len(step.nodes), h.shape[1]), np.float32)
    np.add.at(heard, receivers, h[senders])
    return heard
