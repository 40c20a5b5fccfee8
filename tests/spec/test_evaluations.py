"""Figures that rest on learned models: what a document says of an evaluation, what the scale adds, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.base.problems import Problem
from engine.spec.figure.evaluations import PRESETS, Accuracy, ShortRuns, Speedups
from engine.spec.figure.figure import Figure, evaluation_at, examine_figure, identity
from engine.spec.figure.files import FigureFiles

FILES = FigureFiles(Path(__file__).parents[2] / "fixtures")
SHARED: dict[str, Any] = {"kind": "accuracy", "cases": {"chains": {"tested_on": {"draw": "chains_of_2"}}}}


def figure(**parts: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "id": "test/1",
        "title": "Errors",
        "source": {"paper": "A paper"},
        "claim": "They are small.",
        "differs": "Everything.",
        "evaluations": {"errors": {"kind": "accuracy"}, "picks": {"kind": "speedups"}},
        "values": {
            "q50": {"kind": "score", "evaluation": "errors", "score": "q50", "at": {"predictor": "costream"}, "over": "metric"},
            "gain": {"kind": "score", "evaluation": "picks", "score": "speedup", "at": {"chooser": "costream", "query": "linear"}},
        },
        "assertions": [{"id": "A-1", "text": "Small", "check": "all(q50 <= 2) and gain > 1"}],
        "drawing": {"panels": [{"series": [{"value": "q50"}]}]},
    } | parts


def examined(document: dict[str, Any]) -> tuple[Figure | None, list[Problem]]:
    return examine_figure(document, lambda name: SHARED if name == "shared" else None)


def test_a_scale_says_how_large_they_are() -> None:
    read, problems = examined(
        figure(evaluations={"errors": {"kind": "shared", "name": "shared"}, "picks": {"kind": "speedups", "queries": 3}})
    )
    assert read is not None, problems
    for scale, preset in PRESETS.items():
        errors = evaluation_at(read, "errors", scale, lambda name: SHARED)  # type: ignore[arg-type]
        assert isinstance(errors, Accuracy)
        assert (errors.traces, errors.models.hidden, errors.models.members) == (preset.traces, preset.hidden, preset.members)
        assert errors.cases["chains"].tested_on is not None
        assert errors.cases["chains"].tested_on.traces == preset.tested
        picks = evaluation_at(read, "picks", scale, lambda name: SHARED)  # type: ignore[arg-type]
        assert isinstance(picks, Speedups)
        assert (picks.traces, picks.queries) == (preset.traces, 3)


def test_a_result_belongs_to_its_evaluations() -> None:
    def of(shared: dict[str, Any], scale: Any = "dev") -> str:
        read, _ = examined(figure(evaluations={"errors": {"kind": "shared", "name": "shared"}, "picks": {"kind": "speedups"}}))
        assert read is not None
        return identity(read, scale, lambda name: shared)

    assert of(SHARED) != of(SHARED, "smoke")
    assert of(SHARED) != of(SHARED | {"seed": 2})
    assert of(SHARED) == of(SHARED | {"seed": 1})


@pytest.mark.parametrize(
    ("parts", "pointer", "words"),
    [
        ({"evaluations": {}}, "/studies", "needs a study or an evaluation"),
        (
            {"evaluations": {"errors": {"kind": "shared", "name": "missing"}, "picks": {"kind": "speedups"}}},
            "/evaluations/errors/name",
            "there is no evaluation 'missing'",
        ),
        ({"evaluations": {"picks": {"kind": "speedups"}}}, "/values/q50/evaluation", "there is no evaluation 'errors'"),
        (
            {"evaluations": {"errors": {"kind": "accuracy", "traces": 3}, "picks": {"kind": "speedups"}}},
            "/evaluations/errors/traces",
            "100",
        ),
        (
            {"evaluations": {"errors": {"kind": "accuracy", "cases": {"a": {"models": {"depth": 3}}}}, "picks": {"kind": "speedups"}}},
            "/evaluations/errors/cases/a/models/depth",
            "models have no setting 'depth'; they have hidden",
        ),
        (
            {"evaluations": {"errors": {"kind": "accuracy", "cases": {"a": {"selectivities": "measured"}}}, "picks": {"kind": "speedups"}}},
            "/evaluations/errors/cases/a/selectivities",
            "leave 'flows' and 'success' out",
        ),
        (
            {"evaluations": {"errors": {"kind": "accuracy", "predictors": ["oracle"]}, "picks": {"kind": "speedups"}}},
            "/evaluations/errors/predictors/0",
            "costream",
        ),
    ],
)
def test_what_is_refused(parts: dict[str, Any], pointer: str, words: str) -> None:
    found, problems = examined(figure(**parts))
    assert found is None
    (problem, *_) = problems
    assert (problem.pointer, words in problem.message + problem.hint) == (pointer, True), problem


@pytest.mark.parametrize(
    ("score", "where", "words"),
    [
        ({"score": "acuracy"}, "/values/q50/score", "no score 'acuracy'; did you mean 'accuracy'"),
        ({"over": "metrics"}, "/values/q50", "no column 'metrics'; did you mean 'metric'"),
        ({"at": {"chooser": "costream"}}, "/values/q50", "no column 'chooser'"),
    ],
)
def test_columns_and_scores_that_are_not_there(score: dict[str, Any], where: str, words: str) -> None:
    document = figure()
    document["values"]["q50"] |= score
    found, (problem, *_) = examined(document)
    assert found is None
    said = f"{problem.message}; {problem.hint}"
    assert (problem.pointer, words in said) == (where, True), said


def test_the_figures_of_costream_use_sizes_of_their_scale_alone() -> None:
    """A figure that chose its own corpus could not be compared with the others."""
    for id in FILES.ids("costream"):
        read = FILES.figure(id)
        for name in read.evaluations:
            of = evaluation_at(read, name, "dev", FILES.experiment)
            if isinstance(of, ShortRuns):  # it learns nothing
                assert of.experiments == PRESETS["dev"].run_twice
                continue
            assert (of.traces, of.seed, of.models.hidden) == (PRESETS["dev"].traces, 1, PRESETS["dev"].hidden), (id, name)
