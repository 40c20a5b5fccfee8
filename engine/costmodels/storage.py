"""Trained models as files: a description as JSON, and weights as plain arrays. To load one runs no code of the file, and needs no torch."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic
from numpy.typing import NDArray

from .architecture import Architecture
from .encoding import Encoder
from .inference import Trained, Weights
from .metrics import METRICS, Metric
from .packing import TYPES

FORMAT = 1
DESCRIPTION, WEIGHTS = "model.json", "weights.npz"
REPORT, PROGRESS = "report.json", "progress.json"
"""Beside the models of a corpus: what they are worth, and epochs of those that are being trained."""

SEED_MAX, HIDDEN_MAX, ROUNDS_MAX = 2**63 - 1, 4096, 64

WRONG = (
    *(OSError, BadZipFile, zlib.error, EOFError, RuntimeError),  # a file that is no archive, or a damaged one
    *(KeyError, TypeError, ValueError, AttributeError),  # a description with other parts
    *(TokenError, SyntaxError, MemoryError),  # the header of an array, which numpy parses as Python
)
"""What reading a model from elsewhere may raise."""


class BrokenModel(ValueError):
    """The files hold no model that can be used; the message says why."""


class Description(NamedTuple):
    """A model without its weights. facts: where it comes from, such as its corpus. epochs: of its training, with loss and validation."""

    metric: Metric
    seed: int
    architecture: Architecture
    encoder: Encoder
    facts: dict[str, Any]
    epochs: list[dict[str, Any]]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its weights, by name."""
        return shapes({type: self.encoder.width(type) for type in self.encoder.scales}, self.architecture)

    @property
    def weights(self) -> int:
        """How many it has."""
        return sum(map(math.prod, self.shapes.values()))


class Stored(NamedTuple):
    """facts and epochs: as in a description."""

    model: Trained
    facts: dict[str, Any]
    epochs: list[dict[str, Any]]


def save(directory: Path, model: Trained, facts: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]], half: bool = False) -> None:
    """The description is written last: without it there is no model. half: weights of 16 bits; predictions change by up to
    1 %."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / DESCRIPTION).unlink(missing_ok=True)
    weights = {name: values.astype(np.float16) if half else values for name, values in model.weights.items()}
    unfinished = directory / f"{WEIGHTS}.part"
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **weights)  # type: ignore[arg-type]
    unfinished.replace(directory / WEIGHTS)
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


def described(directory: Path) -> Description:
    """Raises BrokenModel."""
    try:
        given = json.loads((directory / DESCRIPTION).read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenModel(f"{directory.name}: {DESCRIPTION} cannot be read ({error})") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise BrokenModel(f"{directory.name}: {DESCRIPTION} is not of format {FORMAT}; train the model again")
    with _named(directory):
        if given["metric"] not in METRICS:
            raise ValueError(f"metric is {given['metric']}; it must be one of {', '.join(METRICS)}")
        metric, architecture, encoder = METRICS[given["metric"]], Architecture(**given["architecture"]), Encoder.from_json(given["encoder"])
        _check_number("seed", given["seed"], 0, SEED_MAX)
        _check_number("hidden", architecture.hidden, 1, HIDDEN_MAX)
        _check_number("rounds", architecture.rounds, 1, ROUNDS_MAX)
        return Description(metric, given["seed"], architecture, encoder, dict(given["facts"]), list(given["epochs"]))


def load(directory: Path) -> Stored:
    """Raises BrokenModel."""
    known = described(directory)
    with _named(directory), ZipFile(directory / WEIGHTS) as file:
        weights = _read(file, known.shapes)
    return Stored(Trained(known.metric, known.seed, known.architecture, known.encoder, weights), known.facts, known.epochs)


@contextmanager
def _named(directory: Path) -> Iterator[None]:
    """Raise what is wrong with a model's files as BrokenModel."""
    try:
        yield
    except WRONG as error:
        raise BrokenModel(f"{directory.name}: the model does not fit this version ({_first_line(error)}); train it again") from None


def _check_number(name: str, value: Any, least: int, most: int) -> None:
    """Raises ValueError."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is {value}; it must be a whole number from {least} to {most:,}")


def _read(file: ZipFile, expected: Mapping[str, tuple[int, ...]]) -> Weights:
    """Read arrays of these shapes. Nothing is decompressed before its name, shape and size are known to be right. Raises WRONG."""
    entries = {entry.filename.removesuffix(".npy"): entry for entry in file.infolist()}
    for name in sorted(expected.keys() ^ entries.keys()):
        raise ValueError(f"there is no {name}" if name in expected else f"{name} is unknown")
    weights = {name: _array(file, entries[name], shape) for name, shape in expected.items()}
    for name, values in weights.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name} holds values that are no numbers")
    return weights


def _array(file: ZipFile, entry: ZipInfo, expected: tuple[int, ...]) -> NDArray[np.float32]:
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(f"{entry.filename} is compressed in a way that is not read")
    with file.open(entry) as array:
        if read_magic(array) != (1, 0):  # headers of later versions may be of any length
            raise ValueError(f"{entry.filename} is not of version 1.0")
        shape, _, kind = read_array_header_1_0(array)
        if shape != expected or kind.kind != "f":
            raise ValueError(f"{entry.filename} has shape {shape} of {kind}, not {expected} of floating-point numbers")
        if entry.file_size != array.tell() + math.prod(shape) * kind.itemsize:
            raise ValueError(f"{entry.filename} has {entry.file_size:,} bytes, which does not fit its shape {shape}")
        array.seek(0)
        return np.asarray(read_array(array, allow_pickle=False), np.float32)


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
