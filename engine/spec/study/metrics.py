"""Metrics of runs: the numbers in their summaries, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..experiment.cluster import expand
from ..experiment.experiment import Experiment

OF_RUN = (
    "virtual_s", "records_in", "records_out", "late", "errors", "hops", "throughput_in_per_s", "throughput_out_per_s", "backlog", "dropped",
    "lost", "shed",
)  # fmt: skip
OF_LATENCY = ("count", "mean", "p50", "p95", "p99", "max")
OF_MEMORY = ("used_bytes", "peak_bytes", "slow_down", "deaths")
OF_CHECKPOINTING = (
    "rounds_confirmed", "rounds_aborted", "rounds_failed", "ticks_skipped", "checkpoints", "stored_bytes", "checkpointing_time_ms",
    "durable_time_ms", "recoveries", "restart_time_ms", "search_time_ms", "forced", "checkpoints_at_loss", "discarded", "discarded_share",
    "discarded_most", "discarded_cross_worker_share", "useless", "useless_share", "log_bytes", "message_overhead",
)  # fmt: skip
OF_WAIT = ("mean", "p50", "p95", "max")
OF_SCALING = (
    "workers_mean", "workers_max", "worker_hours", "actions", "up", "down", "aborted", "down_s", "low_share", "slo_violation_s", "follows",
    *(f"{wait}.{name}" for wait in ("wait_s", "sampled_wait_s") for name in OF_WAIT),
)  # fmt: skip
OF_PHASE = ("actions", "settled_s", "settled_steps", "converged", "converged_s", "steps")
OF_OPERATOR = (
    *("in", "out", "busy", "blocked", "stolen", "late", "shed", "lost", "unsent"),
    *(
        f"attribution.{part}"
        for part in (
            *("records", "driver_queue_ns", "channel_wait_ns", "alignment_ns", "service_ns", "stolen_ns", "sent", "blocked_ns"),
            "network_ns",
        )
    ),
)


def metric_names(experiment: Experiment) -> list[str]:
    """Names of all metrics by which runs of the experiment can be compared. Wall-clock time is excluded, as it is not reproducible.

    Not every run has all of them: latency needs deliveries, memory a memory model, checkpointing a protocol, scaling a scaling policy, and
    phases a stepped load.
    """
    also = [latency.name for latency in experiment.measurement.also]
    latencies = ["latency_ms", *(f"latencies_ms.{name}" for name in also)]
    return [
        *OF_RUN,
        *(f"{latency}.{name}" for latency in latencies for name in OF_LATENCY),
        *(f"memory.{host.name}.{name}" for host in expand(experiment.cluster) for name in OF_MEMORY),
        *(f"checkpointing.{name}" for name in OF_CHECKPOINTING),
        *(f"scaling.{name}" for name in OF_SCALING),
        *(f"scaling.phases.{number}.{name}" for number in range(1, phases_of(experiment) + 1) for name in OF_PHASE),
        *(f"operators.{operator.id}.{name}" for operator in experiment.query.operators for name in OF_OPERATOR),
    ]


def phases_of(experiment: Experiment) -> int:
    """Upper bound of the number of phases with constant load; 0 unless all loads are piecewise constant."""
    steps = [source.rate.jumps() for source in experiment.workload.sources.values()]
    if not all(steps):
        return 0
    return len({0.0, *(step.at_s for of_one in steps for step in of_one if step.at_s < experiment.workload.horizon_s)})


def flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    """The numbers in a tree by dotted path (`latency_ms.p99`), without booleans and missing values."""
    numbers: list[tuple[str, float]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            numbers += flat(value, f"{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((name, float(value)))
    return numbers
