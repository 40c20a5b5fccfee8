"""Every operator on hosts of its own, its instances round robin over them.

The hosts are cut into one block per operator, in document order. Each block begins with one host; the others go, one after another, to the
operator with the most instances per host (the first of equals), but never more hosts than instances. Hosts left over stay empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.spec.base.problems import Refusal
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.placement.by_operator import ByOperator
from engine.spec.experiment.query import OperatorSpec


def place(placement: ByOperator, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance. Raises `Refusal` if there are more operators than hosts."""
    if len(operators) > len(hosts):
        message = (
            f"placement by_operator gives every operator hosts of its own, but {len(operators)} operators share {len(hosts)} hosts; "
            f"add {len(operators) - len(hosts)} hosts, or choose spread or explicit"
        )
        raise Refusal(message, at=("kind",), code="too_few_hosts", value=placement.kind)
    sizes = [1] * len(operators)
    for _ in range(len(hosts) - len(operators)):
        crowded = max(range(len(operators)), key=lambda k: (operators[k].parallelism / sizes[k], -k))
        if sizes[crowded] >= operators[crowded].parallelism:
            break  # one instance per host everywhere
        sizes[crowded] += 1
    placed: dict[str, list[int]] = {}
    first = 0
    for operator, size in zip(operators, sizes, strict=True):
        placed[operator.id] = [first + k % size for k in range(operator.parallelism)]
        first += size
    return placed
