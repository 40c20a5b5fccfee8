"""Checks of links, trunks and link faults: known hosts and regions, no contradictions, and faults within the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.problems import Problem, pointer, suggestion
from ..base.words import shortened
from ..experiment.cluster import Cluster, host_names, hosts_by_region, links_between, machines_named
from ..experiment.faults.link_fault import LinkFault
from .draft import Draft

Pair = tuple[int, int]


def network_problems(draft: Draft, links_max: int) -> Iterator[Problem]:
    cluster = draft.cluster
    if cluster is None or draft.hosts is None:
        return
    pairs: set[Pair] = set()
    yield from _region_links(cluster, pairs)
    yield from _links(cluster)
    yield from _trunks(cluster, pairs)
    yield from _faults(draft, cluster, pairs)
    if len(pairs) > links_max:
        message = (
            f"trunks, faults and bandwidths of regions affect {len(pairs):,} links, {len(pairs) - links_max:,} above the budget; "
            f"name fewer hosts, for at most {links_max:,} in total"
        )
        limited = any(link.mbit_per_s is not None for link in cluster.region_links)
        at = ("cluster", "trunks") if cluster.trunks else ("cluster", "region_links") if limited else ("faults",)
        yield Problem(pointer(*at), "budget", message, len(pairs))


def _region_links(cluster: Cluster, concerned: set[Pair]) -> Iterator[Problem]:
    regions = hosts_by_region(cluster)
    given: dict[tuple[str, str], int] = {}
    for index, link in enumerate(cluster.region_links):
        at = ("cluster", "region_links", index)
        unknown = [(end, name) for end, name in (("source", link.source), ("target", link.target)) if name not in regions]
        for end, name in unknown:
            message = f"{end} is '{name}', a region without hosts; name one of {shortened(', '.join(regions))}, or put a host in it"
            yield Problem(pointer(*at, end), "unknown_region", message, name, suggestion(name, regions))
        if unknown:
            continue
        if link.source == link.target and len(regions[link.source]) == 1:
            message = f"target is '{link.target}', the source itself, which has a single host and so no link within it; name another region"
            yield Problem(pointer(*at, "target"), "no_link", message, link.target)
        for source, target in link.ways:
            first = given.setdefault((source, target), index)
            if first != index:
                message = f"the links from region '{source}' to '{target}' are given by entries {first + 1} and {index + 1}; keep one"
                yield Problem(pointer(*at), "duplicate_link", message, f"{source} -> {target}")
                break
        if link.mbit_per_s is not None:
            concerned.update((a, b) for source, target in link.ways for a in regions[source] for b in regions[target] if a != b)


def _links(cluster: Cluster) -> Iterator[Problem]:
    machines = {name for host in cluster.hosts for name in host_names(host)}
    seen: set[tuple[str, str]] = set()
    for index, link in enumerate(cluster.links):
        for end, name in (("source", link.source), ("target", link.target)):
            if name not in machines:
                message = f"{end} is '{name}', which the cluster does not have; name one of its hosts"
                yield Problem(pointer("cluster", "links", index, end), "unknown_host", message, name, suggestion(name, machines))
        if link.source == link.target:
            message = f"target is '{link.target}', the source itself; within a host local_latency_ns applies, so name another host"
            yield Problem(pointer("cluster", "links", index, "target"), "same_host", message, link.target)
        if (link.source, link.target) in seen:
            message = f"the link from '{link.source}' to '{link.target}' is given twice; keep one"
            yield Problem(pointer("cluster", "links", index), "duplicate_link", message, f"{link.source} -> {link.target}")
        seen.add((link.source, link.target))


def _trunks(cluster: Cluster, concerned: set[Pair]) -> Iterator[Problem]:
    named = machines_named(cluster)
    names = [name for host in cluster.hosts for name in host_names(host)]
    trunk_of: dict[Pair, str] = {}
    seen: set[str] = set()
    for index, trunk in enumerate(cluster.trunks):
        at = ("cluster", "trunks", index)
        if trunk.name in seen:
            message = f"two trunks have the name '{trunk.name}'; rename one"
            yield Problem(pointer(*at, "name"), "duplicate_name", message, trunk.name)
        seen.add(trunk.name)
        problems = [*_unknown_ends(at, trunk.sources, trunk.targets, named)]
        yield from problems
        if problems:
            continue
        pairs = links_between(cluster, trunk.sources, trunk.targets)
        if not pairs:
            yield _no_link(at, trunk.sources, trunk.targets)
        twice = next((pair for pair in pairs if pair in trunk_of), None)
        if twice is not None:
            link = f"{names[twice[0]]} -> {names[twice[1]]}"
            message = (
                f"the link {link} is in the trunks '{trunk_of[twice]}' and '{trunk.name}'; a message passes one trunk, so keep it in one"
            )
            yield Problem(pointer(*at), "two_trunks", message, link)
        trunk_of |= {pair: trunk.name for pair in pairs if pair not in trunk_of}
    concerned.update(trunk_of)


def _faults(draft: Draft, cluster: Cluster, concerned: set[Pair]) -> Iterator[Problem]:
    named = machines_named(cluster)
    workload = draft.workload
    for index, fault in draft.faults.items():
        if not isinstance(fault, LinkFault):
            continue
        at = ("faults", index)
        problems = [*_unknown_ends(at, fault.sources, fault.targets, named)]
        yield from problems
        if not problems:
            pairs = links_between(cluster, fault.sources, fault.targets)
            if not pairs:
                yield _no_link(at, fault.sources, fault.targets)
            concerned.update(pairs, ((b, a) for a, b in pairs if fault.both_ways))
        if workload is None:
            continue
        end_s = workload.horizon_s + (workload.drain_limit_s if workload.drain else 0.0)
        if fault.from_s >= end_s:
            message = (
                f"from_s is {fault.from_s:g}, but the run ends at {end_s:g} s at the latest; choose an earlier time, or remove the fault"
            )
            yield Problem(pointer(*at, "from_s"), "outside_the_run", message, fault.from_s)
        elif fault.to_s is not None and fault.to_s > end_s:
            message = f"to_s is {fault.to_s:g}, after the run's end at {end_s:g} s; the fault lasts until the end of the run"
            yield Problem(pointer(*at, "to_s"), "outside_the_run", message, fault.to_s, severity="warning")


def _unknown_ends(
    at: tuple[str | int, ...], sources: Sequence[str], targets: Sequence[str] | None, named: Mapping[str, list[int]]
) -> Iterator[Problem]:
    for end, names in (("sources", sources), ("targets", targets or ())):
        for position, name in enumerate(names):
            if name not in named:
                message = f"{end} names '{name}', which the cluster does not have; name one of its hosts"
                yield Problem(pointer(*at, end, position), "unknown_host", message, name, suggestion(name, named))


def _no_link(at: tuple[str | int, ...], sources: Sequence[str], targets: Sequence[str] | None) -> Problem:
    if targets is None:
        message = "sources names all hosts of the cluster, so no target is left; name the targets, or fewer sources"
        return Problem(pointer(*at, "sources"), "no_link", message, list(sources))
    message = f"targets names only the source itself ({', '.join(targets)}); name another host"
    return Problem(pointer(*at, "targets"), "no_link", message, list(targets))
