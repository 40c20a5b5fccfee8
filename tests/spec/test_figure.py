"""The figure document: what is refused and where, and that the figures that come with Millrace are right at every scale.

What this catches: an assertion that can never fail or crashes, a reported curve beside a measured number, a scale whose changes lead
nowhere and would be noticed only when somebody runs it.
"""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.base.pointers import changed
from engine.spec.base.problems import InvalidExperiment, Problem, Refusal
from engine.spec.expressions.assertions import FUNCTIONS, parse
from engine.spec.figure.figure import SCALES, Figure, examine_figure, identity, load_figure, study_at
from engine.spec.figure.files import FigureFiles
from engine.spec.study.study import load_study

from .figure_examples import experiment, figure

FILES = FigureFiles(Path(__file__).parents[2] / "fixtures")
IDENTITY = "be651d723dd84598f1b6832de12d6511d84e22c06fa6dff190eb044333377cd9"


def problems(pointer: str, value: Any) -> list[Problem]:
    found, problems = examine_figure(changed(figure(), pointer, value), experiment)
    assert (found is None) == bool(problems)
    json.dumps([problem.as_dict() for problem in problems])
    return problems


def test_a_figure_is_read() -> None:
    read = load_figure(figure(), experiment)
    assert read.shapes == {"out": "series", "few": "number", "horizon": "number", "per_s": "series"}
    smoke, dev = (study_at(read, "rates", scale, experiment) for scale in ("smoke", "dev"))  # type: ignore[arg-type]
    assert (smoke["experiment"]["workload"]["horizon_s"], dev["experiment"]["workload"]["horizon_s"]) == (0.5, 1.0)
    assert smoke["experiment"]["cluster"]["hosts"][0]["cores"] == 4
    assert load_study(smoke).points() == [{"rate": 100}, {"rate": 200}]


def refused(pointer: str, value: Any, code: str, where: str, *words: str) -> None:
    (problem,) = problems(pointer, value)
    assert (problem.code, problem.pointer) == (code, where)
    for word in words:
        assert word in problem.message + problem.hint


def test_pointers_that_lead_nowhere_are_refused() -> None:
    change = [{"fields": ["/cluster/hosts/7/cores"], "value": 4}]
    refused("/studies/rates/changes", change, "unknown_field", "/studies/rates/changes/0/fields/0", "/cluster/hosts/7/cores")
    change = [{"fields": ["/experiment/workloads/horizon_s"], "value": 4}]
    refused("/scales/paper", {"changes": change}, "unknown_field", "/scales/paper/changes/0/fields/0", "did you mean 'workload'")
    refused("/scales/paper", {"changes": change[:0], "abuot": ""}, "unexpected", "/scales/paper/abuot", "did you mean 'about'")
    refused("/values/horizon/field", "/workload/horizon", "unknown_field", "/values/horizon/field", "did you mean 'horizon_s'")
    refused("/values/horizon/field", "/workload/sources", "wrong_type", "/values/horizon/field", "not a number")


def test_a_scale_that_makes_a_study_invalid_is_refused() -> None:
    change = [{"fields": ["/experiment/workload/horizon_s"], "value": -1}]
    (problem,) = problems("/scales/paper", {"changes": change})
    assert problem.pointer == "/studies/rates/experiment/workload/horizon_s"
    assert problem.message.startswith("at paper scale")


@pytest.mark.parametrize(
    ("pointer", "value", "where"),
    [
        ("/studies/rates/experiment", "smal", "/studies/rates/experiment"),
        ("/values/few/study", "rate", "/values/few/study"),
        ("/reported/fw", 1, "/reported/fw"),
        ("/scales/smoke/changes/0/studies", ["rate"], "/scales/smoke/changes/0/studies"),
        ("/drawing/panels/0/series/0/value", "ot", "/drawing/panels/0/series/0/value"),
        ("/values/out/over", "rates", "/values/out/over"),
        ("/values/few/at", {"rat": 100}, "/values/few/at/rat"),
        ("/assertions/0/check", "min(steps(ot)) > 0", "/assertions/0/check"),
        ("/assertions/0/check", "few > 0 and thing > 0", "/assertions/0/check"),
        ("/values/per_s/expression", "few / later", "/values/per_s/expression"),
    ],
)
def test_names_that_do_not_exist_are_refused(pointer: str, value: Any, where: str) -> None:
    found = problems(pointer, value)
    assert where in [problem.pointer for problem in found]
    assert {"unknown_name"} <= {problem.code for problem in found}


def test_a_reported_value_has_the_shape_of_the_measured_one() -> None:
    refused("/reported/few", {"x": [1], "y": [1]}, "wrong_shape", "/reported/few", "'few' is a number")
    refused("/reported/few", "100", "wrong_shape", "/reported/few", "'few' is a number")
    refused("/reported/out", 100, "wrong_shape", "/reported/out", "'out' is a series", "100")
    refused("/reported/out", {"x": [1, 2], "y": [1]}, "wrong_shape", "/reported/out", "2 x and 1 y")
    refused("/reported/out", {"x": [1, 2], "y": [1, "two"]}, "wrong_shape", "/reported/out/y/1", "contains two", "not a number")
    refused("/reported/out", {"x": [], "y": []}, "wrong_shape", "/reported/out")


def test_measured_values_have_no_place() -> None:
    refused("/values/few/value", 100, "unexpected", "/values/few/value", "not a field")
    refused("/measured", {"few": 100}, "unexpected", "/measured", "not a field")
    refused("/status", "reproduced", "unexpected", "/status", "not a field")
    refused("/values/per_s", {"kind": "computed", "expression": "3 + 4"}, "not_measured", "/values/per_s/expression")
    refused("/assertions/0/check", "1 < 2", "not_measured", "/assertions/0/check")
    refused("/assertions/0/check", "reported(few) == 100", "not_measured", "/assertions/0/check")


@pytest.mark.parametrize(
    ("check", "code", "words"),
    [
        ("few / 0 > 1", "division_by_zero", "divides by zero"),
        ("out > 1", "wrong_type", "all(...)"),
        ("few", "wrong_type", "a comparison"),
        ("all(few > 1)", "wrong_type", "it takes all(truths)"),
        ("mean(few) > 1", "wrong_type", "mean(series)"),
        ("meen(out) > 1", "unknown_function", "did you mean 'mean'"),
        ("few + (out > 1) > 2", "wrong_type", "a number or a series is needed"),
        ("few > 1 and out", "wrong_type", "a truth value is needed"),
        ("reported(per_s) == per_s", "unknown_name", "there is no reported value"),
        ("few.real > 1", "not_allowed", "few.real"),
        ("__import__('os').system('true') == few", "not_allowed", ""),
        ("few ** 2 > 1", "not_allowed", "few ** 2"),
        ("few > 'a'", "wrong_type", "not a number"),
        ("few > True", "wrong_type", "not a number"),
        ("few >", "syntax", "column"),
        ("few in (1, 2)", "not_allowed", "comparison"),
        ("few > " + "(" * 60 + "1" + ")" * 60 + " + few" * 60, "too_deep", "nested"),
        ("few > " + "1 + " * 400 + "1", "too_long", "1,000"),
    ],
)
def test_expressions_that_fit_nothing_are_refused(check: str, code: str, words: str) -> None:
    refused("/assertions/0/check", check, code, "/assertions/0/check", words)


def test_tolerance_must_be_given_where_it_is_used() -> None:
    refused("/assertions/0/tolerance", None, "missing", "/assertions/0/check", "give one")


@given(st.text(alphabet="fewout()<>=+-*/ andornot.,'[]0123456789", max_size=40))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    with contextlib.suppress(Refusal):
        assert parse(text, {"few": "number", "out": "series"}).type


def test_points_left_open_are_refused() -> None:
    refused("/values/few/at", {}, "missing", "/values/few/at", "does not fix rate")
    refused("/values/few/share", 0.9, "unknown_share", "/values/few/share", "does not search for a load")
    sustained = {"kind": "sustained", "study": "rates", "over": "rate"}
    refused("/values/most", sustained, "no_search", "/values/most/study", "kind: sustainable")


def test_two_assertions_of_one_id_are_refused() -> None:
    twice = [*figure()["assertions"], *copy.deepcopy(figure()["assertions"])]
    refused("/assertions", twice, "duplicate", "/assertions/1/id", "B-1")


def test_more_seeds_than_there_are_cannot_be_asked_for() -> None:
    (problem,) = problems("/assertions/0/of_seeds", 3)
    assert (problem.pointer, problem.code) == ("/assertions/0/of_seeds", "out_of_range")
    assert "2 seeds" in problem.message
    assert not problems("/assertions/0/of_seeds", 2)


def test_a_table_has_series_as_columns() -> None:
    table = {"kind": "table", "panels": [{"series": [{"value": "out", "unit": "records"}, {"value": "out", "reported": True}]}]}
    assert not problems("/drawing", table)
    (problem,) = problems("/drawing", changed(table, "/panels/0/series/0/value", "few"))
    assert (problem.pointer, problem.code) == ("/drawing/panels/0/series/0/value", "wrong_type")


def test_a_table_says_which_numbers_are_the_best() -> None:
    table = {"kind": "table", "panels": [{"series": [{"value": "out"}, {"value": "out", "name": "share"}]}]}
    table["columns"] = {"out": {"better": "lower"}, "share": {"better": "higher", "about": "of all that there are"}}
    assert not problems("/drawing", table)
    for pointer, value, at, code, said in (
        ("/columns/share/better", "most", "/columns/share/better", "unknown_value", "'lower' or 'higher'"),
        ("/columns", {"shares": {"better": "higher"}}, "/columns/shares", "unknown_name", "there is no column 'shares'"),
        ("/kind", "panels", "/columns/out", "unexpected", "only a table has columns"),
    ):
        (problem,) = problems("/drawing", changed(table, pointer, value))
        assert (problem.pointer, problem.code) == (f"/drawing{at}", code)
        assert said in problem.message


def test_what_is_drawn_does_not_change_what_a_result_belongs_to() -> None:
    drawing = {"kind": "table", "panels": [{"series": [{"value": "out"}]}], "columns": {"out": {"better": "lower"}}}
    assert identity(load_figure(changed(figure(), "/drawing", drawing), experiment), "dev", experiment) == IDENTITY


def test_texts_do_not_change_what_a_result_belongs_to() -> None:
    unmet = {"why": "The bar is too high", "on": "2026-01-02"}
    for pointer, value in (
        ("/assertions/0/text", "In other words"),
        ("/assertions/0/unmet", unmet),
        ("/title", "Another"),
        ("/claim", "Less"),
    ):
        assert identity(load_figure(changed(figure(), pointer, value), experiment), "dev", experiment) == IDENTITY


def test_old_figures_keep_their_identity() -> None:
    """of_seeds and calibrated count where they are given."""
    plain = load_figure(figure(), experiment)
    ids = [identity(plain, "dev", experiment)]
    for pointer, value in (("/assertions/0/of_seeds", 2), ("/calibrated", True)):
        ids.append(identity(load_figure(changed(figure(), pointer, value), experiment), "dev", experiment))
    assert len(set(ids)) == 3
    assert ids[0] == IDENTITY


def test_identity_is_of_what_the_result_depends_on() -> None:
    read = load_figure(figure(), experiment)
    reworded = load_figure(changed(figure(), "/claim", "The same in other words."), experiment)
    stricter = load_figure(changed(figure(), "/assertions/0/tolerance", 11), experiment)
    of = {scale: identity(read, scale, experiment) for scale in SCALES}
    assert len(set(of.values())) == 3
    assert identity(reworded, "dev", experiment) == of["dev"]
    assert identity(stricter, "dev", experiment) != of["dev"]


# The figures that come with Millrace


@pytest.mark.parametrize("id", FILES.ids())
def test_a_figure_is_valid_at_every_scale(id: str) -> None:
    read = FILES.figure(id)
    assert read.differs
    assert all(assertion.text for assertion in read.assertions)


def test_ids_are_in_order_and_unknown_ones_refused() -> None:
    ids = FILES.ids("benchmark")
    assert ids.index("benchmark/3.5") < ids.index("benchmark/3.16")
    with pytest.raises(InvalidExperiment, match="there is no figure 'benchmark/9'"):
        FILES.figure("benchmark/9")
    assert FILES.experiment("../data/secret") is None
    assert FILES.experiment("benchmark/none") is None


def test_the_schema_can_be_shown() -> None:
    schema = Figure.model_json_schema()
    assert set(FUNCTIONS) > {"mean", "slope"}
    assert schema["properties"]["assertions"]
