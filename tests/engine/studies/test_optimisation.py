"""Optimisation: which points are tried, and which is the best.

What this catches: choices that depend on who ends first, that differ after a crash, or that ignore what was found; a best point that breaks
a bound; a run that broke and counts as good.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.simulation.local_study import run_study
from engine.spec.study.optimisation import Optimise
from engine.spec.study.study import Study, examine_study, load_study
from engine.studies import Measured, TrialId, Tried, best, plan, tried_so_far
from tests.support.corner_cases import host

from ...support.study_examples import SMALL, queue, sink

RATE = "/workload/sources/bids/rate/per_s"
WAITING = {
    "name": "waiting",
    "fields": ["/cluster/hosts/0/egress_latency_ms"],
    "values": {"kind": "between", "from": 0.1, "to": 100, "scale": "log"},
}
CORES = {"name": "cores", "fields": ["/cluster/hosts/0/cores"], "values": {"kind": "between", "from": 2, "to": 64, "whole": True}}
SIZE = {"name": "size", "fields": ["/policies/flow_control/per_channel"], "values": {"kind": "list", "of": [8, 32, 128]}}
FLOW = {
    "name": "flow",
    "fields": ["/policies/flow_control"],
    "values": {"kind": "list", "of": [{"kind": "credits"}, {"kind": "unbounded"}]},
}


def optimised(*axes: dict[str, Any], experiment: dict[str, Any] = SMALL, seeds: list[int] | None = None, **design: Any) -> dict[str, Any]:
    usual = {"kind": "optimise", "objectives": [{"metric": "latency_ms.p99"}], "trials": 40}
    with_credits = {**experiment, "policies": {"flow_control": {"kind": "credits"}}}
    return {"experiment": with_credits, "axes": list(axes), "seeds": seeds or [1], "design": usual | design}


def bowl(trial: Any) -> Measured:
    """Least at waiting 3, 20 cores; 5 worse with credits; another seed adds a little."""
    values = {"waiting": 3.0, "cores": 20, "flow": {"kind": "unbounded"}, **trial.strand.values}
    height = (values["waiting"] - 3) ** 2 + (values["cores"] - 20) ** 2 + 5 * (values["flow"]["kind"] == "credits")
    return Measured({"latency_ms.p99": height + trial.strand.seed / 100, "records_out": 1000.0 - height})


def answer_of(study: Study, order: int | None = None, measure: Any = bowl) -> Any:
    """In the order in which trials are wanted, or in any."""
    results: dict[TrialId, Measured] = {}
    chosen: dict[int, Any] = {}
    chance = random.Random(order)
    while (now := plan(study, results, [chosen[n] for n in sorted(chosen)])).answer is None:
        chosen |= {trial.strand.point: trial.strand.values for trial in now.wanted}
        for trial in now.wanted if order is None else [chance.choice(now.wanted)]:
            results[trial.id] = measure(trial)
    return now.answer


@pytest.mark.parametrize("order", range(2))
def test_choices_depend_neither_on_who_ends_first_nor_on_a_crash(order: int) -> None:
    study = load_study(optimised(WAITING, CORES, FLOW, seeds=[1, 2], trials=20, at_once=3))
    expected = answer_of(study)
    assert [trial.number for trial in expected.trials] == list(range(20))
    assert answer_of(study, order) == expected
    # Whoever knows only the first twelve points and what came of them chooses the rest as if nothing had happened.
    results = {(row.point, row.seed, None): Measured(row.metrics) for row in expected.rows}
    early = {id: result for id, result in results.items() if id[0] < 12}
    points = [trial.values for trial in expected.trials]
    wanted = plan(study, early, points[:12]).wanted
    assert [trial.strand.values for trial in wanted] == [point for point in points[12:15] for _ in study.seeds]
    assert plan(study, results).answer == expected


def test_it_finds_what_chance_does_not() -> None:
    costs = {}
    for sampler in ("tpe", "random"):
        study = load_study(optimised(WAITING, CORES, FLOW, trials=60, sampler=sampler))
        answer = answer_of(study)
        (number,) = best(study.design, answer.trials)  # type: ignore[arg-type]
        costs[sampler] = answer.trials[number].objectives[0]
    assert costs["tpe"] < 6 < costs["random"]


def test_the_best_keeps_all_bounds_over_all_seeds() -> None:
    bounds = [{"metric": "cores", "at_least": 24}, {"metric": "records_out", "at_most": 980}]
    objective = {"metric": "latency_ms.p99", "over_seeds": "worst"}
    study = load_study(optimised(CORES, seeds=[1, 7], trials=30, objectives=[objective], bounds=bounds))
    answer = answer_of(study)
    (number,) = best(study.design, answer.trials)  # type: ignore[arg-type]
    found = answer.trials[number]
    assert found.values["cores"] == 25  # 1000 - 5² is not above 980, and 24 leaves 984
    assert found.objectives == (25 + 0.07,)
    assert found.bounds == (25.0, 975.0)


def test_several_objectives_have_a_front() -> None:
    both = [{"metric": "cores"}, {"metric": "latency_ms.p99"}]
    study = load_study(optimised(CORES, trials=40, objectives=both))
    answer = answer_of(study)
    front = [answer.trials[number].values["cores"] for number in best(study.design, answer.trials)]  # type: ignore[arg-type]
    assert set(front) == {trial.values["cores"] for trial in answer.trials if trial.values["cores"] <= 20}
    assert len(set(front)) >= 5
    most = load_study(optimised(CORES, trials=40, objectives=[{"metric": "records_out", "direction": "maximise"}]))
    (number,) = best(most.design, (found := answer_of(most)).trials)  # type: ignore[arg-type]
    assert abs(found.trials[number].values["cores"] - 20) <= 1


def test_what_broke_was_not_made_or_measured_nothing_does_not_count() -> None:
    def measure(trial: Any) -> Measured:
        if trial.strand.values["cores"] > 40:
            return Measured({"latency_ms.p99": -1e6}, broken="they wait for each other")
        if trial.strand.values["cores"] > 30:
            return Measured({}, failure="the disk was full")
        return Measured({"records_out": 1.0}) if trial.strand.values["cores"] < 10 else bowl(trial)

    study = load_study(optimised(CORES, trials=40))
    answer = answer_of(study, measure=measure)
    (number,) = best(study.design, answer.trials)  # type: ignore[arg-type]
    assert abs(answer.trials[number].values["cores"] - 20) <= 1
    failures = {trial.failure for trial in answer.trials}
    assert failures >= {"", "seed 1: they wait for each other", "a run did not measure latency_ms.p99"}
    assert sum(trial.failure != "" for trial in answer.trials[15:]) < 10  # it has learned
    nothing = answer_of(load_study(optimised(CORES, trials=12)), measure=lambda _: Measured({}, failure="away"))
    assert best(study.design, nothing.trials) == []  # type: ignore[arg-type]


@given(costs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=12))
def test_no_trial_beats_the_best_and_each_other_is_beaten(costs: list[tuple[int, int, bool]]) -> None:
    """x is to be small, y large. There are few values, so that many trials are equal."""
    objectives = ({"metric": "x"}, {"metric": "y", "direction": "maximise"})
    design = Optimise.model_validate({"objectives": objectives, "trials": 20})
    trials = [Tried(n, {}, ended, (float(x), float(y))) for n, (x, y, ended) in enumerate(costs)]
    counted = [(n, x, y) for n, (x, y, ended) in enumerate(costs) if ended]
    unbeaten = [
        n
        for n, x, y in counted
        if not any(other_x <= x and other_y >= y and (other_x, other_y) != (x, y) for _, other_x, other_y in counted)
    ]
    assert best(design, trials) == unbeaten


def test_numbers_of_lists_keep_their_order() -> None:
    study = load_study(optimised(SIZE, trials=15))
    sizes = [trial.values["size"] for trial in answer_of(study).trials]
    assert set(sizes) <= {8, 32, 128}


@pytest.mark.slow
def test_the_cheapest_queue_that_keeps_its_latency() -> None:
    """Servers of a queue at 900 records/s, 4 ms each, with exponential service: all parallelisms are tried one by one beside it."""
    server = {**sink(4000, noise={"kind": "exponential"}), "parallelism": 4}
    experiment = queue(server, machine=host("a", cores=16), horizon_s=20.0)
    experiment["workload"]["sources"]["bids"]["rate"]["per_s"] = 900.0
    parallelism = {
        "name": "servers",
        "fields": ["/query/operators/1/parallelism"],
        "values": {"kind": "between", "from": 1, "to": 12, "whole": True},
    }
    bound = {"metric": "latency_ms.p99", "at_most": 40}
    document = optimised(parallelism, experiment=experiment, objectives=[{"metric": "servers"}], bounds=[bound], trials=18, seeds=[1, 2])
    study = load_study(document)
    known: dict[str, Measured] = {}
    answer = run_study(study, known=known)
    (number,) = best(study.design, answer.trials)  # type: ignore[arg-type]
    grid = load_study(
        {**document, "design": {"kind": "grid"}, "axes": [parallelism | {"values": {"kind": "list", "of": list(range(1, 13))}}]}
    )
    rows = run_study(grid, known=known).rows
    keeping = {n: max(row.metrics["latency_ms.p99"] for row in rows if row.values["servers"] == n) <= 40 for n in range(1, 13)}
    assert answer.trials[number].values["servers"] == min(n for n, keeps in keeping.items() if keeps)
    assert [keeping[n] for n in (1, 12)] == [False, True]
    assert [trial.feasible(study.design) for trial in answer.trials] == [keeping[trial.values["servers"]] for trial in answer.trials]  # type: ignore[arg-type]
    results = {(row.point, row.seed, None): known_of(study, row, known) for row in answer.rows}
    assert tuple(tried_so_far(study, [trial.values for trial in answer.trials], results)) == answer.trials


def known_of(study: Study, row: Any, known: dict[str, Measured]) -> Measured:
    from engine.studies import Strand

    return known[Strand(study, row.point, row.values, row.seed).trial().key]


UPSIDE_DOWN = {**CORES, "values": {"kind": "between", "from": 9, "to": 2}}
TOO_FEW = {**CORES, "values": {"kind": "between", "from": 1, "to": 64, "whole": True}}
LOAD = {"name": "load", "fields": [RATE], "values": {"kind": "between", "from": 1, "to": 2}}
OBJECTIVE, BOUND = "/design/objectives/0/metric", "/design/bounds/0"
WRONG = {
    "a range upside down": (optimised(UPSIDE_DOWN), "/axes/0/values/to", "not above from"),
    "no trials": (optimised(CORES, trials=0), "/design/trials", "it must be at least 1"),
    "ten million trials": (optimised(CORES, trials=10_000_000), "/design/trials", "it must be at most 1,000"),
    "no objective": (optimised(CORES, objectives=[]), "/design/objectives", ""),
    "an unknown metric": (optimised(CORES, objectives=[{"metric": "latency_ms.p98"}]), OBJECTIVE, "is neither a metric of this"),
    "an unknown operator": (optimised(CORES, bounds=[{"metric": "operators.x.busy", "at_most": 1}]), f"{BOUND}/metric", "operators.x"),
    "a bound without a side": (optimised(CORES, bounds=[{"metric": "cores"}]), f"{BOUND}/at_most", "neither at_most nor at_least"),
    "an axis of words": (optimised(FLOW, objectives=[{"metric": "flow"}]), OBJECTIVE, "not numbers"),
    "nothing to choose": (optimised(), "/axes", "there is no axis"),
    "an end that cannot be run": (optimised(TOO_FEW), "/experiment/cluster/hosts/0/cores", "cores = 1"),
    "a search": ({**optimised(CORES), "search": {"kind": "sustainable", "load": LOAD}}, "/search", "runs each point as it is"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_optimisations_are_refused(name: str) -> None:
    document, place, words = WRONG[name]
    study, problems = examine_study(document)
    assert study is None
    assert any(problem.pointer == place and words in problem.message for problem in problems), problems


def test_metrics_are_those_that_runs_measure() -> None:
    import engine
    from engine.spec.experiment.metrics import flat, metric_names
    from engine.spec.rules.validation import load

    experiment = load({**queue(sink(10), machine=host("a"), horizon_s=1.0), "measurement": {"also": [{"name": "emitted", "to": "emit"}]}})
    measured = {name for name, _ in flat(engine.run(experiment).summary)}
    parts = ("memory.", "checkpointing.", "scaling.", "scheduling.", "state.", "output_logs.", "standbys.")  # of runs that have such
    assert {name for name in metric_names(experiment) if not name.startswith(parts)} == measured - {"wall_s"}
