"""A feed is a pure function of time: whatever the cuts, the same records come out, in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.workloads import Feed, LogChunk, Strings

from .documents import feed

MS = 1_000_000
SECOND = 1000 * MS

STREAMS = st.sampled_from(["nexmark_person", "nexmark_auction", "nexmark_bid"]).flatmap(
    lambda kind: st.fixed_dictionaries({"kind": st.just(kind), "hot_ratio": st.sampled_from([0.0, 0.2])})
) | st.just({"kind": "file", "dataset": "flights", "timestamp": "time"})
RATES = (
    st.builds(lambda per_s: {"kind": "constant", "per_s": per_s}, st.floats(0, 5000) | st.just(50_000.0))
    | st.builds(
        lambda at, low, high: {"kind": "steps", "steps": [{"at_s": at, "per_s": low}, {"at_s": at + 0.3, "per_s": high}]},
        st.sampled_from([0.0, 0.2]),
        st.floats(0, 3000),
        st.floats(0, 3000),
    )
    | st.builds(
        lambda mean, share, period, phase: {
            "kind": "cosine",
            "mean_per_s": mean,
            "amplitude_per_s": mean * share,
            "period_s": period,
            "phase_s": phase,
        },
        st.floats(1, 3000),
        st.floats(0, 1),
        st.floats(0.01, 2),
        st.floats(-1, 1),
    )
    | st.just({"kind": "ramp", "from_per_s": 0.0, "to_per_s": 5000.0, "start_s": 0.1, "end_s": 0.9})
    | st.just({"kind": "spikes", "base_per_s": 300.0, "peak_per_s": 9000.0, "every_s": 0.2, "duration_s": 0.03, "placing": "random"})
    | st.just({"kind": "random_walk", "start_per_s": 1000.0, "change_per_s": 900.0, "max_per_s": 3000.0, "step_s": 0.05})
)
ARRIVALS = st.sampled_from([{"kind": "even"}, {"kind": "poisson"}, {"kind": "gamma", "shape": 3}, {"kind": "bursts", "every_ms": 7.0}])
DISORDERS = (
    st.just({"kind": "none"})
    | st.builds(lambda most: {"kind": "uniform", "max_ms": most}, st.floats(0, 500))
    | st.just({"kind": "exponential", "mean_ms": 30.0})
    | st.just({"kind": "zipf", "exponent": 0.99, "ranks": 1000})
)


def joined(chunks: list[LogChunk]) -> list[list]:
    return [np.concatenate([getattr(chunk, name) for chunk in chunks]).tolist() for name in LogChunk.__dataclass_fields__]


def digest(made: Feed) -> str:
    chunk = made.chunk(0, made.closes_ns + 1)
    state = hashlib.blake2b(digest_size=16)
    for name in LogChunk.__dataclass_fields__:
        values = getattr(chunk, name)
        state.update(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes())
    return state.hexdigest()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    stream=STREAMS,
    rate=RATES,
    arrivals=ARRIVALS,
    disorder=DISORDERS,
    parallelism=st.integers(1, 5),
    cuts=st.lists(st.integers(0, SECOND), max_size=20),
)
def test_any_cutting_gives_the_same_records(stream, rate, arrivals, disorder, parallelism, cuts):
    source = {"stream": stream, "rate": rate, "arrivals": arrivals, "disorder": disorder}
    whole = feed(source, parallelism=parallelism).chunk(0, SECOND)
    edges = [0, *sorted(cuts), SECOND]
    cut_feed = feed(source, parallelism=parallelism)
    chunks = [cut_feed.chunk(start, end) for start, end in pairwise(edges)]
    assert joined(chunks) == joined([whole])
    for chunk, start, end in zip(chunks, edges, edges[1:], strict=False):
        assert ((chunk.append_ns >= start) & (chunk.append_ns < end)).all()
    assert (np.diff(whole.append_ns) >= 0).all()
    assert len(whole) == cut_feed.count
    assert (whole.event_ns >= 0).all()
    assert ((whole.partition >= 0) & (whole.partition < parallelism)).all()


@pytest.mark.parametrize("kind", ["nexmark_person", "nexmark_auction", "nexmark_bid"])
def test_shapes_types_and_the_time_field(kind):
    made = feed({"stream": {"kind": kind}, "rate": {"kind": "constant", "per_s": 40_000.0}}, number=3)
    chunk = made.chunk(0, SECOND)
    assert len(chunk) == 40_000
    assert [getattr(chunk, name).dtype for name in LogChunk.__dataclass_fields__] == [np.int64, np.int64, np.int64, np.int32, np.int64]
    assert chunk.words.shape == (40_000, len(made.schema.fields))
    assert chunk.words.flags.c_contiguous
    assert (chunk.words[:, made.schema.index("time")] == chunk.event_ns).all()
    assert (chunk.event_ns == chunk.append_ns).all()
    assert chunk.trigger.tolist() == [(3 << 40) + number for number in range(40_000)]
    assert made.closes_ns == SECOND


def test_nothing_comes_outside_the_horizon():
    made = feed(horizon_s=0.5)
    assert len(made.chunk(-SECOND, 10 * SECOND)) == made.count == 500
    assert len(made.chunk(SECOND // 2, SECOND)) == 0
    assert len(made.chunk(SECOND // 4, 0)) == 0
    assert made.count_before(SECOND // 4) == 250


def test_disorder_delays_by_up_to_the_maximum_and_never_below_zero():
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 100_000.0},
        "disorder": {"kind": "uniform", "max_ms": 100.0},
    }
    chunk = feed(source).chunk(0, SECOND)
    delays = (chunk.append_ns - chunk.event_ns)[chunk.append_ns >= 100 * MS]
    assert 0 <= delays.min() < MS
    assert 99 * MS < delays.max() <= 100 * MS
    assert delays.mean() == pytest.approx(50 * MS, rel=0.01)
    assert chunk.event_ns.min() == 0


def test_the_largest_delay_is_reached():
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 1000.0},
        "disorder": {"kind": "uniform", "max_ms": 2e-6},
    }
    chunk = feed(source).chunk(0, SECOND)
    assert set((chunk.append_ns - chunk.event_ns).tolist()) == {0, 1, 2}


def test_partitions_are_uniform_and_differ_by_seed():
    source = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 40_000.0}}
    first, second = (feed(source, parallelism=4, seed=seed).chunk(0, SECOND).partition for seed in (1, 2))
    assert (abs(np.bincount(first, minlength=4) - 10_000) < 400).all()
    assert (first == second).mean() == pytest.approx(0.25, abs=0.02)


def test_all_texts_are_registered_up_front():
    strings = Strings()
    made = feed({"stream": {"kind": "nexmark_auction"}, "rate": {"kind": "constant", "per_s": 5000.0}}, strings=strings)
    before = len(strings)
    chunk = made.chunk(0, SECOND)
    assert len(strings) == before
    assert strings.text(int(chunk.words[0, 2])).endswith(".")


DISORDERED = {"disorder": {"kind": "uniform", "max_ms": 70.0}}
PINNED = {
    "nexmark_person": {"stream": {"kind": "nexmark_person"}, "rate": {"kind": "constant", "per_s": 7001.5}, **DISORDERED},
    "nexmark_auction": {
        "stream": {"kind": "nexmark_auction", "hot_ratio": 0.1},
        "rate": {"kind": "steps", "steps": [{"at_s": 0.1, "per_s": 3333.3}, {"at_s": 0.7, "per_s": 20_000.0}]},
        **DISORDERED,
    },
    "nexmark_bid": {
        "stream": {"kind": "nexmark_bid", "hot_ratio": 0.3},
        "rate": {"kind": "cosine", "mean_per_s": 20_000.0, "amplitude_per_s": 15_000.0, "period_s": 0.7, "phase_s": 0.1},
    },
    "file": {
        "stream": {"kind": "file", "dataset": "flights", "timestamp": "time"},
        "rate": {"kind": "recorded", "speed": 604_801.5},
        **DISORDERED,
    },
}
DIGESTS = {
    "nexmark_person": "ae6811b9d5e3505af4ad093b7e43e90f",
    "nexmark_auction": "c1389c5fbee354c64104b31bcdbe3c80",
    "nexmark_bid": "2062c116a1adbf5b2f368448881e906d",
    "file": "b9017ea9ca78ffbfbdea2f4ce1164238",
}


@pytest.mark.parametrize("name", sorted(PINNED))
def test_the_bytes_are_the_same_on_every_machine(name):
    assert digest(feed(PINNED[name])) == DIGESTS[name]


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_the_same_bytes():
    root = Path(__file__).parents[2]
    code = (
        "from tests.workloads.test_feed import PINNED, digest, feed; print({name: digest(feed(source)) for name, source in PINNED.items()})"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": str(root)}
    printed = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str({name: DIGESTS[name] for name in PINNED})
