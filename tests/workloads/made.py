"""Records of synthetic streams, decoded, for tests of their statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import TypeAdapter

from engine.spec.experiment.streams import AnyStream
from engine.workloads.generated import Generated
from engine.workloads.streams import block_of
from engine.workloads.strings import Strings


def generated(stream: dict[str, Any], *, seed: int = 1, operator_id: str = "source", strings: Strings | None = None) -> Generated:
    model = TypeAdapter(AnyStream).validate_python(stream)
    return Generated(block_of(model), model, seed, operator_id, Strings() if strings is None else strings)


def columns(stream: dict[str, Any], count: int, *, first: int = 0, event_ns: Any = 0, **settings: Any) -> dict[str, Any]:
    """Arrays by field: floats as they are, texts as lists. event_ns: of all records, or one for each."""
    strings = Strings()
    made = generated(stream, strings=strings, **settings)
    times = np.full(count, event_ns, np.int64) if np.isscalar(event_ns) else np.asarray(event_ns, np.int64)
    words = made.words(np.arange(first, first + count), times)
    decoded: dict[str, Any] = {}
    for field, column in zip(made.schema.fields, words.T, strict=True):
        column = np.ascontiguousarray(column)
        if field.type == "float":
            decoded[field.name] = column.view(np.float64)
        else:
            decoded[field.name] = strings.texts(column) if field.type == "string" else column
    return decoded


def shares(values: Any) -> dict[Any, float]:
    """How often each value occurs."""
    distinct, counts = np.unique(np.asarray(values), return_counts=True)
    return dict(zip(distinct.tolist(), (counts / len(values)).tolist(), strict=True))
