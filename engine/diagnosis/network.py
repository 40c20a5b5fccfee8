"""Limits of links and of the credits of channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.spec.experiment.cluster import links_between, pair_links
from engine.spec.experiment.flow_control.buffers import Buffers
from engine.spec.experiment.flow_control.credits import Credits
from engine.telemetry.instances import Machines

from .limit import Evidence, Limit, LimitKind
from .observed import MOSTLY, SATURATED, Observed, count, listed, percent, seconds

WAIT_S = 1e-3
"""Messages that wait for a link less than this are not held up by it."""


class LinkCandidate(NamedTuple):
    """A saturated link.

    name: as a sentence names it. ends: sending and receiving host; of a host's outgoing link only the sender, of a trunk its name.
    operator: the operator whose records spend the most time there. wait_s: at the end of the span. load: share of the bandwidth for which
    records are sent, None if it is not measured.
    """

    name: str
    ends: tuple[str, ...]
    mbit_per_s: int
    operator: str
    wait_s: float
    load: float | None


def saturated(run: Observed) -> Iterator[LinkCandidate]:
    """Yield the links that were in use at the ends of nearly all frames."""
    cluster = run.experiment.cluster
    places = {host.name: h for h, host in enumerate(run.machines)}
    for host in run.machines:
        waits_ms = [frame["hosts"].get(host.name, {}).get("egress_wait_ms", 0) for frame in run.live]
        load = _load(run, run.hosts, host.name, host.egress_mbit_per_s)
        if _full(waits_ms) and load >= SATURATED:
            operator = _sender(run, {places[host.name]})
            name = f"The outgoing link of {host.name}"
            yield LinkCandidate(name, (host.name,), host.egress_mbit_per_s, operator, waits_ms[-1] / 1e3, load)
    for trunk in cluster.trunks:
        waits_ms = [frame.get("trunks", {}).get(trunk.name, {}).get("wait_ms", 0) for frame in run.live]
        load = _load(run, run.trunks, trunk.name, trunk.mbit_per_s)
        if _full(waits_ms) and load >= SATURATED:
            operator = _sender(run, {sender for sender, _ in links_between(cluster, trunk.sources, trunk.targets)})
            yield LinkCandidate(f"The trunk {trunk.name}", (trunk.name,), trunk.mbit_per_s, operator, waits_ms[-1] / 1e3, load)
    widths = pair_links(cluster)
    for (source, target), waits_ms in _link_waits_ms(run).items():
        mbit_per_s = widths[places[source], places[target]].mbit_per_s
        if mbit_per_s is not None and _full(waits_ms):
            name = f"The link from {source} to {target}"
            yield LinkCandidate(name, (source, target), mbit_per_s, _sender(run, {places[source]}), waits_ms[-1] / 1e3, None)


def explained(run: Observed, candidate: LinkCandidate) -> Limit:
    used = "" if candidate.load is None else f" records for {percent(candidate.load)} of its {candidate.mbit_per_s} Mbit/s are sent, and"
    sentence = f"{candidate.name} limits this run:{used} a message waits {seconds(candidate.wait_s)} for it."
    evidence = [Evidence("Bandwidth", f"{candidate.mbit_per_s} Mbit/s"), Evidence("Wait for the link", seconds(candidate.wait_s))]
    if candidate.load is not None:
        evidence.append(Evidence("Sent, of the bandwidth", percent(candidate.load)))
    evidence.append(Evidence("Most time is lost by records of", candidate.operator))
    host = candidate.ends[0] if candidate.ends[0] in run.hosts.name else None
    return Limit(LimitKind.LINK, sentence, tuple(evidence), candidate.operator, (), host, candidate.ends)


def credits(run: Observed) -> Limit | None:
    """Senders are blocked although no receiver is busy: records and credits take too long for so few credits."""
    flow = run.experiment.policies.flow_control
    if not isinstance(flow, Credits | Buffers) or not len(run.instances):
        return None
    worst = int(run.blocked.argmax())
    if run.blocked[worst] < MOSTLY or not run.pressed[worst]:
        return None
    operator = str(run.instances.name[worst])
    receivers = [edge.target for edge in run.experiment.query.edges if edge.source == operator]
    rows = np.concatenate([run.rows(name) for name in receivers])
    if not len(rows) or run.occupied[rows].max() >= SATURATED:
        return None
    holds = f"{flow.per_channel} records" if isinstance(flow, Credits) else f"{flow.per_channel} buffers of {flow.size_bytes} bytes"
    found = run.instances
    way_s = float(found.sums["network_ns"][worst] / max(found.sums["sent"][worst], 1)) / 1e9
    sentence = (
        f"Credits limit this run: {run.label(worst)} is blocked {percent(run.blocked[worst])} of the time, while {listed(receivers)} "
        f"{'is' if len(receivers) == 1 else 'are'} busy at most {percent(run.occupied[rows].max())}. A channel holds {holds}, "
        f"and each record takes {seconds(way_s)} to arrive before its credit can return."
    )
    evidence = (
        Evidence(f"{run.label(worst)} blocked", percent(run.blocked[worst])),
        Evidence("Capacity of a channel", holds),
        Evidence("Way of a record", seconds(way_s)),
        Evidence("Busiest receiver", f"{run.label(int(rows[run.occupied[rows].argmax()]))}, {percent(run.occupied[rows].max())}"),
        Evidence("Waiting", f"{count(run.waiting_records(worst))} records"),
    )
    return Limit(LimitKind.CREDITS, sentence, evidence, operator, (int(found.index[worst]),), run.host_of(worst).name)


def _load(run: Observed, machines: Machines, name: str, mbit_per_s: int) -> float:
    """Return the share of the bandwidth for which messages were sent; above 1 they pile up."""
    if name not in machines.name:
        return 0.0
    return float(machines.egress_bytes[machines.name.index(name)]) * 8e-6 / (mbit_per_s * run.span_s)


def _full(waits_ms: list[float]) -> bool:
    waits = np.array(waits_ms)
    return bool(len(waits)) and bool((waits > 0).mean() >= SATURATED) and float(waits[-1]) >= WAIT_S * 1e3


def _link_waits_ms(run: Observed) -> dict[tuple[str, str], list[float]]:
    """Return how long messages waited for each link with a bandwidth of its own, by frame. Frames name only the links in use."""
    waits_ms: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * len(run.live))
    for n, frame in enumerate(run.live):
        for link in frame.get("links", []):
            waits_ms[link["source"], link["target"]][n] = link["wait_ms"]
    return waits_ms


def _sender(run: Observed, hosts: set[int]) -> str:
    """Return the operator on these hosts whose records spent the most time on the network."""
    here = np.flatnonzero(np.isin(run.instances.host, list(hosts)))
    if not len(here):
        return run.names[0]
    return str(run.instances.name[here[run.instances.sums["network_ns"][here].argmax()]])
