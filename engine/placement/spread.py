"""Instance k of every operator on host k mod n: each host gets a slice of the whole query."""

from __future__ import annotations

from collections.abc import Sequence

from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.placement.spread import Spread
from engine.spec.experiment.query import OperatorSpec


def place(placement: Spread, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance."""
    return {operator.id: [k % len(hosts) for k in range(operator.parallelism)] for operator in operators}
