"""Statistics of a host in a lesson, in the form in which the engine's policies read them in runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.layout import FAR
from engine.scheduling.statistics import History, InputStatistics, Statistics
from engine.scheduling.tasks import Input, Tasks

S_NS = 1_000_000_000
NO_HISTORY = History(-1, -1, 0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Part:
    """A task, which sends to the next one of its query. waiting: events. head_ns: since when the oldest waits. A source keeps none, and a
    task behind it keeps back what it serves."""

    query: int
    is_source: bool = False
    fires: bool = False
    cost_ns: float = 0.0
    waiting: int = 0
    head_ns: int = FAR
    watermark_ns: int = -FAR


def due_once(query: int, host: int, deadline_ns: int) -> Input:
    """A source whose only window ends at a deadline."""
    return Input(query, query, host, ((deadline_ns, 1 << 60),), 0, 0, np.zeros(0, np.int64))


def due(query: int, deadline_ns: int, oldest_ns: int = -1) -> InputStatistics:
    """Its watermark is expected at the deadline, to the nanosecond. oldest_ns: when it came, if it waits."""
    return InputStatistics(query, 0, -FAR, NO_HISTORY, 0.0, 0.0, deadline_ns, 0, oldest_ns, deadline_ns, 0)


def tasks_of(
    host: int,
    name: str,
    names: Sequence[str],
    parts: Sequence[Part],
    inputs: Sequence[Input],
    remote: Sequence[Input] = (),
    downstream: Mapping[int, tuple[int, ...]] | None = None,
    upstream: Mapping[int, tuple[int, ...]] | None = None,
) -> Tasks:
    """The tasks of a host with one core. parts: by query, senders before receivers. names: of the queries."""
    query = [part.query for part in parts]
    level = [query[:k].count(q) for k, q in enumerate(query)]
    received = np.flatnonzero(np.array(level, np.int64) > 0)
    return Tasks(
        host=host,
        name=name,
        cores=1,
        budget_bytes=None,
        names=tuple(names),
        ids=tuple(f"{names[q]} {k}" for q, k in zip(query, level, strict=True)),
        query=np.array(query, np.int64),
        level=np.array(level, np.int64),
        is_source=np.array([part.is_source for part in parts], bool),
        fires=np.array([part.fires for part in parts], bool),
        parallelism=np.ones(len(parts), np.int64),
        instances=np.arange(len(parts)),
        task_of=np.arange(len(parts)),
        sent=received - 1,
        received=received,
        inputs=tuple(inputs),
        remote=tuple(remote),
        downstream=downstream or {},
        upstream=upstream or {},
    )


def statistics_of(tasks: Tasks, parts: Sequence[Part], inputs: Sequence[InputStatistics], now_ns: int, cycle_ns: int) -> Statistics:
    waiting = np.array([part.waiting for part in parts], np.int64)
    return Statistics(
        now_ns=now_ns,
        cycle_ns=cycle_ns,
        tasks=tasks,
        cost_ns=np.array([part.cost_ns for part in parts], np.float64),
        selectivity=np.array([float(part.is_source) for part in parts]),
        queued=waiting,
        queued_bytes=waiting,
        head_ns=np.array([part.head_ns for part in parts], np.int64),
        watermark_ns=np.array([part.watermark_ns for part in parts], np.int64),
        fired=np.zeros(len(parts)),
        firing_ns=np.zeros(len(parts)),
        used_bytes=0,
        inputs=inputs,
        elsewhere_ns=np.zeros(len(tasks.names)),
    )
