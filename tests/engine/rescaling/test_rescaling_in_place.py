"""Rescaling in place: results stay what they are, and what is not concerned goes on (docs/autoscaling.md, section 3).

What this catches: state that is left behind, lost or put in twice while others go on; receivers that wait for an instance that is gone, or
do not wait for one that is new; credits that are lost or made; instances that stand still for no reason, or for ever.
"""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core.control.active_instances import active
from engine.core.control.ranks import HELD
from tests.support.tiers import spread

from ...support.agreement import MS, finished, rows_of, simulated, traced
from ...support.keyed_state_examples import EVENT_TIME, PROCESSORS
from ...support.rescaling_examples import (
    Document,
    assert_stops_are_noted,
    assert_the_same_however_cut,
    in_place,
    job_of,
    moments_of,
    order_of,
    ordered,
    parallelism_of,
    random_times,
    run_with_looks,
    running,
    scaled,
    some_ordered,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVENT_TIME)
def test_results_do_not_depend_on_rescales(name: str) -> None:
    done = 0
    for seed, (processor, bound) in enumerate(zip(PROCESSORS, (None, 1, 5, None), strict=True)):
        made = running(name, processor, bound)
        whole = finished(made)
        simulation = simulated(in_place(made, ordered(made, random_times(seed), seed)), trace=False)
        run_with_looks(simulation, seed)
        actions = [action for action in job_of(simulation).actions if action.outcome == "done"]
        assert len(actions) >= 6, [(a.outcome, a.why) for a in job_of(simulation).actions]
        done += len(actions)
        assert sum(action.moved_bytes > 0 for action in actions) >= 3
        assert_stops_are_noted(simulation)
        assert simulation.drained
        assert rows_of(simulation) == rows_of(whole)
        summary, plain = simulation.summary(), whole.summary()
        assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)
        assert parallelism_of(simulation) == job_of(simulation).parallelism
    assert done >= 32


# -- where only a part is concerned ------------------------------------------------------------------------------------------------------


def branching(processor: str = "dedicated", bound: int | None = None) -> Document:
    """Two ways to one operator with windows, and a branch beside it with windows of its own."""
    made = running("aggregate, sliding", processor, bound)
    operators, edges = made["query"]["operators"], made["query"]["edges"]
    kept = next(operator for operator in operators if operator["id"] == "kept")
    side = [dict(one, id=id) for one, id in ((kept, "other"), (operators[-1], "other_sink"))]
    side[0]["params"] = kept["params"] | {"window": {"kind": "tumbling", "size_s": 0.001, "clock": "event"}, "lateness_ms": 0}
    low, high = (
        {"id": id, "kind": "filter", "parallelism": 2, "params": {"predicate": f"price % 2 == {n}"}} for n, id in enumerate(("low", "high"))
    )
    operators += [*side, low, high, {"id": "both", "kind": "union", "parallelism": 2}]
    (hashed,) = [edge for edge in edges if edge["target"] == "kept"]
    edges.remove(hashed)
    apart = {"kind": "rebalance"}
    edges += [{"source": "in_keys", "target": id, "partitioning": apart} for id in ("low", "high")]
    edges += [{"source": id, "target": "both", "partitioning": apart} for id in ("low", "high")]
    edges += [{**hashed, "source": "both"}, {**hashed, "target": "other"}]
    edges.append({"source": "other", "target": "other_sink", "partitioning": apart})
    return made


def assert_credits_are_whole(simulation: engine.Simulation, at_rest: bool) -> None:
    """What a channel may still take and what is under way on it are its bound."""
    w = simulation._world.arrays
    for e in np.flatnonzero(w.edge[:, L.E_BOUND] > 0).tolist():
        bound, first = int(w.edge[e, L.E_BOUND]), int(w.edge[e, L.E_CREDIT])
        channels = np.flatnonzero(w.chan[:, L.C_EDGE] == e)
        taken = w.carried[channels, L.SEQ_SENT] - w.chan[channels, L.C_CONSUMED]
        gone = (w.credit[first : first + bound * len(channels)].reshape(-1, bound) == L.FAR).sum(axis=1)
        assert (taken == gone).all()
        assert not (at_rest and taken.any())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("processor", "bound"), list(zip(PROCESSORS, (1, None, 3, 1), strict=True)), ids=PROCESSORS)
def test_results_do_not_depend_on_rescales_of_a_part(processor: str, bound: int | None, seed: int) -> None:
    made = branching(processor, bound)
    if seed % 2:
        for operator in made["query"]["operators"]:
            if operator["id"] in ("sink", "other_sink"):  # what has left is still under way at the next rescale
                operator["cost"] = {"record_us": 60}
    whole = finished(made)
    assert min(rows.total() for rows in rows_by_sink(whole)) > 400
    simulation = simulated(in_place(made, some_ordered(made, random_times(seed), seed)), trace=False)
    run_with_looks(simulation, seed, lambda: assert_credits_are_whole(simulation, at_rest=False))
    actions = job_of(simulation).actions
    assert sum(action.outcome == "done" for action in actions) >= 6, [(a.outcome, a.why, a.begun_ns, a.ended_ns) for a in actions]
    assert_stops_are_noted(simulation)
    assert simulation.drained
    assert_credits_are_whole(simulation, at_rest=True)
    assert rows_by_sink(simulation) == rows_by_sink(whole)
    summary, plain = simulation.summary(), whole.summary()
    assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)
    assert parallelism_of(simulation) == job_of(simulation).parallelism


def rows_by_sink(simulation: engine.Simulation) -> list[Counter[str]]:
    return [Counter(repr(record["values"]) for record in simulation.sink_records(sink)) for sink in simulation.sinks]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_what_is_not_concerned_goes_on(processor: str) -> None:
    """Sources and the other branch serve in each millisecond of a rescale, while what it concerns serves nothing."""
    made = in_place(branching(processor), [order_of(0.0204, kept=5)], {"switch_s": 0.02})
    simulation = traced(made)
    (action,) = job_of(simulation).actions
    assert action.outcome == "done"
    assert action.ended_ns - action.drained_ns > 20 * MS
    worker: Any = simulation._actors.agent
    assert [found[action.savepoint].unread for found in (worker.stopped, worker.went_on)] == [None, None], "no source stops"
    starts: dict[str, list[int]] = {}
    w = simulation._world.arrays
    for i, start, *_ in simulation.service_trace().tolist():
        starts.setdefault(simulation._plan.operators[int(w.inst[i, L.I_OP])], []).append(start)
    for id in ("in", "in_keys", "low", "high", "other", "other_sink"):
        for from_ns in range(action.stopped_ns, action.ended_ns - 2 * MS, 2 * MS):
            assert any(from_ns <= start < from_ns + 2 * MS for start in starts[id]), f"{id} did nothing from {from_ns} on"
    for id in ("both", "kept"):
        assert not any(action.drained_ns < start < action.restored_ns for start in starts[id])
        assert any(start > action.ended_ns for start in starts[id])


def last_marks(simulation: engine.Simulation) -> int:
    """Marks under way that say that their sender has left."""
    w = simulation._world.arrays
    under_way = np.ones(len(w.msg), bool)
    under_way[w.free[: w.g[L.G_FREE]]] = False
    senders = w.chan[w.msg[:, L.M_CHANNEL], L.C_SENDER]
    return int((under_way & (w.msg[:, L.M_KIND] == L.WATERMARK) & (w.msg[:, L.M_EVENT] == L.FAR) & ~active(w)[senders]).sum())


@pytest.mark.parametrize("processor", PROCESSORS)
def test_who_comes_back_before_it_is_known_to_have_left_holds_others_back(processor: str) -> None:
    made = branching(processor)
    for operator in made["query"]["operators"]:
        if operator["id"] == "both":
            operator["cost"] = {"record_us": 1500}  # what comes to it waits ever longer
        if operator["id"] == "kept":
            operator["params"] = operator["params"] | {"lateness_ms": 0}
        if operator["id"] == "high":
            operator["parallelism"] = 1
    like = made["cluster"]["hosts"][0]
    hosts = [{**like, "name": f"w{n}", "count": 1, "egress_latency_ms": 0.5 if n == 1 else 5.0} for n in (1, 2, 3)]
    made["cluster"]["hosts"] = hosts  # so that some say sooner than others how far they are
    whole = finished(made)
    simulation = simulated(in_place(made, [order_of(0.04, low=1), order_of(0.08, low=2)]), trace=False)
    simulation.run_until(79 * MS)
    first, *_ = job_of(simulation).actions
    assert first.outcome == "done"
    assert last_marks(simulation) > 0
    simulation.run_until(130 * MS)
    assert [action.outcome for action in job_of(simulation).actions] == ["done", "done"]
    assert last_marks(simulation) == 0
    simulation.run_until(simulation.end_ns)
    assert rows_by_sink(simulation) == rows_by_sink(whole)
    assert simulation.summary()["late"] == whole.summary()["late"]


@pytest.mark.parametrize("processor", spread(list(PROCESSORS), ci=2))
def test_any_cutting_saving_and_forking_in_a_rescale_gives_the_same(processor: str, tmp_path: Path) -> None:
    made = in_place(branching(processor, 2), [order_of(0.02, kept=5, low=1), order_of(0.05, **{"in": 5, "in_keys": 5}, low=3)])
    made["policies"]["scaling"]["operators"]["in"]["min"] = 1
    whole = finished(made)
    assert [action.outcome for action in job_of(whole).actions] == ["done", "done"]
    assert_the_same_however_cut(whole, [*moments_of(whole, 0), *moments_of(whole, 1)], made, tmp_path)


def test_pods_start_while_all_runs_and_only_where_there_are_more() -> None:
    times = {"switch_s": 0.003, "pod_start_s": 0.01}
    orders = [order_of(0.02, kept=5), order_of(0.05, kept=2), order_of(0.08, low=1, high=6)]
    simulation = finished(in_place(branching(), orders, times), trace=True)
    assert [action.begun_ns - action.ordered_ns for action in job_of(simulation).actions] == [10 * MS, 0, 10 * MS]
    for action in job_of(simulation).actions:
        assert action.outcome == "done"
        assert action.arranged_ns - action.stored_ns == 3 * MS
        assert action.state_bytes == action.moved_bytes


def test_it_is_down_for_less_time_than_a_restart() -> None:
    """With the same times, and what stays in place is neither written nor read."""
    for parallelism in ({"kept": 5}, {"in": 5, "in_keys": 5}, {"kept": 2, "in": 1, "in_keys": 1}):
        orders = [{"at_s": 0.05, "parallelism": parallelism}]
        slow = {"pod_start_s": 0, "store": {"request_ms": 0.1, "write_mb_per_s": 1, "read_mb_per_s": 1}}
        placed = job_of(finished(in_place(branching(), orders, {**slow, "switch_s": 0.004}))).actions[0]
        restarted = job_of(finished(scaled(branching(), orders, {**slow, "restart_s": 0.004}))).actions[0]
        assert placed.outcome == restarted.outcome == "done"
        assert placed.restored_ns - placed.stopped_ns < restarted.restored_ns - restarted.stopped_ns
        assert placed.moved_bytes <= restarted.moved_bytes


@pytest.mark.parametrize("processor", PROCESSORS)
def test_what_takes_too_long_is_given_up(processor: str) -> None:
    """Some stand still by then, others do not: all go on where they are, and the next order is carried out."""
    made = branching(processor, 1)
    for operator in made["query"]["operators"]:
        if operator["id"] in ("kept", "sink", "both"):
            operator["cost"] = {"record_us": 300}
    whole = finished(made)
    some = 0
    for timeout_s in (0.001, 0.0012, 0.0014, 0.0016, 0.002, 0.003):
        late = in_place(made, [order_of(0.02, kept=5, low=3), order_of(0.06, kept=2)], {"timeout_s": timeout_s, "pod_start_s": 0})
        simulation = simulated(late, trace=False)
        simulation.run_until(20 * MS + round(timeout_s * 1e9))
        w = simulation._world.arrays
        held = int((w.inst[active(w), L.I_RANK] == HELD).sum())
        some += held > 0
        simulation.run_until(simulation.end_ns)
        first, _ = job_of(simulation).actions
        assert first.outcome == "aborted"
        assert "not complete after" in first.why
        assert first.ended_ns == first.begun_ns + round(timeout_s * 1e9)
        assert simulation.drained
        assert not (simulation._world.arrays.inst[:, L.I_RANK] == HELD).any()
        assert rows_by_sink(simulation) == rows_by_sink(whole)
        assert job_of(simulation).open_round is None
    assert some, "some stood still"


@pytest.mark.parametrize("processor", PROCESSORS)
def test_what_the_store_has_no_space_for_is_given_up(processor: str) -> None:
    made = branching(processor, 2)
    whole = finished(made)
    full = {"store": {"request_ms": 0.1, "capacity_mb": 0.002}}
    simulation = finished(in_place(made, [order_of(0.02, kept=5, sink=3), order_of(0.06, kept=2)], full))
    assert {(action.outcome, action.why) for action in job_of(simulation).actions} == {("aborted", "the store is full")}
    assert parallelism_of(simulation) == parallelism_of(whole)
    assert rows_by_sink(simulation) == rows_by_sink(whole)
    assert not (simulation._world.arrays.inst[:, L.I_RANK] == HELD).any()


def test_who_is_told_late_to_go_on_does_so_though_the_next_rescale_has_begun() -> None:
    """One machine pauses just then, and the next rescale concerns nobody of those who stand still there."""
    made = in_place(branching(), [order_of(0.03, kept=5), order_of(0.031, other=4)])
    whole = finished(made)
    first, second = job_of(whole).actions
    assert first.ended_ns < second.begun_ns < first.ended_ns + MS
    pause = {"kind": "pause", "host": "w3", "when": {"kind": "at", "at_s": (first.ended_ns - 1000) / 1e9}, "for_ms": 10}
    simulation = simulated(made | {"faults": [pause]}, trace=False)
    simulation.run_until(first.ended_ns + 8 * MS)
    worker: Any = simulation._actors.agent
    numbers = [action.savepoint for action in job_of(simulation).actions]
    assert worker._plan.number == numbers[1]
    assert set(worker._held.values()) == set(numbers), "some stand still behind the first, and some behind the second"
    simulation.run_until(simulation.end_ns)
    assert [action.outcome for action in job_of(simulation).actions] == ["done", "done"]
    assert simulation.drained
    assert not worker._held
    assert not (simulation._world.arrays.inst[:, L.I_RANK] == HELD).any()
    assert rows_by_sink(simulation) == rows_by_sink(whole)


def apart(made: Document, ms: float) -> Document:
    """One way from the second machine to the first takes longer than a rescale; the first one has one instance of a filter more."""
    like = made["cluster"]["hosts"][0]
    made["cluster"]["hosts"] = [{field: value for field, value in like.items() if field != "count"} | {"name": f"w{n}"} for n in (1, 2, 3)]
    made["cluster"]["links"] = [{"source": "w2", "target": "w1", "latency_ms": ms}]
    for operator in made["query"]["operators"]:
        if operator["id"] in ("in", "in_keys", "high", "both"):
            operator["parallelism"] = 1
        if operator["id"] == "kept":
            operator["params"] = operator["params"] | {"lateness_ms": 0}
    return made


def test_what_was_sent_by_those_who_have_left_is_served_before_receivers_stop() -> None:
    made = apart(branching(), 30)
    whole = finished(made)
    simulation = simulated(in_place(made, [order_of(0.06, low=1), order_of(0.0601, both=2)]), trace=False)
    simulation.run_until(60 * MS + 200_000)
    while job_of(simulation).actions[1].begun_ns < 0:
        simulation.run_until(simulation.now_ns + 100_000)
    assert last_marks(simulation) > 0
    simulation.run_until(simulation.end_ns)
    first, second = job_of(simulation).actions
    assert first.outcome == second.outcome == "done"
    assert second.stored_ns - second.begun_ns > 20 * MS > first.ended_ns - first.begun_ns
    assert rows_by_sink(simulation) == rows_by_sink(whole)
    assert simulation.summary()["late"] == whole.summary()["late"]


def test_what_channels_may_hold_is_shared_anew() -> None:
    made = branching()
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1000, "per_instance_bytes": 50_000}}
    simulation = finished(in_place(made, [order_of(0.05, kept=6, both=5)]))
    from_start = copy.deepcopy(made)
    for operator in from_start["query"]["operators"]:
        operator["parallelism"] = {"kept": 6, "both": 5}.get(operator["id"], operator.get("parallelism", 1))
    others = simulated(from_start, trace=False)._world.arrays.edge
    plan = simulation._plan
    bounds = simulation._world.arrays.edge[:, L.E_BOUND]
    into = np.isin(others[:, L.E_TARGET], [plan.operators.index(id) for id in ("both", "kept")])
    assert into.sum() == 3
    assert (bounds[into] == others[into, L.E_BOUND]).all()
    assert len(set(bounds[into].tolist())) > 1
