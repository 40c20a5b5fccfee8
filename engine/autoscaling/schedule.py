"""Planned orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.layout import FAR

from .loop import Job


class Schedule:
    """A control that gives each order at its time. plan: by time; parallelism by operator."""

    def __init__(self, plan: Sequence[tuple[int, Mapping[str, int]]], job: Job):
        self._plan, self._job, self._next = list(plan), job, 0

    @property
    def next_ns(self) -> int:
        return self._plan[self._next][0] if self._next < len(self._plan) else FAR

    def act(self, world: Any, now_ns: int) -> None:
        self._job.order(self._plan[self._next][1], now_ns, "policy")
        self._next += 1

    def state(self) -> Any:
        return {"next": self._next}

    def restore(self, state: Any) -> None:
        self._next = state["next"]
