"""Labels of short runs against long ones: what is compared. Catches a comparison with itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.corpus.corpora import Corpus
from engine.corpus.experiments import CHANGED_PRICES, PAUSES, PRICES, Document
from engine.corpus.labels import Labels
from engine.corpus.traces import CHANGED_ENGINE, trace
from engine.learning.evaluations.short_runs import short_runs
from engine.learning.stock import Stock
from engine.spec import load
from engine.spec.figure.evaluations import ShortRuns


class Told(Stock):
    """Latencies of long runs are 1.2 times those of short ones, and one more of them falls behind."""

    def measured(self, documents: Sequence[Document], about: str) -> list[Labels]:
        long = documents[0]["workload"]["horizon_s"] == 240
        assert all((document["workload"]["horizon_s"] == 240) == long for document in documents)
        found = [Labels(43, "", 10.0, 100.0 * (1.2 if long else 1), 100.0, 0.0, long and n == 0) for n in range(len(documents) - 1)]
        return [*found, Labels(43, "nothing arrived")]


def test_both_runs_of_an_experiment_are_compared(tmp_path: Path) -> None:
    found = {str(row.at["metric"]): row.scores for row in short_runs(ShortRuns(experiments=11), Told(tmp_path, 1)).rows}
    assert found["Throughput"] == {"q50": 1, "q95": 1, "count": 10}
    assert found["Processing latency"]["q50"] == pytest.approx(1.2)
    assert found["Keeps up"] == {"accuracy": 0.9, "count": 10}
    assert found["Delivers"] == {"accuracy": 1, "count": 11}


def test_the_changed_engine_runs_what_training_runs() -> None:
    usual, changed = Corpus.of("training", 1, 5), Corpus.of(CHANGED_ENGINE, 1, 5)
    document = changed.document(0)
    load(document)
    assert document["prices"] == CHANGED_PRICES
    assert usual.document(0)["prices"] == PRICES
    assert trace(CHANGED_ENGINE, 1, 0) != trace("training", 1, 0), "it shares no trace with training"
    memory = {"kind": "costream_2024", "pauses": PAUSES, "slow_down": {"kind": "klink"}}
    assert all(host["memory"] == memory for host in document["cluster"]["hosts"])
    assert all(source["disorder"] == {"kind": "none"} for source in document["workload"]["sources"].values()), "nothing is polled"
    assert all(source["disorder"]["kind"] == "fetch" for source in usual.document(0)["workload"]["sources"].values())
