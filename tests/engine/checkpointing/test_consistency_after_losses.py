"""CheckMate's two consistency jobs after losses at many times, judged by what their sinks got (Siachamis 2024, 3.6).

What this catches: an exactly-once that is one only by luck of the moment, and one that would be exact with its filter or its log left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import engine
from tests.support.consistency import SetFaults, miscounted, set_faults
from tests.support.tiers import tier

from ...support.agreement import finished, template
from ...support.recovery_examples import PROTOCOLS, communication_induced, loss, random_losses, uncoordinated, with_losses, with_protocol

Document = dict[str, Any]

HOSTS = ("w1", "w2", "w3", "w4")
HORIZON_S = 1.0
RECORDS = {"consistency_count": 2000, "consistency_set": 1000}
"""By job, of which so many come in a run."""
ON_TIME = {"interval_s": 0.15, "detect_ms": 1.0}
exactly_once = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
with_a_log = pytest.mark.parametrize("protocol", [uncoordinated, communication_induced], ids=lambda protocol: protocol.__name__)


def job(name: str, protocol: Document, losses: list[Document]) -> Document:
    document = with_losses(with_protocol(template(name, horizon_s=HORIZON_S), protocol), losses)
    document["workload"]["sources"]["records"]["rate"]["per_s"] = RECORDS[name] / HORIZON_S
    return document


def delivered(document: Document) -> pa.Table:
    simulation: engine.Simulation = finished(document)
    assert simulation.drained
    assert simulation.checkpointing is not None
    assert simulation.checkpointing["recoveries"][-1]["go_ns"] > 0
    return simulation.outputs("sink")


@pytest.mark.slow
@exactly_once
def test_each_record_is_counted_just_once(protocol: Callable[..., Document]) -> None:
    chance = random.Random(f"counts {protocol.__name__}")
    for _ in range(tier(13, 25)):
        losses = random_losses(chance, HOSTS, HORIZON_S)
        assert miscounted(delivered(job("consistency_count", protocol(**ON_TIME), losses)), RECORDS["consistency_count"]) == 0, losses


@pytest.mark.slow
@exactly_once
def test_each_value_is_taken_just_once(protocol: Callable[..., Document]) -> None:
    chance = random.Random(f"sets {protocol.__name__}")
    for _ in range(tier(13, 25)):
        losses = random_losses(chance, HOSTS, HORIZON_S)
        faults = set_faults(delivered(job("consistency_set", protocol(**ON_TIME), losses)), RECORDS["consistency_set"])
        assert faults == SetFaults(duplicates=0, gaps=0, unseen=0), losses


@pytest.mark.slow
@with_a_log
def test_without_the_filter_there_are_duplicates_and_without_the_log_losses(protocol: Callable[..., Document]) -> None:
    """Of the ladder, the middle rung never loses and the lowest one never repeats."""
    moments = [0.2 + 0.0937 * n for n in range(8)]
    often: list[SetFaults] = []
    seldom: list[SetFaults] = []
    counts: dict[str, list[int]] = {"at_least_once": [], "at_most_once": []}
    for n, at_s in enumerate(moments):
        losses = [loss(HOSTS[n % 4], at_s)]
        for semantics, found in (("at_least_once", often), ("at_most_once", seldom)):
            chosen = protocol(**ON_TIME, semantics=semantics, log=semantics == "at_least_once")
            found.append(set_faults(delivered(job("consistency_set", chosen, losses)), RECORDS["consistency_set"]))
            counts[semantics].append(miscounted(delivered(job("consistency_count", chosen, losses)), RECORDS["consistency_count"]))
    assert sum(faults.duplicates for faults in often) > 100
    assert all(faults.gaps == faults.unseen == 0 for faults in often)
    assert sum(faults.gaps + faults.unseen for faults in seldom) > 20
    assert all(faults.duplicates == 0 for faults in seldom)
    assert min(counts["at_least_once"]) >= 0 < max(counts["at_least_once"])
    assert min(counts["at_most_once"]) < 0 >= max(counts["at_most_once"])
