"""The disk of a service: requests are served in turn, each taking a latency plus a time for its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Disk:
    """latency_ns: per request. capacity_bytes: None for unlimited. full: spans (from_ns, to_ns) in which nothing can be written."""

    write_mbit_per_s: int
    read_mbit_per_s: int
    latency_ns: int = 0
    capacity_bytes: int | None = None
    full: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        for what in ("write_mbit_per_s", "read_mbit_per_s"):
            if getattr(self, what) < 1:
                raise ValueError(f"{what} is {getattr(self, what)}; it must be at least 1 Mbit/s")
        if self.latency_ns < 0:
            raise ValueError(f"latency_ns is {self.latency_ns}; it must not be negative")
        if self.capacity_bytes is not None and self.capacity_bytes < 1:
            raise ValueError(f"capacity_bytes is {self.capacity_bytes}; it must be at least 1, or None for a disk that never fills")
        for from_ns, to_ns in self.full:
            if from_ns >= to_ns:
                raise ValueError(f"full from {from_ns} to {to_ns} ns is not a span; its end must be after its start")

    def write_ns(self, size_bytes: int) -> int:
        return self.latency_ns - (-size_bytes * 8000 // self.write_mbit_per_s)

    def read_ns(self, size_bytes: int) -> int:
        return self.latency_ns - (-size_bytes * 8000 // self.read_mbit_per_s)

    def has_space(self, used_bytes: int, more_bytes: int, now_ns: int) -> bool:
        """Return whether more_bytes fit in addition to used_bytes."""
        if any(from_ns <= now_ns < to_ns for from_ns, to_ns in self.full):
            return more_bytes <= 0
        return self.capacity_bytes is None or more_bytes <= 0 or used_bytes + more_bytes <= self.capacity_bytes
