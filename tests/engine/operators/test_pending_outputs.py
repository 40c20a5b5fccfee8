"""Firings that make their outputs one by one, as they are sent: the same run as with all of them at once, in less memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings

import engine
from engine.core import layout as L
from engine.lowering import plan
from engine.operators import OPERATORS

from ...support.agreement import TINY, assert_agreement, services_of, traced
from ...support.corner_cases import (
    a_window_join_by_the_processing_clock,
    a_window_join_counts_from_what_came_last,
    a_window_join_of_a_number_of_records,
    aggregates_of_the_firings_of_a_join,
    bids,
    document,
    host,
    records_behind_the_firing_of_a_window_join,
    three_streams_meet_pane_by_pane,
    watermarks,
)
from ...support.loss_cases import MS, loss
from ...support.strategies import documents
from ...support.tiers import tier

Document = dict[str, Any]


def of_two_streams(per_s: float, key: str = "auction", **parts: Any) -> Document:
    """Bids of two streams with the same auction, within 4 ms; one receiver, on another host."""
    window = {"kind": "tumbling", "size_s": 0.004, "clock": "event"}
    params = {"window": window, "left_key": key, "right_key": key}
    return document(
        [
            {"id": "one", "kind": "source"},
            {"id": "other", "kind": "source"},
            {"id": "pairs", "kind": "window_join", "params": params, "cost": {"record_us": 1, "output_us": 0.1}},
            {"id": "sink", "kind": "sink", "cost": {"record_us": 1}},
        ],
        [
            {"source": "one", "target": "pairs", "target_port": "left"},
            {"source": "other", "target": "pairs", "target_port": "right"},
            {"source": "pairs", "target": "sink"},
        ],
        [host("a"), host("b")],
        {id: bids(per_s, watermarks=watermarks(1)) for id in ("one", "other")},
        placement={"kind": "explicit", "hosts": {"one": ["a"], "other": ["a"], "pairs": ["a"], "sink": ["b"]}},
        **parts,
    )


def one_by_one() -> Any:
    return mock.patch.object(plan, "AT_ONCE_MAX", 0)


@pytest.mark.parametrize(
    "case",
    [
        records_behind_the_firing_of_a_window_join,
        a_window_join_counts_from_what_came_last,
        a_window_join_of_a_number_of_records,
        aggregates_of_the_firings_of_a_join,
        a_window_join_by_the_processing_clock,
        three_streams_meet_pane_by_pane,
    ],
    ids=lambda case: case.__name__,
)
def test_corner_cases_agree_one_by_one(case: Callable[[], Document]) -> None:
    with one_by_one():
        expected = assert_agreement(case())
        assert_agreement(case(), traced(case(), capacity=TINY), expected)


@pytest.mark.slow
@settings(max_examples=tier(ci=15, all=100))
@given(document=documents().filter(lambda document: any(spec["kind"] == "window_join" for spec in document["query"]["operators"])))
def test_random_experiments_agree_one_by_one(document: Document) -> None:
    with one_by_one():
        assert_agreement(document)


@pytest.mark.parametrize("prices", ["reference", "costream_2024"])
@pytest.mark.parametrize(
    "flow", [{"kind": "unbounded"}, {"kind": "credits", "per_channel": 3}, {"kind": "credits", "per_channel": 1000}], ids=str
)
def test_a_run_is_the_same_one_by_one(flow: Document, prices: str) -> None:
    experiment = of_two_streams(20_000, policies={"flow_control": flow}, prices=prices)
    at_once = traced(experiment)
    with one_by_one():
        found = traced(experiment)
    assert at_once.summary()["operators"]["pairs"]["out"] > 500
    assert services_of(found) == services_of(at_once)
    assert found.digest() == at_once.digest()
    same = [{**simulation.summary(), "wall_s": 0} for simulation in (at_once, found)]
    assert same[0] == same[1]


def test_memory_holds_what_waits_and_not_all_pairs() -> None:
    """Firings of thousands of pairs, of which a hundred may be under way."""
    experiment = of_two_streams(200_000, policies={"flow_control": {"kind": "credits", "per_channel": 100}}, horizon_s=0.005)
    messages = []
    for most in (0, 1 << 40):
        with mock.patch.object(plan, "AT_ONCE_MAX", most):
            simulation = engine.Simulation(experiment, capacity=TINY)
            while simulation.advance() is not None:
                pass
            messages.append(len(simulation._world.arrays.msg))
    assert simulation.summary()["operators"]["pairs"]["out"] > 10_000, simulation.summary()["operators"]["pairs"]
    assert messages[0] * 4 < messages[1]


def test_a_host_that_is_lost_loses_what_was_pending() -> None:
    """The join waits for credits then, and is back with empty windows."""
    faults = [loss("b", 6 * MS, 7 * MS), loss("a", 8 * MS, 8_500_000)]
    experiment = of_two_streams(20_000, policies={"flow_control": {"kind": "credits", "per_channel": 3}}, faults=faults)
    at_once = assert_agreement(experiment)
    assert at_once.served["sink"] > 30
    with one_by_one():
        assert_agreement(experiment, expected=at_once)


def test_a_memory_budget_counts_what_is_pending() -> None:
    """Bytes of pairs that are not made yet: the host of the join is full as early, and as slow."""
    experiment = of_two_streams(50_000, policies={"flow_control": {"kind": "credits", "per_channel": 3}}, horizon_s=0.02)
    for template in experiment["cluster"]["hosts"]:
        template["memory"] = {"kind": "budget", "budget_mb": 0.1, "slow_down": {"kind": "costream"}}
    peaks = []
    for most in (0, 1 << 40):
        with mock.patch.object(plan, "AT_ONCE_MAX", most):
            simulation = traced(experiment)
            peaks.append((int(simulation._world.arrays.memory[:, L.Z_PEAK].max()), services_of(simulation)))
    assert peaks[0] == peaks[1]
    assert peaks[0][0] > 100_000


def test_pending_outputs_are_counted_where_outputs_are() -> None:
    """While they wait for credits: bytes that are not sent, and outputs lost with their host."""
    experiment = of_two_streams(20_000, policies={"flow_control": {"kind": "credits", "per_channel": 3}})
    frames = []
    for most in (0, 1 << 40):
        with mock.patch.object(plan, "AT_ONCE_MAX", most):
            simulation = engine.Simulation(experiment | {"measurement": {"frame_ms": 1}})
            of_run = []
            while (frame := simulation.advance()) is not None:
                of_run.append(frame)
            frames.append(of_run)
    assert frames[0] == frames[1]


def test_only_kinds_that_make_outputs_one_by_one_need_it_of_the_loop() -> None:
    assert [kind for kind, operator in OPERATORS.items() if hasattr(operator, "make_output")] == ["window_join"]
    assert L.PENDING not in (L.RECORD, L.WATERMARK, L.TICK, L.END_OF_LOG, L.CONTROL_MESSAGE, L.BARRIER, L.MARKER)
