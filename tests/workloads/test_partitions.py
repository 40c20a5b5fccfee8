"""A source with more partitions than instances: each record is in just one log, and logs are read in the order of arrival.

What this catches: partitions that nobody or two instances own, records of an instance out of order where its partitions meet, an end of the
log for each partition in place of one, places in a log that are found again in the wrong partition.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.active_instances import owners
from engine.core.source_logs import Place
from engine.spec.rules.max_layout import partitions
from engine.spec.rules.validation import load
from tests.support.agreement import TINY, assert_agreement, simulated, traced
from tests.support.corner_cases import bids, document, host, watermarks
from tests.support.recovery_examples import coordinated, loss, with_losses, with_protocol
from tests.support.strategies import documents


def partitioned(made: dict[str, Any], more: int) -> dict[str, Any]:
    """The document with so many partitions more than each of its sources has instances, where that may be."""
    changed = copy.deepcopy(made)
    parallelism = {operator["id"]: operator.get("parallelism", 1) for operator in changed["query"]["operators"]}
    for id, source in changed["workload"]["sources"].items():
        if source.get("watermarks", {}).get("kind") != "device" and source.get("generation", {}).get("kind") != "coordinated":
            source["partitions"] = parallelism[id] + more
    return changed


def three_readers(count: int | None = 7, **source: Any) -> dict[str, Any]:
    """Three instances, whose records are hashed on."""
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 3},
        {"id": "counts", "kind": "aggregate", "parallelism": 2, "params": {"key": "auction", "aggregates": [{"name": "n"}]}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "counts", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "counts", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    made = document(operators, edges, [host("w", count=3, cores=4)], {"bids": bids(5_000, **source)}, horizon_s=0.1)
    if count is not None:
        made["workload"]["sources"]["bids"]["partitions"] = count
    return made


@given(made=documents(), more=st.sampled_from((1, 4, 100)), tiny=st.booleans())
def test_random_experiments_agree(made: dict[str, Any], more: int, tiny: bool) -> None:
    changed = partitioned(made, more)
    assert_agreement(changed, traced(changed, capacity=TINY) if tiny else None)


@pytest.mark.parametrize("count", [3, 7, 1000])
def test_three_readers_agree(count: int) -> None:
    made = three_readers(count, watermarks=watermarks(3.0))
    expected = assert_agreement(made)
    assert expected.served["bids"] == 500
    simulation = traced(made)
    ends = [row for row in simulation.service_trace().tolist() if row[3] == L.END_OF_LOG]
    assert [row[0] for row in sorted(ends)] == [0, 1, 2]


def test_each_record_is_in_one_log_in_the_order_of_arrival() -> None:
    simulation = simulated(three_readers())
    feed, logs = simulation._plan.feeds["bids"], simulation._logs
    whole = feed.chunk(0, feed.closes_ns + 1)
    assert sorted(set(whole.partition.tolist())) == list(range(7))
    assert logs.owners["bids"].tolist() == [0, 0, 0, 1, 1, 2, 2]
    w = simulation._world.arrays
    seen = []
    while not logs.exhausted:
        w = logs.load(w)
        for i in range(3):
            rows = w.log[w.inst[i, L.I_LOG] : w.inst[i, L.I_LOG_END]]
            seen += [(trigger, i) for trigger in rows[:, L.D_TRIGGER].tolist()]
            assert (np.diff(rows[:, L.D_TRIGGER]) > 0).all()  # records without delays arrive by number
            w.inst[i, L.I_LOG] = w.inst[i, L.I_LOG_END]
    owner = logs.owners["bids"][whole.partition]
    assert sorted(seen) == list(zip(whole.trigger.tolist(), owner.tolist(), strict=True))


@given(count=st.integers(1, 300), share=st.floats(0, 1))
def test_every_instance_owns_a_range_of_partitions(count: int, share: float) -> None:
    active = max(1, round(share * count))
    owner = owners(count, active)
    assert (np.diff(owner) >= 0).all()
    assert sorted(set(owner.tolist())) == list(range(active))
    sizes = np.bincount(owner)
    assert sizes.max() - sizes.min() <= 1


@given(times=st.lists(st.integers(0, 100), min_size=1, max_size=6), data=st.data())
def test_partitions_that_change_hands_are_read_on_from_where_they_were(times: list[int], data: st.DataObject) -> None:
    """At some moments each instance has read as far as it likes, and others take over; records that come together are told apart."""
    simulation = simulated(three_readers(7, arrivals={"kind": "bursts", "every_ms": 5}), trace=False)
    logs, w = simulation._logs, simulation._world.arrays
    feed = simulation._plan.feeds["bids"]
    whole = feed.chunk(0, feed.closes_ns + 1)
    assert len(set(whole.append_ns.tolist())) < len(whole) / 5
    owner = dict(zip(whole.trigger.tolist(), whole.partition.tolist(), strict=True))
    logs._stretch_ns = 20_000_000
    seen: list[int] = []

    def read(w: Any, i: int, share: int) -> None:
        first, end = w.inst[i, [L.I_LOG, L.I_LOG_END]].tolist()
        stop = first + (end - first) * share // 100
        triggers = w.log[first:stop, L.D_TRIGGER].tolist()
        assert all(logs.owners["bids"][owner[trigger]] == i for trigger in triggers)
        seen.extend(triggers)
        w.inst[i, L.I_LOG] = stop

    for _ in times:
        if not logs.exhausted:
            w = logs.load(w)
        for i in range(3):
            read(w, i, data.draw(st.integers(0, 100)))
        places = logs.places(w, "bids")
        logs.assign(w, "bids", np.array(data.draw(st.lists(st.integers(0, 2), min_size=7, max_size=7))), places)
        assert logs.places(w, "bids") == places
        if data.draw(st.booleans()):
            w = logs.load(w)  # what comes meanwhile stands in no log yet
        other = simulation._logs.fork()
        assert other.state() == logs.state()
        w = logs.reload(w)
        assert not any(len(seen) and trigger in set(seen) for i in range(3) for trigger in rows(w, i))
    while not logs.exhausted:
        w = logs.load(w)
    for i in range(3):
        read(w, i, 100)
    assert sorted(seen) == whole.trigger.tolist()


def rows(w: Any, i: int) -> list[int]:
    found: list[int] = w.log[w.inst[i, L.I_LOG] : w.inst[i, L.I_LOG_END], L.D_TRIGGER].tolist()
    return found


def test_a_checkpoint_of_before_means_no_less_than_where_a_partition_changed_hands() -> None:
    simulation = simulated(three_readers(7), trace=False)
    logs = simulation._logs
    w = logs.load(simulation._world.arrays)
    before = rows(w, 0)
    w.inst[:3, L.I_LOG] += 10
    floors = logs.places(w, "bids")
    logs.assign(w, "bids", logs.owners["bids"], floors)
    w = logs.reload(w)
    assert rows(w, 0) == before[10:]
    logs.seek(w, 0, Place(0, 0, L.LOG_AHEAD))
    w = logs.reload(w)
    assert rows(w, 0) == before[10:]


@pytest.mark.slow
@pytest.mark.parametrize("at_s", [0.031, 0.07])
def test_what_is_read_again_after_a_loss_is_that_of_all_partitions(at_s: float) -> None:
    made = with_protocol(three_readers(7, watermarks=watermarks(3.0)), coordinated())
    made["workload"] |= {"drain": True}
    lossy = with_losses(made, [loss("w1", at_s)])
    whole, again = traced(made), traced(lossy)
    assert again.drained
    assert again.summary()["checkpointing"]["recoveries"] == 1
    assert last_counts(again) == last_counts(whole)


def last_counts(simulation: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for record in simulation.sink_records("sink"):
        key, count = record["values"]
        found[key] = max(found.get(key, 0), count)
    return found


def test_without_being_given_there_are_as_many_as_instances_and_the_hash_stays() -> None:
    plain, given = (load(three_readers(count)) for count in (None, 3))
    assert partitions(plain, "bids") == partitions(given, "bids") == 3
    assert "partitions" not in plain.canonical["workload"]["sources"]["bids"]
    assert plain.hash != given.hash
    whole, same = traced(three_readers(None)), traced(three_readers(3))
    assert whole.deliveries() == same.deliveries()
