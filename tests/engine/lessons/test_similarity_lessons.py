"""Lessons on similarity joins and on the balancing of worksets.

What this catches: roles, copies, comparisons or pairs that are not those of the operators; plans that are not the balancer's.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import Explained, LessonFiles, examine_lesson, explained
from engine.lessons.similarity import Play, true_pairs
from engine.lessons.similarity_document import SimilarityLesson
from engine.spec import Experiment, RecordSchema
from tests.oracle.records import Record
from tests.oracle.similarity import SIMILARITY, Member

from ...support.similarity_examples import worksets

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
SPACES = 4


def told(id: str, case: int) -> Explained:
    lesson = FILES.lesson(id)
    return explained(lesson, lesson.cases[case])


def table(one: Explained) -> dict[str, tuple[str, ...]]:
    """By workset: inner records, outliers, outer ones, comparisons."""
    last = one.steps[-1].table
    assert last is not None
    return {name: tuple(rest) for name, *rest in last.rows}


def test_figure_2_2a() -> None:
    assert table(told("s3j-2.2a", 0)) == {"0.1": ("a, b, c, e", "d", "–", "3")}
    assert table(told("s3j-2.2a", 1)) == {"0.1": ("a", "d", "b, c", "3"), "0.2": ("b, c", "–", "–", "0")}


@pytest.mark.parametrize(
    ("id", "case", "ends"),
    [
        ("s3j-2.2b", 0, "Pairs within the threshold: 2. Pairs found: 2, with comparisons: 2."),
        ("s3j-2.2b", 1, "Pairs within the threshold: 2. Pairs found: 4, with comparisons: 4. Found more than once: a with b, c with d."),
        ("s3j-2.2b", 2, "Pairs within the threshold: 2. Pairs found: 1, with comparisons: 0. Missing: a with b."),
        ("s3j-2.3", 0, "Pairs within the threshold: 2. Pairs found: 2, with comparisons: 2."),
        ("s3j-2.3", 1, "Pairs within the threshold: 2. Pairs found: 0, with comparisons: 0. Missing: a with b, c with b."),
    ],
)
def test_what_the_rules_are_for(id: str, case: int, ends: str) -> None:
    last = told(id, case).steps[-1]
    assert last.text == ends
    assert last.verdict == ("bad" if "Missing" in ends or "more than once" in ends else "good")


def test_a_copy_that_came_first_is_drawn_when_its_workset_opens() -> None:
    one = told("s3j-2.3", 0)
    marks = {(mark.name, one.diagram.instances[mark.instance]): (mark.kind, mark.act) for mark in one.diagram.checkpoints}
    assert marks["b", "1.1"] == ("result", 2)
    assert marks["b", "0.2"] == ("cycle", 3)
    assert [bar.act for bar in one.diagram.bars] == [1, 3, 2]  # by space and number


@pytest.mark.parametrize(("case", "before", "after", "moves"), [(0, 9, 6, 2), (1, 2, 2.6, 1), (2, 1.533, 1.533, 0), (3, 1.533, 1.033, 1)])
def test_algorithm_1(case: int, before: float, after: float, moves: int) -> None:
    one = told("s3j-algorithm-1", case)
    assert len(one.diagram.messages) == moves
    assert one.steps[-1].text.startswith(f"The imbalance was {before:g} and is {after:g}.")
    last = one.steps[-1].table
    assert last is not None
    lasting: Counter[str] = Counter()
    for bar in one.diagram.bars:
        if bar.until_act is None:
            lasting[one.diagram.instances[bar.instance]] += bar.until - bar.at  # type: ignore[assignment]
    assert {row[0]: float(row[2]) for row in last.rows} == pytest.approx({row[0]: lasting[row[0]] for row in last.rows})


# --- against the operators ----------------------------------------------------------------------------------------------------------------


def operators(threshold: float) -> Any:
    """The oracle's partitioner, formulation and join, which the engine's are held against."""
    document = worksets(1, threshold, spaces=SPACES, window={"kind": "full_history"})
    experiment = Experiment.model_validate(document)
    inputs = dict.fromkeys(("left", "right", "in"), RecordSchema.of(id="int", x1="float", x2="float"))
    made = []
    for id in ("left-spaces", "worksets", "join"):
        spec = experiment.operator(id)
        params = spec.parameters.model_copy(update={"select": None}) if id == "join" else spec.parameters
        made.append(SIMILARITY[spec.kind](params, inputs))
    return made


directions = st.integers(-999, 999).map(lambda n: n / 1000)


@given(
    st.lists(st.tuples(directions, st.sampled_from(["left", "right"])), min_size=2, max_size=12), st.sampled_from([0.0513, 0.1213, 0.2513])
)
def test_the_rules_are_those_of_the_operators(placed: list[tuple[float, str]], threshold: float) -> None:
    partitioner, formulation, join = operators(threshold)
    spaces = [math.atan2(y, x) / math.pi for x, y in partitioner.centroids]
    records = [{"name": f"r{n}", "stream": stream, "at": at} for n, (at, stream) in enumerate(placed)]
    document = {"kind": "similarity", "title": "t", "text": "t", "spaces": spaces, "threshold": threshold}
    lesson = SimilarityLesson.model_validate(document | {"cases": [{"name": "c", "records": records}]})
    play = Play(lesson, lesson.cases[0])
    found: Counter[tuple[str, str]] = Counter()
    for act, (at, stream) in enumerate(placed):
        play.serve(lesson.cases[0].records[act], act)
        values = {"id": act, "x1": math.cos(math.pi * at), "x2": math.sin(math.pi * at)}
        for copy in partitioner.on_record(Record(values, 0, act, None), "in", 0)[1]:
            for sent in formulation.on_record(copy, stream, 0)[1]:
                side = sent.port.removeprefix("out_")
                others = [member.record for member in join.members]
                join.members.append(member := _member(join, sent, side))
                for other in join.members[: len(others)]:
                    if join.match(member, other):
                        pair = (sent, other.record) if side == "left" else (other.record, sent)
                        found[f"r{pair[0].values['id']}", f"r{pair[1].values['id']}"] += 1
    assert play.found == found
    assert sum(workset.compared for workset in play.all) == join.rows_read
    assert set(found) == true_pairs(lesson.cases[0].records, threshold)
    assert all(times == 1 for times in found.values())


def _member(join: Any, record: Record, side: str) -> Any:
    return Member(record, side, record.values["workset"], record.values["role"], None)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"spaces": []}, "/spaces"),
        ({"threshold": 0}, "/threshold"),
        ({"cases": [{"name": "c", "records": [{"name": "a", "at": 0}, {"name": "a", "at": 0.1}]}]}, "/cases/0/records/1/name"),
        ({"cases": [{"name": "c", "records": [{"name": "a", "at": 2}, {"name": "b", "at": 0.1}]}]}, "/cases/0/records/0/at"),
    ],
)
def test_an_impossible_lesson_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    records = [{"name": "a", "at": 0}, {"name": "b", "at": 0.1}]
    document = {
        "kind": "similarity",
        "title": "t",
        "text": "t",
        "spaces": [0],
        "threshold": 0.1,
        "cases": [{"name": "c", "records": records}],
    }
    assert examine_lesson(document)[1] == []
    assert [problem.pointer for problem in examine_lesson(document | change)[1]] == [place]


def test_a_balancer_that_moves_nothing_is_no_lesson() -> None:
    workers = [{"name": "a", "loads": [1]}, {"name": "b", "loads": []}]
    document = {"kind": "balancing", "title": "t", "text": "t", "workers": workers, "cases": [{"name": "c", "balancing": {"kind": "none"}}]}
    assert [problem.pointer for problem in examine_lesson(document)[1]] == ["/cases/0/balancing/kind"]
