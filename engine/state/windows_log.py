"""The output log of one instance, kept from the changes that the loop notes: which windows open and close, and which are checkpointed.

Source: Chronarakis 2019, 3.3 (specification of incremental checkpointing, A9).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words
from engine.spec.experiment.states.base import RECORD_BYTES

from .output_log import Infeasible, OutputLog

Window = tuple[int, int]
"""Key and start."""
FOLDS = (L.CHANGE_FOLD, L.CHANGE_ADD)
STAMP_BYTES = 16
"""Of the start of a window and a number, in a key."""
NOTE_BYTES = 24
"""How many windows are open, the time, and the position of a record about a window; another eight for each further sender."""


class Content(NamedTuple):
    """Of a record of the log. seen: by sender, records of it that the state of the window includes, or that the operator had processed.
    words: of the window's entry, None if it has none or no recovery may ask for it. closed_ns: all windows that end by then are closed."""

    seen: tuple[int, ...]
    words: Words | None
    closed_ns: int


@dataclass(frozen=True)
class Sizes:
    """In bytes. text: in front of each key. value: of the state of a window. result: of a row. window_ns: length of a window."""

    text: int
    value: int
    result: int
    window_ns: int


@dataclass
class WindowsLog:
    """seen: by sender, how many of its records are in the state. covered: of windows that a recovery has restored, what they include, until
    `seen` is as far. written_ns: when each record of the log was written. records, written_bytes: of all that were ever written.
    infeasible: how often more windows were open than a recovery may read records."""

    log: OutputLog
    sizes: Sizes
    seen: Words
    contents: dict[Window, Words] = field(default_factory=dict)
    covered: dict[Window, Words] = field(default_factory=dict)
    written_ns: list[int] = field(default_factory=list)
    closed_ns: int = -L.FAR
    written_bytes: int = 0
    results: int = 0
    infeasible: int = 0

    @property
    def position(self) -> int:
        return int(self.seen.sum())

    @property
    def replay(self) -> int:
        """Records that would be processed again after a crash now."""
        return self.log.replay(self.position)

    def least_seen(self) -> Words:
        """By sender, how many of its records no recovery needs."""
        found = self.seen.copy()
        for content in self.log.open_contents().values():
            found = np.minimum(found, np.array(content.seen, np.int64))
        return found

    def take(self, changes: Words, senders: Words, words: Words | None) -> None:
        """Take changes (n, CHANGE_COLUMNS) in their order. senders: (n,) index of who sent the record. words: (n, columns) of entries."""
        batch = _Batch(changes, senders, words, self.seen)
        at = 0
        while (n := self._next(batch, at)) < len(changes):
            last = batch.last_of_record(n)
            for row in range(n, last + 1):
                self._note(batch, row)
            self.seen = batch.seen[last]
            self._keep_short(batch, last)
            at = last + 1
        if len(changes):
            self.seen = batch.seen[-1].copy()
        if words is not None:
            self.contents.update(batch.newest(self.log))
        if self.covered:
            self.covered = {window: seen for window, seen in self.covered.items() if (seen > self.seen).any() and self.log.is_open(window)}

    def _next(self, batch: _Batch, at: int) -> int:
        """The next change that brings a record to the log: of a window that opens or closes, or with which the replay is too long."""
        replay_max = self.log.bounds.replay_max
        n = batch.next_turn(at)
        if replay_max is not None:
            least = self.log.least_position(L.FAR - replay_max)
            n = min(n, at + int(np.searchsorted(batch.positions[at:], least + replay_max, side="right")))
        return n

    def _note(self, batch: _Batch, n: int) -> None:
        window, now_ns = batch.window(n), int(batch.changes[n, L.CHANGE_TIME])
        if batch.changes[n, L.CHANGE_KIND] == L.CHANGE_CLEAR:
            if self.log.is_open(window):
                self.closed_ns = max(self.closed_ns, window[1] + self.sizes.window_ns)
                seen = tuple(batch.seen[n].tolist())
                self.log.close(window, sum(seen), Content(seen, None, self.closed_ns))
                self._wrote(now_ns, self.sizes.result)
                self.results += 1
                self.contents.pop(window, None)
        elif batch.folds[n] and not self.log.is_open(window):
            seen = batch.seen_before(n)
            self.log.open(window, sum(seen), Content(seen, None, self.closed_ns))
            self._wrote(now_ns, self._about(window))

    def _keep_short(self, batch: _Batch, n: int) -> None:
        """Checkpoint windows after the change `n`, the last one of its record."""
        before = len(self.log.records)

        def seen_by(window: Window) -> Words:
            return np.maximum(self.seen, self.covered[window]) if window in self.covered else self.seen

        def state_of(window: Window) -> Content:
            return Content(tuple(seen_by(window).tolist()), batch.words_of(window, n, self.contents), self.closed_ns)

        try:
            self.log.keep_short(self.position, state_of, lambda window: int(seen_by(window).sum()))
        except Infeasible:
            self.infeasible += 1
        for record in self.log.records[before:]:
            self._wrote(int(batch.changes[n, L.CHANGE_TIME]), self._about(record.key) + self.sizes.value)

    def _about(self, window: Window) -> int:
        """Bytes of a record about a window, without its state."""
        return RECORD_BYTES + self.sizes.text + len(str(window[0])) + STAMP_BYTES + NOTE_BYTES + 8 * (len(self.seen) - 1)

    def _wrote(self, now_ns: int, size: int) -> None:
        self.written_ns.append(now_ns)
        self.written_bytes += size

    def settle(self) -> None:
        """Order windows by key and start. Nothing else changes."""
        self.contents, self.covered = dict(sorted(self.contents.items())), dict(sorted(self.covered.items()))

    def trim(self, to: int) -> None:
        """Drop records before this number that no recovery reads. The last one stays: it says up to where windows are closed."""
        first = self.log.first
        self.log.trim(min(to, self.log.end - 1))
        del self.written_ns[: self.log.first - first]

    def crash(self, since_ns: int | None) -> None:
        """The process ends. since_ns: start of the service in progress, whose records have not come to the log."""
        kept = len(self.written_ns) if since_ns is None else int(np.searchsorted(self.written_ns, since_ns))
        gone = self.log.records[kept:]
        self.log.take_back(self.log.first + kept)
        del self.written_ns[kept:]
        self.results -= sum(record.kind == "out" for record in gone)
        last = self.log.records[-1].content if self.log.records else None
        self.closed_ns = -L.FAR if last is None else last.closed_ns
        self.seen = np.zeros_like(self.seen) if last is None else np.array(last.seen, np.int64)
        self.contents, self.covered = {}, {}

    def recover(self) -> tuple[int, int]:
        """Take over what the log says, and go back to where the input is replayed from. Returns how many records were read, and their
        bytes."""
        found = self.log.recover(self.position)
        self.covered = {window: np.array(content.seen, np.int64) for window, (content, _) in found.windows.items()}
        self.contents = {window: content.words for window, (content, _) in found.windows.items() if content.words is not None}
        self.seen = self.least_seen()
        read = self.log.records[len(self.log.records) - found.read :]
        sizes = {"open": 0, "check": self.sizes.value}
        return found.read, sum(self.sizes.result if r.kind == "out" else self._about(r.key) + sizes[r.kind] for r in read)


class _Batch:
    """Changes of one instance, with what they mean for its windows."""

    def __init__(self, changes: Words, senders: Words, words: Words | None, seen: Words):
        """seen: before the first change."""
        self.changes, self.senders, self.words = changes, senders, words
        kinds = changes[:, L.CHANGE_KIND]
        self.folds = np.isin(kinds, FOLDS)
        self.seen = np.empty((len(changes), len(seen)), np.int64)
        for sender, before in enumerate(seen.tolist()):
            own = np.where(self.folds & (senders == sender), changes[:, L.CHANGE_SEQUENCE] + 1, before)
            self.seen[:, sender] = np.maximum.accumulate(own) if len(own) else own
        self.positions = self.seen.sum(axis=1)
        of_windows = changes[:, [L.CHANGE_KEY, L.CHANGE_PANE]]
        order = np.lexsort((np.arange(len(changes)), of_windows[:, 1], of_windows[:, 0]))
        order = order[self.folds[order]]
        fresh = np.ones(len(order), bool)
        fresh[1:] = (of_windows[order[1:]] != of_windows[order[:-1]]).any(axis=1)
        first = np.flatnonzero(fresh)
        rows_of = np.split(order, first[1:]) if len(order) else []
        names = map(tuple, of_windows[order[first]].tolist())
        self._folds_of: dict[Window, Words] = dict(zip(names, rows_of, strict=True))
        self._turns = np.union1d(order[first], np.flatnonzero(kinds == L.CHANGE_CLEAR))
        same = (changes[1:, L.CHANGE_CHANNEL] == changes[:-1, L.CHANGE_CHANNEL]) & self.folds[1:] & self.folds[:-1]
        same &= changes[1:, L.CHANGE_SEQUENCE] == changes[:-1, L.CHANGE_SEQUENCE]
        self._same_record = np.append(same, False)  # as the next change

    def window(self, n: int) -> Window:
        return int(self.changes[n, L.CHANGE_KEY]), int(self.changes[n, L.CHANGE_PANE])

    def next_turn(self, at: int) -> int:
        """The first change from `at` on that may open or close a window."""
        n = int(np.searchsorted(self._turns, at))
        return int(self._turns[n]) if n < len(self._turns) else len(self.changes)

    def last_of_record(self, n: int) -> int:
        while self._same_record[n]:
            n += 1
        return n

    def seen_before(self, n: int) -> tuple[int, ...]:
        """By sender, records before that of change `n`."""
        found = self.seen[n].tolist()
        found[int(self.senders[n])] = int(self.changes[n, L.CHANGE_SEQUENCE])
        return tuple(found)

    def words_of(self, window: Window, n: int, before: dict[Window, Words]) -> Words | None:
        """What the entry of an open window is after change `n`."""
        if self.words is None:
            return None
        rows = self._folds_of.get(window)
        last = 0 if rows is None else int(np.searchsorted(rows, n, side="right"))
        return before.get(window) if rows is None or last == 0 else self.words[rows[last - 1]].copy()

    def newest(self, log: OutputLog) -> dict[Window, Any]:
        """What the changes have made of the windows that are open after them."""
        if self.words is None:
            return {}
        return {window: self.words[rows[-1]].copy() for window, rows in self._folds_of.items() if log.is_open(window)}
