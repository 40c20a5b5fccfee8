"""Finds what limits a run over a span.

The order of the questions:

1. Does something hold the whole run up: a rescale, a recovery, a fault, a full memory? Do jobs of an engine follow one another without a
   pause?
2. Which resources are saturated: instances, shared cores, links? The limit is the one furthest downstream, because what it lets through is
   what arrives; a relief upstream of it would only move the queue. A resource downstream counts only if much waits for it.
3. Do records wait for barriers, or for credits, although nothing is saturated?
4. If records pile up all the same, the limit is unclear. Otherwise nothing limits the run, and the resource closest to its limit is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.spec import Experiment
from engine.spec.experiment.engines.spark import SparkEngine
from engine.telemetry.instances import Measured

from . import network, processors, standing
from .limit import Evidence, Limit, LimitKind
from .observed import SATURATED, Observed, count, listed, percent

DRAIN_SHARE = 0.1
"""A saturated resource downstream of another is the limit if what waits for it lasts at least this share of what waits for the other."""

LEAST_STOPPED = 0.01
"""Stops of all sources that took a smaller share of the time explain nothing."""
OFTEN_STOPPED = 0.25
"""Sources that are stopped more than this cannot be helped by cores: they catch up in bursts, which fill the same queue again."""

PILING_UP = 0.05
"""Records pile up if the backlog grows by this share of the records that were read."""

JOBS_CORES = 0.5
"""Cores that are busy for this share of the time limit jobs more than the beginning of stages and tasks does."""

Candidate = processors.Candidate | network.LinkCandidate


def diagnose(experiment: Experiment, measured: Measured) -> Limit:
    """Return what limits the run over the span of the measurements."""
    run = Observed(experiment, measured)
    if not len(run.instances):
        return Limit(LimitKind.UNCLEAR, "No instance was active at this time.")
    if (held := standing.standing(run)) is not None:
        return held
    if (jobs := _by_jobs(run)) is not None:
        return jobs
    candidates: list[Candidate] = [*processors.saturated(run), *network.saturated(run)]
    waiting = [one for one in candidates if isinstance(one, network.LinkCandidate) or _holds_up(run, one)]
    if waiting:
        chosen = _furthest(run, waiting)
        limit = network.explained(run, chosen) if isinstance(chosen, network.LinkCandidate) else processors.explained(run, chosen)
        also = dict.fromkeys(one.operator for one in waiting if one is not chosen and one.operator != chosen.operator)
        return _with_others(limit, list(also))
    return standing.alignment(run) or network.credits(run) or _unsaturated(run)


def _holds_up(run: Observed, candidate: processors.Candidate) -> bool:
    """Whether records wait for this resource all the time; where instances take turns, at one or another of them."""
    return any(run.pressed[row] for row in candidate.rows) or sum(run.instances.waiting[row] for row in candidate.rows) >= SATURATED


def _furthest(run: Observed, candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that limits the run: the one for which most waits, or one downstream of it for which much waits, too."""
    drain_s = {id(one): _drain_s(run, one) for one in candidates}
    chosen = max(candidates, key=lambda one: drain_s[id(one)])
    while True:
        below = run.downstream(chosen.operator)
        further = [one for one in candidates if one.operator in below and drain_s[id(one)] >= DRAIN_SHARE * drain_s[id(chosen)]]
        if not further:
            return chosen
        chosen = max(further, key=lambda one: drain_s[id(one)])


def _drain_s(run: Observed, candidate: Candidate) -> float:
    return candidate.wait_s if isinstance(candidate, network.LinkCandidate) else run.drain_s(candidate.rows)


def _with_others(limit: Limit, others: list[str]) -> Limit:
    if not others:
        return limit
    more = f"{listed(others)} {'is' if len(others) == 1 else 'are'} at the limit, too."
    return replace(limit, also=tuple(others), sentence=f"{limit.sentence} {more}")


def _unsaturated(run: Observed) -> Limit:
    """Nothing is saturated, or nothing waits for what is."""
    closest = _closest(run)
    if run.live:
        first, last = run.live[0]["backlog"], run.live[-1]["backlog"]
        read = sum(run.instances.sums["served"][row] for operator in run.experiment.workload.sources for row in run.rows(operator))
        if last - first > PILING_UP * max(read, 1):
            if (stopped := _stopped(run)) is not None:
                return stopped
            where = max(range(len(run.instances)), key=run.waiting_records)
            sentence = (
                f"Unclear. {count(last)} records wait, {count(last - first)} more than at the start of this time, most of them at "
                f"{run.label(where)}, but nothing measured is at its limit. {closest.value}"
            )
            return Limit(LimitKind.UNCLEAR, sentence, (closest, Evidence("Backlog", f"{count(first)} to {count(last)} records")))
        rate = count(read / run.span_s)
        sentence = f"Nothing limits this run: it keeps up with its sources, at {rate} records/s. {closest.value}"
        return Limit(LimitKind.NOTHING, sentence, (Evidence("Backlog", f"{count(first)} to {count(last)} records"),))
    return Limit(LimitKind.UNCLEAR, f"Unclear: there are no frames of this time. {closest.value}")


def _stopped(run: Observed) -> Limit | None:
    """What an engine limits that stops all sources for some of the time: cores in the rest of it, or nothing but its switch."""
    if run.stopped < LEAST_STOPPED:
        return None
    engine = run.experiment.policies.engine.title
    switch = f"{engine} stopped all sources for {percent(run.stopped)} of the time, since a queue was too long"
    evidence = (Evidence("Sources stopped", percent(run.stopped)), _closest(run))
    group = max(run.groups, key=lambda one: one.load, default=None)
    if group is not None and run.stopped < OFTEN_STOPPED and group.load >= SATURATED * (1 - run.stopped):
        name = run.machines[group.host].name
        sentence = f"The cores of {name} limit this run: they were busy {percent(min(group.load, 1))} of the time, and {switch}."
        return Limit(LimitKind.CORES, sentence, evidence, host=name)
    return Limit(LimitKind.CREDITS, f"Backpressure limits this run, not its cores: {switch}.", evidence)


def _by_jobs(run: Observed) -> Limit | None:
    """What limits an engine that works in jobs, one after the other: cores, or the beginning of stages and tasks."""
    jobs, engine = run.jobs, run.experiment.policies.engine
    if jobs is None or not isinstance(engine, SparkEngine) or jobs.took_s < SATURATED * engine.batch_s:
        return None
    limits = "" if jobs.limit_per_s is None else f", and {engine.title} limits its sources to {count(jobs.limit_per_s)} records/s"
    group = max((one for one in run.groups if len(one.members) > 1), key=lambda one: one.load, default=None)
    load = 0.0 if group is None else group.load
    evidence = (
        Evidence("Job", f"{jobs.took_s:.2f} s of a batch interval of {engine.batch_s:g} s"),
        Evidence("Scheduling delay", f"{jobs.late_s:.2f} s"),
        Evidence("Cores busy", percent(min(load, 1))),
    )
    jobs_told = f"Jobs follow one another without a pause{limits}"
    if group is not None and load >= JOBS_CORES:
        name = run.machines[group.host].name
        sentence = f"The cores of {name} limit this run: they are busy {percent(min(load, 1))} of the time. {jobs_told}."
        return Limit(LimitKind.CORES, sentence, evidence, host=name)
    sentence = f"Beginning stages and tasks limits this run: cores are busy {percent(load)} of the time at most. {jobs_told}."
    return Limit(LimitKind.CREDITS, sentence, evidence)


def _closest(run: Observed) -> Evidence:
    occupied = run.occupied
    if run.jobs is not None:  # sources wait for the limit that the last job gave them
        sources = [row for operator in run.experiment.workload.sources for row in run.rows(operator)]
        occupied = occupied.copy()
        occupied[sources] = 0
    row = int(occupied.argmax())
    group = max(run.groups, key=lambda one: one.load, default=None)
    if group is not None and len(group.members) > 1 and group.load > run.occupied[row]:
        text = f"Closest to their limit are the cores of {run.machines[group.host].name}, busy {percent(min(group.load, 1))} of the time."
    else:
        text = f"Closest to its limit is {run.label(row)} on {run.host_of(row).name}, busy {percent(run.occupied[row])} of the time."
    return Evidence("Closest to the limit", text)
