"""The lesson on a changelog and its cleaner.

What this catches: a text, table or mark that says something else than the log; a removed record that is still shown; a story whose end does
not follow from the rules.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import LessonFiles, examine_lesson, explained
from engine.lessons.changelog import Play
from engine.lessons.changelog_document import ChangelogLesson

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
ID = "chronarakis-compaction"


@pytest.mark.parametrize(
    ("case", "verdict", "ends"),
    [
        (0, "good", "It has w1=10 and w2=9, and the task w1=10 and w2=9."),
        (1, "good", "It reads a gone, b gone, c gone, d gone, e gone, f=13 and g=14."),
        (2, "good", "It reads d gone, e gone, f=13 and g=14."),
        (3, "bad", "a came back: its tombstone had gone before this store read it."),
    ],
)
def test_how_each_story_ends(case: int, verdict: str, ends: str) -> None:
    lesson = FILES.lesson(ID)
    one = explained(lesson, lesson.cases[case])
    assert one.steps[-1].verdict == verdict
    assert ends in one.steps[-1].text


def document(acts: list[dict[str, Any]], **about: Any) -> dict[str, Any]:
    head = {"kind": "changelog", "title": "t", "text": "t", "segment_s": 2, "dirty_share": 0.3}
    return head | {"cases": [{"name": "c", "acts": acts, **about}]}


ACTS = st.lists(
    st.one_of(
        st.builds(lambda key: {"put": key}, st.sampled_from("abc")),
        st.builds(lambda key: {"delete": key}, st.sampled_from("abc")),
        st.just({"clean": True}),
        st.just({"read": True}),
    ),
    min_size=1,
    max_size=40,
)


@given(ACTS, st.sampled_from(["merged_segment_mtime", "per_record_horizon"]), st.integers(0, 9))
def test_marks_and_tables_are_those_of_the_log(acts: list[dict[str, Any]], tombstone_rule: str, retention_s: int) -> None:
    lesson = ChangelogLesson.model_validate(document(acts, tombstone_rule=tombstone_rule, retention_s=retention_s))
    case = lesson.cases[0]
    told = explained(lesson, case)
    play = Play(lesson, case)
    for act, about in enumerate(case.acts, 1):
        if about.put or about.delete:
            play.write(about.put or about.delete or "", act if about.put else None, act)
        elif about.clean and play.log.is_due:
            play.clean(act)
        step = told.steps[act]
        left = play.log.read().offsets.tolist()
        shown = [mark for mark in told.diagram.checkpoints if mark.act <= act and mark.id not in step.discarded]
        assert sorted(mark.index for mark in shown) == left
        newest = {one.key: offset for offset, one in enumerate(play.written)}
        superseded = {offset for offset in left if newest[play.written[offset].key] > offset}
        assert {mark.index for mark in shown if mark.id in step.useless} == superseded
        assert step.table is not None
        assert sum(int(row[1]) for row in step.table.rows) == len(left)
        assert sum(int(row[4]) for row in step.table.rows) == len(superseded)
        bars = [bar for bar in told.diagram.bars if bar.act <= act and (bar.until_act is None or bar.until_act > act)]
        assert len(bars) == len(play.log.clean) + len(play.log.dirty) + (play.active > 0)


@pytest.mark.parametrize(
    ("acts", "says"),
    [
        ([{}], "an act needs exactly one verb of put, delete, clean, read; this one has none of them"),
        ([{"put": "a", "delete": "a"}], "this one has both put and delete"),
        ([{"put": "1"}], "/cases/0/acts/0/put"),
        ([], "/cases/0/acts"),
    ],
)
def test_wrong_lessons_are_refused(acts: list[dict[str, Any]], says: str) -> None:
    lesson, problems = examine_lesson(document(acts))
    assert lesson is None
    assert any(says in f"{problem.pointer} {problem.message}" for problem in problems), problems
