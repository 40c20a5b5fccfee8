"""Schedulers of several hosts: what they tell one another, how old it is, and what it is good for (Farhat 2020, 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.scheduling.cycle import Scheduler
from engine.scheduling.forwarding import Cost, Knowledge, Message
from engine.scheduling.slack import slacks
from engine.scheduling.statistics import Statistics

from ...support.agreement import cut_saved_and_forked, fingerprint, finished, frames_of, simulated, traced
from ...support.scheduled_examples import chained, told

MS = 1_000_000
CYCLE_NS = 120 * MS


class Recorded:
    """Statistics as the policies saw them, by host, and all messages."""

    def __init__(self, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, until_s: float):
        self.seen: dict[str, list[Statistics]] = {}
        self.messages: list[Message] = []
        added_to, message = Knowledge.added_to, Knowledge.message

        def seeing(knowledge: Knowledge, *args: Any) -> Statistics:
            found = added_to(knowledge, *args)
            self.seen.setdefault(found.tasks.name, []).append(found)
            return found

        def sending(knowledge: Knowledge, *args: Any) -> Message:
            self.messages.append(message(knowledge, *args))
            return self.messages[-1]

        monkeypatch.setattr(Knowledge, "added_to", seeing)
        monkeypatch.setattr(Knowledge, "message", sending)
        self.simulation = simulated(document)
        self.simulation.run_until(round(until_s * 1e9))

    def between(self, sender: int, receiver: int) -> list[Message]:
        return [message for message in self.messages if (message.sender, message.receiver) == (sender, receiver)]


def scheduler(simulation: engine.Simulation) -> Scheduler:
    assert simulation._scheduler is not None
    return simulation._scheduler


def test_progress_goes_downstream_and_costs_go_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """K-3.2: of two hosts A receives nothing but costs, B nothing but progress, each in one message a cycle."""
    run = Recorded(chained(hosts=2), monkeypatch, 3)
    down, up = run.between(0, 1), run.between(1, 0)
    cycles = 3_000 // 120
    assert len(down) == len(up) == cycles
    assert all(message.progress and not message.costs for message in down)
    assert all(message.costs and not message.progress for message in up)
    assert scheduler(run.simulation).counts()["messages"] == 2 * cycles
    assert [seen.inputs == [] for seen in run.seen["w2"][:2]] == [True, False]
    assert all(each.measured_ns is None for seen in run.seen["w1"] for each in seen.inputs)
    assert any((seen.elsewhere_ns > 0).all() for seen in run.seen["w1"])
    assert all((seen.elsewhere_ns == 0).all() for seen in run.seen["w2"])


def test_without_forwarding_a_host_downstream_knows_no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    of: dict[bool, list[Statistics]] = {}
    for forwarding in (True, False):
        with monkeypatch.context() as patch:
            run = Recorded(chained(hosts=2, forwarding=forwarding), patch, 2)
        host = next(each for each in scheduler(run.simulation)._hosts if each.tasks.name == "w2")
        assert host.collected is not None
        of[forwarding] = [host.knowledge.added_to(host.collected, run.simulation._world.arrays.chan[:, L.C_WATERMARK])]
        assert bool(run.messages) == forwarding
    informed, blind = (slacks(of[forwarding][0], 0.95, "event", False).slack_ns for forwarding in (True, False))
    assert np.isfinite(informed).all()
    assert not np.isfinite(blind).any()


@pytest.mark.parametrize("latency_ms", [0.5, 900])
def test_information_is_as_old_as_its_way_and_a_cycle(latency_ms: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read from another host: with 900 ms between hosts, decisions rest on what was true 900 ms to 1.02 s ago."""
    document = chained(hosts=2)
    for host in document["cluster"]["hosts"]:
        host["egress_latency_ms"] = latency_ms
    run = Recorded(document, monkeypatch, 5)
    at_source = {(seen.now_ns, k): each.watermark_ns for seen in run.seen["w1"] for k, each in enumerate(seen.inputs)}
    checked = 0
    for seen in run.seen["w2"]:
        for k, each in enumerate(seen.inputs):
            assert each.measured_ns is not None
            assert latency_ms * MS <= seen.now_ns - each.measured_ns <= latency_ms * MS + CYCLE_NS
            assert each.watermark_ns == at_source[each.measured_ns, k]
            checked += 1
    assert checked > 50


def test_what_is_heard_is_relayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three hosts in a chain: the ends hear of each other over the middle, in two cycles, and each has one neighbour."""
    run = Recorded(chained(hosts=3), monkeypatch, 3)
    assert not run.between(0, 2)
    assert not run.between(2, 0)
    (late, *_) = [seen for seen in run.seen["w3"] if seen.inputs]
    assert late.now_ns == 3 * CYCLE_NS
    assert late.inputs[0].measured_ns == CYCLE_NS
    first, second = (next(host for host in scheduler(run.simulation)._hosts if host.tasks.name == name) for name in ("w1", "w2"))
    assert {host for _, host in first.knowledge.costs} == {1, 2}
    assert {host for _, host in second.knowledge.costs} == {2}
    middle = run.between(1, 2)[-1].progress
    assert {each.measured_ns for each in middle.values()} == {run.between(1, 2)[-1].sent_ns - CYCLE_NS}


def test_a_cost_that_comes_on_two_ways_counts_once() -> None:
    statistics = told([[(1.0, 1.0, 2)]], [9])
    knowledge = Knowledge(statistics.tasks)
    base = Message(1, 0, 0, 10, {}, {})
    knowledge.receive(replace(base, costs={("a", 1): Cost(5, 100.0), ("a", 3): Cost(3, 40.0)}))
    knowledge.receive(replace(base, sender=2, costs={("a", 2): Cost(5, 200.0), ("a", 3): Cost(4, 50.0)}))
    knowledge.receive(replace(base, sender=2, costs={("a", 3): Cost(1, 7.0)}))  # older than what is known
    assert knowledge._elsewhere_ns().tolist() == [350.0]


def test_a_partition_makes_information_older(monkeypatch: pytest.MonkeyPatch) -> None:
    document = chained(hosts=2)
    document["faults"] = [{"kind": "partition", "sources": ["w1"], "targets": ["w2"], "from_s": 1.0, "to_s": 2.5}]
    run = Recorded(document, monkeypatch, 5)
    ages = {seen.now_ns: seen.now_ns - max(each.measured_ns or 0 for each in seen.inputs) for seen in run.seen["w2"] if seen.inputs}
    assert max(ages.values()) == pytest.approx(1.5e9, abs=2 * CYCLE_NS)
    assert ages[max(ages)] < 2 * CYCLE_NS
    assert scheduler(run.simulation).counts()["messages"] < len(run.messages)


def test_messages_take_the_links() -> None:
    """What the hosts send is what their records weigh, and the messages."""
    sent, told = [], []
    for forwarding in (True, False):
        simulation = simulated(chained(hosts=2, forwarding=forwarding, copies=1, per_s=10))
        simulation.run_until(3_000 * MS)
        sent.append(int(simulation._world.arrays.host[:2, L.H_SENT_BYTES].sum()))
        told.append(scheduler(simulation).counts()["message_bytes"])
    assert sent[0] - sent[1] == told[0] > told[1] == 0


def test_several_hosts_give_the_same_windows_however_the_run_is_cut_saved_or_forked() -> None:
    document = chained(hosts=3, horizon_s=3)
    document["workload"]["drain"] = True
    whole = traced(document)
    assert fingerprint(cut_saved_and_forked(document, 410 * MS + 1)) == fingerprint(whole)
    blind = finished(chained(hosts=3, horizon_s=3, forwarding=False) | {"workload": document["workload"]})
    rows = [sorted((sink, repr(r["values"])) for sink in run.sinks for r in run.sink_records(sink)) for run in (whole, blind)]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 50


def test_a_lost_host_forgets_what_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    document = chained(hosts=2)
    document["faults"] = [{"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 1.5}, "restart_after_s": 0.5}]
    run = Recorded(document, monkeypatch, 3)
    after = [seen for seen in run.seen["w2"] if seen.now_ns > 2_000 * MS]
    assert not [seen for seen in run.seen["w2"] if 1_500 * MS < seen.now_ns < 2_000 * MS]
    assert all((each.measured_ns or 0) >= 2_000 * MS for seen in after for each in seen.inputs)
    assert len(after[-1].inputs) > 0


def test_frames_say_how_old_the_word_of_others_is() -> None:
    frames = frames_of(engine.Simulation(chained(hosts=2, horizon_s=2)))
    told_of = frames[-1]["scheduling"]["hosts"]["w2"]["heard_ms"]
    assert set(told_of) == {"w1"}
    assert told_of["w1"] == 120.0
    assert frames[-1]["scheduling"]["messages"] == frames[-1]["scheduling"]["cycles"] > 30
