"""Hosts that die of what they hold and are started again (docs/event-core.md, sections 10 and 13.2).

What this catches: something that a host does, or that gets out of it, after the instant in which it died; a death that is noticed later, in
a window, and looks different from one at a control point; two losses of one host that end the wrong one; deaths that nobody is told of.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from tests.support.corner_cases import CORNER_CASES
from tests.support.death_cases import DEATH_CASES
from tests.support.loss_cases import loss
from tests.support.network_cases import NETWORK_CASES, credits_wait_at_a_cut
from tests.support.strategies import documents
from tests.support.tiers import spread

from ...support.actor_examples import cast
from ...support.agreement import DATASETS, MS, TINY, assert_agreement, fingerprint, simulated, traced
from ...support.recovery_examples import with_random_losses
from ...support.worked_examples import line, with_memory

Document = dict[str, Any]


def mortal(made: Document, chance: random.Random) -> Document:
    """Most hosts die of a few records or of many, and are up again before a window is over or long after."""
    hosts = []
    for machine in made["cluster"]["hosts"]:
        memory: Document = {"kind": "budget", "budget_mb": chance.choice((0.0004, 0.0015, 0.006, 0.02)), "per_record_bytes": 60}
        memory["restart_after_s"] = chance.choice((0.000_000_001, 0.000_05, 0.0007, 0.004, 0.03))
        if chance.random() < 0.1:
            memory["restart_after_s"] = None
        hosts.append(machine if chance.random() < 0.2 else machine | {"memory": memory})
    return made | {"cluster": made["cluster"] | {"hosts": hosts}}


# -- the twin -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), tiny=st.booleans())
def test_random_experiments_agree(made: Document, seed: int, tiny: bool) -> None:
    dying = mortal(made, random.Random(seed))
    assert_agreement(dying, traced(dying, capacity=TINY) if tiny else None)


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6))
def test_random_experiments_with_losses_by_faults_agree(made: Document, seed: int) -> None:
    chance = random.Random(seed)
    assert_agreement(with_random_losses(mortal(made, chance), chance))


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), period_ns=st.sampled_from((1000, 70_000, 700_000)))
def test_random_experiments_with_actors_agree(made: Document, seed: int, period_ns: int) -> None:
    dying = mortal(made, random.Random(seed))
    dying["workload"] = dying["workload"] | {"drain": False}
    simulation, twins = traced(dying, capacity=TINY, **cast(period_ns)), cast(period_ns)
    assert_agreement(dying, simulation, **twins)
    for actor, twin in zip((*simulation._actors.actors, simulation._actors.agent), (*twins["actors"], twins["agent"]), strict=True):
        assert actor.state() == twin.state()


@pytest.mark.parametrize("tiny", [False, True], ids=["roomy", "tiny"])
@pytest.mark.parametrize("case", DEATH_CASES, ids=lambda case: case.__name__)
def test_cases_of_deaths_agree(case: Callable[[], Document], tiny: bool) -> None:
    made = case()
    simulation = traced(made, capacity=TINY) if tiny else traced(made)
    expected = assert_agreement(made, simulation)
    assert len(simulation.deaths) >= 5
    assert expected.lost["sink"] > 7 * len(simulation.deaths)


@pytest.mark.slow
@pytest.mark.parametrize("case", spread(CORNER_CASES + NETWORK_CASES, ci=17, first=0), ids=lambda case: case.__name__)
def test_corner_cases_agree(case: Callable[[], Document]) -> None:
    chance = random.Random(case.__name__)
    for capacity in (None, TINY):
        dying = mortal(case(), chance)
        assert_agreement(dying, traced(dying, capacity=capacity))


# -- however it is run --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), shares=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_state_at_any_moment_is_the_same_however_often_the_run_was_cut(made: Document, seed: int, shares: list[float]) -> None:
    """One run is cut at each moment at which something begins or ends, the other nowhere else than where they are compared."""
    dying = mortal(made, random.Random(seed))
    whole = traced(dying)
    moments = sorted({int(moment) for moment in whole.service_trace()[:, 1:3].ravel() if moment < whole.now_ns})
    often, rarely = simulated(dying), simulated(dying)
    compared = [int(share * whole.now_ns) for share in sorted(shares)]
    for moment in sorted([*moments, *compared]):
        often.run_until(moment)
        if moment in compared:
            rarely.run_until(moment)
            assert often.digest() == rarely.digest()
    for simulation in (often, rarely):
        simulation.run_until(simulation.end_ns)
        assert fingerprint(simulation) == fingerprint(whole)


@pytest.mark.parametrize("case", DEATH_CASES, ids=lambda case: case.__name__)
def test_a_death_leaves_the_same_whether_it_is_seen_at_once_or_later_in_its_window(case: Callable[[], Document]) -> None:
    """Credits set out for hosts that are dead already, from hosts that have gone through the window before them."""
    made = case() | {"policies": {"flow_control": {"kind": "credits", "per_channel": 30}}}
    made["cluster"]["hosts"].reverse()
    deaths_ns = [round(death["at_s"] * 1e9) for death in traced(made).deaths]
    assert len(deaths_ns) >= 3
    at_once, later = simulated(made), simulated(made)
    for death_ns in deaths_ns:
        at_once.run_until(death_ns)
        for simulation in (at_once, later):
            simulation.run_until(death_ns + 200_000)
        assert at_once.digest() == later.digest()


@pytest.mark.slow
def test_saved_and_forked_runs_go_on_to_the_same(tmp_path: Path) -> None:
    """Actors and agents take part; at some of the moments hosts are down, at others dead and restarted before."""
    made = credits_wait_at_a_cut()
    made["workload"] |= {"drain": False}
    for machine in made["cluster"]["hosts"]:
        machine["memory"] = {"kind": "budget", "budget_mb": 0.0005, "restart_after_s": 0.0004}
    whole = traced(made, **cast())
    assert len(whole.deaths) > 5
    run = simulated(made, **cast())
    for n, death in enumerate(whole.deaths[:: len(whole.deaths) // 5]):
        run.run_until(round(death["at_s"] * 1e9) + n % 2)
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(made, tmp_path / f"{n}", datasets=DATASETS, trace=True, keep_outputs=True, **cast())
        fork = run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        for copy in (resumed, fork):
            copy.run_until(copy.end_ns)
            assert fingerprint(copy) == fingerprint(whole)
            assert copy.deaths == whole.deaths


# -- worked examples ----------------------------------------------------------------------------------------------------------------------


def crash_loop(**memory: Any) -> Document:
    """A record of 100 bytes comes every millisecond and takes the sink three, on a host that holds ten."""
    return with_memory(line(), budget_mb=0.001, **{"restart_after_s": 0.005} | memory)


def test_a_host_dies_and_restarts_again_and_again() -> None:
    """When the record of 15 ms is read, ten wait: the limit is passed. At 20 ms the host is up; the five records of meanwhile are in the
    log, and ten wait again, and one is read, at 29 ms. From here on it is the same every 14 ms."""
    made = crash_loop()
    simulation = traced(made)
    expected = assert_agreement(made, simulation)
    assert [round(death["at_s"] * 1000, 6) for death in simulation.deaths] == [15, 29, 43, 57, 71, 85, 99]
    assert simulation.deaths[0] == {"host": "h", "at_s": 0.015, "used_bytes": 1100, "limit_bytes": 1000, "restart_at_s": 0.02}
    # each time ten queued records are lost, the one in the source's service is not sent, and the sink's delivered only if it is done
    assert expected.lost["sink"] == 7 * 10
    assert expected.unsent["source"] == 7
    assert simulation.now_ns == 100 * MS
    assert simulation.exhaustion == ""
    summary = simulation.summary()
    assert summary["memory"]["h"]["deaths"] == 7
    assert summary["memory"]["h"]["peak_bytes"] == 1100
    assert summary["exhaustion"] is None


def test_frames_say_which_hosts_died_since_the_last_one() -> None:
    made = crash_loop()
    made["measurement"]["frame_ms"] = 15
    run = engine.run(made)
    told = [[round(death["at_s"] * 1000, 6) for death in frame["deaths"]] for frame in run.frames]
    assert told == [[15], [29], [43], [57], [71], [85], [99]]
    assert [death for frame in run.frames for death in frame["deaths"]] == run.simulation.deaths
    last = engine.run(crash_loop(restart_after_s=None)).frames[-1]
    assert last["deaths"] == [{"host": "h", "at_s": 0.015, "used_bytes": 1100, "limit_bytes": 1000, "restart_at_s": None}]


def test_a_run_waits_for_the_restart_after_the_last_death() -> None:
    """Behind the log it reads one record after another; when eleven have come it dies, with the twelfth in its hands."""
    made = crash_loop(restart_after_s=0.2)
    made["workload"] |= {"drain": True, "drain_limit_s": 60.0}
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert simulation.drained
    assert [round(death["at_s"] * 1000, 3) for death in simulation.deaths] == [15, *(round(215.111 + n * 200.111, 3) for n in range(7))]
    assert simulation.summary()["backlog"] == 0


@pytest.mark.parametrize(
    ("name", "at_ms", "back_ms", "up_ms"),
    [
        ("before, and longer", 14, 22, 22),  # it is down, and cannot die
        ("in the same instant, and longer", 15, 23, 23),
        ("in the same instant, and shorter", 15, 16, 20),
        ("while it is down, and longer", 17, 23, 23),
        ("at the restart", 20, 22, 22),
        ("until the restart", 16, 20, 20),
        ("for ever", 17, None, None),
    ],
)
def test_losses_by_faults_overlap_with_deaths(name: str, at_ms: int, back_ms: int | None, up_ms: int | None) -> None:
    made = crash_loop() | {"faults": [loss("h", at_ms * MS, None if back_ms is None else back_ms * MS)]}
    simulation = traced(made)
    assert_agreement(made, simulation)
    starts = [start for instance, start, *_ in simulation.service_trace().tolist() if instance == 0 and start > 15 * MS]
    assert starts[:1] == ([] if up_ms is None else [up_ms * MS + 1])


@pytest.mark.parametrize("at_ms", [13, 15, 17, 20, 21])
def test_a_pause_of_a_host_that_is_down_is_none(at_ms: int) -> None:
    """One that begins before the death puts it off, to when the records of meanwhile are read; one at the restart holds."""
    pause = {"kind": "pause", "host": "h", "when": {"kind": "at", "at_s": at_ms / 1000}, "for_ms": 2.5}
    made = crash_loop() | {"faults": [pause]}
    simulation = traced(made)
    assert_agreement(made, simulation)
    first, second, *_ = [round(death["at_s"] * 1000, 3) for death in simulation.deaths]
    assert first == {13: 15.521}.get(at_ms, 15)
    assert (second == 29) == (at_ms in (13, 15, 17))


def test_a_host_that_restarts_at_once_is_down_for_a_nanosecond() -> None:
    made = crash_loop(restart_after_s=1e-9)
    simulation = traced(made)
    assert_agreement(made, simulation)
    at_ns = [round(death["at_s"] * 1e9) for death in simulation.deaths]
    starts = [start for instance, start, *_ in simulation.service_trace().tolist() if instance == 0]
    assert all(start not in range(t + 1, t + 2) for t in at_ns for start in starts)
    assert len(at_ns) > 4
