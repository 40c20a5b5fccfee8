"""What runs measure: the numbers of their summaries and the series of their frames, by name, each with its unit.

A name may hold a part in angle brackets, such as `operators.<operator>.busy`: it stands for each operator of the document. Studies compare
the numbers of summaries (`metric_names`); assertions use all of these (`quantities`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .cluster import expand
from .experiment import Experiment


@dataclass(frozen=True)
class Quantity:
    """A measured number, or a series of one value per frame. unit: "share" means a number from 0 to 1."""

    unit: str
    about: str
    type: Literal["number", "series"] = "number"


OF_RUN = {
    "virtual_s": Quantity("s", "Virtual time at the end of the run."),
    "records_in": Quantity("records", "Records read by the sources, warm-up included."),
    "records_out": Quantity("records", "Records delivered by the sinks, warm-up included."),
    "late": Quantity("records", "Records that came after their windows had closed, warm-up included."),
    "errors": Quantity("", "Errors of expressions, such as a division by zero."),
    "hops": Quantity("services", "Services of records, one for each operator that a record passes."),
    "throughput_in_per_s": Quantity("records/s", "Records read by the sources after the warm-up."),
    "throughput_out_per_s": Quantity("records/s", "Records delivered by the sinks after the warm-up."),
    "backlog": Quantity("records", "Records that wait in logs and queues at the end."),
    "dropped": Quantity("records", "Records that logs dropped unread, past their retention."),
    "lost": Quantity("records", "Records that lost hosts took with them."),
    "shed": Quantity("records", "Records that sources on full hosts discarded."),
}
OF_LATENCY = {
    "count": Quantity("records", "Delivered records with this latency."),
    "mean": Quantity("ms", "Mean latency."),
    "p50": Quantity("ms", "Median latency."),
    "p95": Quantity("ms", "95th percentile of the latency."),
    "p99": Quantity("ms", "99th percentile of the latency."),
    "max": Quantity("ms", "Longest latency."),
}
OF_WHOLE_LATENCY = OF_LATENCY | {
    "min": Quantity("ms", "Shortest latency."),
    "p75": Quantity("ms", "75th percentile of the latency."),
    "p90": Quantity("ms", "90th percentile of the latency."),
}
"""Of all samples after the warm-up."""

OF_MEMORY = {
    "used_bytes": Quantity("bytes", "Memory in use at the end."),
    "peak_bytes": Quantity("bytes", "Largest memory in use."),
    "slow_down": Quantity("", "Factor by which memory pressure slows services down at the end."),
    "deaths": Quantity("", "Deaths of the host from lack of memory."),
}
OF_CHECKPOINTING = {
    "rounds_confirmed": Quantity("", "Rounds of checkpoints that completed."),
    "rounds_aborted": Quantity("", "Rounds that were aborted."),
    "rounds_failed": Quantity("", "Rounds that failed."),
    "ticks_skipped": Quantity("", "Rounds that were skipped because another was in progress."),
    "checkpoints": Quantity("", "Checkpoints of instances."),
    "stored_bytes": Quantity("bytes", "Bytes of all checkpoints."),
    "checkpointing_time_ms": Quantity("ms", "Mean time of a round, or of a checkpoint without rounds."),
    "durable_time_ms": Quantity("ms", "Mean time from a checkpoint until it is durable."),
    "recoveries": Quantity("", "Rollbacks after the loss of a host."),
    "restart_time_ms": Quantity("ms", "Mean time from the detection of a loss until all instances run again."),
    "search_time_ms": Quantity("ms", "Mean time of the search for a recovery line."),
    "forced": Quantity("", "Checkpoints that the protocol forced."),
    "checkpoints_at_loss": Quantity("", "Checkpoints that existed at the first loss."),
    "discarded": Quantity("", "Checkpoints that the first recovery discarded."),
    "discarded_share": Quantity("share", "Share of the checkpoints that the first recovery discarded."),
    "discarded_most": Quantity("", "Most checkpoints of one instance that the first recovery discarded."),
    "discarded_cross_worker_share": Quantity("share", "Share of the discarded checkpoints that are due to another host."),
    "useless": Quantity("", "Checkpoints on no recovery line."),
    "useless_share": Quantity("share", "Share of the checkpoints on no recovery line."),
    "log_bytes": Quantity("bytes", "Bytes in the logs of channels at the end."),
    "message_overhead": Quantity("", "Bytes sent, as a multiple of those without the protocol."),
}
OF_WAIT = {
    "mean": Quantity("s", "Mean wait of records in the logs."),
    "p50": Quantity("s", "Median wait of records in the logs."),
    "p95": Quantity("s", "95th percentile of the wait of records in the logs."),
    "max": Quantity("s", "Longest wait of records in the logs."),
}
OF_SCALING = {
    "workers_mean": Quantity("instances", "Mean number of active instances."),
    "workers_max": Quantity("instances", "Largest number of active instances."),
    "worker_hours": Quantity("h", "Instances times the hours that they were active."),
    "actions": Quantity("", "Rescales that began."),
    "up": Quantity("", "Rescales to more instances."),
    "down": Quantity("", "Rescales to fewer instances."),
    "aborted": Quantity("", "Rescales that were aborted."),
    "down_s": Quantity("s", "Time in which operators stood still for rescales."),
    "low_share": Quantity("share", "Share of the samples whose wait is within the policy's objective."),
    "slo_violation_s": Quantity("s", "Time in which the wait exceeds the policy's objective."),
    "follows": Quantity("", "Correlation of the number of instances with the load."),
    **{f"{wait}.{name}": of for wait in ("wait_s", "sampled_wait_s") for name, of in OF_WAIT.items()},
}
OF_PHASE = {
    "actions": Quantity("", "Rescales in a phase of constant load."),
    "settled_s": Quantity("s", "Time in the phase until the last rescale."),
    "settled_steps": Quantity("", "Rescales in the phase until it settled."),
    "converged": Quantity("", "Whether the phase settled."),
    "converged_s": Quantity("s", "Time until a phase that settled did so."),
    "steps": Quantity("", "Rescales of a phase that settled."),
}
OF_SCHEDULING = {
    "cycles": Quantity("", "Cycles of the scheduler, over all hosts."),
    "switches": Quantity("", "Operators started or paused by the scheduler."),
    "messages": Quantity("", "Messages between the schedulers of hosts."),
    "message_bytes": Quantity("bytes", "Their size."),
    "overhead": Quantity("share", "The scheduler's share of the CPU time spent on its hosts."),
    "hit_rate": Quantity("share", "Share of the sweeping watermarks that came within the interval predicted at the start of their epoch."),
    "width_ms": Quantity("ms", "Mean width of these intervals."),
    "memory_mode_s": Quantity("s", "Time in which the scheduler freed memory first, over all hosts."),
}
OF_STATE = {
    "written_bytes": Quantity("bytes", "Bytes that local stores have written to disks."),
    "appended": Quantity("records", "Records that went to changelogs."),
    "requests": Quantity("", "Requests of senders to the broker."),
    "commits": Quantity("", "Commits of instances."),
    "commit_ms": Quantity("ms", "Mean time of a commit."),
    "absorbed": Quantity("", "Changes that a later one replaced in the cache."),
    "stalled_ms": Quantity("ms", "Time for which full buffers have held operators back."),
    "changelog_bytes": Quantity("bytes", "Size of all changelogs at the end."),
    "changelog_bytes_max": Quantity("bytes", "Their largest size at the end of a frame."),
    "changelog_bytes_mean": Quantity("bytes", "Their mean size at the ends of frames."),
    "stored": Quantity("records", "Records in changelogs at the end."),
    "tombstones": Quantity("records", "Tombstones in changelogs at the end."),
    "restore_ms": Quantity("ms", "Longest restore of a store from its changelog when the run ends."),
    "restore_records": Quantity("records", "Records that this restore reads."),
    "outages": Quantity("", "Losses of hosts with local stores."),
    "lost_changes": Quantity("", "Changes of state that crashes took before they were in a changelog."),
    "read_again": Quantity("records", "Records that sources read again after crashes."),
    "results_again": Quantity("", "Results of windows that had left before a crash, and come twice."),
    "restored_records": Quantity("records", "Records of changelogs that restores have read."),
    "longest_restore_ms": Quantity("ms", "Longest restore of a store after a crash."),
    "longest_outage_ms": Quantity("ms", "Longest time from a crash until the stores of the host were filled."),
    "tuning_step": Quantity("", "Step of the tuning agent at the end, from 0 on: higher ones compact more."),
    "tuning_conflicts": Quantity("", "Looks of the agent at which a goal was missed while the broker had no CPU left."),
    "write_amplification": Quantity("", "Bytes written to disks over bytes that operators have put."),
    "passes": Quantity("", "Passes of cleaners over changelogs."),
    "broker_busy": Quantity("share", "Share of the broker's cores in use."),
    "worker_busy": Quantity("share", "Share of the cores in use on hosts with stores."),
}
OF_OUTPUT_LOGS = {
    "written": Quantity("records", "Records that went to output logs: results, and what they say of windows."),
    "about_windows": Quantity("records", "Those that say that a window opened, or what is in it."),
    "checkpoints": Quantity("", "Checkpoints of windows."),
    "written_bytes": Quantity("bytes", "Bytes that went to output logs."),
    "infeasible": Quantity("", "How often more windows were open than a recovery may read records."),
    "outages": Quantity("", "Losses of hosts with output logs."),
    "read_again": Quantity("records", "Records that were sent again after losses."),
    "restored_records": Quantity("records", "Records of output logs that recoveries have read."),
    "longest_restore_ms": Quantity("ms", "Longest time to read an output log and load its windows."),
    "longest_outage_ms": Quantity("ms", "Longest time from a loss until the operators of the host go on."),
}
OF_STANDBYS = {
    "takeovers": Quantity("", "Losses of hosts after which standbys took over."),
    "sent_again": Quantity("records", "Results that standbys had held back and sent when they took over."),
    "unprotected": Quantity("", "Instances without a standby at the end, since one of the two was lost."),
}
OF_ATTRIBUTION = {
    "records": Quantity("records", "Records whose service began."),
    "driver_queue_ns": Quantity("ns", "Sum of the waits of records in the logs."),
    "channel_wait_ns": Quantity("ns", "Sum of the waits of records in queues."),
    "alignment_ns": Quantity("ns", "Sum of the waits of records for barriers."),
    "service_ns": Quantity("ns", "Sum of the services of records."),
    "stolen_ns": Quantity("ns", "Sum of the time that other threads took from services."),
    "sent": Quantity("records", "Records sent, each copy counted."),
    "blocked_ns": Quantity("ns", "Sum of the waits of records for room downstream."),
    "network_ns": Quantity("ns", "Sum of the time of records in the network."),
}
OF_OPERATOR = {
    "in": Quantity("records", "Records that the operator took in, warm-up included."),
    "out": Quantity("records", "Records that the operator gave, warm-up included."),
    "busy": Quantity("share", "Share of the time in which its instances served records."),
    "blocked": Quantity("share", "Share of the time in which its instances waited for room downstream."),
    "stolen": Quantity("share", "Share of the time that other threads took from its instances."),
    "late": Quantity("records", "Records that came after their windows had closed."),
    "shed": Quantity("records", "Records that its sources on full hosts discarded."),
    "read": Quantity("", "Stored records, and distances to others, that its services have read."),
    "lost": Quantity("records", "Records sent to it and never served, because a host was lost."),
    "unsent": Quantity("records", "Records taken in or produced, but not sent, because a host was lost."),
    **{f"attribution.{part}": of for part, of in OF_ATTRIBUTION.items()},
}
OF_QUERY = {
    **{f"latency_ms.{name}": of for name, of in OF_WHOLE_LATENCY.items()},
    "throughput_in_per_s": Quantity("records/s", "Records read by the query's sources after the warm-up."),
    "throughput_out_per_s": Quantity("records/s", "Records delivered by the query's sinks after the warm-up."),
    "served_per_s": Quantity("records/s", "Records served by the query's operators after the warm-up, by each of them counted."),
    "late": Quantity("records", "Records that came after their windows had closed, warm-up included."),
    "fastest_copy_ms": Quantity("ms", "Mean latency of the copy with the least."),
    "slowest_copy_ms": Quantity("ms", "Mean latency of the copy with the greatest."),
}

SUMMARY: dict[str, Quantity] = {
    **OF_RUN,
    **{f"latency_ms.{name}": of for name, of in OF_WHOLE_LATENCY.items()},
    **{f"latencies_ms.<latency>.{name}": of for name, of in OF_WHOLE_LATENCY.items()},
    **{f"memory.<host>.{name}": of for name, of in OF_MEMORY.items()},
    **{f"checkpointing.{name}": of for name, of in OF_CHECKPOINTING.items()},
    **{f"scaling.{name}": of for name, of in OF_SCALING.items()},
    **{f"scaling.phases.<phase>.{name}": of for name, of in OF_PHASE.items()},
    **{f"scheduling.{name}": of for name, of in OF_SCHEDULING.items()},
    **{f"state.{name}": of for name, of in OF_STATE.items()},
    **{f"output_logs.{name}": of for name, of in OF_OUTPUT_LOGS.items()},
    **{f"standbys.{name}": of for name, of in OF_STANDBYS.items()},
    **{f"queries.<query>.{name}": of for name, of in OF_QUERY.items()},
    **{f"operators.<operator>.{name}": of for name, of in OF_OPERATOR.items()},
}
"""The numbers of a summary."""

RECOVERY = "recovery."
RESCALES = "rescales."
FRAMES = "frames."

EVENTS: dict[str, Quantity] = {
    "recovery.faults": Quantity("", "Faults after the warm-up, deaths of hosts included."),
    "recovery.longest_s": Quantity("s", "Longest time from a fault until latency and driver queue are back to normal."),
    "recovery.unrecovered": Quantity("", "Faults from which the run had not recovered at the next fault, or at its end."),
    "rescales.longest_s": Quantity("s", "Longest rescale, from its order to its end."),
    "rescales.longest_stop_s": Quantity("s", "Longest time for which a rescale stopped operators."),
}
"""Numbers found in the frames of a run."""

OVER_TIME: dict[str, Quantity] = {
    f"frames.{name}": replace(of, type="series")
    for name, of in {
        **{f"latency_ms.{name}": of for name, of in OF_LATENCY.items()},
        **{f"latencies_ms.<latency>.{name}": of for name, of in OF_LATENCY.items()},
        "offered_per_s": Quantity("records/s", "Records appended to the logs."),
        "in_per_s": Quantity("records/s", "Records read by the sources."),
        "out_per_s": Quantity("records/s", "Records delivered by the sinks."),
        "backlog": Quantity("records", "Records that wait in logs and queues."),
        "dropped": Quantity("records", "Records that logs dropped unread."),
        "lost": Quantity("records", "Records that lost hosts took with them."),
        "scaling.workers": Quantity("instances", "Active instances."),
        "output_logs.extent": Quantity("records", "Records of output logs that a recovery of all instances would read."),
        "output_logs.replay": Quantity("records", "Records of the input that it would process again."),
        "output_logs.checkpoints": Quantity("", "Checkpoints of windows in the frame."),
        "standbys.held": Quantity("records", "Results that standbys hold back."),
        "standbys.behind": Quantity(
            "records", "Records of the input that standbys have still to process, and their operators have processed."
        ),
        "standbys.ready": Quantity("", "Instances with a standby."),
        "state.written_bytes": Quantity("bytes", "Bytes that local stores wrote to disks in the frame."),
        "state.appended": Quantity("records", "Records that went to changelogs in the frame."),
        "state.requests": Quantity("", "Requests of senders in the frame."),
        "state.since_commit_s": Quantity("s", "Time since the last commit of a host began, or since the start."),
        "state.changelog_bytes": Quantity("bytes", "Size of all changelogs."),
        "state.dirty_ratio": Quantity("share", "Largest dirty ratio of a changelog."),
        "state.passes": Quantity("", "Passes of cleaners that ended in the frame."),
        "state.read_again": Quantity("records", "Records that sources would read again if their hosts crashed now."),
        "state.broker_busy": Quantity("share", "Share of the broker's cores in use."),
        "state.worker_busy": Quantity("share", "Share of the cores in use on hosts with stores."),
        **{f"queries.<query>.latency_ms.{name}": of for name, of in OF_LATENCY.items()},
        "queries.<query>.in_per_s": Quantity("records/s", "Records read by the query's sources."),
        "queries.<query>.out_per_s": Quantity("records/s", "Records delivered by the query's sinks."),
        "queries.<query>.served_per_s": Quantity("records/s", "Records served by the query's operators, by each of them counted."),
        "queries.<query>.queue": Quantity("records", "Items in the queues of the query's operators."),
        "operators.<operator>.in_per_s": Quantity("records/s", "Records that the operator took in."),
        "operators.<operator>.out_per_s": Quantity("records/s", "Records that the operator gave."),
        "operators.<operator>.busy": Quantity("share", "Share of the time in which its instances served records."),
        "operators.<operator>.blocked": Quantity("share", "Share of the time in which its instances waited for room downstream."),
        "operators.<operator>.queue": Quantity("records", "Items in its queues."),
        "operators.<operator>.state_bytes": Quantity("bytes", "Its keyed state."),
        "operators.<operator>.watermark_lag_ms": Quantity("ms", "Virtual time minus its least watermark."),
        "hosts.<host>.busy": Quantity("share", "Share of the time in which the host's processors served records."),
        "hosts.<host>.queue": Quantity("records", "Items in the queues of the host."),
        "hosts.<host>.egress_mbit_per_s": Quantity("Mbit/s", "Sent over the host's egress link."),
    }.items()
}
"""Fields of the frames, as series over the frames' ends in s of virtual time."""

TRUTHS = ("scaling.phases.<phase>.converged",)
"""Entries of a summary that are no numbers; converged_s has a value only where this is true."""

QUANTITIES = {name: of for name, of in {**SUMMARY, **EVENTS, **OVER_TIME}.items() if name not in TRUTHS}


def metric_names(experiment: Experiment) -> list[str]:
    """Names of all metrics by which runs of the experiment can be compared. Wall-clock time is excluded, as it is not reproducible.

    Not every run has all of them: latency needs deliveries, memory a memory model, checkpointing a protocol, scaling a scaling policy,
    phases a stepped load, and the fastest and slowest copy a query with copies.
    """
    return [name for name, _ in _expanded(SUMMARY, experiment)]


def quantities(experiment: Experiment) -> dict[str, Quantity]:
    """Everything that runs of the experiment may measure, by name (see `metric_names`)."""
    return dict(_expanded(QUANTITIES, experiment))


def _expanded(patterns: Mapping[str, Quantity], experiment: Experiment) -> Iterator[tuple[str, Quantity]]:
    """Fill in the names of the document; names that share a part in brackets stay together."""
    known = {
        "<latency>": [latency.name for latency in experiment.measurement.also],
        "<host>": [host.name for host in expand(experiment.cluster)],
        "<phase>": [str(number) for number in range(1, phases_of(experiment) + 1)],
        "<query>": [query.name for query in experiment.query.queries],
        "<operator>": [operator.id for operator in experiment.query.operators],
    }
    for part, group in itertools.groupby(patterns.items(), key=lambda item: next((part for part in known if part in item[0]), "")):
        together = list(group)
        for name in known.get(part, [""]):
            yield from ((pattern.replace(part, name) if part else pattern, of) for pattern, of in together)


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
