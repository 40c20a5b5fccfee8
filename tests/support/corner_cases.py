"""Experiments made for moments that random ones seldom meet. Each says which moment, and what an engine could get wrong there."""

from __future__ import annotations

import itertools
from typing import Any

Document = dict[str, Any]


def document(
    operators: list[Document], edges: list[Document], hosts: list[Document], sources: dict[str, Document], **parts: Any
) -> Document:
    return {
        "format": 1,
        "query": {"operators": operators, "edges": edges},
        "cluster": {"hosts": hosts, "local_latency_ns": parts.pop("local_latency_ns", 1000), "links": parts.pop("links", [])},
        "workload": {"horizon_s": parts.pop("horizon_s", 0.01), "drain": True, "sources": sources},
        **parts,
    }


def bids(per_s: float, **more: Any) -> Document:
    return {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": per_s}, **more}


def host(name: str, **more: Any) -> Document:
    return {"name": name, "processor": {"kind": "dedicated"}, "cores": 16, "egress_mbit_per_s": 10_000, "egress_latency_ms": 0.5} | more


def watermarks(period_ms: float, lag_ms: float = 0.0) -> Document:
    return {"kind": "bounded", "lag_ms": lag_ms, "period_ms": period_ms}


def two_credits_in_one_instant() -> Document:
    """Two blocked senders on one host get their credits in the same nanosecond: they send in the order of their numbers.

    A record takes 80 ns on the link, so the second receiver starts 80 ns after the first; its credit travels 80 ns less.
    """
    operators = [
        {"id": "near", "kind": "source", "cost": {"record_us": 1}},
        {"id": "far", "kind": "source", "cost": {"record_us": 1}},
        {"id": "near-sink", "kind": "sink", "cost": {"record_us": 100}},
        {"id": "far-sink", "kind": "sink", "cost": {"record_us": 100}},
    ]
    return document(
        operators,
        [{"source": "near", "target": "near-sink"}, {"source": "far", "target": "far-sink"}],
        [host("a"), host("b"), host("c")],
        {"near": bids(100_000), "far": bids(100_000)},
        links=[{"source": "b", "target": "a", "latency_ms": 0.5}, {"source": "c", "target": "a", "latency_ms": 0.49992}],
        placement={"kind": "explicit", "hosts": {"near": ["a"], "far": ["a"], "near-sink": ["b"], "far-sink": ["c"]}},
        policies={"flow_control": {"kind": "credits", "per_channel": 1}},
        horizon_s=0.002,
    )


def _late_at_the_edge(operator: Document, ports: tuple[str, str]) -> Document:
    """One source is in order, the other is not, and the watermark comes to stand exactly on pane ends.

    A tick of the steady source has seen the record 0.1 ms before it (it goes before the one of its own time), so its watermarks are
    multiples of 0.5 ms; those of the loose source are nearer to the present.
    """
    operators = [{"id": "steady", "kind": "source"}, {"id": "loose", "kind": "source"}, operator, {"id": "sink", "kind": "sink"}]
    edges = [
        {"source": "steady", "target": operator["id"], "target_port": ports[0]},
        {"source": "loose", "target": operator["id"], "target_port": ports[1]},
        {"source": operator["id"], "target": "sink"},
    ]
    sources = {
        "steady": bids(10_000, watermarks=watermarks(0.5, lag_ms=0.9)),
        "loose": bids(17_000, watermarks=watermarks(0.3), disorder={"kind": "uniform", "max_ms": 2.5}),
    }
    return document(operators, edges, [host("a")], sources, horizon_s=0.03)


def late_at_the_edge_of_an_aggregate() -> Document:
    """A pane whose end equals the watermark has closed: its records are late, also with several panes per record."""
    window = {"kind": "sliding", "size_s": 0.001, "slide_s": 0.0005, "clock": "event"}
    return _late_at_the_edge(
        {"id": "count", "kind": "aggregate", "params": {"key": "bidder", "window": window, "emit": "on_close"}}, ("in", "in")
    )


def late_at_the_edge_of_a_join() -> Document:
    """The same for a join, whose ports share one watermark."""
    window = {"kind": "tumbling", "size_s": 0.0005, "clock": "event"}
    params = {"left_key": "bidder", "right_key": "bidder", "window": window}
    return _late_at_the_edge({"id": "join", "kind": "join", "params": params}, ("left", "right"))


def _two_streams_into(join: Document, left: Document, right: Document, **parts: Any) -> Document:
    """Bids twice, their late ones to a sink of their own."""
    operators = [{"id": "left", "kind": "source"}, {"id": "right", "kind": "source"}, join, {"id": "sink", "kind": "sink"}]
    edges = [
        {"source": "left", "target": join["id"], "target_port": "left"},
        {"source": "right", "target": join["id"], "target_port": "right"},
        {"source": join["id"], "target": "sink"},
    ]
    if parts.pop("late", True):
        operators.append({"id": "late", "kind": "sink"})
        edges += [{"source": join["id"], "source_port": port, "target": "late"} for port in ("late_left", "late_right")]
    return document(operators, edges, [host("a")], {"left": left, "right": right}, **parts)


def _steady_and_loose(kind: str, **params: Any) -> Document:
    """A join of a stream in order with one that is not; the watermark comes to stand exactly on ends of panes and of lateness."""
    return _two_streams_into(
        {"id": "join", "kind": kind, "params": {"left_key": "auction", "right_key": "auction", **params}},
        bids(10_000, watermarks=watermarks(0.5, lag_ms=0.9)),
        bids(17_000, watermarks=watermarks(0.3), disorder={"kind": "uniform", "max_ms": 2.5}),
        horizon_s=0.03,
        measurement={"latency": {"from": "event", "anchor": "newest"}},
    )


def lateness_of_a_sliding_join() -> Document:
    """Some panes of a record are freed, others not; what is late beyond the lateness goes out by the late ports."""
    return _steady_and_loose("join", window={"kind": "sliding", "size_s": 0.001, "slide_s": 0.0005, "clock": "event"}, lateness_ms=0.5)


def records_behind_the_firing_of_a_window_join() -> Document:
    """Records come after their pane has fired and before it is freed: they give their own pairs, over the contents so far."""
    window = {"kind": "sliding", "size_s": 0.002, "slide_s": 0.0005, "clock": "event"}
    return _steady_and_loose("window_join", window=window, lateness_ms=1.0, event_time="window", select=["auction", "price", "window_end"])


def a_window_join_counts_from_what_came_last() -> Document:
    """The record stored last may be older than the other by event time, and stand on either side."""
    window = {"kind": "tumbling", "size_s": 0.003, "clock": "event"}
    made = _steady_and_loose("window_join", window=window, event_time="trigger")
    return made | {"measurement": {"latency": {"from": "event", "anchor": "trigger"}}}


def a_window_join_of_a_number_of_records() -> Document:
    """Both inputs fill a window together, and no watermark ends it. Of late records there are none."""
    made = _steady_and_loose("window_join", window={"kind": "count", "size": 30, "slide": 12}, event_time="window")
    return _without_late_records(made)


def a_window_join_of_a_number_of_records_without_overlap() -> Document:
    made = _steady_and_loose("window_join", window={"kind": "count", "size": 16})
    return _without_late_records(made)


def a_window_join_by_the_processing_clock() -> Document:
    """Ticks fire and free, whatever the watermarks say."""
    window = {"kind": "sliding", "size_s": 0.002, "slide_s": 0.0005, "clock": "processing"}
    made = _steady_and_loose("window_join", window=window, event_time="oldest")
    return _without_late_records(made)


def _without_late_records(made: Document) -> Document:
    made["query"]["operators"].pop()
    made["query"]["edges"] = [edge for edge in made["query"]["edges"] if edge["target"] != "late"]
    return made


def bounds_of_an_interval_join() -> Document:
    """Times on a regular grid fall exactly on both bounds, and watermarks exactly on the moments at which a record may be freed."""
    params = {"left_key": "auction", "right_key": "auction", "lower_s": -0.0005, "upper_s": 0.001, "event_time": "oldest"}
    streams = [bids(10_000, watermarks=watermarks(0.5, lag_ms=lag_ms)) for lag_ms in (0.0, 0.4)]
    return _two_streams_into({"id": "join", "kind": "interval_join", "params": params}, *streams, horizon_s=0.03)


def lateness_of_an_interval_join() -> Document:
    """Stored records are freed out of order, and late ones are those behind watermark and lateness."""
    return _steady_and_loose("interval_join", lower_s=-0.002, upper_s=-0.0005, lateness_ms=0.4)


def what_an_interval_join_holds() -> Document:
    """Of two keys records are freed in another order than they came, the last of a key among them, 1 ns before the watermark; what is
    held slows everything down, so that what is freed late shows."""
    few = {"fields": [{"name": "auction", "expression": "auction % 2"}, {"name": "time", "expression": "time"}]}
    params = {"left_key": "auction", "right_key": "auction", "lower_s": -0.000299999, "upper_s": 0.000199999}
    made = _two_streams_into(
        {"id": "join", "kind": "interval_join", "params": params},
        bids(5_000, watermarks=watermarks(0.1, lag_ms=0.5), disorder={"kind": "uniform", "max_ms": 0.6}),
        bids(10_000, watermarks=watermarks(0.1, lag_ms=0.5)),
        horizon_s=0.02,
    )
    for edge in made["query"]["edges"][:2]:
        id = f"few-{edge['source']}"
        made["query"]["operators"].append({"id": id, "kind": "map", "params": few})
        made["query"]["edges"].append({"source": edge["source"], "target": id})
        edge["source"] = id
    slow_down = {"kind": "points", "points": [{"share": 0.0, "factor": 1.0}, {"share": 1.0, "factor": 9.0}]}
    made["cluster"]["hosts"][0]["memory"] = {"kind": "budget", "budget_mb": 0.01, "on_full": "nothing", "slow_down": slow_down}
    return made


def an_interval_join_until_a_field() -> Document:
    """Auctions match bids until a moment of their own, so that they are freed in another order than they came."""
    auctions = {"stream": {"kind": "nexmark_auction"}, "rate": {"kind": "constant", "per_s": 3_000}, "watermarks": watermarks(0.5)}
    made = _two_streams_into(
        {"id": "join", "kind": "interval_join", "params": {"left_key": "id", "right_key": "auction", "until": "ends"}},
        auctions,
        bids(20_000, watermarks=watermarks(0.3, 0.2), disorder={"kind": "uniform", "max_ms": 1.5}),
        horizon_s=0.03,
    )
    names = ("id", "time", "seller")
    fields = [*({"name": name, "expression": name} for name in names), {"name": "ends", "expression": "time + (id * 7919) % 5000000"}]
    made["query"]["operators"].append({"id": "ends", "kind": "map", "params": {"fields": fields}})
    made["query"]["edges"][0]["target"], made["query"]["edges"][0]["target_port"] = "ends", "in"
    made["query"]["edges"].insert(1, {"source": "ends", "target": "join", "target_port": "left"})
    made["query"]["edges"] = [edge for edge in made["query"]["edges"] if edge["target"] != "late" or edge["source_port"] == "late_right"]
    return made


def _expiring(keep_left: str, keep_right: str) -> Document:
    """Each side comes every 100 us, right 49 us behind left: 1.049 ms after a left record it counts no more, to the nanosecond."""
    params = {"left_key": "auction", "right_key": "auction", "ttl_s": 0.001049, "keep_left": keep_left, "keep_right": keep_right}
    join = {"id": "join", "kind": "expiring_join", "params": params, "cost": {"record_us": 10, "output_us": 0}}
    few_keys = bids(10_000) | {"stream": {"kind": "nexmark_bid", "hot_ratio": 0.5}}
    made = _two_streams_into(join, few_keys, few_keys, horizon_s=0.03, late=False)
    made["query"]["operators"][0]["cost"], made["query"]["operators"][1]["cost"] = {"record_us": 1}, {"record_us": 50}
    return made


def expiry_to_the_nanosecond() -> Document:
    """Both sides keep all."""
    return _expiring("all", "all")


def expiry_of_what_has_matched_already() -> Document:
    """One side keeps what has not matched: what left with its first match expires later, when its place is used by others."""
    return _expiring("all", "unmatched")


def neither_side_keeps_what_has_matched() -> Document:
    """A record that finds a partner takes it away, and is not stored itself."""
    return _expiring("unmatched", "unmatched")


def the_latest_of_each_key() -> Document:
    """A record replaces the one before of its side and key, also where that has expired, or was replaced, and still waits to be freed."""
    return _expiring("latest", "latest")


def reachability(nodes: int, hops: int, parallelism: int, rates: tuple[float, float, float], **parts: Any) -> Document:
    """The cyclic query over a graph of few nodes, so that paths are many, links double, and deletions meet something."""
    path = [f"node{n}" for n in range(1, hops + 1)]
    params = {"left_key": "start", "right_key": "reachable", "left_end": "end", "right_path": ["origin", "origin", *path]}
    new = " and ".join(f"end != {node}" for node in ("origin", *path))
    longer = {"origin": "origin", "reachable": "end", "hops": "hops + 1"}
    longer |= {node: f"end if hops == {n} else {node}" for n, node in enumerate(path)} | {"time": "max(time, right_time)"}
    kinds: dict[str, tuple[str, Document]] = {
        "links": ("source", {}),
        "sources": ("source", {}),
        "deletions": ("source", {}),
        "join": ("path_join", params),
        "select": ("filter", {"predicate": f"hops < {hops} and {new}"}),
        "project": ("map", {"fields": [{"name": name, "expression": expression} for name, expression in longer.items()]}),
        "sink": ("sink", {}),
    }
    operators = [{"id": id, "kind": kind, "parallelism": parallelism, "params": params} for id, (kind, params) in kinds.items()]
    by_reachable = {"kind": "hash", "key": "reachable", "scheme": "modulo"}
    edges = [
        {"source": "links", "target": "join", "target_port": "left", "partitioning": by_reachable | {"key": "start"}},
        {"source": "sources", "target": "join", "target_port": "right", "partitioning": by_reachable},
        {"source": "deletions", "target": "join", "target_port": "deleted", "partitioning": {"kind": "broadcast"}},
        {"source": "join", "target": "select"},
        {"source": "select", "target": "project"},
        {"source": "project", "target": "sink"},
        {"source": "project", "target": "join", "target_port": "right", "partitioning": by_reachable, "feedback": True},
    ]
    streams = {
        "links": {"kind": "graph_link"},
        "sources": {"kind": "graph_source", "path_max": hops},
        "deletions": {"kind": "graph_deletion"},
    }
    sources = {
        id: {"stream": stream | {"nodes": nodes, "at_sources": 0.3}, "rate": {"kind": "constant", "per_s": per_s}}
        for (id, stream), per_s in zip(streams.items(), rates, strict=True)
    }
    return document(operators, edges, [host("h"), host("i")], sources, **parts)


def links_that_go_while_paths_go_round() -> Document:
    """Deletions find links and paths that are stored, on every instance; what is on its way round comes back with a link that is gone."""
    return reachability(25, 3, 3, (6_000, 1_500, 2_500), horizon_s=0.012)


def three_streams_meet_pane_by_pane() -> Document:
    """A join of three streams over sliding windows: pairs carry the end of their pane, and meet the third stream in just that one."""
    window = {"kind": "sliding", "size_s": 0.002, "slide_s": 0.0005, "clock": "event"}
    first = {"left_key": "auction", "right_key": "auction", "window": window, "select": ["auction", "bidder", "right_bidder", "window_end"]}
    second = {"left_key": "auction", "right_key": "auction", "window": window, "left_window_end": "window_end"}
    operators = [{"id": id, "kind": "source"} for id in ("a", "b", "c")]
    operators += [{"id": "ab", "kind": "window_join", "params": first}, {"id": "abc", "kind": "join", "params": second}]
    operators += [{"id": "sink", "kind": "sink"}]
    edges = [
        {"source": "a", "target": "ab", "target_port": "left"},
        {"source": "b", "target": "ab", "target_port": "right"},
        {"source": "ab", "target": "abc", "target_port": "left"},
        {"source": "c", "target": "abc", "target_port": "right"},
        {"source": "abc", "target": "sink"},
    ]
    streams = {id: bids(4_000, watermarks=watermarks(0.5, 1.0), disorder={"kind": "uniform", "max_ms": 1.0}) for id in "abc"}
    return document(operators, edges, [host("h"), host("i")], streams, horizon_s=0.02)


def _aggregates_of_firings(window: Document, evaluation: str, **emission: Any) -> Document:
    """Each firing of the join gives a row for each key of its pairs, as soon as the last of them is there."""
    aggregates = [{"name": "n"}, {"name": "highest", "function": "max", "field": "price"}, AGGREGATES[1]]
    marked = {"kind": "marked", "field": "last_of_firing"}
    params = {"key": "auction", "window": marked, "aggregates": aggregates, "evaluation": evaluation, "emit": "on_close"} | emission
    join = {"left_key": "auction", "right_key": "auction", "window": window, "select": ["auction", "bidder", "price", "last_of_firing"]}
    operators = [
        {"id": "one", "kind": "source"},
        {"id": "other", "kind": "source"},
        {"id": "pairs", "kind": "window_join", "params": join},
        {"id": "rows", "kind": "aggregate", "params": params},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "one", "target": "pairs", "target_port": "left"},
        {"source": "other", "target": "pairs", "target_port": "right"},
        {"source": "pairs", "target": "rows", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "rows", "target": "sink"},
    ]
    late = bids(4_000, watermarks=watermarks(0.5, 1.0), disorder={"kind": "uniform", "max_ms": 2.0})
    return document(
        operators, edges, [host("a"), host("b")], {"one": late, "other": bids(6_000, watermarks=watermarks(0.7))}, horizon_s=0.02
    )


def aggregates_of_the_firings_of_a_join() -> Document:
    return _aggregates_of_firings({"kind": "count", "size": 20, "slide": 8}, "at_firing")


def aggregates_of_firings_by_watermarks() -> Document:
    """Late records give firings of their own."""
    window = {"kind": "sliding", "size_s": 0.002, "slide_s": 0.001, "clock": "event"}
    return _aggregates_of_firings(window, "incremental", emit="on_close", every=2)


def same_keys_in_several_operators() -> Document:
    """Two aggregates and a join keep state under the same keys and panes; none may see another's."""
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "processing"}
    counts = [{"name": "n"}, {"name": "highest", "function": "max", "field": "price"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "first", "kind": "aggregate", "parallelism": 2, "params": {"key": "auction", "window": window, "aggregates": counts}},
        {"id": "second", "kind": "aggregate", "parallelism": 3, "params": {"key": "auction", "window": window, "aggregates": counts[:1]}},
        {"id": "join", "kind": "join", "parallelism": 2, "params": {"left_key": "auction", "right_key": "auction", "window": window}},
        {"id": "sink", "kind": "sink"},
    ]
    by_auction = {"kind": "hash", "key": "auction"}
    edges = [
        {"source": "bids", "target": "first", "partitioning": by_auction},
        {"source": "bids", "target": "second", "partitioning": by_auction},
        {"source": "first", "target": "join", "target_port": "left", "partitioning": by_auction},
        {"source": "second", "target": "join", "target_port": "right", "partitioning": by_auction},
        {"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(20_000)})


def newest_contributor_arrived_first() -> Document:
    """By event time the record stored may be newer than the one that arrives: latency counts from the newest of the pair."""
    operators = [
        {"id": "left", "kind": "source"},
        {"id": "right", "kind": "source"},
        {"id": "join", "kind": "join", "params": {"left_key": "auction", "right_key": "auction"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "left", "target": "join", "target_port": "left"},
        {"source": "right", "target": "join", "target_port": "right"},
        {"source": "join", "target": "sink"},
    ]
    loose = {"kind": "uniform", "max_ms": 3.0}
    sources = {"left": bids(10_000, disorder=loose), "right": bids(10_000, disorder=loose)}
    return document(operators, edges, [host("a")], sources, measurement={"latency": {"from": "event", "anchor": "newest"}})


def oldest_contributor_of_a_pane() -> Document:
    """Two sources, one of them with a queue: the last record of a pane is neither the newest nor of the highest number."""
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "processing"}
    operators = [
        {"id": "slow", "kind": "source", "cost": {"record_us": 90}},
        {"id": "quick", "kind": "source", "parallelism": 2},
        {"id": "count", "kind": "aggregate", "params": {"key": "auction", "window": window, "emit": "on_close"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "slow", "target": "count", "partitioning": {"kind": "rebalance"}},
        {"source": "quick", "target": "count", "partitioning": {"kind": "rebalance"}},
        {"source": "count", "target": "sink"},
    ]
    latency = {"from": "append", "anchor": "oldest"}
    return document(operators, edges, [host("a")], {"slow": bids(20_000), "quick": bids(9_000)}, measurement={"latency": latency})


def bursts_overtake_what_is_under_way() -> Document:
    """A far host's records are under way for 3 ms when a near one, silent until then, sends hundreds that arrive before all of them."""
    operators = [
        {"id": "far", "kind": "source", "parallelism": 2, "cost": {"record_us": 1}},
        {"id": "near", "kind": "source", "parallelism": 2, "cost": {"record_us": 1}},
        {"id": "sink", "kind": "sink", "parallelism": 2, "cost": {"record_us": 1}},
    ]
    edges = [{"source": source, "target": "sink", "partitioning": {"kind": "rebalance"}} for source in ("far", "near")]
    return document(
        operators,
        edges,
        [host("a", egress_latency_ms=3.0), host("b"), host("c")],
        {"far": bids(100_000), "near": bids(0) | {"rate": {"kind": "steps", "steps": [{"at_s": 0.0012, "per_s": 300_000}]}}},
        placement={"kind": "explicit", "hosts": {"far": ["a"], "near": ["b"], "sink": ["c"]}},
        horizon_s=0.004,
    )


def two_shared_cores_are_done_at_once() -> Document:
    """Services of two instances on one host end in the same nanosecond, again and again: the lower number sends first on the slow link."""
    operators = [
        {"id": "source", "kind": "source", "parallelism": 2, "cost": {"record_us": 1}},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 1}},
    ]
    return document(
        operators,
        [{"source": "source", "target": "sink", "partitioning": {"kind": "rebalance"}}],
        [host("a", processor={"kind": "shared_fifo"}, cores=2, egress_mbit_per_s=1000), host("b")],
        {"source": bids(200_000, arrivals={"kind": "bursts", "every_ms": 0.1})},
        placement={"kind": "explicit", "hosts": {"source": ["a"], "sink": ["b"]}},
        horizon_s=0.002,
    )


def _negative_keys(partitioning: Document) -> Document:
    """Keys below zero: the receiver and the key group are never negative."""
    key = "auction % 7 - 3"
    window = {"kind": "sliding", "size_s": 0.003, "slide_s": 0.001, "origin_s": -0.0005, "clock": "event"}
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {
            "id": "keys",
            "kind": "map",
            "params": {"fields": [{"name": "key", "expression": key}, {"name": "price", "expression": "price * 0.908"}]},
        },
        {
            "id": "sum",
            "kind": "aggregate",
            "parallelism": 3,
            "params": {
                "key": "key",
                "window": window,
                "emit": "on_close",
                "aggregates": [{"name": "total", "function": "sum", "field": "price"}],
            },
        },
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "keys", "partitioning": {"kind": "rebalance"}},
        {"source": "keys", "target": "sum", "partitioning": {"kind": "hash", "key": "key"} | partitioning},
        {"source": "sum", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(20_000, watermarks=watermarks(1.0))})


def negative_keys_modulo() -> Document:
    """Keys below zero, modulo the parallelism."""
    return _negative_keys({"scheme": "modulo"})


def negative_keys_in_seven_groups() -> Document:
    """Keys below zero, in key groups whose number is no power of two."""
    return _negative_keys({"key_groups": 7})


def negative_keys_in_seven_groups_not_mixed() -> Document:
    """Keys below zero, modulo the number of key groups, in contiguous ranges of them."""
    return _negative_keys({"key_groups": 7, "mixed": False})


def blocked_while_others_share_the_core() -> Document:
    """A core with a blocked instance serves the others; the one that is woken goes on where it stood, in the middle of its outputs."""
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2, "cost": {"record_us": 1}},
        {"id": "join", "kind": "join", "parallelism": 2, "params": {"left_key": "auction", "right_key": "auction"}},
        {"id": "first", "kind": "sink", "parallelism": 3},
        {"id": "second", "kind": "sink", "parallelism": 2, "cost": {"record_us": 40}},
    ]
    by_auction = {"kind": "hash", "key": "auction"}
    edges = [
        {"source": "bids", "target": "join", "target_port": "left", "partitioning": by_auction},
        {"source": "bids", "target": "join", "target_port": "right", "partitioning": by_auction},
        {"source": "join", "target": "first", "partitioning": {"kind": "broadcast"}},
        {"source": "join", "target": "second", "partitioning": {"kind": "rebalance"}},
    ]
    hosts = [host(name, processor={"kind": "shared_fifo"}, cores=1, egress_mbit_per_s=100, egress_latency_ms=0.02) for name in "ab"]
    control = {"flow_control": {"kind": "credits", "per_channel": 3}}
    return document(operators, edges, hosts, {"bids": bids(20_000)}, policies=control, horizon_s=0.005)


def _round_and_round(hops: int, expression: str, **parts: Any) -> Document:
    """Bids go round `hops` times between two hosts, by changing keys, and are counted on every round in windows of event time."""
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "event"}
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {
            "id": "enter",
            "kind": "map",
            "params": {"fields": [{"name": "key", "expression": "bidder"}, {"name": "hops", "expression": "0"}]},
        },
        {
            "id": "step",
            "kind": "map",
            "parallelism": 2,
            "params": {"fields": [{"name": "key", "expression": expression}, {"name": "hops", "expression": "hops + 1"}]},
        },
        {"id": "again", "kind": "filter", "parallelism": 2, "params": {"predicate": f"hops < {hops}"}},
        {"id": "count", "kind": "aggregate", "params": {"key": "hops", "window": window, "emit": "on_close"}},
        {"id": "sink", "kind": "sink"},
    ]
    spread = {"kind": "rebalance"}
    edges = [
        {"source": "bids", "target": "enter", "partitioning": spread},
        {"source": "enter", "target": "step", "partitioning": spread},
        {"source": "step", "target": "again", "partitioning": {"kind": "hash", "key": "key"}},
        {"source": "again", "target": "step", "partitioning": {"kind": "hash", "key": "key"}, "feedback": True},
        {"source": "step", "target": "count", "partitioning": spread},
        {"source": "count", "target": "sink"},
    ]
    hosts = [host("a", processor={"kind": "shared_fifo"}, cores=1), host("b", egress_latency_ms=0.05)]
    return document(operators, edges, hosts, {"bids": bids(8_000, watermarks=watermarks(0.7, 1.1))}, **parts)


def records_overtaken_by_the_watermark_in_a_cycle() -> Document:
    """No watermark goes back: records that still go round are late where they come to a window, and the end of the log does not wait."""
    return _round_and_round(5, "key * 7 + 1")


def a_cycle_drains_when_nothing_goes_round() -> Document:
    """The last records go round for longer than a frame after the logs' end; the run ends behind them."""
    return _round_and_round(40, "key * 7 + 1", horizon_s=0.002, measurement={"frame_ms": 1})


def a_cycle_that_stands_still() -> Document:
    """One credit for each channel: soon every sender on the cycle waits for the next one. The sources are not on it, and fill up."""
    return _round_and_round(
        30, "key * 7 + 1", policies={"flow_control": {"kind": "credits", "per_channel": 1}}, measurement={"frame_ms": 1.7}
    )


def a_port_that_only_a_cycle_feeds() -> Document:
    """Pairs of a join come back to its other side, as fields that the edge declares."""
    fields = [{"name": "auction", "expression": "auction"}, {"name": "bidder", "expression": "bidder // 2"}]
    window = {"kind": "tumbling", "size_s": 0.004, "clock": "processing"}
    operators = [
        {"id": "bids", "kind": "source"},
        {"id": "first", "kind": "filter", "params": {"predicate": "bidder % 3 == 0"}},
        {
            "id": "join",
            "kind": "join",
            "parallelism": 2,
            "params": {"left_key": "auction", "right_key": "auction", "window": window, "select": ["auction", "bidder"]},
        },
        {"id": "halve", "kind": "map", "parallelism": 2, "params": {"fields": fields}},
        {"id": "few", "kind": "filter", "parallelism": 2, "params": {"predicate": "bidder % 5 == 2"}},
        {"id": "seed", "kind": "map", "params": {"fields": fields}},
        {"id": "all", "kind": "filter", "parallelism": 2, "params": {"predicate": "True"}},
        {"id": "sink", "kind": "sink"},
    ]
    by_auction = {"kind": "hash", "key": "auction"}
    edges = [
        {"source": "bids", "target": "join", "target_port": "left", "partitioning": by_auction},
        {"source": "bids", "target": "first", "partitioning": {"kind": "rebalance"}},
        {"source": "first", "target": "seed"},
        {"source": "seed", "target": "all", "partitioning": by_auction},
        {"source": "join", "target": "halve"},
        {"source": "halve", "target": "few"},
        {"source": "few", "target": "all", "partitioning": by_auction},
        {
            "source": "all",
            "target": "join",
            "target_port": "right",
            "partitioning": by_auction,
            "feedback": True,
            "fields": [{"name": "auction", "type": "int"}, {"name": "bidder", "type": "int"}],
        },
        {"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(20_000)})


def ports_that_fill_one_by_one() -> Document:
    """A split whose ports lead to sinks of different speeds over channels of one credit: it is blocked on one port in the middle of the
    copies for the others, and has an output port between two that nobody listens to."""
    routes = [{"predicate": predicate} for predicate in ("auction % 3 != 0", "auction % 2 == 0", "bidder % 2 == 0", "price % 5 == 0")]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2, "cost": {"record_us": 1}},
        {"id": "copies", "kind": "split", "parallelism": 2, "params": {"mode": "copy", "routes": routes}},
        {"id": "first", "kind": "split", "parallelism": 2, "params": {"mode": "first", "routes": routes}},
        {"id": "slow", "kind": "sink", "cost": {"record_us": 90}},
        {"id": "quick", "kind": "sink", "parallelism": 3, "cost": {"record_us": 2}},
    ]
    edges = [
        {"source": "bids", "target": "copies"},
        {"source": "copies", "source_port": "out4", "target": "quick", "partitioning": {"kind": "broadcast"}},
        {"source": "copies", "source_port": "out1", "target": "first", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "copies", "source_port": "out2", "target": "slow", "partitioning": {"kind": "rebalance"}},
        {"source": "copies", "source_port": "rest", "target": "quick", "partitioning": {"kind": "rebalance"}},
        {"source": "first", "source_port": "rest", "target": "slow", "partitioning": {"kind": "rebalance"}},
        {"source": "first", "source_port": "out3", "target": "quick", "partitioning": {"kind": "hash", "key": "bidder"}},
        {"source": "first", "source_port": "out3", "target": "slow", "partitioning": {"kind": "rebalance"}},
    ]
    control = {"flow_control": {"kind": "credits", "per_channel": 1}}
    sources = {"bids": bids(40_000, watermarks=watermarks(0.7))}
    return document(operators, edges, [host("a"), host("b")], sources, policies=control, horizon_s=0.005)


def texts_that_expressions_make() -> Document:
    """Keys are texts that no stream has: constants, and texts in other letters. Their codes decide which instance gets them."""
    chosen = "lower(state) if id % 3 != 0 else 'none' if startswith(name, 'P') else upper(city)"
    fields = {
        "key": chosen,
        "id": "id",
        "by_text": "int(state < 'ID') + 4 * int(city < name) + 2 * int(contains(email, '@')) + length(name)",
    }
    operators = [
        {"id": "persons", "kind": "source", "parallelism": 2},
        {"id": "some", "kind": "filter", "params": {"predicate": "not endswith(card, '7') and like(city, '%a_%') and state != 'or'"}},
        {"id": "keys", "kind": "map", "params": {"fields": [{"name": name, "expression": text} for name, text in fields.items()]}},
        {
            "id": "sum",
            "kind": "aggregate",
            "parallelism": 5,
            "params": {
                "key": "key",
                "window": {"kind": "tumbling", "size_s": 0.002, "clock": "event"},
                "emit": "on_close",
                "aggregates": [{"name": name, "function": "sum", "field": name} for name in ("id", "by_text")],
            },
        },
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "persons", "target": "some", "partitioning": {"kind": "rebalance"}},
        {"source": "some", "target": "keys"},
        {"source": "keys", "target": "sum", "partitioning": {"kind": "hash", "key": "key", "scheme": "modulo"}},
        {"source": "sum", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    persons = {"stream": {"kind": "nexmark_person"}, "rate": {"kind": "constant", "per_s": 60_000}, "watermarks": watermarks(1.0)}
    return document(operators, edges, [host("a"), host("b")], {"persons": persons})


def numbers_at_the_edges() -> Document:
    """Divisions by zero, ints that wrap, floats that are no number or fit no int: the value is defined, and the error is counted."""
    huge = "9223372036854775807"
    fields = {
        "wrapped": f"{huge} - price + auction * {huge} // (bidder % 3 - 1)",
        "by_zero": "price // (bidder % 2) + price % (auction % 3)",
        "ratio": "(price - 5000) / (bidder % 2) * (auction % 3 - 1) / (price % 2)",
        "cut": "int(price / (bidder % 2)) + floor(sqrt(1000 - price)) - ceil(price * 1.0e15) + round(-price / 8)",
        "keyed": "bucket(hash(price / (bidder % 2) - price / (bidder % 2), auction, bidder > auction, time), 7)",
        "clock": "second(time + hours(price)) + 60 * day(time - days(price)) + weekday(time)",
        "date": "month(time - days(price)) + 12 * year(timestamp(price * days(9)))",
        "least": "min(price / 7, auction, 1.0e3) if abs(-bidder) < auction else max(-price, -bidder)",
    }
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "made", "kind": "map", "params": {"fields": [{"name": name, "expression": text} for name, text in fields.items()]}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "made", "partitioning": {"kind": "rebalance"}},
        {"source": "made", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(40_000)})


def _loose_bids(operator: Document, late: bool = True, **parts: Any) -> Document:
    """Bids up to 6 ms out of order under watermarks that do not wait for them, through this operator; what is too late goes to a sink of
    its own."""
    operators = [
        {"id": "steady", "kind": "source"},
        {"id": "loose", "kind": "source", "parallelism": 2},
        {"id": "some", "kind": "filter", "params": {"predicate": "price % 3 != 0"}},
        operator,
        {"id": "sink", "kind": "sink"},
        {"id": "late-sink", "kind": "sink"},
    ]
    key = operator["params"].get("key")
    partitioning = {"kind": "hash", "key": key} if key else {"kind": "rebalance"}
    edges = [
        {"source": "steady", "target": "some"},
        {"source": "some", "target": operator["id"], "partitioning": partitioning},
        {"source": "loose", "target": operator["id"], "partitioning": partitioning},
        {"source": operator["id"], "target": "sink", "partitioning": {"kind": "rebalance"}},
        {"source": operator["id"], "source_port": "late", "target": "late-sink", "partitioning": {"kind": "rebalance"}},
    ]
    if not late:
        operators.pop()
        edges.pop()
    sources = {
        "steady": bids(10_000, watermarks=watermarks(0.5, lag_ms=0.4)),
        "loose": bids(17_000, watermarks=watermarks(0.3), disorder={"kind": "uniform", "max_ms": 6.0}),
    }
    return document(operators, edges, [host("a"), host("b")], sources, **({"horizon_s": 0.03} | parts))


AGGREGATES = [
    {"name": "n"},
    {"name": "bidders", "function": "count_distinct", "field": "bidder"},
    {"name": "total", "function": "sum", "field": "price"},
    {"name": "least", "function": "min", "field": "bidder"},
    {"name": "mean", "function": "avg", "field": "price"},
    {"name": "latest", "function": "max", "field": "time"},
]


def _panes(evaluation: str, **params: Any) -> Document:
    """Sliding panes that are kept for 0.7 ms: a late record gives updated rows of some panes, is added to open ones, and misses others."""
    window = {"kind": "sliding", "size_s": 0.002, "slide_s": 0.0005, "clock": "event"}
    params = {"window": window, "aggregates": AGGREGATES, "lateness_ms": 0.7, "evaluation": evaluation, "emit": "on_close"} | params
    return {"id": "panes", "kind": "aggregate", "params": params}


def panes_with_late_updates() -> Document:
    return _loose_bids(_panes("incremental"), measurement={"latency": {"from": "event", "anchor": "oldest"}})


def panes_evaluated_at_firing() -> Document:
    """Every row reads the records of its group again: cost is paid where rows are made, also by the watermark's service."""
    return _loose_bids(_panes("at_firing", every=5))


def late_records_without_a_port() -> Document:
    return _loose_bids(_panes("incremental", every=3, emit="on_update"), late=False)


def _sessions(**params: Any) -> Document:
    params = {"gap_s": 0.0004, "aggregates": AGGREGATES} | params
    return {"id": "sessions", "kind": "session_aggregate", "parallelism": 2 if "key" in params else 1, "params": params}


def sessions_that_meet() -> Document:
    """Late records prolong sessions, join two of them, and find some of them ended; others touch them at their very ends."""
    return _loose_bids(
        _sessions(key="auction", gap_s=0.0021, lateness_ms=0.8), measurement={"latency": {"from": "event", "anchor": "oldest"}}
    )


def sessions_that_meet_and_are_evaluated_at_firing() -> Document:
    return _loose_bids(
        _sessions(key="auction", gap_s=0.0021, lateness_ms=0.8, evaluation="at_firing", every=2),
        measurement={"latency": {"from": "append", "anchor": "newest"}},
    )


def one_session_at_a_time() -> Document:
    """Without a key: a few records between gaps that are as long as the distance of the records."""
    return _loose_bids(_sessions(gap_s=0.0001, emit="on_update", lateness_ms=0.05), horizon_s=0.02)


def _sessions_by_the_processing_clock(evaluation: str) -> Document:
    """Services start on a regular grid, at the end of a session and 1 ns later among others; sessions that grow take ticks along."""
    operators = [
        {"id": "bids", "kind": "source", "cost": {"record_us": 1}},
        {
            "id": "sessions",
            "kind": "session_aggregate",
            "parallelism": 2,
            "params": {"key": "auction", "gap_s": 0.001, "clock": "processing", "aggregates": AGGREGATES, "evaluation": evaluation},
            "cost": {"record_us": 7, "output_us": 90, "control_us": 13},
        },
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "sessions", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "sessions", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    return document(operators, edges, [host("a")], {"bids": bids(20_000)}, local_latency_ns=1)


def sessions_by_the_processing_clock() -> Document:
    return _sessions_by_the_processing_clock("incremental")


def sessions_by_the_processing_clock_at_firing() -> Document:
    return _sessions_by_the_processing_clock("at_firing")


def _windows_of_records(evaluation: str, **params: Any) -> Document:
    params = {"key": "auction", "size": 5, "slide": 2, "aggregates": AGGREGATES, "evaluation": evaluation} | params
    parallelism = 3 if params["key"] and params.get("counts") != "all" else 1
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "windows", "kind": "count_window_aggregate", "parallelism": parallelism, "params": params},
        {"id": "sink", "kind": "sink"},
    ]
    partitioning = {"kind": "hash", "key": "auction"} if params["key"] else {"kind": "rebalance"}
    edges = [
        {"source": "bids", "target": "windows", "partitioning": partitioning},
        {"source": "windows", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    latency = {"from": "append", "anchor": "oldest"}
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(30_000)}, measurement={"latency": latency}, horizon_s=0.03)


def sliding_windows_of_records() -> Document:
    return _windows_of_records("incremental")


def sliding_windows_of_records_at_firing() -> Document:
    return _windows_of_records("at_firing", size=7, slide=3)


def tumbling_windows_of_all_records() -> Document:
    return _windows_of_records("at_firing", size=4, slide=None, key=None)


def sliding_windows_of_all_keys_together() -> Document:
    """Each window gives a row for each of its keys, in the order of their first records in it; groups differ from window to window."""
    return _windows_of_records("incremental", size=40, slide=12, counts="all")


def tumbling_windows_of_all_keys_together() -> Document:
    return _windows_of_records("at_firing", size=25, slide=None, counts="all")


def sessions_that_end_together() -> Document:
    """Two sources in step: the sessions of several bidders end with one watermark, many at the same time, and give their rows by key."""
    operators = [
        {"id": "first", "kind": "source"},
        {"id": "second", "kind": "source"},
        {"id": "sessions", "kind": "session_aggregate", "params": {"key": "bidder", "gap_s": 0.0011, "aggregates": AGGREGATES[:2]}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "first", "target": "sessions"},
        {"source": "second", "target": "sessions"},
        {"source": "sessions", "target": "sink"},
    ]
    in_step = bids(10_000, watermarks=watermarks(1.0))
    return document(operators, edges, [host("a")], {"first": in_step, "second": in_step}, horizon_s=0.02)


def values_that_are_no_numbers() -> Document:
    """Infinities, NaN and zeros of both signs through every aggregate; behind it, what is NaN is written as -7."""
    fields = [
        {"name": "auction", "expression": "auction % 5"},
        {"name": "ratio", "expression": "(price % 3 - 1) / (bidder % 3)"},
        {"name": "zero", "expression": "bidder % 2 * -0.5 if price % 2 == 0 else auction % 2 * 0.5"},
    ]
    functions = ("sum", "min", "max", "avg", "count_distinct")
    aggregates = [{"name": f"{function}_{of}", "function": function, "field": of} for of in ("ratio", "zero") for function in functions]
    readable = [
        {"name": a["name"], "expression": f"-7.0 if not {a['name']} == {a['name']} else {a['name']}"}
        for a in aggregates
        if a["function"] != "count_distinct"
    ]
    readable += [{"name": a["name"], "expression": a["name"]} for a in aggregates if a["function"] == "count_distinct"]
    operators = [
        {"id": "bids", "kind": "source"},
        {"id": "numbers", "kind": "map", "params": {"fields": fields}},
        {
            "id": "sessions",
            "kind": "session_aggregate",
            "params": {"key": "auction", "gap_s": 0.0005, "aggregates": aggregates, "lateness_ms": 2.0},
        },
        {"id": "readable", "kind": "map", "params": {"fields": readable}},
        {"id": "sink", "kind": "sink"},
    ]
    names = [operator["id"] for operator in operators]
    edges = [{"source": a, "target": b} for a, b in itertools.pairwise(names)]
    loose = bids(20_000, watermarks=watermarks(0.3), disorder={"kind": "uniform", "max_ms": 2.5})
    return document(operators, edges, [host("a")], {"bids": loose}, horizon_s=0.02)


def watermarks_that_overtake_one_another() -> Document:
    """Devices say how far they are, and are heard in another order: some watermarks come behind higher ones, some records behind both."""
    window = {"kind": "tumbling", "size_s": 0.01, "clock": "event"}
    operators = [
        {"id": "source", "kind": "source", "parallelism": 3},
        {"id": "window", "kind": "aggregate", "parallelism": 2, "params": {"key": "bidder", "window": window, "emit": "on_close"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "source", "target": "window", "partitioning": {"kind": "hash", "key": "bidder"}},
        {"source": "window", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    device = {"kind": "device", "period_ms": 2.0, "lag_ms": 5.0}
    source = bids(20_000, disorder={"kind": "uniform", "max_ms": 30.0}, watermarks=device)
    return document(operators, edges, [host("a"), host("b")], {"source": source}, horizon_s=0.1)


def generators_that_wait() -> Document:
    """Coordinated sources too busy, blocked, or without a core when their next record is due; most never make all of theirs, one does."""
    operators = [
        {"id": "source", "kind": "source", "parallelism": 3, "cost": {"record_us": 90.0}},
        {"id": "calm", "kind": "source", "cost": {"record_us": 10.0}},
        {"id": "worker", "kind": "filter", "params": {"predicate": "time % 3 != 0"}, "cost": {"record_us": 60.0}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "source", "target": "worker", "partitioning": {"kind": "rebalance"}},
        {"source": "calm", "target": "sink"},
        {"source": "worker", "target": "sink"},
    ]
    source = bids(20_000, watermarks=watermarks(3.0), disorder={"kind": "uniform", "max_ms": 1.5}, generation={"kind": "coordinated"})
    return document(
        operators,
        edges,
        [host("a", processor={"kind": "shared_fifo"}, cores=2), host("b")],
        {"source": source, "calm": bids(400, watermarks=watermarks(7.0), generation={"kind": "coordinated"})},
        placement={"kind": "explicit", "hosts": {"source": ["a"], "calm": ["a"], "worker": ["b"], "sink": ["b"]}},
        policies={"flow_control": {"kind": "credits", "per_channel": 2}},
        measurement={"latency": {"from": "append", "anchor": "trigger"}},
        horizon_s=0.05,
    )


def dozens_on_shared_cores() -> Document:
    """So many instances on three cores that turns are taken from heaps; overloaded, with ticks, blocked senders and a pause."""
    operators = [
        {"id": "source", "kind": "source", "parallelism": 16},
        {"id": "filter", "kind": "filter", "parallelism": 16, "params": {"predicate": "price % 3 != 0"}},
        {"id": "sink", "kind": "sink", "parallelism": 16},
    ]
    edges = [
        {"source": "source", "target": "filter", "partitioning": {"kind": "rebalance"}},
        {"source": "filter", "target": "sink", "partitioning": {"kind": "hash", "key": "auction"}},
    ]
    return document(
        operators,
        edges,
        [host("a", processor={"kind": "pool"}, cores=3)],
        {"source": bids(100_000, arrivals={"kind": "poisson"}, watermarks=watermarks(2.0))},
        policies={"flow_control": {"kind": "credits", "per_channel": 2}},
        faults=[{"kind": "pause", "host": "a", "when": {"kind": "at", "at_s": 0.002}, "for_ms": 1.5}],
        horizon_s=0.004,
    )


ALL_CLOCKS = [
    {"name": f"{clock}_{anchor}_{to}", "from": clock, "anchor": anchor, "to": to}
    for clock, anchor, to in (
        ("append", "trigger", "emit"),
        ("append", "newest", "sink"),
        ("append", "oldest", "sink"),
        ("ingest", "trigger", "sink"),
        ("ingest", "newest", "emit"),
        ("ingest", "oldest", "sink"),
        ("event", "trigger", "sink"),
        ("deadline", "newest", "emit"),
    )
]


def _with_all_clocks(made: Document) -> Document:
    return made | {"measurement": {"latency": {"from": "event", "anchor": "newest"}, "also": ALL_CLOCKS}}


def clocks_of_panes_with_late_updates() -> Document:
    """Each clock has a newest and an oldest contributor of its own, since records come late and wait in the logs."""
    return _with_all_clocks(panes_with_late_updates())


def clocks_of_sessions_that_meet() -> Document:
    return _with_all_clocks(sessions_that_meet())


def clocks_of_a_sliding_join() -> Document:
    return _with_all_clocks(lateness_of_a_sliding_join())


def clocks_of_a_window_join() -> Document:
    """Over all records of a window, over pairs, and of what came last."""
    return _with_all_clocks(records_behind_the_firing_of_a_window_join())


def clocks_of_what_came_last() -> Document:
    return _with_all_clocks(a_window_join_counts_from_what_came_last())


def late_rows_fill_the_memory() -> Document:
    """Records that leave by the port for late ones are larger than rows; both wait behind a slow sink, and slow everything down."""
    made = panes_with_late_updates()
    points = [{"share": 0.0, "factor": 1.0}, {"share": 1.0, "factor": 1.5}]
    for machine in made["cluster"]["hosts"]:
        machine["memory"] = {
            "kind": "budget",
            "budget_mb": 0.01,
            "on_full": "nothing",
            "slow_down": {"kind": "points", "points": points},
        }
    for operator in made["query"]["operators"]:
        if operator["kind"] == "sink":
            operator["cost"] = {"record_us": 20.0}
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1}}
    return made


def a_host_dies_of_its_queue() -> Document:
    """The sink's host holds ten records, just its limit, for a while, then one more; the source's host goes on to the next frame."""
    return document(
        [{"id": "bids", "kind": "source", "cost": {"record_us": 10}}, {"id": "sink", "kind": "sink", "cost": {"record_us": 105}}],
        [{"source": "bids", "target": "sink"}],
        [host("a"), host("b", memory={"kind": "budget", "budget_mb": 0.001})],
        {"bids": bids(10_000)},
        placement={"kind": "explicit", "hosts": {"bids": ["a"], "sink": ["b"]}},
        measurement={"frame_ms": 7},
        horizon_s=0.03,
    )


def a_pause_of_a_dead_host() -> Document:
    """The service during which the host dies never ends. A pause that begins later, in the same frame, moves nothing of it."""
    made = a_host_dies_of_its_queue()
    pause = {"kind": "pause", "host": "b", "when": {"kind": "at", "at_s": 0.025}, "for_ms": 8.0}
    return made | {"faults": [pause], "measurement": {"frame_ms": 10}}


def a_full_host_lets_watermarks_pass() -> Document:
    """Marks stand in the log between the records of a source that is held back, and there are three others on its processor."""
    stream = bids(20_000, watermarks={"kind": "device", "lag_ms": 0.2, "period_ms": 0.3}, disorder={"kind": "uniform", "max_ms": 1.0})
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "event"}
    return document(
        [
            {"id": "bids", "kind": "source", "parallelism": 2},
            {"id": "count", "kind": "aggregate", "params": {"window": window, "aggregates": [{"name": "n"}]}, "cost": {"record_us": 60}},
            {"id": "sink", "kind": "sink"},
        ],
        [{"source": "bids", "target": "count", "partitioning": {"kind": "rebalance"}}, {"source": "count", "target": "sink"}],
        [host("a", processor={"kind": "shared_fifo"}, cores=2)],
        {"bids": stream},
        policies={"ingress": {"kind": "throttle", "queued_max": 4, "resume": 0.5}},
        horizon_s=0.02,
    )


def what_is_shed_moves_time() -> Document:
    """Nearly all records are shed, the newest among them; watermarks follow them nevertheless, and windows end."""
    made = a_full_host_lets_watermarks_pass()
    made["workload"]["sources"]["bids"]["watermarks"] = watermarks(0.3)
    made["policies"] = {"ingress": {"kind": "drop", "queued_max": 1}}
    return made


def senders_share_the_bytes_of_a_receiver() -> Document:
    """700 bytes for two channels of records of 100: three on each."""
    return document(
        [{"id": "bids", "kind": "source", "parallelism": 2}, {"id": "sink", "kind": "sink", "cost": {"record_us": 80}}],
        [{"source": "bids", "target": "sink", "partitioning": {"kind": "rebalance"}}],
        [host("a"), host("b")],
        {"bids": bids(20_000)},
        policies={"flow_control": {"kind": "credits", "per_channel": 1000, "per_instance_bytes": 700}},
    )


def services_that_cost_nothing() -> Document:
    """They take a nanosecond all the same, whatever is served; and so do those of a fast host that cost too little."""
    nothing = {"record_us": 0, "output_us": 0, "control_us": 0}
    operators = [
        {"id": "bids", "kind": "source", "cost": nothing},
        {"id": "map", "kind": "union", "cost": nothing | {"record_us": 0.001}},
        {"id": "sink", "kind": "sink", "cost": nothing},
    ]
    edges = [{"source": "bids", "target": "map"}, {"source": "map", "target": "sink"}]
    machine = host("a", processor={"kind": "shared_fifo"}, cores=1, speed=10.0)
    return document(operators, edges, [machine], {"bids": bids(10_000, watermarks=watermarks(0.5))}, local_latency_ns=1, horizon_s=0.004)


CORNER_CASES = (
    services_that_cost_nothing,
    senders_share_the_bytes_of_a_receiver,
    what_is_shed_moves_time,
    late_rows_fill_the_memory,
    a_host_dies_of_its_queue,
    a_pause_of_a_dead_host,
    a_full_host_lets_watermarks_pass,
    clocks_of_panes_with_late_updates,
    clocks_of_sessions_that_meet,
    clocks_of_a_sliding_join,
    clocks_of_a_window_join,
    clocks_of_what_came_last,
    dozens_on_shared_cores,
    two_shared_cores_are_done_at_once,
    generators_that_wait,
    watermarks_that_overtake_one_another,
    sessions_that_end_together,
    values_that_are_no_numbers,
    panes_with_late_updates,
    panes_evaluated_at_firing,
    late_records_without_a_port,
    sessions_that_meet,
    sessions_that_meet_and_are_evaluated_at_firing,
    one_session_at_a_time,
    sessions_by_the_processing_clock,
    sessions_by_the_processing_clock_at_firing,
    sliding_windows_of_records,
    sliding_windows_of_records_at_firing,
    tumbling_windows_of_all_records,
    sliding_windows_of_all_keys_together,
    tumbling_windows_of_all_keys_together,
    texts_that_expressions_make,
    numbers_at_the_edges,
    ports_that_fill_one_by_one,
    two_credits_in_one_instant,
    late_at_the_edge_of_an_aggregate,
    late_at_the_edge_of_a_join,
    same_keys_in_several_operators,
    newest_contributor_arrived_first,
    oldest_contributor_of_a_pane,
    bursts_overtake_what_is_under_way,
    negative_keys_modulo,
    negative_keys_in_seven_groups,
    negative_keys_in_seven_groups_not_mixed,
    blocked_while_others_share_the_core,
    links_that_go_while_paths_go_round,
    records_overtaken_by_the_watermark_in_a_cycle,
    a_cycle_drains_when_nothing_goes_round,
    a_cycle_that_stands_still,
    a_port_that_only_a_cycle_feeds,
    lateness_of_a_sliding_join,
    records_behind_the_firing_of_a_window_join,
    a_window_join_counts_from_what_came_last,
    a_window_join_of_a_number_of_records,
    a_window_join_of_a_number_of_records_without_overlap,
    a_window_join_by_the_processing_clock,
    bounds_of_an_interval_join,
    lateness_of_an_interval_join,
    what_an_interval_join_holds,
    an_interval_join_until_a_field,
    expiry_to_the_nanosecond,
    expiry_of_what_has_matched_already,
    the_latest_of_each_key,
    neither_side_keeps_what_has_matched,
    three_streams_meet_pane_by_pane,
    aggregates_of_the_firings_of_a_join,
    aggregates_of_firings_by_watermarks,
)


COLUMNS, ROWS, EDGES = 25, 20, 2000  # of the large query


def large_query(document: Document) -> None:
    """Give an experiment 500 operators with 2,000 edges: in columns, each operator fed by four or five of the column before."""
    kinds = ["source", *["filter"] * (COLUMNS - 2), "sink"]
    operators = [
        {"id": f"{kind}-{column}-{row}", "kind": kind, "parallelism": 4} for column, kind in enumerate(kinds) for row in range(ROWS)
    ]
    for operator in operators:
        if operator["kind"] == "filter":
            operator["params"] = {"predicate": "price > 100"}
    pairs = [(c * ROWS + r, (c + 1) * ROWS + (r + 3 * k) % ROWS) for k in range(5) for c in range(COLUMNS - 1) for r in range(ROWS)][:EDGES]
    edges = [{"source": operators[a]["id"], "target": operators[b]["id"], "partitioning": {"kind": "rebalance"}} for a, b in pairs]
    workload = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 100.0}}
    document["query"] = {"operators": operators, "edges": edges}
    document["workload"]["sources"] = {operator["id"]: workload for operator in operators if operator["kind"] == "source"}
    document["placement"] = {"kind": "spread"}
    document["ui"] = {"positions": {one["id"]: {"x": 200 * (at // ROWS), "y": 104 * (at % ROWS)} for at, one in enumerate(operators)}}
