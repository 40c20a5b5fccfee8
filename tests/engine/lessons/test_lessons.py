"""Lessons: histories of messages and checkpoints, told step by step.

What this catches: steps that are not those of the rules, a verdict that the line does not deserve, marks of other checkpoints and messages
than the sentence names, documents that cannot be and are told all the same, errors that do not say where and what would be right.
"""

from __future__ import annotations

import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.checkpointing.recovery_line import Channel
from engine.lessons import Explained, LessonFiles, examine_lesson, explained
from engine.spec import InvalidExperiment

from ...support.histories import History, random_acts

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")


def told(id: str, case: int = 0) -> Explained:
    lesson = FILES.lesson(id)
    return explained(lesson, lesson.cases[case])


def names(one: Explained, ids: tuple[str, ...]) -> list[str]:
    by_id = {mark.id: mark.name for mark in one.diagram.checkpoints}
    return [by_id[id] for id in ids]


def titles(one: Explained) -> list[str]:
    return [step.title for step in one.steps]


S3J_FIGURES = ("2.2a", "2.2b", "2.3", "", "")
S3J = ("s3j-2.2a", "s3j-2.2b", "s3j-2.3", "s3j-algorithm-1", "s3j-cluster-join")


def test_the_figures_are_there_in_their_order() -> None:
    assert FILES.ids() == [
        *(f"checkmate-3.{n}" for n in range(1, 7)),
        "chronarakis-3.3",
        "chronarakis-3.4",
        "chronarakis-5.2",
        "chronarakis-compaction",
        "klink-1.1",
        "klink-2.2",
        "klink-3.1",
        "klink-3.2",
        "klink-slack",
        *S3J,
    ]
    assert [FILES.lesson(id).figure for id in FILES.ids()] == [
        *(f"3.{n}" for n in range(1, 7)),
        "3.3",
        "3.4",
        "5.2",
        "",
        "1.1",
        "2.2",
        "3.1",
        "3.2",
        "",
        *S3J_FIGURES,
    ]


def test_3_1_both_lines_hold_and_one_needs_what_is_in_flight() -> None:
    first, second = [step for step in told("checkmate-3.1").steps if step.verdict]
    assert (first.verdict, first.stored) == ("good", ())
    assert (second.verdict, second.stored) == ("good", ("m4", "m5"))


@pytest.mark.parametrize(
    ("case", "title", "verdict", "orphans", "lost", "stored"),
    [
        (0, "Consistent", "good", (), (), ()),
        (1, "Orphan", "bad", ("m2",), (), ()),
        (2, "Lost message", "bad", (), ("m2",), ()),
        (3, "Consistent", "good", (), (), ("m2",)),
    ],
)
def test_3_2_the_four_cases(case: int, title: str, verdict: str, orphans: tuple[str], lost: tuple[str], stored: tuple[str]) -> None:
    step = told("checkmate-3.2", case).steps[-1]
    assert (step.title, step.verdict, step.orphans, step.lost, step.stored) == (title, verdict, orphans, lost, stored)


def test_3_3_j2_blocks_s3_while_it_waits_for_s2() -> None:
    one = told("checkmate-3.3")
    said = titles(one)
    assert said.index("J1 is aligned") < said.index("J2 blocks S3") < said.index("J2 is aligned") < said.index("A1 is aligned")
    (aside,) = [step for step in one.steps if step.title == "c2 has to wait"]
    assert aside.aside == ("c2",)
    (wait,) = [wait for wait in one.diagram.waits if one.diagram.instances[wait.instance] == "J2"]
    assert one.diagram.instances[wait.sender] == "S3"
    (message,) = [message for message in one.diagram.messages if message.name == "c2"]
    (barrier,) = [message for message in one.diagram.messages if message.name == "barrier S2 → J2"]
    assert message.arrives_at
    assert message.processed_at
    assert barrier.arrives_at
    assert message.arrives_at < barrier.arrives_at < message.processed_at  # laid aside until the last barrier was there
    assert (one.steps[-1].verdict, names(one, one.steps[-1].line)) == ("good", ["c11", "c21", "c31", "c41", "c51", "c61"])


def test_3_4_marks_and_replaces() -> None:
    one = told("checkmate-3.4")
    marks = [names(one, step.marked) for step in one.steps if step.marked]
    assert marks == [["c23"], ["c33"]]
    last = one.steps[-1]
    assert names(one, last.line) == ["c12", "c22", "c31"]
    assert sorted(names(one, last.discarded)) == ["c23", "c32", "c33"]
    assert last.in_flight == ("m3",)
    assert names(told("checkmate-3.4", 1), told("checkmate-3.4", 1).steps[-1].line) == ["c12", "c23", "c33"]


def test_3_5_the_dominoes_fall_in_the_order_of_the_figure() -> None:
    one = told("checkmate-3.5")
    fallen = [(*names(one, step.marked), *step.orphans) for step in one.steps if step.marked]
    assert fallen == [("c13", "m6"), ("c23", "m4"), ("c32", "m5"), ("c12", "m3"), ("c22", "m2")]
    assert names(one, one.steps[-1].line) == ["c11", "c21", "c31"]
    assert len(one.steps[-1].discarded) == 5


def test_3_5_without_m6_none_falls() -> None:
    one = told("checkmate-3.5", 1)
    assert not any(step.marked for step in one.steps)
    assert (names(one, one.steps[-1].line), one.steps[-1].discarded) == (["c13", "c23", "c32"], ())


def test_3_6_aligned_barriers_stall_on_the_cycle() -> None:
    last = told("checkmate-3.6").steps[-1]
    assert (last.title, last.verdict, last.aside) == ("The round stalls", "bad", ("l2",))
    assert "join waits for the barrier of project, project waits for the barrier of select and select waits for the barrier" in last.text


def test_3_6_hmnr_and_bcs_force_what_leaves_none_useless() -> None:
    free, hmnr, bcs = (told("checkmate-3.6", case) for case in (1, 2, 3))
    assert names(free, free.steps[-1].useless) == ["c31", "c41", "c51"]
    assert not hmnr.steps[-1].useless
    assert not bcs.steps[-1].useless
    forced = [sum(mark.kind == "forced" for mark in one.diagram.checkpoints) for one in (free, hmnr, bcs)]
    assert forced[0] == 0 < forced[1] <= forced[2]
    assert [len(one.steps[-1].discarded) for one in (free, hmnr)] == [5, 2]
    assert all(step.table for step in hmnr.steps[:-2])
    for one in (hmnr, bcs):  # forced before the message is processed
        forcing = {step.told[0]: step.focus[0] for step in one.steps if " forces " in step.title}
        marks = {mark.id: mark.at for mark in one.diagram.checkpoints}
        processed = {message.name: message.processed_at for message in one.diagram.messages}
        assert all(marks[id] < (processed[name] or 0) for name, id in forcing.items())


@pytest.mark.parametrize("id", FILES.ids())
def test_every_mark_is_in_the_diagram(id: str) -> None:
    lesson = FILES.lesson(id)
    for case in lesson.cases:
        one = explained(lesson, case)
        marks, messages = {mark.id for mark in one.diagram.checkpoints}, {message.name for message in one.diagram.messages}
        for step in one.steps:
            assert {
                *step.line,
                *step.marked,
                *step.discarded,
                *step.useless,
                *step.focus,
                *(id for edge in step.edges for id in edge),
            } <= marks
            assert {*step.orphans, *step.in_flight, *step.stored, *step.lost, *step.aside, *step.told} <= messages
            assert step.title
            assert step.text.endswith((".", ":"))


class Noted(History):
    """Notes its acts as a lesson has them."""

    def __init__(self, instances: int, channels: list[Channel]):
        super().__init__(instances, channels)
        self.acts: list[dict[str, str]] = []

    def send(self, channel: int) -> None:
        super().send(channel)
        sender, receiver, _ = self.channels[channel]
        self.acts.append({"send": f"m{channel}_{self.sent[channel]}", "from": f"P{sender}", "to": f"P{receiver}"})

    def receive(self, channel: int) -> None:
        super().receive(channel)
        self.acts.append({"receive": f"m{channel}_{self.processed[channel]}"})

    def checkpoint(self, instance: int) -> None:
        super().checkpoint(instance)
        self.acts.append({"checkpoint": f"P{instance}"})


@given(instances=st.integers(2, 4), pairs=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1), seed=st.integers(0, 2**32))
def test_of_any_history_the_search_is_told_to_its_line(instances: int, pairs: set[tuple[int, int]], seed: int) -> None:
    """The line is the newest of all consistent ones; the members that are marked hold orphans, and are those that are replaced."""
    channels = [Channel(sender % instances, receiver % instances) for sender, receiver in sorted(pairs)]
    history = Noted(instances, sorted(set(channels)))
    history.act(random_acts(seed, 90), checkpoints_max=4)
    document = {"title": "t", "text": "t", "instances": [f"P{i}" for i in range(instances)], "history": history.acts}
    for shows in ({"kind": "rollback"}, {"kind": "forcing", "rule": "none"}):
        lesson, problems = examine_lesson(document | {"cases": [{"name": "c", "shows": shows}]})
        assert lesson is not None, problems
        one = explained(lesson, lesson.cases[0])
        record = history.record()
        newest = tuple(max(indices) for indices in zip(*history.consistent_lines(record.newest), strict=True))
        last = one.steps[-1]
        assert last.line == tuple(f"{i}:{index}" for i, index in enumerate(newest))
        assert len(last.discarded) == sum(record.newest) - sum(newest)
        if shows["kind"] == "rollback":
            assert set(last.in_flight) == {f"m{channel}_{number}" for channel, number in history.in_flight(newest)}
            for mark, replace in pairwise(one.steps):
                if mark.marked:
                    line = [int(id.split(":")[1]) for id in mark.line]
                    assert set(mark.orphans) <= {f"m{channel}_{number}" for channel, number in history.orphans(line)}
                    assert {id for id in mark.line if id not in replace.line} == set(mark.marked)
                    assert set(mark.marked) <= set(replace.discarded)
        else:
            assert set(last.useless) == {f"{i}:{index}" for i, index in history.useless()}


GOOD: dict[str, Any] = {
    "title": "One message",
    "text": "A message.",
    "instances": ["A", "B"],
    "history": [{"send": "m1", "from": "A", "to": "B"}, {"checkpoint": "A"}, {"receive": "m1"}, {"checkpoint": "B"}],
    "cases": [{"name": "one", "shows": {"kind": "lines", "lines": [{"checkpoints": {"A": "c11"}, "stored": ["m1"]}]}}],
}


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    here: Any = document
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return document


HISTORY, SHOWS = ["history"], ["cases", 0, "shows"]


@pytest.mark.parametrize(
    ("path", "value", "pointer", "message"),
    [
        (["instances", 1], "A", "/instances/1", "instance 'A' occurs twice"),
        (["history", 0, "to"], "C", "/history/0/to", "there is no instance 'C'"),
        (["history", 0, "color"], "red", "/history/0/color", "'color' is not a field here"),
        (["history", 2], {"receive": "m2"}, "/history/2/receive", "message 'm2' has not been sent"),
        (["history", 1], {"send": "m1", "from": "A", "to": "B"}, "/history/1/send", "message 'm1' is sent twice"),
        (["history", 3], {"receive": "m1"}, "/history/3/receive", "message 'm1' is received twice"),
        (
            ["history", 1],
            {},
            "/history/1",
            "an act needs exactly one verb of send, receive, checkpoint, trigger, barrier; this one has none of them",
        ),
        (["history", 1], {"send": "m2", "receive": "m1"}, "/history/1", "this one has both send and receive"),
        (["history", 1], {"send": "m2", "from": "A"}, "/history/1/to", "send needs 'to', an instance; add it"),
        (["history", 1], {"checkpoint": "A", "to": "B"}, "/history/1/to", "checkpoint takes no 'to'; remove it"),
        (["history", 1], {"trigger": "A"}, "/history/1/trigger", "only shows of the kind 'alignment' have triggers"),
        (HISTORY, [], "/cases/0/history", "neither the case nor the lesson has a history; add one"),
        ([*SHOWS, "lines", 0, "checkpoints"], {"A": "c12"}, "/cases/0/shows/lines/0/checkpoints/A", "A has no checkpoint 'c12'"),
        ([*SHOWS, "lines", 0, "stored"], ["m9"], "/cases/0/shows/lines/0/stored/0", "there is no message 'm9' in this case"),
        (SHOWS, {"kind": "rolback"}, "/cases/0/shows/kind", "the kind of shows is 'rolback', which does not exist"),
        (SHOWS, {"kind": "alignment"}, "/history/1/checkpoint", "barriers decide when A takes its checkpoint"),
        (["cases", 0, "without"], ["m7"], "/cases/0/without/0", "no message 'm7' is sent"),
        (["channels"], [["A", "Z"]], "/channels/0/1", "there is no instance 'Z'"),
    ],
)
def test_documents_that_cannot_be(path: list[Any], value: Any, pointer: str, message: str) -> None:
    assert examine_lesson(GOOD)[1] == []
    lesson, (problem, *_) = examine_lesson(changed(path, value))
    assert lesson is None
    assert problem.pointer == pointer
    assert message in problem.message


@pytest.mark.parametrize(
    ("history", "pointer", "message"),
    [
        (
            [{"send": "m1", "from": "A", "to": "B"}, {"send": "m2", "from": "A", "to": "B"}, {"receive": "m2"}],
            "/history/2",
            "'m2' overtakes message 'm1', which was sent before it on the same channel",
        ),
        (
            [{"send": "m1", "from": "A", "to": "B"}, {"trigger": "A"}, {"barrier": "A", "to": "B"}],
            "/history/2/barrier",
            "overtakes message 'm1'",
        ),
        ([{"send": "m1", "from": "A", "to": "B"}, {"barrier": "A", "to": "B"}], "/history/1/barrier", "A has no barrier in flight to B"),
        ([{"send": "m1", "from": "A", "to": "B"}, {"barrier": "B", "to": "A"}], "/history/1/to", "no channel leads from B to A"),
        ([{"send": "m1", "from": "A", "to": "B"}, {"trigger": "B"}], "/history/1/trigger", "B has inputs, so it waits for their barriers"),
        ([{"send": "m1", "from": "A", "to": "B"}, {"trigger": "A"}, {"trigger": "A"}], "/history/2/trigger", "a lesson has one round"),
    ],
)
def test_what_cannot_overtake(history: list[Any], pointer: str, message: str) -> None:
    document = GOOD | {"history": history, "cases": [{"name": "one", "shows": {"kind": "alignment"}}]}
    lesson, (problem, *_) = examine_lesson(document)
    assert lesson is None
    assert (problem.pointer, message in problem.message) == (pointer, True), problem


def test_a_round_that_is_not_over_says_so() -> None:
    history = [{"send": "m1", "from": "A", "to": "B"}, {"trigger": "A"}]
    lesson, _ = examine_lesson(GOOD | {"history": history, "cases": [{"name": "one", "shows": {"kind": "alignment"}}]})
    assert lesson is not None
    assert explained(lesson, lesson.cases[0]).steps[-1].text == "The history ends before B is aligned."


def test_a_lesson_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperiment, match=r"there is no lesson 'checkmate-3\.7'"):
        FILES.lesson("checkmate-3.7")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "mine.yaml").write_text("title: Mine\n")
    with pytest.raises(InvalidExperiment, match="/text: text is missing; add it"):
        LessonFiles(tmp_path).lesson("mine")
