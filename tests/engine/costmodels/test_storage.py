"""Models from elsewhere: files that do not fit this version, or would take up more memory than they say, are refused before it does."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.costmodels import storage
from engine.costmodels.encoding import Encoder
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import DESCRIPTION, WEIGHTS, BrokenModel, described, load, load_all, save

from ...support.untrained_models import graphs, untrained

SHIPPED = Path(__file__).parents[3] / "fixtures" / "models" / "dev"
MODEL = untrained("success", 3, Encoder.fitted(graphs(5)))
BIAS = "out.0.bias"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save(tmp_path / "success-3", MODEL, {"corpus": "tests"}, [])
    return tmp_path / "success-3"


def changed(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    given = json.loads((directory / DESCRIPTION).read_text())
    change(given)
    (directory / DESCRIPTION).write_text(json.dumps(given))


def replaced(directory: Path, name: str, content: bytes, compression: int = zipfile.ZIP_DEFLATED) -> None:
    """Another file in place of an array, or beside the arrays."""
    with zipfile.ZipFile(directory / WEIGHTS) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(directory / WEIGHTS, "w", compression) as archive:
        for entry, kept in (files | {name: content}).items():
            archive.writestr(entry, kept)


def header(shape: str, kind: str = "<f4", version: int = 1) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


def array(values: Any) -> bytes:
    made = io.BytesIO()
    np.save(made, values)
    return made.getvalue()


def test_shipped_models_load() -> None:
    found = load_all(SHIPPED)
    assert {name: len(members) for name, members in found.items()} == dict.fromkeys(METRICS, 3)


def test_a_description_is_read_without_weights(directory: Path) -> None:
    (directory / WEIGHTS).unlink()
    found = described(directory)
    assert (found.metric, found.seed, found.encoder, found.facts) == (MODEL.metric, 3, MODEL.encoder, {"corpus": "tests"})


def rename(of: dict[str, Any], old: str, new: str) -> None:
    of[new] = of.pop(old)


DESCRIPTIONS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another feature": (
        lambda given: rename(given["encoder"]["scales"]["host"], "cpu", "a_gpu"),
        "host has feature a_gpu; this version has bandwidth, cpu, latency, ram",
    ),
    "a feature less": (
        lambda given: given["encoder"]["categories"]["filter"].pop("literal_dtype"),
        "filter lacks feature literal_dtype; this version has filter_function, literal_dtype",
    ),
    "a category of a host": (
        lambda given: given["encoder"]["categories"]["host"].update(region=["a"]),
        "host has feature region; this version has none",
    ),
    "another type": (
        lambda given: given["encoder"]["scales"].update(gpu={}),
        "type gpu is unknown; this version has source, filter, join, windowed_agg, agg, sink, host",
    ),
    "categories of a type without scales": (lambda given: given["encoder"]["scales"].pop("sink"), "sink lacks feature dummy"),
    "a spread of 0": (
        lambda given: given["encoder"]["scales"]["host"]["cpu"].update(spread=0),
        "spread of host.cpu is 0; it must be above 0",
    ),
    "an infinite scale": (
        lambda given: given["encoder"]["scales"]["host"]["cpu"].update(median=float("inf")),
        "median of host.cpu is inf; it must be a finite number",
    ),
    "a scale that is text": (
        lambda given: given["encoder"]["scales"]["host"]["cpu"].update(most="8"),
        "most of host.cpu is 8; it must be a finite number",
    ),
    "another metric": (lambda given: given.update(metric="price"), "metric is price; it must be one of throughput, processing_latency"),
    "a seed that is text": (lambda given: given.update(seed="3"), "seed is 3; it must be a whole number from 0 to"),
    "too wide": (lambda given: given["architecture"].update(hidden=5000), "hidden is 5000; it must be a whole number from 1 to 4,096"),
    "no width": (lambda given: given["architecture"].update(hidden=0), "hidden is 0; it must be a whole number from 1 to 4,096"),
    "endless rounds": (lambda given: given["architecture"].update(rounds=10**9), "rounds is 1000000000; it must be"),
}


@pytest.mark.parametrize("how", DESCRIPTIONS)
def test_a_model_of_another_version_is_refused_by_name(how: str, directory: Path) -> None:
    change, says = DESCRIPTIONS[how]
    changed(directory, change)
    with pytest.raises(BrokenModel, match="success-3: the model does not fit this version") as refused:
        load(directory)
    assert says in str(refused.value)


def test_a_description_of_nothing_but_brackets_is_refused(directory: Path) -> None:
    (directory / DESCRIPTION).write_text("[" * 200_000)
    with pytest.raises(BrokenModel, match=r"model\.json cannot be read"):
        load(directory)


ARRAYS: dict[str, tuple[str, bytes, str]] = {
    "an unknown array": ("bomb.npy", array(np.zeros(4)), "bomb is unknown"),
    "another shape": (f"{BIAS}.npy", array(np.zeros(3)), r"has shape \(3,\) of float64, not \(1,\)"),
    "whole numbers": (f"{BIAS}.npy", array(np.zeros(1, int)), "of int64, not"),
    "objects": (f"{BIAS}.npy", header("(1,)", "|O") + bytes(8), "of object, not"),
    "2^45 numbers": (f"{BIAS}.npy", header(f"({2**45},)"), r"has shape \(35184372088832,\)"),
    "more than its shape": (f"{BIAS}.npy", header("(1,)") + bytes(1 << 20), "does not fit its shape"),
    "less than its shape": (f"{BIAS}.npy", header("(1,)") + bytes(2), "does not fit its shape"),
    "a header of any length": (f"{BIAS}.npy", header("(1,)", version=2) + bytes(4), "is not of version 1.0"),
    "a header that is no header": (f"{BIAS}.npy", header("((((("), "does not fit this version"),
    "no array": (f"{BIAS}.npy", b"weights", "does not fit this version"),
}


@pytest.mark.parametrize("how", ARRAYS)
def test_arrays_are_checked_before_they_are_read(how: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, content, says = ARRAYS[how]
    replaced(directory, name, content)
    real, read = storage.read_array, list[tuple[int, ...]]()

    def counted(*of: Any, **options: Any) -> Any:
        read.append((found := real(*of, **options)).shape)
        return found

    monkeypatch.setattr(storage, "read_array", counted)
    with pytest.raises(BrokenModel, match=says):
        load(directory)
    assert len(read) < len(MODEL.weights), "what is wrong is not read"


def test_arrays_that_are_packed_otherwise_are_refused(directory: Path) -> None:
    replaced(directory, f"{BIAS}.npy", array(np.zeros(1)), zipfile.ZIP_LZMA)
    with pytest.raises(BrokenModel, match="compressed in a way that is not read"):
        load(directory)
