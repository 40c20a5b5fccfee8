"""Hosts that are lost in each part of a rescale in place, with coordinated checkpoints (docs/autoscaling.md, section 3).

What this catches: a line that mixes two arrangements, state that moved and is put back to where it was, partitions that go on where others
have read them, instances that stay held for ever, barriers that go on along the edges of a rescale that came to nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

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
    in_place,
    in_waiting,
    job_of,
    slow,
    some_ordered,
)

KEYED = {"counting": "counts", "joining": "pairs"}


def rescaling(job: Callable[..., Document]) -> Document:
    orders = [{"at_s": ORDERED_NS / 1e9, "parallelism": AFTER[job.__name__]}]
    return in_place(slow(job), orders, {"switch_s": 0.012, "pod_start_s": 0})


def in_stopping(simulation: engine.Simulation) -> set[int]:
    """Hosts of instances that are held, while others of the changed operators are not."""
    w, action = simulation._world.arrays, job_of(simulation).under_way
    held = w.inst[:, L.I_RANK] == HELD
    if action is None or action.stored_ns >= 0 or held[active(w)].all():
        return set()
    return set(w.inst[held, L.I_HOST].tolist())


def in_storing(simulation: engine.Simulation) -> set[int]:
    action = job_of(simulation).under_way
    return set() if action is None or action.stored_ns >= 0 else in_an_upload(simulation)


def in_ordering(simulation: engine.Simulation) -> set[int]:
    """The order that the arrangement is to change is under way to all."""
    return set(hosts_of(simulation)) if begins_anew(simulation) and not worker_of(simulation)._moves else set()


def in_fetching(simulation: engine.Simulation) -> set[int]:
    """Hosts that wait for what they fetch."""
    return {host for host, move in worker_of(simulation)._moves.items() if move.awaited}


def in_waiting_for_the_last(simulation: engine.Simulation) -> set[int]:
    """Hosts that have what is theirs, while others have not."""
    awaited = set(job_of(simulation)._awaited)
    return set(hosts_of(simulation)) - awaited if awaited and begins_anew(simulation) else set()


def in_going_on(simulation: engine.Simulation) -> set[int]:
    """All go on, and no round has been confirmed since."""
    job = job_of(simulation)
    done = [action for action in job.actions if action.outcome == "done"]
    return {max(hosts_of(simulation))} if done and job._saved is not None and simulation.now_ns > done[0].ended_ns + 8 * MS else set()


BEFORE = (in_stopping, in_storing, in_waiting)
BEHIND = (in_ordering, in_fetching, in_waiting_for_the_last)


@on_another_host
@pytest.mark.parametrize("moment", BEFORE, ids=lambda moment: moment.__name__)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_before_anything_has_changed(job: Callable[..., Document], moment: Moment, other: bool) -> None:
    simulation, lost_ns, host = lost_then(rescaling(job), moment, ORDERED_NS, ORDERED_NS + 90 * MS, other)
    before = dict(job_of(simulation).parallelism)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,), (recovery,) = manager.actions, manager.recoveries
    assert action.outcome == "aborted"
    assert action.why == f"w{host + 1} was lost before the rescale changed anything"
    assert action.begun_ns < lost_ns < action.ended_ns
    assert recovery.hosts == [host]
    (savepoint,) = [one for one in manager.rounds if one.savepoint]
    assert {number for number in recovery.line if number >= 0} == {savepoint.number - 1}
    assert manager.parallelism == before
    assert_right(simulation, job)


@on_another_host
@pytest.mark.parametrize("moment", BEHIND, ids=lambda moment: moment.__name__)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_behind_the_order_to_change(job: Callable[..., Document], moment: Moment, other: bool) -> None:
    """All go back to the round before, but in the new arrangement."""
    simulation, lost_ns, _ = lost_then(rescaling(job), moment, ORDERED_NS, ORDERED_NS + 90 * MS, other)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,), (recovery,) = manager.actions, manager.recoveries
    assert action.outcome == "done"
    assert action.arranged_ns < lost_ns < action.ended_ns
    (savepoint,) = [one for one in manager.rounds if one.savepoint]
    assert {number for number in recovery.line if number >= 0} == {savepoint.number - 1}
    assert sum(number >= 0 for number in recovery.line) == sum(action.after.values())
    assert manager.parallelism == action.after
    assert simulation._world.arrays.inst[:, L.I_AGAIN].sum() > 0, "something was read again"
    assert_right(simulation, job)


@on_another_host
@pytest.mark.parametrize("first_round_s", [0.04, 0.2], ids=["a_round", "no_round"])
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_before_the_first_round_of_the_new_arrangement(job: Callable[..., Document], first_round_s: float, other: bool) -> None:
    """They go back to the round of the old arrangement, or where there is none to the start of the run, in the new one."""
    made = rescaling(job)
    made["policies"]["checkpointing"] = made["policies"]["checkpointing"] | {"interval_s": first_round_s}
    simulation, lost_ns, host = lost_then(made, in_going_on, ORDERED_NS, ORDERED_NS + 200 * MS, other)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    (action,), (recovery,) = manager.actions, manager.recoveries
    assert recovery.hosts == [host]
    assert action.outcome == "done"
    assert action.ended_ns < lost_ns < recovery.detected_ns
    (savepoint,) = [one for one in manager.rounds if one.savepoint]
    assert {number for number in recovery.line if number >= 0} == {savepoint.number - 1}
    assert (savepoint.number == 1) == (first_round_s == 0.2)
    assert manager.rounds[savepoint.number].triggered_ns == action.ended_ns, "a round begins at once"
    assert_right(simulation, job)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_results_do_not_depend_on_rescales_and_losses(job: Callable[..., Document], seed: int) -> None:
    chance = random.Random(f"{job.__name__} {seed}")
    made = slow(job)
    times = sorted(round(chance.uniform(0.01, 0.29), 6) for _ in range(8))
    names = [host["name"] for host in made["cluster"]["hosts"]]
    losses = [one for _ in range(3) for one in random_losses(chance, names, 0.3)]
    whole = in_place(made, some_ordered(made, times, seed), {"switch_s": 0.002, "timeout_s": 0.05})
    simulation = simulated(with_losses(whole, losses), trace=False, keep_outputs=True)
    for moment_ns in sorted(chance.randrange(10 * MS, 400 * MS) for _ in range(10)):
        simulation.run_until(moment_ns)
        w = simulation._world.arrays
        if not (w.inst[active(w) & (w.inst[:, L.I_SOURCE] == 1), L.I_STATUS] == L.DOWN).any():
            assert_counts_add_up(simulation)
    simulation.run_until(simulation.end_ns)
    manager = job_of(simulation)
    assert manager.recoveries
    assert all(action.outcome for action in manager.actions)
    assert_right(simulation, job)


# -- machines with nothing in use -----------------------------------------------------------------------------------------------------


def shrinking(*more: Document) -> Document:
    """At 60 ms nothing is left in use on the last machine."""
    orders = [{"at_s": 0.06, "parallelism": dict.fromkeys(AFTER["counting"], 3)}, *more]
    return in_place(slow(counting), orders, {"switch_s": 0.002, "pod_start_s": 0})


def in_use(simulation: engine.Simulation, host: int) -> bool:
    w = simulation._world.arrays
    return bool((active(w) & (w.inst[:, L.I_HOST] == host)).any())


def test_machines_that_took_no_part_in_a_recovery_take_part_in_what_comes_behind_it() -> None:
    growing = {"at_s": 0.17, "parallelism": dict.fromkeys(AFTER["counting"], 5)}
    simulation = simulated(with_losses(shrinking(growing), [loss("w2", 0.13), loss("w4", 0.25)]), trace=False, keep_outputs=True)
    last = len(simulation.experiment.expanded_hosts()) - 1
    simulation.run_until(169 * MS)
    manager, worker = job_of(simulation), worker_of(simulation)
    assert len(manager.recoveries) == 1
    assert not manager.recovering
    assert not in_use(simulation, last)
    assert worker.machine(last).epoch < manager.epoch, "it knows nothing of the recovery"
    simulation.run_until(simulation.end_ns)
    assert [action.outcome for action in manager.actions] == ["done", "done"]
    assert in_use(simulation, last)
    assert worker.machine(last).epoch == manager.epoch
    assert len(manager.recoveries) == 2
    line = {number for number in manager.recoveries[1].line if number >= 0}
    assert line == {one.number for one in manager.rounds if one.triggered_ns == manager.actions[1].ended_ns}
    assert_counts_add_up(simulation)
    assert_right(simulation, counting)


def test_what_sources_have_read_that_are_not_in_use_any_more_is_taken_back() -> None:
    """A loss before the first round of the new arrangement: others read their partitions again, and their machine takes no part."""
    simulation, _, _ = lost_then(shrinking(), in_going_on, 60 * MS, 200 * MS, other=False)
    last = len(simulation.experiment.expanded_hosts()) - 1
    simulation.run_until(simulation.end_ns)
    manager, w = job_of(simulation), simulation._world.arrays
    (action,), (recovery,) = manager.actions, manager.recoveries
    assert action.outcome == "done"
    assert last not in recovery.ordered
    gone = (w.inst[:, L.I_SOURCE] == 1) & ~active(w) & (w.inst[:, L.I_IN] > 0)
    assert (w.inst[gone, L.I_HOST] == last).all()
    assert (w.inst[gone, L.I_AGAIN] > 0).all()
    assert gone.any()
    assert_counts_add_up(simulation)
    assert_right(simulation, counting)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_without_orders_recoveries_are_what_they_are(job: Callable[..., Document]) -> None:
    losses: list[Any] = [loss("w2", 0.13), loss("w1", 0.21)]
    simulation = finished(with_losses(in_place(slow(job), []), losses))
    assert len(job_of(simulation).recoveries) == 2
    assert_right(simulation, job)
