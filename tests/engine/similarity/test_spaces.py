"""What frames tell of spaces and worksets, against the run's own counters and records.

What this catches: worksets told twice or never, under another number or at another place; loads of a window that has ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.operators.similarity import INNER, OUTER, OUTLIER, centroids
from engine.similarity import stored
from tests.support.similarity_examples import brute_force, clusters, counted, points, self_join, whole, worksets

HISTORY = {"kind": "full_history"}


def run_of(document: dict[str, Any]) -> Any:
    document["measurement"] = {"frame_ms": 5}
    return engine.run(document)


def told(frames: list[dict[str, Any]]) -> list[list[float]]:
    return [workset for frame in frames for workset in frame["spaces"]["join"]["worksets"]]


@pytest.mark.parametrize("about", [{}, {"dimensions": 1, "distance": "euclidean"}, {"dimensions": 3}, {"seed": 7, "workers": 5}])
def test_every_workset_is_told_once_where_its_first_record_lies(about: dict[str, Any]) -> None:
    document = worksets(per_s=3000.0, **about)
    run = run_of(document)
    params = document["query"]["operators"][2]["params"]
    dimensions = len(params["coordinates"])
    drawn = np.array(centroids(params["spaces"], dimensions, params["seed"]))[:, :2]
    assert np.allclose(run.frames[0]["spaces"]["join"]["centroids"], drawn, atol=1e-6)
    assert not any("centroids" in frame["spaces"]["join"] for frame in run.frames[1:])
    found = told(run.frames)
    assert len(found) > 10
    for space in {int(workset[0]) for workset in found}:
        assert [workset[1] for workset in found if workset[0] == space] == list(range(1, 1 + sum(w[0] == space for w in found)))
    records = {tuple(vector[:2].round(6)) for side in ("left", "right") for vector in points(document, side)[1]}
    assert {tuple(workset[3:]) for workset in found} <= records
    assert all(workset[2] == workset[0] % params["spaces"] for workset in found)


def test_frames_tell_the_same_of_whole_vectors() -> None:
    document = worksets(per_s=3000.0, dimensions=5)
    fields, as_one = ([frame["spaces"] for frame in run_of(one).frames] for one in (document, whole(document)))
    assert fields == as_one
    assert fields[0]["join"]["dimensions"] == 5


@pytest.mark.parametrize("make", [worksets, lambda **about: counted(worksets(**about))])
def test_loads_are_the_comparisons_of_the_join(make: Any) -> None:
    run = run_of(make(window=HISTORY, per_s=3000.0))
    loads = np.array(run.frames[-1]["spaces"]["join"]["loads"])
    join = run.summary["operators"]["join"]
    assert loads[:, 2].sum() == join["read"]
    assert loads[:, 3].sum() == join["in"]
    assert {tuple(workset[:2]) for workset in told(run.frames)} == {tuple(load[:2]) for load in loads.tolist()}


def test_loads_are_told_some_times_in_a_window() -> None:
    run = run_of(worksets(window={"kind": "tumbling", "size_s": 0.12}, horizon_s=0.24, per_s=2000.0))
    ends_s = [frame["t_s"] for frame in run.frames if "loads" in frame["spaces"]["join"]]
    assert ends_s[:5] == pytest.approx([0.005, 0.01, 0.02, 0.03, 0.04])


def test_loads_are_those_of_the_newest_window() -> None:
    """At 10 ms the newest of three windows has begun 2 ms ago, the oldest 18 ms ago."""
    run = run_of(worksets(window={"kind": "sliding", "size_s": 0.02, "slide_s": 0.008}, per_s=10_000.0, horizon_s=0.01))
    frame = next(frame for frame in run.frames if frame["t_s"] == pytest.approx(0.01))
    records = sum(load[3] for load in frame["spaces"]["join"]["loads"])
    assert 0 < records < 0.1 * run.summary["operators"]["join"]["in"]


def test_a_run_that_goes_on_tells_the_rest() -> None:
    document = worksets(per_s=3000.0)
    whole = run_of(document).frames
    simulation = engine.Simulation(document)
    frames = [simulation.advance(), simulation.advance()]
    simulation = simulation.fork()
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
    assert [frame["spaces"] for frame in frames if frame is not None] == [frame["spaces"] for frame in whole]


@pytest.mark.parametrize(
    "make", [worksets, lambda **about: counted(worksets(**about)), lambda **about: whole(worksets(**about)), self_join]
)
def test_stored_records_meet_as_many_others_as_were_compared(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two copies in a workset, neither both inner nor both outer, the later one is compared with the earlier one."""
    monkeypatch.setattr(stored, "COPIES_TOLD", 10**6)
    run = run_of(make(window=HISTORY, per_s=2000.0))
    records = run.frames[-1]["spaces"]["join"]["stored"]
    copies = [copy for record in records for copy in record["copies"]]
    assert len(copies) == run.summary["operators"]["join"]["in"]
    assert sum(met(copy) for copy in copies) == 2 * run.summary["operators"]["join"]["read"]
    assert all(sum(copy[3] != OUTER for copy in record["copies"]) == 1 for record in records), "one copy is at home, the others are outer"


def met(copy: list[Any]) -> int:
    _, _, _, role, _, inner, outer, outlier = copy
    return {INNER: outer + outlier, OUTER: inner + outlier, OUTLIER: inner + outer + outlier}[role]


@pytest.mark.parametrize(("dimensions", "distance", "threshold"), [(2, "angular", 0.05), (4, "euclidean", 0.6)])
def test_roles_of_stored_records_follow_their_distances(dimensions: int, distance: str, threshold: float) -> None:
    frames = run_of(worksets(per_s=2000.0, dimensions=dimensions, distance=distance, threshold=threshold)).frames
    told = [
        (role, far)
        for frame in frames
        for record in frame["spaces"]["join"].get("stored", [])
        for *_, role, far, _, _, _ in record["copies"]
    ]
    assert {role for role, _ in told} == {INNER, OUTER, OUTLIER}
    for role, far in told:
        reach = {INNER: (0.0, threshold / 2), OUTLIER: (threshold / 2, threshold), OUTER: (0.0, 2 * threshold)}[role]
        assert reach[0] - 1e-6 <= far <= reach[1] + 1e-6


def test_of_many_stored_records_some_are_told_with_all_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def last() -> dict[Any, Any]:
        frame = run_of(worksets(window=HISTORY, per_s=5000.0)).frames[-1]
        return {(record["side"], record["event_s"], *record["at"]): record["copies"] for record in frame["spaces"]["join"]["stored"]}

    some = last()
    monkeypatch.setattr(stored, "COPIES_TOLD", 10**6)
    every = last()
    monkeypatch.setattr(stored, "ROWS_MAX", sum(map(len, every.values())) - 1)
    with pytest.raises(KeyError, match="stored"):
        last()
    assert 0.5 * 200 < sum(map(len, some.values())) < 2 * 200 < sum(map(len, every.values()))
    assert some.items() <= every.items()


@pytest.mark.parametrize("make", [clusters, brute_force])
def test_without_worksets_nothing_is_told(make: Any) -> None:
    assert "spaces" not in run_of(make(per_s=1000.0)).frames[0]
