"""Times at which a run stands still although it has work: rescales, recoveries, barriers, faults, full memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.spec.experiment.cluster import links_between
from engine.spec.experiment.faults.host_fault import HostFault
from engine.spec.experiment.faults.slow_host import SlowHost
from engine.spec.experiment.scaling.moving import Moving

from .limit import Evidence, Limit, LimitKind
from .observed import MOSTLY, Observed, count, listed, percent, seconds

STOPPED = {"stopping": "takes its savepoint", "restarting": "restarts in its new arrangement", "restoring": "restores its state"}
"""States of a rescale in which nothing is read (docs/engine-api.md, scaling), and what the run does then."""


def standing(run: Observed) -> Limit | None:
    """Return what holds the run up for most of the span."""
    return _rescale(run) or _recovery(run) or _fault(run) or _full_memory(run)


def _rescale(run: Observed) -> Limit | None:
    states = [frame["scaling"]["state"] for frame in run.live if "scaling" in frame]
    stopped = [state for state in states if state in STOPPED]
    if not states or len(stopped) / len(states) < MOSTLY:
        return None
    share = len(stopped) / len(states)
    does = STOPPED[max(set(stopped), key=stopped.count)]
    what = "move" if isinstance(run.experiment.policies.scaling, Moving) else "rescale"
    sentence = f"A {what} limits this run: for {percent(share)} of this time the job is stopped and mostly {does}."
    return Limit(LimitKind.RESCALE, sentence, (Evidence(f"Stopped for a {what}", percent(share)), *_backlog(run)))


def _recovery(run: Observed) -> Limit | None:
    from_s, to_s = run.instances.from_ns / 1e9, run.instances.to_ns / 1e9
    held_s, hosts = 0.0, set()
    for recovery in run.recoveries:
        restored = recovery["restored_s"]
        open_yet = not recovery["ordered_s"] or restored.keys() != recovery["ordered_s"].keys()
        end_s = to_s if open_yet else max(*restored.values(), recovery["go_s"] or 0)
        overlap_s = min(end_s, to_s) - max(recovery["detected_s"], from_s)
        if overlap_s > 0:
            held_s += overlap_s
            hosts |= set(recovery["hosts"])
    if held_s / run.span_s < MOSTLY:
        return None
    lost = listed(sorted(hosts))
    sentence = f"A recovery limits this run: after the loss of {lost} the instances restore checkpoints for {seconds(held_s)} of this time."
    return Limit(LimitKind.RECOVERY, sentence, (Evidence("In recovery", percent(held_s / run.span_s)), *_backlog(run)))


def alignment(run: Observed) -> Limit | None:
    """Records wait mostly for barriers that have not arrived on other channels."""
    found = run.instances
    waiting = found.sums["wait_ns"] > 0
    share = np.where(waiting, found.sums["alignment_ns"] / np.maximum(found.sums["wait_ns"], 1), 0.0)
    mean_number = found.sums["alignment_ns"] / (run.span_s * 1e9)  # records that wait for a barrier at a time (Little's law)
    row = int((share * mean_number).argmax()) if len(found) else -1
    if row < 0 or share[row] < MOSTLY or mean_number[row] < 1:
        return None
    title = run.experiment.policies.checkpointing.title
    sentence = (
        f"{title} checkpoints limit this run: at {run.label(row)} {percent(share[row])} of the waiting is for barriers that have not "
        "arrived on other channels."
    )
    evidence = (
        Evidence(f"Waiting for barriers at {run.label(row)}", f"{count(mean_number[row])} records at a time"),
        Evidence(f"{run.label(row)} busy", percent(run.occupied[row])),
        *_backlog(run),
    )
    return Limit(LimitKind.PROTOCOL, sentence, evidence, str(found.name[row]), (int(found.index[row]),), run.host_of(row).name)


def _fault(run: Observed) -> Limit | None:
    from_ns, to_ns = run.instances.from_ns, run.instances.to_ns
    for fault in run.experiment.faults:
        if fault.begins_ns is None or not _stops(run, fault):
            continue
        ends_ns = to_ns if fault.span_ns is None else fault.begins_ns + fault.span_ns
        share = (min(ends_ns, to_ns) - max(fault.begins_ns, from_ns)) / (to_ns - from_ns)
        if share >= MOSTLY:
            host = fault.host if isinstance(fault, HostFault) else None
            where = f" of {host}" if host else ""
            since = f"{fault.begins_ns / 1e9:g} s"
            sentence = (
                f"A fault limits this run: the {fault.title.lower()}{where}, which began at {since}, covers {percent(share)} of this time."
            )
            return Limit(LimitKind.FAULT, sentence, (Evidence(fault.title, f"from {since}"), *_backlog(run)), None, (), host)
    down = _down(run)
    if down is not None:
        sentence = f"A fault limits this run: {down} ran out of memory and is down."
        return Limit(LimitKind.FAULT, sentence, _backlog(run), None, (), down)
    return None


def _stops(run: Observed, fault: Any) -> bool:
    """Whether the query runs where the fault is, and stops there. Slow hosts and links are found by their load."""
    used = {run.machines[h].name for h in run.instances.host.tolist()}
    if isinstance(fault, HostFault):
        here = [row for row in range(len(run.instances)) if run.host_of(row).name == fault.host]
        served = run.instances.sums["served"][here].sum()
        return bool(here) and not isinstance(fault, SlowHost) and not (fault.loses_host and served)
    pairs = links_between(run.experiment.cluster, fault.sources, fault.targets)
    return bool(fault.holds) and any(run.machines[a].name in used and run.machines[b].name in used for a, b in pairs)


def _down(run: Observed) -> str | None:
    """Return a host that was lost and is not back for most of the span."""
    for frame in run.live:
        for death in frame.get("deaths", ()):
            if death["restart_at_s"] is None or death["restart_at_s"] > run.instances.to_ns / 1e9:
                host: str = death["host"]
                return host
    return None


def _full_memory(run: Observed) -> Limit | None:
    for host in run.machines:
        samples: Sequence[dict[str, Any]] = [
            sample for frame in run.live if (sample := (frame["hosts"].get(host.name) or {}).get("memory")) is not None
        ]
        full = [sample for sample in samples if sample["full"]]
        if samples and len(full) / len(samples) >= MOSTLY:
            share = len(full) / len(samples)
            sentence = (
                f"The memory of {host.name} limits this run: it is full {percent(share)} of the time, and sources there do not read then."
            )
            return Limit(
                LimitKind.COLLECTOR,
                sentence,
                (Evidence(f"Memory of {host.name} full", percent(share)), *_backlog(run)),
                None,
                (),
                host.name,
            )
    return None


def _backlog(run: Observed) -> tuple[Evidence, ...]:
    if not run.live:
        return ()
    return (Evidence("Backlog", f"{count(run.live[0]['backlog'])} to {count(run.live[-1]['backlog'])} records"),)
