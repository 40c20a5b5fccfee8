"""The best vector that we know of: what a graph network has to beat, if its graph is of use."""

from __future__ import annotations

from collections import Counter

from ..description import Dtype
from ..features import CATEGORICAL, NUMERIC, JointGraph
from .authors import mean, numbers
from .paper import paper

DTYPES: tuple[Dtype, ...] = ("int", "double", "string")
DTYPE_FEATURES = ("literal_dtype", "key_dtype", "agg_dtype", "group_by_dtype")
WINDOWED = ("join", "windowed_agg")


def strong(graph: JointGraph) -> dict[str, float]:
    """48 numbers: also of hosts, of their sharing, of the network between operators, of windows, and of types."""
    return paper(graph) | _hosts(graph) | _network(graph) | _windows(graph) | _types(graph)


def _extremes(name: str, values: list[float]) -> dict[str, float]:
    return {f"least {name}": min(values), f"mean {name}": mean(values), f"greatest {name}": max(values)}


def _hosts(graph: JointGraph) -> dict[str, float]:
    sharing = Counter(host for _, host in graph.placed_on)
    shares = [float(graph.nodes[host].features["cpu"]) / sharing[host] for _, host in graph.placed_on]
    found = _extremes("cpu of an operator", shares)
    for feature in NUMERIC["host"]:
        found |= _extremes(feature, numbers(graph, "host", feature))
    return found | {"most operators on a host": float(max(sharing.values()))}


def _network(graph: JointGraph) -> dict[str, float]:
    """Of the edges of flow that leave a host. Without any, the least bandwidth is that of the hosts."""
    host = dict(graph.placed_on)
    hops = [(a, b) for a, b in graph.flow if host[a] != host[b]]
    way = [0.0] * len(graph.nodes)
    for a, b in graph.flow:  # senders come before receivers
        way[b] = max(way[b], way[a] + (float(graph.nodes[host[a]].features["latency"]) if host[a] != host[b] else 0.0))
    bandwidths = [float(graph.nodes[host[a]].features["bandwidth"]) for a, _ in hops]
    wide = [float(graph.nodes[a].features["width_out"]) for a, _ in hops]
    return {
        "hops": float(len(hops)),
        "latency of the slowest way": max(way),
        "sum of latencies": sum(float(graph.nodes[host[a]].features["latency"]) for a, _ in hops),
        "least bandwidth of a hop": min(bandwidths or numbers(graph, "host", "bandwidth")),
        "widest record of a hop": max(wide, default=0.0),
    }


def _windows(graph: JointGraph) -> dict[str, float]:
    found: dict[str, float] = {}
    windows = [node for node in graph.nodes if node.type in WINDOWED]
    for policy in ("count", "time"):
        of = [node for node in windows if node.features["window_policy"] == policy]
        for feature in ("window_size", "window_slide"):
            found[f"mean {feature}, {policy}"] = mean([float(node.features[feature]) for node in of])
        found[f"windows, {policy}"] = float(len(of))
    return found | {"sliding windows": float(sum(node.features["window_type"] == "sliding" for node in windows))}


def _types(graph: JointGraph) -> dict[str, float]:
    used = Counter(node.features[name] for node in graph.nodes for name in CATEGORICAL[node.type] if name in DTYPE_FEATURES)
    return {f"uses of {dtype}": float(used[dtype]) for dtype in DTYPES} | {
        f"mean number of values, {dtype}": mean(numbers(graph, "source", f"n_{dtype}")) for dtype in DTYPES
    }
