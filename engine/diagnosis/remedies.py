"""Changes of the document that would relieve what limits a run. Each is a complete document of its own, to be run and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from engine.spec import Experiment, InvalidExperiment
from engine.spec.base.family import kind_of
from engine.spec.experiment.cluster import Cluster, Host, host_names
from engine.spec.experiment.document import upgrade
from engine.spec.experiment.engines.base import BROKER, DRIVER, DrivenEngine, receiver_of, topic_of
from engine.spec.experiment.flow_control.buffers import Buffers
from engine.spec.rules.scalable import vertices
from engine.spec.rules.validation import Context, load

from .limit import Limit, LimitKind

Document = dict[str, Any]

FACTOR = 2
"""A remedy doubles a resource: enough to see whether it helps. What else is at its limit shows in the diagnosis of the new run."""

MORE_CREDITS, RARER = 8, 4


@dataclass(frozen=True)
class Remedy:
    """text: what changes, in words. document: the changed document, valid, as it would be written. experiment: the same, loaded."""

    name: str
    text: str
    document: Document
    experiment: Experiment


def remedies(experiment: Experiment, written: Mapping[str, Any], limit: Limit, context: Context) -> list[Remedy]:
    """Return the remedies for a limit that give a valid document, the likeliest first. written: the run's document."""
    found = []
    for name, text, change in _changes(experiment, limit):
        document = deepcopy(dict(upgrade(written)))
        change(document)
        try:
            found.append(Remedy(name, text, document, load(document, context)))
        except InvalidExperiment:  # not every change fits every document: a source without partitions for more instances, say
            continue
    return [remedy for remedy in found if remedy.experiment.hash != experiment.hash]


Change = tuple[str, str, Callable[[Document], None]]


def _changes(experiment: Experiment, limit: Limit) -> Iterator[Change]:
    kind, limit = limit.kind, _as_drawn(experiment, limit)
    if kind is LimitKind.CORES:
        yield from _host(experiment, limit)
    if kind in (LimitKind.INSTANCES, LimitKind.SOURCE, LimitKind.SKEW) and limit.operator is not None:
        if kind is LimitKind.SKEW:
            yield from _partitioning(experiment, limit.operator)
        yield from _parallelism(experiment, limit.operator)
        yield from _host(experiment, limit)
    if kind is LimitKind.LINK:
        yield from _bandwidth(experiment, limit)
        if isinstance(engine := experiment.policies.engine, DrivenEngine):
            yield from _driver(engine, limit)
    if kind is LimitKind.CREDITS:
        yield from _credits(experiment)
    if kind is LimitKind.COLLECTOR and limit.host is not None:
        yield from _memory(experiment, limit.host)
    if kind is LimitKind.PROTOCOL:
        yield from _checkpoints(experiment)
    if kind in (LimitKind.FAULT, LimitKind.RECOVERY):
        yield "no-faults", "Without faults", lambda document: document.update(faults=[])


def _as_drawn(experiment: Experiment, limit: Limit) -> Limit:
    """The limit with the source in place of what an engine put behind it, and without hosts that are not in the document."""
    source = next((id for id in experiment.workload.sources if limit.operator in (topic_of(id), receiver_of(id))), limit.operator)
    known = {name for host in experiment.cluster.hosts for name in host_names(host)}
    return replace(limit, operator=source, host=limit.host if limit.host in known else None)


def _driver(engine: DrivenEngine, limit: Limit) -> Iterator[Change]:
    """The links between an engine's driver and the cluster."""
    fields = {"trunk_mbit_per_s": (engine.driver.trunk_mbit_per_s, f"Trunk {DRIVER}", "")}
    fields["egress_mbit_per_s"] = (engine.driver.egress_mbit_per_s, "All hosts of the driver", " egress")
    name = "trunk_mbit_per_s" if limit.link == (DRIVER,) else "egress_mbit_per_s"
    now, what, where = fields[name]
    if now is not None and len(limit.link) == 1 and limit.link[0].startswith((DRIVER, BROKER)):
        text = f"{what}: {now * FACTOR} Mbit/s{where} instead of {now}"
        yield "bandwidth", text, _setting("policies", "engine", "driver", name, value=now * FACTOR)


def _parallelism(experiment: Experiment, operator: str) -> Iterator[Change]:
    together = next(vertex for vertex in vertices(experiment.query) if operator in vertex)
    now = experiment.operator(operator).parallelism

    def change(document: Document) -> None:
        for spec in document["query"]["operators"]:
            if spec["id"] in together:
                spec["parallelism"] = now * FACTOR

    names = operator if len(together) == 1 else f"{operator} (and {', '.join(id for id in together if id != operator)})"
    yield "instances", f"{names}: {now * FACTOR} instances instead of {now}", change


def _partitioning(experiment: Experiment, operator: str) -> Iterator[Change]:
    inputs = [edge for edge in experiment.query.edges if edge.target == operator]
    hashed = [k for k, edge in enumerate(experiment.query.edges) if edge in inputs and edge.partitioning.keying is not None]
    if not hashed:
        return

    def rebalance(document: Document) -> None:
        for k in hashed:
            document["query"]["edges"][k]["partitioning"] = {"kind": "rebalance"}

    def finer(document: Document) -> None:
        for k in hashed:
            document["query"]["edges"][k]["partitioning"]["key_groups"] = groups * 8

    yield "rebalance", f"Rebalance the input of {operator} instead of hashing it by key", rebalance
    groups = max(keying.groups for edge in inputs if (keying := edge.partitioning.keying) is not None)
    if groups:
        yield "key-groups", f"{groups * 8} key groups at {operator} instead of {groups}", finer


def _host(experiment: Experiment, limit: Limit) -> Iterator[Change]:
    if limit.host is None:
        return
    place = next(k for k, host in enumerate(experiment.cluster.hosts) if limit.host in host_names(host))
    host = experiment.cluster.hosts[place]
    what = _hosts_like(host, limit.host)

    def faster(document: Document) -> None:
        document["cluster"]["hosts"][place]["speed"] = host.speed * FACTOR

    def wider(document: Document) -> None:
        document["cluster"]["hosts"][place]["cores"] = host.cores * FACTOR

    def more(document: Document) -> None:
        document["cluster"]["hosts"][place]["count"] = host.count * FACTOR if host.count else None

    if limit.kind is LimitKind.CORES:
        if host.count is not None:
            yield "hosts", f"{host.count * FACTOR} hosts {host.name} instead of {host.count}", more
        yield "cores", f"{what}: {host.cores * FACTOR:g} cores instead of {host.cores:g}", wider
    yield "speed", f"{what}: speed {host.speed * FACTOR:g} x instead of {host.speed:g} x", faster


def _hosts_like(host: Host, name: str) -> str:
    """Name the machines that change together with this one."""
    return name if host.count is None else f"All {host.count} hosts {host.name}"


def _bandwidth(experiment: Experiment, limit: Limit) -> Iterator[Change]:
    cluster = experiment.cluster
    if len(limit.link) == 2:
        yield from _link_bandwidth(cluster, *limit.link)
    for k, trunk in enumerate(cluster.trunks):
        if (trunk.name,) == limit.link:
            wide = trunk.mbit_per_s * FACTOR
            yield (
                "bandwidth",
                f"Trunk {trunk.name}: {wide} Mbit/s instead of {trunk.mbit_per_s}",
                _setting("cluster", "trunks", k, "mbit_per_s", value=wide),
            )
    for k, host in enumerate(cluster.hosts):
        if len(limit.link) == 1 and limit.link[0] in host_names(host):
            wide = host.egress_mbit_per_s * FACTOR
            what = _hosts_like(host, limit.link[0])
            yield (
                "bandwidth",
                f"{what}: {wide} Mbit/s egress instead of {host.egress_mbit_per_s}",
                _setting("cluster", "hosts", k, "egress_mbit_per_s", value=wide),
            )


def _link_bandwidth(cluster: Cluster, source: str, target: str) -> Iterator[Change]:
    """Widen the link between two hosts where its bandwidth is given: at the link itself, or else between their regions."""
    for k, link in enumerate(cluster.links):
        if (link.source, link.target) == (source, target) and link.mbit_per_s is not None:
            wide = link.mbit_per_s * FACTOR
            yield (
                "bandwidth",
                f"Link from {source} to {target}: {wide} Mbit/s instead of {link.mbit_per_s}",
                _setting("cluster", "links", k, "mbit_per_s", value=wide),
            )
            return
    region_of = {name: host.group for host in cluster.hosts for name in host_names(host)}
    for k, between in enumerate(cluster.region_links):
        if (region_of[source], region_of[target]) in between.ways and between.mbit_per_s is not None:
            wide = between.mbit_per_s * FACTOR
            yield (
                "bandwidth",
                f"Links from region {region_of[source]} to {region_of[target]}: {wide} Mbit/s instead of {between.mbit_per_s}",
                _setting("cluster", "region_links", k, "mbit_per_s", value=wide),
            )


def _credits(experiment: Experiment) -> Iterator[Change]:
    flow = experiment.policies.flow_control
    now = getattr(flow, "per_channel", None)
    if now is not None:
        more, what = now * MORE_CREDITS, "buffers" if isinstance(flow, Buffers) else "credits"
        yield what, f"{more} {what} per channel instead of {now}", _setting("policies", "flow_control", "per_channel", value=more)
    yield "unbounded", "Unbounded channels", _setting("policies", "flow_control", value={"kind": "unbounded"})


def _memory(experiment: Experiment, name: str) -> Iterator[Change]:
    for k, host in enumerate(experiment.cluster.hosts):
        if name in host_names(host):
            more = host.memory_mb * FACTOR
            what = _hosts_like(host, name)
            yield (
                "memory",
                f"{what}: {more:g} MB of memory instead of {host.memory_mb:g} MB",
                _setting("cluster", "hosts", k, "memory_mb", value=more),
            )


def _checkpoints(experiment: Experiment) -> Iterator[Change]:
    protocol = experiment.policies.checkpointing
    interval_s = getattr(protocol, "interval_s", None)
    if interval_s is None:
        return
    rarer = interval_s * RARER
    yield (
        "interval",
        f"A checkpoint every {rarer:g} s instead of {interval_s:g} s",
        _setting("policies", "checkpointing", "interval_s", value=rarer),
    )
    if kind_of(type(protocol)) == "coordinated":
        yield (
            "unaligned",
            "Unaligned instead of aligned checkpoints",
            _setting("policies", "checkpointing", "kind", value="coordinated_unaligned"),
        )
    yield "no-checkpoints", "Without checkpoints, to see what they cost", _setting("policies", "checkpointing", value={"kind": "none"})


def _setting(*path: str | int, value: Any) -> Callable[[Document], None]:
    """Return a change that sets the value at a path, whose parents it creates where the document leaves them to their defaults."""

    def change(document: Document) -> None:
        node: Any = document
        for step in path[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        node[path[-1]] = value

    return change
