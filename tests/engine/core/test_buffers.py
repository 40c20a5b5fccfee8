"""Memory used again: only when nothing looks at it any more, and no more of it is kept than is said.

What this catches: a trace that somebody still holds and that the next run writes over.
"""

from __future__ import annotations

import gc
from queue import SimpleQueue

import numpy as np
import pytest

import engine
from engine.core import buffers
from engine.core.buffers import words
from engine.core.tables import lines

from ...support.agreement import template


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "_kept", [])
    monkeypatch.setattr(buffers, "_returned", SimpleQueue())
    monkeypatch.setattr(buffers, "LEAST_BYTES", 4096)


def test_memory_is_used_again_when_all_views_are_gone() -> None:
    table = lines(100, 8, words)
    table[:] = 7
    part = table.view(np.uint32)[3:5]
    del table
    other = lines(100, 8, words)
    other[:] = 9
    assert (part[:, ::2] == 7).all()
    del part
    again = lines(90, 8, words)
    assert (again == 7).all()
    assert (other == 9).all()


def test_the_smallest_that_fits_is_taken_and_the_largest_are_kept() -> None:
    tables = [words(count) for count in range(1_000, 8_000, 1_000)]
    for table in tables:
        table[:] = len(table)
    del table, tables
    assert (words(600) == 4_000).all()
    held = words(4_500)
    assert (held == 5_000).all()
    larger = words(6_500)
    assert (larger == 7_000).all()
    assert (words(6_900) == 0).all()


def test_small_tables_are_not_kept() -> None:
    words(100)[:] = 7
    words(1_000)
    assert buffers._kept == []


def test_what_is_beyond_the_bound_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "KEPT_BYTES", 1 << 20)
    words(1 << 20)[:] = 7
    again = words(1 << 20)
    assert (again[: 1 << 17] == 7).all()
    assert (again[1 << 17 :] == 0).all()


@pytest.mark.parametrize("example", ["nexmark_q3", "nexmark_q3_ttl", "nexmark_q5", "nexmark_q8", "taxi_rides"])
def test_what_memory_held_before_is_no_matter(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = template(example, horizon_s=0.2)
    worlds = []
    for make in (np.zeros, buffers.words):
        monkeypatch.setattr(buffers, "words", make)
        snapshot = engine.run(document).simulation.snapshot()
        worlds.append({name: words.tobytes() for name, words in snapshot.items() if name.startswith("world.")})
    assert worlds[0] == worlds[1]


def test_a_trace_outlives_its_run() -> None:
    document = template("nexmark_q3", horizon_s=0.02, drain=True)
    simulation = engine.run(document, trace=True, keep_outputs=True).simulation
    trace, deliveries = simulation.trace(), simulation.deliveries()
    wanted = trace.waterfalls(deliveries)
    del simulation
    gc.collect()
    engine.run(document | {"name": "another", "workload": document["workload"] | {"seed": 5}}, trace=True)
    assert trace.waterfalls(deliveries) == wanted


def test_snapshots_hold_no_rows_that_only_lie_ready() -> None:
    simulation = engine.Simulation(template("nexmark_q1", horizon_s=0.001))
    simulation.run_until(500_000)
    arrays, snapshot = simulation._world.arrays, simulation._world.snapshot()
    assert len(snapshot["msg"]) == len(arrays.free) < len(arrays.msg)
