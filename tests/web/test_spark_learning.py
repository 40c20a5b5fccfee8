"""Corpora and models made by Spark tasks: the same files as by processes, and what was lost is made again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.corpus.corpora import Corpus, CorpusError, digest
from engine.corpus.making import make
from engine.costmodels.architecture import Architecture
from engine.costmodels.storage import load
from engine.costmodels.training import Settings
from engine.learning.lessons import Lesson
from engine.learning.teaching import tasks, teach
from tests.support.patience import PATIENCE_S
from workers.spark import learning
from workers.spark.session import SESSION, SparkUnavailable

from ..engine.learning import made_up
from ..support.tiers import spread

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CORPUS = replace(Corpus.of("training", 3, 8), per_part=1)


@pytest.fixture(scope="module")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("corpora") / "processes"
    assert len(list(make(place, CORPUS, 2))) == CORPUS.parts
    return digest(place)


@pytest.mark.parametrize("together", spread([7, 1, None], ci=1))
def test_however_it_is_divided_a_corpus_has_the_same_bytes(tmp_path: Path, by_processes: str, together: int | None) -> None:
    told: list[str] = []
    learning.make_corpus(tmp_path / "spark", CORPUS, told.append, together)
    assert digest(tmp_path / "spark") == by_processes
    assert told[-1] == "8 of 8 traces"


@pytest.mark.deep
def test_a_worker_that_is_killed_costs_a_wave(tmp_path: Path, by_processes: str) -> None:
    """Python workers are killed with -9 as soon as some run."""
    killed: list[int] = []

    def kill() -> None:
        until_s = time.monotonic() + PATIENCE_S
        while not killed and time.monotonic() < until_s:
            found = subprocess.run(["pgrep", "-f", "pyspark.daemon"], capture_output=True, text=True).stdout.split()
            children = [
                child
                for daemon in found
                for child in subprocess.run(["pgrep", "-P", daemon], capture_output=True, text=True).stdout.split()
            ]
            for child in children:
                os.kill(int(child), signal.SIGKILL)
                killed.append(int(child))
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    learning.make_corpus(tmp_path / "spark", CORPUS, lambda doing: None)
    thread.join()
    assert killed
    assert digest(tmp_path / "spark") == by_processes


def test_an_executor_with_another_engine_is_told(tmp_path: Path) -> None:
    other = replace(CORPUS, measured_by="another")
    with pytest.raises(CorpusError, match="another version of the engine"):
        learning.make_corpus(tmp_path / "other", other, lambda doing: None)


def test_without_java_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION, "spark", None)  # the other tests keep theirs
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailable, match="Java is missing"):
        learning.make_corpus(tmp_path / "none", CORPUS, lambda doing: None)


@pytest.mark.deep
def test_models_are_those_that_processes_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    lesson = Lesson((made_up.corpus(tmp_path / "corpora" / "small"),))
    of, settings = tasks(("throughput", "success"), 1), Settings(Architecture(8), epochs=2)
    told: list[str] = []
    learning.train(lesson, tmp_path / "spark", of, settings, False, told.append)
    assert told[-1] == "2 of 2 models"
    list(teach(lesson, tmp_path / "processes", of, settings, 1))
    for task in of:
        ours, theirs = (load(tmp_path / place / task.name) for place in ("spark", "processes"))
        assert ours.facts == theirs.facts
        assert json.dumps(ours.epochs) == json.dumps(theirs.epochs)
        assert all((values == theirs.model.weights[name]).all() for name, values in ours.model.weights.items())
    monkeypatch.setattr(SESSION, "get", None)  # Spark is not even asked
    learning.train(lesson, tmp_path / "spark", of, settings, False, told.append)
    assert told[-1] == "2 of 2 models", "nothing is trained twice"


def test_what_an_executor_cannot_train_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    """Half weights, too, which are half as large."""
    training = pytest.importorskip("engine.costmodels.training")
    lesson = Lesson((made_up.corpus(tmp_path / "corpora" / "small"),))
    settings = Settings(Architecture(8), rate=1e30, epochs=3)
    (task,) = tasks(("throughput",), 1)
    with pytest.raises(training.TrainingError, match="is no number; use a smaller learning rate"):
        learning.train(lesson, tmp_path / "spark", [task], settings, False, lambda doing: None)
    usual = replace(settings, rate=1e-3)
    for half in (False, True):
        learning.train(lesson, tmp_path / str(half), [task], usual, half, lambda doing: None)
    sizes = [(tmp_path / str(half) / task.name / "weights.npz").stat().st_size for half in (False, True)]
    assert sizes[1] < 0.75 * sizes[0]


@pytest.mark.deep
def test_processes_that_train_a_model_together_get_that_of_one(tmp_path: Path) -> None:
    """Without dropout, which each draws for itself; sums are added in another order."""
    training = pytest.importorskip("engine.costmodels.training")
    lesson = Lesson((made_up.corpus(tmp_path / "corpora" / "small"),))
    of, settings = tasks(("throughput",), 1), Settings(Architecture(8, dropout=0.0), epochs=3)
    learning.train(lesson, tmp_path / "together", of, settings, False, lambda doing: None, together=2)
    list(teach(lesson, tmp_path / "alone", of, settings, 1))
    ours, theirs = (load(tmp_path / place / of[0].name) for place in ("together", "alone"))
    assert [epoch["loss"] for epoch in ours.epochs] == pytest.approx([epoch["loss"] for epoch in theirs.epochs], rel=1e-5)
    for name, values in ours.model.weights.items():
        np.testing.assert_allclose(values, theirs.model.weights[name], atol=1e-5)
    with pytest.raises(training.TrainingError, match="99 processes are to train each model, but Spark has"):
        learning.train(lesson, tmp_path / "many", of, settings, False, lambda doing: None, together=99)
    wild = replace(settings, rate=1e30)
    with pytest.raises(training.TrainingError, match="is no number; use a smaller learning rate"):
        learning.train(lesson, tmp_path / "wild", of, wild, False, lambda doing: None, together=2)
