"""Costs of a placement by textbook formulas: loads of hosts and links, and the waiting that follows (specification, section 9, point 5).

It knows the prices of the modelled cluster, which no learned model does, and no other mechanism of it. A model that does not beat it has
learned nothing that needs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.experiments import ENVELOPE_BYTES, PRICES, VALUE_BYTES
from engine.costmodels.encoding import Floats
from engine.costmodels.features import JointGraph, Node
from engine.costmodels.metrics import Metric
from engine.prices import PRICE_LISTS

BUSIEST = 0.98
"""Load of a host from which waiting does not grow any more."""

SPAN_S = 40.0
"""Time over which records of an overloaded query pile up."""

PROCESS_MB = 450.0
KINDS = {
    "source": "source",
    "filter": "filter",
    "join": "window_join",
    "windowed_agg": "aggregate",
    "agg": "aggregate",
    "sink": "sink",
}


@dataclass(frozen=True)
class Flow:
    """Of an operator. in_per_s, out_per_s: records. firings_per_s, stored: of its window, how often it fires and how many records it holds.
    wait_ms: of the oldest record in the window."""

    in_per_s: float
    out_per_s: float
    firings_per_s: float = 0.0
    stored: float = 0.0
    wait_ms: float = 0.0


@dataclass(frozen=True)
class Bound:
    """What the formulas give."""

    throughput: float
    processing_latency: float
    end_to_end_latency: float
    flows: float
    success: float


class Queueing:
    """The predictor of one metric."""

    def __init__(self, metric: Metric):
        self.metric = metric

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        return np.array([getattr(bound(graph), self.metric.name) for graph in graphs], np.float64)


def bound(graph: JointGraph) -> Bound:
    """By loads of hosts and links, on the mean."""
    host, senders = dict(graph.placed_on), _senders(graph)
    flows: list[Flow] = []
    for n in range(len(host)):
        flows.append(_flow(graph.nodes[n], [flows[sender] for sender in senders[n]]))
    hops = {n: [sender for sender in senders[n] if host[sender] != host[n]] for n in host}
    service_us = [_service_us(graph, n, flows[n], flows, hops) for n in host]
    cores = {h: _number(graph.nodes[h], "cpu") / 100 for h in host.values()}
    load = {h: sum(service_us[n] for n in host if host[n] == h) / 1e6 / cores[h] for h in cores}
    alone = [service_us[n] / 1e6 for n in host]  # an operator has one thread
    link = dict.fromkeys(cores, 0.0)
    for remote in hops.values():
        for sender in remote:
            bits = 8 * _bytes(graph.nodes[sender]) * flows[sender].out_per_s
            link[host[sender]] += bits / 1e6 / _number(graph.nodes[host[sender]], "bandwidth")
    stretch = max(1.0, *load.values(), *alone, *link.values())
    sink = len(host) - 1
    out_per_s = flows[sink].in_per_s / stretch
    way = [0.0] * len(host)
    for n in host:
        busy = min(max(load[host[n]], alone[n]), BUSIEST)
        each_ms = service_us[n] / 1000 / max(flows[n].in_per_s, 1e-9) / min(1.0, cores[host[n]])
        here_ms = flows[n].wait_ms + each_ms / (1 - busy)
        before = [way[s] + (_number(graph.nodes[host[s]], "latency") if s in hops[n] else 0.0) for s in senders[n]]
        way[n] = max(before, default=0.0) + here_ms
    behind_ms = SPAN_S / 2 * 1000 * (1 - 1 / stretch)
    memory = all(_live_mb(graph, h, host, flows) < _number(graph.nodes[h], "ram") for h in cores)
    arrives = out_per_s * SPAN_S >= 1
    return Bound(out_per_s, way[sink], way[sink] + behind_ms, float(stretch <= 1), float(memory and arrives))


def demands(graph: JointGraph) -> list[float]:
    """By operator, the cores that it needs to keep up, without what crossing hosts costs."""
    senders, flows = _senders(graph), list[Flow]()
    for n in range(len(graph.placed_on)):
        flows.append(_flow(graph.nodes[n], [flows[sender] for sender in senders[n]]))
    nowhere: dict[int, list[int]] = {n: [] for n in range(len(flows))}
    return [_service_us(graph, n, flow, flows, nowhere) / 1e6 for n, flow in enumerate(flows)]


def _senders(graph: JointGraph) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in graph.placed_on]
    for sender, receiver in graph.flow:
        found[receiver].append(sender)
    return found


def _number(node: Node, feature: str) -> float:
    return float(node.features[feature])


def _flow(node: Node, before: Sequence[Flow]) -> Flow:
    in_per_s = sum(flow.out_per_s for flow in before)
    match node.type:
        case "source":
            rate = _number(node, "event_rate")
            return Flow(rate, rate)
        case "filter":
            return Flow(in_per_s, in_per_s * _number(node, "selectivity"))
        case "windowed_agg":
            firings, stored, wait_ms = _window(node, in_per_s)
            return Flow(in_per_s, firings * max(1.0, _number(node, "selectivity") * stored), firings, stored, wait_ms)
        case "join":
            firings, stored, wait_ms = _window(node, in_per_s)
            left, right = (stored * flow.out_per_s / max(in_per_s, 1e-9) for flow in before)
            return Flow(in_per_s, firings * _number(node, "selectivity") * left * right, firings, stored, wait_ms)
        case "agg":
            firings = max(before[0].firings_per_s, 1e-9)
            each = in_per_s / firings
            return Flow(in_per_s, min(in_per_s, firings * max(1.0, _number(node, "selectivity") * each)))
    return Flow(in_per_s, in_per_s)


def _window(node: Node, in_per_s: float) -> tuple[float, float, float]:
    """Firings per second, records in the window, and how long the oldest has been there."""
    size, slide = _number(node, "window_size"), _number(node, "window_slide")
    if node.features["window_policy"] == "time":
        return 1000 / slide, in_per_s * size / 1000, size
    return in_per_s / slide, size, 1000 * size / max(in_per_s, 1e-9)


def _service_us(graph: JointGraph, n: int, flow: Flow, flows: Sequence[Flow], hops: dict[int, list[int]]) -> float:
    """Microseconds of a reference core in a second."""
    node, prices = graph.nodes[n], PRICE_LISTS[PRICES]
    price, values = prices.price(KINDS[node.type]), prices.values
    ps = flow.in_per_s * price.record_ps + flow.out_per_s * price.output_ps + flow.firings_per_s * flow.stored * (price.read_ps or 0)
    if node.type == "source":
        ps += flow.in_per_s * values.parsed_ps * _number(node, "width_out")
    ps += sum(flows[s].out_per_s * values.received_ps * _width(graph.nodes[s]) for s in hops[n])
    ps += sum(flow.out_per_s * values.sent_ps * _width(node) for receiver, remote in hops.items() if n in remote)
    return ps / 1e6


def _width(node: Node) -> float:
    return _number(node, "width_out") if "width_out" in node.features else 0.0


def _bytes(node: Node) -> float:
    return ENVELOPE_BYTES + _width(node) * sum(VALUE_BYTES.values()) / len(VALUE_BYTES)


def _live_mb(graph: JointGraph, host: int, placed: dict[int, int], flows: Sequence[Flow]) -> float:
    """Bytes of stored rows: 180, and 48 a value."""
    here = [n for n in placed if placed[n] == host and flows[n].stored]
    stored = sum(flows[n].stored * (180 + 48 * _number(graph.nodes[n], "width_in")) for n in here)
    return PROCESS_MB + stored / 1e6
