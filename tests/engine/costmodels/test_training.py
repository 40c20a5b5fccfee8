"""Training learns what can be learned and nothing else, repeats itself, says why it cannot, and keeps models whole or not at all."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from engine.costmodels.architecture import Architecture
from engine.costmodels.baselines import Constant
from engine.costmodels.description import Filter, Host, Query, Sink, Source
from engine.costmodels.encoding import Encoder
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.inference import GREATEST, as_costs
from engine.costmodels.metrics import METRICS, Metric
from engine.costmodels.packing import Ints
from engine.costmodels.storage import DESCRIPTION, WEIGHTS, BrokenModel, load, save
from engine.costmodels.together import Together
from engine.costmodels.training import Epoch, Model, Settings, TrainingError, missed_by, train

torch.set_num_threads(1)

LATENCY, FLOWS = METRICS["processing_latency"], METRICS["flows"]
SMALL = Settings(Architecture(hidden=8, dropout=0.0), rate=2e-2, batch=16, epochs=12)


def filtered(rate_per_s: int, share: float, latency_ms: float) -> JointGraph:
    """A source and a filter on one host, and a sink on another."""
    query = Query((Source(rate_per_s, 3, 3, 3), Filter("<", "int", 3), Sink()), ((0, 1), (1, 2)))
    return joint_graph(query, [Host(100, 1000, 25, latency_ms), Host(800, 32000, 10000, 1)], [0, 0, 1], [1.0, share, 1.0])


def some(count: int, seed: int, fastest: int = 1000) -> Examples:
    """Costs that follow from the rate and the latency, over four orders of magnitude and as often below their middle as above."""
    random = np.random.default_rng(seed)
    logs = random.uniform(-2, 0, (count, 2))
    given = [(int(fastest * 10**rate), float(random.uniform(0.1, 1)), float(160 * 10**latency)) for rate, latency in logs]
    return Examples([filtered(*each) for each in given], [rate * latency_ms for rate, _, latency_ms in given])


def halves(examples: Examples) -> Examples:
    """Classes: above the median cost or below."""
    return replace(examples, targets=(np.asarray(examples.targets) > np.median(examples.targets)).astype(float).tolist())


def shuffled(examples: Examples) -> Examples:
    return replace(examples, targets=np.random.default_rng(9).permutation(examples.targets).tolist())


TRAINING, VALIDATION, TEST = some(96, 1), some(32, 2), some(200, 3)


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
    assert missed_by(FLOWS, classifier.predict(TEST.graphs), halves(TEST).targets) < 0.3


def test_from_shuffled_costs_no_more_is_learned_than_their_median() -> None:
    model = train(LATENCY, shuffled(TRAINING), shuffled(VALIDATION), SMALL, seed=1)
    missed, guessed = (missed_by(LATENCY, of.predict(TEST.graphs), TEST.targets) for of in (model, Constant.of(TRAINING.targets)))
    assert 0.85 * guessed < missed < 1.5 * guessed


def test_a_seed_gives_one_model_and_another_seed_another() -> None:
    """Even if other things draw from torch's stream before."""
    settings = replace(SMALL, architecture=Architecture(hidden=8, dropout=0.1), epochs=3)
    one, again, other = (train(LATENCY, TRAINING, VALIDATION, settings, seed) for seed in (1, 1, 2))
    np.testing.assert_allclose(again.predict(TEST.graphs), one.predict(TEST.graphs), rtol=1e-6)
    assert again.epochs == one.epochs
    assert not np.allclose(other.predict(TEST.graphs), one.predict(TEST.graphs), rtol=1e-3)
    starts = [train(LATENCY, TRAINING, VALIDATION, replace(SMALL, epochs=0), seed).trained() for seed in (1, 2)]
    assert all((starts[0].weights[name] != starts[1].weights[name]).any() for name in starts[0].weights)


def test_training_ends_without_improvement_and_gives_the_weights_of_the_best_epoch() -> None:
    settings = replace(SMALL, epochs=100, patience=2)
    found = train(LATENCY, shuffled(TRAINING), VALIDATION, settings, seed=1)
    best = min(found.epochs, key=lambda epoch: epoch.validation)
    assert len(found.epochs) == best.number + 2 < 100
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
    other = some(64, 4, fastest=20_000)
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
        assert ((of.predict(TEST.graphs) >= 0) & (of.predict(TEST.graphs) <= 1)).all()


def test_outputs_far_outside_of_training_are_classes_and_costs_without_a_warning() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert as_costs(FLOWS, np.array([-1e4, 0, 1e4])).tolist() == [0, 0.5, 1]
        assert as_costs(LATENCY, np.array([-1e4, 0, np.log(2), 1e4])).tolist() == [0, 0, pytest.approx(1), np.expm1(GREATEST)]


def test_predictions_have_no_chance() -> None:
    """Dropout is for training alone."""
    settings = replace(SMALL, architecture=Architecture(hidden=8, dropout=0.5), epochs=1)
    found = train(LATENCY, TRAINING, VALIDATION, settings, seed=1)
    found.network.train()
    np.testing.assert_array_equal(found.predict(TEST.graphs), found.predict(TEST.graphs))


def test_of_no_graphs_there_are_no_predictions(model: Model) -> None:
    assert model.predict([]).tolist() == []


# -- what cannot be trained ----------------------------------------------------------------------------------------------------------------

NONE = Examples([], [])


@pytest.mark.parametrize(
    ("training", "validation", "rate", "message"),
    [
        (NONE, VALIDATION, 1e-2, "there are no training traces for processing latency; make a larger corpus"),
        (TRAINING, NONE, 1e-2, "there are no validation traces for processing latency; make a larger corpus"),
        (TRAINING, VALIDATION, 1e9, "the loss of epoch 1 is no number; use a smaller learning rate than 1e\\+09"),
        (replace(TRAINING, targets=[float("nan"), *TRAINING.targets[1:]]), VALIDATION, 1e-2, "no number; "),
        (TRAINING, replace(VALIDATION, targets=[float("nan"), *VALIDATION.targets[1:]]), 1e-2, "no number; "),
    ],
)
def test_what_cannot_be_trained_says_what_to_do(training: Examples, validation: Examples, rate: float, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train(LATENCY, training, validation, replace(SMALL, rate=rate), seed=1)


@pytest.mark.parametrize("metric", [LATENCY, FLOWS])
def test_a_model_that_predicts_no_numbers_is_none(metric: Metric) -> None:
    """The loss of the only step is still a number."""
    settings = replace(SMALL, rate=1e9, batch=len(TRAINING), epochs=1)
    with pytest.raises(TrainingError, match="no number; use a smaller learning rate"):
        train(metric, halves(TRAINING), halves(VALIDATION), settings, seed=1)


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_one_class_only_cannot_be_learned(target: float) -> None:
    alike = replace(TRAINING, targets=[target] * len(TRAINING))
    with pytest.raises(TrainingError, match="all training traces are of one class of keeps up; make a larger corpus"):
        train(FLOWS, alike, halves(VALIDATION), SMALL, seed=1)


# -- files ---------------------------------------------------------------------------------------------------------------------------------


def kept(directory: Path, model: Model, **facts: Any) -> Path:
    save(directory, model.trained(), facts, [asdict(epoch) for epoch in model.epochs])
    return directory


def test_a_model_is_kept_with_all_that_it_was_and_predicts_the_same_without_torch(model: Model, classifier: Model, tmp_path: Path) -> None:
    for of in (model, classifier):
        stored, facts, epochs = load(kept(tmp_path / of.metric.name, of, corpus="smoke"))
        assert facts == {"corpus": "smoke"}
        assert (stored.metric, stored.seed, stored.architecture, stored.encoder) == (of.metric, of.seed, of.architecture, of.encoder)
        assert [Epoch(**epoch) for epoch in epochs] == of.epochs
        np.testing.assert_array_equal(stored.predict(TEST.graphs), of.trained().predict(TEST.graphs))
        np.testing.assert_allclose(stored.predict(TEST.graphs), of.predict(TEST.graphs), rtol=1e-5)


def test_what_was_trained_does_not_change_with_the_network(model: Model) -> None:
    before = model.trained()
    tuned = train(LATENCY, TRAINING, VALIDATION, replace(SMALL, epochs=0), seed=1, initial=model)
    weights = tuned.trained().weights
    with torch.no_grad():
        for parameter in tuned.network.parameters():
            parameter.zero_()
    assert all((weights[name] == before.weights[name]).all() for name in before.weights)


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


def weights_that_are_no_numbers(directory: Path) -> None:
    with np.load(directory / WEIGHTS) as weights:
        found = {name: weights[name] for name in weights.files}
    next(iter(found.values()))[0] = np.nan
    np.savez(directory / WEIGHTS, **found)


BREAK: dict[str, Callable[[Path], object]] = {
    "no description": lambda at: (at / DESCRIPTION).unlink(),
    "half a description": lambda at: truncated(at / DESCRIPTION, 0.5),
    "no description of ours": lambda at: (at / DESCRIPTION).write_text("[]"),
    "another format": lambda at: described(at, format=2),
    "no facts": lambda at: described(at, facts=None),
    "an unknown metric": lambda at: described(at, metric="price"),
    "another encoder": lambda at: described(at, encoder={"scales": [], "categories": []}),
    "no epochs": lambda at: described(at, epochs=None),
    "other shapes": lambda at: described(at, architecture={"hidden": 16}),
    "a part of another architecture": lambda at: described(at, architecture={"hidden": 8, "attention": 4}),
    "weights that are no numbers": weights_that_are_no_numbers,
    "no weights": lambda at: (at / WEIGHTS).unlink(),
    "empty weights": lambda at: truncated(at / WEIGHTS, 0),
    "half of the weights": lambda at: truncated(at / WEIGHTS, 0.5),
    "almost all of the weights": lambda at: truncated(at / WEIGHTS, 0.99),
    "weights without a layer": without_a_layer,
    "weights that are text": lambda at: (at / WEIGHTS).write_text("weights"),
}


@pytest.mark.parametrize("how", BREAK)
def test_a_broken_model_is_not_loaded_and_is_named(how: str, model: Model, tmp_path: Path) -> None:
    directory = kept(tmp_path / "processing_latency-42", model)
    BREAK[how](directory)
    with pytest.raises(BrokenModel, match="processing_latency-42: "):
        load(directory)


def test_damaged_weights_are_noticed(model: Model, tmp_path: Path) -> None:
    """One bit of the file is turned round, in a hundred places. Some, such as those of its date, do not matter."""
    directory, random, broken = kept(tmp_path / "model", model), np.random.default_rng(1), 0
    whole = (directory / WEIGHTS).read_bytes()
    for place in random.integers(len(whole), size=100):
        content = bytearray(whole)
        content[place] ^= 1 << int(random.integers(8))
        (directory / WEIGHTS).write_bytes(content)
        try:
            found = load(directory).model
        except BrokenModel:
            broken += 1
        else:
            assert all((found.weights[name] == weights).all() for name, weights in model.trained().weights.items())
    assert broken > 60


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
    directory, made = kept(tmp_path / "model", model), tmp_path / "made"
    with np.load(directory / WEIGHTS) as weights:
        names = weights.files
    np.savez(directory / WEIGHTS, **{name: np.array([MakesDirectory(made)], object) for name in names})
    with pytest.raises(BrokenModel, match=r"model: the model does not fit this version .*; train it again"):
        load(directory)
    assert not made.exists()


def test_a_model_that_is_replaced_is_never_mixed_with_the_old_one(model: Model, tmp_path: Path) -> None:
    """A save that breaks off leaves the old model or none."""
    kept(tmp_path, model)
    with pytest.raises(TypeError):
        kept(tmp_path, biased("throughput", 50), corpus=object())  # no JSON
    try:
        found = load(tmp_path).model
    except BrokenModel:
        return
    np.testing.assert_array_equal(found.predict(TEST.graphs), model.trained().predict(TEST.graphs))


def test_a_group_of_one_process_trains_what_one_alone_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes without a gradient included: the training has no joins."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}.items():
        monkeypatch.setenv(name, str(value))
    few = replace(SMALL, epochs=2)
    alone = train(LATENCY, TRAINING, VALIDATION, few, 42)
    group = Together()
    try:
        together = train(LATENCY, TRAINING, VALIDATION, few, 42, group=group)
    finally:
        group.end()
    assert together.epochs == alone.epochs
    for name, values in together.network.state_dict().items():
        assert torch.equal(values, alone.network.state_dict()[name])


class Half:
    """One of two processes whose gradients nobody adds up."""

    rank = 0

    def share(self, batch: Ints) -> Ints:
        return batch[0::2]

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        pass

    def sum(self, value: float) -> float:
        return 2 * value


def test_the_shares_of_a_batch_weigh_as_their_examples_do() -> None:
    """With examples in pairs of the same, half of the batch has half of the loss."""
    twice = Examples([graph for graph in TRAINING.graphs for _ in "ab"], [target for target in TRAINING.targets for _ in "ab"])
    one = replace(SMALL, epochs=1, batch=len(twice), rate=0.0)
    whole, half = (train(LATENCY, twice, VALIDATION, one, 42, group=group) for group in (None, Half()))
    assert half.epochs[0].loss == pytest.approx(whole.epochs[0].loss, rel=0.2), "every second of a random order"
