"""Training learns what can be learned and nothing else, repeats itself, says why it cannot, and keeps models whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.costmodels.baselines import Constant
from engine.costmodels.description import Filter, Host, Query, Sink, Source
from engine.costmodels.encoding import Encoder
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.metrics import METRICS
from engine.costmodels.network import Architecture
from engine.costmodels.storage import DESCRIPTION, WEIGHTS, BrokenModel, load, save
from engine.costmodels.training import GREATEST, Epoch, Model, Settings, TrainingError, missed_by, train

torch.set_num_threads(1)

LATENCY, FLOWS = METRICS["processing_latency"], METRICS["flows"]
SMALL = Settings(Architecture(hidden=8), rate=1e-2, batch=32, epochs=12)


def filtered(rate_per_s: int, share: float, latency_ms: float) -> JointGraph:
    """A source and a filter on one host, and a sink on another."""
    query = Query((Source(rate_per_s, 3, 3, 3), Filter("<", "int", 3), Sink()), ((0, 1), (1, 2)))
    return joint_graph(query, [Host(100, 1000, 25, latency_ms), Host(800, 32000, 10000, 1)], [0, 0, 1], [1.0, share, 1.0])


def some(count: int, seed: int, rates: tuple[int, int] = (10, 1000)) -> Examples:
    """Costs that follow from the rate and the latency."""
    random = np.random.default_rng(seed)
    given = [(int(random.integers(*rates)), float(random.uniform(0.1, 1)), float(random.uniform(1, 160))) for _ in range(count)]
    return Examples([filtered(*each) for each in given], [rate / 10 * latency_ms for rate, _, latency_ms in given])


def halves(examples: Examples) -> Examples:
    """Classes: above the median cost or below."""
    return replace(examples, targets=(np.asarray(examples.targets) > np.median(examples.targets)).astype(float).tolist())


def shuffled(examples: Examples) -> Examples:
    return replace(examples, targets=np.random.default_rng(9).permutation(examples.targets).tolist())


TRAINING, VALIDATION, TEST = some(128, 1), some(48, 2), some(200, 3)


@pytest.fixture(scope="module")
def model() -> Model:
    return train(LATENCY, TRAINING, VALIDATION, SMALL, seed=1)


@pytest.fixture(scope="module")
def classifier() -> Model:
    return train(FLOWS, halves(TRAINING), halves(VALIDATION), SMALL, seed=1)


# -- learning ------------------------------------------------------------------------------------------------------------------------------


def test_loss_falls_and_costs_are_learned(model: Model) -> None:
    assert [epoch.number for epoch in model.epochs] == list(range(1, 13))
    assert model.epochs[-1].loss < 0.7 * model.epochs[0].loss
    missed, guessed = (missed_by(LATENCY, of.predict(TEST.graphs), TEST.targets) for of in (model, Constant.of(TRAINING.targets)))
    assert missed < 0.8 * guessed


def test_loss_falls_and_classes_are_learned(classifier: Model) -> None:
    assert classifier.architecture.classifies
    assert classifier.epochs[-1].loss < 0.7 * classifier.epochs[0].loss
    assert missed_by(FLOWS, classifier.predict(TEST.graphs), halves(TEST).targets) < 0.2


def test_from_shuffled_costs_no_more_is_learned_than_their_median() -> None:
    model = train(LATENCY, shuffled(TRAINING), shuffled(VALIDATION), SMALL, seed=1)
    missed, guessed = (missed_by(LATENCY, of.predict(TEST.graphs), TEST.targets) for of in (model, Constant.of(TRAINING.targets)))
    assert 0.9 * guessed < missed < 2 * guessed


def test_a_seed_gives_one_model_and_another_seed_another(model: Model) -> None:
    torch.rand(7)  # what was drawn before counts for nothing
    again, other = (train(LATENCY, TRAINING, VALIDATION, SMALL, seed) for seed in (1, 2))
    np.testing.assert_allclose(again.predict(TEST.graphs), model.predict(TEST.graphs), rtol=1e-6)
    assert again.epochs == model.epochs
    assert not np.allclose(other.predict(TEST.graphs), model.predict(TEST.graphs), rtol=1e-3)


def test_training_ends_without_improvement_and_gives_the_weights_of_the_best_epoch() -> None:
    settings = replace(SMALL, epochs=100, patience=3)
    found = train(LATENCY, shuffled(TRAINING), VALIDATION, settings, seed=1)
    best = min(found.epochs, key=lambda epoch: epoch.validation)
    assert len(found.epochs) == best.number + 3 < 100
    assert [epoch.number for epoch in found.epochs if epoch.best][-1] == best.number
    assert missed_by(LATENCY, found.predict(VALIDATION.graphs), VALIDATION.targets) == best.validation
    until_then = train(LATENCY, shuffled(TRAINING), VALIDATION, replace(settings, epochs=best.number), seed=1)
    np.testing.assert_allclose(found.predict(TEST.graphs), until_then.predict(TEST.graphs), rtol=1e-6)


def test_each_is_told_every_epoch_and_can_stop() -> None:
    told: list[Epoch] = []

    def third(epoch: Epoch) -> bool:
        told.append(epoch)
        return epoch.number == 3

    found = train(LATENCY, TRAINING, VALIDATION, SMALL, seed=1, each=third)
    assert found.epochs == told
    assert [epoch.number for epoch in told] == [1, 2, 3]


def test_what_is_tuned_starts_from_its_weights_and_keeps_its_encoder(model: Model) -> None:
    other = some(64, 4, rates=(5000, 9000))
    before = model.predict(TEST.graphs)
    start = train(LATENCY, other, VALIDATION, replace(SMALL, epochs=0), seed=5, initial=model)
    np.testing.assert_array_equal(start.predict(TEST.graphs), before)
    tuned = train(LATENCY, other, other, replace(SMALL, epochs=4), seed=5, initial=model)
    assert tuned.encoder == model.encoder != Encoder.fitted(other.graphs)
    assert missed_by(LATENCY, tuned.predict(other.graphs), other.targets) < missed_by(LATENCY, model.predict(other.graphs), other.targets)
    np.testing.assert_array_equal(model.predict(TEST.graphs), before)


# -- predictions ---------------------------------------------------------------------------------------------------------------------------


def biased(metric: str, bias: float) -> Model:
    """Of almost this output for every graph."""
    found = train(METRICS[metric], halves(TRAINING), VALIDATION, replace(SMALL, epochs=0), seed=1)
    with torch.no_grad():
        found.network.out[-1].bias.fill_(bias)
    return found


def test_costs_are_never_negative_and_never_infinite() -> None:
    assert set(biased("throughput", -50).predict(TEST.graphs)) == {0}
    assert set(biased("throughput", 1e6).predict(TEST.graphs)) == {np.expm1(GREATEST)}


def test_classes_lie_between_0_and_1(classifier: Model) -> None:
    found = classifier.predict(TEST.graphs)
    assert found.min() < 0.5 < found.max()
    for of in (classifier, biased("success", -50), biased("success", 50)):
        assert ((0 <= of.predict(TEST.graphs)) & (of.predict(TEST.graphs) <= 1)).all()


def test_predictions_have_no_chance_and_no_graph_has_none(model: Model) -> None:
    """Dropout is for training alone."""
    np.testing.assert_array_equal(model.predict(TEST.graphs), model.predict(TEST.graphs))
    assert model.predict([]).tolist() == []


# -- what cannot be trained ----------------------------------------------------------------------------------------------------------------

NONE = Examples([], [])


@pytest.mark.parametrize(
    ("training", "validation", "rate", "message"),
    [
        (NONE, VALIDATION, 1e-2, "there are no training traces for processing latency; make a larger corpus"),
        (TRAINING, NONE, 1e-2, "there are no validation traces for processing latency; make a larger corpus"),
        (TRAINING, VALIDATION, 1e9, "the loss of epoch 1 is no number; use a smaller learning rate than 1e\\+09"),
        (replace(TRAINING, targets=[float("nan"), *TRAINING.targets[1:]]), VALIDATION, 1e-2, "the loss of epoch 1 is no number; "),
    ],
)
def test_what_cannot_be_trained_says_what_to_do(training: Examples, validation: Examples, rate: float, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train(LATENCY, training, validation, replace(SMALL, rate=rate), seed=1)


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_one_class_only_cannot_be_learned(target: float) -> None:
    alike = replace(TRAINING, targets=[target] * len(TRAINING))
    with pytest.raises(TrainingError, match="all training traces are of one class of keeps up; make a larger corpus"):
        train(FLOWS, alike, halves(VALIDATION), SMALL, seed=1)


# -- files ---------------------------------------------------------------------------------------------------------------------------------


def test_a_model_is_kept_with_all_that_it_was(model: Model, classifier: Model, tmp_path: Path) -> None:
    for of in (model, classifier):
        save(tmp_path / of.metric.name, of, {"corpus": "smoke"})
        kept, facts = load(tmp_path / of.metric.name)
        assert facts == {"corpus": "smoke"}
        assert (kept.metric, kept.seed, kept.architecture, kept.encoder) == (of.metric, of.seed, of.architecture, of.encoder)
        assert kept.epochs == of.epochs
        np.testing.assert_array_equal(kept.predict(TEST.graphs), of.predict(TEST.graphs))


def described(directory: Path, **other: Any) -> None:
    """Replace parts of the description; None takes one out."""
    given = json.loads((directory / DESCRIPTION).read_text()) | other
    (directory / DESCRIPTION).write_text(json.dumps({name: value for name, value in given.items() if value is not None}))


def truncated(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def without_a_layer(directory: Path) -> None:
    with np.load(directory / WEIGHTS) as weights:
        kept = {name: weights[name] for name in weights.files[1:]}
    np.savez(directory / WEIGHTS, **kept)


BREAK: dict[str, Callable[[Path], object]] = {
    "no description": lambda at: (at / DESCRIPTION).unlink(),
    "half a description": lambda at: truncated(at / DESCRIPTION, 0.5),
    "no description of ours": lambda at: (at / DESCRIPTION).write_text("[]"),
    "another format": lambda at: described(at, format=2),
    "no facts": lambda at: described(at, facts=None),
    "an unknown metric": lambda at: described(at, metric="price"),
    "another encoder": lambda at: described(at, encoder={"scales": [], "categories": []}),
    "other epochs": lambda at: described(at, epochs=[{"number": 1}]),
    "other shapes": lambda at: described(at, architecture={"hidden": 16}),
    "a part of another architecture": lambda at: described(at, architecture={"hidden": 8, "attention": 4}),
    "no weights": lambda at: (at / WEIGHTS).unlink(),
    "empty weights": lambda at: truncated(at / WEIGHTS, 0),
    "half of the weights": lambda at: truncated(at / WEIGHTS, 0.5),
    "almost all of the weights": lambda at: truncated(at / WEIGHTS, 0.99),
    "weights without a layer": without_a_layer,
    "weights that are text": lambda at: (at / WEIGHTS).write_text("weights"),
}


@pytest.mark.parametrize("how", BREAK)
def test_a_broken_model_is_not_loaded_and_is_named(how: str, model: Model, tmp_path: Path) -> None:
    directory = tmp_path / "processing_latency-42"
    save(directory, model, {})
    BREAK[how](directory)
    with pytest.raises(BrokenModel, match="processing_latency-42: "):
        load(directory)


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrokenModel, match=r"flows-42: model\.json cannot be read"):
        load(tmp_path / "flows-42")


@dataclass(frozen=True)
class MakesDirectory:
    """When unpickled."""

    path: Path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_weights_that_would_run_code_are_refused(model: Model, tmp_path: Path) -> None:
    directory, made = tmp_path / "model", tmp_path / "made"
    save(directory, model, {})
    with np.load(directory / WEIGHTS) as weights:
        names = weights.files
    np.savez(directory / WEIGHTS, **{name: np.array([MakesDirectory(made)], object) for name in names})
    with pytest.raises(BrokenModel, match="model: the model does not fit this version .*; train it again"):
        load(directory)
    assert not made.exists()


def test_a_model_that_is_replaced_is_never_mixed_with_the_old_one(model: Model, tmp_path: Path) -> None:
    """A save that breaks off leaves the old model or none."""
    save(tmp_path, model, {"corpus": "old"})
    other = train(LATENCY, TRAINING, VALIDATION, replace(SMALL, epochs=1), seed=2)
    with pytest.raises(TypeError):
        save(tmp_path, other, {"corpus": object()})
    try:
        kept = load(tmp_path)
    except BrokenModel:
        return
    np.testing.assert_array_equal(kept.model.predict(TEST.graphs), model.predict(TEST.graphs))
