"""Flat vectors of joint graphs, for boosted trees (after Ganapathi et al. 2009): what a model without a graph can know. A file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..features import JointGraph
from .authors import authors, authors_success
from .paper import paper
from .strong import strong

VECTORS: Mapping[str, Callable[[JointGraph], dict[str, float]]] = {"authors": authors, "paper": paper, "strong": strong}
"""By name, the numbers of a graph by what they are; the same names for every graph."""

__all__ = ["VECTORS", "authors", "authors_success", "paper", "strong"]
