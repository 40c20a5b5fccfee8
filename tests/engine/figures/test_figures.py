"""Figures: values drawn from runs, assertions, statuses, and the first figures with real runs.

What this catches: a value drawn from another point or seed than it says, an assertion that counts as held although nothing was measured,
and a harness that cannot fail: an engine that measures wrongly must lose its figures.
"""

from __future__ import annotations

import itertools
import json
import zlib
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.assertions.evaluation import FUNCTIONS as EVALUATED
from engine.figures import Carried, Here, Made, Missing, NotEvaluated, Number, Processes, Series, evaluate, extract, reproduce, status_of
from engine.figures.extraction import as_json
from engine.figures.judging import judged
from engine.prices import PRICE_LISTS
from engine.spec.base.pointers import changed
from engine.spec.expressions.assertions import FUNCTIONS, parse
from engine.spec.figure.evaluations import Scored, Scores
from engine.spec.figure.figure import Figure, identity, load_figure, study_at
from engine.spec.figure.files import FigureFiles
from engine.spec.study.study import load_study
from engine.studies import TrialId, plan
from tests.spec.figure_examples import RATE, experiment, figure

FILES = FigureFiles(Path(__file__).parents[3] / "fixtures")


# Values, against a twin that looks at every run

SEEDS = (1, 2, 3)
RATES, CORES = (100, 200, 300), (2, 4)
NAMES = ("latency_ms.p99", "records_out", "operators.sink.busy")


def wide(values: dict[str, Any]) -> Figure:
    axes = [
        {"name": "rate", "fields": [RATE], "values": {"kind": "list", "of": list(RATES)}},
        {"name": "cores", "fields": ["/cluster/hosts/0/cores"], "values": {"kind": "list", "of": list(CORES)}},
    ]
    document = changed(figure(), "/studies/rates/axes", axes)
    document = changed(changed(document, "/studies/rates/seeds", list(SEEDS)), "/values", values)
    first = next(iter(values))
    is_number = values[first]["kind"] in ("metric", "verdict") and values[first].get("seeds") != "each"
    check = [{"id": "M-1", "text": "there", "check": f"{first} == {first}" if is_number else f"count({first}) > 0"}]
    document = changed(changed(document, "/assertions", check), "/reported", {})
    return load_figure(changed(document, "/drawing", {"panels": [{"series": [{"value": first}]}]}), experiment)


def carried(read: Figure, of: Any) -> dict[str, Any]:
    """The study as if its runs had been made. of: gives a run by point and seed."""
    study = load_study(study_at(read, "rates", "dev", experiment))
    results: dict[TrialId, Any] = {}
    runs = {}
    while (now := plan(study, results)).answer is None:
        for trial in now.wanted:
            runs[trial.key] = of(trial.values["rate"], trial.values["cores"], trial.strand.seed)
            results[trial.id] = runs[trial.key].measured(study)
    return {"rates": (study, Carried(now.answer, runs))}


def run_of(rate: int, cores: int, seed: int, numbers: dict[tuple[int, int, int], float]) -> Made:
    number = numbers[rate, cores, seed]
    summary = {"latency_ms": {"p99": number, "count": 3}, "records_out": 2 * number, "operators": {"sink": {"busy": number / 7}}}
    frames = [
        {
            "n": n,
            "t_s": (n + 1) / 4,
            "latency_ms": {"mean": None if (n + seed) % 3 == 0 else number + n},
            "operators": {"sink": {"queue": n}},
        }
        for n in range(6)
    ]
    return Made(summary, zlib.compress(json.dumps(frames).encode()))


OVER_SEEDS = {"mean": mean, "median": median, "least": min, "most": max}


@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=18, max_size=18),
    metric=st.sampled_from(NAMES),
    seeds=st.sampled_from(sorted(OVER_SEEDS)),
    rate=st.sampled_from(RATES),
    cores=st.sampled_from(CORES),
)
def test_values_are_drawn_from_the_runs_they_name(numbers: list[float], metric: str, seeds: str, rate: int, cores: int) -> None:
    by_run = dict(zip(itertools.product(RATES, CORES, SEEDS), numbers, strict=True))
    draw = {"study": "rates", "seeds": seeds}
    read = wide(
        {
            "one": {"kind": "metric", "metric": metric, "at": {"rate": rate, "cores": cores}, **draw},
            "over_rates": {"kind": "metric", "metric": metric, "at": {"cores": cores}, "over": "rate", **draw},
            "over_cores": {"kind": "metric", "metric": metric, "at": {"rate": rate}, "over": "cores", "x": "records_out", **draw},
            "frames": {"kind": "frames", "y": "latency_ms.mean", "at": {"rate": rate, "cores": cores}, **draw},
            "ratio": {"kind": "computed", "expression": "(over_rates - one) / 4"},
        }
    )
    values = extract(read, carried(read, lambda *of: run_of(*of, by_run)))

    def twin(rate: int, cores: int, factor: float) -> float:
        return OVER_SEEDS[seeds]([by_run[rate, cores, seed] * factor for seed in SEEDS])

    factor = {"latency_ms.p99": 1.0, "records_out": 2.0, "operators.sink.busy": 1 / 7}[metric]
    close = {"rel": 1e-9, "abs": 1e-6}
    assert values["one"].value == pytest.approx(twin(rate, cores, factor), **close)
    assert values["over_rates"].x == RATES
    assert values["over_rates"].y == pytest.approx([twin(each, cores, factor) for each in RATES], **close)
    assert values["over_cores"].y == pytest.approx([twin(rate, each, factor) for each in CORES], **close)
    assert values["over_cores"].x == pytest.approx([mean(2 * by_run[rate, each, seed] for seed in SEEDS) for each in CORES], **close)
    assert values["ratio"].y == pytest.approx([(y - values["one"].value) / 4 for y in values["over_rates"].y], **close)
    expected = []
    for n in range(6):
        here = [by_run[rate, cores, seed] + n for seed in SEEDS if (n + seed) % 3]
        expected.append(OVER_SEEDS[seeds](here))
    assert values["frames"].x == tuple((n + 1) / 4 for n in range(6))
    assert values["frames"].y == pytest.approx(expected, **close)
    assert [len(runs) for runs in values["over_rates"].runs] == [3, 3, 3]
    json.dumps(as_json(values), allow_nan=False)


def test_a_choice_is_named_no_and_yes() -> None:
    """The broker of Figure 3.2 is there or not."""
    read = FILES.figure("benchmark/3.2")
    study = load_study(study_at(read, "latency", "dev", FILES.experiment))
    trials = plan(study, {}).wanted
    runs = {trial.key: Made({"latency_ms": {"mean": float(trial.values["broker"])}}) for trial in trials}
    answer = plan(study, {trial.id: runs[trial.key].measured(study) for trial in trials}).answer
    assert answer is not None
    latency = extract(read, {"latency": (study, Carried(answer, runs))})["latency_ms"]
    assert (latency.x, latency.y) == (("no", "yes"), (0.0, 1.0))


def test_each_seed_is_a_point() -> None:
    at = {"rate": 100, "cores": 2}
    read = wide({"each": {"kind": "metric", "study": "rates", "metric": "records_out", "at": at, "seeds": "each"}})
    values = extract(read, carried(read, lambda rate, cores, seed: Made({"records_out": 10 * seed})))
    assert (values["each"].x, values["each"].y) == ((1, 2, 3), (10, 20, 30))


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        ({"kind": "metric", "metric": "latency_ms.p98"}, "did you mean 'latency_ms.p99'"),
        ({"kind": "frames", "y": "latency_ms.maen"}, "did you mean 'mean'"),
        ({"kind": "frames", "y": "operators"}, "not a number"),
        ({"kind": "records", "sink": "skin", "column": "price"}, "no sink 'skin'"),
        ({"kind": "verdict", "figure": "sustaind"}, "did you mean 'sustained'"),
    ],
)
def test_what_runs_do_not_have_is_missing(draw: dict[str, Any], reason: str) -> None:
    read = wide({"one": {"study": "rates", "at": {"rate": 100, "cores": 2}, **draw}} | {"n": {"kind": "computed", "expression": "one + 1"}})
    base = {"t_s": 1.0, "latency_ms": {"mean": 1.0, "count": 1}, "operators": {"sink": {"queue": 0}}, "deaths": []}
    frames = [base | {"t_s": float(t), "offered_per_s": 1.0, "in_per_s": 1.0, "backlog": 0} for t in range(1, 9)]
    made = Made({"latency_ms": {"p99": 1.0}}, zlib.compress(json.dumps(frames).encode()), {"sink": {"price": [1]}})
    values = extract(read, carried(read, lambda *_: made))
    assert isinstance(values["one"], Missing)
    assert reason in values["one"].reason
    assert isinstance(values["n"], Missing)
    (one,) = judged(read, values)
    assert (one.state, reason in one.reason) == ("not evaluated", True)


def test_a_run_that_failed_leaves_its_values_out() -> None:
    read = wide({"one": {"kind": "metric", "study": "rates", "metric": "records_out", "at": {"rate": 100, "cores": 2}}})
    values = extract(read, carried(read, lambda rate, cores, seed: Made({"records_out": 1}, failure="it broke" if seed == 2 else "")))
    assert values["one"] == Missing("it broke")
    assert "has not been run" in extract(read, {})["one"].reason  # type: ignore[union-attr]


def test_what_a_scale_leaves_out_is_named() -> None:
    read = wide({"one": {"kind": "metric", "study": "rates", "metric": "records_out", "at": {"rate": 200, "cores": 2}}})
    fewer = {"dev": {"changes": [{"fields": ["/axes/0/values/of"], "value": [100, 300]}]}}
    read = load_figure(changed(read.model_dump(by_alias=True, mode="json"), "/scales", fewer), experiment)
    values = extract(read, carried(read, lambda *_: Made({"records_out": 1})))
    assert values["one"] == Missing("no run of the study with rate 200 and cores 2 at this scale")


# Expressions

TYPES = {"a": "number", "b": "number", "s": "series", "t": "series", "none": "series", "gone": "number", "named": "series"}
VALUES: dict[str, Any] = {
    "a": Number(3.0), "b": Number(0.0), "s": Series((1.0, 2.0, 4.0), (10.0, 30.0, 20.0)), "t": Series((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
    "none": Series((), ()), "gone": Missing("nobody made it"), "named": Series(("x", "y"), (1.0, 2.0)),
}  # fmt: skip


def value_of(text: str) -> Any:
    return evaluate(parse(text, TYPES, {"a": "number"}, 0.5).tree, VALUES, {"a": 2.5})  # type: ignore[arg-type]


def test_every_function_is_evaluated() -> None:
    assert set(EVALUATED) == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + 2 * 3 - 4 / 8", 8.5), ("-a", -3.0), ("reported(a) + tolerance", 3.0), ("abs(b - a)", 3.0),
        ("mean(s)", 20.0), ("median(s)", 20.0), ("sum(s)", 60.0), ("count(s)", 3.0), ("first(s)", 10.0), ("last(s)", 20.0),
        ("min(s)", 10.0), ("max(s)", 30.0), ("max(a, b, 7, 1)", 7.0), ("min(a, b)", 0.0), ("deviation(t)", np.std([1, 2, 3])),
        ("at(s, 4)", 20.0), ("when(s > 15)", 2.0), ("when(15 < s <= 20)", 4.0),
        ("quantile(s, 0.5)", 20.0), ("quantile(s, 0.67)", 30.0), ("quantile(s, 1)", 30.0), ("quantile(t, 0.01)", 1.0),
        ("sum(quantiles(t, 33, 34))", 3.0), ("count(quantiles(s, 40, 99))", 60.0), ("last(quantiles(s, 40, 99))", 30.0),
        ("all(quantiles(t, 40, 99) < quantiles(s, 40, 99))", True),
        ("proportion_low(8, 10)", pytest.approx(0.4902, abs=1e-4)), ("proportion_high(8, 10)", pytest.approx(0.9433, abs=1e-4)),
        ("proportion_low(0, 20)", 0.0), ("proportion_high(0, 20)", pytest.approx(0.1611, abs=1e-4)), ("proportion_high(20, 20)", 1.0),
        ("lasting(s > 15, 2)", 2.0), ("last(points(1, 7, 2, 9))", 9.0), ("slope(t)", 1.0), ("slope(s)", 10 / 3),
        ("sum(where(s, s > 15))", 50.0), ("sum(where(between(t, 0, 2), s < 20))", 1.0),
        ("first(where(s, s < 15))", 10.0), ("count(where(s, s > 99))", 0.0),
        ("sum(between(s, 1, 4))", 50.0), ("count(between(s, 4, 9))", 0.0), ("sum(steps(s))", 10.0), ("first(steps(s))", 20.0),
        ("all(s >= 10)", True), ("all(s > 10)", False), ("any(s > 10)", True), ("a > b and not a < b", True), ("a > b > 0", False),
        ("within(a, reported(a), tolerance)", True), ("within(a, reported(a), 0.4)", False), ("near(a, 2, 0.5)", True),
        ("near(a, 2, 0.4)", False),
        ("all(abs(s * 2 - s - s) == 0)", True), ("a == 3 or b > 1", True), ("a != 3", False),
    ],
)  # fmt: skip
def test_expressions(text: str, value: Any) -> None:
    assert value_of(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a / b", "division by zero: b is 0"), ("s / (a - 3)", "division by zero: a - 3 is 0"), ("a / (s - 10)", "division by zero"),
        ("gone > 1", "gone is missing: nobody made it"), ("a > 0 or gone > 1", "gone is missing"), ("mean(none)", "none has no points"),
        ("mean(between(s, 5, 6))", "between(s, 5, 6) has no points"), ("all(none > 1)", "has no points"), ("at(s, 3)", "no point at 3"),
        ("when(s > 99)", "never holds"), ("lasting(s > 5, 99)", "99 consecutive points"), ("last(points(1, 7, 2))", "an x and a y"),
        ("mean(where(s, s > 99))", "where(s, s > 99) has no points"),
        ("max(where(s, t < 3))", "s has a point at 4.0, but t < 3 does not"),
        ("s + t", "different x values: only one has 4, 3$"), ("all(s < t)", "different x"), ("slope(named)", "names"),
        ("steps(between(s, 1, 2))", "only one point"), ("1e300 * 1e300 + a", "not a finite number"),
        ("slope(between(s, 1, 2))", "needs all different"), ("quantile(s, 0)", "the share of a quantile is 0; it must be above 0"),
        ("quantile(none, 0.5)", "none has no points"), ("quantiles(s, 40.2, 40.8)", "no whole per cent"),
        ("quantiles(s, 0, 5)", "the share of a quantile is 0"), ("proportion_low(3, 2)", "3 of 2 is no share"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_not_evaluated(text: str, reason: str) -> None:
    with pytest.raises(NotEvaluated, match=reason.replace("(", r"\(").replace(")", r"\)")):
        value_of(text)


NUMBERS = st.sampled_from(["a", "b", "s", "t", "2", "0.5", "mean(s)", "max(t)", "reported(a)"])
TREES = st.recursive(NUMBERS, lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"))
CHECKS = st.tuples(TREES, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), TREES).map(" ".join)


@given(first=CHECKS, second=CHECKS, join=st.sampled_from(["and", "or"]))
def test_expressions_against_plain_python(first: str, second: str, join: str) -> None:
    """The twin evaluates each point by itself with Python; s and t have the same x here, so that they mix."""
    series = {"s": Series((1.0, 2.0, 3.0), (1.5, -2.0, 0.0)), "t": Series((1.0, 2.0, 3.0), (1.0, 0.0, 4.0))}
    numbers = {"a": 3.0, "b": 0.0}
    types: dict[str, Any] = {"a": "number", "b": "number", "s": "series", "t": "series"}
    reductions = {"mean": lambda _: mean(series["s"].y), "max": lambda _: 4.0, "reported": lambda _: 2.5}

    def holds(check: str) -> bool:
        points = [{name: each.y[n] for name, each in series.items()} for n in range(3)]
        truths = [eval(check, {"__builtins__": {}}, numbers | reductions | point) for point in points]
        return all(truths)

    def asked(check: str) -> str:
        parsed = parse(f"{check}", types, {"a": "number"})
        return f"all({check})" if parsed.type == "truths" else check

    text = f"{asked(first)} {join} {asked(second)}"
    values: dict[str, Any] = series | {name: Number(value) for name, value in numbers.items()}
    try:
        truths = [holds(first), holds(second)]
        expected = all(truths) if join == "and" else any(truths)
    except ZeroDivisionError:
        with pytest.raises(NotEvaluated, match="division by zero"):
            evaluate(parse(text, types, {"a": "number"}).tree, values, {"a": 2.5})
        return
    assert evaluate(parse(text, types, {"a": "number"}).tree, values, {"a": 2.5}) is expected


def test_measured_sides_are_shown() -> None:
    read = load_figure(figure(), experiment)
    values: dict[str, Any] = {"out": Series((100.0, 200.0), (5.0, 7.0)), "few": Number(5.0), "horizon": Number(1.0)}
    (one,) = judged(read, values)
    assert one.state == "fails"
    assert [(side.text, side.least, side.most) for side in one.sides] == [("min(steps(out))", 2, 2), ("tolerance", 10, 10)]


GONE = "few is missing: nothing ran"


def of_seeds(check: str, needed: int) -> Figure:
    one = [{"id": "B-1", "text": "More", "check": check, "tolerance": 10, "of_seeds": needed}]
    return load_figure(changed(changed(figure(), "/assertions", one), "/studies/rates/seeds", [1, 2, 3]), experiment)


@pytest.mark.parametrize(
    ("measured", "needed", "state", "reason"),
    [
        ({1: 20.0, 2: 30.0, 3: 5.0}, 2, "holds", "needs two of three seeds, holds for two: seeds 1 and 2 hold; seed 3 fails"),
        ({1: 20.0, 2: 30.0, 3: 5.0}, 3, "fails", "needs all three seeds, holds for two: seeds 1 and 2 hold; seed 3 fails"),
        (
            {1: 20.0, 2: None, 3: 5.0}, 2, "not evaluated",
            f"needs two of three seeds, holds for one: seed 1 holds; seed 2 is not evaluated ({GONE}); seed 3 fails",
        ),
        (
            {1: None, 2: 5.0, 3: 5.0}, 2, "fails",
            f"needs two of three seeds, holds for none: seed 1 is not evaluated ({GONE}); seeds 2 and 3 fail",
        ),
        (
            {1: 20.0, 2: None, 3: 30.0}, 2, "holds",
            f"needs two of three seeds, holds for two: seeds 1 and 3 hold; seed 2 is not evaluated ({GONE})",
        ),
        (
            {1: None, 2: None, 3: None}, 2, "not evaluated",
            f"needs two of three seeds, holds for none: seeds 1, 2 and 3 are not evaluated ({GONE})",
        ),
        ({1: 20.0, 2: 30.0, 3: 40.0}, 2, "holds", "needs two of three seeds, holds for all three"),
        ({1: 20.0, 4: 5.0}, 2, "fails", "needs both seeds, holds for one: seed 1 holds; seed 4 fails"),
        ({1: 20.0, 4: 30.0}, 2, "holds", "needs both seeds, holds for both"),
        ({1: 20.0, 4: 5.0}, 1, "holds", "needs one of two seeds, holds for one: seed 1 holds; seed 4 fails"),
        ({1: 20.0}, 2, "holds", ""),
        ({1: 5.0}, 2, "fails", ""),
        ({1: None}, 2, "not evaluated", GONE),
        ({}, 2, "not evaluated", "no seed has runs of its own"),
    ],
)  # fmt: skip
def test_assertions_that_must_hold_for_so_many_seeds(measured: dict[int, float | None], needed: int, state: str, reason: str) -> None:
    read = of_seeds("few > tolerance", needed)
    by_seed = {seed: {"few": Missing("nothing ran") if few is None else Number(few)} for seed, few in measured.items()}
    (one,) = judged(read, {"few": Number(0.0)}, by_seed)
    assert one.state == state
    assert one.reason == reason
    known = [few for few in measured.values() if few is not None]
    if known:
        assert [(side.least, side.most) for side in one.sides if side.text == "few"] == [(min(known), max(known))]


def test_seeds_are_judged_by_their_own_runs() -> None:
    """What one seed does to another would be hidden by the mean."""
    read = of_seeds("few == 1 or few == 2 or few == 3", 3)
    document = study_at(read, "rates", "dev", experiment)
    study = load_study(document)

    def made(study: Any, sinks: Any) -> Carried:
        results, runs = {}, {}
        while (now := plan(study, results)).answer is None:
            for trial in now.wanted:
                runs[trial.key] = Made({"records_out": trial.strand.seed})
                results[trial.id] = runs[trial.key].measured(study)
        return Carried(now.answer, runs)

    assert len(made(study, ()).runs) == 6
    result = reproduce(read, "dev", experiment, made)
    assert result.values["few"].value == 2  # type: ignore[union-attr]
    assert result.assertions[0].state == "holds", result.assertions[0].reason
    assert (result.assertions[0].sides[0].least, result.assertions[0].sides[0].most) == (1, 3)
    assert result.status == "reproduced"
    calibrated = load_figure(read.model_dump(by_alias=True, mode="json") | {"calibrated": True}, experiment)
    assert reproduce(calibrated, "dev", experiment, made).status == "calibrated"


def test_statuses() -> None:
    assert status_of(["holds", "holds"]) == "reproduced"
    assert status_of(["holds", "holds"], calibrated=True) == "calibrated"
    assert status_of(["holds", "fails"]) == status_of(["holds", "not evaluated"]) == status_of(["holds", "fails"], True) == "partly"
    assert status_of(["fails", "not evaluated"]) == status_of(["fails"], True) == "not reproduced"
    assert status_of(["not evaluated"]) == status_of(["not evaluated", "not evaluated"], True) == "not evaluated"


# Carrying out


def test_a_run_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    run = engine.run
    monkeypatch.setattr(engine, "run", lambda document, **options: made.append(document) or run(document, **options))
    twice = changed(figure(), "/studies/again", figure()["studies"]["rates"])
    read, executor = load_figure(twice, experiment), Here()
    result = reproduce(read, "smoke", experiment, executor)
    assert (result.status, result.runs, len(made)) == ("reproduced", 4, 4)
    assert result.values["out"] == Series((100.0, 200.0), (50.0, 100.0), (50.0, 100.0), (50.0, 100.0), result.values["out"].runs)  # type: ignore[union-attr]
    assert result.values["per_s"].y == (100.0, 200.0)  # type: ignore[union-attr]
    assert reproduce(read, "smoke", experiment, executor).as_dict() == result.as_dict()
    assert len(made) == 4
    assert reproduce(read, "dev", experiment, executor).values["out"].y == (100.0, 200.0)  # type: ignore[union-attr]


@pytest.mark.slow
def test_processes_come_to_the_same() -> None:
    read = FILES.figure("benchmark/3.5")
    with Processes(2) as executor:
        several = reproduce(read, "smoke", FILES.experiment, executor)
    assert several.as_dict() == reproduce(read, "smoke", FILES.experiment, Here()).as_dict()


@pytest.mark.slow
def test_a_process_that_dies_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with Processes(1) as executor:
        monkeypatch.setattr("engine.figures.execution.make", _die)
        result = reproduce(load_figure(figure(), experiment), "smoke", experiment, executor)
    assert result.status == "not evaluated"
    assert "died" in result.assertions[0].reason


def _die(*_: Any) -> None:
    import os

    os._exit(9)


def test_a_figure_that_a_price_was_fitted_to_is_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = PRICE_LISTS["reference"]
    fitted = replace(reference.prices["sink"], origin="fitted", fitted_to=("test/1.1",))
    monkeypatch.setitem(PRICE_LISTS, "reference", replace(reference, prices={**reference.prices, "sink": fitted}))
    assert reproduce(load_figure(figure(), experiment), "smoke", experiment, Here()).status == "calibrated"


def test_a_search_names_the_runs_that_it_rests_on() -> None:
    load = {"name": "load", "fields": [RATE], "values": {"kind": "between", "from": 50, "to": 1000}}
    document = changed(
        figure(), "/studies/rates", {"experiment": "small", "search": {"kind": "sustainable", "load": load, "shares": [0.5]}}
    )
    values = {
        "most": {"kind": "sustained", "study": "rates"},
        "out": {"kind": "metric", "study": "rates", "metric": "records_out", "share": 0.5},
        "over_time": {"kind": "frames", "study": "rates", "share": 0.5, "y": "out_per_s"},
    }
    document = changed(changed(changed(document, "/values", values), "/reported", {}), "/drawing/panels/0/series", [{"value": "out"}])
    document = changed(document, "/assertions/0/check", "out > 0 and tolerance > 0 and most > 0")
    longer = {"dev": {"changes": [{"fields": ["/experiment/workload/horizon_s"], "value": 12}]}}
    read, executor = load_figure(changed(document, "/scales", longer), experiment), Here()
    study = load_study(study_at(read, "rates", "dev", experiment))
    drawn = extract(read, {"rates": (study, carried_out := executor(study))})
    (found,) = carried_out.answer.found
    assert found.bracket.sustained is not None
    assert drawn["most"].value == found.bracket.sustained
    assert {*drawn["most"].runs, *drawn["out"].runs} <= set(carried_out.runs)
    at_half = carried_out.runs[drawn["out"].runs[0]]
    assert drawn["out"].value == at_half.summary["records_out"]
    assert drawn["over_time"].y == tuple(frame["out_per_s"] for frame in at_half.frames)


def test_a_run_that_ended_before_it_had_a_metric_has_at_least_what_is_written() -> None:
    """Rounds of checkpoints that no run completes, say: the least that they can have taken decides what it can."""
    numbers = {key: float(key[0]) for key in itertools.product(RATES, CORES, SEEDS)}

    def without(rate: int, cores: int, seed: int) -> Made:
        made = run_of(rate, cores, seed, numbers)
        return Made({**made.summary, "rounds_ms": 5.0}, made.packed_frames) if rate < 300 else made

    draw = {"kind": "metric", "study": "rates", "metric": "rounds_ms", "at": {"cores": 2}}
    read = wide(
        {
            "slow": {**draw, "at": {"rate": 300, "cores": 2}, "at_least": 85_000},
            "over_rates": {**draw, "over": "rate", "at_least": 85_000},
            "strict": {**draw, "at": {"rate": 300, "cores": 2}},
            "most": {**draw, "at": {"rate": 300, "cores": 2}, "seeds": "most", "at_least": 85_000},
        }
    )
    values = extract(read, carried(read, without))
    told = as_json(values)
    assert (told["slow"]["value"], told["slow"]["at_least"]) == (85_000, True)
    assert told["most"]["at_least"] is True
    assert told["over_rates"]["y"] == [5.0, 5.0, 85_000.0]
    assert told["over_rates"]["at_least"] == [False, False, True]
    assert "a run has no 'rounds_ms'" in told["strict"]["reason"]
    for check, holds in (("slow > 20000", True), ("slow < 20000", False), ("all(over_rates >= 5)", True)):
        assert evaluate(parse(check, read.shapes).tree, values) is holds
    for check in ("slow < 90000", "slow * 2 > 1", "mean(over_rates) > 1"):
        with pytest.raises(NotEvaluated, match="which is therefore 85000 or more"):
            evaluate(parse(check, read.shapes).tree, values)


def test_a_consistency_check_does_not_count() -> None:
    checks = [{"id": "B-1", "text": "None", "check": "few < 0"}, {"id": "B-2", "text": "Some", "check": "few > 0"}]
    document = changed(figure(), "/assertions", checks)
    alone = load_figure(document, experiment)
    assert reproduce(alone, "smoke", experiment, Here()).status == "partly"
    read = load_figure(changed(document, "/assertions/0/consistency", True), experiment)
    result = reproduce(read, "smoke", experiment, Here())
    assert result.status == "reproduced"
    assert result.assertions[0].state == "fails", "shown nevertheless"
    assert identity(read, "dev", experiment) == identity(alone, "dev", experiment)


def test_texts_of_experiments_belong_to_no_identity() -> None:
    read = load_figure(figure(), experiment)

    def told(name: str) -> dict[str, Any] | None:
        found = experiment(name)
        if found is None:
            return None
        operators = [{**one, "cost": {**(one.get("cost") or {}), "fitted_to": ["this"]}} for one in found["query"]["operators"]]
        return {**found, "name": "other", "description": "in other words", "query": {**found["query"], "operators": operators}}

    plain = [{**one, "cost": {**(one.get("cost") or {})}} for one in (experiment("small") or {})["query"]["operators"]]
    small = experiment("small") or {}
    costs = {**small, "query": {**small["query"], "operators": plain}}
    assert identity(read, "dev", told) == identity(read, "dev", lambda name: costs if name == "small" else experiment(name))


# Scores of learned models

SCORED = Scores(
    (
        Scored({"case": "seen", "metric": "Throughput", "predictor": "costream", "group": "all", "bin": "all"}, {"q50": 1.5}, {"q50": 1.4}),
        Scored({"case": "seen", "metric": "Keeps up", "predictor": "costream", "group": "all", "bin": "all"}, {"accuracy": 0.9}),
        Scored({"case": "seen", "metric": "Throughput", "predictor": "constant", "group": "all", "bin": "all"}, {"q50": 9.0}),
        Scored({"case": "seen", "metric": "Throughput", "predictor": "costream", "group": "query", "bin": "linear"}, {"q50": 1.25}),
        Scored({"case": "seen", "metric": "Throughput", "predictor": "costream", "group": "query", "bin": "join"}, {"q50": 1.75}),
    ),
    100,
)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"at": {"predictor": "constant"}}, Number(9.0)),
        ({"at": {"predictor": "costream", "metric": "Throughput"}}, Number(1.5, 1.4)),
        ({"at": {"predictor": "costream"}, "over": "metric"}, Series(("Throughput",), (1.5,), (1.4,), (None,))),
        (
            {"at": {"predictor": "costream", "group": "query"}, "over": "bin"},
            Series(("linear", "join"), (1.25, 1.75), (None, None), (None, None)),
        ),
        ({"at": {"predictor": "costream"}}, Missing("the evaluation has 2 rows with predictor 'costream'; fix more columns under at")),
        (
            {"at": {"predictor": "costream", "metric": "Keeps up"}},
            "there is no q50 with case 'seen' and metric 'Keeps up' and predictor 'costream' and group 'all' and bin 'all'",
        ),
        ({"at": {"predictor": "costream"}, "over": "bin"}, "a series over bins needs a group"),
        ({"over": "predictor"}, "several rows have one predictor; fix more columns under at"),
        ({"at": {"predictor": "queueing"}}, "the evaluation has no row with group 'all' and predictor 'queueing'"),
    ],
)
def test_scores_are_drawn_from_the_rows_that_fit(value: dict[str, Any], found: Any) -> None:
    document = {
        **{name: figure()[name] for name in ("format", "id", "title", "source", "claim", "differs")},
        "evaluations": {"errors": {"kind": "accuracy"}},
        "values": {"q50": {"kind": "score", "evaluation": "errors", "score": "q50"} | value},
        "assertions": [{"id": "A-1", "text": "Small", "check": "max(q50) < 2" if "over" in value else "q50 < 2"}],
        "drawing": {"panels": [{"series": [{"value": "q50"}]}]},
    }
    of = load_figure(document, experiment)
    drawn = extract(of, {}, {"errors": SCORED})["q50"]
    if isinstance(found, str):
        assert isinstance(drawn, Missing)
        assert found in drawn.reason
    else:
        assert drawn == found
    assert extract(of, {})["q50"] == Missing("evaluation 'errors' has not been made")
    result = reproduce(of, "smoke", experiment, Here(), evaluator=lambda evaluation: SCORED)
    assert (result.runs, result.seeds) == (100, ())
