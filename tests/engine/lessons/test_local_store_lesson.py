"""The lesson on a local store and its changelog.

What this catches: a text, table or mark that says something else than the store; a story whose end does not follow from the rules; a loss
where none can be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.lessons import LessonFiles, examine_lesson, explained
from engine.lessons.local_store import CACHE, DISK, LOG, MEMORY, Play
from engine.lessons.local_store_document import StoreAct, StoreLesson

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
ID = "chronarakis-3.3"


@pytest.mark.parametrize(
    ("case", "verdict", "ends"),
    [
        (0, "", "The cache writes out w1 gone. The tree flushes w2=2 and w1 gone to disk."),
        (1, "", "The cache writes out w1.4 gone. The tree flushes w1.1 gone, w1.2 gone, w1.3 gone and w1.4 gone to disk."),
        (2, "good", "The store then has 2 of w1 and 1 of w2. Without a crash it would have 2 of w1 and 1 of w2."),
        (3, "bad", "1 of w1 counts twice"),
        (4, "bad", "1 of w1 is lost"),
    ],
)
def test_how_each_story_ends(case: int, verdict: str, ends: str) -> None:
    lesson = FILES.lesson(ID)
    one = explained(lesson, lesson.cases[case])
    assert one.steps[-1].verdict == verdict
    assert ends in one.steps[-1].text


def document(acts: list[dict[str, Any]], batch: int = 3, **about: Any) -> dict[str, Any]:
    head = {"kind": "local_store", "title": "t", "text": "t", "batch": batch}
    return head | {"cases": [{"name": "c", "acts": acts, **about}]}


ACTS = st.lists(
    st.one_of(
        st.builds(lambda window: {"add": window}, st.sampled_from(["a", "b"])),
        st.builds(lambda window: {"keep": window}, st.sampled_from(["p", "q"])),
        st.builds(lambda window: {"close": window}, st.sampled_from(["a", "p"])),
        st.just({"commit": True}),
        st.builds(lambda what: {"crash": what}, st.sampled_from(["process", "disk"])),
    ),
    min_size=1,
    max_size=14,
).map(lambda acts: [one for act in acts for one in ([act, {"replay": True}] if "crash" in act else [act])])
"""The input is replayed after each crash."""


def carry_out(play: Play, about: StoreAct, act: int) -> None:
    if about.commit:
        play.commit(act, only_first=False)
    elif about.crash:
        play.crash(act, about.crash == "disk")
    elif about.replay:
        play.replay(act)
    else:
        play.process(about, act)


@example([{"add": "a"}, {"commit": True}] * 3 + [{"close": "a"}] + [{"commit": True}] * 2, 1)  # four runs are merged
@given(ACTS, st.integers(1, 4))
def test_marks_and_tables_are_those_of_the_store(acts: list[dict[str, Any]], batch: int) -> None:
    lesson = StoreLesson.model_validate(document(acts, batch))
    case = lesson.cases[0]
    told = explained(lesson, case)
    for act in range(1, len(acts) + 1):
        play = Play(lesson, case)
        for n, about in enumerate(case.acts[:act], 1):
            carry_out(play, about, n)
        step = told.steps[act]
        shown = [mark for mark in told.diagram.checkpoints if mark.act <= act and mark.id not in step.discarded]
        store = play.store
        assert sum(mark.instance == LOG for mark in shown) == store.log.end
        newest = {mark.name for mark in shown if mark.instance == DISK and mark.id not in step.useless}
        runs = {play.named(*entry) for entry in _entries(play)}
        assert newest <= runs
        in_cache = {play.named(*entry[:3]) for entry in store.cache.entries()}
        assert in_cache == {mark.name for mark in shown if mark.instance == CACHE and mark.id not in step.useless}
        assert sum(mark.instance == MEMORY for mark in shown) >= len(play._in_memory())
        assert step.table is not None
        assert step.table.rows[1][1] == (", ".join(play.named(*record) for record in play._log_from(0)) or "–")


def _entries(play: Play) -> list[tuple[int, int, bool]]:
    runs = [run.entries for level in play.store.tree.levels for run in level]
    return [row for run in runs for row in zip(run.keys.tolist(), run.values.tolist(), run.is_tombstone.tolist(), strict=True)]


@given(ACTS, st.sampled_from(["flush_then_position", "position_then_flush"]))
def test_nothing_is_lost_by_a_crash_that_cuts_no_commit(acts: list[dict[str, Any]], order: str) -> None:
    acts = [*(act for act in acts if "close" not in act), {"crash": "disk"}, {"replay": True}]
    lesson = StoreLesson.model_validate(document(acts, commit_order=order))
    play = Play(lesson, lesson.cases[0])
    for act, about in enumerate(lesson.cases[0].acts, 1):
        carry_out(play, about, act)
    assert not play.truth - play.counts()


@pytest.mark.parametrize(
    ("acts", "about", "says"),
    [
        ([{}], {}, "an act needs exactly one verb of add, keep, close, commit, crash, replay; this one has none of them"),
        ([{"add": "a", "keep": "a"}], {}, "this one has both add and keep"),
        ([{"add": "1"}], {}, "/cases/0/acts/0/add"),
        ([{"crash": "host"}], {}, "/cases/0/acts/0/crash"),
        ([{"crash": "disk"}, {"add": "a"}], {}, "add follows a crash"),
        ([{"add": "a"}, {"commit": True}], {"crash_in_commit": True}, "no crash comes right after a commit"),
        ([], {}, "/cases/0/acts"),
    ],
)
def test_wrong_lessons_are_refused(acts: list[dict[str, Any]], about: dict[str, Any], says: str) -> None:
    lesson, problems = examine_lesson(document(acts, **about))
    assert lesson is None
    assert any(says in f"{problem.pointer} {problem.message}" for problem in problems), problems
