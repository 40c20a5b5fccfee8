"""What a trace costs, measured by running it (Heinrich et al. 2024, section III; specification 2.5). Never a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.costmodels.description import Source
from engine.simulation import Simulation

from .experiments import experiment
from .traces import Trace

Failure = Literal["", "a host died", "nothing arrived"]


@dataclass(frozen=True)
class Labels:
    """Costs of one trace.

    throughput_per_s: records that reach the sink after the warm-up. The latencies are means over them: from the intake of the oldest
    contributing record (processing), and from when it was written to its log (end_to_end). backlog_per_s: how fast the logs grow over the
    last third of the run. failure: empty if a record reached the sink; otherwise there are no costs. horizon_s: end-to-end latency grows
    with it where the logs do.
    """

    horizon_s: float
    failure: Failure
    throughput_per_s: float | None = None
    processing_ms: float | None = None
    end_to_end_ms: float | None = None
    backlog_per_s: float | None = None
    backpressured: bool | None = None

    @property
    def success(self) -> bool:
        return not self.failure


def measure(trace: Trace, seed: int, horizon_s: float, warmup_s: float = 0.0) -> Labels:
    """Run the trace's experiment for horizon_s of virtual time. seed: of its streams."""
    document = experiment(trace, seed, horizon_s)
    document["workload"]["warmup_s"] = warmup_s
    simulation = Simulation(document)
    backlogs: list[tuple[float, int]] = []
    deaths = 0
    while (frame := simulation.advance()) is not None:
        backlogs.append((frame["t_s"], frame["backlog"]))
        deaths += len(frame["deaths"])
    rate_per_s = sum(of.rate_per_s for of in trace.query.operators if isinstance(of, Source))
    return labels_of(simulation.summary(), backlogs, deaths, rate_per_s, horizon_s)


def labels_of(
    summary: Mapping[str, Any], backlogs: Sequence[tuple[float, int]], deaths: int, rate_per_s: float, horizon_s: float
) -> Labels:
    """backlogs: records in all logs, by time in s. rate_per_s: of all sources together."""
    processing_ms = summary["latency_ms"]["mean"]
    if processing_ms is None:
        return Labels(horizon_s, "a host died" if deaths else "nothing arrived")
    growth = growth_per_s(backlogs, horizon_s)
    return Labels(
        horizon_s,
        "",
        summary["throughput_out_per_s"],
        processing_ms,
        summary["latencies_ms"]["end_to_end"]["mean"],
        growth,
        growth > max(1.0, 0.01 * rate_per_s),
    )


def growth_per_s(backlogs: Sequence[tuple[float, int]], horizon_s: float) -> float:
    """By how many records the backlog grows per second over the last third of the run; 0 if it shrinks."""
    last_third = [(t_s, records) for t_s, records in backlogs if 2 / 3 * horizon_s <= t_s <= horizon_s]
    if len(last_third) < 2:
        return 0.0
    (from_s, before), (to_s, after) = last_third[0], last_third[-1]
    return max(0.0, (after - before) / (to_s - from_s))
