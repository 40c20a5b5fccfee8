"""Ranked placements of an experiment: candidates, what models predict of each, and the choice (Heinrich et al. 2024, section V)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.core.random import Chance
from engine.costmodels.encoding import Encoder, Floats, Outside
from engine.costmodels.ensembles import Predicted, Vote
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.metrics import METRICS, Metric
from engine.placement.heuristics import HEURISTICS
from engine.placement.optimiser import Choice, choose
from engine.placement.space import Broken, Placed, Space, space_of
from engine.spec import Experiment
from engine.spec.experiment.delays.fetch import FetchDelay
from engine.spec.experiment.delays.none import NoDelay
from engine.spec.rules.flow import Datasets
from engine.spec.rules.validation import placement_of

from .describe import Described, describe
from .reasons import Reason, reasons

CANDIDATES = 25
"""Placements that are drawn, besides the present one and those of the heuristics."""

GOALS = tuple(name for name, metric in METRICS.items() if not metric.classifies)
PRESENT, DRAWN = "present", "drawn"
LEARNED_PRICES = "costream_2024"


class Member(Protocol):
    """One model of one cost."""

    @property
    def metric(self) -> Metric: ...

    @property
    def encoder(self) -> Encoder: ...

    def predict(self, graphs: Sequence[JointGraph]) -> Floats: ...


class NoAdvice(ValueError):
    """There is nothing to suggest; the message says why and what to do."""


@dataclass(frozen=True)
class Candidate:
    """hosts: names by operator id. origin: `present`, `drawn`, or the name of a heuristic. costs: by metric, the prediction of each member;
    of classes the probability of the good one. broken: the rule that it breaks, if any."""

    placed: Placed
    hosts: dict[str, str]
    origin: str
    costs: dict[str, tuple[float, ...]]
    broken: Broken | None

    def predicted(self, goal: str) -> Predicted:
        votes = [Vote.of([of > 0.5 for of in self.costs[name]]) for name in ("success", "flows")]
        return Predicted(self.costs[goal], *votes)


@dataclass(frozen=True)
class Advice:
    """candidates: all that were considered. choice: their order. outside: values that training has not seen. cautions: why predictions may
    be off. reasons: what would change the cost of the best candidate."""

    goal: str
    candidates: tuple[Candidate, ...]
    choice: Choice
    outside: tuple[Outside, ...]
    cautions: tuple[str, ...]
    reasons: tuple[Reason, ...]

    @property
    def best(self) -> Candidate:
        return self.candidates[self.choice.best]

    def as_json(self) -> dict[str, Any]:
        return {
            "goal": self.goal,
            "order": list(self.choice.order),
            "relaxed": list(self.choice.relaxed),
            "cautions": list(self.cautions),
            "outside": [vars(one) for one in self.outside],
            "reasons": [reason.as_json() for reason in self.reasons],
            "candidates": [
                {
                    "hosts": one.hosts,
                    "origin": one.origin,
                    "costs": {name: list(members) for name, members in one.costs.items()},
                    "mean": {name: sum(members) / len(members) for name, members in one.costs.items()},
                    "spread": max(one.costs[self.goal]) - min(one.costs[self.goal]),
                    "votes": {name: sum(of > 0.5 for of in one.costs[name]) for name in ("success", "flows")},
                    "members": len(one.costs["success"]),
                    "filtered": self.choice.filtered.get(n),
                    "rule": one.broken and one.broken.rule,
                }
                for n, one in enumerate(self.candidates)
            ],
        }


def suggest(
    experiment: Experiment,
    datasets: Datasets,
    members: Mapping[str, Sequence[Member]],
    goal: str,
    pinned: Mapping[str, str] | None = None,
    forbidden: Collection[str] = (),
    count: int = CANDIDATES,
    seed: int = 1,
) -> Advice:
    """members: by metric, at least those of the goal, of success and of flows. pinned: host names by operator id. forbidden: names of hosts
    that nothing runs on, but what is pinned there. The placement that the experiment has is a candidate, too, whatever its rules.

    Raises NotDescribed, NoAdvice.
    """
    _check(experiment, members, goal, pinned or {}, forbidden)
    described = describe(experiment, datasets)
    space = _in_order(space_of(experiment.query, experiment.expanded_hosts(), pinned, forbidden), described)
    present = tuple(placement_of(experiment)[id][0] for id in described.ids)
    placements = _placements(space, present, described, count, seed)
    graphs = [joint_graph(described.query, described.hosts, placed, described.selectivities) for placed in placements]
    costs = {name: [of.predict(graphs) for of in some] for name, some in members.items()}
    names = [host.name for host in experiment.expanded_hosts()]
    candidates = tuple(
        Candidate(
            placed,
            {id: names[host] for id, host in zip(described.ids, placed, strict=True)},
            origin,
            {name: tuple(float(of[n]) for of in found) for name, found in costs.items()},
            space.broken(placed),
        )
        for n, (placed, origin) in enumerate(placements.items())
    )
    choice = choose(list(placements), [one.predicted(goal) for one in candidates], METRICS[goal].highest)
    encoder = members[goal][0].encoder
    outside = tuple(dict.fromkeys(one for graph in graphs for one in encoder.outside(graph)))
    suggested = candidates[choice.best].placed
    strange = set(encoder.outside(graphs[choice.best]))

    def knows(graph: JointGraph, placed: Placed) -> bool:
        """Whether nothing of it is outside the training range that the suggestion itself is not, and it obeys the rules."""
        return set(encoder.outside(graph)) <= strange and (placed == suggested or space.broken(placed) is None)

    why = reasons(described, names, present, suggested, lambda graphs: _mean(members[goal], graphs), knows)
    return Advice(goal, candidates, choice, outside, tuple(_cautions(experiment)), why)


def _mean(members: Sequence[Member], graphs: Sequence[JointGraph]) -> Floats:
    found: Floats = np.mean([member.predict(graphs) for member in members], axis=0)
    return found


def _check(
    experiment: Experiment, members: Mapping[str, Sequence[Member]], goal: str, pinned: Mapping[str, str], forbidden: Collection[str]
) -> None:
    if goal not in GOALS:
        raise NoAdvice(f"goal is '{goal}'; it must be one of {', '.join(GOALS)}")
    for name in (goal, "success", "flows"):
        if not members.get(name):
            raise NoAdvice(f"there is no model of {METRICS[name].title.lower()}; train one")
    hosts = {host.name for host in experiment.expanded_hosts()}
    operators = {spec.id for spec in experiment.query.operators}
    for operator, host in pinned.items():
        if operator not in operators:
            raise NoAdvice(f"{operator} is pinned, but the query has no such operator; it has {', '.join(sorted(operators))}")
        if host not in hosts:
            raise NoAdvice(f"{operator} is pinned to {host}, which the cluster does not have; it has {', '.join(sorted(hosts))}")
    for host in forbidden:
        if host not in hosts:
            raise NoAdvice(f"{host} is forbidden, but the cluster has no such host; it has {', '.join(sorted(hosts))}")
    if len(hosts) == 1:
        raise NoAdvice(f"the cluster has one host, {next(iter(hosts))}, so there is nothing to choose; add hosts")
    if hosts <= set(forbidden) and len(pinned) < len(operators):
        raise NoAdvice("every host is forbidden; allow at least one")


def _in_order(space: Space, described: Described) -> Space:
    """The space of the experiment's operators, in the order of the description."""
    place = {number: n for n, number in enumerate(described.order)}
    edges = tuple((place[sender], place[receiver]) for sender, receiver in space.edges)
    hosts = None if space.hosts is None else tuple(space.hosts[number] for number in described.order)
    return Space(space.operators, edges, space.bins, hosts)


def _placements(space: Space, present: Placed, described: Described, count: int, seed: int) -> dict[Placed, str]:
    """Origins by placement. Raises NoAdvice if the rules leave none but the present one."""
    found = {present: PRESENT}
    strength = [host.cpu_percent for host in described.hosts]
    for name, heuristic in HEURISTICS.items():
        placed = heuristic(space, strength)
        if placed is not None:
            found.setdefault(placed, name)
    drawn = space.candidates(count, Chance(seed, "candidates"))
    for placed in drawn:
        found.setdefault(placed, DRAWN)
    if not drawn and len(found) == 1:
        raise NoAdvice(
            "no placement obeys the rules: data flows to hosts of the same strength or more, and never returns to a host; "
            "pin fewer operators, or allow more hosts"
        )
    return found


def _cautions(experiment: Experiment) -> list[str]:
    found = []
    if experiment.price_list != LEARNED_PRICES:
        found.append(f"models were trained with the price list {LEARNED_PRICES}, and this experiment has {experiment.price_list}")
    delayed = sorted(id for id, source in experiment.workload.sources.items() if not isinstance(source.disorder, NoDelay | FetchDelay))
    if delayed:
        found.append(
            f"records of {', '.join(delayed)} are delayed before they are in the log, which end-to-end latency counts and no model knows"
        )
    return found
