"""The shape of a network, and its ablations (Heinrich et al. 2024, section VII)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Architecture:
    """hidden: width of states. hosts: host nodes with their features, with a constant in place of them, or none (ablation 7a). passing:
    the three steps of Algorithm 1, or rounds in which every node hears all of its neighbours, whatever they are (7b). readout: the sum of
    all nodes, or the sink alone. classifies: the output is a logit."""

    hidden: int = 128
    hosts: Literal["features", "nodes", "none"] = "features"
    passing: Literal["staged", "traditional"] = "staged"
    rounds: int = 3
    readout: Literal["graph", "sink"] = "graph"
    dropout: float = 0.1
    classifies: bool = False
