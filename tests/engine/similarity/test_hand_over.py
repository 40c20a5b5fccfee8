"""Worksets that move in the middle of a window, with their records (specification of S3J, sections 3.9 and 9.1, and A-1 and A-17).

What this catches: a pair that is lost, or found twice, because records were under way when their workset moved; state that goes to another
worker, or is in two places; a worker that stands still for ever, or goes on before it has its records; a hand-over that depends on how the
run is cut.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.control.actors import Directory
from engine.core.control.keyed_state import entries_by_key
from engine.similarity import hand_over
from engine.similarity.loads import Move
from engine.spec import Experiment, validate
from engine.spec.base.problems import Refusal
from engine.spec.rules.forking import Fork
from tests.support.tiers import EXAMPLES, TIER, spread

from ...support.agreement import cut_saved_and_forked, fingerprint, traced, with_params
from ...support.similarity_examples import counted, self_join, true_pairs, true_self_pairs, whole, worksets

SIZE_S = 0.02
Document = dict[str, Any]


def moving(about: Document | None = None, **parts: Any) -> Document:
    document = worksets(**{"workers": 5, "threshold": 0.02, "per_s": 12_000.0, "horizon_s": 0.1} | parts)
    document["policies"] = {"balancing": {"kind": "s3j", "mechanism": "online", "every_s": 0.007} | (about or {})}
    return document


def with_slow_links(document: Document) -> Document:
    """Records are up to half a window late, links are slow, and channels full: much is under way whenever a workset moves."""
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 9.0}
        source["watermarks"]["lag_ms"] = 9.0
    document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 3}
    document["cluster"]["hosts"][0]["egress_mbit_per_s"] = 40
    return document


def pairs(simulation: engine.Simulation) -> Counter[tuple[int, int]]:
    return Counter((row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist())


@pytest.mark.parametrize("about", [
    {"kind": "s3j"}, {"kind": "greedy"}, {"kind": "local_search"}, {"mechanism": "stop_restart", "restart_s": 0.01},
    {"load": "cpu_time", "every_s": 0.003}], ids=str)  # fmt: skip
def test_no_pair_is_lost_or_found_twice(about: Document) -> None:
    document = with_slow_links(moving(about))
    assert validate(document) == []
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
    summary = simulation.summary()["balancing"]
    assert summary["moves"] > 9
    assert len(summary["hand_overs"]) == sum(action["moves"] != [] for action in summary["actions"])
    assert all(one["bytes"] > 0 for one in summary["hand_overs"])


@pytest.mark.parametrize(("window", "window_s"), [
    ({"kind": "full_history"}, None), ({"kind": "tumbling", "size_s": 0.05}, 0.05),
    ({"kind": "sliding", "size_s": 0.03, "slide_s": 0.01}, 0)])  # fmt: skip
def test_windows_of_any_kind_move(window: Document, window_s: float | None) -> None:
    document = with_slow_links(moving(window=window, per_s=5000.0))
    assert validate(document) == []
    simulation = traced(document)
    without = traced(document | {"policies": {"flow_control": document["policies"]["flow_control"]}})
    assert pairs(simulation) == pairs(without)
    if window_s != 0:
        assert pairs(simulation) == true_pairs(document, 0.02, window_s)
    assert simulation.summary()["balancing"]["moves"] > 5


CASES = [
    (t, p, d, mechanism) for t in (0.02, 0.05, 0.1) for p in (1, 5, 10, 20) for d in (2, 3, 10) for mechanism in ("online", "stop_restart")
]


@pytest.mark.parametrize(("t", "p", "d", "mechanism"), spread(CASES, ci=5))
def test_every_pair_is_found_once(t: float, p: int, d: int, mechanism: str) -> None:
    about = {"mechanism": mechanism, "restart_s": 0.002, "every_s": 0.005}
    document = with_slow_links(moving(about, workers=p, threshold=t, dimensions=d, per_s=4000.0, horizon_s=0.05))
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, t, SIZE_S)
    assert p == 1 or d == 10 or simulation.summary()["balancing"]["moves"] > 0


@pytest.mark.parametrize("mechanism", ["next_window", "online", "stop_restart"])
def test_worksets_of_one_stream_move(mechanism: str) -> None:
    document = self_join(workers=4, threshold=0.02, per_s=20_000.0, horizon_s=0.1)
    about = {"kind": "s3j", "mechanism": mechanism, "every_s": 0.007, "restart_s": 0.002, "notice_ms": 1.0}
    document = with_slow_links(document | {"policies": {"balancing": about}})
    assert validate(document) == []
    simulation = traced(document)
    found = Counter((max(pair), min(pair)) for pair in pairs(simulation).elements())
    assert found == true_self_pairs(document, 0.02, SIZE_S)
    assert simulation.summary()["balancing"]["moves"] > 2


def test_worksets_move_with_the_numbers_of_whole_vectors() -> None:
    document = with_slow_links(moving(dimensions=3, threshold=0.05, per_s=5000.0))
    as_one = traced(whole(document))
    assert pairs(as_one) == true_pairs(document, 0.05, SIZE_S)
    fields = traced(document)
    assert (as_one.summary()["operators"], as_one.summary()["balancing"]) == (fields.summary()["operators"], fields.summary()["balancing"])


def test_counted_pairs_are_those_that_are_made() -> None:
    document = moving()
    summary = traced(counted(document)).summary()
    assert summary["balancing"]["moves"] > 9
    assert summary["operators"]["join"]["out"] == traced(document).summary()["operators"]["join"]["out"]


def test_copies_and_comparisons_do_not_depend_on_the_owners() -> None:
    """While the job goes on. A stop changes the order in which records of two sources come, and with it the centroids."""
    document = moving()
    with_moves, without = traced(document).summary(), traced(document | {"policies": {}}).summary()
    assert with_moves["balancing"]["moves"] > 9
    for id in ("left-spaces", "right-spaces", "worksets", "join"):
        assert all(with_moves["operators"][id][what] == without["operators"][id][what] for what in ("in", "out", "read"))


def test_stored_records_are_where_new_ones_go() -> None:
    """At the end of a run without a window's end, each workset is on one worker: the one of its last move."""
    document = moving(window={"kind": "full_history"})
    simulation = traced(document)
    balancer = simulation._balancer
    assert balancer is not None
    stage = balancer._stages[0]
    owners: dict[int, set[int]] = {}
    w = simulation._world.arrays
    for worker in range(stage.join[1]):
        for workset in w.entry[entries_by_key(w, stage.join[0] + worker), L.S_KEY].tolist():
            owners.setdefault(workset, set()).add(worker)
    last = {move.id: move.target for action in balancer.actions for move in action.moves}
    assert len(last) > 5
    assert all(len(here) == 1 for here in owners.values())
    assert all(owners[workset] == {target} for workset, target in last.items() if workset in owners)
    others = traced(document | {"policies": {}})._world.arrays
    at = slice(stage.join[0], sum(stage.join))
    assert w.inst[at, L.I_STATE_BYTES].sum() == others.inst[at, L.I_STATE_BYTES].sum() > 0


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_over, "PIECE_BYTES", 300)


def test_records_go_in_pieces(small_pieces: None) -> None:
    document = with_slow_links(moving())
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
    assert max(one["bytes"] for one in simulation.summary()["balancing"]["hand_overs"]) > 4 * 300


def test_a_link_that_is_down_delays_the_hand_over(small_pieces: None) -> None:
    document = moving({"every_s": 0.03})
    plain = traced(document).summary()["balancing"]["hand_overs"][0]
    document["faults"] = [{"kind": "partition", "sources": ["w1"], "from_s": plain["aligned_s"], "to_s": plain["aligned_s"] + 0.02}]
    assert validate(document) == []
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
    delayed = simulation.summary()["balancing"]["hand_overs"][0]
    assert delayed["bytes"] == plain["bytes"]
    assert delayed["ended_s"] > plain["aligned_s"] + 0.02 > plain["ended_s"]


def test_a_stopped_job_stands_still_for_the_restart() -> None:
    document = moving({"mechanism": "stop_restart", "restart_s": 0.025, "every_s": 0.04})
    one, *_ = traced(document).summary()["balancing"]["hand_overs"]
    assert 0.025 < one["ended_s"] - one["aligned_s"] < 0.03
    for latency in ("p99", "max"):
        assert traced(document).summary()["latency_ms"][latency] > 20


def test_a_stopped_job_waits_for_its_last_operator() -> None:
    """The sink is far behind when the workers have stopped already."""
    document = moving({"mechanism": "stop_restart", "restart_s": 0.0, "every_s": 0.03}, threshold=0.1, horizon_s=0.05)
    simulation = traced(document)
    sink = next(operator for operator in document["query"]["operators"] if operator["id"] == "sink")
    sink["cost"] = {"record_us": 0.1}
    slow, fast = (run.summary()["balancing"]["hand_overs"][0] for run in (simulation, traced(document)))
    assert slow["aligned_s"] > fast["ended_s"] + 0.01
    assert pairs(simulation) == true_pairs(document, 0.1, SIZE_S)


def test_loads_are_what_was_compared_since_the_last_plan() -> None:
    document = moving({"trigger": "load", "threshold": 1000, "every_s": 0.01}, window={"kind": "full_history"})
    summary = traced(document).summary()
    counted = sum(sum(action["loads"]) for action in summary["balancing"]["actions"])
    assert 0.5 * summary["operators"]["join"]["read"] < counted <= summary["operators"]["join"]["read"]
    assert summary["balancing"]["hand_overs"] == []


def test_a_workset_that_moves_twice_in_a_plan_goes_to_its_last_worker() -> None:
    coordinator = hand_over.Coordinator(None)
    coordinator.start(Directory((("forms", 0, 0), ("join", 0, 0), ("join", 1, 1), ("join", 2, 1)), {"coordinator": 4}, (5, 6)))
    moves = [Move(7, 0, 1, 5.0, 8, 1.0), Move(8, 0, 1, 5.0, 8, 1.0), Move(7, 1, 2, 5.0, 8, 1.0), Move(8, 1, 0, 5.0, 8, 1.0)]
    assert coordinator.order("forms", "join", 1, moves, [], 100) == 1
    assert coordinator._order is not None
    assert coordinator._order.moves == [[7, 1, 3]]


def twice(document: Document) -> Document:
    """The same sources, joined once more by operators of their own."""
    query = document["query"]
    own = [operator for operator in query["operators"] if operator["kind"] != "source"]
    again = {operator["id"]: f"{operator['id']}-2" for operator in own}
    query["operators"] += [copy.deepcopy(operator) | {"id": again[operator["id"]]} for operator in own]
    query["edges"] += [
        edge | {end: again.get(edge[end], edge[end]) for end in ("source", "target")} for edge in copy.deepcopy(query["edges"])
    ]
    return document


def test_two_joins_take_turns() -> None:
    document = twice(moving(workers=3, per_s=6000.0, horizon_s=0.06))
    document["cluster"]["hosts"][0]["cores"] = 40
    assert validate(document) == []
    simulation = traced(document)
    for sink in ("sink", "sink-2"):
        found = Counter((row["id"], row["right_id"]) for row in simulation.outputs(sink).to_pylist())
        assert found == true_pairs(document, 0.02, SIZE_S)
    moved = Counter(action["join"] for action in simulation.summary()["balancing"]["actions"] if action["moves"])
    assert min(moved["join"], moved["join-2"]) > 3


# --- by hand ------------------------------------------------------------------------------------------------------------------------------

ORDERS = [{"at_s": 0.03, "moves": [{"space": 0, "number": 1, "to": 2}, {"space": 0, "number": 9999, "to": 2}]}, {"at_s": 0.0301}]


def actions_of(simulation: engine.Simulation) -> list[tuple[float, int, Any]]:
    return [
        (round(action["t_s"], 9), len(action["moves"]), action.get("unknown")) for action in simulation.summary()["balancing"]["actions"]
    ]


def test_worksets_move_by_hand_and_a_plan_waits_for_the_records() -> None:
    document = moving({"kind": "by_hand", "orders": ORDERS}, workers=3, per_s=6000.0, horizon_s=0.08)
    del document["policies"]["balancing"]["every_s"]
    assert validate(document) == []
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
    (first, second), ended = actions_of(simulation), simulation.summary()["balancing"]["hand_overs"]
    assert first == (0.03, 1, [[0, 9999]])
    assert ended[0]["ended_s"] < second[0] < ended[0]["ended_s"] + 0.0011
    assert second[1] > 0
    cut = cut_saved_and_forked(document, 700_001)
    assert cut.summary()["balancing"] == simulation.summary()["balancing"]


def test_orders_beside_a_policy_hold_from_the_next_window_on() -> None:
    document = moving({"mechanism": "next_window", "notice_ms": 1.0, "orders": ORDERS[:1]}, workers=3, per_s=6000.0, horizon_s=0.08)
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
    ordered = next(action for action in simulation.summary()["balancing"]["actions"] if action["t_s"] == 0.03)
    assert (ordered["from_s"], [move[:4] for move in ordered["moves"]]) == (0.04, [[0, 1, 0, 2]])


def test_a_fork_moves_worksets_and_changes_the_law() -> None:
    """It equals its parent up to that moment."""
    document = worksets(workers=3, threshold=0.02, per_s=6000.0, horizon_s=0.08)
    fork = Fork.model_validate({"at_s": 0.03, "balancing": ORDERS, "streams": {"left": {"kind": "vectors", "law": "gaussian"}}})
    changed = fork.applied(Experiment.model_validate(document), document)
    assert validate(changed) == []
    assert pairs(traced(changed)) == true_pairs(changed, 0.02, SIZE_S)
    parent, child = engine.Simulation(document), engine.Simulation(changed)
    for simulation in (parent, child):
        simulation.run_until(29_999_999)
    for name in ("left", "worksets", "join"):
        assert child.summary()["operators"][name]["out"] == parent.summary()["operators"][name]["out"] > 0
    assert changed["policies"]["balancing"]["kind"] == "by_hand"


@pytest.mark.parametrize(
    ("fork", "at"),
    [
        ({"at_s": 0.03, "balancing": [{"at_s": 0.02}]}, ("balancing", 0, "at_s")),
        ({"at_s": 0.03, "streams": {"middle": {"kind": "vectors"}}}, ("streams", "middle")),
    ],
)
def test_a_fork_that_changes_the_past_is_refused(fork: Document, at: tuple[Any, ...]) -> None:
    document = worksets()
    with pytest.raises(Refusal) as refused:
        Fork.model_validate(fork).applied(Experiment.model_validate(document), document)
    assert refused.value.at == at


@pytest.mark.parametrize("mechanism", ["online", "stop_restart"])
def test_a_run_is_the_same_cut_saved_and_forked(mechanism: str, small_pieces: None) -> None:
    document = with_slow_links(moving({"mechanism": mechanism, "restart_s": 0.003}, per_s=4000.0, horizon_s=0.06))
    whole, cut = traced(document), cut_saved_and_forked(document, 700_001)
    assert fingerprint(cut) == fingerprint(whole)
    assert cut.summary()["balancing"] == whole.summary()["balancing"]
    assert len(whole.summary()["balancing"]["hand_overs"]) > 2


@st.composite
def jobs(draw: st.DrawFn) -> Document:
    about: Document = {
        "kind": draw(st.sampled_from(["s3j", "greedy", "local_search"])),
        "mechanism": draw(st.sampled_from(["online", "stop_restart"])),
        "every_s": draw(st.sampled_from([0.002, 0.009, 0.02])),
        "restart_s": draw(st.sampled_from([0.0, 0.004])),
        "capture_ms": draw(st.sampled_from([0.0, 1.0])),
    }
    document = moving(about, workers=draw(st.integers(2, 4)), per_s=2500.0, threshold=0.05, horizon_s=0.06)
    document["cluster"]["hosts"][0]["processor"] = {"kind": draw(st.sampled_from(["dedicated", "pool", "processor_sharing"]))}
    document["cluster"]["hosts"][0]["count"] = draw(st.integers(1, 3))
    document["policies"]["flow_control"] = draw(st.sampled_from([{"kind": "unbounded"}, {"kind": "credits", "per_channel": 2}]))
    lag_ms = draw(st.sampled_from([0.0, 12.0]))
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": lag_ms} if lag_ms else {"kind": "none"}
        source["watermarks"]["lag_ms"] = lag_ms
    for operator in ("worksets", "join"):
        document = with_params(document, operator, window={"kind": "tumbling", "size_s": draw(st.just(0.02))})
    return document


@settings(max_examples=max(EXAMPLES[TIER] // 4, 1), deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs())
def test_random_jobs_find_every_pair_once(document: Document) -> None:
    assert validate(document) == []
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.05, SIZE_S)
    balancer = simulation._balancer
    assert balancer is not None
    assert balancer._coordinator is not None
    assert not balancer._coordinator.busy
    assert not np.isin(simulation._world.arrays.tally[:, L.Y_HELD], 1).any()


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (lambda d: d["policies"]["balancing"].update(every_s=0), "/policies/balancing/every_s", "must be above 0"),
        (lambda d: d["policies"]["balancing"].update(mechanism="later"), "/policies/balancing/mechanism", "'online'"),
        (lambda d: d["policies"]["balancing"].update(orders=[{"at_s": 5}]), "/policies/balancing/orders/0/at_s", "not before the horizon"),
        (lambda d: d["policies"]["balancing"].update(orders=[{"at_s": 0.01, "join": "jon"}]), "/policies/balancing/orders/0/join",
         "no similarity join"),
        (lambda d: d["policies"]["balancing"].update(orders=[{"at_s": 0.01, "moves": [{"space": 0, "number": 1, "to": 5}]}]),
         "/policies/balancing/orders/0/moves/0/to", "the workers 0 to 4"),
        (lambda d: d["policies"]["balancing"].update(orders=[{"at_s": 0.01, "moves": [{"space": 0, "number": 0, "to": 1}]}]),
         "/policies/balancing/orders/0/moves/0/number", "must be at least 1"),
        (lambda d: d["policies"]["balancing"].update(restart_s=-1), "/policies/balancing/restart_s", "must be at least 0"),
        (lambda d: d.update(faults=[{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 0.01}, "restart_after_s": 0.01}]),
         "/faults/0/kind", "use next_window"),
        (lambda d: d["policies"].update(checkpointing={"kind": "coordinated"}), "/policies/checkpointing/kind", "choose none"),
    ],
)  # fmt: skip
def test_what_cannot_move_is_refused(change: Any, place: str, says: str) -> None:
    document = copy.deepcopy(moving())
    change(document)
    assert any(problem.pointer == place and says in problem.message for problem in validate(document)), validate(document)
