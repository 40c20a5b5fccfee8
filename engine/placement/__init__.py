"""Placement strategies: which instance stands on which host. A new one is a leaf file and a line here."""

from collections.abc import Callable, Sequence
from typing import Any

from engine.spec.cluster import ExpandedHost
from engine.spec.query import OperatorSpec

from . import by_operator, explicit, spread

Place = Callable[[Any, Sequence[OperatorSpec], Sequence[ExpandedHost]], dict[str, list[int]]]

STRATEGIES: dict[str, Place] = {"spread": spread.place, "by_operator": by_operator.place, "explicit": explicit.place}
"""By kind. Each takes the document's placement, the operators and the hosts, and gives host indices by operator id, one per instance.

Raises `Refusal` (path below the placement) when the hosts do not suffice or are unknown.
"""
