"""What a risk's test reports."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any


@dataclass
class Finding:
    """One answer. passed: None where the test has no gate, or where what it asks for is not built."""

    risk: int
    what: str
    gate: str
    passed: bool | None
    measured: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    def as_text(self) -> str:
        verdict = {True: "pass", False: "FAIL", None: "none"}[self.passed]
        values = ", ".join(f"{name} {value}" for name, value in self.measured.items())
        return f"{self.risk:2} {verdict}  {self.what}: {values} (gate: {self.gate}){'. ' + self.note if self.note else ''}"


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call: other work on the machine disturbs it less than it disturbs the wall clock."""
    started = time.process_time()
    work()
    return time.process_time() - started


def interleaved(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Median of what each work returns, taking turns, so that a slow stretch of the machine hits all alike."""
    values: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for n, work in enumerate(works):
            values[n].append(work())
    return [median(own) for own in values]
