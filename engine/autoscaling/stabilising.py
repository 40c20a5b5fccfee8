"""Stabilisation window, as in Kubernetes: the largest recent request counts, so scaling up is immediate and scaling down is delayed."""

from __future__ import annotations

from typing import Any


class Stabiliser:
    """Requests of the last span_ns, by operator."""

    def __init__(self, span_ns: int):
        self._span_ns = span_ns
        self._wishes: dict[str, list[list[int]]] = {}

    def wish(self, operator: str, wanted: int, now_ns: int) -> int:
        """Record a request. Returns the largest one that is not older than the span."""
        kept = [[at_ns, n] for at_ns, n in self._wishes.get(operator, []) if now_ns - at_ns <= self._span_ns]
        self._wishes[operator] = [*kept, [now_ns, wanted]]
        return max(n for _, n in self._wishes[operator])

    def state(self) -> Any:
        return {operator: [list(wish) for wish in wishes] for operator, wishes in self._wishes.items()}

    def restore(self, state: Any) -> None:
        self._wishes = {operator: [list(wish) for wish in wishes] for operator, wishes in state.items()}
