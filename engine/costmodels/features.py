"""Features of the nodes of a joint graph: the transferable ones of Heinrich et al. 2024, Table I, and no others.

Nodes are the operators and the hosts that hold any. A window is no node: its features belong to its operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .description import Aggregate, Filter, Host, Join, Operator, Query, Sink, Source, Window, WindowedAggregate

Value = float | str

NUMERIC: Mapping[str, tuple[str, ...]] = {
    "source": ("event_rate", "n_double", "n_int", "n_string", "width_out"),
    "filter": ("selectivity", "width_in", "width_out"),
    "join": ("selectivity", "width_in", "width_out", "window_size", "window_slide"),
    "windowed_agg": ("selectivity", "width_in", "width_out", "window_size", "window_slide"),
    "agg": ("selectivity", "width_in", "width_out"),
    "sink": ("dummy",),
    "host": ("bandwidth", "cpu", "latency", "ram"),
}
"""By type of node, in the order of the alphabet."""

CATEGORICAL: Mapping[str, tuple[str, ...]] = {
    "source": (),
    "filter": ("filter_function", "literal_dtype"),
    "join": ("key_dtype", "window_policy", "window_type"),
    "windowed_agg": ("agg_dtype", "agg_function", "group_by_dtype", "window_policy", "window_type"),
    "agg": ("agg_dtype", "agg_function", "group_by_dtype"),
    "sink": (),
    "host": (),
}

SELECTIVITY = "selectivity"
"""A measured one tells whether anything flowed, so models of success leave it out."""

METADATA = 2
"""Values that each record carries beside those of its stream."""


class Node(NamedTuple):
    type: str
    features: dict[str, Value]


@dataclass(frozen=True)
class JointGraph:
    """Operators come first, in the query's order, then the hosts that hold any. Edges are pairs of nodes' numbers.

    flow: from operator to operator. placed_on: from operators to hosts; the same pairs turned round lead back.
    """

    nodes: tuple[Node, ...]
    flow: tuple[tuple[int, int], ...]
    placed_on: tuple[tuple[int, int], ...]


def joint_graph(query: Query, hosts: Sequence[Host], placed: Sequence[int], selectivities: Sequence[float]) -> JointGraph:
    """placed: number of the host, by operator. selectivities: by operator, from 0 to 1; of sources and sinks they count for nothing."""
    count = len(query.operators)
    used = list(dict.fromkeys(placed))
    number = {host: count + n for n, host in enumerate(used)}
    widths = widths_of(query)
    nodes = [
        _node(operator, [widths[sender] for sender in query.senders[n]], widths[n], selectivities[n])
        for n, operator in enumerate(query.operators)
    ]
    nodes += [_host(hosts[host]) for host in used]
    return JointGraph(tuple(nodes), query.edges, tuple((n, number[host]) for n, host in enumerate(placed)))


def widths_of(query: Query) -> list[int]:
    """By operator, how many values its records have. A join's have those of both inputs; an aggregate's the value and its group."""
    found: list[int] = []
    for n, operator in enumerate(query.operators):
        inputs = [found[sender] for sender in query.senders[n]]
        match operator:
            case Source():
                found.append(operator.ints + operator.doubles + operator.strings + METADATA)
            case WindowedAggregate() | Aggregate():
                found.append(1 + (operator.group_by is not None) + METADATA)
            case _:
                found.append(sum(inputs))
    return found


def _node(operator: Operator, widths_in: Sequence[int], width_out: int, selectivity: float) -> Node:
    name, own = OF[type(operator)]
    features: dict[str, Value] = dict(own(operator))
    if name not in ("source", "sink"):
        features |= {SELECTIVITY: selectivity, "width_in": sum(widths_in) / len(widths_in)}  # of a join the mean
    if name != "sink":
        features["width_out"] = float(width_out)
    return Node(name, features)


def _host(host: Host) -> Node:
    return Node("host", {"cpu": host.cpu_percent, "ram": host.ram_mb, "bandwidth": host.mbit_per_s, "latency": host.latency_ms})


def _of_window(window: Window) -> dict[str, Value]:
    """Sizes are ms or records; the policy tells which."""
    return {
        "window_type": window.kind,
        "window_policy": window.policy,
        "window_size": float(window.size),
        "window_slide": float(window.slide),
    }


def _of_source(of: Source) -> dict[str, Value]:
    return {"event_rate": float(of.rate_per_s), "n_int": float(of.ints), "n_double": float(of.doubles), "n_string": float(of.strings)}


def _of_aggregate(of: Aggregate | WindowedAggregate) -> dict[str, Value]:
    return {"agg_function": of.function, "agg_dtype": of.dtype, "group_by_dtype": of.group_by or "none"}


OF: Mapping[type[Operator], tuple[str, Callable[[Any], dict[str, Value]]]] = {
    Source: ("source", _of_source),
    Filter: ("filter", lambda of: {"filter_function": of.function, "literal_dtype": of.dtype}),
    Join: ("join", lambda of: {"key_dtype": of.key, **_of_window(of.window)}),
    WindowedAggregate: ("windowed_agg", lambda of: {**_of_aggregate(of), **_of_window(of.window)}),
    Aggregate: ("agg", _of_aggregate),
    Sink: ("sink", lambda _: {"dummy": 0.0}),
}
"""By class, the type of node and the features that follow from the operator alone."""
