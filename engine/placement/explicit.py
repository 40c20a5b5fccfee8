"""Hosts named by the document, operator by operator; each list cycles over the operator's instances."""

from __future__ import annotations

from collections.abc import Sequence

from engine.spec.base.problems import Refusal
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.placement.explicit import Explicit
from engine.spec.experiment.query import OperatorSpec


def place(placement: Explicit, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance. Raises `Refusal` for an operator without hosts or an unknown host."""
    indices = {host.name: host.index for host in hosts}
    placed: dict[str, list[int]] = {}
    for operator in operators:
        names = placement.hosts.get(operator.id, ())
        if not names:
            message = f"placement names no host for operator '{operator.id}'; list at least one"
            raise Refusal(message, at=("hosts", operator.id), code="missing", value=operator.id)
        for position, name in enumerate(names):
            if name not in indices:
                message = f"placement names the host '{name}', which the cluster does not have"
                raise Refusal(message, at=("hosts", operator.id, position), code="unknown_host", value=name)
        placed[operator.id] = [indices[names[k % len(names)]] for k in range(operator.parallelism)]
    return placed
