"""Corner cases of hosts that die and are started again (docs/event-core.md, 13.2). Each says what an engine could get wrong there."""

from __future__ import annotations

from .corner_cases import Document, bids, document, host
from .network_cases import a_trunk_behind_a_slow_link


def a_death_before_a_trunk() -> Document:
    """Two hosts share a trunk. One has a slow link, so much of what it sent is still there when it dies of a queue of its own, and would
    have entered the trunk within the window of half a millisecond, before what the other one sends."""
    made = a_trunk_behind_a_slow_link()
    memory = {"kind": "budget", "budget_mb": 0.0007, "restart_after_s": 0.0007}
    made["cluster"]["hosts"][0] |= {"egress_mbit_per_s": 6, "memory": memory}
    made["cluster"]["trunks"][0]["mbit_per_s"] = 15
    made["query"]["operators"][-1]["cost"] = {"record_us": 70}
    made["placement"]["hosts"]["sink"] = ["y", "a"]
    made["workload"]["horizon_s"] = 0.01
    return made


def a_restart_within_the_look_ahead() -> Document:
    """A host to which others send is up again within the window in which it died: what they have sent before its restart is lost, what they
    send later is not."""
    made = a_death_before_a_trunk()
    made["cluster"]["hosts"][2]["memory"] = {"kind": "budget", "budget_mb": 0.0003, "restart_after_s": 0.000_03}
    return made


def a_restart_behind_slow_messages() -> Document:
    """What the host sent before its death is slow, what it sends after its restart would be fast: a link never reorders. Its instances warm
    up once more."""
    made = a_death_before_a_trunk()
    made["query"]["operators"][-1]["cost"]["warmup"] = {"kind": "time", "factor": 1.5, "over_s": 0.0011}
    del made["cluster"]["trunks"]
    made["cluster"]["hosts"][0]["memory"]["restart_after_s"] = 0.0003
    slow = {"kind": "delay", "sources": ["a"], "targets": ["y"], "both_ways": False, "from_s": 0, "to_s": 0.0018, "added_ms": 3.0}
    return made | {"faults": [slow]}


def deaths_among_losses() -> Document:
    """The host would die at 15, 29, 43, .. ms, and be up 5 ms later. Faults lose it, too: at its death for a shorter time, while it is down
    and until the same moment, at its death for just as long, at its restart, and before it dies for longer. At a restart it is paused."""
    free = {"output_us": 0, "control_us": 0}
    operators = [
        {"id": "source", "kind": "source", "cost": {"record_us": 10} | free},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 3000} | free},
    ]
    machine = host("h", memory={"kind": "budget", "budget_mb": 0.001, "restart_after_s": 0.005})
    losses = [
        {"kind": "host_loss", "host": "h", "when": {"kind": "at", "at_s": at_ms / 1000}, "restart_after_s": (back_ms - at_ms) / 1000}
        for at_ms, back_ms in ((15, 16), (31, 34), (43, 48), (62, 64), (72, 80))
    ]
    losses.append({"kind": "pause", "host": "h", "when": {"kind": "at", "at_s": 0.101}, "for_ms": 1.7})
    return document(operators, [{"source": "source", "target": "sink"}], [machine], {"source": bids(1000)}, faults=losses, horizon_s=0.15)


DEATH_CASES = (a_death_before_a_trunk, a_restart_within_the_look_ahead, a_restart_behind_slow_messages, deaths_among_losses)
