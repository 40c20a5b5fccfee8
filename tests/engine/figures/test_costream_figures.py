"""Costream's figures at smoke scale, on labels that are made up: each value can be drawn, and each assertion judged.

What this catches: a case, metric or group that a figure names and no evaluation gives. What is learned here matters to nobody; real
corpora take hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.corpus.corpora import CARD
from engine.corpus.experiments import Document
from engine.corpus.labels import Labels
from engine.figures import Here, Missing, reproduce
from engine.learning.evaluations import evaluate
from engine.learning.stock import Observe, Stock
from engine.spec.figure.files import FigureFiles
from tests.engine.learning import made_up
from tests.support.tiers import only

pytestmark = pytest.mark.slow

FILES = FigureFiles(Path(__file__).parents[3] / "fixtures")


class MadeUp(Stock):
    def corpus(self, draw: str, seed: int, traces: int) -> Path:
        place = self.directory / "corpora" / f"{draw}-{seed}-{traces}"
        return place if (place / CARD).exists() else made_up.corpus(place, draw, traces, seed)

    def measured(self, documents: Sequence[Document], about: str) -> list[Labels]:
        return [made_up.row(index).labels for index in range(len(documents))]

    def ran(self, observe: Observe, documents: Sequence[Document], about: str, chunk: int = 1) -> list[Any]:
        """Of a run that stays and of one that moves: latencies of the second fall when something is moved, after 40 s."""
        chosen = {"mean_ms": [10.0] * 60, "count": [5] * 60, "moves": []}
        moved = {"mean_ms": [50.0] * 40 + [9.0] * 20, "count": [5] * 60, "moves": [[30.0, 40.0, 1_000_000]]}
        return [chosen, moved] * (len(documents) // 2)


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    return MadeUp(tmp_path_factory.mktemp("stock"), 1)


@pytest.mark.parametrize("id", only(FILES.ids("costream"), ci=[]))
def test_every_value_can_be_drawn(id: str, stock: MadeUp) -> None:
    figure = FILES.figure(id)
    result = reproduce(figure, "smoke", FILES.experiment, Here(), evaluator=lambda evaluation: evaluate(evaluation, stock))
    assert {name: value.reason for name, value in result.values.items() if isinstance(value, Missing)} == {}
    assert result.runs >= 400 or id == "costream/short-runs", "all others rest on a corpus"
    unjudged = {one.id: one.reason for one in result.assertions if one.state == "not evaluated"}
    small = {reason for reason in unjudged.values() if "no point" in reason or "have different x" in reason}
    assert set(unjudged.values()) == small, "at smoke scale groups are small, or empty"
