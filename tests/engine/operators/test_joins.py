"""Joins over windows whose results come seldom: their templates in small windows, beside the oracle; and how long state is kept."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.experiment.streams.nexmark import NexmarkAuction, NexmarkPerson

from ...support.agreement import TINY, assert_agreement, simulated, template, traced, with_params
from ...support.corner_cases import the_latest_of_each_key


def in_small_windows(name: str, operators: tuple[str, ...], size_s: float = 0.02, **params: Any) -> dict[str, Any]:
    """An example whose windows, delays and watermarks are five hundred times as short."""
    document = template(name, horizon_s=0.12, drain=True)
    for operator in operators:
        document = with_params(document, operator, window={"kind": "tumbling", "size_s": size_s})
    for source in document["workload"]["sources"].values():
        source |= {"disorder": {"kind": "uniform", "max_ms": 4}, "watermarks": {"kind": "bounded", "lag_ms": 0.5, "period_ms": 0.4}}
    return document


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [False, True], ids=["roomy", "tiny"])
def test_q7_agrees(tiny: bool) -> None:
    document = in_small_windows("nexmark_q7", ("highest", "join"))
    simulation = traced(document, capacity=TINY) if tiny else None
    expected = assert_agreement(document, simulation)
    assert 5 <= len(expected.outputs["sink"]) <= 12


@pytest.mark.slow
@pytest.mark.parametrize("slow", [1, 50], ids=["idle", "overloaded"])
def test_q8_at_the_windows_end_agrees(slow: int) -> None:
    document = with_params(in_small_windows("nexmark_q8_windows", ("join",)), "join", lateness_ms=0.5)
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] = 8000
        source["disorder"]["max_ms"] = 15
    for host in document["cluster"]["hosts"]:
        host["speed"] /= slow
    expected = assert_agreement(document)
    assert len(expected.outputs["sink"]) > 100
    assert expected.late["join"] > 10
    assert 0 < len(expected.outputs["late"]) < expected.late["join"]  # only one of the late ports has an edge


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nexmark_q4", "nexmark_q6"])
def test_closing_prices_agree(name: str) -> None:
    """Auctions that are open for milliseconds."""
    document = template(name, horizon_s=0.1, drain=True)
    by = {"nexmark_q4": "category", "nexmark_q6": "seller"}[name]
    document = with_params(document, "open", select=["id", by, "price", "time"])
    closes = next(operator for operator in document["query"]["operators"] if operator["id"] == "closes")
    closes["params"]["fields"][-1]["expression"] = "time + (id * 7919) % 20000000"
    for source in document["workload"]["sources"].values():
        source |= {"disorder": {"kind": "uniform", "max_ms": 4}, "watermarks": {"kind": "bounded", "lag_ms": 4, "period_ms": 0.4}}
    expected = assert_agreement(document)
    assert len(expected.outputs["sink"]) > 20


def state_over_time(document: dict[str, Any]) -> list[int]:
    simulation = simulated(document, trace=False)
    sizes = []
    while (frame := simulation.advance()) is not None:
        sizes.append(frame["operators"]["join"]["state_bytes"])
    return sizes


def test_state_that_expires_stops_growing() -> None:
    document = with_params(template("nexmark_q3_ttl", horizon_s=2.0), "join", ttl_s=0.25)
    document["measurement"]["frame_ms"] = 125
    sizes = state_over_time(document)
    kept = with_params(document, "join", ttl_s=300)
    assert max(sizes[3:]) < 1.1 * min(sizes[3:])
    assert state_over_time(kept)[-1] > 6 * sizes[-1]


def test_the_watermark_frees_what_no_interval_reaches() -> None:
    document = template("nexmark_q8", horizon_s=2.0)
    join = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")
    join |= {"kind": "interval_join", "params": {"left_key": "id", "right_key": "seller", "lower_s": 0, "upper_s": 0.25}}
    for source in document["workload"]["sources"].values():
        source["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 5}
    document["measurement"]["frame_ms"] = 125
    sizes = state_over_time(document)
    assert max(sizes[3:]) < 1.25 * min(sizes[3:])
    for source in document["workload"]["sources"].values():
        source["watermarks"] = {"kind": "none"}
    assert state_over_time(document)[-1] > 6 * sizes[-1]


def test_a_window_join_holds_two_windows_at_most() -> None:
    """The one that fills, and what has come before the watermark could close the last."""
    document = in_small_windows("nexmark_q8_windows", ("join",))
    document["workload"] |= {"horizon_s": 0.4}
    document["measurement"]["frame_ms"] = 5
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] = 10_000
    per_window = 0.02 * 10_000 * (NexmarkPerson.schema_fixed.bytes + NexmarkAuction.schema_fixed.bytes)
    sizes = state_over_time(with_params(document, "join", lateness_ms=0))
    assert 0.9 * per_window < max(sizes) < 2 * per_window
    assert sizes[-1] < per_window


def test_with_the_latest_of_each_key_a_record_gives_one_result_at_most() -> None:
    """Specification of incremental checkpointing, A-27 and 9.11: of two purchases and then an advertisement, the second one is joined."""
    found = {}
    for keep in ("all", "latest"):
        document = with_params(the_latest_of_each_key(), "join", keep_left=keep, keep_right=keep)
        expected = assert_agreement(document)
        found[keep] = expected.outputs["sink"]
        triggers = [record.trigger for record in found[keep]]
        assert (len(triggers) == len(set(triggers))) == (keep == "latest")
    assert 0 < len(found["latest"]) < len(found["all"]) / 2
    last = {record.trigger: record for record in found["all"]}  # stored matches come in the order of storage
    assert [record.values for record in found["latest"]] == [last[record.trigger].values for record in found["latest"]]
    assert found["latest"][0].trigger in last
