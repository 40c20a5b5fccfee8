"""The lesson on continuous eventual checkpointing.

What this catches: a text, table or mark that says something else than the log; a recovery whose end is not that without a crash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import LessonFiles, examine_lesson, explained
from engine.lessons.output_log_document import OutputLogLesson

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
ID = "chronarakis-3.4"


@pytest.mark.parametrize(
    ("case", "reads", "ends"),
    [
        (0, "4 records. It has a=0 and c=0, of which a and c lag behind. The input goes on behind position 0", "7 acts of the input are"),
        (1, "2 records. It has a=3 and c=2, of which a lags behind. The input goes on behind position 8", "1 act of the input is"),
        (2, "4 records. It has a=1 and e=0, of which a and e lag behind. The input goes on behind position 5", "4 acts of the input are"),
    ],
)
def test_how_each_story_ends(case: int, reads: str, ends: str) -> None:
    lesson = FILES.lesson(ID)
    one = explained(lesson, lesson.cases[case])
    assert reads in one.steps[-2].text
    assert one.steps[-1].text.startswith(ends)
    assert one.steps[-1].verdict == "good"


def document(acts: list[dict[str, Any]], **about: Any) -> dict[str, Any]:
    head = {"kind": "output_log", "title": "t", "text": "t"}
    return head | {"cases": [{"name": "c", "acts": acts, **about}]}


@st.composite
def acts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tuples of up to four windows at a time, which close and make room for others, with crashes."""
    open_windows, number, found = ["w0"], 1, [{"tuple": "w0"}]
    for what in draw(st.lists(st.sampled_from(["tuple", "tuple", "open", "close", "crash"]), max_size=14)):
        if what == "tuple" and open_windows:
            found.append({"tuple": draw(st.sampled_from(open_windows))})
        elif what == "open" and len(open_windows) < 4:
            open_windows.append(f"w{number}")
            found.append({"tuple": f"w{number}"})
            number += 1
        elif what == "close" and open_windows:
            found.append({"close": open_windows.pop(draw(st.integers(0, len(open_windows) - 1)))})
        elif what == "crash":
            found += [{"crash": True}, {"replay": True}]
    return found


@given(acts(), st.sampled_from([None, 4, 6]), st.sampled_from([None, 1, 3]))
def test_bounds_hold_and_a_crash_changes_nothing(given: list[dict[str, Any]], records_max: int | None, replay_max: int | None) -> None:
    lesson = OutputLogLesson.model_validate(document(given, records_max=records_max, replay_max=replay_max))
    told = explained(lesson, lesson.cases[0])
    for act, step in enumerate(told.steps):
        if act > 0 and given[act - 1].get("replay"):
            assert step.verdict == "good", step.text
        assert step.table is not None or act == 0
        shown = [mark for mark in told.diagram.checkpoints if mark.act <= act]
        bars = [bar for bar in told.diagram.bars if bar.act == act]
        newest = [mark.index for mark in shown if mark.id not in step.useless and mark.kind != "result"]
        if act > 0 and not given[act - 1].get("crash"):
            assert len(bars) == (len(newest) > 0)
            for bar in bars:
                assert round(bar.at + 0.4) == min(newest)
                assert records_max is None or len(shown) - min(newest) <= records_max
            assert step.table is not None
            assert len(step.table.rows) == len(newest)
            assert replay_max is None or all(int(row[4]) <= replay_max for row in step.table.rows)


@pytest.mark.parametrize(
    ("acts", "about", "says"),
    [
        ([{}], {}, "an act needs exactly one verb of tuple, close, crash, replay; this one has none of them"),
        ([{"tuple": "a", "crash": True}], {}, "this one has both tuple and crash"),
        ([{"close": "a"}], {}, "window 'a' is not open here"),
        ([{"tuple": "a"}, {"close": "a"}, {"tuple": "a"}], {}, "window 'a' has closed already"),
        ([{"tuple": "a"}, {"crash": True}, {"tuple": "a"}], {}, "tuple follows a crash"),
        ([{"tuple": "a"}, {"tuple": "b"}], {"records_max": 1}, "records_max is 1, but 2 windows are open here"),
        ([{"tuple": "a"}], {"replay_max": 0}, "/cases/0/replay_max"),
        ([], {}, "/cases/0/acts"),
    ],
)
def test_wrong_lessons_are_refused(acts: list[dict[str, Any]], about: dict[str, Any], says: str) -> None:
    lesson, problems = examine_lesson(document(acts, **about))
    assert lesson is None
    assert any(says in f"{problem.pointer} {problem.message}" for problem in problems), problems
