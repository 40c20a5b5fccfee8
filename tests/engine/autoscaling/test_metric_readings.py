"""`Recording`, which answers policies from scrapes, against a twin that keeps a list of everything and looks through it.

What this catches: a window that is open at one end, readings of an instance's earlier life, readings that are forgotten too early, a state
that is not all of it.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.autoscaling.metrics import NAMES, Graph, Recording, Series
from tests.support.tiers import tier

S = 10**9
GRAPH = Graph(("source", "map"), (("source", "map"),), ("source",))
WINDOWS = (0, 15 * S, 60 * S)


def row(**values: int) -> list[int]:
    return [values.get(name, 0) for name in NAMES]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple]:
    """Starts, ends and scrapes of up to three instances of two vertices; some scrapes fail."""
    events: list[tuple] = []
    alive: set[tuple[str, int]] = set()
    for k in range(draw(st.integers(1, 40))):
        now_ns = k * 5 * S
        for instance in draw(st.lists(st.tuples(st.sampled_from(GRAPH.operators), st.integers(0, 2)), max_size=3, unique=True)):
            if instance in alive and draw(st.booleans()):
                alive.remove(instance)
                events.append(("end", now_ns, instance))
            elif instance not in alive:
                alive.add(instance)
                events.append(("start", now_ns, instance))
        if draw(st.sampled_from((True, True, True, False))):
            rows = {instance: [draw(st.integers(0, 9)) for _ in NAMES] for instance in sorted(alive)}
            events.append(("scrape", now_ns, rows, {"source": 100 * k}))
    return events


def play(events: list[tuple], cut: int) -> Recording:
    recording = Recording(GRAPH, {"source": 3, "map": 3}, 60 * S)
    for k, (what, now_ns, about, *rest) in enumerate(events):
        if k == cut:
            state = json.loads(json.dumps(recording.state()))
            recording = Recording(GRAPH, {}, 60 * S)
            recording.restore(state)
        if what == "scrape":
            recording.scrape(now_ns, about, rest[0])
        else:
            getattr(recording, what)(*about, *([now_ns] if what == "start" else []))
    return recording


@settings(max_examples=tier(40, 150), deadline=None, derandomize=True)
@given(events=histories(), cut=st.integers(0, 30))
def test_answers_are_those_of_a_list_of_all_events(events: list[tuple], cut: int) -> None:
    recording = play(events, cut)
    for operator in GRAPH.operators:
        alive: dict[int, int] = {}
        seen: dict[int, list[tuple[int, list[int]]]] = {}
        for what, now_ns, about, *_ in events:
            if what == "start" and about[0] == operator:
                alive[about[1]], seen[about[1]] = now_ns, []
            elif what == "end" and about[0] == operator:
                del alive[about[1]]
            elif what == "scrape":
                for index in alive:
                    seen[index].append((now_ns, about[operator, index]))
        assert recording.instances(operator) == [Series(operator, index, alive[index]) for index in sorted(alive) if seen[index]]
        for series in recording.instances(operator):
            all_of_it = seen[series.instance]
            for column, name in enumerate(NAMES):
                assert recording.last(series, name) == all_of_it[-1][1][column]
                for window_ns in WINDOWS:
                    end_ns = all_of_it[-1][0]
                    inside = [(t, values[column]) for t, values in all_of_it if end_ns - window_ns <= t <= end_ns]
                    values = [value for _, value in inside]
                    assert recording.mean(series, name, window_ns) == Fraction(sum(values), len(values))
                    assert recording.most(series, name, window_ns) == max(values)
                    if len(inside) < 2:
                        assert recording.rate(series, name, window_ns) is None
                        assert recording.growth(series, name, window_ns) is None
                        assert recording.slope(series, name, window_ns) is None
                        continue
                    span_s = Fraction(inside[-1][0] - inside[0][0], S)
                    grown = 0
                    for k in range(1, len(values)):
                        grown += values[k] if values[k] < values[k - 1] else values[k] - values[k - 1]
                    assert recording.rate(series, name, window_ns) == grown / span_s
                    assert recording.growth(series, name, window_ns) == (values[-1] - values[0]) / span_s
                    mean_t, mean_v = Fraction(sum(t for t, _ in inside), len(inside)), Fraction(sum(values), len(inside))
                    square = sum((t - mean_t) ** 2 for t, _ in inside)
                    steep = sum((t - mean_t) * (v - mean_v) for t, v in inside) / square * S
                    assert recording.slope(series, name, window_ns) == steep


def test_a_steady_counter_has_its_true_rate() -> None:
    """Also right after a start, when the window is not full yet, and between two scrapes."""
    recording = Recording(GRAPH, {"source": 1, "map": 1}, 60 * S)
    recording.start("source", 0, 0)
    for k in range(1, 20):
        recording.scrape(k * 5 * S, {("source", 0): row(records_in=700 * k, pending=3)}, {"source": 1000 * k})
        if k > 1:
            (series,) = recording.instances("source")
            assert recording.rate(series, "records_in", 15 * S) == 140
            assert recording.topic_rate("source", 15 * S) == 200
    assert recording.pending("source") == 3


def test_the_samples_of_the_specification() -> None:
    recording = Recording(GRAPH, {"source": 1, "map": 1}, 60 * S)
    recording.start("source", 0, 0)
    for k, pending in enumerate((100, 60, 50)):
        recording.scrape(k * 15 * S // 2, {("source", 0): row(pending=pending)}, {"source": 0})
    (series,) = recording.instances("source")
    assert recording.rate(series, "pending", 15 * S) == Fraction(110, 15)
    assert recording.growth(series, "pending", 15 * S) == Fraction(-50, 15)


def test_an_instance_that_starts_anew_is_another_one() -> None:
    recording = Recording(GRAPH, {"source": 1, "map": 1}, 60 * S)
    recording.start("map", 0, 0)
    recording.scrape(5 * S, {("map", 0): row(records_in=500)}, {})
    (before,) = recording.instances("map")
    recording.end("map", 0)
    assert recording.instances("map") == []
    recording.start("map", 0, 40 * S)
    assert recording.instances("map") == [], "not scraped yet"
    recording.scrape(45 * S, {("map", 0): row(records_in=3)}, {})
    assert recording.instances("map") == [Series("map", 0, 40 * S)]
    with pytest.raises(ValueError, match="use its new series"):
        recording.last(before, "records_in")
