"""The lesson on joins of several streams.

What this catches: a way that misses a group or gives it twice; a step that comes before its input; a buffer that keeps what has matched.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import LessonFiles, examine_lesson, explained
from engine.lessons.multi_join_document import MultiJoinLesson

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
STREAMS = ["A", "B", "C", "D"]


def document(acts: list[tuple[str, str]], streams: list[str] = STREAMS) -> dict[str, Any]:
    cases = [{"name": way, "way": way} for way in ("all_in_one", "step_by_step")]
    told = [{"stream": stream, "group": group} for stream, group in acts]
    return {"kind": "multi_join", "title": "t", "text": "t", "streams": streams, "acts": told, "cases": cases}


@pytest.mark.parametrize(
    ("case", "ends"),
    [
        (
            0,
            "2 of 3 groups have their result, 3.5 and 4.5 acts after their first records. The buffers have kept up to 3 records at once",
        ),
        (
            1,
            "2 of 3 groups have their result, 3.5 and 5 acts after their first records. The buffers have kept up to 3 records at once",
        ),
    ],
)
def test_how_each_story_ends(case: int, ends: str) -> None:
    lesson = FILES.lesson("chronarakis-5.2")
    assert explained(lesson, lesson.cases[case]).steps[-1].text.startswith(ends)


@given(st.permutations([(stream, group) for stream in STREAMS for group in ("x", "y", "z")]), st.integers(1, 12))
def test_both_ways_find_the_same_groups_and_keep_the_rest(acts: list[tuple[str, str]], count: int) -> None:
    lesson = MultiJoinLesson.model_validate(document(acts[:count]))
    whole = {group for group in "xyz" if all((stream, group) in acts[:count] for stream in STREAMS)}
    found = []
    for case in lesson.cases:
        told = explained(lesson, case)
        results = [mark for mark in told.diagram.checkpoints if mark.kind == "result"]
        assert sorted(mark.name for mark in results) == sorted(whole)
        assert told.steps[-1].table is not None
        kept = sum(int(row[3]) for row in told.steps[-1].table.rows)
        assert kept == count - len(STREAMS) * len(whole)
        for arrow in told.diagram.messages:
            assert arrow.arrives_at is not None
            assert any(mark.instance == arrow.receiver and mark.at == arrow.arrives_at for mark in told.diagram.checkpoints)
        found.append({mark.name: mark.at for mark in results})
    one, steps = found
    assert all(0 <= steps[group] - one[group] <= 1 for group in one)  # two topics more at most


def test_step_by_step_takes_as_many_topics_as_there_are_steps_behind_the_last_record() -> None:
    lesson = MultiJoinLesson.model_validate(document([("B", "x"), ("C", "x"), ("D", "x"), ("A", "x")]))
    one, steps = (explained(lesson, case).diagram for case in lesson.cases)
    (first,), (second,) = ([mark.at for mark in diagram.checkpoints if mark.kind == "result"] for diagram in (one, steps))
    assert (first, second) == (4.5, 5.5)
    assert [arrow.name for arrow in steps.messages] == ["A+B of x", "A+B+C of x", "A+B+C+D of x"]


@pytest.mark.parametrize(
    ("acts", "streams", "says"),
    [
        ([("E", "x")], STREAMS, "there is no stream 'E'"),
        ([("A", "x"), ("A", "x")], STREAMS, "group 'x' has a record of 'A' already"),
        ([("A", "x")], ["A", "A"], "stream 'A' occurs twice"),
        ([("A", "x")], ["A"], "/streams"),
        ([], STREAMS, "/acts"),
    ],
)
def test_wrong_lessons_are_refused(acts: list[tuple[str, str]], streams: list[str], says: str) -> None:
    lesson, problems = examine_lesson(document(acts, streams))
    assert lesson is None
    assert any(says in f"{problem.pointer} {problem.message}" for problem in problems), problems
