"""A changelog, record by record: segments that are closed, what a pass of the cleaner removes, and what readers learn. The log is that of
`engine/services/topics.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.services.topics import LogSettings, Partition

from .changelog_document import ChangelogAct, ChangelogCase, ChangelogLesson
from .steps import Bar, CheckpointMark, Diagram, Explained, Kind, LessonStep, Table, checkpoint_id, listed

NS = 1_000_000_000
RECORD_BYTES = 1
"""All records are as large, so shares are those of their numbers."""
SEGMENTS = "segments"


@dataclass
class Written:
    """A record. act: number of the act that wrote it. gone_in: the act that removed it, 0 for none yet."""

    key: str
    value: int | None
    act: int
    gone_in: int = 0

    @property
    def name(self) -> str:
        return f"{self.key} gone" if self.value is None else f"{self.key}={self.value}"


@dataclass
class Shown:
    """A segment in the diagram. until_act: the pass that replaces it, None for none."""

    first: int
    last: int
    act: int
    until_act: int | None = None


@dataclass
class Play:
    """The log of a case, and a store that reads it now and then."""

    lesson: ChangelogLesson
    case: ChangelogCase
    log: Partition = field(init=False)
    written: list[Written] = field(default_factory=list)  # by offset
    shown: list[Shown] = field(default_factory=list)
    state: dict[str, int] = field(default_factory=dict)  # of the task
    copy: dict[str, int] = field(default_factory=dict)  # of the store that reads
    read_to: int = 0

    def __post_init__(self) -> None:
        lesson, case = self.lesson, self.case
        self.log = Partition(LogSettings(lesson.segment_s * NS, 1000, lesson.dirty_share, case.retention_s * NS, case.tombstone_rule))
        self.keys = [*dict.fromkeys(act.put or act.delete or "" for act in case.acts if act.put or act.delete)]

    def write(self, key: str, value: int | None, act: int) -> bool:
        """Append a record. Returns whether a segment was closed before it."""
        rolled = self.log.rolled
        time_ns, number, size, word = (np.array([word]) for word in (act * NS, self.keys.index(key), RECORD_BYTES, value or 0))
        self.log.append(time_ns, number, size, word, np.array([value is None]))
        offset = len(self.written)
        self.written.append(Written(key, value, act))
        closed = self.log.rolled > rolled
        if closed or not self.shown or self.shown[-1].until_act is not None:
            self.shown.append(Shown(offset, offset, act))
        self.shown[-1].last = offset
        return closed

    def clean(self, act: int) -> list[int]:
        """A pass. Returns the offsets of records that it removes."""
        before = set(self.log.read().offsets.tolist())
        active = set(self.log.read().offsets.tolist()[-self.active :]) if self.active else set()
        self.log.swap(self.log.cleaning(act * NS))
        left = self.log.read().offsets.tolist()
        gone = sorted(before - set(left))
        for offset in gone:
            self.written[offset].gone_in = act
        for segment in self.shown:
            if segment.until_act is None and segment.last not in active:
                segment.until_act = act
        open_one = [segment for segment in self.shown if segment.until_act is None]
        clean = [offset for offset in left if offset not in active]
        merged = [Shown(clean[0], clean[-1], act)] if clean else []
        self.shown = [segment for segment in self.shown if segment.until_act is not None] + merged + open_one
        return gone

    @property
    def active(self) -> int:
        """Number of records in the active segment."""
        return (self.log.bytes - self.log.clean_bytes - self.log.dirty_bytes) // RECORD_BYTES

    def read(self) -> list[str]:
        """Let the other store read on. Returns the names of the records that it reads."""
        records = self.log.read(self.read_to)
        for offset in records.offsets.tolist():
            one = self.written[offset]
            if one.value is None:
                self.copy.pop(one.key, None)
            else:
                self.copy[one.key] = one.value
        self.read_to = self.log.end
        return [self.written[offset].name for offset in records.offsets.tolist()]

    def superseded(self) -> list[int]:
        """Offsets of records that are in the log, and not the newest of their key."""
        newest = {one.key: offset for offset, one in enumerate(self.written)}
        return [offset for offset, one in enumerate(self.written) if not one.gone_in and newest[one.key] > offset]

    def gone(self) -> list[int]:
        return [offset for offset, one in enumerate(self.written) if one.gone_in]


def explained_changelog(lesson: ChangelogLesson, case: ChangelogCase) -> Explained:
    play = Play(lesson, case)
    steps = [_beginning(lesson, case)]
    for act, about in enumerate(case.acts, 1):
        step = _acted(play, about, act)
        focus = () if about.verb in ("clean", "read") else (_id(play, len(play.written) - 1),)
        marks = {"useless": tuple(_id(play, n) for n in play.superseded()), "discarded": tuple(_id(play, n) for n in play.gone())}
        steps.append(step.model_copy(update={"act": act, "focus": focus, "table": _table(play), **marks}))
    diagram = Diagram(
        instances=(SEGMENTS, *play.keys),
        first=0.0,
        last=float(len(case.acts) + 1),
        checkpoints=tuple(_mark(play, offset) for offset in range(len(play.written))),
        messages=(),
        bars=tuple(_bar(play, segment) for segment in play.shown),
    )
    return Explained(
        name=case.name, text=case.text, shows="changelog", heading="Records by key, and segments", diagram=diagram, steps=tuple(steps)
    )


# Texts


def _beginning(lesson: ChangelogLesson, case: ChangelogCase) -> LessonStep:
    text = f"Something happens each second. A segment is closed before a record that comes more than {lesson.segment_s} s after its first "
    text += f"one. The cleaner takes the log if its dirty share is above {lesson.dirty_share:g}: the closed records that no pass has seen, "
    text += f"over all closed ones. A tombstone stays for {case.retention_s} s, "
    if case.tombstone_rule == "merged_segment_mtime":
        text += "by the age of its segment: a merged segment is as old as its newest part."
    else:
        text += "from the first pass that it comes through."
    return LessonStep(title="Before the first record", text=text, act=0)


def _acted(play: Play, about: ChangelogAct, act: int) -> LessonStep:
    if about.verb in ("put", "delete"):
        return _written(play, about, act)
    if about.verb == "read":
        return _read(play)
    share = play.log.dirty_share
    if not play.log.is_due:
        text = f"The dirty share is {share:.2f}, not above {play.lesson.dirty_share:g}. Nothing is done, and the thread sleeps."
        return LessonStep(title="The cleaner finds nothing to do", text=text)
    gone = [play.written[offset] for offset in play.clean(act)]
    left = [play.written[offset] for offset in play.log.read().offsets.tolist()]
    tombstones = [one.name for one in left if one.value is None]
    text = f"The dirty share is {share:.2f}. The pass notes the newest record of each key, rewrites all closed segments as one, and leaves "
    text += f"out {listed([one.name for one in gone])}." if gone else "out nothing."
    if tombstones:
        stay = "stays" if len(tombstones) == 1 else "stay"
        text += f" {listed(tombstones)} {stay}, so that who has read an older value learns that it is gone."
    lost = [one.key for one in gone if one.value is None]
    if lost:
        text += f" With {'its tombstone' if len(lost) == 1 else 'their tombstones'}, {listed(lost)} can no longer be found in the log."
    return LessonStep(title="The cleaner makes a pass", text=text)


def _written(play: Play, about: ChangelogAct, act: int) -> LessonStep:
    key = about.put or about.delete or ""
    before = [n for n, one in enumerate(play.written) if one.key == key and not one.gone_in]
    value = act if about.put else None
    closed = play.write(key, value, act)
    if value is None:
        play.state.pop(key, None)
        title, text = f"{key} is deleted", f"A tombstone goes to offset {len(play.written) - 1}."
    else:
        play.state[key] = value
        title, text = f"{key} is set to {value}", f"{key}={value} goes to offset {len(play.written) - 1}."
    if closed:
        text = f"The active segment began more than {play.lesson.segment_s} s ago, so it is closed first. {text}"
    if before:
        text += f" {play.written[before[-1]].name} at offset {before[-1]} no longer matters, and stays until a pass."
    return LessonStep(title=title, text=text)


def _read(play: Play) -> LessonStep:
    names = play.read()
    came = f"It reads {listed(names)}." if names else "There is nothing new."
    wrong = sorted(play.copy.items() - play.state.items()) or sorted(play.state.items() - play.copy.items())
    text = f"{came} It has {_contents(play.copy)}, and the task {_contents(play.state)}."
    if wrong:
        back = [key for key, _ in wrong if key not in play.state]
        if back:
            text += f" {listed(back)} came back: its tombstone had gone before this store read it."
        return LessonStep(title="Another store reads on, and differs", text=text, verdict="bad")
    return LessonStep(title="Another store reads on", text=text, verdict="good")


def _contents(state: dict[str, int]) -> str:
    return listed([f"{key}={value}" for key, value in sorted(state.items())]) or "nothing"


def _table(play: Play) -> Table:
    log = play.log
    newest = {one.key: offset for offset, one in enumerate(play.written)}
    left = log.read().offsets.tolist()
    clean, dirty = (sum(len(segment.records) for segment in segments) for segments in (log.clean, log.dirty))
    rows = []
    for name, offsets in (("clean", left[:clean]), ("dirty", left[clean : clean + dirty]), ("active", left[clean + dirty :])):
        live = [play.written[n] for n in offsets if newest[play.written[n].key] == n]
        values = [one.name for one in live if one.value is not None]
        tombstones = [one.key for one in live if one.value is None]
        rows.append((name, str(len(offsets)), ", ".join(values) or "–", ", ".join(tombstones) or "–", str(len(offsets) - len(live))))
    columns = ("Segments", "Records", "Newest values", "Tombstones", "Superseded")
    return Table(title=f"The log after this step, dirty share {log.dirty_share:.2f}", columns=columns, rows=tuple(rows))


# Diagram


def _id(play: Play, offset: int) -> str:
    return checkpoint_id(1 + play.keys.index(play.written[offset].key), offset)


def _mark(play: Play, offset: int) -> CheckpointMark:
    one = play.written[offset]
    row = 1 + play.keys.index(one.key)
    kind: Kind = "forced" if one.value is None else "basic"
    return CheckpointMark(id=_id(play, offset), instance=row, index=offset, name=one.name, at=float(one.act), act=one.act, kind=kind)


def _bar(play: Play, segment: Shown) -> Bar:
    at, until = play.written[segment.first].act - 0.4, play.written[segment.last].act + 0.4
    return Bar(instance=0, at=at, until=until, act=segment.act, until_act=segment.until_act)
