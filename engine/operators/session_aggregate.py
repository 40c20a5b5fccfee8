"""Aggregates by key over sessions: records that follow each other within a gap."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from engine.core.compiler import compiled
from engine.core.control.keyed_state import parameters
from engine.core.keeping import Keeping
from engine.core.kernels.latencies import join_stamps
from engine.core.kernels.state_table import add_entry, drop_entry, entry_bucket, find_entry
from engine.core.layout import (
    BOX_READ,
    BOX_WORK,
    FAR,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_ROWS_FREE,
    I_ENTRIES,
    I_INDEX,
    I_STATE_BYTES,
    I_TICK,
    I_WATERMARK,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    MERGED,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_ROWS,
    R_NEXT,
    S_COUNT,
    S_KEY,
    S_NEWEST,
    S_NEXT,
    S_OLDEST,
    S_OWNER,
    S_SIBLING,
    S_VALUES,
)
from engine.core.tables import Arrays, Words
from engine.operators.aggregation import (
    AGG_COUNT,
    AGG_DISTINCTS,
    AGG_ENTRY_BYTES,
    AGG_EVERY,
    AGG_KEY,
    AGG_LATENESS,
    AGG_LINE,
    AGG_LINKS,
    AGG_LISTENED,
    AGG_ON_CLOSE,
    AGG_OWN,
    AGG_PROCESSING,
    AGG_ROWS,
    AGG_TABLE,
    AGG_VALUE_BYTES,
    AGG_VALUES,
    COUNT,
    DISTINCT,
    MAX,
    MIN,
    AggregateField,
    Aggregates,
    Aggregation,
    Emit,
    Evaluation,
    Every,
    Key,
    KeysGrow,
    LatenessMs,
    check_keys_grow,
    check_lateness,
    drop_group,
    fold_records,
    forget_values,
    group_sizes,
    put_row,
    send_late,
    take_record,
)
from engine.operators.windows import PROCESSING_TIME, Clock, at_least_a_nanosecond
from engine.spec.base.operator import Model
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Number, seconds_ns

# parameters of this kind, in order
AGG_GAP, AGG_QUEUES = range(AGG_OWN, AGG_OWN + 2)

# words of a session in its entry
SESSION_START = S_VALUES
SESSION_END = S_VALUES + 1  # a gap after its last record; inclusive
# and, from column AGG_LINKS on, its position in the instance's heap of sessions, or in the list of due sessions
HEAP_DUE, HEAP_LEFT, HEAP_RIGHT, HEAP_UP, HEAP_WORDS = range(5)
# by instance: root of the heap, first and last session of the list
QUEUE_ROOT, QUEUE_FIRST, QUEUE_LAST, QUEUE_WORDS = range(4)


def heap_meld(entry, tree, a, b, up):
    """Meld two skew heaps by (due, key); the result hangs below `up`. Returns the root (-1 if both are empty), which the caller must
    store."""
    root = -1
    below = up
    while a >= 0 and b >= 0:
        if entry[b, tree + HEAP_DUE] < entry[a, tree + HEAP_DUE] or (
            entry[b, tree + HEAP_DUE] == entry[a, tree + HEAP_DUE] and entry[b, S_KEY] < entry[a, S_KEY]
        ):
            swap = a
            a = b
            b = swap
        if root < 0:
            root = a
        else:
            entry[below, tree + HEAP_LEFT] = a
        entry[a, tree + HEAP_UP] = below
        below = a
        rest = entry[a, tree + HEAP_RIGHT]
        entry[a, tree + HEAP_RIGHT] = entry[a, tree + HEAP_LEFT]
        entry[a, tree + HEAP_LEFT] = -1
        a = rest
    if a < 0:
        a = b
    if root < 0:
        root = a
    elif a >= 0:
        entry[below, tree + HEAP_LEFT] = a
    if a >= 0:
        entry[a, tree + HEAP_UP] = below
    return root


def heap_insert(entry, panes_of, queue, tree, e, due):
    """Insert a session into the heap."""
    entry[e, tree + HEAP_DUE] = due
    entry[e, tree + HEAP_LEFT] = -1
    entry[e, tree + HEAP_RIGHT] = -1
    root = heap_meld(entry, tree, panes_of[queue + QUEUE_ROOT], e, -1)
    panes_of[queue + QUEUE_ROOT] = root


def heap_remove(entry, panes_of, queue, tree, e):
    """Remove a session from the heap."""
    up = entry[e, tree + HEAP_UP]
    x = heap_meld(entry, tree, entry[e, tree + HEAP_LEFT], entry[e, tree + HEAP_RIGHT], up)
    if up < 0:
        panes_of[queue + QUEUE_ROOT] = x
    elif entry[up, tree + HEAP_LEFT] == e:
        entry[up, tree + HEAP_LEFT] = x
    else:
        entry[up, tree + HEAP_RIGHT] = x


def list_due(entry, panes_of, queue, tree, limit):
    """Move the sessions that are due by `limit` from the heap to the end of the list, in order."""
    e = panes_of[queue + QUEUE_ROOT]
    while e >= 0 and entry[e, tree + HEAP_DUE] <= limit:
        heap_remove(entry, panes_of, queue, tree, e)
        entry[e, tree + HEAP_RIGHT] = -1
        if panes_of[queue + QUEUE_FIRST] < 0:
            panes_of[queue + QUEUE_FIRST] = e
        else:
            entry[panes_of[queue + QUEUE_LAST], tree + HEAP_RIGHT] = e
        panes_of[queue + QUEUE_LAST] = e
        e = panes_of[queue + QUEUE_ROOT]


def merge_session(world, at, i, tracing, anchor, e, b, stamps):
    """Merge session b, which starts later, into session e of the same key, and free b."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    entry_f = world.entry_f
    row = world.row
    entry_origin = world.entry_origin
    g = world.g
    if tracing and (
        (anchor == M_NEWEST and entry[b, S_NEWEST] > entry[e, S_NEWEST]) or (anchor == M_OLDEST and entry[b, S_OLDEST] < entry[e, S_OLDEST])
    ):
        entry_origin[e] = entry_origin[b]
    entry[e, S_NEWEST] = max(entry[e, S_NEWEST], entry[b, S_NEWEST])
    entry[e, S_OLDEST] = min(entry[e, S_OLDEST], entry[b, S_OLDEST])
    join_stamps(entry, e, entry, b, g, stamps, MERGED)
    entry[e, SESSION_END] = entry[b, SESSION_END]
    rows = par[at + AGG_ROWS]
    if rows > 0:
        row[entry[e, rows + 1], R_NEXT] = entry[b, rows]
        entry[e, rows + 1] = entry[b, rows + 1]
    else:
        for k in range(par[at + AGG_COUNT]):
            line = par[at + AGG_TABLE] + AGG_LINE * k
            function = par[line]
            v = par[at + AGG_VALUES] + k
            if function == DISTINCT:
                x = entry[b, par[line + 3]] - 1
                while x >= 0:
                    after = entry[x, S_SIBLING] - 1
                    value = entry[x, S_KEY]
                    drop_entry(table, entry, g, x)
                    y = find_entry(table, entry, par[line + 4], value, e)
                    if y < 0:
                        y = add_entry(table, entry, g, par[line + 4], value, e)
                        entry[y, S_SIBLING] = entry[e, par[line + 3]]
                        entry[e, par[line + 3]] = y + 1
                        entry[e, v] += 1
                    else:
                        inst[i, I_STATE_BYTES] -= par[at + AGG_VALUE_BYTES]
                    x = after
            elif par[line + 2] >= 1:
                if function == MIN:
                    if entry_f[b, v] < entry_f[e, v] or entry_f[e, v] != entry_f[e, v]:
                        entry_f[e, v] = entry_f[b, v]
                elif function == MAX:
                    if entry_f[b, v] > entry_f[e, v] or entry_f[b, v] != entry_f[b, v]:
                        entry_f[e, v] = entry_f[b, v]
                else:
                    entry_f[e, v] += entry_f[b, v]
            elif function == MIN:
                entry[e, v] = min(entry[e, v], entry[b, v])
            elif function == MAX:
                entry[e, v] = max(entry[e, v], entry[b, v])
            elif function != COUNT:
                entry[e, v] += entry[b, v]
    entry[e, S_COUNT] += entry[b, S_COUNT]
    inst[i, I_STATE_BYTES] -= par[at + AGG_ENTRY_BYTES]
    inst[i, I_ENTRIES] -= 1
    drop_entry(table, entry, g, b)


def session_on_record(world, now, slot, at, i, tracing, anchor, stamps):
    """Add the record to its key's session, which it may start, extend, or merge with another one."""
    msg = world.msg
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    panes_of = world.panes_of
    box = world.box
    g = world.g
    gap = par[at + AGG_GAP]
    lateness = par[at + AGG_LATENESS]
    time = now
    ended = -FAR  # sessions that are due by then have emitted their row
    if par[at + AGG_PROCESSING] == 0:
        time = msg[slot, M_EVENT]
        ended = inst[i, I_WATERMARK]
    key = msg[slot, M_PAYLOAD + par[at + AGG_KEY]] if par[at + AGG_KEY] >= 0 else 0
    e = -1
    b = -1
    records = 0
    x = table[entry_bucket(i, key, 0, table.shape[0])]
    while x >= 0:
        if entry[x, S_KEY] == key and entry[x, S_OWNER] == i and entry[x, SESSION_START] <= time + gap and time <= entry[x, SESSION_END]:
            records += entry[x, S_COUNT]
            b = e
            e = x
        x = entry[x, S_NEXT]
    box[BOX_WORK] = 1
    outputs = 0
    if e < 0 and time + gap + 1 + lateness <= ended:
        outputs = send_late(slot, msg, par, at, inst, i, box)
        return outputs
    entries = 1 + par[at + AGG_DISTINCTS]
    if par[at + AGG_ROWS] > 0:
        entries = 1 + (records + 1) * par[at + AGG_DISTINCTS]
    if g[G_ENTRIES_FREE] < entries:
        g[G_NEED] = entries
        return -NEED_ENTRIES
    if par[at + AGG_ROWS] > 0 and g[G_ROWS_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ROWS
    if g[G_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_MESSAGES

    queue = par[at + AGG_QUEUES] + inst[i, I_INDEX] * QUEUE_WORDS
    tree = par[at + AGG_LINKS]
    if b >= 0:
        if entry[b, SESSION_START] < entry[e, SESSION_START]:
            x = b
            b = e
            e = x
        heap_remove(entry, panes_of, queue, tree, b)
        merge_session(world, at, i, tracing, anchor, e, b, stamps)
        box[BOX_WORK] = 2
    if e >= 0:
        heap_remove(entry, panes_of, queue, tree, e)
    else:
        e = add_entry(table, entry, g, i, key, 0)
        entry[e, SESSION_START] = time
        entry[e, SESSION_END] = time + gap
        inst[i, I_ENTRIES] += 1
        inst[i, I_STATE_BYTES] += par[at + AGG_ENTRY_BYTES]
    entry[e, SESSION_START] = min(entry[e, SESSION_START], time)
    entry[e, SESSION_END] = max(entry[e, SESSION_END], time + gap)
    event = msg[slot, M_EVENT]
    next_due = entry[e, SESSION_END] + 1
    due = 0
    if par[at + AGG_EVERY] > 0 and (entry[e, S_COUNT] + 1) % par[at + AGG_EVERY] == 0:
        due = 1
    if next_due <= ended:
        next_due += lateness
        if par[at + AGG_ON_CLOSE] == 1:
            due = 1
            event = entry[e, SESSION_END] - 1
    heap_insert(entry, panes_of, queue, tree, e, next_due)
    if par[at + AGG_PROCESSING] == 1:
        inst[i, I_TICK] = entry[panes_of[queue + QUEUE_ROOT], tree + HEAP_DUE]
    take_record(world, now, slot, due, at, i, tracing, anchor, e, stamps)
    if due == 1:
        if par[at + AGG_ROWS] > 0:
            box[BOX_READ] += entry[e, S_COUNT]
        if par[at + AGG_LISTENED] == 1:
            put_row(world, slot, event, entry[e, SESSION_START], entry[e, SESSION_END], at, tracing, e, stamps)
            outputs = 1
        if par[at + AGG_ROWS] > 0:
            forget_values(par, at, inst, i, table, entry, g, e)
    return outputs


def session_on_close(world, limit, by_timer, slot, at, i, tracing, stamps):
    """Close the sessions that are due by `limit` (a watermark or a timer's time): rows by end, then key. Free those past their lateness."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    panes_of = world.panes_of
    box = world.box
    g = world.g
    if (par[at + AGG_PROCESSING] == 1) != by_timer:
        return 0
    queue = par[at + AGG_QUEUES] + inst[i, I_INDEX] * QUEUE_WORDS
    tree = par[at + AGG_LINKS]
    ended = -FAR
    if not by_timer:
        ended = inst[i, I_WATERMARK]
        list_due(entry, panes_of, queue, tree, limit)
    rows = 0
    read = 0  # stored records
    most = 0  # ... of one session
    e = panes_of[queue + QUEUE_FIRST]
    while e >= 0 and entry[e, tree + HEAP_DUE] <= limit:
        if par[at + AGG_ON_CLOSE] == 1 and entry[e, SESSION_END] + 1 > ended:
            rows += 1
            if par[at + AGG_ROWS] > 0:
                read += entry[e, S_COUNT]
                most = max(most, entry[e, S_COUNT])
        e = entry[e, tree + HEAP_RIGHT]
    box[BOX_READ] = read
    if par[at + AGG_LISTENED] == 0:
        rows = 0
    if g[G_FREE] < rows:
        g[G_NEED] = rows
        return -NEED_MESSAGES
    if g[G_ENTRIES_FREE] < most * par[at + AGG_DISTINCTS]:
        g[G_NEED] = most * par[at + AGG_DISTINCTS]
        return -NEED_ENTRIES
    e = panes_of[queue + QUEUE_FIRST]
    while e >= 0 and entry[e, tree + HEAP_DUE] <= limit:
        after = entry[e, tree + HEAP_RIGHT]
        end = entry[e, SESSION_END]
        if rows > 0 and end + 1 > ended:
            if par[at + AGG_ROWS] > 0:
                fold_records(world, slot, entry[e, par[at + AGG_ROWS]], entry[e, S_COUNT], 1, at, i, e)
            put_row(world, slot, end - 1, entry[e, SESSION_START], end, at, tracing, e, stamps)
            if par[at + AGG_ROWS] > 0:
                forget_values(par, at, inst, i, table, entry, g, e)
        if end + 1 + par[at + AGG_LATENESS] <= limit:
            drop_group(world, at, i, e)
        else:
            heap_insert(entry, panes_of, queue, tree, e, end + 1 + par[at + AGG_LATENESS])
        e = after
    panes_of[queue + QUEUE_FIRST] = e
    return rows


def session_next_tick(due, par, at, inst, i, entry, panes_of):
    """Return the end of the next session after `due`, FAR if there is none; sessions that end at `due` wait for the tick to be served."""
    queue = par[at + AGG_QUEUES] + inst[i, I_INDEX] * QUEUE_WORDS
    tree = par[at + AGG_LINKS]
    list_due(entry, panes_of, queue, tree, due)
    root = panes_of[queue + QUEUE_ROOT]
    return entry[root, tree + HEAP_DUE] if root >= 0 else FAR


@compiled
def relink_sessions(world, i, entries, queue, tree, processing):
    """Insert all sessions of the instance into its heap."""
    entry = world.entry
    panes_of = world.panes_of
    inst = world.inst
    panes_of[queue + QUEUE_ROOT] = -1
    for n in range(entries.shape[0]):
        heap_insert(entry, panes_of, queue, tree, entries[n], entry[entries[n], tree + HEAP_DUE])
    if processing == 1:
        root = panes_of[queue + QUEUE_ROOT]
        inst[i, I_TICK] = entry[root, tree + HEAP_DUE] if root >= 0 else FAR
    return 0


def session_relink(w: Arrays, i: int, entries: Words) -> None:
    at = parameters(w, i)
    queue = w.par[at + AGG_QUEUES] + w.inst[i, I_INDEX] * QUEUE_WORDS
    relink_sessions(w, i, entries, queue, w.par[at + AGG_LINKS], w.par[at + AGG_PROCESSING])


def session_links(w: Arrays, at: int) -> range:
    first = int(w.par[at + AGG_LINKS])
    return range(first + HEAP_LEFT, first + HEAP_WORDS)


class SessionAggregate(Aggregation):
    """Count, sum, min, max, avg, distinct count of fields by key over sessions.

    A session ends when no record of its key has arrived for a gap: it extends from its first record to a gap after its last one, inclusive.
    A record between two sessions that touches both merges them. A session closes when the watermark has passed its end, or by the
    processing clock 1 ns after it. Later records update it while it is kept (`lateness_ms`), then leave by port `late`, or are dropped if
    no edge leaves it. Emitted rows are not retracted when their session grows.
    State: one entry per session: 40 bytes, 8 per aggregate and per distinct value; at_firing instead the records themselves.
    Cost: record_ps per record and once more if two sessions merge, at_firing read_ps per record that a row reads; output_ps per row.
    Source: Karimov 2020, 2.1.1 (sessions); NexMark Q11 with early rows: Siachamis 2024, 4.5.
    """

    kind, title, icon = "session_aggregate", "Session", "window"
    position = 7
    source = "Karimov 2020, 2.1.1"
    on_record = staticmethod(session_on_record)
    on_close = staticmethod(session_on_close)
    next_tick = staticmethod(session_next_tick)
    keeping = Keeping(group_sizes, relink=session_relink, links=session_links)

    class Params(Model):
        key: Key = None
        gap_s: Number = Field(
            gt=0, le=1e6, description="a session ends after this time without a record", json_schema_extra={"x-unit": "s"}
        )
        clock: Clock = "event"
        aggregates: Aggregates = (AggregateField(name="count"),)
        emit: Emit = "on_close"
        every: Every = None
        lateness_ms: LatenessMs = 0.0
        evaluation: Evaluation = "incremental"
        keys_grow: KeysGrow = False

        @model_validator(mode="after")
        def _fits(self) -> SessionAggregate.Params:
            at_least_a_nanosecond("gap_s", self.gap_s)
            check_keys_grow(self.keys_grow, self.key)
            if self.clock == "processing":
                check_lateness(self.lateness_ms, "the clock is processing, by which no record is late")
            return self

    @classmethod
    def may_be_late(cls, params: Params) -> bool:
        return params.clock == "event"

    @classmethod
    def unmirrored(cls, params: Params) -> str:
        return PROCESSING_TIME if params.clock == "processing" else ""

    @classmethod
    def unscaled(cls, params: Params) -> str:
        return (
            "" if params.keys_grow else "a session ends after a gap, and fewer records have longer gaps, unless the keys grow (keys_grow)"
        )

    @classmethod
    def lower(cls, params: Params, inputs: Any, lowering: Any) -> list[int]:
        schema: RecordSchema = inputs["in"]
        on_close = params.emit == "on_close"
        return cls.lower_common(
            params,
            schema,
            lowering,
            every=params.every or int(not on_close),
            on_close=on_close,
            processing=params.clock == "processing",
            lateness_ms=params.lateness_ms,
            own=(seconds_ns(params.gap_s), lowering.other_lists(QUEUE_WORDS)),
            own_state=2,
            own_links=HEAP_WORDS,
            own_bytes=16,
        )
