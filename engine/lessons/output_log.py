"""Continuous eventual checkpointing, act by act: which records the output log gets, how long its extent is, and what a recovery reads. The
log is that of `engine/state/output_log.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.state.output_log import Bounds, LogRecord, OutputLog, Recovery

from .output_log_document import OutputLogAct, OutputLogCase, OutputLogLesson
from .steps import Bar, CheckpointMark, Diagram, Explained, Kind, LessonStep, Table, checkpoint_id, listed

EXTENT = "extent"
MARKS: dict[str, Kind] = {"open": "basic", "check": "coordinated", "out": "result"}


@dataclass
class Play:
    """The operator of a case. It counts tuples by window. inputs: acts of the input, in order. position: how many have been processed.
    since: by window, the position that its count includes already, while the input is replayed. written_in: by record, its act."""

    case: OutputLogCase
    log: OutputLog = field(init=False)
    names: list[str] = field(default_factory=list)
    inputs: list[OutputLogAct] = field(default_factory=list)
    position: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    since: dict[int, int] = field(default_factory=dict)
    written_in: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = OutputLog(Bounds(self.case.records_max, self.case.replay_max))
        self.names = [*dict.fromkeys(act.tuple for act in self.case.acts if act.tuple)]

    def process(self, about: OutputLogAct, act: int) -> None:
        """An act of the input that has not been processed before."""
        self.inputs.append(about)
        self._carry_out(about, act)

    def replay(self, act: int) -> tuple[int, int]:
        """Process again what comes behind the position. Returns how many acts, and how many of them change nothing."""
        again = self.inputs[self.position :]
        unchanged = sum(not self._carry_out(about, act) for about in again)
        self.since = {}
        return len(again), unchanged

    def _carry_out(self, about: OutputLogAct, act: int) -> bool:
        """Returns whether it changes anything."""
        key = self.names.index(about.tuple or about.close or "")
        changes = self.position >= self.since.get(key, 0) and key not in self.closed
        if changes and about.tuple:
            if key not in self.counts:
                self.counts[key] = 0
                self.log.open(key, self.position)
            self.counts[key] += 1
            self.position += 1
        elif changes:
            self.position += 1
            self.closed.add(key)
            self.log.close(key, self.position, self.counts.pop(key))
        else:
            self.position += 1
        self.log.keep_short(self.position, self.counts.__getitem__)
        self.written_in += [act] * (len(self.log.records) - len(self.written_in))
        return changes

    def crash(self) -> Recovery:
        """All but the log is lost, and found there."""
        found = self.log.recover(self.position)
        self.counts = {key: state or 0 for key, (state, _) in found.windows.items()}
        self.since = {key: at for key, (_, at) in found.windows.items()}
        self.closed = set(found.closed)
        self.position = found.position
        return found

    def name(self, record: LogRecord) -> str:
        window = self.names[record.key]
        return f"{window} opens" if record.kind == "open" else f"{window}={record.content}" if record.kind == "check" else f"{window} out"

    def footprints(self) -> dict[int, int]:
        """By open window, the number of its newest record."""
        found: dict[int, int] = {}
        for n, record in enumerate(self.log.records):
            if record.kind == "out":
                found.pop(record.key, None)
            else:
                found[record.key] = n
        return found


def explained_output_log(_: OutputLogLesson, case: OutputLogCase) -> Explained:
    play = Play(case)
    steps = [_beginning(case)]
    bars: list[Bar] = []
    for act, about in enumerate(case.acts, 1):
        before = len(play.log.records)
        step = _acted(play, about, act, before)
        newest = set(play.footprints().values())
        read = len(play.log.records) - play.log.extent
        marks = {
            "focus": tuple(_id(play, n) for n in range(before, len(play.log.records))),
            "useless": tuple(_id(play, n) for n, r in enumerate(play.log.records) if r.kind != "out" and n not in newest),
        }
        steps.append(
            step.model_copy(update={"act": act, "table": _table(play), **{k: v for k, v in marks.items() if not getattr(step, k)}})
        )
        if newest:
            bars.append(Bar(instance=0, at=read - 0.4, until=len(play.log.records) - 0.6, act=act, until_act=act + 1))
    diagram = Diagram(
        instances=(EXTENT, *play.names),
        first=-1.0,
        last=float(len(play.log.records)),
        checkpoints=tuple(_drawn(play)),
        messages=(),
        bars=tuple(bars),
    )
    return Explained(
        name=case.name, text=case.text, shows="output_log", heading="The output log, by window", diagram=diagram, steps=tuple(steps)
    )


# Texts


def _beginning(case: OutputLogCase) -> LessonStep:
    text = (
        "The operator counts tuples by window. A window that opens, and one that gives its result, leave a record in the output log. The "
    )
    text += "extent begins with the oldest record that an open window still needs."
    if case.records_max is not None:
        text += f" It may have {_records(case.records_max)}."
    if case.replay_max is not None:
        text += f" At most {_acts(case.replay_max)} of the input may have to be processed again."
    if case.records_max is not None or case.replay_max is not None:
        text += " Whenever that would not hold, the window with the oldest record is checkpointed."
    return LessonStep(title="Before the first tuple", text=text, act=0)


def _acts(count: int) -> str:
    return f"{count or 'no'} act{'' if count == 1 else 's'}"


def _records(count: int) -> str:
    return f"{count or 'no'} record{'' if count == 1 else 's'}"


def _acted(play: Play, about: OutputLogAct, act: int, before: int) -> LessonStep:
    if about.crash:
        return _crashed(play)
    if about.replay:
        return _replayed(play, act)
    play.process(about, act)
    records = play.log.records[before:]
    names = [play.name(record) for record in records if record.kind == "check"]
    if about.close:
        title, text = (
            f"Window {about.close} closes",
            f"Its result, {records[0].content}, goes to the log. Its other records are no longer needed.",
        )
    else:
        title = f"A tuple of {about.tuple}"
        text = "The window opens, and leaves a record. " if records and records[0].kind == "open" else ""
        text += f"It has {play.counts[play.names.index(about.tuple or '')]} so far."
    if names:
        text += f" A bound would not hold any more, so {listed(names)} {'goes' if len(names) == 1 else 'go'} to the log as "
        text += "a checkpoint." if len(names) == 1 else "checkpoints."
    return LessonStep(title=title, text=text)


def _crashed(play: Play) -> LessonStep:
    had = dict(play.counts)
    position = play.position
    found = play.crash()
    newest = play.footprints()
    text = f"The log is read from its end until all windows that are open are found: {_records(found.read)}. "
    if found.windows:
        text += f"It has {_windows(play)}"
        missing = [play.names[key] for key in had if had[key] != play.counts.get(key)]
        text += f", of which {listed(missing)} {'lags' if len(missing) == 1 else 'lag'} behind. " if missing else ", as before the crash. "
    else:
        text += "No window is open. "
    text += f"The input goes on behind position {found.position}, {_acts(position - found.position)} before the crash."
    read = range(len(play.log.records) - found.read, len(play.log.records))
    return LessonStep(
        title="A crash, and a recovery",
        text=text,
        focus=tuple(_id(play, n) for n in read),
        marked=tuple(_id(play, n) for n in newest.values()),
    )


def _replayed(play: Play, act: int) -> LessonStep:
    count, unchanged = play.replay(act)
    text = f"{_acts(count).capitalize()} of the input {'is' if count == 1 else 'are'} processed again. "
    if unchanged:
        text += f"{_acts(unchanged).capitalize()} of these change{'s' if unchanged == 1 else ''} nothing: the checkpoint of the window is "
        text += "newer, or its result is in the log. "
    true: dict[str, int] = {}
    for about in play.inputs:
        if about.tuple:
            true[about.tuple] = true.get(about.tuple, 0) + 1
        else:
            true.pop(about.close or "", None)
    is_right = {play.names[key]: count for key, count in play.counts.items()} == true
    text += f"The operator has {_windows(play)}, {'as without a crash' if is_right else 'which is wrong'}."
    return LessonStep(title="The input is replayed", text=text, verdict="good" if is_right else "bad")


def _windows(play: Play) -> str:
    return listed([f"{play.names[key]}={count}" for key, count in sorted(play.counts.items())]) or "no window"


def _table(play: Play) -> Table:
    newest = play.footprints()
    rows = []
    for key, count in sorted(play.counts.items(), key=lambda item: newest[item[0]]):
        record = play.log.records[newest[key]]
        rows.append((play.names[key], str(count), play.name(record), str(newest[key]), str(max(0, play.position - record.position))))
    columns = ("Open window", "Tuples", "Newest record", "Number", "Acts since")
    extent, replay = play.log.extent, play.log.replay(play.position)
    return Table(title=f"After this step: {_records(extent)} to read, {_acts(replay)} to replay", columns=columns, rows=tuple(rows))


# Diagram


def _id(play: Play, n: int) -> str:
    return checkpoint_id(1 + play.log.records[n].key, n)


def _drawn(play: Play) -> Iterator[CheckpointMark]:
    for n, record in enumerate(play.log.records):
        act = play.written_in[n]
        yield CheckpointMark(
            id=_id(play, n), instance=1 + record.key, index=n, name=play.name(record), at=float(n), act=act, kind=MARKS[record.kind]
        )
