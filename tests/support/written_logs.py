"""Logs written by hand: entries in an order of one's own, watermarks among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
import tests.oracle.build
from engine.core.layout import LOG_WATERMARK
from engine.lowering import plan
from engine.workloads.feed import Feed, LogChunk, build_feed

from .corner_cases import bids, document, host

SECOND = 10**9
TICK_S = 1e-9

Entry = tuple[str, float]
"""("e", event time) or ("W", watermark), both in seconds."""


class WrittenFeed:
    """A feed whose only log holds these entries, one every second."""

    partitions = 1

    def __init__(self, feed: Feed, entries: list[Entry], source_number: int):
        self.schema, self.fields, self.weight = feed.schema, feed.fields, 1
        self.count, self.closes_ns = sum(kind == "e" for kind, _ in entries), feed.closes_ns
        values = [round(value * SECOND) + (kind == "W") for kind, value in entries]
        triggers = [(source_number << 40) + n if kind == "e" else LOG_WATERMARK for n, (kind, _) in enumerate(entries)]
        n = len(entries)
        self._all = LogChunk(
            (1 + np.arange(n)) * SECOND,
            np.array(values, np.int64),
            np.array(triggers, np.int64),
            np.zeros(n, np.int32),
            np.zeros((n, len(feed.fields)), np.int64),
        )

    def count_before(self, time_ns: int) -> int:
        return int(np.count_nonzero((self._all.trigger >= 0) & (self._all.append_ns < time_ns)))

    def vectors(self) -> dict[int, Any]:
        return {}

    def chunk(self, from_ns: int, to_ns: int) -> LogChunk:
        here = (self._all.append_ns >= from_ns) & (self._all.append_ns < to_ns)
        return LogChunk(*(column[here] for column in vars(self._all).values()))


def write_logs(monkeypatch: pytest.MonkeyPatch, logs: dict[str, list[Entry]]) -> None:
    """Both engines find these entries in the logs."""

    def written(experiment: Any, operator_id: str, source_number: int, *rest: Any) -> WrittenFeed:
        return WrittenFeed(build_feed(experiment, operator_id, source_number, *rest), logs[operator_id], source_number)

    monkeypatch.setattr(plan, "build_feed", written)
    monkeypatch.setattr(tests.oracle.build, "build_feed", written)


def device(period_ms: float = 500.0, lag_ms: float = 0.0) -> dict[str, Any]:
    return {"kind": "device", "period_ms": period_ms, "lag_ms": lag_ms}


def figure_2_2() -> dict[str, Any]:
    """Windows of 3 s that count."""
    window = {"kind": "tumbling", "size_s": 3.0, "origin_s": TICK_S, "clock": "event"}
    operators = [
        {"id": "source", "kind": "source"},
        {"id": "window", "kind": "aggregate", "params": {"window": window, "emit": "on_close", "aggregates": [{"name": "events"}]}},
        {"id": "sink", "kind": "sink"},
        {"id": "late", "kind": "sink"},
    ]
    edges = [
        {"source": "source", "target": "window"},
        {"source": "window", "target": "sink"},
        {"source": "window", "source_port": "late", "target": "late"},
    ]
    return document(operators, edges, [host("a")], {"source": bids(1.0, watermarks=device())}, horizon_s=20.0)


def fired(simulation: engine.Simulation, sink: str = "sink") -> list[tuple[int, int, int]]:
    """Of each row: the second in which it left (so which entry of the log fired it), the window's end in whole seconds, the events."""
    return [
        (r["end_ns"] // SECOND, r["values"][1] // SECOND, r["values"][2])
        for r in simulation.sink_records(sink)
        if r["end_ns"] < 19 * SECOND  # what the end of the log fires is no part of the figure
    ]
