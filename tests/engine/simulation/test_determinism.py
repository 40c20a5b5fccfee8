"""The same experiment gives the same bytes: in any process, compiled or not, however time is cut, saved, forked or space is grown.

What this catches: state outside the arrays, order that depends on addresses or on the history of insertions, a control point that is not
between instants, arrays that grow wrongly or in the middle of an item.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from tests.support.strategies import documents
from tests.support.tiers import spread

from ...support.agreement import DATASETS, ROOT, TEMPLATES, TINY, fingerprint, frames_of, simulated, template, traced, with_params

SOME_TEMPLATES = [pytest.param(name, marks=[] if name in ("nexmark_q8", "flights") else [pytest.mark.slow]) for name in TEMPLATES]
"""All of them in a full run; in a fast one a join with windows of processing time and an aggregate with windows of event time."""


def busy(name: str) -> dict[str, Any]:
    """A template that fills its channels, closes many panes and drains, small enough for a second."""
    document = template(name, horizon_s=2.0 if name == "flights" else 0.06, drain=True)
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.05
    document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 3}
    document["measurement"]["frame_ms"] = 10
    if name in ("nexmark_q8", "nexmark_q12"):
        window = {"kind": "tumbling", "size_s": 0.02, "origin_s": 0.005, "clock": "processing"}
        document = with_params(document, "join" if name == "nexmark_q8" else "count", window=window)
    return document


IN_ANOTHER_PROCESS = """
import json, sys
from tests.support.agreement import fingerprint, traced
print(json.dumps(fingerprint(traced(json.load(sys.stdin)))))
"""


def in_another_process(document: dict[str, Any], **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flights", pytest.param("nexmark_q8", marks=pytest.mark.slow)])
def test_two_processes_give_the_same(name: str) -> None:
    document = busy(name)
    here = as_json(fingerprint(traced(document)))
    assert in_another_process(document, PYTHONHASHSEED="1") == here
    assert in_another_process(document, PYTHONHASHSEED="2") == here


@pytest.mark.slow
@pytest.mark.parametrize("name", spread(SOME_TEMPLATES, ci=2))
def test_the_loop_gives_the_same_without_the_compiler(name: str) -> None:
    document = busy(name)
    document["workload"]["horizon_s"] = 0.5 if name == "flights" else 0.015
    document["policies"]["flow_control"]["per_channel"] = 1
    assert in_another_process(document, MILLRACE_COMPILE="0") == as_json(fingerprint(traced(document)))


@given(document=documents(), cuts=st.lists(st.floats(0, 1), max_size=30))
def test_any_cutting_gives_the_same(document: dict[str, Any], cuts: list[float]) -> None:
    whole = traced(document)
    cut = simulated(document)
    # Half of the cuts fall on moments at which something happens, where an instant could be torn apart.
    moments = [int(moment) for moment in whole.service_trace()[:, 1]] or [0]
    for n, share in enumerate(sorted(cuts)):
        cut.run_until(int(share * whole.horizon_ns) if n % 2 else sorted(moments)[int(share * (len(moments) - 1))])
    cut.run_until(cut.end_ns)
    assert fingerprint(cut) == fingerprint(whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME_TEMPLATES)
def test_saved_and_resumed_at_random_times_it_goes_on_to_the_same(name: str, tmp_path: Path) -> None:
    document = busy(name)
    whole = traced(document)
    wanted = fingerprint(whole)
    last_ns = int(whole.service_trace()[-1, 2])
    random_times = random.Random(f"resume {name}")
    for n in range(20):
        saved = engine.Simulation(document, datasets=DATASETS, trace=True, keep_outputs=True)
        saved.run_until(random_times.randrange(last_ns))
        path = tmp_path / f"{n}.snapshot"
        saved.save(path)
        resumed = engine.Simulation.resume(document, path, datasets=DATASETS, trace=True, keep_outputs=True)
        assert resumed.digest() == saved.digest()
        resumed.run_until(resumed.end_ns)
        assert fingerprint(resumed) == wanted
        saved.run_until(saved.end_ns)  # writing a snapshot disturbs nothing
        assert fingerprint(saved) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nexmark_q8", "flights"])
def test_a_resumed_run_gives_the_frames_that_were_missing(name: str, tmp_path: Path) -> None:
    document = busy(name)
    whole = frames_of(engine.Simulation(document, datasets=DATASETS))
    assert len(whole) > 5
    for keep in (1, len(whole) // 2, len(whole) - 1):
        first = engine.Simulation(document, datasets=DATASETS)
        before = [first.advance() for _ in range(keep)]
        first.save(tmp_path / "snapshot")
        after = frames_of(engine.Simulation.resume(document, tmp_path / "snapshot", datasets=DATASETS))
        assert before + after == whole


def test_saving_holds_the_state_in_memory_once(tmp_path: Path) -> None:
    """Beside the arrays of the snapshot only buffers: a worker whose run fills half of its memory must be able to save it."""

    class Large(engine.Simulation):
        def snapshot(self) -> dict[str, Any]:
            return super().snapshot() | {f"ballast.{n}": np.ones(1 << 17, np.int64) for n in range(64)}

    simulation = Large(busy("nexmark_q1"))
    tracemalloc.start()
    try:
        simulation.snapshot()
        _, arrays_bytes = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        simulation.save(tmp_path / "snapshot")
        _, saving_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "snapshot").stat().st_size > 64 << 20
    assert saving_bytes - arrays_bytes < 8 << 20
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot"]


def test_a_snapshot_of_another_experiment_is_refused(tmp_path: Path) -> None:
    simulation = engine.Simulation(busy("nexmark_q1"))
    simulation.save(tmp_path / "snapshot")
    with pytest.raises(ValueError, match="experiment"):
        engine.Simulation.resume(busy("nexmark_q12"), tmp_path / "snapshot")


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_fork_and_its_origin_both_go_on_to_the_same(name: str) -> None:
    document = busy(name)
    wanted = fingerprint(traced(document))
    origin = engine.Simulation(document, datasets=DATASETS, trace=True, keep_outputs=True)
    origin.run_until(origin.horizon_ns // 2)
    fork = origin.fork()
    assert fork.digest() == origin.digest()
    fork.run_until(fork.end_ns)
    assert fingerprint(fork) == wanted
    origin.run_until(origin.end_ns)
    assert fingerprint(origin) == wanted


@pytest.mark.parametrize("name", TEMPLATES)
def test_growth_from_tiny_arrays_changes_nothing(name: str) -> None:
    document = busy(name)
    assert fingerprint(traced(document, capacity=TINY)) == fingerprint(traced(document))


@pytest.mark.slow
@given(document=documents())
def test_growth_changes_nothing_in_random_experiments(document: dict[str, Any]) -> None:
    assert fingerprint(traced(document, capacity=TINY)) == fingerprint(traced(document))


def test_a_digest_tells_two_seeds_apart() -> None:
    """A digest that never changes would pass every test above."""
    digests = {traced(template("nexmark_q3", horizon_s=0.02, seed=seed)).digest() for seed in (1, 2, 3)}
    assert len(digests) == 3
