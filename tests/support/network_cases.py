"""Corner cases of the network (docs/event-core.md, 4.1). Each says which moment, and what an engine could get wrong there."""

from __future__ import annotations

from typing import Any

from .corner_cases import Document, bids, document, host


def _fan_in(sources: int, per_s: float, **parts: Any) -> Document:
    """Sources on hosts a, b, ... of their own send to two sinks on hosts y and z in turn."""
    names = "abcdef"[:sources]
    operators = [{"id": f"from-{name}", "kind": "source", "cost": {"record_us": 1}} for name in names]
    operators.append({"id": "sink", "kind": "sink", "parallelism": 2, "cost": {"record_us": 1}})
    edges = [{"source": f"from-{name}", "target": "sink", "partitioning": {"kind": "rebalance"}} for name in names]
    made = document(
        operators,
        edges,
        [host(name) for name in (*names, "y", "z")],
        {f"from-{name}": bids(per_s) for name in names},
        placement={"kind": "explicit", "hosts": {f"from-{name}": [name] for name in names} | {"sink": ["y", "z"]}},
        horizon_s=parts.pop("horizon_s", 0.004),
        links=parts.pop("links", []),
        **parts,
    )
    return made


def a_trunk_that_three_hosts_overload() -> Document:
    """Messages of several hosts enter the trunk in the same nanosecond; its queue grows, and a fast link past it overtakes."""
    made = _fan_in(3, 30_000, links=[{"source": "c", "target": "z", "latency_ms": 0.003}])
    made["cluster"]["trunks"] = [{"name": "uplink", "mbit_per_s": 20, "sources": ["a", "b", "c"], "targets": ["y"]}]
    return made


def a_trunk_behind_a_slow_link() -> Document:
    """What waits for the egress link of one host enters the trunk later than what another host sends after it."""
    made = _fan_in(2, 20_000)
    made["cluster"]["hosts"][0]["egress_mbit_per_s"] = 10
    made["cluster"]["trunks"] = [{"name": "uplink", "mbit_per_s": 100, "sources": ["a", "b"]}]
    return made


def a_slow_link_beside_a_fast_one() -> Document:
    """One link of the host is a slow FIFO of its own; what takes the others does not wait behind it."""
    return _fan_in(2, 20_000, links=[{"source": "a", "target": "y", "mbit_per_s": 3}, {"source": "b", "target": "z", "mbit_per_s": 400}])


def regions_far_apart() -> Document:
    """Two regions with slow FIFOs from host to host and a quick way back for credits, a third one within itself; two links override part of
    what they inherit."""
    made = _fan_in(
        3,
        20_000,
        links=[{"source": "a", "target": "y", "latency_ms": 0.01}, {"source": "b", "target": "z", "mbit_per_s": 400}],
        policies={"flow_control": {"kind": "credits", "per_channel": 4}},
    )
    for entry, region in zip(made["cluster"]["hosts"], ("west", "west", "east", "far", "far"), strict=True):
        entry["group"] = region
    made["cluster"]["region_links"] = [
        {"source": "west", "target": "far", "latency_ms": 0.7, "mbit_per_s": 4, "both_ways": False},
        {"source": "far", "target": "west", "latency_ms": 0.02, "both_ways": False},
        {"source": "far", "target": "east", "latency_ms": 0.3},
        {"source": "far", "target": "far", "latency_ms": 0.001},
    ]
    return made


def written_out(made: Document) -> Document:
    """The same document with the links of its regions written out, host by host."""
    hosts = {entry["name"]: entry.get("group", "cloud") for entry in made["cluster"]["hosts"]}
    links = {(link["source"], link["target"]): link for link in made["cluster"]["links"]}
    for between in made["cluster"].pop("region_links"):
        limits = {field: between[field] for field in ("latency_ms", "mbit_per_s") if field in between}
        ends = {(between["source"], between["target"])}
        if between.get("both_ways", True):
            ends.add((between["target"], between["source"]))
        for a in hosts:
            for b in hosts:
                if a != b and (hosts[a], hosts[b]) in ends:
                    links[a, b] = {"source": a, "target": b, **limits, **links.get((a, b), {})}
    made["cluster"]["links"] = list(links.values())
    return made


def _in_turn(flow_control: Document, faults: list[Document], horizon_s: float = 0.01) -> Document:
    made = _fan_in(2, 40_000, faults=faults, policies={"flow_control": flow_control}, horizon_s=horizon_s)
    for entry in made["cluster"]["hosts"]:
        entry |= {"egress_mbit_per_s": 100, "egress_latency_ms": 0.1}
    return made


def two_links_of_a_host_heal_at_once() -> Document:
    """What waited for y and for z shares the egress link again, y's first; what is sent at that nanosecond comes behind. One cut begins
    at the nanosecond of a sending; the end of another touches the start of a third, which ends half a microsecond after a sending."""
    cuts = [
        {"kind": "partition", "sources": ["a"], "from_s": 0.001001, "to_s": 0.003001},
        {"kind": "partition", "sources": ["b"], "targets": ["y"], "from_s": 0.002, "to_s": 0.0040015},
        {"kind": "partition", "sources": ["y"], "targets": ["b"], "from_s": 0.0040015, "to_s": 0.0050015, "both_ways": True},
    ]
    return _in_turn({"kind": "unbounded"}, cuts)


def credits_wait_at_a_cut() -> Document:
    """Only the way back is cut: records arrive, credits set out when the cut ends, and the sender stands until they are there. Two cuts
    that touch are one."""
    back = {"kind": "partition", "sources": ["y"], "targets": ["a"], "both_ways": False}
    cuts = [back | {"from_s": 0.002, "to_s": 0.0041}, back | {"from_s": 0.0041, "to_s": 0.0071}]
    return _in_turn({"kind": "credits", "per_channel": 2}, cuts)


def a_cut_that_never_heals() -> Document:
    """The run drains though messages wait at the cut; senders whose credits are lost stand for ever."""
    cuts = [
        {"kind": "partition", "sources": ["a"], "targets": ["y"], "both_ways": False, "from_s": 0.002},
        {"kind": "partition", "sources": ["z"], "targets": ["b"], "both_ways": False, "from_s": 0.006},
    ]
    return _in_turn({"kind": "credits", "per_channel": 20}, cuts)


def a_delay_that_ends() -> Document:
    """Records sent after the delay would arrive before those sent under it: a link never reorders, two links of one host may."""
    delays = [
        {"kind": "delay", "sources": ["a"], "targets": ["y"], "both_ways": False, "from_s": 0.001, "to_s": 0.003, "added_ms": 2.0},
        {"kind": "delay", "sources": ["a", "b"], "from_s": 0.002, "to_s": 0.0035, "added_ms": 0.7},
    ]
    made = _in_turn({"kind": "unbounded"}, delays)
    made["cluster"]["trunks"] = [{"name": "uplink", "mbit_per_s": 40, "sources": ["b"]}]
    made["cluster"]["envelope_bytes"] = 137
    return made


def a_delay_from_the_start() -> Document:
    """While it holds all links are slow; then records arrive sooner than the first look-ahead would allow."""
    return _in_turn({"kind": "unbounded"}, [{"kind": "delay", "sources": ["a", "b"], "from_s": 0, "to_s": 0.002, "added_ms": 1.0}])


def links_of_a_nanosecond() -> Document:
    """The look-ahead is one nanosecond: every instant is a window of its own."""
    made = _fan_in(2, 20_000, policies={"flow_control": {"kind": "credits", "per_channel": 2}})
    for entry in made["cluster"]["hosts"]:
        entry["egress_latency_ms"] = 0.000001
    return made


NETWORK_CASES = (
    a_trunk_that_three_hosts_overload,
    a_trunk_behind_a_slow_link,
    a_slow_link_beside_a_fast_one,
    regions_far_apart,
    two_links_of_a_host_heal_at_once,
    credits_wait_at_a_cut,
    a_cut_that_never_heals,
    a_delay_that_ends,
    a_delay_from_the_start,
    links_of_a_nanosecond,
)
