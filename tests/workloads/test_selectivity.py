"""Thresholds by target selectivity, against what a run finds.

What this catches: a sample of the wrong stream or field; pairs of a record with itself; a share that the run does not have; one of which
chance decides.
"""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.spec import Experiment
from engine.spec.base.problems import Refusal
from engine.workloads.selectivity import threshold_for

from ..support.agreement import with_params
from ..support.similarity_examples import brute_force, clusters, counted, self_join, texts, whole, worksets

HISTORY = {"kind": "full_history"}


def found(document: dict[str, Any], selectivity: float) -> Any:
    return threshold_for(Experiment.model_validate(document), "join", selectivity, lambda name: None)


@pytest.mark.parametrize("make", [worksets, clusters, lambda **about: whole(worksets(**about))])
@pytest.mark.parametrize(("law", "distance"), [("uniform", "angular"), ("gaussian", "euclidean")])
@pytest.mark.parametrize("selectivity", [0.002, 0.05])
def test_a_run_finds_about_as_many_pairs_as_asked_for(make: Any, law: str, distance: str, selectivity: float) -> None:
    """The sample is the run's own records here, of which there are fewer."""
    document = make(distance=distance, window=HISTORY, per_s=8000.0, horizon_s=0.1)
    for source in document["workload"]["sources"].values():
        source["stream"]["law"] = law
    about = found(document, selectivity)
    assert about.share == pytest.approx(selectivity, rel=0.02)
    assert about.pairs == 800 * 800
    for operator in document["query"]["operators"]:
        if "threshold" in operator["params"]:
            operator["params"]["threshold"] = about.threshold
    operators = engine.run(counted(document)).summary["operators"]
    assert operators["join"]["out"] / 800**2 == pytest.approx(about.share, rel=0.001)


def test_uniform_directions_match_as_the_angle_says() -> None:
    """Of two directions in the plane; 1.047 t with vectors uniform on the square (specification of S3J, 2.1)."""
    about = found(worksets(per_s=100_000.0), 0.01)
    assert about.threshold == pytest.approx(0.01 / 1.047, rel=0.03)
    assert (about.pairs, about.sources) == (1500 * 1500, {"left": "left", "right": "right"})


def test_within_one_stream_no_record_is_compared_with_itself() -> None:
    about = found(self_join(per_s=4000.0), 0.05)
    assert (about.pairs, about.sources) == (200 * 199 // 2, {"in": "left"})


def test_texts_match_by_whole_edits() -> None:
    about = found(texts(brute_force(threshold=2, per_s=2400.0)), 0.1)
    assert 0.1 <= about.share < 0.4
    equal = found(texts(brute_force(threshold=2, per_s=2400.0)), 0.001)
    assert equal.threshold == 0.5


def test_a_share_that_is_too_small_for_a_sample_is_refused() -> None:
    with pytest.raises(Refusal, match=r"selectivity is 1e-06, of which a sample has 2 of 2,250,000 pairs; use at least 4\.4e-06"):
        found(worksets(per_s=100_000.0), 1e-6)


def test_vectors_made_behind_a_source_are_refused() -> None:
    document = brute_force()
    made = {"fields": [{"name": "id", "expression": "id"}, {"name": "y", "expression": "x1 + x2"}]}
    document["query"]["operators"].insert(2, {"id": "sum", "kind": "map", "parallelism": 1, "params": made})
    document["query"]["edges"][0]["target"] = "sum"
    document["query"]["edges"][0]["target_port"] = "in"
    document["query"]["edges"].append({"source": "sum", "target": "join", "target_port": "left"})
    document = with_params(document, "join", left_coordinates=["y"], right_coordinates=["x1"])
    with pytest.raises(Refusal, match="'y' is no field of 'left', but made behind it"):
        found(document, 0.1)


def test_another_operator_is_refused() -> None:
    with pytest.raises(Refusal, match="operator is 'sink', which is no similarity join; name one of the kinds similarity_join"):
        threshold_for(Experiment.model_validate(worksets()), "sink", 0.1, lambda name: None)


def test_an_input_that_is_not_connected_is_refused() -> None:
    document = brute_force()
    document["query"]["edges"] = [edge for edge in document["query"]["edges"] if edge["source"] != "right"]
    with pytest.raises(Refusal, match="the input 'right' of 'join' is not connected"):
        found(document, 0.1)
