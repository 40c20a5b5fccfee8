"""Paths of chosen records: the run is repeated, first to find the records, then with tracing as far as their paths need it.

A run is a function of its document, so the repetition shows what happened. Only the stretches of virtual time in which one of the records
was in flight are traced.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.core.random import RandomStream
from engine.core.tables import Words
from engine.simulation.attribution import Delivery, Waterfall
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.experiment.selection import RECORDS_MAX, Selection
from engine.spec.experiment.streams import FileStream

from .simulation import Simulation

STEPS = 500  # steps of each of the two runs, to report progress
ROWS_MAX = 13 << 20  # rows of the trace held at a time, about 0.8 GB; beyond that, rows no longer needed are dropped

Go = Callable[[Simulation, int], None]
Progress = Callable[[float], None]


class AnotherRun(RuntimeError):
    """The repeated run differs from the original: another engine or other data sets."""


def waterfalls(
    again: Callable[[bool], Simulation],
    selection: Selection,
    go: Go = Simulation.run_until,
    progress: Progress = lambda share: None,
    digest: str | None = None,
) -> list[Waterfall]:
    """The waterfalls of the chosen records, by delivery.

    again: creates a simulation at the start of the run; True: with outputs kept. go: runs a simulation to a given time. progress: receives
    the share of the work done. An exception from go or progress ends the work. digest: expected digest of the run.
    Raises AnotherRun, and Refusal if a record was never delivered, the sample is too large, or the paths are too long to hold.
    """
    first = again(True)
    records = find(first, selection, go, lambda share: progress(share / 2))
    if digest is not None and first.digest() != digest:
        raise AnotherRun(
            f"the repeated run has another digest ({first.digest()[:12]} instead of {digest[:12]}): the engine or a data set has "
            "changed since; run the experiment again"
        )
    return trace(again(False), records, go, lambda share: progress((1 + share) / 2))


def waterfalls_at_hand(simulation: Simulation, selection: Selection) -> list[Waterfall]:
    """The waterfalls from a finished simulation that kept its outputs and its whole trace."""
    chooser = Chooser(selection, simulation)
    for rows in simulation.output_parts():
        chooser.add(rows)
    return simulation.trace().waterfalls(chooser.chosen())


def find(simulation: Simulation, selection: Selection, go: Go, progress: Progress) -> list[Delivery]:
    """Run to the end and return the chosen records."""
    chooser = Chooser(selection, simulation)
    step_ns = max(1, -(-simulation.end_ns // STEPS))
    while not simulation.finished:
        go(simulation, min(simulation.now_ns + step_ns, simulation.end_ns))
        chooser.add(simulation.taken_outputs())
        progress(simulation.now_ns / simulation.end_ns)
    return chooser.chosen()


class Chooser:
    """Takes the deliveries of a run in pieces of any size and keeps those that a selection names."""

    def __init__(self, selection: Selection, simulation: Simulation):
        self._selection, self._simulation = selection, simulation
        sinks = simulation.sinks
        for n, record in enumerate(selection.records):
            if record.sink not in sinks:
                message = f"sink '{record.sink}' is not in this experiment; {suggestion(record.sink, sinks)}"
                raise Refusal(message, at=("records", n, "sink"), code="unknown_name", value=record.sink)
        self._wanted = {(sinks.index(record.sink), record.trigger, record.end_ns): n for n, record in enumerate(selection.records)}
        self._slowest: Words | None = None
        self._kept: list[Words] = []
        self._sampled = 0

    def add(self, rows: Words) -> None:
        """rows: (n, ..), kept outputs of the engine."""
        rows = rows[:, :6]
        if self._wanted:
            ends = np.array(sorted({end_ns for _, _, end_ns in self._wanted}))
            for row in rows[np.isin(rows[:, 2], ends)]:
                if (int(row[0]), int(row[4]), int(row[2])) in self._wanted:
                    self._kept.append(row[None])
        between, ends = self._selection.between, rows[:, 2]
        if between is None:
            asked = ends > self._simulation.experiment.workload.warmup_ns
        else:
            asked = (ends > between.after_ns) & (ends <= between.to_ns)
        if not asked.all():
            rows = rows[asked]
        if self._selection.slowest:
            self._keep_slowest(rows)
        if self._selection.sample is not None:
            self._sample(rows)

    def _keep_slowest(self, rows: Words) -> None:
        """Among records of equal latency keep the one delivered first, then the one of the lowest instance."""
        wanted = self._selection.slowest
        if self._slowest is not None and len(self._slowest) == wanted:
            rows = rows[rows[:, 5] >= self._slowest[-1, 5]]
        if len(rows) > wanted:
            rows = rows[rows[:, 5] >= np.partition(rows[:, 5], -wanted)[-wanted]]
        candidates = rows if self._slowest is None else np.concatenate([self._slowest, rows])
        order = np.lexsort((candidates[:, 1], candidates[:, 2], -candidates[:, 5]))
        self._slowest = candidates[order[:wanted]]

    def _sample(self, rows: Words) -> None:
        sample = self._selection.sample
        assert sample is not None
        words = RandomStream(sample.seed, "sample").words(rows[:, 2] << 12 ^ rows[:, 1])
        drawn = rows[words >> np.uint64(11) < np.uint64(int(sample.rate * (1 << 53)))]
        self._kept.append(drawn)
        self._sampled += len(drawn)
        if self._sampled > RECORDS_MAX:
            share = max(self._simulation.now_ns, 1) / self._simulation.end_ns
            message = (
                f"sample.rate {sample.rate:g} draws more than {RECORDS_MAX} records; "
                f"a rate of {sample.rate * RECORDS_MAX / self._sampled * share / 2:.2g} draws fewer"
            )
            raise Refusal(message, at=("sample", "rate"), value=sample.rate)

    def chosen(self) -> list[Delivery]:
        """The records, each once, by delivery. Raises Refusal if one was never delivered."""
        rows = np.concatenate([*self._kept, *([] if self._slowest is None else [self._slowest]), np.zeros((0, 6), np.int64)])
        found = {(int(row[0]), int(row[4]), int(row[2])) for row in rows}
        for place, n in self._wanted.items():
            if place not in found:
                record = self._selection.records[n]
                message = (
                    f"no record with trigger {record.trigger} was delivered at '{record.sink}' at {record.end_ns} ns; "
                    "take all three from one delivered record"
                )
                raise Refusal(message, at=("records", n), code="unknown_name", value=record.model_dump())
        return self._simulation.as_deliveries(np.unique(rows, axis=0))


def trace(simulation: Simulation, records: list[Delivery], go: Go, progress: Progress) -> list[Waterfall]:
    """Run to the delivery of the last record. Trace from the begin of the first record that is still to be delivered."""
    records = sorted(records, key=lambda record: record.end_ns)
    begins = _begins(simulation, records)
    step_ns = max(1, -(-simulation.end_ns // STEPS))
    made: list[Waterfall] = []
    tracing = False
    reached = 0  # records delivered so far
    while len(made) < len(records):
        if not tracing or begins[len(made)] > simulation.now_ns:  # nothing of the past is needed
            simulation.stop_tracing()
            if begins[len(made)] > simulation.now_ns:
                go(simulation, begins[len(made)])
            simulation.start_tracing()
            tracing = True
        go(simulation, min(simulation.now_ns + step_ns, records[reached].end_ns))
        while reached < len(records) and records[reached].end_ns <= simulation.now_ns:
            reached += 1
        progress(simulation.now_ns / records[-1].end_ns)
        traced = simulation.trace()
        full = len(traced.rows) > ROWS_MAX
        last = reached == len(records) or begins[reached] > simulation.now_ns
        if reached > len(made) and (last or full):
            made += traced.waterfalls(records[len(made) : reached])
        if full and reached < len(records):
            simulation.drop_trace(begins[reached])
            held = simulation.trace()
            if len(held.rows) > ROWS_MAX // 2:
                message = (
                    f"the paths of the chosen records span {len(held):,} services at a time, too many to hold; "
                    "choose fewer records, or records of lower latency"
                )
                raise Refusal(message, value=len(records))
    return made


def _begins(simulation: Simulation, records: list[Delivery]) -> list[int]:
    """For each record (by delivery): the time up to which neither it nor the later records need the trace."""
    streams = [source.stream for source in simulation.experiment.workload.sources.values()]
    ahead = simulation.experiment.measurement.latency.clock == "event" and any(isinstance(stream, FileStream) for stream in streams)
    begins: list[int] = []
    for record in reversed(records):  # event times of a file may be later than the append
        begin = -1 if ahead else max(-1, record.end_ns - record.latency_ns - 1)
        begins.append(min(begin, begins[-1]) if begins else begin)
    return begins[::-1]
