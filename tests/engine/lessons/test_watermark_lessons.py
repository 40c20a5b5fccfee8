"""Lessons on watermarks: which ones sweep, which windows fire, for which input a join waits.

What this catches: a story that the engine would not play, a late event that is kept, a window that fires before all inputs have reached it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.lessons import Explained, LessonFiles, examine_lesson, explained

from ...support.agreement import traced
from ...support.written_logs import SECOND, Entry, figure_2_2, fired, write_logs

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")


def told(id: str, case: int) -> Explained:
    lesson = FILES.lesson(id)
    return explained(lesson, lesson.cases[case])


def titles(one: Explained) -> list[str]:
    return [step.title for step in one.steps]


def firings(one: Explained) -> list[tuple[int, str]]:
    """Act and window of each firing."""
    return [(mark.act, one.diagram.instances[mark.instance]) for mark in one.diagram.checkpoints if mark.kind == "result"]


def sweeping(one: Explained) -> list[str]:
    rows = one.diagram.instances
    return [mark.name for mark in one.diagram.checkpoints if mark.kind == "sweeping" and rows[mark.instance] != "output"]


def test_figure_2_2() -> None:
    """K-2.2: 3 fires the first window with event 2 alone, 5 none, 7 the second one."""
    one = told("klink-2.2", 0)
    assert titles(one)[1:-1] == [
        "Watermark 1 is progress",
        "Event 2",
        "Event 4",
        "Watermark 3 sweeps, and (0, 3] fires",
        "Event 6",
        "Watermark 5 is progress",
        "Watermark 7 sweeps, and (3, 6] fires",
    ]
    assert one.steps[4].text == "It is the first to reach 3. Window (0, 3] fires with event 2."
    assert one.steps[7].text.endswith("Window (3, 6] fires with events 4 and 6.")
    assert sweeping(one) == ["W3", "W7"]


def test_a_watermark_that_overtakes_another_sweeps_in_its_place() -> None:
    one = told("klink-2.2", 1)
    assert sweeping(one) == ["W5", "W7"]
    assert titles(one)[6] == "Watermark 3 says nothing new"
    assert firings(one) == [(4, "(0, 3]"), (7, "(3, 6]")]


def test_a_late_event_is_dropped() -> None:
    one = told("klink-2.2", 2)
    (late,) = [step for step in one.steps if step.verdict == "bad"]
    assert late.title == "Event 2 is late"
    assert {step.useless for step in one.steps[one.steps.index(late) :]} == {late.useless}, "it stays marked"
    assert [arrow.name for arrow in one.diagram.messages if arrow.kind == "record"] == ["event 2, 4", "event 5, 6"]


def test_figure_3_1() -> None:
    """The join's clock is the least of its inputs': 3 of the upper input fires the second window only."""
    one = told("klink-3.1", 0)
    fires = {one.steps[act].title: window for act, window in firings(one)}
    assert fires == {
        "Watermark 1 of bottom sweeps, and [0, 1) fires": "[0, 1)",
        "Watermark 3 of top sweeps, and [1, 2) fires": "[1, 2)",
        "Watermark 4 of bottom sweeps, and [2, 3) fires": "[2, 3)",
    }
    output = len(one.diagram.instances) - 1
    assert [mark.name for mark in one.diagram.checkpoints if mark.instance == output] == ["W1", "W2", "W3"]
    waits = one.steps[titles(one).index("Watermark 2 of bottom sweeps")]
    assert waits.text.endswith("Window [1, 2) still waits for top: the clock is the least watermark of the inputs, 1.")
    assert waits.table is not None
    assert waits.table.rows == (("top", "1", "2"), ("bottom", "2", "3"), ("the operator", "1", "2"))
    assert not firings(told("klink-3.1", 1))


def document(arrivals: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    made = {"kind": "windows", "title": "T", "text": "T", "inputs": ["stream"], "size": 3, "includes": "end"}
    return made | {"cases": [{"name": "c", "arrivals": arrivals}]} | changes


def played(arrivals: list[dict[str, Any]], **changes: Any) -> Explained:
    lesson, problems = examine_lesson(document(arrivals, **changes))
    assert lesson is not None, problems
    return explained(lesson, lesson.cases[0])


@settings(max_examples=8)
@given(st.lists(st.tuples(st.sampled_from("eW"), st.integers(1, 10)), min_size=1, max_size=12))
def test_the_engine_fires_the_same_windows(entries: list[Entry]) -> None:
    """The same entries in a log of the engine: the same windows at the same entries, and the same late events."""
    with pytest.MonkeyPatch.context() as patch:
        write_logs(patch, {"source": entries})
        simulation = traced(figure_2_2())
    one = played([{"event" if kind == "e" else "watermark": value} for kind, value in entries])
    with_events = [(act, window) for act, window in firings(one) if f"{window} fires with" in one.steps[act].text]
    assert [(act, f"({end - 3}, {end}]") for act, end, _ in fired(simulation)] == with_events
    late = [int(step.title.split()[1]) for step in one.steps if step.verdict == "bad"]
    assert [r["event_ns"] // SECOND for r in simulation.sink_records("late")] == late


arrivals_of_three = st.lists(
    st.tuples(st.sampled_from(("a", "b", "c")), st.sampled_from(("event", "watermark")), st.integers(0, 12)), min_size=1, max_size=30
)


@given(arrivals=arrivals_of_three, size=st.integers(1, 5))
def test_windows_fire_once_in_order_when_all_inputs_have_reached_them(arrivals: list[tuple[str, str, int]], size: int) -> None:
    inputs = ["a", "b", "c"]
    one = played([{"input": name, kind: value} for name, kind, value in arrivals], inputs=inputs, size=size, includes="start")
    last, expected, dropped = dict.fromkeys(inputs, 0), [], 0
    done = 0
    for act, (name, kind, value) in enumerate(arrivals, 1):
        if kind == "event":
            dropped += (value // size + 1) * size <= done
            continue
        last[name] = max(last[name], value)
        while done + size <= min(last.values()):
            expected.append((act, f"[{done}, {done + size})"))
            done += size
    assert firings(one) == expected
    assert sum(step.verdict == "bad" for step in one.steps) == dropped
    clocks = [int(mark.name[1:]) for mark in one.diagram.checkpoints if one.diagram.instances[mark.instance] == "output"]
    assert clocks == sorted(set(clocks))
    assert all(bar.at < bar.until for bar in one.diagram.bars)


@pytest.mark.parametrize(
    ("changes", "at", "code"),
    [
        ({"inputs": ["a", "a"]}, "/inputs/1", "twice"),
        ({"inputs": ["a", "b"]}, "/cases/0/arrivals/0/input", "missing"),
        ({"size": 0}, "/size", "out_of_range"),
        ({"cases": [{"name": "c", "arrivals": []}]}, "/cases/0/arrivals", "too_short"),
        ({"cases": [{"name": "c", "arrivals": [{"event": 1, "watermark": 1}]}]}, "/cases/0/arrivals/0", "no_arrival"),
        ({"cases": [{"name": "c", "arrivals": [{}]}]}, "/cases/0/arrivals/0", "no_arrival"),
        ({"cases": [{"name": "c", "arrivals": [{"event": 0}]}]}, "/cases/0/arrivals/0/event", "out_of_range"),
        ({"cases": [{"name": "c", "arrivals": [{"event": 1, "input": "strem"}]}]}, "/cases/0/arrivals/0/input", "unknown"),
    ],
)
def test_lessons_that_cannot_be(changes: dict[str, Any], at: str, code: str) -> None:
    lesson, problems = examine_lesson(document([{"event": 1}]) | changes)
    assert lesson is None
    assert (problems[0].pointer, problems[0].code) == (at, code), problems
