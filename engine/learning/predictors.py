"""Predictors of one metric, by name: the network, its controls, and what it is compared with (specification 4.1, section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.costmodels.baselines import Constant, Nearest
from engine.costmodels.encoding import Floats
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph
from engine.costmodels.flat.boosting import train_trees
from engine.costmodels.inference import Trained
from engine.costmodels.metrics import Metric

from .lessons import SPLIT_SEED
from .queueing import Queueing


class Predictor(Protocol):
    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        """(graphs,) of costs, or of how likely the good class is."""
        ...


@dataclass(frozen=True)
class Ensemble:
    """The mean of costs, the majority of classes."""

    members: Sequence[Trained]

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        found = np.array([member.predict(graphs) for member in self.members])
        mean: Floats = np.mean(found > 0.5 if self.members[0].metric.classifies else found, axis=0)
        return mean


@dataclass(frozen=True)
class HostsExchanged:
    """A control: each host of a trace has the features of the next one. What hosts bring is lost."""

    of: Predictor

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        return self.of.predict([_with_hosts_exchanged(graph) for graph in graphs])


@dataclass(frozen=True)
class PlacementExchanged:
    """A control: each operator runs where the next one did. As many run on each host as before."""

    of: Predictor

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        return self.of.predict([_with_placement_exchanged(graph) for graph in graphs])


def predictor(name: str, metric: Metric, members: Sequence[Trained], training: Examples, validation: Examples) -> Predictor:
    """members: of the network. training, validation: what the others learn from."""
    if name.startswith("flat "):
        return train_trees(metric, name.removeprefix("flat "), training, validation, SPLIT_SEED)
    match name:
        case "costream":
            return Ensemble(members)
        case "hosts exchanged":
            return HostsExchanged(Ensemble(members))
        case "placement exchanged":
            return PlacementExchanged(Ensemble(members))
        case "queueing":
            return Queueing(metric)
        case "nearest":
            return Nearest(metric, training.graphs, training.targets)
        case "constant":
            return Constant.of(training.targets)
    raise AssertionError(name)


NETWORKS = ("costream", "hosts exchanged", "placement exchanged")
"""Predictors that need trained networks."""


def _with_hosts_exchanged(graph: JointGraph) -> JointGraph:
    hosts = [n for n, node in enumerate(graph.nodes) if node.type == "host"]
    nodes = list(graph.nodes)
    for n, host in enumerate(hosts):
        nodes[host] = graph.nodes[hosts[(n + 1) % len(hosts)]]
    return JointGraph(tuple(nodes), graph.flow, graph.placed_on)


def _with_placement_exchanged(graph: JointGraph) -> JointGraph:
    operators = [operator for operator, _ in graph.placed_on]
    hosts = [host for _, host in graph.placed_on]
    return JointGraph(graph.nodes, graph.flow, tuple(zip(operators, [*hosts[1:], hosts[0]], strict=True)))
