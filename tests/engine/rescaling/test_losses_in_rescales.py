"""Hosts that are lost in each part of a rescale, with coordinated checkpoints (docs/autoscaling.md, section 3).

What this catches: a savepoint that is used though it never was complete, instances that stay held for ever, state that a machine takes
twice or from the wrong arrangement, a line that mixes two arrangements, records that are read again or never.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import pytest

import engine
from engine.core import layout as L
from engine.core.control.active_instances import active
from engine.core.control.ranks import HELD

from ...support.agreement import MS, finished, simulated
from ...support.moments import Moment, hosts_of, in_an_upload, lost_then, on_another_host, worker_of
from ...support.recovery_examples import Document, counting, loss, random_losses, with_losses
from ...support.rescaling_examples import (
    AFTER,
    JOBS,
    ORDERED_NS,
    assert_counts_add_up,
    assert_right,
    begins_anew,
    in_waiting,
    job_of,
    ordered,
    scaled,
    slow,
)


def rescaling(job: Callable[..., Document]) -> Document:
    orders = [{"at_s": ORDERED_NS / 1e9, "parallelism": AFTER[job.__name__]}]
    return scaled(slow(job), orders, {"restart_s": 0.008, "pod_start_s": 0.002})


@cache
def arranged_ns(job: Callable[..., Document]) -> int:
    """When all are ordered to begin anew, where nobody is lost."""
    return job_of(finished(rescaling(job))).actions[0].arranged_ns


def one_is_told_late(job: Callable[..., Document]) -> Document:
    """A machine that stands still as the orders come."""
    when = {"kind": "at", "at_s": arranged_ns(job) / 1e9}
    return rescaling(job) | {"faults": [{"kind": "pause", "host": "w3", "when": when, "for_ms": 5}]}


# -- the moments ---------------------------------------------------------------------------------------------------------------------


def in_stopping(simulation: engine.Simulation) -> set[int]:
    """Hosts of instances that are held, while others are not."""
    w, action = simulation._world.arrays, job_of(simulation).under_way
    if action is None or action.stored_ns >= 0:
        return set()
    held = w.inst[:, L.I_RANK] == HELD
    return set() if held[active(w)].all() else set(w.inst[held, L.I_HOST].tolist())


def in_storing(simulation: engine.Simulation) -> set[int]:
    """Hosts that have lately captured something that the store does not have, in a savepoint for which all have stopped."""
    w, action = simulation._world.arrays, job_of(simulation).under_way
    if action is None or action.stored_ns >= 0 or not (w.inst[active(w), L.I_RANK] == HELD).all():
        return set()
    return in_an_upload(simulation) or set(hosts_of(simulation))


def in_ordering(simulation: engine.Simulation) -> set[int]:
    """Hosts that have been ordered to begin anew, while others have not heard of it."""
    found = {host for host, begin in worker_of(simulation)._begins.items()}
    return found if begins_anew(simulation) and len(found) < len(hosts_of(simulation)) else set()


def in_fetching(simulation: engine.Simulation) -> set[int]:
    """Hosts that wait for what they fetch."""
    return {host for host, begin in worker_of(simulation)._begins.items() if begin.awaited}


def in_waiting_for_the_last(simulation: engine.Simulation) -> set[int]:
    """Hosts that have what is theirs, while others have not."""
    return set(job_of(simulation).recoveries[-1].restored) if begins_anew(simulation) else set()


def in_going_on(simulation: engine.Simulation) -> set[int]:
    """All go on, and no round has been confirmed since: the savepoint of the old arrangement is where they would go back to."""
    job = job_of(simulation)
    done = [action for action in job.actions if action.outcome == "done"]
    return {max(hosts_of(simulation))} if done and job._saved is not None and simulation.now_ns > done[0].ended_ns + 15 * MS else set()


BEFORE = (in_stopping, in_storing)
BEHIND = (in_waiting, in_ordering, in_fetching, in_waiting_for_the_last)


@on_another_host
@pytest.mark.parametrize("moment", BEFORE, ids=lambda moment: moment.__name__)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_before_the_savepoint_is_complete(job: Callable[..., Document], moment: Moment, other: bool) -> None:
    """It comes to nothing, and all go back to the last round, in the old arrangement."""
    simulation, lost_ns, host = lost_then(rescaling(job), moment, ORDERED_NS, ORDERED_NS + 60 * MS, other)
    before = dict(job_of(simulation).parallelism)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,), (recovery,) = manager.actions, manager.recoveries
    assert action.outcome == "aborted"
    assert f"w{host + 1} was lost before the savepoint was complete" == action.why
    assert action.begun_ns < lost_ns < action.ended_ns
    assert recovery.hosts == [host]
    (savepoint,) = [one for one in manager.rounds if one.savepoint]
    assert savepoint.ended == "aborted"
    assert {number for number in recovery.line if number >= 0} == {savepoint.number - 1}
    assert manager.parallelism == before
    assert_right(simulation, job)


@on_another_host
@pytest.mark.parametrize("moment", BEHIND, ids=lambda moment: moment.__name__)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_behind_the_savepoint(job: Callable[..., Document], moment: Moment, other: bool) -> None:
    """It is carried out all the same, later; nobody goes back to before it."""
    made = one_is_told_late(job) if moment is in_ordering else rescaling(job)
    simulation, lost_ns, host = lost_then(made, moment, ORDERED_NS, ORDERED_NS + 90 * MS, other)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,) = manager.actions
    assert action.outcome == "done"
    assert action.stored_ns < lost_ns < action.ended_ns
    (savepoint,) = [one for one in manager.rounds if one.savepoint]
    for recovery in manager.recoveries:
        assert {number for number in recovery.line if number >= 0} == {savepoint.number}
        assert sum(number >= 0 for number in recovery.line) == sum(action.after.values())
    lost = [recovery.hosts for recovery in manager.recoveries if not recovery.planned]
    assert lost == [] if moment is in_waiting else [[host]]
    assert manager.parallelism == action.after
    assert_right(simulation, job)


@on_another_host
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_before_the_first_round_of_the_new_arrangement(job: Callable[..., Document], other: bool) -> None:
    """All fetch the same parts of the savepoint again."""
    simulation, lost_ns, host = lost_then(rescaling(job), in_going_on, ORDERED_NS, ORDERED_NS + 200 * MS, other)
    read = int(simulation._world.arrays.inst[:, L.I_IN].sum())
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,) = manager.actions
    planned, recovery = manager.recoveries
    assert (planned.planned, recovery.planned, recovery.hosts) == (True, False, [host])
    assert action.outcome == "done"
    assert action.ended_ns < lost_ns < recovery.detected_ns
    assert recovery.line == planned.line
    assert sum(action.read.values()) < read
    assert simulation._world.arrays.inst[:, L.I_AGAIN].sum() > 0, "something was read again"
    assert_right(simulation, job)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_results_do_not_depend_on_rescales_and_losses(job: Callable[..., Document], seed: int) -> None:
    chance = random.Random(f"{job.__name__} {seed}")
    made = slow(job)
    times = sorted(round(chance.uniform(0.01, 0.29), 6) for _ in range(8))
    names = [host["name"] for host in made["cluster"]["hosts"]]
    losses = [one for _ in range(3) for one in random_losses(chance, names, 0.3)]
    whole = scaled(made, ordered(made, times, seed), {"restart_s": 0.004, "timeout_s": 0.05})
    simulation = simulated(with_losses(whole, losses), trace=False, keep_outputs=True)
    for moment_ns in sorted(chance.randrange(10 * MS, 400 * MS) for _ in range(10)):
        simulation.run_until(moment_ns)
        w = simulation._world.arrays
        if not (w.inst[active(w) & (w.inst[:, L.I_SOURCE] == 1), L.I_STATUS] == L.DOWN).any():  # then it is known how far they go back
            assert_counts_add_up(simulation)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    assert manager.recoveries
    assert all(action.outcome for action in manager.actions)
    assert_right(simulation, job)


# -- machines that have nothing to do, and runs without orders ---------------------------------------------------------------------------


def narrow(orders: list[Document], losses: list[Document]) -> Document:
    """One instance of each operator, all on the first machine; the others are there for more of them."""
    made = slow(counting)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 1
    return with_losses(scaled(made, orders, {"restart_s": 0.008}), losses)


WIDE = {"bids": 4, "keys": 4, "counts": 4, "sink": 4}
ONE = dict.fromkeys(WIDE, 1)


@pytest.mark.parametrize("at_s", [0.1, 0.145, 0.155, 0.165, 0.18, 0.285])
def test_a_machine_is_missed_while_it_is_in_use(at_s: float) -> None:
    """Before and behind that its loss changes nothing; while all begin anew they wait for it."""
    orders = [{"at_s": 0.15, "parallelism": WIDE}, {"at_s": 0.2, "parallelism": ONE}]
    simulation = finished(narrow(orders, [loss("w3", at_s, 0.03)]), keep_outputs=True)
    manager = job_of(simulation)
    w = simulation._world.arrays
    assert set(w.inst[w.inst[:, L.I_INDEX] == 0, L.I_HOST].tolist()) == {0}
    assert set(w.inst[w.inst[:, L.I_INDEX] == 2, L.I_HOST].tolist()) == {2}
    wide, one = manager.actions
    assert (wide.outcome, one.outcome) == ("done", "done")
    lost = [recovery for recovery in manager.recoveries if not recovery.planned]
    in_use = wide.arranged_ns < at_s * 1e9 < one.ended_ns
    assert len(lost) == in_use
    if wide.begun_ns < at_s * 1e9 < wide.arranged_ns:
        assert wide.ended_ns > (at_s + 0.03) * 1e9, "they wait for it"
    assert manager.parallelism == ONE
    assert_right(simulation, counting)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_without_orders_recoveries_are_what_they_are(job: Callable[..., Document]) -> None:
    losses = [loss("w2", 0.13), loss("w1", 0.21)]
    plain, scaling = simulated(with_losses(slow(job), losses)), simulated(with_losses(scaled(slow(job), []), losses))
    while (frame := plain.advance()) is not None:
        other = scaling.advance()
        assert other is not None
        assert {k: v for k, v in other.items() if k != "scaling"} == frame
    assert len(job_of(scaling).recoveries) == 2
    assert scaling.advance() is None
