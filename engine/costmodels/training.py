"""Training of one model: a network for one cost, with one seed (Heinrich et al. 2024, section IV; specification 3.3, 3.4). Needs torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from engine.core.random import RandomStream

from .architecture import Architecture
from .encoding import Encoder, Floats
from .errors import q_errors
from .examples import Examples
from .features import JointGraph
from .inference import Trained, as_costs
from .metrics import Metric
from .network import Network
from .packing import Batch, Packed
from .together import Alone, Group

APART = 1_000_003
"""Between the seeds of processes that train a model together."""


class TrainingError(ValueError):
    """A model cannot be trained; the message says why and what to do."""


@dataclass(frozen=True)
class Settings:
    """patience: epochs without improvement in validation, after which training ends. logarithmic: of numeric features (`Encoder`)."""

    architecture: Architecture = field(default_factory=Architecture)
    rate: float = 1e-3
    batch: int = 128
    epochs: int = 200
    patience: int = 20
    logarithmic: bool = False


@dataclass(frozen=True)
class Epoch:
    """validation: median q-error, or share of wrong classes. Lower is better."""

    number: int
    loss: float
    validation: float
    best: bool


@dataclass
class Model:
    """A trained network with its encoder. seed: what members of an ensemble differ in."""

    metric: Metric
    seed: int
    architecture: Architecture
    encoder: Encoder
    network: Network
    epochs: list[Epoch] = field(default_factory=list)

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        """(graphs,) of costs, or of the probability of the good class."""
        return self.predict_batch(Packed(graphs, self.encoder).batch()) if graphs else np.zeros(0)

    def trained(self) -> Trained:
        """The model without what training needs."""
        weights = {name: value.detach().cpu().numpy().copy() for name, value in self.network.state_dict().items()}
        return Trained(self.metric, self.seed, self.architecture, self.encoder, weights)

    def predict_batch(self, batch: Batch) -> Floats:
        self.network.eval()
        with torch.no_grad():
            found: Floats = self.network(batch).cpu().numpy().astype(np.float64)
        return as_costs(self.metric, found)


def resumed(of: Trained) -> Model:
    """A stored model, to be trained further."""
    network = Network({type: of.encoder.width(type) for type in of.encoder.scales}, of.architecture)
    network.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in of.weights.items()})
    return Model(of.metric, of.seed, of.architecture, of.encoder, network)


def train(
    metric: Metric,
    training: Examples,
    validation: Examples,
    settings: Settings,
    seed: int,
    each: Callable[[Epoch], bool | None] = lambda _: None,
    initial: Model | None = None,
    group: Group | None = None,
) -> Model:
    """The weights of the best epoch. each: called after every epoch; training stops if it returns True. initial: a model to start from,
    whose encoder and architecture are kept. group: processes that train it together, each of which gets the same model; their sums are
    added in another order than those of one process, so weights differ in the last digits.

    A GPU is used where there is one; its sums are not the same bytes from run to run.

    Raises TrainingError: too few examples, one class only, or a loss that is no number.
    """
    _check(metric, training, validation)
    architecture = replace(settings.architecture, classifies=metric.classifies) if initial is None else initial.architecture
    encoder = Encoder.fitted(training.graphs, settings.logarithmic) if initial is None else initial.encoder
    torch.manual_seed(seed)
    network = Network({type: encoder.width(type) for type in encoder.scales}, architecture)
    if initial is not None:
        network.load_state_dict(initial.network.state_dict())
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    group = group or Alone()
    if group.rank:
        torch.manual_seed(seed + APART * group.rank)  # for dropout; the first process goes on as if alone
    model = Model(metric, seed, architecture, encoder, network)
    packed, targets = Packed(training.graphs, encoder), _targets(metric, training).to(network.device)
    whole = Packed(validation.graphs, encoder).batch()
    optimiser = torch.optim.AdamW(network.parameters(), settings.rate, fused=True)  # a third of the time of a step, tensor by tensor
    loss_of = nn.BCEWithLogitsLoss() if metric.classifies else nn.MSELoss()
    order = RandomStream(seed, "order")
    least, since, kept = math.inf, 0, _copied(network)
    for number in range(settings.epochs):
        network.train()
        lost = 0.0
        shuffled = np.argsort(order.words(np.arange(packed.count) + number * packed.count), kind="stable")
        for first in range(0, packed.count, settings.batch):
            chosen = shuffled[first : first + settings.batch]
            mine = group.share(chosen)
            optimiser.zero_grad()
            if len(mine):
                loss = loss_of(network(packed.batch(mine)), targets[torch.from_numpy(mine)]) * (len(mine) / len(chosen))
                loss.backward()
                lost += float(loss.detach()) * len(chosen)
            group.add_gradients(network.parameters())
            optimiser.step()
        lost = group.sum(lost)
        predicted = model.predict_batch(whole)
        if not math.isfinite(lost) or not np.isfinite(predicted).all():
            raise TrainingError(f"the loss of epoch {number + 1} is no number; use a smaller learning rate than {settings.rate:g}")
        missed = missed_by(metric, predicted, validation.targets)
        epoch = Epoch(number + 1, lost / packed.count, missed, missed < least)
        model.epochs.append(epoch)
        if epoch.best:
            least, since, kept = missed, 0, _copied(network)
        else:
            since += 1
        if each(epoch) or since >= settings.patience:
            break
    network.load_state_dict(kept)
    return model


def missed_by(metric: Metric, predicted: Floats, targets: Sequence[float]) -> float:
    """Median q-error, or the share of wrong classes."""
    if metric.classifies:
        return float(np.mean((predicted > 0.5) != (np.asarray(targets) > 0.5)))
    return float(np.median(q_errors(targets, predicted, metric.least)))


def _check(metric: Metric, training: Examples, validation: Examples) -> None:
    for name, part in (("training", training), ("validation", validation)):
        if not len(part):
            raise TrainingError(f"there are no {name} traces for {metric.title.lower()}; make a larger corpus")
        if not np.isfinite(part.targets).all():
            raise TrainingError(f"a target of the {name} traces is no number; make the corpus again")
    if metric.classifies and len({target > 0.5 for target in training.targets}) < 2:
        raise TrainingError(f"all training traces are of one class of {metric.title.lower()}; make a larger corpus")


def _targets(metric: Metric, examples: Examples) -> torch.Tensor:
    values = torch.tensor(list(examples.targets), dtype=torch.float32)
    return values if metric.classifies else torch.log1p(values)


def _copied(network: Network) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in network.state_dict().items()}
