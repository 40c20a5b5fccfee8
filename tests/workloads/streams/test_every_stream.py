"""What holds for every synthetic stream: pure functions of the record number, fields that do not depend on one another, pinned bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.spec.experiment.streams import STREAMS, FileStream, SwitchedStream
from engine.workloads.generated import Generated
from engine.workloads.streams import BLOCKS, block_of
from engine.workloads.strings import Strings

from ..documents import feed
from ..made import columns, generated

MODELS = {model.model_fields["kind"].default: model for model in STREAMS.kinds if model not in (FileStream, SwitchedStream)}
EXTRA = {
    "synthetic": {"floats": 2, "strings": 2, "in_turn": False, "skew": {"kind": "zipf"}},
    "vectors": {"dimensions": 3, "law": "gaussian"},
    "yahoo_event": {"skew": {"kind": "hot"}},
    "nexmark_bid": {"hot_ratio": 0.3},
    "ad_click": {"every": 10},
}
STREAMS = {kind: {"kind": kind, **EXTRA.get(kind, {})} for kind in MODELS}
EVENTS = 10**9 + np.arange(5000) * 1_000_000


def test_every_stream_of_the_document_can_be_made():
    assert set(BLOCKS) == set(MODELS)


@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_the_schema_is_what_is_made(kind):
    strings = Strings(["before"])
    made = generated(STREAMS[kind], strings=strings)
    registered = len(strings)
    words = made.words(np.arange(5000), EVENTS)
    assert words.shape == (5000, len(made.schema.fields))
    assert words.dtype == np.int64
    assert len(strings) == registered, "texts are registered beforehand"
    for field, column in zip(made.schema.fields, words.T, strict=True):
        column = np.ascontiguousarray(column)
        if field.type == "string":
            assert column.min() >= 1
            assert column.max() < registered
        elif field.type == "float":
            assert np.isfinite(column.view(np.float64)).all()
            assert len(np.unique(column)) > 1 or field.name == "tax"
    [time] = [name for name in made.schema.names if name in ("time", "dropoff")]
    assert words[:, made.schema.index(time)].tolist() == EVENTS.tolist()


@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_a_record_depends_on_its_number_alone(kind):
    made = generated(STREAMS[kind])
    whole = made.words(np.arange(5000), EVENTS)
    some = np.array([4999, 0, 17, 17, 2500])
    assert made.words(some, EVENTS[some]).tolist() == whole[some].tolist()
    again = generated(STREAMS[kind])
    assert again.words(np.arange(5000), EVENTS).tolist() == whole.tolist()


@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_a_field_alone_is_the_same_as_among_all(kind):
    whole = generated(STREAMS[kind])
    words = whole.words(np.arange(1000), EVENTS[:1000])
    for number, name in enumerate(whole.schema.names):
        alone = Generated(block_of(whole.stream), whole.stream, 1, "source", Strings(), [name])
        assert alone.words(np.arange(1000), EVENTS[:1000])[:, 0].tolist() == words[:, number].tolist(), name
    assert whole.schema.bytes > 0


@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_seeds_differ(kind):
    one, other = (generated(STREAMS[kind], seed=seed).words(np.arange(1000), EVENTS[:1000]) for seed in (1, 2))
    assert (one != other).any()


def test_the_size_of_a_record_can_be_given():
    assert generated({"kind": "nexmark_bid"}).schema.bytes == 100
    assert generated({"kind": "nexmark_bid", "record_bytes": 456}).schema.bytes == 456
    assert generated({"kind": "synthetic", "integers": 2}).schema.bytes == 5 * 8


def test_streams_run_through_the_feed():
    for stream in STREAMS.values():
        made = feed({"stream": stream, "rate": {"kind": "constant", "per_s": 1000.0}})
        assert len(made.chunk(0, 10**9)) == 1000


PINNED = json.loads((Path(__file__).parent / "first_records.json").read_text())
"""By stream: its first two records, and a hash of the words of the first 5,000 without the codes of texts."""


def pinned(kind: str) -> dict[str, Any]:
    decoded = columns(STREAMS[kind], 2, event_ns=EVENTS[:2])
    made = generated(STREAMS[kind])
    words = made.words(np.arange(5000), EVENTS)
    numbers = [column for field, column in zip(made.schema.fields, words.T, strict=True) if field.type != "string"]
    digest = hashlib.blake2b(b"".join(column.astype("<i8").tobytes() for column in numbers), digest_size=8).hexdigest()
    return {
        "records": {name: list(values) if isinstance(values, list) else values.tolist() for name, values in decoded.items()},
        "digest": digest,
    }


@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_the_records_are_the_same_on_every_machine(kind):
    assert pinned(kind) == PINNED[kind]
