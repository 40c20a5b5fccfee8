"""Operators that move: where they are changes no result (docs/relocation.md).

What this catches: records that are lost, double or late after a move, state that is left behind, a channel that leads to the old host, a
watermark of an instance that is no longer there, and a run with moves to come that differs from one without before the first.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core.control.active_instances import active
from engine.spec.rules.resources import Budgets
from engine.spec.rules.validation import Context, load, validate
from tests.support.tiers import spread

from ...support.agreement import DATASETS, MS, finished, frames_of, rows_of, simulated, traced
from ...support.keyed_state_examples import EVENT_TIME, KINDS, PROCESSORS, moving_document
from ...support.recovery_examples import coordinated, loss, with_losses
from ...support.rescaling_examples import assert_counts_add_up, assert_stops_are_noted, assert_the_same_however_cut, job_of, moments_of

Document = dict[str, Any]
QUICK = {"kind": "stop_and_restart", "restart_s": 0.001, "pod_start_s": 0.0005, "timeout_s": 1.0, "store": {"request_ms": 0.1}}
HOSTS = ("w1", "w2", "w3")


def still(name: str, processor: str = "dedicated", bound: int | None = None) -> Document:
    """One instance of each operator, on three hosts, with partitions."""
    made = moving_document(name, processor, bound)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 1
    made["workload"]["horizon_s"] = 0.13
    made["measurement"]["frame_ms"] = 10
    ids = [operator["id"] for operator in made["query"]["operators"]]
    made["placement"] = {"kind": "explicit", "hosts": {id: [HOSTS[n % 3]] for n, id in enumerate(ids)}}
    return made


def moved(made: Document, moves: list[Document], **more: Any) -> Document:
    scaling = {"kind": "move", "moves": moves, "rescaling": QUICK, "capture_ms": 0.01, **more}
    return made | {"policies": {**made.get("policies", {}), "scaling": scaling}}


def random_moves(made: Document, seed: int, count: int = 8) -> list[Document]:
    """At random times, each operator to a random host."""
    chance = random.Random(f"moves {seed}")
    ids = [operator["id"] for operator in made["query"]["operators"]]
    times_s = [round(0.002 + 0.014 * n + chance.random() * 0.002, 7) for n in range(count)]
    return [{"at_s": at_s, "hosts": {id: chance.choice(HOSTS) for id in ids}} for at_s in times_s]


def hosts_of(simulation: engine.Simulation) -> dict[str, str]:
    """Of the active instances."""
    w = simulation._world.arrays
    rows = w.inst[active(w)][:, [L.I_OP, L.I_HOST]].tolist()
    assert len(rows) == len(simulation._plan.operators), "of each operator one instance is active"
    return {simulation._plan.operators[o]: simulation._plan.hosts[host] for o, host in rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", spread(EVENT_TIME, ci=4, first=1))
def test_results_do_not_depend_on_moves(name: str) -> None:
    for seed, (processor, bound) in enumerate(zip(PROCESSORS, (None, 1, 5, None), strict=True)):
        made = still(name, processor, bound)
        whole = finished(made)
        assert rows_of(whole).total() > 30
        asked = random_moves(made, seed)
        simulation = finished(moved(made, asked))
        actions = [action for action in job_of(simulation).actions if action.outcome == "done"]
        left_out = {action.why for action in job_of(simulation).actions if action.outcome != "done"}
        assert left_out <= {"a newer order arrived before it started"}
        assert len(actions) >= 5
        assert sum(action.moved_bytes > 0 for action in actions) >= 2
        assert hosts_of(simulation) == asked[-1]["hosts"]
        assert_stops_are_noted(simulation)
        assert_counts_add_up(simulation)
        assert simulation.drained
        assert rows_of(simulation) == rows_of(whole)
        summary, plain = simulation.summary(), whole.summary()
        assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)


def without_moves(frame: Document) -> Document:
    """A frame without what tells of moves: the job manager, and indexes of instances, which are those of their hosts."""
    hosts = {name: {**host, "busiest": None} for name, host in frame["hosts"].items()}
    return {name: value for name, value in frame.items() if name not in ("scaling", "actors")} | {"hosts": hosts}


@pytest.mark.slow
@pytest.mark.parametrize("name", spread(sorted(KINDS), ci=3, first=2))
def test_a_run_is_the_one_without_until_its_first_move(name: str) -> None:
    made = still(name)
    for operator in made["query"]["operators"]:
        operator["cost"] = {"noise": {"kind": "lognormal", "cv": 0.2}}
    del made["workload"]["drain"]
    plain, waiting = simulated(made), simulated(moved(made, []))
    expected = frames_of(plain)
    assert len(expected) > 1
    for frame, other in zip(expected, frames_of(waiting), strict=True):
        assert without_moves(frame) == without_moves(other)
    assert rows_of(waiting) == rows_of(plain)


@pytest.mark.slow
def test_state_goes_along_over_the_links() -> None:
    """The same state takes longer to a host with a slower way from the store, and more state takes longer."""
    made = still("aggregate, sliding")
    made["workload"] |= {"horizon_s": 0.4}
    store = {"write_mb_per_s": 2.0, "read_mb_per_s": 2.0, "request_ms": 0.1}

    def took_ns(per_s: float) -> tuple[int, int]:
        made["workload"]["sources"]["in"]["rate"] = {"kind": "constant", "per_s": per_s}
        scaling = {"rescaling": QUICK | {"store": store}}
        (action,) = job_of(finished(moved(made, [{"at_s": 0.2, "hosts": {"kept": "w1"}}], **scaling))).actions
        assert action.moved_bytes > 0
        return action.moved_bytes, action.ended_ns - action.begun_ns

    few, many = took_ns(2_000), took_ns(20_000)
    assert many[0] > 2 * few[0]
    assert many[1] - few[1] > (many[0] - few[0]) * 1000 / 2.0, "it is read and written at 2 MB/s"


@pytest.mark.slow
def test_cuts_saves_and_forks_within_a_move(tmp_path: Path) -> None:
    made = moved(still("window_join"), random_moves(still("window_join"), 3, 2))
    whole = finished(made)
    moments = moments_of(whole)
    assert len(moments) >= 3
    assert_the_same_however_cut(whole, moments, made, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("lost_ms", spread(range(19, 91, 3), ci=4, first=1))
def test_a_host_that_is_lost_before_in_or_after_a_move(lost_ms: int, host: str) -> None:
    """With checkpoints, what is lost comes back where it was, or where the savepoint of the move leaves it."""
    made = still("aggregate, sliding")
    made["policies"] = {"checkpointing": coordinated()}
    asked = [{"at_s": 0.02, "hosts": {"kept": "w2", "in": "w3"}}, {"at_s": 0.06, "hosts": {"kept": "w3", "sink": "w1"}}]
    whole = rows_of(finished(made))
    simulation = finished(with_losses(moved(made, asked), [loss(host, lost_ms / 1000)]))
    actions = job_of(simulation).actions
    why = [action.why for action in actions if action.outcome != "done"]
    assert all("was lost before the savepoint" in each or each == "its operators are there already" for each in why)
    assert simulation.drained
    assert set(rows_of(simulation)) == set(whole), "rows may come twice, but none is wrong or missing"
    assert rows_of(simulation) >= whole
    assert_counts_add_up(simulation)


@pytest.mark.slow
def test_processing_time_windows_and_counts_go_on() -> None:
    """Their rows depend on when records are served; none is lost or counted twice."""
    for name in ("window_join, processing", "aggregate, processing", "count_window_aggregate, sliding"):
        made = still(name)
        simulation = finished(moved(made, random_moves(made, 5)))
        assert simulation.drained
        assert_counts_add_up(simulation)
        assert simulation.summary()["lost"] == 0


def test_frames_tell_what_moved_and_where_operators_are() -> None:
    made = still("aggregate, sliding")
    simulation = simulated(moved(made, [{"at_s": 0.05, "hosts": {"kept": "w2", "sink": "w1", "in": "w2"}}]))
    frames = [frame["scaling"] for frame in frames_of(simulation)]
    assert frames[0]["hosts"] == {"in": "w1", "in_keys": "w2", "kept": "w3", "sink": "w1"}
    done = [action for frame in frames for action in frame["actions"] if action["outcome"] == "done"]
    assert done[-1]["moves"] == {"kept": ["w3", "w2"], "in": ["w1", "w2"]}
    assert frames[-1]["hosts"] == {"in": "w2", "in_keys": "w2", "kept": "w2", "sink": "w1"}
    assert frames[-1]["parallelism"] == {"in": 1, "in_keys": 1, "kept": 1, "sink": 1}
    assert simulation.summary()["scaling"]["workers_mean"] == 4


def test_a_move_to_where_operators_are_is_none() -> None:
    made = still("aggregate, sliding")
    first = frames_of(simulated(moved(made, [])))[0]["scaling"]["hosts"]
    (action,) = job_of(finished(moved(made, [{"at_s": 0.05, "hosts": first}]))).actions
    assert (action.outcome, action.why) == ("aborted", "its operators are there already")
    assert action.ended_ns - action.ordered_ns < MS


@pytest.mark.parametrize(
    ("change", "pointer", "text"),
    [
        ({"moves": [{"at_s": 0.2, "hosts": {"kept": "w1"}}]}, "/policies/scaling/moves/0/at_s", "the horizon is 0.13 s"),
        ({"moves": [{"at_s": 0.1, "hosts": {"kept": "w9"}}]}, "/policies/scaling/moves/0/hosts/kept", "which the cluster does not have"),
        ({"moves": [{"at_s": 0.1, "hosts": {"kapt": "w1"}}]}, "/policies/scaling/moves/0/hosts/kapt", "the query has no such operator"),
        ({"moves": [{"at_s": 0.1, "hosts": {}}]}, "/policies/scaling/moves/0/hosts", "at least 1"),
        (
            {"moves": [{"at_s": 0.1, "hosts": {"kept": "w1"}}, {"at_s": 0.1, "hosts": {"in": "w1"}}]},
            "/policies/scaling/moves/1/at_s",
            "in two moves",
        ),
        ({"rescaling": {"kind": "in_place"}}, "/policies/scaling/rescaling/kind", "stop_and_restart"),
        ({"kind": "online_monitor", "window_s": 25.0}, "/policies/scaling/window_s", "must be a multiple of sample_s"),
        ({"kind": "online_monitor", "start_s": 1.0}, "/policies/scaling/window_s", "the first look is at 50 s"),
        ({"kind": "online_monitor", "capacity": 0.0}, "/policies/scaling/capacity", "must be above 0"),
    ],
)
def test_what_is_wrong_with_moves_is_told_at_its_place(change: Document, pointer: str, text: str) -> None:
    made = still("aggregate, sliding")
    made["policies"] = {"scaling": {"kind": "move"} | change}
    problems = {problem.pointer: problem.message for problem in validate(made, Context(datasets=DATASETS))}
    assert text in problems.get(pointer, str(problems))
    assert pointer in problems


def test_what_cannot_move_is_told() -> None:
    made = still("aggregate, sliding")
    made["query"]["operators"][2]["parallelism"] = 2
    made["cluster"]["hosts"][0]["count"] = 1
    made["policies"] = {"scaling": {"kind": "move"}, "checkpointing": {"kind": "uncoordinated"}}
    problems = {problem.pointer: problem.message for problem in validate(made, Context(datasets=DATASETS))}
    assert "moves operators of one instance each" in problems["/query/operators/2/parallelism"]
    assert "the cluster has only one" in problems["/policies/scaling/kind"]
    assert "checkpointing is 'uncoordinated'" in problems["/policies/checkpointing/kind"]


def test_with_dedicated_cores_each_host_needs_one_for_each_operator() -> None:
    made = still("aggregate, sliding")
    made["cluster"]["hosts"][0]["cores"] = 2
    made["policies"] = {"scaling": {"kind": "move", "moves": [{"at_s": 0.1, "hosts": {"kept": "w1"}}]}}
    (problem,) = validate(made, Context(datasets=DATASETS))
    assert problem.message == (
        "cores is 2, but up to 4 instances may run on host 'w1', each with its own core; give it at least 4 cores, or share them "
        "(shared_fifo)"
    )
    assert simulated(still("aggregate, sliding"), trace=False).job is None


def test_an_instance_on_each_host_counts_for_the_budget() -> None:
    made = still("aggregate, sliding")
    made["cluster"]["hosts"][0] |= {"count": 900, "cores": 32}
    made["policies"] = {"scaling": {"kind": "move"}}
    problems = validate(made, Context(datasets=DATASETS, budgets=Budgets(instances_max=3000)))
    assert [problem.message for problem in problems if problem.pointer == "/query/operators"] == [
        "operators has 3,600 instances in total, one for each host, since operators may move, 600 above the budget; use fewer hosts or "
        "operators to at most 3,000 in total"
    ]


def test_noise_goes_on_where_an_operator_moves_to() -> None:
    """Its services are counted on, so no factor is drawn twice."""
    made = still("aggregate, sliding", "pool")
    made["query"]["operators"][1]["cost"] = {"noise": {"kind": "lognormal", "cv": 0.2}}
    id = made["query"]["operators"][1]["id"]
    simulation = traced(moved(made, [{"at_s": 0.04, "hosts": {id: "w1"}}, {"at_s": 0.08, "hosts": {id: "w3"}}]))
    w = simulation._world.arrays
    of = np.flatnonzero(w.inst[:, L.I_OP] == 1)
    now = int(w.op[1, L.O_BEGIN])
    assert now == 2
    assert w.inst[of[now], L.I_SERVICES] == max(w.inst[of, L.I_SERVICES])
    trace = simulation.trace().columns()
    assert w.inst[of[now], L.I_SERVICES] == np.isin(trace["instance"], of).sum(), "every service of all hosts"


def test_where_instances_are_pinned_those_that_move_share_no_core_while_another_is_free() -> None:
    made = still("aggregate, sliding", "shared_fifo")
    made["cluster"]["hosts"][0]["cores"] = 2
    ids = [operator["id"] for operator in made["query"]["operators"]]
    both = ids[1], ids[3]  # of one core, as the instances are laid out
    made["placement"]["hosts"] = {id: ["w3" if id in both else "w2"] for id in ids}
    simulation = finished(moved(made, [{"at_s": 0.05, "hosts": dict.fromkeys(both, "w1")}]))
    w = simulation._world.arrays
    there = [i for i in np.flatnonzero(active(w)).tolist() if w.inst[i, L.I_HOST] == 0]
    assert len(there) == 2
    assert len({int(w.inst[i, L.I_PROCESSOR]) for i in there}) == 2
    assert rows_of(simulation) == rows_of(finished(made))


def test_channels_of_all_hosts_count_for_the_budget() -> None:
    made = still("aggregate, sliding")
    made["cluster"]["hosts"][0] |= {"count": 100, "cores": 32}
    made["policies"] = {"scaling": {"kind": "move"}}
    for edge in made["query"]["edges"]:
        edge["partitioning"] = {"kind": "forward"}
    channels = 100 * 100 * len(made["query"]["edges"])
    (problem,) = [
        problem
        for problem in validate(made, Context(datasets=DATASETS, budgets=Budgets(channels_max=channels - 1)))
        if problem.pointer == "/query/edges"
    ]
    assert f"{channels:,} channels" in problem.message
    assert "forward" not in problem.message


def test_bytes_of_an_input_are_shared_by_the_senders_that_are_active() -> None:
    made = still("aggregate, sliding")
    made["policies"] = {"flow_control": {"kind": "credits", "per_instance_bytes": 1000}}
    plain = finished(made)
    moving = moved(made, [{"at_s": 0.05, "hosts": {made["query"]["operators"][1]["id"]: "w3"}}])
    bounds = [simulated(one, trace=False)._world.arrays.edge[:, L.E_BOUND].tolist() for one in (made, moving)]
    assert bounds[0] == bounds[1]
    assert min(bounds[0]) > 0
    simulation = finished(moving)
    assert simulation._world.arrays.edge[:, L.E_BOUND].tolist() == bounds[0]
    assert rows_of(simulation) == rows_of(plain)


def test_a_restart_elsewhere_takes_ten_seconds_unless_it_says_otherwise() -> None:
    made = still("aggregate, sliding")
    made["policies"] = {"scaling": {"kind": "move", "rescaling": {"kind": "stop_and_restart", "timeout_s": 100}}}
    scaling = load(made, Context(datasets=DATASETS)).policies.scaling
    assert scaling.rescaling.restart_s == 10
    assert scaling.slo_s == 5
