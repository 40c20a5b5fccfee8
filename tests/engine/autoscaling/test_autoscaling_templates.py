"""The queries that autoscalers are compared on: at the scale of their examples they do what they do at real rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import Simulation
from engine.telemetry.frames import Counters

from ...support.agreement import template

Document = dict[str, Any]


def steady(name: str, per_s: float, horizon_s: float, scale: int | None = None) -> Document:
    """The example at constant rates, of all sources together as many, with parallelism enough for them."""
    made = template(f"autoscaling_{name}", horizon_s=horizon_s)
    sources = made["workload"]["sources"]
    whole = sum(source["rate"]["mean_per_s"] for source in sources.values())
    for source in sources.values():
        source["rate"] = {"kind": "constant", "per_s": per_s * source["rate"]["mean_per_s"] / whole}
    made["workload"]["scale"] = scale or made["workload"]["scale"]
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 24
        del operator["cost"]["drift"]
    return made


def rows_by_record(made: Document, operator: str, by: str) -> float:
    """What the operator puts out for one record that another (or it) puts out or takes in, in the second half of the run."""
    simulation = Simulation(made)
    frames = []
    while frame := simulation.advance():
        frames.append(frame["operators"])
    late = frames[len(frames) // 2 :]
    return sum(frame[operator]["out_per_s"] for frame in late) / sum(frame[by]["in_per_s"] for frame in late)


def second_part(made: Document) -> Counters:
    """What is counted in a run of 300 s from 100 s on."""
    simulation = Simulation(made)
    simulation.run_until(100 * 10**9)
    before = simulation._counters(simulation.now_ns)
    simulation.run_until(simulation.end_ns)
    return simulation._counters(simulation.now_ns).since(before)


@pytest.mark.parametrize("scale", [10_000, 1000])
@pytest.mark.parametrize(("per_s", "horizon_s"), [(100_000, 3600.0), (1_000_000, 900.0), (2_200_000, 600.0)])
def test_a_session_is_forty_six_bids_at_every_rate_and_scale(per_s: float, horizon_s: float, scale: int) -> None:
    made = steady("session", per_s, horizon_s if scale == 10_000 else horizon_s / 2, scale)
    assert rows_by_record(made, "sessions", "sessions") == pytest.approx(1 / 46, rel=0.1)


@pytest.mark.parametrize("parallelism", [10, 16, 24, 40])
def test_few_bidders_load_all_instances_alike(parallelism: int) -> None:
    """As many real ones do: but for the imbalance of 128 groups on so many instances. (At first there are fewer people.)"""
    made = steady("session", 2_000_000, 300.0)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = {"bids": 10, "sessions": parallelism, "sink": 10}[operator["id"]]
    gained = second_part(made)
    served = gained.served[10 : 10 + parallelism]
    groups = np.bincount(np.arange(128) * parallelism // 128)
    assert len(groups) == parallelism
    assert served.max() / served.mean() < 1.1 * groups.max() / groups.mean()


@pytest.mark.parametrize("per_s", [60_000, 165_000])
def test_a_bid_gives_a_third_of_a_row_in_sliding_windows(per_s: float) -> None:
    made = steady("sliding", per_s, 1800.0)
    assert rows_by_record(made, "counts", "counts") == pytest.approx(5 * 3 / 46, rel=0.1)


@pytest.mark.parametrize("per_s", [3000, 18_000, 33_000])
def test_every_second_auction_meets_its_seller(per_s: float) -> None:
    made = steady("join", per_s, 1200.0)
    assert rows_by_record(made, "filter", "filter") == pytest.approx(0.5, rel=0.1)
    assert rows_by_record(made, "join", "auctions") == pytest.approx(0.5, rel=0.1)


def test_few_bids_pass_the_filter() -> None:
    made = steady("filter", 1_000_000, 3000.0, 1000)
    assert rows_by_record(made, "choose", "choose") == pytest.approx(0.00345, rel=0.1)


@pytest.mark.parametrize(("name", "slow", "attained"), [("map", "bids", 440e3 * 0.84), ("session", "sessions", 225e3 * 0.70)])
def test_what_is_saturated_serves_what_it_can_attain(name: str, slow: str, attained: float) -> None:
    """Eight of the slow operator's instances and enough of the others, at a scale at which channels hold some records each: it is busy for
    its attainable share, and so its true rate, records by busy time, is the attained one divided by that share."""
    made = steady(name, 4_000_000, 300.0, 1000)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 8 if operator["id"] == slow else 24
    position, spec = next((n, spec) for n, spec in enumerate(made["query"]["operators"]) if spec["id"] == slow)
    gained = second_part(made)
    here = slice(24 * position, 24 * position + 8)
    busy, served = gained.busy_ns[here].mean() / 200e9, gained.served[here].mean() / 200
    assert busy == pytest.approx(spec["cost"]["attainable"], abs=0.03)
    assert served == pytest.approx(attained, rel=0.05)
    assert served / busy * spec["cost"]["attainable"] == pytest.approx(attained, rel=0.01)
    if name == "session":  # the sources wait for it
        sources = slice(0, 24)
        idle = 1 - (gained.busy_ns + gained.blocked_ns + gained.stolen_ns)[sources].mean() / 200e9
        assert idle < 0.02
