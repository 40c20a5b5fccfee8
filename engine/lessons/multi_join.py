"""A join of several streams, act by act: in one operator with all buffers, or step by step, with a topic behind each step.

Source: Chronarakis 2019, 5.2 (Figure 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .multi_join_document import JoinAct, MultiJoinCase, MultiJoinLesson
from .steps import Bar, CheckpointMark, Diagram, Explained, Kind, LessonStep, MessageArrow, Table, checkpoint_id, listed

HOP = 0.5
"""Acts from a result to whoever reads it from its topic."""


class Waiting(NamedTuple):
    """What a buffer keeps of a group. row: of the diagram. records: how many it is made of."""

    row: int
    since: float
    records: int


@dataclass
class Play:
    """The operators of a case. stages: of each the rows that it joins, and that of its result. buffers: by row and group. first: by group,
    when its first record came. results: by group, when it was there. kept_most: records that all buffers have kept at once."""

    lesson: MultiJoinLesson
    case: MultiJoinCase
    rows: list[str] = field(default_factory=list)
    stages: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    buffers: dict[tuple[int, str], Waiting] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)
    kept_most: int = 0
    marks: list[CheckpointMark] = field(default_factory=list)
    arrows: list[MessageArrow] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)

    def __post_init__(self) -> None:
        streams = self.lesson.streams
        if self.case.way == "all_in_one":
            self.rows = [*streams, "+".join(streams)]
            self.stages = [(tuple(range(len(streams))), len(streams))]
            return
        self.rows, left = [streams[0]], 0
        for n, stream in enumerate(streams[1:], 2):
            self.rows += [stream, "+".join(streams[:n])]
            self.stages.append(((left, len(self.rows) - 2), len(self.rows) - 1))
            left = len(self.rows) - 1

    def come(self, about: JoinAct, act: int) -> list[str]:
        """A record comes, and all that follows from it until the next one. Returns what happens, in sentences."""
        self.first.setdefault(about.group, act)
        row = self.rows.index(about.stream)
        self._mark(row, act, act, "event", about.group)
        said = self._into(row, about.group, float(act), 1, act)
        self.kept_most = max(self.kept_most, self.kept)
        self.bars += [Bar(instance=one.row, at=one.since, until=act + 0.9, act=act, until_act=act + 1) for one in self.buffers.values()]
        return said

    def _into(self, row: int, group: str, at: float, records: int, act: int) -> list[str]:
        inputs, output = next(stage for stage in self.stages if row in stage[0])
        self.buffers[row, group] = Waiting(row, at, records)
        missing = [self.rows[other] for other in inputs if (other, group) not in self.buffers]
        if missing:
            return [f"{self._named(row, group)} waits for {listed(missing)}."]
        size = sum(self.buffers.pop((other, group)).records for other in inputs)
        arrives = at + HOP
        others = [self._named(other, group) for other in inputs if other != row]
        said = [f"{self._named(row, group)} meets {listed(others)}."]
        name = f"{self.rows[output]} of {group}"
        self.arrows.append(_arrow(name, row, output, at, arrives, act))
        is_last = output == self.stages[-1][1]
        self._mark(output, arrives, act, "result" if is_last else "event", group)
        if is_last:
            self.results[group] = arrives
            return [*said, f"That is the result of group {group}, {arrives - self.first[group]:g} acts after its first record."]
        return [*said, f"{name} goes to a topic: a partial result.", *self._into(output, group, arrives, size, act)]

    @property
    def kept(self) -> int:
        return sum(one.records for one in self.buffers.values())

    def table(self) -> Table:
        rows = []
        for inputs, output in self.stages:
            for row in inputs:
                groups = [group for at, group in self.buffers if at == row]
                records = sum(one.records for (at, _), one in self.buffers.items() if at == row)
                rows.append((self.rows[output], self.rows[row], ", ".join(groups) or "–", str(records)))
        title = f"After this step: {self.kept} record{'' if self.kept == 1 else 's'} kept"
        return Table(title=title, columns=("Operator", "Buffer of", "Groups", "Records"), rows=tuple(rows))

    def _named(self, row: int, group: str) -> str:
        return f"{self.rows[row]} of {group}"

    def _mark(self, row: int, at: float, act: int, kind: Kind, name: str) -> None:
        number = sum(mark.instance == row for mark in self.marks)
        self.marks.append(CheckpointMark(id=checkpoint_id(row, number), instance=row, index=number, name=name, at=at, act=act, kind=kind))


def explained_multi_join(lesson: MultiJoinLesson, case: MultiJoinCase) -> Explained:
    play = Play(lesson, case)
    steps = [_beginning(play)]
    for act, about in enumerate(lesson.acts, 1):
        before = len(play.marks)
        said = play.come(about, act)
        focus = tuple(mark.id for mark in play.marks[before:])
        title = f"A record of {about.stream} comes, group {about.group}"
        told = tuple(arrow.name for arrow in play.arrows if arrow.sent_act == act)
        steps.append(LessonStep(title=title, text=" ".join(said), act=act, focus=focus, told=told, table=play.table()))
    steps.append(_ending(play))
    diagram = Diagram(
        instances=tuple(play.rows),
        first=0.0,
        last=len(lesson.acts) + 0.5 + HOP * len(play.stages),
        checkpoints=tuple(play.marks),
        messages=tuple(play.arrows),
        bars=tuple(play.bars),
    )
    heading = "Buffers and results"
    return Explained(name=case.name, text=case.text, shows="multi_join", heading=heading, diagram=diagram, steps=tuple(steps))


def _beginning(play: Play) -> LessonStep:
    streams = play.lesson.streams
    if play.case.way == "all_in_one":
        text = f"One operator has a buffer for each of {listed(streams)}. When a record comes, it looks for the others of its group."
    else:
        steps = [f"{play.rows[inputs[0]]} with {play.rows[inputs[1]]}" for inputs, _ in play.stages]
        text = f"Each operator joins two streams: first {', then '.join(steps)}. What it finds goes to a topic, which the next one reads."
    return LessonStep(title="Before the first record", text=f"{text} A record is kept until it has matched.", act=0)


def _ending(play: Play) -> LessonStep:
    took = {group: at - play.first[group] for group, at in play.results.items()}
    text = f"{len(took)} of {len(play.first)} groups have their result"
    if took:
        text += f", {listed([f'{acts:g}' for acts in took.values()])} acts after their first records"
    text += f". The buffers have kept up to {play.kept_most} records at once."
    partial = [play.rows[output] for _, output in play.stages[:-1]]
    if partial:
        outputs = {play.rows.index(name) for name in partial}
        count = sum(mark.instance in outputs for mark in play.marks)
        text += f" {count} partial result{' was' if count == 1 else 's were'} there for others to read."
    else:
        text += " Nobody else can read a part of a group."
    return LessonStep(title="In the end", text=text, table=play.table())


def _arrow(name: str, sender: int, receiver: int, at: float, arrives: float, act: int) -> MessageArrow:
    return MessageArrow(
        name=name,
        kind="record",
        sender=sender,
        receiver=receiver,
        sent_at=at,
        sent_act=act,
        arrives_at=arrives,
        arrives_act=act,
        processed_at=arrives,
        processed_act=act,
    )
