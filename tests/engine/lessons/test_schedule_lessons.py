"""Lessons on scheduling: queries on one core, ordered by the engine's own policies.

What this catches: a schedule that is not the policy's, a result that comes before its watermark or its events, documents that cannot be and
are told all the same.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import Explained, LessonFiles, examine_lesson, explained
from engine.spec.experiment.scheduling import SCHEDULINGS
from engine.spec.experiment.scheduling.base import Scheduling

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
RANKING = [kind.model_fields["kind"].default for kind in SCHEDULINGS.kinds if issubclass(kind, Scheduling)]


def told(id: str, case: int) -> Explained:
    lesson = FILES.lesson(id)
    return explained(lesson, lesson.cases[case])


def served(one: Explained) -> str:
    return " ".join(one.diagram.instances[bar.instance] for bar in sorted(one.diagram.bars, key=lambda bar: bar.at))


def results_s(one: Explained) -> list[float]:
    return [mark.at for mark in one.diagram.checkpoints if mark.kind == "result"]


def test_figure_1_1() -> None:
    """K-1.1: the exact schedules, two seconds late in the mean and one."""
    first, slack = told("klink-1.1", 0), told("klink-1.1", 1)
    assert served(first) == "W1 W2 W2 W1 W2 W1 W1 W2 W1"
    assert served(slack) == "W2 W2 W1 W1 W2 W2 W1 W1 W1"
    assert (results_s(first), results_s(slack)) == ([9, 8], [9, 6])
    assert [one.steps[-1].text.partition("That is ")[2] for one in (first, slack)] == ["2 s in the mean.", "1 s in the mean."]
    table = slack.steps[1].table
    assert table is not None
    assert table.columns == ("Query", "Events", "Slack", "Cost", "Watermark in", "± σ")
    assert table.rows == (("W2", "4", "4 s", "4 s", "6 s", "0 s"), ("W1", "5", "4 s", "5 s", "7 s", "0 s"))


def test_who_knows_deadlines_alone_holds_the_core_for_the_wrong_query() -> None:
    earliest, least = told("klink-slack", 0), told("klink-slack", 1)
    assert [step.title for step in earliest.steps] == ["All events wait", "A runs", "The core idles", *["B runs"] * 3, "The results"]
    assert served(least) == "B B B A"
    assert [one.steps[-1].verdict for one in (earliest, least)] == ["bad", "good"]
    assert (results_s(earliest), results_s(least)) == ([10, 13.1], [10, 10.5])


def document(**policy: Any) -> dict[str, Any]:
    return {
        "kind": "schedule",
        "title": "T",
        "text": "T",
        "queries": [{"name": "A", "deadline_s": 3, "events_s": [0, 1]}, {"name": "B", "deadline_s": 2, "events_s": [0]}],
        "cases": [{"name": "c", "policy": {"kind": "klink", "cycle_ms": 1000} | policy}],
    }


@pytest.mark.parametrize(
    ("changes", "at", "code"),
    [
        ({"kind": "histories"}, "/kind", "unknown_kind"),
        ({"queries": []}, "/queries", "too_short"),
        ({"queries": [{"name": "A", "deadline_s": 1, "events_s": [0]}] * 2}, "/queries/1/name", "twice"),
        ({"queries": [{"name": "A", "deadline_s": 0, "events_s": [0]}]}, "/queries/0/deadline_s", "out_of_range"),
        ({"cases": [{"name": "c", "policy": {"kind": "default"}}]}, "/cases/0/policy/kind", "no_order"),
        ({"cases": [{"name": "c", "policy": {"kind": "klinck"}}]}, "/cases/0/policy/kind", "unknown_kind"),
        ({"cases": [{"name": "c", "policy": {"kind": "streambox", "cycle_ms": 1}}]}, "/cases/0/policy/cycle_ms", "too_long"),
    ],
)
def test_lessons_that_cannot_be(changes: dict[str, Any], at: str, code: str) -> None:
    lesson, problems = examine_lesson(document() | changes)
    assert lesson is None
    assert (problems[0].pointer, problems[0].code) == (at, code), problems


@given(
    queries=st.lists(
        st.tuples(st.integers(1, 12), st.lists(st.integers(0, 9), min_size=1, max_size=5).map(sorted), st.sampled_from((0.5, 1.0, 2.0))),
        min_size=1,
        max_size=4,
    ),
    kind=st.sampled_from([kind for kind in RANKING if kind != "switched"]),
    cycle_ms=st.sampled_from((500, 1000, 3000)),
)
def test_every_policy_serves_everything_once(queries: list[tuple[int, list[int], float]], kind: str, cycle_ms: int) -> None:
    made = document(kind=kind, cycle_ms=cycle_ms) | {
        "queries": [
            {"name": f"Q{n}", "deadline_s": deadline_s, "events_s": events_s, "cost_s": cost_s}
            for n, (deadline_s, events_s, cost_s) in enumerate(queries)
        ]
    }
    lesson, problems = examine_lesson(made)
    assert lesson is not None, problems
    one = explained(lesson, lesson.cases[0])
    bars = sorted(one.diagram.bars, key=lambda bar: bar.at)
    assert all(before.until <= after.at for before, after in pairwise(bars))
    for q, (deadline_s, events_s, _) in enumerate(queries):
        own = [bar for bar in bars if bar.instance == q]
        assert len(own) == len(events_s)
        assert results_s(one)[q] == max(deadline_s, own[-1].until)
    if kind != "streambox":
        assert sum(bar.until - bar.at for bar in bars) == pytest.approx(bars[-1].until)
