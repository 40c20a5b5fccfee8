"""Barriers and their alignment (docs/event-core.md, section 15).

What this catches: a barrier that overtakes records or is overtaken, records of a barred channel that are served before the others have
sent theirs, items passed over that come back out of order, a trigger that waits behind a source's backlog, a barrier that takes no
feedback edge, alignment that survives a loss of its host, cuts of the run that show.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from tests.support.corner_cases import (
    a_cycle_drains_when_nothing_goes_round,
    a_full_host_lets_watermarks_pass,
    blocked_while_others_share_the_core,
    dozens_on_shared_cores,
)
from tests.support.loss_cases import losses_to_the_nanosecond
from tests.support.network_cases import credits_wait_at_a_cut
from tests.support.strategies import documents

from ...support.actor_examples import undrained
from ...support.agreement import DATASETS, TINY, assert_agreement, traced
from ...support.barrier_examples import PERIODS_NS, Counts, cast, shuffled
from ...support.counting_protocol import Counting


@pytest.mark.slow
@given(document=documents(), tiny=st.booleans(), period_ns=PERIODS_NS)
def test_random_experiments_with_barriers_agree(document: dict[str, Any], tiny: bool, period_ns: int) -> None:
    document = undrained(document)
    options, twins = cast(document, period_ns), cast(document, period_ns)
    simulation = traced(document, capacity=TINY if tiny else None, **options)
    assert_agreement(document, simulation, **twins)
    assert options["agent"].state() == twins["agent"].state()
    assert options["actors"][0].state() == twins["actors"][0].state()


@given(document=documents(), period_ns=PERIODS_NS)
def test_what_was_sent_before_a_barrier_is_served_before_it_and_nothing_else(document: dict[str, Any], period_ns: int) -> None:
    document = undrained(document)
    document["faults"] = [fault for fault in document.get("faults", []) if fault["kind"] != "host_loss"]
    agent = Counts()
    simulation = traced(document, protocol=Counting, **cast(document, period_ns, agent))
    if simulation.summary()["lost"] == 0:
        both = agent.sent.keys() & agent.received.keys()
        assert {cut: agent.sent[cut] for cut in both} == {cut: agent.received[cut] for cut in both}
        assert agent.received.keys() <= agent.sent.keys()


def test_rounds_complete_and_records_wait_for_them() -> None:
    """Of the join's inputs one source's barrier comes long before the other's, whose link is slow: what comes meanwhile is passed over."""
    document = shuffled()
    agent = Counts()
    simulation = traced(document, protocol=Counting, **cast(document, 20_000_000, agent))
    complete = simulation._actors.actors[0].complete
    assert len(complete) >= 5
    assert sum(agent.received.values()) > 100
    cut = Counter(number for number, _ in agent.received)
    assert cut[1] == len(simulation._world.arrays.chan)
    assert agent.received == {key: agent.sent[key] for key in agent.received}


def test_a_source_with_a_backlog_sends_its_barrier_at_once() -> None:
    document = shuffled()
    document["cluster"]["hosts"][0] |= {"processor": {"kind": "dedicated"}, "cores": 5}
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 2_000_000.0}
    options = cast(document, 50_000_000)
    simulation = traced(document, **options)
    assert simulation.summary()["backlog"] > 100_000
    asked_ns = 50_000_000
    for instance in (0, 1):
        (number, cut_ns), *_ = options["agent"].cuts[instance]
        assert number == 1
        assert cut_ns - asked_ns < 1_000_000  # the way, and what it was serving


def test_a_cycle_waits_for_a_barrier_that_only_it_could_send() -> None:
    """The operator on the cycle would have to send the barrier before it can come round."""
    document = undrained(a_cycle_drains_when_nothing_goes_round())
    options = cast(document, 500_000)
    simulation = traced(document, **options)
    assert_agreement(document, simulation, **cast(document, 500_000))
    rounds = simulation._actors.actors[0]
    assert (rounds.round, rounds.complete) == (1, [])
    assert any(simulation._world.aside(i) for i in range(len(simulation._world.arrays.inst)))
    assert not simulation.drained


@pytest.mark.parametrize(
    "case",
    [
        losses_to_the_nanosecond,
        a_full_host_lets_watermarks_pass,
        blocked_while_others_share_the_core,
        credits_wait_at_a_cut,
        dozens_on_shared_cores,
    ],
)
def test_corner_cases_with_barriers_agree(case: Any) -> None:
    document = undrained(case())
    simulation = traced(document, capacity=TINY, **cast(document, 300_000))
    assert_agreement(document, simulation, **cast(document, 300_000))
    assert simulation._actors.agent.cuts


@pytest.mark.slow
def test_any_cutting_saving_and_forking_gives_the_same(tmp_path: Path) -> None:
    document = shuffled()
    whole = traced(document, **cast(document, 7_000_000))
    chance = random.Random("barriers")
    seen_aside = 0
    for n in range(6):
        run = engine.Simulation(document, datasets=DATASETS, trace=True, keep_outputs=True, **cast(document, 7_000_000))
        for time_ns in sorted(chance.randrange(run.end_ns) for _ in range(8)):
            run.run_until(time_ns)
            seen_aside += any(run._world.aside(i) for i in range(len(run._world.arrays.inst)))
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(
            document, tmp_path / f"{n}", datasets=DATASETS, trace=True, keep_outputs=True, **cast(document, 7_000_000)
        )
        fork = run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        for copy in (run, resumed, fork):
            copy.run_until(copy.end_ns)
            assert copy.digest() == whole.digest()
            assert copy.service_trace().tolist() == whole.service_trace().tolist()
    assert seen_aside
