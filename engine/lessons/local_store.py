"""A local store with its changelog, act by act: what leaves the cache, what a commit makes durable, and what a crash costs. The store is
that of `engine/state/store.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.services.topics import LogSettings, Partition
from engine.state.cache import CacheSettings
from engine.state.kernels import DELETE, PUT, SCAN
from engine.state.store import Store, StoreSettings

from .local_store_document import StoreAct, StoreCase, StoreLesson
from .steps import CheckpointMark, Diagram, Explained, Kind, LessonStep, MessageArrow, Table, checkpoint_id, listed

NS = 1_000_000_000
SIZE_BYTES = 30
ROWS = ("cache", "changelog", "memory", "disk")
CACHE, LOG, MEMORY, DISK = range(len(ROWS))


@dataclass
class Mark:
    """An entry that came to a place. nth: of those that came to this row in this act. gone_in: the act in which it was lost or dropped, 0
    for none."""

    row: int
    name: str
    key: int
    act: int
    nth: int
    is_tombstone: bool
    gone_in: int = 0


@dataclass
class Play:
    """The store of a case. inputs: the acts that stand for tuples and ends of windows. position: how many of them have been processed.
    committed: up to which the last commit has noted."""

    lesson: StoreLesson
    case: StoreCase
    store: Store = field(init=False)
    names: list[str] = field(default_factory=list)  # by number of the key
    inputs: list[StoreAct] = field(default_factory=list)
    position: int = 0
    committed: int = 0
    marks: list[Mark] = field(default_factory=list)
    truth: Counter[str] = field(default_factory=Counter)  # tuples of each open window, each once

    def __post_init__(self) -> None:
        cache = CacheSettings(batch=self.lesson.batch, objects=max(self.lesson.batch, 100))
        self.store = Store(StoreSettings(cache=cache), Partition(LogSettings()))

    # -- what a task does ----------------------------------------------------------------------------------------------------------

    def process(self, about: StoreAct, act: int) -> None:
        """A tuple, or the end of a window, that has not been processed before."""
        self.inputs.append(about)
        if about.close:
            self.truth.pop(about.close, None)
        else:
            self.truth[about.add or about.keep or ""] += 1
        self._carry_out(about, act)

    def replay(self, act: int) -> int:
        """Process again what came after the last commit. Returns how much."""
        again = self.inputs[self.position :]
        for about in again:
            self._carry_out(about, act)
        return len(again)

    def _carry_out(self, about: StoreAct, act: int) -> None:
        self.position += 1
        if about.add:
            self._operate(SCAN, 0, 0, act)
            key = self._key(about.add)
            self._operate(PUT, key, self.values().get(key, 0) + 1, act)
        elif about.keep:
            count = sum(name.startswith(f"{about.keep}.") for name in self.names)
            self._operate(PUT, self._key(f"{about.keep}.{count + 1}"), self.position, act)
        else:
            self._operate(SCAN, 0, 0, act)
            for key in sorted(self.values()):
                if self.window(key) == about.close:
                    self._operate(DELETE, key, 0, act)

    def _operate(self, kind: int, key: int, value: int, act: int) -> None:
        if kind != SCAN:
            self._mark(CACHE, key, value, act, kind == DELETE)
        before = self.store.log.end
        self.store.carry_out(np.array([[kind, act * NS, key, value, SIZE_BYTES]]))
        self._mark_written(before, act)

    def commit(self, act: int, only_first: bool) -> None:
        """Bring the store to disk and note the position, in this order or the other. only_first: the task crashes in between."""
        position_first = self.case.commit_order == "position_then_flush"
        if position_first or not only_first:
            self.committed = self.position
        if position_first and only_first:
            return
        before = self.store.log.end
        memory = self._in_memory()
        self.store.tree.advance(self.store.commit(act * NS))
        self._mark_written(before, act)
        for entry in {entry[0]: entry for entry in [*memory, *self._log_from(before)]}.values():
            self._mark(DISK, *entry[:2], act, entry[2])

    def crash(self, act: int, disk_lost: bool) -> tuple[int, bool]:
        """Crash and restore. Returns how many records of the changelog are read, and whether the disk is used."""
        for mark in self.marks:
            if not mark.gone_in and (mark.row in (CACHE, MEMORY) or (mark.row == DISK and disk_lost)):
                mark.gone_in = act
        self.store.crash(act * NS, disk_lost)
        self.position = self.committed
        first = self.store.offset + 1
        found = self.store.restore(act * NS)
        for key, value, is_tombstone in self._log_from(first if found.way == "local" else 0):
            self._mark(MEMORY, key, value, act, is_tombstone)
        return found.records, found.way == "local"

    def drop_merged(self, act: int) -> list[str]:
        """A merge of all runs drops the tombstones of keys that it has nothing of. Returns their names."""
        runs = [run.entries for level in self.store.tree.levels for run in level]
        there = {key for run in runs for key in run.keys.tolist()}
        dropped = [mark for mark in self.marks if mark.row == DISK and not mark.gone_in and mark.key not in there]
        for mark in dropped:
            mark.gone_in = act
        return list(dict.fromkeys(mark.name for mark in dropped if mark.is_tombstone))

    # -- what there is -------------------------------------------------------------------------------------------------------------

    def values(self) -> dict[int, int]:
        """What the task would read now: cache over tree."""
        found = self.store.tree.contents()
        values = dict(zip(found.keys.tolist(), found.values.tolist(), strict=True))
        for key, value, is_tombstone, _ in self.store.cache.entries():
            values.pop(key, None)
            if not is_tombstone:
                values[key] = value
        return values

    def window(self, key: int) -> str:
        return self.names[key].split(".")[0]

    def counts(self) -> Counter[str]:
        """Tuples by window, as the store has them: a value that was added up, or tuples that are kept."""
        found: Counter[str] = Counter()
        for key, value in self.values().items():
            found[self.window(key)] += 1 if "." in self.names[key] else value
        return found

    def named(self, key: int, value: int, is_tombstone: bool) -> str:
        if is_tombstone:
            return f"{self.names[key]} gone"
        return self.names[key] if "." in self.names[key] else f"{self.names[key]}={value}"

    def _key(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
            number = np.array([len(self.names) - 1])
            self.store.keys.add(number, np.zeros(1, np.int64), np.zeros(1, np.int64))
        return self.names.index(name)

    def _log_from(self, first: int) -> Iterator[tuple[int, int, bool]]:
        records = self.store.log.read(first)
        yield from zip(records.keys.tolist(), records.values.tolist(), records.is_tombstone.tolist(), strict=True)

    def _in_memory(self) -> list[tuple[int, int, bool]]:
        parts = [part for buffer in (*self.store.tree.full, self.store.tree.active) for part in buffer.parts]
        rows = [zip(part.keys.tolist(), part.values.tolist(), part.is_tombstone.tolist(), strict=True) for part in parts]
        newest = {key: (key, value, is_tombstone) for part in rows for key, value, is_tombstone in part}
        return [*newest.values()]

    def _mark_written(self, before: int, act: int) -> None:
        for key, value, is_tombstone in self._log_from(before):
            self._mark(LOG, key, value, act, is_tombstone)
            self._mark(MEMORY, key, value, act, is_tombstone)

    def _mark(self, row: int, key: int, value: int, act: int, is_tombstone: bool) -> None:
        same = sum(mark.row == row and mark.act == act for mark in self.marks)
        self.marks.append(Mark(row, self.named(key, value, is_tombstone), key, act, same, is_tombstone))

    def superseded(self) -> list[int]:
        """Marks that are there, and are not the newest of their key in their row."""
        newest = {(mark.row, mark.key): n for n, mark in enumerate(self.marks) if not mark.gone_in}
        return [n for n, mark in enumerate(self.marks) if not mark.gone_in and newest[mark.row, mark.key] > n]


def explained_store(lesson: StoreLesson, case: StoreCase) -> Explained:
    play = Play(lesson, case)
    steps = [_beginning(lesson)]
    for act, about in enumerate(case.acts, 1):
        before = len(play.marks)
        follows = case.acts[act].verb if act < len(case.acts) else ""
        step = _acted(play, about, act, case.crash_in_commit and follows == "crash")
        if dropped := play.drop_merged(act):
            text = f"{step.text} A merge of all runs has dropped {listed(dropped)}: nothing older is left to hide."
            step = step.model_copy(update={"text": text})
        marks = {
            "focus": tuple(_id(play, n) for n in range(before, len(play.marks))),
            "useless": tuple(_id(play, n) for n in play.superseded()),
            "discarded": tuple(_id(play, n) for n, mark in enumerate(play.marks) if mark.gone_in),
        }
        steps.append(step.model_copy(update={"act": act, "table": _table(play), **marks}))
    starts = _starts(play)
    diagram = Diagram(
        instances=ROWS,
        first=0.0,
        last=starts[-1],
        checkpoints=tuple(_drawn(play, n, starts) for n in range(len(play.marks))),
        messages=tuple(_arrows(play, starts)),
    )
    return Explained(name=case.name, text=case.text, shows="local_store", heading="Where entries are", diagram=diagram, steps=tuple(steps))


# Texts


def _beginning(lesson: StoreLesson) -> LessonStep:
    text = (
        f"Something happens each second. The cache writes out its dirty entries when there are {lesson.batch}, at a commit, and before a "
    )
    text += "scan, because only the tree below knows the order of keys. What is written out goes to the changelog and to the memory of the "
    text += "tree. A commit brings the memory to disk, as the newest version of each key."
    return LessonStep(title="Before the first tuple", text=text, act=0)


def _acted(play: Play, about: StoreAct, act: int, is_cut: bool) -> LessonStep:
    before = len(play.marks)
    if about.commit:
        return _committed(play, act, is_cut)
    if about.crash:
        return _crashed(play, act, about.crash == "disk")
    if about.replay:
        return _replayed(play, act)
    play.process(about, act)
    cached = [mark.name for mark in play.marks[before:] if mark.row == CACHE]
    logged = [mark.name for mark in play.marks[before:] if mark.row == LOG]
    if about.add:
        title, text = f"A tuple is added to {about.add}", "The window reads its value by a scan"
        text += f", so {listed(logged)} {_is(logged)} written out first. " if logged else ". Nothing has to be written out first. "
        text += f"Then {listed(cached)} is written to the cache."
    elif about.keep:
        title, text = f"A tuple is kept in {about.keep}", f"It gets the key {listed(cached)}. Nothing is read, so it can wait in the cache."
        if logged:
            text += f" With it, {play.lesson.batch} entries are dirty, and {listed(logged)} leave together."
    else:
        title, first = f"Window {about.close} closes", [name for name in logged if name not in cached]
        batch = [name for name in logged if name in cached]
        text = f"It is read by a scan, so {listed(first)} {_is(first)} written out first. " if first else "It is read by a scan. "
        text += f"Each of its keys is deleted: {listed(cached)}." if cached else "It has no entries."
        if batch:
            text += f" Of these, {listed(batch)} leave as a batch."
    return LessonStep(title=title, text=text)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _committed(play: Play, act: int, is_cut: bool) -> LessonStep:
    before = len(play.marks)
    play.commit(act, is_cut)
    logged = [mark.name for mark in play.marks[before:] if mark.row == LOG]
    flushed = [mark.name for mark in play.marks[before:] if mark.row == DISK]
    noted = f"The task notes that it has processed the input up to position {play.position}."
    stored = f"The cache writes out {listed(logged)}. " if logged else "The cache has nothing to write out. "
    stored += f"The tree flushes {listed(flushed)} to disk." if flushed else "The tree has nothing to flush."
    position_first = play.case.commit_order == "position_then_flush"
    if is_cut:
        return LessonStep(title="A commit begins", text=f"{noted if position_first else stored} It does not come to the other half.")
    return LessonStep(title="The task commits", text=f"{noted} {stored}" if position_first else f"{stored} {noted}")


def _crashed(play: Play, act: int, disk_lost: bool) -> LessonStep:
    records, is_local = play.crash(act, disk_lost)
    lost = "the disk is lost" if disk_lost else "the disk is still there"
    text = f"The cache and the memory are gone; {lost}. "
    read = _counted(records, "record")
    if is_local:
        text += f"The store is as its last commit left it. It reads {read} of the changelog, from there on."
    else:
        text += f"An empty store reads the whole changelog, {read}."
    return LessonStep(title="A crash, and a restore", text=f"{text} The input goes on behind position {play.committed}.")


def _replayed(play: Play, act: int) -> LessonStep:
    count = play.replay(act)
    found = play.counts()
    text = f"{_counted(count, 'act').capitalize()} of the input {'are' if count != 1 else 'is'} processed again. "
    text += f"The store then has {_told(found)}. Without a crash it would have {_told(play.truth)}."
    more, fewer = found - play.truth, play.truth - found
    if more:
        text += f" {_told(more)} counts twice: its update had left the cache, so it is in the changelog, and its tuple came again."
    if fewer:
        text += f" {_told(fewer)} is lost: the position was noted before its update had left the cache."
    return LessonStep(title="The input is replayed", text=text, verdict="bad" if more or fewer else "good")


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'s' if count != 1 else ''}"


def _told(counts: Counter[str]) -> str:
    return listed([f"{count} of {window}" for window, count in sorted(counts.items()) if count]) or "nothing"


def _table(play: Play) -> Table:
    store = play.store
    dirty = [play.named(key, value, gone) for key, value, gone, is_dirty in store.cache.entries() if is_dirty]
    log = [play.named(*record) for record in play._log_from(0)]
    behind, again = store.log.end - store.offset - 1, play.position - play.committed
    rows = (
        ("Cache, not written out", ", ".join(dirty) or "–"),
        ("Changelog", ", ".join(log) or "–"),
        ("Memory of the tree", ", ".join(play.named(*entry) for entry in play._in_memory()) or "–"),
        ("Disk", ", ".join(_runs(play)) or "–"),
        ("If the process crashed now", f"{_counted(behind, 'record')} to read, {_counted(again, 'act')} of the input to process again"),
    )
    return Table(title="The store after this step", columns=("Where", "What"), rows=rows)


def _runs(play: Play) -> list[str]:
    found = []
    for run in play.store.tree.levels[0]:
        entries = zip(run.entries.keys.tolist(), run.entries.values.tolist(), run.entries.is_tombstone.tolist(), strict=True)
        found.append(f"run of {listed([play.named(*entry) for entry in entries])}")
    return found


# Diagram


def _id(play: Play, n: int) -> str:
    return checkpoint_id(play.marks[n].row, n)


def _starts(play: Play) -> list[float]:
    """Where each act begins on the axis, from act 0 on, and where the axis ends: an act is as wide as it has marks in one row."""
    starts = [0.0, 1.0]
    for act in range(1, len(play.case.acts) + 1):
        starts.append(starts[-1] + max([1, *(mark.nth + 1 for mark in play.marks if mark.act == act)]))
    return starts


def _drawn(play: Play, n: int, starts: Sequence[float]) -> CheckpointMark:
    mark = play.marks[n]
    kind: Kind = "forced" if mark.is_tombstone else "basic"
    return CheckpointMark(
        id=_id(play, n), instance=mark.row, index=n, name=mark.name, at=starts[mark.act] + mark.nth, act=mark.act, kind=kind
    )


def _arrows(play: Play, starts: Sequence[float]) -> Iterator[MessageArrow]:
    """From the cache to the changelog: what is written out."""
    logged = [mark for mark in play.marks if mark.row == LOG]
    for offset, mark in enumerate(logged):
        before = play.marks[: play.marks.index(mark)]
        sent = next(one for one in reversed(before) if one.row == CACHE and one.key == mark.key)
        arrives_at = starts[mark.act] + mark.nth
        yield MessageArrow(
            name=f"{mark.name}, offset {offset}",
            kind="copy",
            sender=CACHE,
            receiver=LOG,
            sent_at=starts[sent.act] + sent.nth,
            sent_act=mark.act,
            arrives_at=arrives_at,
            arrives_act=mark.act,
            processed_at=arrives_at,
            processed_act=mark.act,
        )
