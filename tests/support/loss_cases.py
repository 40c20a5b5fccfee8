"""Corner cases of hosts that are lost (docs/event-core.md, 10). Each says which moment, and what an engine could get wrong there."""

from __future__ import annotations

from typing import Any

from .corner_cases import Document, bids, blocked_while_others_share_the_core, document, host, sessions_that_meet, watermarks
from .network_cases import credits_wait_at_a_cut, two_links_of_a_host_heal_at_once
from .strategies import seconds

MS = 1_000_000


def loss(name: str, at_ns: int, back_ns: int | None = None) -> Document:
    """The host is lost at a time, and back at another."""
    fault: Document = {"kind": "host_loss", "host": name, "when": {"kind": "at", "at_s": seconds(at_ns)}}
    return fault if back_ns is None else fault | {"restart_after_s": seconds(back_ns - at_ns)}


def pipeline(faults: list[Document], *, per_s: float = 1000.0, horizon_s: float = 0.1, **parts: Any) -> Document:
    """Source on a, map on b, sink on c. A record every millisecond from 0 on; source 1 us, map 300 us, sink 1 us; a record of 100 bytes
    takes 80 us on a's link of 10 Mbit/s, 0.8 us on the others', then half a millisecond."""
    operators = [
        {"id": "bids", "kind": "source", "cost": {"record_us": 1, "output_us": 0, "control_us": 0}},
        {"id": "map", "kind": "union", "cost": {"record_us": 300, "output_us": 0, "control_us": 0} | parts.pop("cost", {})},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 1, "output_us": 0, "control_us": 0}},
    ]
    edges = [{"source": "bids", "target": "map"}, {"source": "map", "target": "sink"}]
    hosts = [host("a", egress_mbit_per_s=10), host("b", egress_mbit_per_s=1000), host("c")]
    placement = {"kind": "explicit", "hosts": {"bids": ["a"], "map": ["b"], "sink": ["c"]}}
    source = bids(per_s, **parts.pop("source", {}))
    made = document(operators, edges, hosts, {"bids": source}, placement=placement, faults=faults, horizon_s=horizon_s, **parts)
    made["measurement"] = {"frame_ms": 1}
    return made


def losses_to_the_nanosecond() -> Document:
    """Of what leaves at 5.081 ms, arrives at 10.581 ms, and is delivered at 20.8828 ms; sources are up again as their ticks are due."""
    faults = [
        loss("a", 5_081_000, 7 * MS),
        loss("b", 10_581_000, 11_581_000),
        loss("b", 13_581_001, 14_580_999),
        loss("c", 20_382_800, 22 * MS),
        loss("a", 23_080_999, 29_999_999),
        {"kind": "pause", "host": "a", "when": {"kind": "at", "at_s": 0.026}, "for_ms": 2},
    ]
    return pipeline(faults, horizon_s=0.04, source={"watermarks": watermarks(5.0, 1.0)}, cost={"warmup": {"factor": 3.0, "records": 5}})


def watermarks_begin_anew() -> Document:
    """A source that is back has a tick before it reads a record, and knows of no event time yet; it has none at the moment of its return,
    nor behind the horizon."""
    faults = [loss("a", 10_100_000, 10_200_000), loss("a", 20_100_000, 20_500_000), loss("a", 29_700_000, 30_200_000)]
    return pipeline(faults, horizon_s=0.03, source={"watermarks": watermarks(0.5)})


def sources_that_are_behind_when_they_are_back() -> Document:
    """With ticks among what they have not read: from the first period on; up to the instant of their return, at which they also pause; and
    up to the horizon, behind which they are back."""
    pause = {"kind": "pause", "host": "a", "when": {"kind": "at", "at_s": 0.015}, "for_ms": 1.5}
    faults = [loss("a", 300_000, 5_200_000), loss("a", 11 * MS, 15 * MS), pause, loss("a", 36 * MS, 41_500_000)]
    return pipeline(faults, per_s=3000.0, horizon_s=0.04, source={"watermarks": watermarks(1.0)}, cost={"record_us": 1})


def _behind_a_slow_link(**parts: Any) -> Document:
    """More is sent than a's link carries; when a is back, soon, what would still wait there is gone, and the link is free."""
    return pipeline([loss("a", 2 * MS, 2_100_000)], per_s=20_000.0, horizon_s=0.004, cost={"record_us": 1}, **parts)


def an_egress_link_is_free() -> Document:
    return _behind_a_slow_link()


def a_link_of_its_own_is_free() -> Document:
    return _behind_a_slow_link(links=[{"source": "a", "target": "b", "mbit_per_s": 10}])


def losses_that_overlap() -> Document:
    """One lasts while another ends, one begins as another ends, one that lasts for ever begins in one that does not."""
    faults = [
        loss("b", 4 * MS, 14 * MS),
        loss("b", 5 * MS, 7 * MS),
        loss("b", 14 * MS, 15 * MS),
        loss("c", 20 * MS),
        loss("c", 21 * MS, 23 * MS),
    ]
    return pipeline(faults, horizon_s=0.03)


def senders_are_lost_behind_their_credits() -> Document:
    """Records of the lost sender wait before a slow receiver, and give no credits to the new one; then the receiver is lost, too, while
    the sender is blocked."""
    faults = [loss("a", 20_300_000, 21_300_000), loss("b", 30 * MS, 31 * MS), loss("c", 33 * MS, 34 * MS)]
    flow_control = {"flow_control": {"kind": "credits", "per_channel": 3}}
    return pipeline(faults, horizon_s=0.05, policies=flow_control, cost={"record_us": 5000})


def what_waits_at_a_cut_is_lost() -> Document:
    """With its sender or its receiver; what was under way when its sender was lost is not overtaken after."""
    made = two_links_of_a_host_heal_at_once()
    made["faults"] += [
        {"kind": "delay", "sources": ["a", "b"], "both_ways": False, "from_s": 0.006, "to_s": 0.0071, "added_ms": 2.0},
        *(loss("a", 1_500_000, 1_600_000), loss("y", 2_300_000, 2_900_000), loss("a", 7 * MS, 7_100_000), loss("z", 7_500_000, 7_600_000)),
    ]
    return made


def hosts_are_back_before_a_cut_ends() -> Document:
    """Their credits set out then."""
    made = credits_wait_at_a_cut()
    made["faults"] += [
        loss("y", 2_500_000, 2_600_000),
        loss("a", 3 * MS, 3_100_000),
        loss("z", 5 * MS, 5_200_000),
        loss("b", 8 * MS, 8_100_000),
    ]
    return made


def _in_all_turns(processor: Document, cores: float, **parts: Any) -> Document:
    """Sources, a broadcast, a slow sink, on two hosts of one kind, in turns and over channels that fill; both are lost several times, for a
    while or just a moment."""
    made = blocked_while_others_share_the_core()
    for machine in made["cluster"]["hosts"]:
        machine |= {"processor": processor, "cores": cores} | parts
    times_us = (301, 350, 700, 933, 1200, 1205, 2100, 2500, 3333, 3334)
    made["faults"] = [loss("ab"[n % 2], 1000 * t, 1000 * t + (77_777, 3333)[n % 3 == 0]) for n, t in enumerate(times_us)]
    for name, at_s in (("a", 0.00071), ("b", 0.0011)):  # while it is down, and before it is lost
        made["faults"].append({"kind": "pause", "host": name, "when": {"kind": "at", "at_s": at_s}, "for_ms": 0.2})
    made["workload"]["sources"]["bids"] |= {"watermarks": watermarks(0.4)}
    return made


def losses_of_shared_cores() -> Document:
    return _in_all_turns({"kind": "shared_fifo"}, 1)


def losses_of_a_pool() -> Document:
    return _in_all_turns({"kind": "pool"}, 2)


def losses_of_hosts_with_a_quota() -> Document:
    return _in_all_turns({"kind": "processor_sharing", "tax": 0.1, "quota_cores": 0.5, "quota_period_ms": 0.1}, 1.5)


def a_quota_behind_a_pause_that_a_loss_ends() -> Document:
    """Its periods go on from when the host is back, not from when the pause would have ended."""
    made = pipeline([loss("b", 10 * MS, 10_040_000)], per_s=10_000.0, horizon_s=0.03)
    quota = {"kind": "processor_sharing", "quota_cores": 0.1, "quota_period_ms": 1}
    made["cluster"]["hosts"][1] |= {"processor": quota, "cores": 1.0}
    made["faults"].append({"kind": "pause", "host": "b", "when": {"kind": "at", "at_s": 0.009}, "for_ms": 15})
    return made


def losses_of_full_hosts() -> Document:
    """What was held is held no more, a host that is not full reads on at once, and one that died is not back."""
    memory = {"kind": "budget", "budget_mb": 0.004, "on_full": "nothing", "slow_down": {"kind": "klink"}}
    made = _in_all_turns({"kind": "shared_fifo"}, 1, memory=memory)
    made["policies"]["ingress"] = {"kind": "throttle", "memory_max": 0.3, "resume": 0.5}
    return made


def the_dead_are_not_back() -> Document:
    """Lost and up again, a host that had died would serve once more."""
    memory = {"kind": "budget", "budget_mb": 0.0005}
    made = pipeline([loss("b", 6 * MS, 7 * MS)], per_s=10_000.0, horizon_s=0.02)
    made["cluster"]["hosts"][1]["memory"] = memory
    made["measurement"] = {"frame_ms": 9}
    return made


def losses_of_distinct_values() -> Document:
    """Sessions with their heaps, and the values that their groups have seen, begin anew."""
    made = sessions_that_meet()
    horizon_ns = round(made["workload"]["horizon_s"] * 1e9)
    names = [machine["name"] for machine in made["cluster"]["hosts"]]
    made["faults"] = [loss(names[n % len(names)], horizon_ns * n // 9, horizon_ns * n // 9 + horizon_ns // 50) for n in range(1, 8)]
    return made


LOSS_CASES = (
    losses_to_the_nanosecond,
    watermarks_begin_anew,
    sources_that_are_behind_when_they_are_back,
    an_egress_link_is_free,
    a_link_of_its_own_is_free,
    losses_that_overlap,
    senders_are_lost_behind_their_credits,
    what_waits_at_a_cut_is_lost,
    hosts_are_back_before_a_cut_ends,
    losses_of_shared_cores,
    losses_of_a_pool,
    losses_of_hosts_with_a_quota,
    a_quota_behind_a_pause_that_a_loss_ends,
    losses_of_full_hosts,
    the_dead_are_not_back,
    losses_of_distinct_values,
)
