"""Trained models as files: a description as JSON, and weights as plain arrays. To load one runs no code of the file. Needs torch."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import torch

from .encoding import Encoder
from .metrics import METRICS
from .network import Architecture, Network
from .training import Epoch, Model

FORMAT = 1
DESCRIPTION, WEIGHTS = "model.json", "weights.npz"


class BrokenModel(ValueError):
    """The files hold no model that can be used; the message says why."""


class Stored(NamedTuple):
    """facts: where the model comes from, such as its corpus."""

    model: Model
    facts: dict[str, Any]


def save(directory: Path, model: Model, facts: dict[str, Any]) -> None:
    """Into a new or empty directory. The description is written last: without it there is no model."""
    directory.mkdir(parents=True, exist_ok=True)
    weights = {name: value.numpy() for name, value in model.network.state_dict().items()}
    np.savez(directory / WEIGHTS, **weights)
    description = {
        "format": FORMAT,
        "metric": model.metric.name,
        "seed": model.seed,
        "architecture": asdict(model.architecture),
        "encoder": model.encoder.as_json(),
        "epochs": [asdict(epoch) for epoch in model.epochs],
        "facts": facts,
    }
    (directory / DESCRIPTION).write_text(json.dumps(description, indent=1))


def load(directory: Path) -> Stored:
    """Raises BrokenModel."""
    try:
        given = json.loads((directory / DESCRIPTION).read_text())
    except (OSError, ValueError) as error:
        raise BrokenModel(f"{directory.name}: {DESCRIPTION} cannot be read ({error})") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise BrokenModel(f"{directory.name}: {DESCRIPTION} is not of format {FORMAT}; train the model again")
    try:
        architecture, encoder = Architecture(**given["architecture"]), Encoder.from_json(given["encoder"])
        network = Network({type: encoder.width(type) for type in encoder.scales}, architecture)
        with np.load(directory / WEIGHTS, allow_pickle=False) as weights:
            network.load_state_dict({name: torch.from_numpy(weights[name]) for name in weights.files})
        epochs = [Epoch(**epoch) for epoch in given["epochs"]]
        model = Model(METRICS[given["metric"]], given["seed"], architecture, encoder, network, epochs)
    except (OSError, BadZipFile, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BrokenModel(f"{directory.name}: the model does not fit this version ({_first_line(error)}); train it again") from None
    return Stored(model, given["facts"])


def load_all(directory: Path) -> dict[str, list[Model]]:
    """The models in the directories of a directory, by metric, the members of each in order of their seeds. Raises BrokenModel."""
    if not directory.is_dir():
        raise BrokenModel(f"there are no models '{directory.name}'; train some")
    found: dict[str, list[Model]] = {}
    for one in sorted(directory.iterdir()):
        if (one / DESCRIPTION).exists():
            model = load(one).model
            found.setdefault(model.metric.name, []).append(model)
    return {name: sorted(members, key=lambda model: model.seed) for name, members in found.items()}


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
