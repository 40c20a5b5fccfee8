"""Runs too long for the oracle, judged by checkers that know nothing of the engine (`tests/support/checkers.py`).

What this catches: loss, duplication and overtaking that need long queues, many growths of the arrays or many closed panes to appear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from tests.support import checkers
from tests.support.corner_cases import CORNER_CASES
from tests.support.death_cases import DEATH_CASES
from tests.support.loss_cases import LOSS_CASES
from tests.support.strategies import documents
from tests.support.tiers import spread

from ...support.agreement import TEMPLATES, template, with_params
from ...support.judging import judge


@given(document=documents())
def test_random_experiments_keep_the_invariants(document: dict[str, Any]) -> None:
    judge(document)


@pytest.mark.parametrize("case", LOSS_CASES + DEATH_CASES + CORNER_CASES, ids=lambda case: case.__name__)
def test_rare_moments_keep_the_invariants(case: Callable[[], dict[str, Any]]) -> None:
    judge(case())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flow"), spread([(name, flow) for name in TEMPLATES for flow in ("unbounded", "credits")], ci=4, first=1))
def test_long_overloaded_templates_keep_the_invariants(name: str, flow: str) -> None:
    """Some 40,000 records; the hosts fall behind by ten seconds and more, then the run drains."""
    document = template(name, horizon_s=2.0 if name != "flights" else 8.0, drain=True, drain_limit_s=600.0)
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.1 if name != "flights" else 0.02
    document["policies"]["flow_control"] = {"kind": flow} | ({"per_channel": 8} if flow == "credits" else {})
    simulation = judge(document)
    assert simulation.drained
    assert simulation.summary()["records_in"] > 30_000


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["event", "processing"])
def test_panes_close_once(clock: str) -> None:
    """Many late records: what is dropped must not reopen its pane."""
    params = {"window": {"kind": "sliding", "size_s": 0.02, "slide_s": 0.005, "clock": clock}, "emit": "on_close"}
    document = with_params(template("nexmark_q12", horizon_s=0.5, drain=True), "count", **params)
    document["workload"]["sources"]["bids"] |= {
        "disorder": {"kind": "uniform", "max_ms": 30},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 2},
    }
    simulation = judge(document)
    rows = simulation.outputs("sink").to_pylist()
    assert len(rows) > 1000
    checkers.check_panes_close_once(rows, "bidder")
    assert (simulation.summary()["late"] > 100) == (clock == "event")
