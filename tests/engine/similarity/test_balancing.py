"""Balancing of worksets (specification of S3J, sections 3.6 to 3.9, and A-16 to A-20).

What this catches: a plan that raises the imbalance; a pair that is lost, or found twice, when a workset moves; loads that are not the
comparisons of the joins; a move in the middle of a window; a balancer that divides worksets anew.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.similarity import greedy, local_search, s3j
from engine.similarity.loads import Loads, Workset
from engine.spec import Experiment, validate
from engine.spec.experiment.balancings import BALANCINGS
from engine.spec.experiment.balancings.greedy import GreedyBalancing
from engine.spec.experiment.balancings.local_search import LocalSearchBalancing
from engine.spec.experiment.balancings.s3j import S3JBalancing
from engine.telemetry.histogram import percentiles_ns
from tests.oracle import simulate
from tests.support.tiers import EXAMPLES, TIER

from ...support.agreement import DATASETS, assert_agreement, cut_saved_and_forked, fingerprint, traced, with_params
from ...support.family_contracts import assert_are_shown, newcomer, offered
from ...support.similarity_examples import self_join, true_pairs, worksets

LARGEST = newcomer("balancing").Largest
SIZE_S = 0.02
NUMBER = 2**32


def loads(*workers: list[float], size: int = 0) -> Loads:
    """Worksets 1, 2, .. with these loads, by worker."""
    numbered = [(worker, load) for worker, here in enumerate(workers) for load in here]
    return Loads.of([(worker, Workset(n, load, size)) for n, (worker, load) in enumerate(numbered, 1)], len(workers))


def moved(found: Loads) -> list[tuple[int, int, int]]:
    return [(move.id, move.source, move.target) for move in found.moves]


# --- plans --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "accept", "after", "moves"),
    [
        ([[1.5, 1.5], *[[1.8]] * 5], "listing", 2.6, 1),  # as printed: it raises the imbalance
        ([[1.5, 1.5], *[[1.8]] * 5], "text", 2.0, 0),
        ([[1.5, 1.5], *[[1.8]] * 5], "net", 2.0, 0),
        ([[1.0, 0.95], [0.75], [0.85]], "listing", 1.033, 1),
        ([[1.0, 0.95], [0.75], [0.85]], "text", 1.533, 0),
        ([[1.0, 0.95], [0.75], [0.85]], "net", 1.033, 1),
        ([[5, 1, 0.5], [1], [0.5], []], "net", 6.0, 2),
        ([[5, 1, 0.5], [1], [0.5], []], "text", 6.0, 2),
    ],
)
def test_the_examples_of_algorithm_1(workers: list[list[float]], accept: Any, after: float, moves: int) -> None:
    found = loads(*workers)
    s3j.plan(S3JBalancing(accept=accept), found)
    assert found.imbalance == pytest.approx(after, abs=6e-4)
    assert len(found.moves) == moves


def test_the_largest_benefit_goes_first_and_what_is_too_large_stays() -> None:
    found = loads([5, 1, 0.5], [1], [0.5], [])
    s3j.plan(S3JBalancing(), found)
    assert moved(found) == [(2, 0, 3), (3, 0, 2)]
    assert 1 in found.worksets[0]


def test_a_byte_costs_what_it_is_told_to() -> None:
    found = loads([30.0, 30.0], [0.0], size=10)
    s3j.plan(S3JBalancing(per_byte=2.9), found)
    assert len(found.moves) == 1
    found = loads([30.0, 30.0], [0.0], size=10)
    s3j.plan(S3JBalancing(per_byte=3.1), found)
    assert found.moves == []


PLANS = [(s3j.plan, S3JBalancing()), (s3j.plan, S3JBalancing(accept="text")), (greedy.plan, GreedyBalancing()),
         (local_search.plan, LocalSearchBalancing())]  # fmt: skip


@settings(max_examples=EXAMPLES[TIER], deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=6), min_size=2, max_size=6), st.sampled_from(PLANS))
def test_plans_lose_nothing_and_do_no_harm(workers: list[list[int]], planned: Any) -> None:
    plan, about = planned
    found = loads(*[[float(load) for load in here] for here in workers])
    before, imbalance = {id: w for here in found.worksets for id, w in here.items()}, found.imbalance
    plan(about, found)
    assert {id: w for here in found.worksets for id, w in here.items()} == before
    assert found.by_worker == pytest.approx([sum(w.load for w in here.values()) for here in found.worksets])
    if plan is not greedy.plan:
        assert found.imbalance <= imbalance + 1e-9
        assert sum(move.benefit for move in found.moves) == pytest.approx(imbalance - found.imbalance)
    else:  # no worker has more than the mean and the largest workset
        assert max(found.by_worker) <= found.mean + max((w.load for w in before.values()), default=0) + 1e-9


# --- in a run -----------------------------------------------------------------------------------------------------------------------------


def balanced(about: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    document = worksets(**{"workers": 5, "threshold": 0.02, "per_s": 12_000.0, "horizon_s": 0.1} | parts)
    document["policies"] = {"balancing": {"kind": "s3j", "notice_ms": 1.0} | (about or {})}
    return document


def pairs(simulation: engine.Simulation) -> Counter[tuple[int, int]]:
    return Counter((row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist())


@pytest.mark.parametrize("kind", ["s3j", "greedy", "local_search"])
def test_moving_worksets_changes_where_and_never_what(kind: str) -> None:
    """Records are up to half a window late, links are slow, and channels full: windows of old and new owners overlap."""
    document = balanced({"kind": kind})
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 9.0}
        source["watermarks"]["lag_ms"] = 9.0
    document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 3}
    document["cluster"]["hosts"][0]["egress_mbit_per_s"] = 40
    without = copy.deepcopy(document)
    del without["policies"]["balancing"]
    one, other = traced(document), traced(without)
    assert pairs(one) == pairs(other) == true_pairs(document, 0.02, SIZE_S)
    actions = one.summary()["balancing"]["actions"]
    assert sum(len(action["moves"]) for action in actions) > 4
    assert sum(len({move[3] for move in action["moves"]}) for action in actions) > 2


@pytest.mark.parametrize("kind", ["s3j", "greedy", "local_search"])
def test_copies_and_comparisons_do_not_depend_on_the_owners(kind: str) -> None:
    """Without full channels, which change the order of records, and with it the centroids."""
    document = balanced({"kind": kind})
    with_moves, without = traced(document).summary(), traced(document | {"policies": {}}).summary()
    assert with_moves["balancing"]["moves"] > 4
    for id in ("left-spaces", "right-spaces", "worksets", "join"):
        assert all(with_moves["operators"][id][what] == without["operators"][id][what] for what in ("in", "out", "read"))


def test_windows_after_the_first_action_are_better_balanced() -> None:
    document = balanced({}, per_s=20_000.0, horizon_s=0.14)
    actions = traced(document).summary()["balancing"]["actions"]
    first, later = actions[0], actions[2:]
    assert first["imbalance_planned"] < 0.3 * first["imbalance"]
    assert sum(action["imbalance"] for action in later) / len(later) < first["imbalance"]
    assert [round(action["from_s"] / SIZE_S) for action in actions] == [*range(1, len(actions) + 1)]


def test_loads_are_the_comparisons_of_the_joins() -> None:
    """Read 1 ns before the window ends, they are all that the joins have compared in it, but for the last records, which are under way."""
    document = balanced({"notice_ms": 1e-6, "trigger": "load", "threshold": 1000})
    document["cluster"]["hosts"][0]["count"] = 1
    simulation = traced(document)
    summary = simulation.summary()
    assert summary["balancing"]["moves"] == 0
    counted = sum(sum(action["loads"]) for action in summary["balancing"]["actions"])
    assert counted == pytest.approx(summary["operators"]["join"]["read"], rel=0.03)


def measured(about: dict[str, Any]) -> dict[str, Any]:
    """The job with a sink that measures each worker."""
    document = balanced(about)
    sink = next(operator for operator in document["query"]["operators"] if operator["id"] == "sink")
    sink |= {"parallelism": 5, "params": {"by_instance": True}}
    edge = next(edge for edge in document["query"]["edges"] if edge["target"] == "sink")
    edge["partitioning"] = {"kind": "forward"}
    return document


@pytest.mark.parametrize("mechanism", ["next_window", "online"])
def test_the_latencies_of_workers_say_whether_to_act(mechanism: str) -> None:
    """They never differ by all of the larger one, unless one worker has no pair; and always by more than nothing."""
    about = {"trigger": "latency", "mechanism": mechanism, "every_s": 0.01}
    assert validate(measured(about)) == []
    assert traced(measured(about | {"threshold": 1.0})).summary()["balancing"]["moves"] == 0
    document = measured(about | {"threshold": 0.0})
    simulation = traced(document)
    always = traced(measured(about | {"trigger": "always"})).summary()["balancing"]
    assert simulation.summary()["balancing"]["moves"] == always["moves"] > 4
    cut = cut_saved_and_forked(document, 9_000_011)
    assert cut.summary()["balancing"] == simulation.summary()["balancing"]


def test_a_threshold_lies_between_the_latencies_that_were_measured() -> None:
    """Since the plan before: just below their difference it acts, just above it does not. Up to there nothing has moved."""
    simulation = engine.Simulation(measured({"trigger": "latency", "threshold": 1.0}))
    balancer = simulation._balancer
    assert balancer is not None
    shares: list[float] = []
    before: Any = 0
    for n in range(4):
        simulation.run_until(round((n + 1) * SIZE_S * 1e9) - 500_000)
        found = balancer._measured_ns[0]
        assert found is not None
        p99_ns = [percentiles_ns(row, [0.99])[0] or 0 for row in found - before]
        shares.append((max(p99_ns) - min(p99_ns)) / max(p99_ns))
        before = found
    records = [n for n, share in enumerate(shares) if share > max(shares[:n], default=0)]
    assert len(records) > 1
    for n in records:
        for threshold, acts in ((shares[n] - 1e-6, True), (shares[n] + 1e-6, False)):
            actions = traced(measured({"trigger": "latency", "threshold": threshold})).summary()["balancing"]["actions"]
            assert (actions[n]["moves"] != []) == acts


def skewed(**about: Any) -> dict[str, Any]:
    """Half of the records lie in one narrow band, so one workset has most comparisons."""
    document = balanced({"kind": "s3j", **about}, workers=5, per_s=12_000.0, threshold=0.02, horizon_s=0.1)
    for source in document["workload"]["sources"].values():
        source["stream"] |= {"law": "bands", "bands": [{"turn": 0.3, "width": 0.03, "share": 0.5}]}
    return document


def test_an_oversized_workset_is_split_and_every_pair_found_once() -> None:
    whole, split = traced(skewed()), traced(skewed(split_oversized=True))
    expected = true_pairs(skewed(), 0.02, SIZE_S)
    for simulation in (whole, split):
        found = Counter((row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist())
        assert found == expected
    without, actions = (simulation.summary()["balancing"]["actions"] for simulation in (whole, split))
    assert not any("splits" in action for action in without)
    [first, *later] = actions
    assert first["splits"]
    assert all(2 <= parts <= 5 for _, _, _, parts in first["splits"])
    assert sum(later[0]["loads"]) > 0.9 * sum(without[1]["loads"])  # those of parts count
    assert later[-1]["imbalance_share"] < 0.5 * without[-1]["imbalance_share"]
    compared = [simulation.summary()["operators"]["join"]["read"] for simulation in (whole, split)]
    assert compared[0] == compared[1]  # each pair in one part


def test_parts_are_on_as_many_workers_as_their_load_takes() -> None:
    found = loads([70.0, 5.0], [10.0], [5.0], [10.0])
    found.split_oversized()
    assert found.splits == [(1, 0, 3)]
    assert found.by_worker == pytest.approx([5 + 70 / 3, 10 + 70 / 3, 5 + 70 / 3, 10])
    for planned in (s3j.plan, greedy.plan, local_search.plan):
        again = copy.deepcopy(found)
        about = {"s3j": S3JBalancing, "greedy": GreedyBalancing, "local_search": LocalSearchBalancing}[
            planned.__module__.rsplit(".", 1)[-1]
        ]
        planned(about(), again)
        assert sum(again.by_worker) == pytest.approx(100)
        assert again.imbalance <= found.imbalance


@pytest.mark.parametrize(("change", "says"), [
    ({"mechanism": "online"}, "split_oversized divides worksets when a window starts, but mechanism is 'online'; use next_window"),
    ({}, "split_oversized divides the left records of a workset, but 'join' joins one stream with itself; switch it off")])  # fmt: skip
def test_what_cannot_be_split_is_refused(change: dict[str, Any], says: str) -> None:
    document = worksets() if change else self_join()
    policies = {"balancing": {"kind": "s3j", "split_oversized": True, "notice_ms": 1.0, **change}}
    assert says in {problem.message for problem in validate(document | {"policies": policies})}


class Twin:
    """The balancer in the oracle."""

    def __init__(self, document: dict[str, Any]):
        self.experiment = Experiment.model_validate(document)
        self.about = self.experiment.policies.balancing
        self.plan = {"s3j": s3j.plan, "greedy": greedy.plan, "local_search": local_search.plan}[self.about.kind]
        window = self.experiment.operator("join").parameters.window
        self.size_ns = round(window.size_s * 1e9)
        horizon_ns, notice_ns = self.experiment.workload.horizon_ns, self.about.notice_ns
        ends_ns = range(round(window.origin_s * 1e9) + self.size_ns, horizon_ns + notice_ns, self.size_ns)
        self.orders = [(end_ns - notice_ns, self.act) for end_ns in ends_ns if 0 < end_ns - notice_ns < horizon_ns]
        self.told: list[tuple[list[float], list[tuple[Any, ...]]]] = []

    def load(self, join: Any, where: tuple[int, int]) -> float:
        """Of a workset and window at an instance of the join."""
        compared = join.behaviour.compared[where]
        if self.about.load == "comparisons":
            return float(compared)
        records = sum((member.where, member.pane) == where for member in join.behaviour.members)
        prices = join.prices
        return float(records * prices.record_ps + compared * prices.read_ps + join.behaviour.paired[where] * prices.output_ps) / 1e6

    def act(self, model: Any) -> None:
        from_ns = int(model.environment.now) + self.about.notice_ns
        forms, joins = ([i for i in model.network.instances if i.operator.id == id] for id in ("worksets", "join"))
        places = {
            space * NUMBER + workset.number: (form, workset)
            for form in forms
            for space, here in form.behaviour.worksets.items()
            for workset in here
        }
        owned, fixed = [], [0.0] * len(joins)
        for id, (form, workset) in sorted(places.items()):
            if len(workset.owners) > 1 and workset.owners[-1][0] > form.watermark_ns:
                continue
            owner, parts = workset.owners[-1][1], workset.split[1]
            load = sum(self.load(join, (id, from_ns - self.size_ns)) for join in joins)
            size = sum(
                join.behaviour.bytes[member.port]
                for join in joins
                for member in join.behaviour.members
                if (member.where, member.pane) == (id, from_ns - self.size_ns)
            )
            if parts > 1:
                for part in range(parts):
                    fixed[(owner + part) % len(joins)] += load / parts
            else:
                owned.append((owner, Workset(id, load, size)))
        found = Loads.of(owned, len(joins), None, fixed)
        before = list(found.by_worker)
        if self.about.trigger == "always" or found.imbalance > self.about.threshold * sum(before):
            if self.about.split_oversized:
                found.split_oversized()
            self.plan(self.about, found)
        for id, _, parts in found.splits:
            places[id][1].split = (from_ns, parts)
        for id, target in {move.id: move.target for move in found.moves}.items():
            places[id][1].owners.append((from_ns, target))
        self.told.append((before, [tuple(move) for move in found.moves]))


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    about = {
        "kind": draw(st.sampled_from(["s3j", "greedy", "local_search"])),
        "trigger": draw(st.sampled_from(["always", "load"])),
        "load": draw(st.sampled_from(["comparisons", "cpu_time"])),
        "notice_ms": draw(st.sampled_from([0.001, 1.0, 7.0])),
    }
    if about["kind"] == "s3j":
        about |= {"accept": draw(st.sampled_from(["net", "text", "listing"])), "per_byte": draw(st.sampled_from([0.0, 0.01]))}
    about |= {"split_oversized": True} if draw(st.booleans()) else {}
    document = balanced(about, workers=draw(st.integers(2, 4)), per_s=2500.0, threshold=draw(st.sampled_from([0.02, 0.1])), horizon_s=0.08)
    window = {"kind": "tumbling", "size_s": 0.02, "origin_s": draw(st.sampled_from([0.0, 0.005]))}
    for operator in ("worksets", "join"):
        document = with_params(document, operator, window=window)
    document["cluster"]["hosts"][0]["processor"] = {"kind": draw(st.sampled_from(["dedicated", "pool", "processor_sharing"]))}
    for source in document["workload"]["sources"].values():
        source["disorder"] = draw(st.sampled_from([{"kind": "none"}, {"kind": "uniform", "max_ms": 25.0}]))
        source["watermarks"]["lag_ms"] = draw(st.sampled_from([0.0, 25.0]))
    return document


@settings(max_examples=max(EXAMPLES[TIER] // 8, 1), deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs())
def test_random_jobs_agree_with_the_oracle(document: dict[str, Any]) -> None:
    assert validate(document) == []
    twin, simulation = Twin(document), traced(document)
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=twin.orders)
    assert_agreement(document, simulation, expected)
    balancer = simulation._balancer
    assert balancer is not None
    assert [(action.loads, [tuple(move) for move in action.moves]) for action in balancer.actions] == twin.told


def test_a_run_is_the_same_cut_saved_and_forked() -> None:
    document = balanced(per_s=4000.0)
    whole, cut = traced(document), cut_saved_and_forked(document, 9_000_011)
    assert fingerprint(cut) == fingerprint(whole)
    assert whole._balancer is not None
    assert cut._balancer is not None
    assert [asdict(action) for action in cut._balancer.actions] == [asdict(action) for action in whole._balancer.actions]
    assert sum(len(action.moves) for action in whole._balancer.actions) > 0


def test_balancings_are_shown_with_a_text_for_each_parameter() -> None:
    assert_are_shown(BALANCINGS, BALANCINGS.kinds)


def test_a_balancing_of_another_package_moves_worksets() -> None:
    with offered(BALANCINGS, LARGEST):
        document = balanced({"kind": "largest", "count": 2})
        assert validate(document) == []
        simulation = traced(document)
        assert pairs(simulation) == true_pairs(document, 0.02, SIZE_S)
        assert all(len(action["moves"]) <= 2 for action in simulation.summary()["balancing"]["actions"])
        assert simulation.summary()["balancing"]["moves"] > 2


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        (lambda d: d["policies"]["balancing"].update(per_byte=-0.1), "/policies/balancing/per_byte", "must be at least 0"),
        (lambda d: d["policies"]["balancing"].update(notice_ms=20), "/policies/balancing/notice_ms", "not below the windows of 'join'"),
        (lambda d: d["policies"]["balancing"].update(notice_ms=0), "/policies/balancing/notice_ms", "must be above 0"),
        (lambda d: d["policies"]["balancing"].update(accept="best"), "/policies/balancing/accept", "'net'"),
        (lambda d: d["policies"]["balancing"].update(trigger="latency"), "/policies/balancing/trigger", "with 5 instances and by_instance"),
        (lambda d: d["policies"]["balancing"].update(kind="best"), "/policies/balancing/kind", "s3j"),
        (lambda d: d["policies"].update(checkpointing={"kind": "coordinated"}), "/policies/checkpointing/kind", "choose none"),
        (lambda d: d["query"]["operators"][5]["params"].update(window={"kind": "full_history"}), "/query/operators/5/params/window/kind",
         "worksets move when a window starts"),
    ],
)  # fmt: skip
def test_what_cannot_be_balanced_is_refused(change: Any, place: str, says: str) -> None:
    document = balanced()
    change(document)
    assert any(problem.pointer == place and says in problem.message for problem in validate(document)), validate(document)


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        ({"kind": "constant", "per_s": 500}, "rate is constant, so event times of 'left' may be ahead"),
        ({"kind": "recorded", "speed": 10}, "speed is 10, so event times of 'left' may be ahead"),
        ({"kind": "recorded"}, ""),
    ],
)
def test_event_times_that_run_ahead_are_refused(rate: dict[str, Any], says: str) -> None:
    """A window of the future may have records already, which would not meet those that come after the move."""
    document = balanced()
    document["workload"]["sources"]["left"] |= {"stream": {"kind": "file", "dataset": "flights", "timestamp": "departure"}, "rate": rate}
    found = [problem.message for problem in validate(document) if problem.pointer == "/workload/sources/left/rate"]
    assert [says in message for message in found] == ([True] if says else [])


def test_without_a_similarity_join_there_is_nothing_to_balance() -> None:
    document = balanced()
    kept = {"left", "sink"}
    document["query"]["operators"] = [operator for operator in document["query"]["operators"] if operator["id"] in kept]
    document["query"]["edges"] = [{"source": "left", "target": "sink"}]
    del document["workload"]["sources"]["right"]
    assert [problem.code for problem in validate(document)] == ["nothing_to_balance"]
