"""Operators in stages, one host after another: operator o of m has its instance k on host k + floor(o n / m), modulo n."""

from __future__ import annotations

from collections.abc import Sequence

from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.placement.staged import Staged
from engine.spec.experiment.query import OperatorSpec


def place(placement: Staged, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance."""
    n, m = len(hosts), len(operators)
    return {operator.id: [(k + o * n // m) % n for k in range(operator.parallelism)] for o, operator in enumerate(operators)}
