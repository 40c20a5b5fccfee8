"""The example experiments: each is a whole, valid document whose input can be made."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from engine.spec.experiment import Experiment
from engine.workloads import Strings, build_feed, lookup

from .documents import DATA

EXAMPLES = sorted((Path(__file__).parents[2] / "fixtures" / "experiments").glob("*.yaml"))
COUNTS = {
    "flights": {"flights": 113_493},
    "nexmark_q1": {"bids": 600_000},
    "nexmark_q3": {"persons": 150_000, "auctions": 450_000},
    "nexmark_q8": {"persons": 150_000, "auctions": 450_000},
    "nexmark_q12": {"bids": 600_000},
}


def load(path: Path) -> Experiment:
    return Experiment.model_validate(yaml.safe_load(path.read_text()))


def test_the_examples_are_all_here():
    assert {path.stem for path in EXAMPLES} == set(COUNTS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_parameters_positions_and_input(path):
    experiment = load(path)
    assert experiment.name
    assert experiment.description
    for operator in experiment.query.operators:
        assert operator.parameters is not None
    positions = experiment.ui["positions"]
    assert set(positions) == {operator.id for operator in experiment.query.operators}
    for edge in experiment.query.edges:  # laid out from left to right
        assert positions[edge.source]["x"] < positions[edge.target]["x"]
    strings = Strings()
    feeds = {id: build_feed(experiment, id, number, strings, lookup([DATA])) for number, id in enumerate(experiment.workload.sources)}
    assert {id: made.count for id, made in feeds.items()} == COUNTS[path.stem]
