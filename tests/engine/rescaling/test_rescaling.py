"""Stop and restart: whoever asks for other parallelisms, and when, results stay what they are (docs/autoscaling.md, section 3).

What this catches: records that are lost, double or late after a rescale, state that is left behind, comes twice or to an instance that
does not get its records, partitions that nobody reads or that are read again, instances that go on too early or never, and orders that
are taken for others.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core.control.active_instances import active
from engine.core.control.ranks import HELD
from engine.rescaling import Job
from tests.support.tiers import spread

from ...support.agreement import MS, finished, frames_of, rows_of, simulated, template, traced
from ...support.keyed_state_examples import EVENT_TIME, PROCESSORS
from ...support.rescaling_examples import (
    MOST,
    assert_stops_are_noted,
    assert_the_same_however_cut,
    job_of,
    moments_of,
    order_of,
    ordered,
    parallelism_of,
    random_times,
    run_with_looks,
    running,
    scaled,
)

Document = dict[str, Any]


# -- the property -------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", EVENT_TIME)
def test_results_do_not_depend_on_rescales(name: str) -> None:
    done = 0
    for seed, (processor, bound) in enumerate(zip(PROCESSORS, (None, 1, 5, None), strict=True)):
        made = running(name, processor, bound)
        whole = finished(made)
        assert rows_of(whole).total() > 30
        simulation = simulated(scaled(made, ordered(made, random_times(seed), seed)), trace=False)
        run_with_looks(simulation, seed)
        last = job_of(simulation).actions[-1]
        actions = [action for action in job_of(simulation).actions if action.outcome == "done"]
        left_out = {action.why for action in job_of(simulation).actions if action.outcome != "done"}
        assert left_out <= {"a newer order arrived before it started"}, "behind backpressure a savepoint takes longer than the next order"
        assert len(actions) >= 6
        done += len(actions)
        assert len({tuple(action.after.values()) for action in actions}) >= len(actions) - 1
        assert sum(action.moved_bytes > 0 for action in actions) >= 3
        for action in actions:
            steps = action.ordered_ns, action.begun_ns, action.stopped_ns, action.drained_ns, action.stored_ns, action.arranged_ns
            assert list(steps) == sorted(steps)
            more = sum(action.after.values()) > sum(action.before.values())
            assert action.arranged_ns - action.stored_ns == MS + more * MS // 2
            assert action.restored_ns - action.stopped_ns > MS
            assert action.state_bytes >= action.moved_bytes
        assert_stops_are_noted(simulation)
        assert parallelism_of(simulation) == last.after == job_of(simulation).parallelism
        assert simulation.drained
        assert rows_of(simulation) == rows_of(whole)
        summary, plain = simulation.summary(), whole.summary()
        assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)
    assert done >= 32


# -- what else holds of a rescale ------------------------------------------------------------------------------------------------------


def busy(bound: int | None = 2, processor: str = "dedicated") -> Document:
    """Sliding windows with an order that takes effect at 20 ms."""
    return running("aggregate, sliding", processor, bound)


@pytest.mark.parametrize("processor", spread(list(PROCESSORS), ci=2))
def test_any_cutting_saving_and_forking_in_a_rescale_gives_the_same(processor: str, tmp_path: Path) -> None:
    made = scaled(busy(processor=processor), [order_of(0.02, kept=5, sink=3), order_of(0.05, **{"in": 5, "in_keys": 5})])
    made["policies"]["scaling"]["operators"]["in"]["min"] = 1
    whole = finished(made)
    assert [action.outcome for action in job_of(whole).actions] == ["done", "done"]
    assert_the_same_however_cut(whole, moments_of(whole), made, tmp_path)


def test_without_orders_it_is_nothing() -> None:
    made = busy()
    plain, scaling = simulated(made), simulated(scaled(made, []))
    while (frame := plain.advance()) is not None:
        other = scaling.advance()
        assert other is not None
        unlike = {"actors", "scaling"}
        assert {k: v for k, v in other.items() if k not in unlike} == {k: v for k, v in frame.items() if k not in unlike}
    assert rows_of(plain) == rows_of(scaling)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_nothing_is_served_while_the_job_is_down(processor: str) -> None:
    """From the savepoint until all go on; topics fill meanwhile."""
    made = scaled(busy(processor=processor), [order_of(0.02, kept=5, sink=3)], {"restart_s": 0.02})
    simulation = traced(made)
    (action,) = job_of(simulation).actions
    starts = [start for _, start, *_ in simulation.service_trace().tolist()]
    assert not any(action.drained_ns < start <= action.restored_ns for start in starts)
    sources = np.flatnonzero(simulation._world.arrays.inst[:, L.I_SOURCE] == 1).tolist()
    reads = [(i, start) for i, start, _, kind, *_ in simulation.service_trace(True).tolist() if i in sources and kind == 0]
    assert not any(action.drained_ns < start <= action.restored_ns for _, start in reads)
    assert sum(start <= action.drained_ns for _, start in reads) == action.read["in"]
    assert action.arranged_ns - action.stored_ns == 20 * MS + MS // 2
    stopped = simulated(made)
    stopped.run_until(action.stopped_ns)
    before = stopped._counters(action.stopped_ns).offered - action.read["in"]
    stopped.run_until(action.restored_ns)
    now = stopped._counters(action.restored_ns).offered
    assert now - action.read["in"] - before >= 0.95 * 5_000 * (action.restored_ns - action.stopped_ns) / 1e9


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_savepoint_that_takes_too_long_is_given_up(processor: str) -> None:
    """Some stand still by then, others do not: all go on where they are, and the next order is carried out."""
    made = busy(1, processor)
    for operator in made["query"]["operators"]:
        if operator["id"] in ("kept", "sink"):
            operator["cost"] = {"record_us": 300}
    whole = finished(made)
    some = 0
    for timeout_s in (0.001, 0.0012, 0.0014, 0.0016, 0.002, 0.003):
        late = scaled(made, [order_of(0.02, kept=5, sink=3), order_of(0.06, kept=2)], {"timeout_s": timeout_s})
        simulation = simulated(late, trace=False)
        simulation.run_until(20 * MS + round(timeout_s * 1e9))
        w = simulation._world.arrays
        held = int((w.inst[active(w), L.I_RANK] == HELD).sum())
        some += 0 < held < int(active(w).sum())
        simulation.run_until(simulation.end_ns)
        first = job_of(simulation).actions[0]
        assert first.outcome == "aborted"
        assert "not complete after" in first.why
        assert first.ended_ns == first.begun_ns + round(timeout_s * 1e9)
        assert simulation.drained
        assert not (simulation._world.arrays.inst[:, L.I_RANK] == HELD).any()
        assert rows_of(simulation) == rows_of(whole)
    assert some, "some stood still, others did not"


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_savepoint_that_the_store_has_no_space_for_is_given_up(processor: str) -> None:
    made = busy(2, processor)
    whole = finished(made)
    full = scaled(made, [order_of(0.02, kept=5, sink=3), order_of(0.06, kept=2)], {"store": {"request_ms": 0.1, "capacity_mb": 0.002}})
    simulation = finished(full)
    assert {(action.outcome, action.why) for action in job_of(simulation).actions} == {("aborted", "the store is full")}
    assert parallelism_of(simulation) == parallelism_of(whole)
    assert rows_of(simulation) == rows_of(whole)


class Orders:
    """Somebody who orders at some times, between two windows."""

    def __init__(self, orders: list[tuple[int, dict[str, int]]]):
        self.orders = orders
        self.job: Job | None = None

    @property
    def next_ns(self) -> int:
        return self.orders[0][0] if self.orders else L.FAR

    def act(self, world: Any, now_ns: int) -> None:
        _, wanted = self.orders.pop(0)
        assert self.job is not None
        self.job.order(wanted, now_ns, "policy")

    def state(self) -> Any:
        return [[at_ns, wanted] for at_ns, wanted in self.orders]

    def restore(self, state: Any) -> None:
        self.orders = [(at_ns, wanted) for at_ns, wanted in state]


def with_orders(made: Document, orders: list[tuple[int, dict[str, int]]]) -> engine.Simulation:
    most = {operator["id"]: MOST for operator in made["query"]["operators"]}
    simulation = simulated(made, trace=False, controls=[Orders(orders)], greatest=most)
    control = next(control for control in simulation._controls if isinstance(control, Orders))
    control.job = job_of(simulation)
    return simulation


def test_of_orders_that_wait_the_newest_is_carried_out() -> None:
    made = scaled(busy(), [order_of(0.021, kept=6)])
    whole = finished(busy())
    simulation = with_orders(made, [(20 * MS, {"kept": 5}), (21_500_000, {"sink": 4}), (22 * MS, {"in_keys": 3}), (200_000 * MS, {})])
    simulation.run_until(simulation.end_ns)
    actions = job_of(simulation).actions
    assert [(action.who, action.outcome) for action in actions] == [
        ("policy", "done"), ("document", "aborted"), ("policy", "aborted"), ("policy", "done"),
    ]  # fmt: skip
    assert actions[1].why == actions[2].why == "a newer order arrived before it started"
    assert actions[0].begun_ns == 20 * MS + 1
    assert actions[3].begun_ns == actions[0].ended_ns
    assert parallelism_of(simulation) == {"in": 3, "in_keys": 3, "kept": 5, "sink": 1}
    assert rows_of(simulation) == rows_of(whole)


def test_orders_that_change_nothing_or_come_too_late_or_are_impossible() -> None:
    made = scaled(busy(), [])
    simulation = with_orders(made, [(20 * MS, {"kept": 3}), (131 * MS, {"kept": 4})])
    simulation.run_until(simulation.end_ns)
    (action,) = job_of(simulation).actions
    assert (action.outcome, action.why, action.begun_ns) == ("aborted", "the job already has this parallelism", -1)
    for wanted, told in (({"keep": 2}, "'keep'"), ({"kept": 7}, "requests 7 instances of operator 'kept'; it can have 1 to 6")):
        with pytest.raises(ValueError, match=told):
            job_of(simulation).order(wanted, 1, "policy")


def test_an_order_in_a_round_waits_for_its_end() -> None:
    """Rounds and savepoints are numbered together; a tick that meets a savepoint is left out."""
    made = busy()
    whole = finished(made)
    rounds = {"kind": "coordinated", "interval_s": 0.005, "capture_ms": 0.05, "restart_ms": 3, "store": {"request_ms": 1.0}}
    made = scaled(made, [order_of(0.0251, kept=5, sink=3)])
    made["policies"]["checkpointing"] = rounds
    simulation = finished(made)
    (action,) = job_of(simulation).actions
    told = job_of(simulation).rounds
    (savepoint,) = [one for one in told if one.savepoint]
    before = told[savepoint.number - 2]
    assert before.triggered_ns < action.ordered_ns < before.ended_ns == action.begun_ns == savepoint.triggered_ns
    assert [one.number for one in told] == list(range(1, len(told) + 1))
    assert {one.ended for one in told} == {"confirmed"}
    assert any(action.begun_ns < at_ns < action.restored_ns for at_ns in job_of(simulation).skipped_ns)
    assert told[savepoint.number].triggered_ns > action.restored_ns
    summary = simulation.summary()["checkpointing"]
    assert summary["recoveries"] == 0, "nobody was lost"
    assert summary["rounds_confirmed"] == len(told) - 1, "a savepoint is no round of the protocol's"
    assert summary["checkpoints"] == sum(len(one.taken) for one in told if not one.savepoint)
    assert rows_of(simulation) == rows_of(whole)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("timeout_s", [1.0, 0.002], ids=["done", "given_up"])
def test_sources_that_are_behind_say_how_far_they_are(processor: str, timeout_s: float) -> None:
    """Their watermarks take their turns among the records that wait, before and after a rescale: windows end all the time."""
    made = busy(2, processor)
    for operator in made["query"]["operators"]:
        if operator["id"] == "in":
            operator["cost"] = {"record_us": 700}  # of two, which read half of what comes
    times_s = [round(0.02 + 0.025 * n, 3) for n in range(4)]
    orders = [order_of(at_s, kept=2 + n % 3) for n, at_s in enumerate(times_s)]
    simulation = simulated(scaled(made, orders, {"timeout_s": timeout_s}), trace=False)
    simulation.run_until(130 * MS)
    actions = job_of(simulation).actions
    assert [action.outcome for action in actions] == ["done" if timeout_s == 1 else "aborted"] * 4
    read = simulation._world.arrays.inst[simulation._world.arrays.inst[:, L.I_SOURCE] == 1, L.I_IN].sum()
    assert simulation._counters(simulation.now_ns).offered > 1.7 * read, "they are behind"
    ends = sorted(record["end_ns"] for record in simulation.sink_records("sink"))
    for action, after in itertools.pairwise(actions):
        assert any(action.ended_ns < end_ns < after.ordered_ns for end_ns in ends)
    simulation.run_until(simulation.end_ns)
    assert rows_of(simulation) == rows_of(finished(made))


def test_shares_are_those_of_the_instances_that_were_in_use() -> None:
    """A busy operator stays busy in frames in which its parallelism changes, and over the run."""
    made = busy(2)
    for operator in made["query"]["operators"]:
        if operator["id"] == "kept":
            operator["cost"] = {"record_us": 2000}  # two or three of them have more than they can do
    made["measurement"] = {**made.get("measurement", {}), "frame_ms": 10}
    made = scaled(made, [order_of(0.023, kept=2), order_of(0.063, kept=3)], {"restart_s": 0, "timeout_s": 10})
    simulation = simulated(made, trace=False)
    frames = frames_of(simulation)
    first, second = job_of(simulation).actions
    assert first.outcome == second.outcome == "done"
    in_use_ns = 3 * first.arranged_ns + 2 * (second.arranged_ns - first.arranged_ns) + 3 * (simulation.now_ns - second.arranged_ns)
    w = simulation._world.arrays
    kept = w.inst[:, L.I_OP] == simulation._plan.operators.index("kept")
    assert simulation.summary()["operators"]["kept"]["busy"] == round(int(w.inst[kept, L.I_BUSY].sum()) / in_use_ns, 6)
    assert 0.95 < max(frame["operators"]["kept"]["busy"] for frame in frames) <= 1


@pytest.mark.parametrize("processor", ["dedicated", "shared_fifo"])
def test_a_host_is_as_busy_as_the_processors_that_were_in_use(processor: str) -> None:
    """In a frame in the midst of which its instances become more, or fewer, too: what they did, by the time for which they were in use.

    Catches: a division by the instances at the frame's end."""
    made = busy(2, processor)
    made["measurement"] = {**made.get("measurement", {}), "frame_ms": 10}
    for machine in made["cluster"]["hosts"]:
        machine["cores"] = 100  # more than instances: each that is in use has one
    simulation = simulated(scaled(made, [order_of(0.023, kept=6), order_of(0.063, kept=1)], {"restart_s": 0, "timeout_s": 10}), trace=False)
    w, names = simulation._world.arrays, [laid.id for laid in job_of(simulation).operators]
    changed, since = 0, np.zeros(len(w.host), np.int64)
    while (frame := simulation.advance()) is not None:
        moves = [action for action in job_of(simulation).actions if 0 <= action.arranged_ns < simulation.now_ns]
        steps = [(0, moves[0].before if moves else job_of(simulation).parallelism), *((one.arranged_ns, one.after) for one in moves)]
        until_ns = [at_ns for at_ns, _ in steps[1:]] + [simulation.now_ns]
        from_ns = simulation.now_ns - 10_000_000
        counters = simulation._counters(simulation.now_ns)
        for h, sample in enumerate(frame["hosts"].values()):
            here = w.inst[:, L.I_HOST] == h
            in_use_ns = 0
            for (at_ns, parallelism), end_ns in zip(steps, until_ns, strict=True):
                there = sum(int(w.inst[i, L.I_INDEX]) < parallelism[names[int(w.inst[i, L.I_OP])]] for i in np.flatnonzero(here))
                in_use_ns += there * max(0, end_ns - max(at_ns, from_ns))
            done_ns = int(counters.busy_ns[here].sum()) - int(since[h])
            since[h] += done_ns
            assert sample["busy"] == pytest.approx(done_ns / max(in_use_ns, 10_000_000), abs=2e-6)
            assert sample["busy"] <= 1
        changed += any(from_ns < one.arranged_ns < simulation.now_ns for one in moves)
    assert changed == 2


def ending_early() -> Document:
    """Two sources with three partitions each of a file that ends at 5.7 s; the slow one is behind for some 30 s more."""
    made = template("flights", horizon_s=60)
    made["query"]["operators"][0]["cost"] = {"record_us": 50}
    fast = {name: value for name, value in made["cluster"]["hosts"][0].items() if name != "count"} | {"cores": 16}
    made["cluster"]["hosts"] = [{**fast, "name": "fast", "speed": 1.0}, {**fast, "name": "slow", "speed": 0.1}]
    hosts = {"flights": ["fast", "slow"], "average": ["fast"] * 4, "late": ["fast"] * 4, "sink": ["fast"]}
    made["placement"] = {"kind": "explicit", "hosts": hosts}
    made["workload"]["sources"]["flights"] |= {"rate": {"kind": "constant", "per_s": 20_000}, "partitions": MOST}
    return made


@pytest.mark.parametrize("flights", [(6,), (1,), (4, 1, 3)], ids=str)
def test_partitions_that_have_been_read_to_their_ends_hold_nobody_back(flights: tuple[int, ...]) -> None:
    """One source has read its log to the end, the other has not: who takes over what is read lets windows close all the same."""
    made = ending_early()
    whole = finished(made)
    assert len(whole.sink_records("sink")) > 4000
    simulation = simulated(scaled(made, [order_of(12 + 4 * n, flights=p) for n, p in enumerate(flights)]), trace=False)
    simulation.run_until(12 * 1000 * MS)
    inst = simulation._world.arrays.inst
    fast, slow = np.flatnonzero((inst[:, L.I_SOURCE] == 1) & (inst[:, L.I_STATUS] != L.DOWN)).tolist()
    assert inst[fast, L.I_WATERMARK] == L.FAR > inst[slow, L.I_WATERMARK], "the one is at its end, the other is not"
    simulation.run_until(simulation.end_ns)
    assert [action.outcome for action in job_of(simulation).actions] == ["done"] * len(flights)
    assert rows_of(simulation) == rows_of(whole)
    summary, plain = simulation.summary(), whole.summary()
    assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)
