"""From a corpus to models and their report: what they learn from, that work is kept, and what a small corpus cannot give."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.corpus.corpora import Corpus, start, write_part
from engine.corpus.labels import Labels
from engine.costmodels.architecture import Architecture
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import load_all
from engine.costmodels.training import Settings, TrainingError
from engine.learning.examples import examples, target
from engine.learning.lessons import Lesson, parts_of
from engine.learning.report import line, report
from engine.learning.teaching import Task, tasks, teach

from . import made_up
from .made_up import TRACES, row

SETTINGS = Settings(Architecture(hidden=8), epochs=3)


ROWS = [row(index) for index in range(TRACES)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return made_up.corpus(tmp_path / "small")


def test_failed_traces_teach_success_alone() -> None:
    failed = Labels(43, "a host died")
    assert {name: target(metric, failed) for name, metric in METRICS.items()} == {
        "throughput": None,
        "processing_latency": None,
        "end_to_end_latency": None,
        "flows": None,
        "success": 0.0,
    }
    behind = Labels(43, "", 1.0, 2.0, 3.0, 9.0, True)
    assert [target(METRICS[name], behind) for name in ("flows", "success")] == [0.0, 1.0]
    assert len(examples(METRICS["throughput"], ROWS, 1)) == 96


@pytest.mark.parametrize("name", ["success", "flows"])
def test_classes_have_as_many_examples_of_either(name: str) -> None:
    targets = examples(METRICS[name], ROWS, 1).targets
    assert targets.count(0.0) == targets.count(1.0) > 10


def test_traces_of_a_query_are_on_one_side() -> None:
    parts = parts_of([*ROWS, *ROWS])
    groups = [{of.trace.group for of in part} for part in parts]
    assert sum(map(len, groups)) == len(set.union(*groups))
    assert sum(map(len, parts)) == 2 * len(ROWS)


@pytest.mark.slow
def test_models_are_trained_once_and_reported_beside_simpler_ones(corpus: Path, tmp_path: Path) -> None:
    of = tasks(["throughput", "success"], 2)
    assert of[:2] == [Task("throughput", 42), Task("success", 42)]
    told = list(teach(Lesson((corpus,)), tmp_path / "models", of, SETTINGS, processes=2))
    assert {one.task for one in told if one.epoch is None} == set(of)
    assert sum(one.epoch is not None for one in told) == 3 * len(of)
    assert list(teach(Lesson((corpus,)), tmp_path / "models", of, SETTINGS, processes=2)) == []
    stored = load_all(tmp_path / "models")
    assert {name: [one.model.seed for one in members] for name, members in stored.items()} == {"throughput": [42, 43], "success": [42, 43]}
    assert stored["success"][0].facts["corpus"] == "small"
    for name, members in stored.items():
        found = report(METRICS[name], [one.model for one in members], parts_of(ROWS))
        assert list(found["off"]) == ["costream", "flat authors", "flat paper", "flat strong", "nearest", "constant"]
        assert all(line(METRICS[name], predictor, off).startswith(predictor) for predictor, off in found["off"].items())


@pytest.mark.slow
def test_a_corpus_that_is_too_small_says_so(tmp_path: Path) -> None:
    of = Corpus.of("training", 1, 3)
    start(tmp_path / "tiny", of)
    write_part(tmp_path / "tiny", 0, ROWS[:3])
    with pytest.raises(TrainingError, match="make a larger corpus"):
        list(teach(Lesson((tmp_path / "tiny",)), tmp_path / "models", tasks(["success"], 1), SETTINGS, processes=1))
