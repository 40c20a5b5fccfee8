"""Actors, agents and control messages (docs/event-core.md, section 12).

What this catches: a message to an actor that is handled too early or out of order, an answer that lands in a window that is over, a
call-out that is made twice or answered for another host, actor state that is not saved, forked or hashed.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from tests.support.network_cases import a_trunk_that_three_hosts_overload, credits_wait_at_a_cut, links_of_a_nanosecond
from tests.support.strategies import documents

from ...support.actor_examples import REPORT_BYTES, Answering, Coordinator, Meter, Reporting, Server, cast, undrained
from ...support.agreement import DATASETS, TINY, assert_agreement, template, traced

PERIODS_NS = st.sampled_from((1, 1000, 70_000, 700_000))


def heard(simulation: engine.Simulation) -> Any:
    return simulation._actors.state()


@pytest.mark.slow
@given(document=documents(), tiny=st.booleans(), period_ns=PERIODS_NS)
def test_random_experiments_with_actors_agree(document: dict[str, Any], tiny: bool, period_ns: int) -> None:
    document = undrained(document)
    options, twins = cast(period_ns), cast(period_ns)
    simulation = traced(document, capacity=TINY if tiny else None, **options)
    assert_agreement(document, simulation, **twins)
    for actor, twin in zip((*simulation._actors.actors, simulation._actors.agent), (*twins["actors"], twins["agent"]), strict=True):
        assert actor.state() == twin.state()


@pytest.mark.parametrize("case", [a_trunk_that_three_hosts_overload, credits_wait_at_a_cut, links_of_a_nanosecond])
def test_corner_cases_with_actors_agree(case: Any) -> None:
    document = undrained(case())
    simulation = traced(document, capacity=TINY, **cast(150_000, rounds=12))
    assert_agreement(document, simulation, **cast(150_000, rounds=12))
    coordinator, server = simulation._actors.actors
    assert len(coordinator.answers) > 20
    assert len(coordinator.replies) > 10
    assert any(server.seen)
    assert sum(kind == L.CONTROL_MESSAGE for *_, kind in simulation.service_trace().tolist()) > 40


@pytest.mark.slow
def test_any_cutting_saving_and_forking_gives_the_same(tmp_path: Path) -> None:
    document = undrained(credits_wait_at_a_cut())
    whole = traced(document, **cast())
    chance = random.Random("actors")
    for n in range(6):
        run = engine.Simulation(document, trace=True, keep_outputs=True, **cast())
        for time_ns in sorted(chance.randrange(run.end_ns) for _ in range(8)):
            run.run_until(time_ns)
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(document, tmp_path / f"{n}", trace=True, keep_outputs=True, **cast())
        fork, other = run.fork(), run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        other._actors.actors[0].round += 1
        assert other.digest() != run.digest()
        for copy in (run, resumed, fork):
            copy.run_until(copy.end_ns)
            assert copy.digest() == whole.digest()
            assert heard(copy) == heard(whole)
            assert copy.service_trace().tolist() == whole.service_trace().tolist()


def test_a_round_trip_takes_what_the_links_take() -> None:
    """One instance on one idle host. The question: 40 bytes at 100 Mbit/s are 3,200 ns, and 0.3 ms; the answer: the service, 200 bytes at
    1,000 Mbit/s are 1,600 ns, and 0.5 ms; then the server is asked with 1,000 bytes, works 90 us, and replies with 64 bytes."""
    document = template("nexmark_q1", horizon_s=0.02)
    document["query"]["operators"] = [operator | {"parallelism": 1} for operator in document["query"]["operators"]]
    document["cluster"] = {"hosts": [{"name": "w", "egress_mbit_per_s": 1000, "egress_latency_ms": 0.5}]}
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "steps", "steps": [{"at_s": 0.0, "per_s": 0.0}, {"at_s": 0.015, "per_s": 1000.0}]}
    coordinator, server, agent = Coordinator(1_000_000, 1), Server(90_000), Answering(work_ps=7_000_000)
    simulation = engine.Simulation(document, trace=True, actors=[coordinator, server], agent=agent)
    coordinator.asked = range(1)
    agent.instances = 1
    simulation.run_until(simulation.end_ns)
    instance, start_ns, end_ns, kind = simulation.service_trace().tolist()[0]
    assert (instance, kind) == (0, L.CONTROL_MESSAGE)
    assert start_ns == 1_000_000 + 3_200 + 300_000
    assert end_ns == start_ns + 7_000 + 5_000  # the agent's work, and the operator's price of a control element
    heard_ns = end_ns + 1_600 + 500_000
    assert coordinator.answers == [[heard_ns, 1, 0, 1, 0]]
    assert coordinator.replies == [[heard_ns + 80_000 + 300_000 + 90_000 + 512 + 50_000, 1]]


def test_timers_of_actors_keep_no_run_going_but_their_messages_do() -> None:
    document = template("nexmark_q1", horizon_s=0.001, drain=True, drain_limit_s=1.0)
    document["measurement"]["frame_ms"] = 1
    endless = traced(document, actors=[Coordinator(40_000_000, 1_000_000), Server(1)], agent=Answering())
    assert endless.drained
    assert endless.now_ns < 40_000_000
    slow = traced(document, actors=[Coordinator(900_000, 1), Server(10_000_000)], agent=Answering())
    assert slow.drained
    assert slow._actors.actors[0].replies[-1][0] > 50_000_000
    assert slow.now_ns < 500_000_000


class Faulty(Server):
    """An actor that does something it must not."""

    def __init__(self, fault: str):
        super().__init__(1)
        self.fault = fault
        self.next_ns = 1000

    def wake(self, now_ns: int, post: Any) -> None:
        self.next_ns = L.FAR
        if self.fault == "timer":
            self.next_ns = now_ns
        elif self.fault == "words":
            post.send(0, range(9), 10)
        elif self.fault == "bytes":
            post.send(0, (), 0)
        elif self.fault == "nobody":
            post.send(10**6, (), 10)


def test_hooks_send_control_messages_and_bytes_are_charged() -> None:
    """Each instance reports every third record that it receives; the meter hears of all of them, after the links' time."""
    document = template("nexmark_q12", horizon_s=0.02, drain=True)
    runs = []
    for capacity in (None, TINY):
        meter = Meter()
        simulation = traced(document, capacity=capacity, protocol=Reporting, actors=[meter])
        w = simulation._world.arrays
        trace = simulation.service_trace().tolist()
        first = next(instance for instance, (operator, _, _) in enumerate(meter.instances) if operator != "bids")
        received = {
            i: [start for instance, start, _, kind in trace if instance == i and kind == L.RECORD] for i in range(first, len(w.inst))
        }
        reported = {i: [record[1:] for record in meter.heard if record[2] == i] for i in received}
        assert all(len(reported[i]) == len(starts) // 3 for i, starts in received.items())
        assert sum(map(len, reported.values())) > 200
        for i, starts in received.items():
            for n, (start_ns, _, count) in enumerate(reported[i]):
                assert count == 3 * (n + 1)
                assert start_ns == starts[3 * n + 2]
        assert all(heard_ns > start_ns + 500_000 + REPORT_BYTES * 8 for heard_ns, start_ns, *_ in meter.heard)
        assert [record[0] for record in meter.heard] == sorted(record[0] for record in meter.heard)
        remote = w.inst[w.chan[:, L.C_SENDER], L.I_HOST] != w.inst[w.chan[:, L.C_RECEIVER], L.I_HOST]
        sent_bytes = (w.carried[:, L.SEQ_SENT] * w.edge[w.chan[:, L.C_EDGE], L.E_BYTES])[remote].sum()
        assert w.host[:, L.H_SENT_BYTES].sum() == sent_bytes + REPORT_BYTES * len(meter.heard)
        runs.append((simulation.digest(), meter.heard))
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("fault", "words"), [("timer", "1000 ns"), ("words", "at most 8"), ("bytes", "at least 1"), ("nobody", "by its address")]
)
def test_what_an_actor_must_not_do_is_refused(fault: str, words: str) -> None:
    simulation = engine.Simulation(template("nexmark_q1", horizon_s=0.001), datasets=DATASETS, actors=[Faulty(fault)])
    with pytest.raises(ValueError, match=words):
        simulation.run_until(simulation.end_ns)
