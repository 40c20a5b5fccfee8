"""An evaluation in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.learning.client import Client, LearningFailed
from engine.spec.figure.evaluations import Accuracy

pytestmark = pytest.mark.slow


def test_an_evaluation_in_a_process_of_its_own_ends_with_who_waits_for_it(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def told(doing: str) -> None:
        if "traces" in doing:
            raise EnoughError

    with pytest.raises(EnoughError):
        Client(tmp_path, 1, told).evaluate(Accuracy(traces=100, metrics=("throughput",), predictors=("constant",)))
    with pytest.raises(LearningFailed, match="draw is 'nowhere'"):
        Client(tmp_path, 1).evaluate(Accuracy.model_validate({"traces": 100, "cases": {"one": {"tested_on": {"draw": "nowhere"}}}}))
