"""Trained models as files: a description as JSON, and weights as plain arrays. To load one runs no code of the file, and needs no torch."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from .architecture import Architecture
from .encoding import Encoder
from .inference import Trained, Weights
from .metrics import METRICS
from .packing import TYPES

FORMAT = 1
DESCRIPTION, WEIGHTS = "model.json", "weights.npz"
REPORT, PROGRESS = "report.json", "progress.json"
"""Beside the models of a corpus: what they are worth, and epochs of those that are being trained."""


class BrokenModel(ValueError):
    """The files hold no model that can be used; the message says why."""


class Stored(NamedTuple):
    """facts: where the model comes from, such as its corpus. epochs: of its training, with loss and validation."""

    model: Trained
    facts: dict[str, Any]
    epochs: list[dict[str, Any]]


def save(directory: Path, model: Trained, facts: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]], half: bool = False) -> None:
    """The description is written last: without it there is no model. half: weights of 16 bits; predictions change by up to
    1 %."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / DESCRIPTION).unlink(missing_ok=True)
    weights = {name: values.astype(np.float16) if half else values for name, values in model.weights.items()}
    np.savez_compressed(directory / WEIGHTS, **weights)  # type: ignore[arg-type]
    description = {
        "format": FORMAT,
        "metric": model.metric.name,
        "seed": model.seed,
        "architecture": asdict(model.architecture),
        "encoder": model.encoder.as_json(),
        "epochs": list(epochs),
        "facts": dict(facts),
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
        with np.load(directory / WEIGHTS, allow_pickle=False) as file:
            weights = {name: np.asarray(file[name], np.float32) for name in file.files}
        _check(weights, architecture, encoder)
        model = Trained(METRICS[given["metric"]], given["seed"], architecture, encoder, weights)
        return Stored(model, dict(given["facts"]), list(given["epochs"]))
    except (OSError, BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise BrokenModel(f"{directory.name}: the model does not fit this version ({_first_line(error)}); train it again") from None


def _check(weights: Weights, architecture: Architecture, encoder: Encoder) -> None:
    """Raises ValueError if weights are missing, have other shapes, or are no numbers."""
    expected = shapes({type: encoder.width(type) for type in encoder.scales}, architecture)
    for name, shape in expected.items():
        if name not in weights:
            raise ValueError(f"there is no {name}")
        if weights[name].shape != shape:
            raise ValueError(f"{name} has shape {weights[name].shape}, not {shape}")
        if not np.isfinite(weights[name]).all():
            raise ValueError(f"{name} holds values that are no numbers")
    if unknown := weights.keys() - expected.keys():
        raise ValueError(f"{min(unknown)} is unknown")


def shapes(widths: Mapping[str, int], architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Of all weights of a network (`engine.costmodels.network.Network`). widths: numbers that encoded nodes have, by type."""
    d = architecture.hidden
    known = [name for name in TYPES if widths.get(name, 0)]
    operators = [name for name in known if name != "host"]
    linear: dict[str, tuple[int, int]] = {}

    def layers(name: str, width: int) -> None:
        linear.update({f"{name}.0": (width, width), f"{name}.3": (width, width), f"{name}.6": (d, width)})

    for name in known:
        layers(f"encoders.{name}", 1 if name == "host" and architecture.hosts == "nodes" else widths[name])
    if architecture.passing == "traditional":
        layers("shared", 2 * d)
    else:
        if architecture.hosts != "none":
            for name in ("up.host", *(f"down.{operator}" for operator in operators)):
                layers(name, 2 * d)
        for operator in operators:
            if operator != "source":
                layers(f"flow.{operator}", 2 * d)
    linear |= {"out.0": (1, d)} if architecture.classifies else {"out.0": (d, d), "out.2": (d, d), "out.4": (1, d)}
    return {f"{name}.weight": shape for name, shape in linear.items()} | {f"{name}.bias": shape[:1] for name, shape in linear.items()}


def load_all(directory: Path) -> dict[str, list[Stored]]:
    """The models in the directories of a directory, by metric, the members of each in order of their seeds. Raises BrokenModel."""
    if not directory.is_dir():
        raise BrokenModel(f"there are no models '{directory.name}'; train some")
    found: dict[str, list[Stored]] = {}
    for one in sorted(directory.iterdir()):
        if (one / DESCRIPTION).exists():
            stored = load(one)
            found.setdefault(stored.model.metric.name, []).append(stored)
    return {name: sorted(members, key=lambda stored: stored.model.seed) for name, members in found.items()}


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
