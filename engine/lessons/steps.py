"""What is shown of a history: a space-time diagram, and steps, each of which is a sentence and marks in the diagram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engine.spec.base.operator import Model

Kind = Literal["start", "basic", "coordinated", "forced"]


class CheckpointMark(Model):
    """A checkpoint in the diagram. id: its name among the marks. at: where it stands on the axis. act: after how many acts of the history
    it is there; 0: from the beginning on."""

    id: str
    instance: int
    index: int
    name: str
    at: float
    act: int
    kind: Kind


class MessageArrow(Model):
    """A message, or a barrier. arrives_at: None while it is under way to the end. processed_at: where it was processed; later than it
    arrived if it was laid aside, None if it never was. The acts say since when there is so much of it."""

    name: str
    kind: Literal["record", "barrier"]
    sender: int
    receiver: int
    sent_at: float
    sent_act: int
    arrives_at: float | None
    arrives_act: int | None
    processed_at: float | None
    processed_act: int | None


class Wait(Model):
    """An instance lets nothing in from a channel, whose barrier has come. until: None if that never ends."""

    instance: int
    sender: int
    at: float
    act: int
    until: float | None
    until_act: int | None


class Diagram(Model):
    """A row for each instance over an axis from `first` to `last`. unit: of the axis; empty if only the order is known."""

    instances: tuple[str, ...]
    first: float
    last: float
    unit: str = ""
    checkpoints: tuple[CheckpointMark, ...]
    messages: tuple[MessageArrow, ...]
    waits: tuple[Wait, ...] = ()


class Table(Model):
    """What instances know, a row for each."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class LessonStep(Model):
    """title: what is done. text: what exactly, and why. act: how much of the history is shown; None: all. verdict: whether a line holds.
    line, marked, discarded, useless, forced, focus: ids of checkpoints. orphans, in_flight, stored, lost, aside, told: names of messages.
    edges: of the checkpoint graph, ids of tail and head."""

    title: str
    text: str
    act: int | None = None
    verdict: Literal["", "good", "bad"] = ""
    line: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    useless: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    in_flight: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


class Explained(Model):
    """One case of a lesson, or one recovery. left_out: instances that are not drawn."""

    name: str
    text: str
    shows: str
    diagram: Diagram
    steps: tuple[LessonStep, ...]
    left_out: int = 0


class Place(NamedTuple):
    """Where an act stands: on the axis, and after how many acts."""

    at: float
    act: int


NOWHERE = Place(-1.0, -1)


@dataclass
class Sent:
    """A message of a history. sent_in, processed_in: intervals of its sender and its receiver, 0 being the one behind the start."""

    name: str
    channel: int
    number: int
    sent: Place
    sent_in: int
    barrier: bool = False
    arrived: Place = NOWHERE
    processed: Place = NOWHERE
    processed_in: int = -1


@dataclass
class Taken:
    instance: int
    index: int
    name: str
    place: Place
    kind: Kind
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = checkpoint_id(self.instance, self.index)


def checkpoint_id(instance: int, index: int) -> str:
    return f"{instance}:{index}"


def listed(names: list[str] | tuple[str, ...]) -> str:
    """a, b and c"""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
