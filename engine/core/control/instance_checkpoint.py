"""Checkpoint of an instance: everything it needs to resume from a moment at which it had nothing in hand.

Queued and in-flight messages are not part of it; the protocol handles them (`engine.checkpointing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import active, next_tick_ns
from engine.core.control.keyed_state import KeyedState, tables_from_bytes, tables_to_bytes
from engine.core.kernels import channel_log, dependency_vectors, host_failure
from engine.core.kernels.dispatch import look_at
from engine.core.source_logs import BEGINNING, Place
from engine.core.tables import Arrays, Words
from engine.core.world import World


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of one instance.

    words: (6,) watermark, largest event time served, the three of its position in the log, records of the log read once. marks: watermarks
    of its input channels, in the order of the world's `inputs`. turns: position of `rebalance` by outbound edge. sent, processed: records
    sent on each outbound channel and served from each inbound channel, by channel number, in runs that count them. vector: its dependency
    vector from KNOWN_CLOCK on, in runs with forced checkpoints (`engine.core.kernels.dependency_vectors`). keyed: the tables of its
    `KeyedState`, empty if its operator keeps none.
    """

    words: Words
    marks: Words
    turns: Words
    sent: Words
    processed: Words
    vector: Words
    keyed: tuple[Words, ...]

    @property
    def state(self) -> KeyedState | None:
        return KeyedState(*self.keyed) if self.keyed else None

    def to_bytes(self) -> bytes:
        return tables_to_bytes([self.words, self.marks, self.turns, self.sent, self.processed, self.vector, *self.keyed])

    @classmethod
    def from_bytes(cls, content: bytes) -> Checkpoint:
        words, marks, turns, sent, processed, vector, *tables = tables_from_bytes(content)
        return cls(words, marks, turns, sent, processed, vector, tuple(tables))


WATERMARK, NEWEST, APPEND, EVENT, TRIGGER, READ = range(6)


def capture(world: World, i: int) -> Checkpoint:
    """Checkpoint of instance `i` between two of its services, or at the start of one that changes nothing."""
    w = world.arrays
    inst = w.inst[i]
    place = world.logs.place(w, i) if inst[L.I_SOURCE] else BEGINNING
    read = inst[L.I_IN] - inst[L.I_AGAIN]
    words = np.array([inst[L.I_WATERMARK], inst[L.I_NEWEST_EVENT], *place, read], np.int64)
    keeping = world.keepings[int(inst[L.I_OP])]
    tables: tuple[Words, ...] = ()
    if keeping is not None:
        state = keyed_state.capture(world, keeping, i, 0, keyed_state.key_groups(w, int(inst[L.I_OP]))[1])
        tables = tuple(getattr(state, field.name) for field in fields(state))
    marks, turns = w.chan[_inputs(w, i), L.C_WATERMARK], w.chan[_turns(w, i), L.C_TURN]
    known = w.vectors[i, L.KNOWN_CLOCK :].copy() if w.g[L.G_VECTOR] else np.zeros(0, np.int64)
    return Checkpoint(words, marks, turns, *counters(world, i), known, tables)


def counters(world: World, i: int) -> tuple[Words, Words]:
    """Records that instance `i` has sent on each outbound channel and served from each inbound channel, by channel number. Only in runs
    that count them."""
    w = world.arrays
    return w.carried[world.leaving[i], L.SEQ_SENT], w.carried[world.entering[i], L.SEQ_PROCESSED]


def stop(world: World, h: int, now_ns: int, epoch: int | None) -> None:
    """Stop the instances of host `h` until `resume`. Everything that they have in hand or in memory is gone after `now_ns`, as in a loss of
    the host, but messages already sent stay in flight. epoch: from now on they accept only messages sent in it; None: the epoch stays."""
    w = world.arrays
    here = np.flatnonzero(w.inst[:, L.I_HOST] == h)
    host_failure.lose_state(w, h)
    host_failure.lose_memory(w, h, now_ns)
    if epoch is not None:
        w.inst[here, L.I_INCARNATION] = epoch * L.EPOCH
        for i in here.tolist():  # messages that arrive before `put` are of the new epoch and have not been served in it
            w.carried[world.entering[i], L.SEQ_PROCESSED] = 0
    for i in here[w.inst[here, L.I_SOURCE] == 1].tolist():
        world.logs.seek(w, i, world.logs.place(w, i))


def go_back(world: World, i: int, checkpoint: Checkpoint | None) -> None:
    """Set the stopped instance `i` back to the checkpoint's position in its log. Call it for all instances concerned before any of them
    resumes, so that the logs are generated only once."""
    if world.arrays.inst[i, L.I_SOURCE]:
        place = BEGINNING if checkpoint is None else Place(*checkpoint.words[[APPEND, EVENT, TRIGGER]].tolist())
        world.logs.seek(world.arrays, i, place)


def read_again(world: World, i: int, checkpoint: Checkpoint | None) -> None:
    """Let the stopped source instance `i` read on from a checkpoint, None: from the start of its log. Other than with `put`, the numbers of
    its channels go on, so nothing that it sends again counts as a duplicate. The same holds for `go_back`, which it calls."""
    go_back(world, i, checkpoint)
    w = world.arrays
    inst = w.inst[i]
    read = 0 if checkpoint is None else int(checkpoint.words[READ])
    inst[L.I_AGAIN] = inst[L.I_IN] - read
    if checkpoint is not None:
        inst[[L.I_WATERMARK, L.I_NEWEST_EVENT]] = checkpoint.words[[WATERMARK, NEWEST]]
        w.chan[_turns(w, i), L.C_TURN] = checkpoint.turns


def forget_incoming(world: World, i: int) -> None:
    """All that was sent to the stopped instance `i` counts as served: it is lost, or will be sent under new numbers."""
    entering = world.entering[i]
    world.arrays.carried[entering, L.SEQ_PROCESSED] = world.arrays.carried[entering, L.SEQ_SENT]


def put(world: World, i: int, checkpoint: Checkpoint | None) -> None:
    """Restore the stopped instance `i` from the checkpoint; None: as at the start of the run. `go_back` restores its log."""
    w = world.arrays
    inst = w.inst[i]
    leaving, entering = world.leaving[i], world.entering[i]
    w.carried[entering, L.SEQ_PROCESSED] = 0 if checkpoint is None else checkpoint.processed
    for c, sent in zip(leaving.tolist(), [0] * len(leaving) if checkpoint is None else checkpoint.sent.tolist(), strict=True):
        channel_log.cut_off(w, c, sent)
    w.chan[leaving, L.C_CONSUMED] = w.carried[leaving, L.SEQ_SENT]
    if w.g[L.G_VECTOR]:
        w.gate[entering, L.Q_VECTOR] = -1
        w.sent_to[i] = 0
        w.vectors[i, L.KNOWN_SHARED] = -1
        w.vectors[i, L.KNOWN_CLOCK :] = 0 if checkpoint is None else checkpoint.vector
        if checkpoint is None:
            dependency_vectors.note_checkpoint(w, i, -1)
    if checkpoint is None:
        inst[L.I_AGAIN] = inst[L.I_IN] * inst[L.I_SOURCE]
        return
    words = checkpoint.words
    inst[[L.I_WATERMARK, L.I_NEWEST_EVENT]] = words[[WATERMARK, NEWEST]]
    w.chan[_inputs(w, i), L.C_WATERMARK] = checkpoint.marks
    w.chan[_turns(w, i), L.C_TURN] = checkpoint.turns
    inst[L.I_AGAIN] = (inst[L.I_IN] - words[READ]) * inst[L.I_SOURCE]
    keeping, state = world.keepings[int(inst[L.I_OP])], checkpoint.state
    if keeping is not None and state is not None:
        keyed_state.put(world, keeping, i, state)


def send_again(world: World, ranges: Sequence[Sequence[int]], now_ns: int) -> None:
    """Replay records from the logs of channels. ranges: channel, first number, end."""
    for c, first, end in ranges:
        w = world.arrays
        if w.g[L.G_FREE] < end - first:
            w.g[L.G_NEED] = end - first
            world.grow(L.NEED_MESSAGES)
        while world.room(int(w.chan[c, L.C_SENDER]), int(w.chan[c, L.C_RECEIVER])) < end - first:
            world.grow(L.NEED_RING)
        channel_log.send_again(world.arrays, c, first, end, now_ns)


def log_inner(world: World, i: int, is_logged: bool) -> None:
    """Switch the logging of instance `i` on its inner edges on or off, with its cost."""
    w = world.arrays
    channels = world.leaving[i]
    channels = channels[w.edge[w.chan[channels, L.C_EDGE], L.E_INNER] == 1]
    logs, sent = w.gate[channels, L.Q_LOG], w.carried[channels, L.SEQ_SENT]
    if is_logged:
        w.gate[channels, L.Q_LOG] = np.where(logs < 0, sent + logs + 1, logs)
    else:
        w.gate[channels, L.Q_LOG] = np.where(logs < 0, logs, logs - sent - 1)
    w.align[i, L.ALIGN_INNER_PS] = w.op[w.inst[i, L.I_OP], L.O_INNER_PS] * is_logged


def logged(w: Arrays) -> Words:
    """Number of records in the log of each channel, in runs that log channels. Shape (channels,)."""
    logs, sent = w.gate[: len(w.chan), L.Q_LOG], w.carried[: len(w.chan), L.SEQ_SENT]
    found: Words = np.where(logs < 0, -1 - logs, sent - logs)
    return found


def send_marks_again(world: World, i: int, now_ns: int, inner: bool) -> None:
    """Send the watermark of instance `i` once more, behind the replayed records. It may have been in flight, and no log holds it. inner:
    also within regions."""
    w = world.arrays
    if w.inst[i, L.I_WATERMARK] == -L.FAR:
        return
    channels = world.leaving[i]
    edges = w.edge[w.chan[channels, L.C_EDGE]]
    send_marks_on(world, channels[(edges[:, L.E_FEEDBACK] == 0) & ((edges[:, L.E_INNER] == 0) | inner)], now_ns)


def send_marks_on(world: World, channels: Words, now_ns: int) -> None:
    """Send on each of these channels the watermark of its sender once more, as `send_marks_again`."""
    w = world.arrays
    if w.g[L.G_FREE] < len(channels):
        w.g[L.G_NEED] = len(channels)
        world.grow(L.NEED_MESSAGES)
    for c in channels.tolist():
        while world.room(int(w.chan[c, L.C_SENDER]), int(w.chan[c, L.C_RECEIVER])) == 0:
            world.grow(L.NEED_RING)
        channel_log.send_mark(world.arrays, c, now_ns)


def resume(world: World, h: int, now_ns: int) -> None:
    """Resume the instances of host `h` at the nanosecond after `now_ns`."""
    world.arrays = world.logs.reload(world.arrays)
    w = world.arrays
    here = np.flatnonzero((w.inst[:, L.I_HOST] == h) & active(w)).tolist()
    for i in here:
        inst = w.inst[i]
        inst[L.I_STATUS], inst[L.I_UP] = L.IDLE, now_ns
        if w.g[L.G_TRACING]:
            w.behind[i, L.B_IDLE] = now_ns
        inst[L.I_TICK] = next_tick_ns(w, i, now_ns)
        if w.host[h, L.H_DISPATCH] != L.DISPATCH_SCAN:
            look_at(w, h, i)  # type: ignore[no-untyped-call]
    w.host[h, L.H_TICK] = min(w.inst[here, L.I_TICK].tolist(), default=L.FAR)
    w.host[h, L.H_RESUME] = w.next_ns[h] = max(now_ns + 1, int(w.host[h, L.H_PAUSED]))


def _inputs(w: Arrays, i: int) -> Words:
    """The channels that carry watermarks to instance `i`."""
    found: Words = w.inputs[w.input_first[i] : w.input_first[i + 1]]
    return found


def _turns(w: Arrays, i: int) -> Words:
    """The channels that hold the turns of instance `i`, by edge: the number of records sent on the edge."""
    op, k = w.op[w.inst[i, L.I_OP]], int(w.inst[i, L.I_INDEX])
    edges: Iterable[Any] = (w.edge[e] for e in w.op_edges[op[L.O_EDGE] : op[L.O_EDGE_END]])
    turning = (e for e in edges if e[L.E_KIND] == L.REBALANCE or e[L.E_KIND] >= L.RESCALE)
    found = [int(e[L.E_CHANNEL]) + k * int(w.op[e[L.E_TARGET], L.O_STRIDE]) for e in turning]
    return np.array(found, np.int64)
