"""The document's network as arrays, and the times at which its links change."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from engine.core import layout as L
from engine.core.control.links import change_links, release
from engine.core.tables import Words
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.experiment.cluster import links_between, pair_links
from engine.spec.experiment.faults.link_fault import LinkFault

Pair = tuple[int, int]


@dataclass(frozen=True)
class Change:
    """State of a link from a given time on."""

    link: int  # row of the link
    up_ns: int  # messages sent earlier wait until then; 0: none waits
    latency_ns: int


@dataclass(frozen=True)
class Network:
    """Tables of the network. Hosts are numbered as in the document, followed by the trunks."""

    latency: Words  # (hosts, hosts) ns, or -1 - the row of the pair's link
    link: Words
    trunks: list[str]
    trunk_mbit_per_s: list[int]
    changes: dict[int, list[Change]]  # by time


def lower(experiment: Experiment) -> Network:
    """Lower the network. Links that differ from the default get a row, ordered by source and target."""
    cluster, hosts = experiment.cluster, experiment.expanded_hosts()
    machines = len(hosts)
    latency = np.repeat([[host.egress_latency_ns] for host in hosts], machines, axis=1).astype(np.int64)
    mbit: dict[Pair, int] = {}
    for pair, link in pair_links(cluster).items():
        if link.latency_ns is not None:
            latency[pair] = link.latency_ns
        if link.mbit_per_s is not None:
            mbit[pair] = link.mbit_per_s
    trunk_of = {
        pair: machines + t for t, trunk in enumerate(cluster.trunks) for pair in links_between(cluster, trunk.sources, trunk.targets)
    }
    faults = [(fault, _links_of(experiment, fault)) for fault in experiment.faults if isinstance(fault, LinkFault)]
    pairs = sorted({*mbit, *trunk_of, *(pair for _, befallen in faults for pair in befallen)})
    rows = np.zeros((max(len(pairs), 1), L.LINK_COLUMNS), np.int64)
    rows[:, [L.LINK_HELD, L.LINK_HELD_LAST]] = -1
    changes: dict[int, list[Change]] = {}
    for k, pair in enumerate(pairs):
        rows[k, L.LINK_SOURCE], rows[k, L.LINK_TARGET] = pair
        rows[k, L.LINK_LATENCY], rows[k, L.LINK_MBIT] = latency[pair], mbit.get(pair, 0)
        rows[k, L.LINK_INBOX] = trunk_of.get(pair, pair[1])
        for time_ns, change in _timeline(k, int(latency[pair]), [fault for fault, befallen in faults if pair in befallen]):
            changes.setdefault(time_ns, []).append(change)
        latency[pair] = -1 - k
    return Network(latency, rows, [trunk.name for trunk in cluster.trunks], [trunk.mbit_per_s for trunk in cluster.trunks], changes)


def _links_of(experiment: Experiment, fault: LinkFault) -> set[Pair]:
    pairs = links_between(experiment.cluster, fault.sources, fault.targets)
    return {*pairs, *((b, a) for a, b in pairs if fault.both_ways)}


def _timeline(k: int, latency_ns: int, faults: list[LinkFault]) -> list[tuple[int, Change]]:
    """Times at which link `k` changes, with its state from then on."""
    spans = [(fault.from_ns, L.FAR if fault.to_ns is None else fault.to_ns, fault) for fault in faults]
    found = []
    for time in sorted({moment for span in spans for moment in span[:2] if moment < L.FAR}):
        up_ns, ends = 0, [time]
        while ends:  # partitions that overlap or touch are one
            ends = [end for begin, end, fault in spans if fault.holds and begin <= max(time, up_ns) < end]
            up_ns = max([up_ns, *ends])
        added = sum(fault.added_ns for begin, end, fault in spans if begin <= time < end)
        found.append((time, Change(k, up_ns, latency_ns + added)))
    return found


class LinkFaults:
    """Control that changes links at their times, between the last instant before a time and the first one at it. Stateless."""

    def __init__(self, changes: dict[int, list[Change]]):
        self._changes = changes
        self._times = sorted(changes)

    def next_ns(self, now_ns: int) -> int:
        """The next stop after `now_ns`: one nanosecond before a change."""
        at = bisect_right(self._times, now_ns + 1)
        return self._times[at] - 1 if at < len(self._times) else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        """Apply the changes of the next nanosecond. Everything at times <= now_ns has happened."""
        changes = self._changes.get(now_ns + 1)
        if changes is None:
            return
        change_links(world, [(change.link, change.up_ns, change.latency_ns) for change in changes])
        for change in changes:
            if change.up_ns == 0:
                release(world, change.link, now_ns + 1)
