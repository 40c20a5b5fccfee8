"""A window operator, arrival by arrival: which watermarks sweep, which windows fire, and for which input the operator waits (Farhat 2020,
2.2 and 3.1.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .steps import Bar, CheckpointMark, Diagram, Explained, LessonStep, MessageArrow, Table, checkpoint_id, listed
from .windows_document import Arrival, ArrivalsCase, WindowsLesson


class Event(NamedTuple):
    time: int
    input: int


@dataclass
class WindowOperator:
    """Tumbling windows from 0 on, named by their ends. last: watermark by input. events: by window that has not fired. fired: up to this
    end."""

    lesson: WindowsLesson
    last: list[int] = field(init=False)
    events: dict[int, list[Event]] = field(default_factory=dict)
    fired: int = 0

    def __post_init__(self) -> None:
        self.last = [0] * len(self.lesson.inputs)

    @property
    def clock(self) -> int:
        return min(self.last)

    def end_of(self, event: int) -> int:
        """The window of an event."""
        size = self.lesson.size
        return (event // size + 1) * size if self.lesson.includes == "start" else -(-event // size) * size

    def next_end(self, watermark: int) -> int:
        """The first window whose end a watermark has not reached."""
        return (watermark // self.lesson.size + 1) * self.lesson.size

    def take_event(self, event: Event) -> int | None:
        """Return its window, or None if that has fired."""
        end = self.end_of(event.time)
        if end <= self.fired:
            return None
        self.events.setdefault(end, []).append(event)
        return end

    def take_watermark(self, input: int, watermark: int) -> tuple[bool, list[tuple[int, list[Event]]]]:
        """Return whether it sweeps (it is the first of its input to reach the end of a window), and the windows that fire, with their
        events."""
        if watermark <= self.last[input]:
            return False, []
        sweeps = watermark >= self.next_end(self.last[input])
        self.last[input] = watermark
        ends = range(self.fired + self.lesson.size, self.clock + 1, self.lesson.size)
        self.fired = max([self.fired, *ends])
        return sweeps, [(end, self.events.pop(end, [])) for end in ends]


class _Story:
    """What the diagram and the steps show of an operator."""

    def __init__(self, lesson: WindowsLesson, case: ArrivalsCase):
        self.lesson, self.case, self.operator = lesson, case, WindowOperator(lesson)
        touched = {self.operator.end_of(arrival.event) for arrival in case.arrivals if arrival.event is not None}
        reached = WindowOperator(lesson)
        for arrival in case.arrivals:
            if arrival.watermark is not None:
                _, fires = reached.take_watermark(lesson.input_of(arrival), arrival.watermark)
                touched |= {end for end, _ in fires}
        self.windows = sorted(touched)
        self.rows = (*lesson.inputs, *(self.window(end) for end in self.windows), "output")
        self.marks: list[CheckpointMark] = []
        self.arrows: list[MessageArrow] = []
        self.opened: dict[int, int] = {}  # by window, the act in which its first event came
        self.bars: list[Bar] = []
        self.swept: list[str] = []
        self.blocked: list[str] = []  # swept, and fired nothing
        self.others: list[str] = []
        self.late: tuple[str, ...] = ()  # marks of dropped events
        self.steps = [self._beginning()]
        for act, arrival in enumerate(case.arrivals, 1):
            self.steps.append(self._event(arrival, act) if arrival.watermark is None else self._watermark(arrival, act))
        after = len(case.arrivals) + 1
        self.bars += [Bar(instance=self.row(end), at=act, until=after, act=act) for end, act in self.opened.items()]
        self.steps.append(self._ending())

    def window(self, end: int) -> str:
        start = end - self.lesson.size
        return f"[{start}, {end})" if self.lesson.includes == "start" else f"({start}, {end}]"

    def row(self, end: int) -> int:
        return len(self.lesson.inputs) + self.windows.index(end)

    def name(self, input: int) -> str:
        """The input, where there are several."""
        return f" of {self.lesson.inputs[input]}" if len(self.lesson.inputs) > 1 else ""

    # Steps

    def _beginning(self) -> LessonStep:
        first = self.window(self.lesson.size)
        several = len(self.lesson.inputs) > 1
        text = f"Windows last {self.lesson.size}. The first one, {first}, fires when "
        text += "the watermarks of all inputs reach its end." if several else "a watermark reaches its end."
        return LessonStep(title="Nothing has arrived", text=text, act=0, table=self._table())

    def _event(self, arrival: Arrival, act: int) -> LessonStep:
        row, event = self.lesson.input_of(arrival), arrival.time
        end = self.operator.take_event(Event(event, row))
        id = self._mark(row, act, "event", str(event))
        if end is None:
            text = f"Its window {self.window(self.operator.end_of(event))} has fired already, so it is dropped."
            title = f"Event {event}{self.name(row)} is late"
            self.late += (id,)
            return LessonStep(title=title, text=text, act=act, useless=self.late, verdict="bad", table=self._table())
        self._arrow(f"event {act}, {event}", row, self.row(end), act, "record")
        self.opened.setdefault(end, act)
        text = f"It belongs to window {self.window(end)}, and waits there."
        return LessonStep(title=f"Event {event}{self.name(row)}", text=text, act=act, focus=(id,), useless=self.late, table=self._table())

    def _watermark(self, arrival: Arrival, act: int) -> LessonStep:
        row, value, operator = self.lesson.input_of(arrival), arrival.time, self.operator
        known, clock = operator.last[row], operator.clock
        sweeps, fires = operator.take_watermark(row, value)
        kind = "sweeping" if sweeps else "watermark"
        id = self._mark(row, act, kind, f"W{value}")
        named = f"{value}{self.name(row)}"
        title = f"Watermark {named}"
        (self.swept if sweeps else self.others).append(named)
        if sweeps and not fires:
            self.blocked.append(named)
        if value <= known:
            title += " says nothing new"
            text = f"Watermark {known} came before it. No event up to {known} was to follow then."
        elif not sweeps:
            title += " is progress"
            text = f"No event up to {value} will follow. The next window ends at {operator.next_end(value)}, so none fires."
        else:
            reached = (value // self.lesson.size) * self.lesson.size
            title += " sweeps"
            text = f"It is the first{self.name(row)} to reach {reached}."
        if fires:
            title += f", and {listed([self.window(end) for end, _ in fires])} {'fires' if len(fires) == 1 else 'fire'}"
            text += " " + " ".join(self._fired(end, events) for end, events in fires)
        elif sweeps:
            waits = [name for name, last in zip(self.lesson.inputs, operator.last, strict=True) if last == operator.clock]
            text += f" Window {self.window(operator.fired + self.lesson.size)} still waits for {listed(waits)}: the clock is the least "
            text += f"watermark of the inputs, {operator.clock}."
        if operator.clock > clock:
            self._mark(len(self.rows) - 1, act, "sweeping" if fires else "watermark", f"W{operator.clock}")
            text += f" The operator sends watermark {operator.clock}." if len(self.lesson.inputs) > 1 else ""
        for end, _ in fires:
            self._arrow(f"watermark {act} {end}", row, self.row(end), act, "watermark")
            self._mark(self.row(end), act, "result", f"{self.window(end)} fires")
            if end in self.opened:
                began = self.opened.pop(end)
                self.bars.append(Bar(instance=self.row(end), at=began, until=act, act=began))
        verdict: Literal["", "good"] = "good" if fires else ""
        return LessonStep(title=title, text=text, act=act, focus=(id,), useless=self.late, verdict=verdict, table=self._table())

    def _fired(self, end: int, events: list[Event]) -> str:
        if not events:
            return f"Window {self.window(end)} is complete, and empty."
        names = listed([f"{event.time}{self.name(event.input)}" for event in sorted(events)])
        return f"Window {self.window(end)} fires with {'event' if len(events) == 1 else 'events'} {names}."

    def _ending(self) -> LessonStep:
        text = f"Sweeping watermarks are {listed(self.swept)}." if self.swept else "No watermark swept."
        if self.others:
            text += f" The {'other one' if len(self.others) == 1 else 'others'}, {listed(self.others)}, fired nothing."
        if self.blocked:
            text += f" When {listed(self.blocked)} came, another input was behind, so nothing fired."
        text += " The order of arrival decides which ones sweep."
        act = len(self.case.arrivals) + 1
        return LessonStep(title="Which watermarks swept", text=text, act=act, useless=self.late, table=self._table())

    def _table(self) -> Table:
        operator = self.operator
        rows = [
            (name, str(last) if last else "–", str(operator.next_end(last)))
            for name, last in zip(self.lesson.inputs, operator.last, strict=True)
        ]
        if len(rows) > 1:
            rows.append(("the operator", str(operator.clock) if operator.clock else "–", str(operator.fired + self.lesson.size)))
        return Table(title="What the operator knows", columns=("Input", "Last watermark", "Next deadline"), rows=tuple(rows))

    # Diagram

    def _mark(self, row: int, act: int, kind: str, name: str) -> str:
        index = len(self.marks)
        mark = CheckpointMark(id=checkpoint_id(row, index), instance=row, index=index, name=name, at=act, act=act, kind=kind)  # type: ignore[arg-type]
        self.marks.append(mark)
        return mark.id

    def _arrow(self, name: str, sender: int, receiver: int, act: int, kind: str) -> None:
        ends = {"sender": sender, "receiver": receiver, "sent_at": act, "arrives_at": act, "processed_at": act}
        acts = {"sent_act": act, "arrives_act": act, "processed_act": act}
        self.arrows.append(MessageArrow(name=name, kind=kind, **ends, **acts))  # type: ignore[arg-type]

    def diagram(self) -> Diagram:
        last = len(self.case.arrivals) + 1
        return Diagram(
            instances=self.rows, first=0, last=last, checkpoints=tuple(self.marks), messages=tuple(self.arrows), bars=tuple(self.bars)
        )


def explained_windows(lesson: WindowsLesson, case: ArrivalsCase) -> Explained:
    story = _Story(lesson, case)
    return Explained(
        name=case.name,
        text=case.text,
        shows="windows",
        heading="Arrivals in their order, and windows",
        diagram=story.diagram(),
        steps=tuple(story.steps),
    )
