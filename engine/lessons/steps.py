"""The presentation of a history: a space-time diagram, and steps with text and marks in the diagram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engine.spec.base.operator import Model

Kind = Literal["start", "basic", "coordinated", "forced", "deadline", "result", "event", "watermark", "sweeping", "cycle"]


class CheckpointMark(Model):
    """A checkpoint in the diagram, or another moment of a row. id: used in marks. at: position on the axis. act: number of acts after
    which it exists; 0: from the start."""

    id: str
    instance: int
    index: int
    name: str
    at: float
    act: int
    kind: Kind


class MessageArrow(Model):
    """A message, a barrier, a watermark, or a copy of an entry, which is named at its ends. arrives_at: None if it never arrives.
    processed_at: later than arrives_at if it was buffered, None if it was never processed. The acts say from when each part is visible."""

    name: str
    kind: Literal["record", "barrier", "watermark", "copy"]
    sender: int
    receiver: int
    sent_at: float
    sent_act: int
    arrives_at: float | None
    arrives_act: int | None
    processed_at: float | None
    processed_act: int | None


class Wait(Model):
    """An instance blocks a channel whose barrier has arrived. until: None if that never ends."""

    instance: int
    sender: int
    at: float
    act: int
    until: float | None
    until_act: int | None


class Bar(Model):
    """Something of a row that lasts: a query is served, a window has events, a workset has a load. until_act: from this act on it is gone;
    None: never."""

    instance: int
    at: float
    until: float
    act: int
    until_act: int | None = None


class Diagram(Model):
    """A space-time diagram: one row per instance or query, over an axis from `first` to `last`. unit: of the axis; empty if only the order
    is known."""

    instances: tuple[str, ...]
    first: float
    last: float
    unit: str = ""
    checkpoints: tuple[CheckpointMark, ...]
    messages: tuple[MessageArrow, ...]
    waits: tuple[Wait, ...] = ()
    bars: tuple[Bar, ...] = ()


class Table(Model):
    """What is known at a step, one row for each instance or query."""

    title: str = "What each instance knows after this step"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class LessonStep(Model):
    """title: what happens. text: details and reason. act: number of acts shown; None: all. verdict: whether a line is consistent.
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
    """An explained case of a lesson, or recovery. heading: of the diagram. left_out: number of instances that are not drawn."""

    name: str
    text: str
    shows: str
    heading: str = "Instances over time"
    diagram: Diagram
    steps: tuple[LessonStep, ...]
    left_out: int = 0


class Place(NamedTuple):
    """Position of an act: on the axis, and in number of acts."""

    at: float
    act: int


NOWHERE = Place(-1.0, -1)


@dataclass
class Sent:
    """A message of a history. sent_in, processed_in: checkpoint intervals of its sender and receiver; 0 is the one after the start."""

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
    """Return names as text: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
