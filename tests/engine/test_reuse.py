"""Memory used again: only when nothing looks at it any more, and no more of it is kept than is said.

What this catches: a trace that somebody still holds and that the next run writes over.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import engine
from engine.core import reuse
from engine.core.world import lines

from .agreement import template


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_kept", [])


def test_memory_is_used_again_when_all_views_are_gone() -> None:
    table = lines(100, 8, reuse.words)
    table[:] = 7
    part = table.view(np.uint32)[3:5]
    del table
    other = lines(100, 8, reuse.words)
    other[:] = 9
    assert (part[:, ::2] == 7).all()
    del part
    again = lines(90, 8, reuse.words)
    assert (again == 7).all()
    assert (other == 9).all()


def test_larger_tables_have_new_memory_and_the_larger_one_is_kept() -> None:
    for count in (100_000, 1_000, 200_000, 5_000):
        reuse.words(count)[:] = count
    assert [len(memory) for memory in reuse._kept] == [1_600_000]
    assert (reuse.words(150_000)[:5_000] == 5_000).all()


def test_what_is_beyond_the_bound_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "KEPT_BYTES", 1 << 20)
    reuse.words(1 << 20)[:] = 7
    again = reuse.words(1 << 20)
    assert (again[: 1 << 17] == 7).all()
    assert (again[1 << 17 :] == 0).all()


def test_a_trace_outlives_its_run() -> None:
    document = template("nexmark_q3", horizon_s=0.02, drain=True)
    simulation = engine.run(document, trace=True, keep_outputs=True).simulation
    trace, deliveries = simulation.trace(), simulation.deliveries()
    wanted = trace.waterfalls(deliveries)
    del simulation
    gc.collect()
    engine.run(document | {"name": "another", "workload": document["workload"] | {"seed": 5}}, trace=True)
    assert trace.waterfalls(deliveries) == wanted
