"""Lessons on what the schedulers of hosts tell one another.

What this catches: costs that go downstream, progress that goes upstream, slack that knows more than was told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.lessons import Explained, LessonFiles, examine_lesson, explained

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")


def told(case: int) -> Explained:
    lesson = FILES.lesson("klink-3.2")
    return explained(lesson, lesson.cases[case])


def rows(one: Explained, cycle: int) -> dict[tuple[str, str], tuple[str, ...]]:
    """By host and query: what waits here and downstream, when the watermark is due, how old that is, slack."""
    table = one.steps[cycle].table
    assert table is not None
    return {(host, query): tuple(rest) for host, query, *rest in table.rows}


def test_figure_3_2() -> None:
    """K-3.2: A is told costs alone and B progress alone, each in one message in each cycle."""
    one = told(0)
    names = [arrow.name for arrow in one.diagram.messages]
    assert names == [f"{ends} at {s} s, {what}" for s in range(4) for ends, what in (("A to B", "progress"), ("B to A", "cost"))]
    assert rows(one, 1)["A", "Q"] == ("1 s", "–", "9 s", "own", "9 s")
    assert rows(one, 1)["B", "Q"] == ("4 s", "–", "not known", "–", "not known")
    assert rows(one, 2)["A", "Q"] == ("1 s", "4 s", "8 s", "own", "4 s")
    assert rows(one, 2)["B", "Q"] == ("4 s", "–", "8 s", "1 s", "5 s")
    assert rows(one, 2)["B", "P"] == ("2 s", "–", "7 s", "own", "6 s")
    assert [step.verdict for step in one.steps] == ["", "bad", "good", "good", "good"]


def test_without_forwarding_each_host_knows_itself_alone() -> None:
    one = told(1)
    assert not one.diagram.messages
    for cycle in range(1, 5):
        assert rows(one, cycle)["A", "Q"][1] == "–"
        assert rows(one, cycle)["B", "Q"][-1] == "not known"


def test_over_a_slow_network_news_is_old() -> None:
    one = told(2)
    assert [rows(one, cycle)["B", "Q"][3] for cycle in range(1, 5)] == ["–", "–", "2 s", "2 s"]
    first = one.diagram.messages[0]
    assert (first.sent_act, first.arrives_act, first.arrives_at) == (1, 2, 1.5)


def document(**changes: Any) -> dict[str, Any]:
    part = {"operators": ["O"], "waiting_s": 1}
    query = {"name": "Q", "due_s": 20, "parts": [{"host": host} | part for host in ("A", "B", "C")]}
    made = {"kind": "forwarding", "title": "T", "text": "T", "hosts": ["A", "B", "C"], "queries": [query], "cases": [{"name": "c"}]}
    return made | changes


def test_what_is_heard_is_relayed() -> None:
    lesson, problems = examine_lesson(document(cycles=4))
    assert lesson is not None, problems
    one = explained(lesson, lesson.cases[0])
    assert [rows(one, cycle)["C", "Q"][3] for cycle in range(1, 5)] == ["–", "–", "2 s", "2 s"]
    assert [rows(one, cycle)["A", "Q"][1] for cycle in range(1, 5)] == ["–", "1 s", "2.1 s", "2.2 s"]
    assert {arrow.name.split(" at ")[0] for arrow in one.diagram.messages} == {"A to B", "B to A", "B to C", "C to B"}


ON_A = {"host": "A", "operators": ["O"], "waiting_s": 1}


@pytest.mark.parametrize(
    ("changes", "at", "code"),
    [
        ({"hosts": ["A"]}, "/hosts", "too_short"),
        ({"hosts": ["A", "B", "B"]}, "/hosts/2", "twice"),
        ({"hosts": ["A", "B", "D"]}, "/queries/0/parts/2/host", "unknown"),
        (
            {"queries": [{"name": "Q", "due_s": 1, "parts": [ON_A, ON_A]}]},
            "/queries/0/parts/1/host",
            "twice",
        ),
        (
            {"queries": [{"name": "Q", "due_s": 0, "parts": [ON_A]}]},
            "/queries/0/due_s",
            "out_of_range",
        ),
        ({"cycle_s": 0}, "/cycle_s", "out_of_range"),
    ],
)
def test_lessons_that_cannot_be(changes: dict[str, Any], at: str, code: str) -> None:
    lesson, problems = examine_lesson(document() | changes)
    assert lesson is None
    assert (problems[0].pointer, problems[0].code) == (at, code), problems
