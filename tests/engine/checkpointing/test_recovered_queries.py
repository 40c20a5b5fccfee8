"""The queries and jobs of CheckMate after a loss: what they deliver is what the oracle delivers without one (docs/checkpointing.md).

What this catches: a protocol that is exact on jobs made for it, and not on those of the paper with their costs, ingress rule and ten
workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest

from engine.spec import Experiment
from tests.oracle import simulate

from ...support.agreement import DATASETS, exact, finished, template
from ...support.recovery_examples import PROTOCOLS, loss, with_losses, with_protocol

LOADS = {"checkmate_q1": 0.05, "checkmate_q3": 0.05, "consistency_count": 0.05, "consistency_set": 0.15}
"""Shares of the templates' rates that the oracle takes in a moment."""


def small(name: str) -> dict[str, Any]:
    document = template(name, horizon_s=3.0, warmup_s=0.0)
    document["workload"]["drain"] = True
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] *= LOADS[name]
    return document


@cache
def expected(name: str) -> frozenset[tuple[Any, ...]]:
    """The rows that the oracle delivers, without losses and protocols."""
    result = simulate(Experiment.model_validate(small(name)), DATASETS)
    return comparable(name, (row.values for rows in result.outputs.values() for row in rows))


def comparable(name: str, rows: Iterable[tuple[Any, ...]]) -> frozenset[tuple[Any, ...]]:
    """The rows, without what depends on the order in which records of one key come from several sources: in the set job the largest value
    that a key has meanwhile. The last largest one of each key stays."""
    found = [exact(row) for row in rows]
    if name != "consistency_set":
        return frozenset(found)
    largest: dict[int, int] = {}
    for key, _, _, value in found:
        largest[key] = max(value, largest.get(key, 0))
    return frozenset({row[:3] for row in found} | set(largest.items()))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
@pytest.mark.parametrize("name", LOADS)
def test_what_is_delivered_after_a_loss_is_what_the_oracle_delivers(name: str, protocol: Callable[..., dict[str, Any]]) -> None:
    document = with_protocol(small(name), protocol(interval_s=0.6))
    host = f"{document['cluster']['hosts'][0]['name']}2"
    simulation = finished(with_losses(document, [loss(host, 1.93, 0.1)]))
    about = simulation.checkpointing
    assert about is not None
    assert len(about["recoveries"]) == 1
    assert max(about["recoveries"][0]["line"]) > 0
    assert comparable(name, (row["values"] for row in simulation.sink_records("sink"))) == expected(name)
    assert len(expected(name)) > 300
