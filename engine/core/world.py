"""The world: the tables of the loop, and operations on them between calls of the loop: growth, copies, a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from engine.core import buffers
from engine.core import layout as L
from engine.core.keeping import Keeping
from engine.core.kernels import bulk, dependency_vectors
from engine.core.source_logs import SourceLogs
from engine.core.tables import FRESH, LINED, OF_DOCUMENT, SAVED_AS, TRACED, VIEWS, Arrays, Words, arrays, lines


class World:
    """The loop's arrays and the operations on them between calls of the loop.

    keepings: how each operator keeps its keyed state. logs: those of the sources. bounds: by edge, the capacity of a channel in
    records, 0 if unbounded, from the number of inbound channels of a receiver and the speed of the slowest host of receivers.
    """

    def __init__(
        self,
        arrays: Arrays,
        keepings: Sequence[Keeping | None] = (),
        logs: SourceLogs | None = None,
        bounds: Sequence[Callable[[int, int], int]] = (),
    ):
        self.arrays = arrays
        self.keepings = keepings
        self._logs = logs
        self.bounds = bounds

    @property
    def logs(self) -> SourceLogs:
        assert self._logs is not None, "this world has no logs"
        return self._logs

    @cached_property
    def leaving(self) -> list[Words]:
        """Outbound channels of each instance, ascending."""
        return _grouped(self.arrays.chan[:, L.C_SENDER], len(self.arrays.inst))

    @cached_property
    def entering(self) -> list[Words]:
        """Inbound channels of each instance, including feedback edges, ascending."""
        return _grouped(self.arrays.chan[:, L.C_RECEIVER], len(self.arrays.inst))

    # -- growth -----------------------------------------------------------------------------------------------------

    def grow(self, reason: int) -> None:
        """Enlarge the table that the loop ran out of. The loop resumes exactly where it stopped."""
        w, g = self.arrays, self.arrays.g
        need = int(g[L.G_NEED])
        if reason == L.NEED_MESSAGES:
            old = len(w.free)
            new = _next_size(old, need)
            free = np.zeros(new, np.int64)
            count = int(g[L.G_FREE])
            free[: new - old] = np.arange(new - 1, old - 1, -1)
            free[new - old : new - old + count] = w.free[:count]  # old ones stay on top: they are in the cache
            g[L.G_FREE] += new - old
            self._set(msg=w.msg if new <= len(w.msg) else _taller(w.msg, new), free=free)
        elif reason == L.NEED_RING:
            self._grow_rings()
        elif reason == L.NEED_ENTRIES:
            old = int(g[L.G_ENTRIES_SIZE])
            new = _next_size(old, need)
            fresh = int(g[L.G_ENTRY_FRESH])
            entry = w.entry if new <= len(w.entry) else _taller(w.entry, new, fresh)
            table = buffers.words(1 << (2 * new - 1).bit_length())
            table[:] = -1
            bulk.rehash(table, entry, fresh)
            g[L.G_ENTRIES_FREE] += new - old
            g[L.G_ENTRIES_SIZE] = new
            self._set(entry=entry, table=table)
        elif reason == L.NEED_ROWS:
            old = len(w.row)
            new = _next_size(old, need)
            g[L.G_ROWS_FREE] += new - old
            g[L.G_ROWS_SIZE] = new
            self._set(row=_taller(w.row, new, int(g[L.G_ROW_FRESH])))
        elif reason == L.NEED_PANES:
            old = len(w.pane)
            new = _next_size(old, need)
            pane = _taller(w.pane, new)
            pane[old:, L.W_NEXT] = np.arange(old + 1, new + 1)
            pane[-1, L.W_NEXT] = g[L.G_PANE]
            g[L.G_PANE] = old
            g[L.G_PANES_FREE] += new - old
            self._set(pane=pane)
        elif reason == L.NEED_VECTORS:
            if dependency_vectors.sweep(w, int(g[L.G_VECTOR])) < len(w.vectors) // 4:
                old = len(w.vectors)
                larger = np.concatenate([w.vectors, np.zeros_like(w.vectors)])
                larger[old:, L.KNOWN_SHARED] = np.arange(old + 1, 2 * old + 1)
                larger[-1, L.KNOWN_SHARED] = g[L.G_VECTOR_FREE]
                g[L.G_VECTOR_FREE] = old
                g[L.G_VECTOR_ROWS_FREE] += old
                self._set(vectors=larger)
        elif reason == L.NEED_TRACE:
            self._set(trace=_taller(w.trace, 2 * len(w.trace), int(g[L.G_TRACE])))
        else:
            raise AssertionError(f"the loop returned for the unknown reason {reason}")
        if g[L.G_TRACING]:
            self._note_all_rows()

    # -- what is kept for an observer -------------------------------------------------------------------------------

    def start_tracing(self, rows: int) -> None:
        """Trace every service that begins from now on; discard the earlier trace. rows: initial size of the trace."""
        g = self.arrays.g
        g[L.G_TRACING], g[L.G_TRACE], g[L.G_TRACE_BASE] = 1, 0, 0
        self.arrays.behind[:, L.B_ROW] = -1
        if len(self.arrays.trace) < rows:
            self._set(trace=_taller(self.arrays.trace, rows, 0))
        self._set(**{name: getattr(self.arrays, name)[:0] for name in TRACED})
        self._note_all_rows()

    def stop_tracing(self) -> None:
        """Stop tracing and discard the trace. The memory is kept for the next trace."""
        g = self.arrays.g
        g[L.G_TRACING], g[L.G_TRACE], g[L.G_TRACE_BASE] = 0, 0, 0
        self._set(**{name: getattr(self.arrays, name)[:1].copy() for name in TRACED})

    def plan_ends(self) -> None:
        """Write the planned ends of services in progress into the trace, as far as they are known; pauses move them."""
        w, base = self.arrays, int(self.arrays.g[L.G_TRACE_BASE])
        serving = w.proc[w.proc[:, L.P_INSTANCE] >= 0]
        rows = w.behind[serving[:, L.P_INSTANCE], L.B_ROW]
        w.trace[rows[rows >= base] - base, L.T_END] = serving[rows >= base, L.P_END]

    def drop_trace(self, before_ns: int) -> None:
        """Drop the first services of the trace, up to one that ends at `before_ns` or later."""
        self.plan_ends()
        w, g = self.arrays, self.arrays.g
        rows = int(g[L.G_TRACE])
        still_wanted = (w.trace[:rows, L.T_START] >= 0) & (w.trace[:rows, L.T_END] >= before_ns)
        first = int(np.argmax(still_wanted)) if still_wanted.any() else rows
        w.trace[: rows - first] = w.trace[first:rows].copy()
        g[L.G_TRACE] -= first
        g[L.G_TRACE_BASE] += first

    def taken_outputs(self) -> Words:
        """The rows in the output buffer since the last call. A full buffer is handed over, a partly filled one is copied."""
        g, whole = self.arrays.g, self.arrays.outputs
        rows = whole[: g[L.G_OUTPUT]]
        g[L.G_OUTPUT] = 0
        if 2 * len(rows) < len(whole):
            return rows.copy()
        self._set(outputs=np.empty_like(whole))
        return rows

    def _note_all_rows(self) -> None:
        """Make room in the notes for all rows of their tables. Rows in use without a note yet get -1."""
        w = self.arrays
        longer = {}
        for name, table in TRACED.items():
            notes, rows = getattr(w, name), len(getattr(w, table))
            if len(notes) < rows:
                in_use = int(w.g[FRESH[table]]) if table in FRESH else rows
                known = min(len(notes), in_use)
                longer[name] = np.zeros((rows, *notes.shape[1:]), np.int64)
                longer[name][:known] = notes[:known]
                longer[name][known:in_use] = -1
        if longer:
            self._set(**longer)

    def replace(self, **changed: Words) -> None:
        """Put tables in the place of others."""
        self._set(**changed)

    def _set(self, **changed: Any) -> None:
        given = {name: array for name, array in self.arrays._asdict().items() if name not in VIEWS}
        self.arrays = arrays(**{**given, **changed})

    def _grow_rings(self) -> None:
        w = self.arrays
        old = w.rings.shape[1]
        new = 2 * old
        rings = buffers.zeros(len(w.rings) * new * 3).reshape(-1, new, 3)
        for r in range(len(rings)):
            head, tail = self._ring_bounds(r)
            positions = np.arange(head, tail)
            rings[r, positions & (new - 1)] = w.rings[r, positions & (old - 1)]
        self._set(rings=rings, scratch=np.zeros((2, new, 3), np.int64))

    def _ring_bounds(self, r: int) -> tuple[int, int]:
        host = self.arrays.host[r // 2]
        columns = (L.H_LOCAL, L.H_LOCAL_TAIL) if r % 2 == 0 else (L.H_REMOTE, L.H_REMOTE_TAIL)
        return int(host[columns[0]]), int(host[columns[1]])

    def room(self, sender: int, receiver: int) -> int:
        """Free places in the delay line or inbox that messages from one instance to another enter first."""
        w = self.arrays
        h, h2 = int(w.inst[sender, L.I_HOST]), int(w.inst[receiver, L.I_HOST])
        way = int(w.latency[h, h2])
        r = 2 * h if h == h2 else 2 * (h2 if way >= 0 else int(w.link[-1 - way, L.LINK_INBOX])) + 1
        head, tail = self._ring_bounds(r)
        return int(w.rings.shape[1]) - (tail - head)

    # -- copies -----------------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Words]:
        """A copy of all arrays but the output buffer and what the document yields. Tables filled from the front are cut to the rows in
        use."""
        g = self.arrays.g
        used = {name: int(g[scalar]) for name, scalar in FRESH.items()} | {"msg": len(self.arrays.free)}
        used |= {name: used[table] for name, table in TRACED.items() if table in used} | {"trace": int(g[L.G_TRACE])}
        return {
            SAVED_AS.get(name, name): array[: used.get(name)].copy()
            for name, array in self.arrays._asdict().items()
            if name not in VIEWS and name not in ("outputs", "changes", "change_words") and name not in OF_DOCUMENT
        }

    def restore(self, snapshot: dict[str, Words]) -> None:
        """Restore a snapshot (copied), but keep the settings for tracing and outputs."""
        own = self.arrays
        names = {saved: name for name, saved in SAVED_AS.items()}
        snapshot = {names.get(saved, saved): array for saved, array in snapshot.items()}
        g = snapshot["g"].copy()
        tracing = int(own.g[L.G_TRACING])
        goes_on = tracing and int(g[L.G_TRACING])
        g[[L.G_TRACING, L.G_KEEPING, L.G_OUTPUT]] = tracing, own.g[L.G_KEEPING], 0
        rows = {"row": int(g[L.G_ROWS_SIZE]), "entry": int(g[L.G_ENTRIES_SIZE])}
        taken = {
            name: _taller(array, rows.get(name, len(array)), len(array)) if name in LINED else array.copy()
            for name, array in snapshot.items()
            if name not in ("msg", "trace")
        }
        taken["msg"] = _taller(snapshot["msg"], max(len(own.msg), len(snapshot["msg"])))
        traced = snapshot["trace"]
        trace = _taller(traced, max(len(own.trace), len(traced) * goes_on), len(traced) * goes_on)
        self._set(**taken, trace=trace, outputs=np.empty_like(own.outputs), changes=own.changes, change_words=own.change_words)
        self._set(g=g)
        self.arrays.op[:, L.O_CODE] = own.op[:, L.O_CODE]  # the run that was saved may have had other kinds woven in
        if goes_on:
            self._note_all_rows()
        elif tracing:
            self.start_tracing(len(own.trace))
        else:
            self.stop_tracing()

    # -- what is where --------------------------------------------------------------------------------------------------

    def queue(self, i: int) -> list[int]:
        return self._list(int(self.arrays.inst[i, L.I_QUEUE]))

    def aside(self, i: int) -> list[int]:
        """Messages that wait for an instance and are passed over."""
        return self._list(int(self.arrays.align[i, L.ALIGN_ASIDE]))

    def outbox(self, i: int) -> list[int]:
        return self._list(int(self.arrays.inst[i, L.I_OUT]))

    def rests(self, h: int, now_ns: int) -> bool:
        """Whether the host has nothing to do but background work, now or after a pause."""
        w = self.arrays
        processors = w.proc[w.host[h, L.H_PROCESSOR] : w.host[h, L.H_PROCESSOR_END]]
        background = w.host[h, L.H_BACKGROUND_END] < L.FAR or w.host[h, L.H_BACKGROUND_PS] > 0
        if not (background or now_ns < w.host[h, L.H_PAUSED] == w.next_ns[h]):
            return False
        here = w.inst[w.inst[:, L.I_HOST] == h]
        free = here[(here[:, L.I_STATUS] != L.BLOCKED) & (here[:, L.I_RANK] < L.FAR)]
        serving = processors[:, L.P_INSTANCE] >= 0
        under_way = len(self.ring(2 * h)) + len(self.ring(2 * h + 1))
        waiting = free[:, L.I_QUEUE_COUNT].any() or (free[:, L.I_LOG] < free[:, L.I_LOG_END]).any()
        coming = (here[:, [L.I_TICK, L.I_WAKE]] < L.FAR).any()
        return not (serving.any() or under_way or waiting or coming)

    def held(self) -> list[list[int]]:
        """Messages that wait for cut links, by link."""
        return [self._list(int(slot)) for slot in self.arrays.link[:, L.LINK_HELD]]

    def _list(self, slot: int) -> list[int]:
        found, links = [], self.arrays.msg[:, L.M_NEXT]
        while slot >= 0:
            found.append(slot)
            slot = int(links[slot])
        return found

    def ring(self, r: int) -> Words:
        """Messages in a delay line (2 x host) or inbox (2 x host + 1), in order of arrival."""
        w = self.arrays
        head, tail = self._ring_bounds(r)
        items = w.rings[r, np.arange(head, tail) & (w.rings.shape[1] - 1)]
        slots: Words = items[np.lexsort((items[:, L.RING_TIE], items[:, L.RING_TIME])), L.RING_MESSAGE]
        return slots

    def digest(self) -> bytes:
        """Hash of the logical state. It does not depend on how the run was cut, grown, saved or resumed, or on physical places."""
        w = self.arrays
        hasher = hashlib.blake2b(digest_size=32)

        def add(*tables: Words) -> None:
            for table in tables:
                hasher.update(np.ascontiguousarray(table, "<i8").tobytes())
                hasher.update(b"|")

        inst = w.inst.copy()
        inst[:, [L.I_QUEUE, L.I_QUEUE_LAST, L.I_OUT, L.I_LOG, L.I_LOG_END, L.I_AWAITS, L.I_LISTED]] = 0
        proc = w.proc.copy()
        proc[:, [L.P_SLOT, L.P_TURNS]] = 0
        host = w.host.copy()
        host[:, [L.H_LOCAL_TAIL, L.H_REMOTE_TAIL]] -= host[:, [L.H_LOCAL, L.H_REMOTE]]
        host[:, [L.H_LOCAL, L.H_REMOTE, L.H_REMOTE_SORTED, L.H_AGENDA, L.H_LISTED, L.H_ANSWER, L.H_ANSWER_LAST, L.H_ANSWER_PS]] = 0
        gate = w.gate.copy()
        gate[:, [L.Q_KEPT, L.Q_KEPT_LAST, L.Q_VECTOR]] = 0  # what is in the logs follows from what was sent
        align = w.align.copy()
        align[:, [L.ALIGN_ASIDE, L.ALIGN_ASIDE_LAST]] = 0
        link = w.link.copy()
        link[:, [L.LINK_HELD, L.LINK_HELD_LAST]] = 0
        add(*(np.sort(w.tags[m : m + k], axis=0) for m, k in host[:, [L.H_MEMBER, L.H_RUNNING]].tolist()))
        add(
            inst,
            proc,
            host,
            link,
            w.memory,
            w.tally[:, : L.Y_READ],
            w.progress,
            w.epochs,
            w.chan[:, : L.C_HELD],
            gate,
            align,
            w.credit,
            w.route,
            w.histogram,
            w.latency_sums,
            w.hook,
        )
        if w.chan[:, L.C_HELD].any():
            add(w.chan[:, L.C_HELD])
        for slots in self.held():
            add(self._messages_digest(slots))
        for i in range(len(inst)):
            add(self._messages_digest(self.aside(i) + self.queue(i)), self._messages_digest(self.outbox(i), i))
        add(self._messages_digest([int(slot) for slot in w.proc[:, L.P_SLOT] if slot >= 0]))
        for r in range(2 * len(host)):
            add(self._messages_digest(self.ring(r)))
        if w.g[L.G_VECTOR]:
            add(w.vectors[: len(w.inst), L.KNOWN_CLOCK :], w.sent_to)
        kept = [w.op[w.inst[:, L.I_OP], column].astype(np.int64) for column in (L.O_ROW_WORDS, L.O_GROUP_WORDS, L.O_FIRST_ROW)]
        add(np.array([bulk.state_digest(w.table, w.entry, w.row, *kept, int(w.g[L.G_STAMPS]))]), w.g[[L.G_HOPS, L.G_ENTRIES_USED]])
        return hasher.digest()

    def _messages_digest(self, slots: Any, outbox_of: int | None = None) -> Words:
        w = self.arrays
        slots = np.asarray(slots, np.int64)
        channels = w.msg[slots, L.M_CHANNEL]
        senders = w.chan[channels, L.C_SENDER] if outbox_of is None else np.full(len(slots), outbox_of)
        is_record = w.msg[slots, L.M_KIND] == L.RECORD
        operators = w.inst[np.where(is_record, senders, 0), L.I_OP]
        edges = w.msg[slots, L.M_EDGE]
        if outbox_of is None:
            ports = w.edge[np.where(is_record, edges, 0), L.E_OUTPUT]
        else:  # not sent yet: the port's number, where there are several
            ports = np.where(is_record & (w.op[operators, L.O_PORTS] > 1), edges, 0)
        widths = np.where(is_record, w.par[w.op[operators, L.O_PORT_WIDTHS] + ports], 0).astype(np.int64)
        widths[w.msg[slots, L.M_KIND] == L.CONTROL_MESSAGE] = L.X_COLUMNS
        placed = int(outbox_of is None)
        stamps = int(w.g[L.G_STAMPS]) + (placed if w.g[L.G_MEASURES] else 0)  # when it was sent stands before them
        digest = bulk.messages_digest(w.msg, slots, widths, placed, stamps, int(w.g[L.G_SWEEPING]))
        return np.array([digest, *ports] if ports.any() else [digest])


def _grouped(of: Words, count: int) -> list[Words]:
    """Positions of each number below `count` in `of`."""
    order = np.argsort(of, kind="stable")
    return np.split(order, np.searchsorted(of[order], np.arange(1, count)))


def _next_size(old: int, need: int) -> int:
    new = 2 * old
    while new - old < need:
        new *= 2
    return new


def _taller(table: Words, rows: int, used: int | None = None) -> Words:
    """A copy with more rows. used: rows from here on are written before they are read, so their contents do not matter; None: further rows
    are zero."""
    larger = lines(rows, table.shape[1], buffers.zeros if used is None else buffers.words)
    used = len(table) if used is None else used
    larger[:used] = table[:used]
    return larger
