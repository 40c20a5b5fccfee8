"""What a trace costs, measured by running it (Heinrich et al. 2024, section III; specification 2.5, 5.4). Never a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from engine.costmodels.description import Join, WindowedAggregate
from engine.simulation import Simulation

from .experiments import CREDITS, Document, experiment
from .queries import DrawnQuery
from .traces import Trace

Failure = Literal["", "a host died", "nothing arrived"]

WARM_UP_S, LEAST_S, WINDOWS, MOST_S = 10, 30, 4, 120
"""A run takes the warm-up, then the time of so many windows, but no less and no more than this."""

DRAIN_S = 3
"""What was written before the last seconds of a run should be read by its end."""

FULL_BY_S = 240
"""A receive queue that would be full by then counts as full: the source's runs take that long."""


@dataclass(frozen=True)
class Labels:
    """Costs of one trace.

    throughput_per_s: records that reach the sink after the warm-up. The latencies are means over them: from the intake of the oldest
    contributing record (processing), and from when its device sent it (end_to_end). mixed_ms is processing as the source's code measures
    it: from the older record of a pair and the newest of a group. backlog_per_s: how fast the logs grow. backpressured: they do, or what
    was written 3 s before the end is not read at the end, or a receive queue grows so fast that it will be full after four minutes.
    failure: empty if a record reached the sink; otherwise there are no costs. horizon_s: end-to-end latency grows with it where the logs
    do.
    """

    horizon_s: float
    failure: Failure
    throughput_per_s: float | None = None
    processing_ms: float | None = None
    end_to_end_ms: float | None = None
    backlog_per_s: float | None = None
    backpressured: bool | None = None
    mixed_ms: float | None = None

    @property
    def success(self) -> bool:
        return not self.failure


@dataclass(frozen=True)
class ReceiveQueue:
    """The input of an operator by second of the run. arrived: during the run, by channel."""

    waiting: Sequence[int]
    arrived: Sequence[float]

    @property
    def fills(self) -> bool:
        """Whether it will be full: the busiest channel has used up its credits."""
        growth = growth_per_s(self.waiting)
        whole = sum(self.arrived)
        if not whole or growth <= 0:
            return False
        share = max(self.arrived) / whole
        return share * (self.waiting[-1] + growth * (FULL_BY_S - len(self.waiting))) >= CREDITS


@dataclass(frozen=True)
class SourceLog:
    """A source by second of the run, from the first on. unread: records in its log at the end of the second. read: during it."""

    rate_per_s: int
    unread: Sequence[int]
    read: Sequence[float]

    @property
    def overdue(self) -> float:
        """Records written before the drain that are not read at the end."""
        if len(self.unread) <= DRAIN_S:
            return 0.0
        read = list(accumulate(self.read))
        written = self.unread[-1 - DRAIN_S] + read[-1 - DRAIN_S]
        return max(0.0, written - read[-1])


def horizon_s(query: DrawnQuery) -> int:
    """Length of a run that shows what the query costs, in virtual time."""
    windows = [of.window for of in query.operators if isinstance(of, Join | WindowedAggregate)]
    longest_s = max((window.size / 1000 for window in windows if window.policy == "time"), default=0.0)
    return min(WARM_UP_S + max(LEAST_S, round(WINDOWS * longest_s)), MOST_S) + DRAIN_S


def measured(trace: Trace, seed: int, horizon_s: int) -> Document:
    """The experiment whose run gives the labels. The first quarter, up to 10 s, is warm-up. seed: of its streams."""
    return timed(experiment(trace, seed, horizon_s))


def timed(document: Document) -> Document:
    """With the warm-up, and frames of a second."""
    workload = document["workload"] | {"warmup_s": min(WARM_UP_S, document["workload"]["horizon_s"] // 4)}
    return document | {"workload": workload, "measurement": document["measurement"] | {"frame_ms": 1000}}


@dataclass(frozen=True)
class Measured:
    """sent_per_s: by operator id, over the whole run."""

    labels: Labels
    sent_per_s: Mapping[str, float]


def measure(document: Document) -> Labels:
    """Run an experiment of `measured`."""
    return run(document).labels


def run(document: Document) -> Measured:
    """As `measure`, with the records that each operator sent."""
    horizon_s = document["workload"]["horizon_s"]
    simulation = Simulation(document)
    frames: list[dict[str, Any]] = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
    died = any(frame["deaths"] for frame in frames)
    labels = labels_of(simulation.summary(), _logs(document, frames), _queues(document, frames), died, horizon_s)
    sent_per_s = {id: sum(_series(frames, id, "out_per_s")) / len(frames) for id in frames[0]["operators"]}
    return Measured(labels, sent_per_s)


def _logs(document: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> list[SourceLog]:
    rates = {id: source["rate"]["per_s"] for id, source in document["workload"]["sources"].items()}
    return [SourceLog(rate, _series(frames, id, "lag"), _series(frames, id, "in_per_s")) for id, rate in rates.items()]


def _queues(document: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> list[ReceiveQueue]:
    senders: dict[str, list[str]] = {}
    for edge in document["query"]["edges"]:
        senders.setdefault(edge["target"], []).append(edge["source"])
    return [
        ReceiveQueue(_series(frames, id, "queue"), [sum(_series(frames, sender, "out_per_s")) for sender in of])
        for id, of in senders.items()
    ]


def _series(frames: Sequence[Mapping[str, Any]], operator: str, name: str) -> list[Any]:
    return [frame["operators"][operator][name] for frame in frames]


def labels_of(
    summary: Mapping[str, Any], logs: Sequence[SourceLog], queues: Sequence[ReceiveQueue], died: bool, horizon_s: float
) -> Labels:
    """logs: of all sources. queues: of all other operators."""
    processing_ms = summary["latency_ms"]["mean"]
    if processing_ms is None:
        return Labels(horizon_s, "a host died" if died else "nothing arrived")
    rate_per_s = sum(log.rate_per_s for log in logs)
    backlog_per_s = sum(growth_per_s(log.unread) for log in logs)
    behind = (
        backlog_per_s > max(1.0, 0.01 * rate_per_s) or sum(log.overdue for log in logs) > rate_per_s or any(queue.fills for queue in queues)
    )
    return Labels(
        horizon_s,
        "",
        summary["throughput_out_per_s"],
        processing_ms,
        summary["latencies_ms"]["end_to_end"]["mean"],
        backlog_per_s,
        behind,
        summary["latencies_ms"]["mixed"]["mean"],
    )


def growth_per_s(unread: Sequence[int]) -> float:
    """By how many records a log or queue grows per second, from the middle third of the run to the last; 0 if it shrinks.

    The least of each third counts: it also fills while a window fires, and empties again.
    """
    third = len(unread) // 3
    if not third:
        return 0.0
    return max(0.0, (min(unread[-third:]) - min(unread[-2 * third : -third])) / third)
