"""The NexMark topics against a twin that walks over events one at a time, and their laws on large samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec.experiment.streams import NexmarkAuction, NexmarkBid, NexmarkPerson
from engine.workloads.generated import Generated
from engine.workloads.streams import block_of
from engine.workloads.strings import Strings

from . import nexmark_twin

STREAMS = {"nexmark_person": NexmarkPerson, "nexmark_auction": NexmarkAuction, "nexmark_bid": NexmarkBid}


def topic(kind: str, hot_ratio: float = 0.0, seed: int = 1, operator_id: str = "source", strings: Strings | None = None, **parameters):
    stream = STREAMS[kind](hot_ratio=hot_ratio, **parameters)
    return Generated(block_of(stream), stream, seed, operator_id, Strings() if strings is None else strings)


def columns(kind: str, count: int, first: int = 0, **settings) -> dict[str, np.ndarray]:
    made = topic(kind, **settings)
    return dict(zip(made.schema.names, made.words(np.arange(first, first + count), np.zeros(count, np.int64)).T, strict=True))


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(sorted(STREAMS)),
    hot_ratio=st.sampled_from([0.0, 0.1, 0.3, 1.0]) | st.floats(0, 1),
    seed=st.integers(0, 2**53 - 1),
    operator_id=st.sampled_from(["bids", "a", "x-1"]),
    event_ns=st.lists(st.integers(0, 10**12), max_size=400),
)
def test_every_record_equals_the_twins(kind, hot_ratio, seed, operator_id, event_ns):
    strings = Strings(["something else"])
    made = topic(kind, hot_ratio, seed, operator_id, strings)
    words = made.words(np.arange(len(event_ns)), np.array(event_ns, np.int64))
    types = [field.type for field in made.schema.fields]
    for row, expected in zip(words.tolist(), nexmark_twin.records(kind, hot_ratio, seed, operator_id, event_ns), strict=True):
        values = [strings.text(word) if type == "string" else word for word, type in zip(row, types, strict=True)]
        assert dict(zip(made.schema.names, values, strict=True)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(STREAMS))
def test_records_far_into_the_stream_equal_the_twins(kind):
    count = 60_000 if kind == "nexmark_bid" else 4_000
    made, last = topic(kind, hot_ratio=0.2), count - 50
    words = made.words(np.arange(last, count), np.zeros(50, np.int64))
    twins = list(nexmark_twin.records(kind, 0.2, 1, "source", [0] * count))[last:]
    for column, field in enumerate(made.schema.fields):
        if field.type != "string":
            assert words[:, column].tolist() == [twin[field.name] for twin in twins]


@pytest.mark.parametrize(("kind", "size"), [("nexmark_person", 200), ("nexmark_auction", 500), ("nexmark_bid", 100)])
def test_accounting_sizes(kind, size):
    assert topic(kind).schema.bytes == size


def test_states_and_categories_are_uniform():
    strings = Strings()
    persons = topic("nexmark_person", strings=strings).words(np.arange(60_000), np.zeros(60_000, np.int64))
    states, counts = np.unique(persons[:, 5], return_counts=True)
    assert strings.texts(states) == ["AZ", "CA", "ID", "OR", "WA", "WY"]
    assert (abs(counts - 10_000) < 400).all()
    categories, counts = np.unique(columns("nexmark_auction", 50_000)["category"], return_counts=True)
    assert categories.tolist() == [10, 11, 12, 13, 14]
    assert (abs(counts - 10_000) < 400).all()


def test_regular_picks_are_recent_and_reach_a_little_ahead():
    numbers = np.arange(500_000, 600_000)
    bids = columns("nexmark_bid", 100_000, first=500_000)
    behind = numbers // 46 + 1000 - bids["bidder"]  # 999 people back to 10 people ahead
    assert (behind.min(), behind.max()) == (-10, 999)
    behind = numbers // 46 * 3 + 2 + 1000 - bids["auction"]
    assert (behind.min(), behind.max()) == (-10, 100)
    auctions = columns("nexmark_auction", 100_000, first=500_000)
    behind = numbers // 3 + 1000 - auctions["seller"]
    assert (behind.min(), behind.max()) == (-10, 999)


@pytest.mark.parametrize("hot_ratio", [0.1, 0.2, 0.3])
def test_a_hot_share_of_the_picks_is_hot_and_the_others_stay_as_they_were(hot_ratio):
    numbers = np.arange(500_000, 600_000)
    cold, hot = columns("nexmark_bid", 100_000, 500_000), columns("nexmark_bid", 100_000, 500_000, hot_ratio=hot_ratio)
    for name, target in [("bidder", numbers // 46 // 100 * 100 + 1001), ("auction", (numbers // 46 * 3 + 2) // 100 * 100 + 1000)]:
        moved = cold[name] != hot[name]
        assert (hot[name][moved] == target[moved]).all()
        assert (hot[name] == target).mean() == pytest.approx(hot_ratio, abs=0.015)  # some regular picks are the hot one, too
    both = ((hot["bidder"] % 100 == 1) & (hot["auction"] % 100 == 0)).mean()
    assert both == pytest.approx(hot_ratio**2, abs=0.01)  # the two are hot independently


def test_the_recent_ones_can_be_fewer_and_none_be_ahead():
    numbers = np.arange(500_000, 600_000)
    bids = columns("nexmark_bid", 100_000, 500_000, active_people=64, people_ahead=0, recent_auctions=5, auctions_ahead=2)
    behind = numbers // 46 + 1000 - bids["bidder"]
    assert (behind.min(), behind.max()) == (0, 63)
    behind = numbers // 46 * 3 + 2 + 1000 - bids["auction"]
    assert (behind.min(), behind.max()) == (-2, 5)


def test_with_ten_workers_and_modulo_the_hot_keys_always_go_to_the_same_one():
    hot = columns("nexmark_auction", 30_000, hot_ratio=1.0)["seller"] % 10
    assert set(hot.tolist()) == {0}
    assert set((columns("nexmark_bid", 30_000, hot_ratio=1.0)["bidder"] % 10).tolist()) == {1}


def test_prices_are_whole_cents_spread_over_six_decades():
    prices = columns("nexmark_bid", 60_000)["price"]
    assert prices.min() >= 100
    assert prices.max() < 100_000_000
    counts = np.histogram(prices, [10**power for power in range(2, 9)])[0]
    assert (abs(counts - 10_000) < 400).all()
    auctions = columns("nexmark_auction", 1000)
    assert (auctions["reserve"] > auctions["initial_bid"]).all()
    assert (auctions["expires"] > auctions["time"]).all()


def test_two_sources_of_the_same_topic_differ():
    assert (columns("nexmark_bid", 1000)["price"] != columns("nexmark_bid", 1000, operator_id="other")["price"]).mean() > 0.99
