"""An evaluation in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.figures import EvaluationFailed, Evaluations
from engine.spec.figure.evaluations import Accuracy

pytestmark = pytest.mark.slow


def test_an_evaluation_in_a_process_of_its_own_ends_with_who_waits_for_it(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def told(doing: str) -> None:
        if "traces" in doing:
            raise EnoughError

    with pytest.raises(EnoughError):
        Evaluations(tmp_path, 1, told)(Accuracy(traces=100, metrics=("throughput",), predictors=("constant",)))
    with pytest.raises(EvaluationFailed, match="draw is 'nowhere'"):
        Evaluations(tmp_path, 1)(Accuracy.model_validate({"traces": 100, "cases": {"one": {"tested_on": {"draw": "nowhere"}}}}))
