"""Joins two streams by key when a window ends: all pairs of a pane at once, when the watermark passes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from engine.core.kernels.latencies import copy_stamps, join_stamps
from engine.core.kernels.messages import add_output, new_output, take_message
from engine.core.kernels.state_table import find_entry, first_pane_end
from engine.core.layout import (  # fmt: skip
    BOX_LAST,
    BOX_READ,
    BOX_WORK,
    FAR,
    G_AT_ONCE,
    G_FREE,
    G_NEED,
    I_INDEX,
    I_PANE_END,
    I_WATERMARK,
    M_CLOCK,
    M_EDGE,
    M_EVENT,
    M_KIND,
    M_NEWEST,
    M_NEXT,
    M_OLDEST,
    M_PAYLOAD,
    M_TRIGGER,
    N_ORIGIN,
    NEED_MESSAGES,
    PAIRED,
    PENDING,
    PENDING_ENTRY,
    PENDING_FIRED_TO,
    PENDING_FREED_TO,
    PENDING_LEFT,
    PENDING_LIMIT,
    PENDING_LIST,
    PENDING_OTHER_ROW,
    PENDING_PANE,
    PENDING_ROW,
    R_EVENT,
    R_NEWEST,
    R_NEXT,
    R_OLDEST,
    R_VALUES,
    RECORD,
    S_LEFT,
    S_SIBLING,
    S_SIDE,
    S_VALUES,
    W_END,
    W_FIRST,
    W_NEXT,
    W_START,
)
from engine.operators.pairs import (
    BOUND_END,
    BOUND_START,
    EVENT_NEWEST,
    EVENT_OLDEST,
    EVENT_WINDOW,
    JOIN_COUNTED,
    JOIN_EVENT,
    JOIN_EXTRA,
    JOIN_GROUPS,
    JOIN_LATENESS,
    JOIN_LEFT_KEY,
    JOIN_LISTENED,
    JOIN_LISTS,
    JOIN_OUTPUTS,
    JOIN_PROCESSING,
    JOIN_SIZE,
    JOIN_SLIDE,
    JOIN_STEP,
    JOIN_TABLE,
    KEPT_IN_PANES,
    LAST_PAIR,
    KeysGrowIfSaid,
    PanePairing,
    PaneParams,
    discount_panes,
    first_open_pane,
    free_panes,
    lacking_space,
    open_entry,
    pair_with_stored,
    pairs_next_tick,
    pass_late,
    store_record,
)
from engine.operators.windows import Count, FiringWindow, deadlines
from engine.spec.base.records import RecordField, RecordSchema

SEEN = 1 << 60  # used as number of the window of the entry that counts records ...
SEEN_COUNT = 11  # ... in place of S_ALL_EVENT
S_ALL_EVENT, S_ALL_NEWEST, S_ALL_OLDEST, S_ALL_END = 11, 12, 13, 14  # of an entry, after both sides: over all of its records
WINDOW_ROW_STORED, WINDOW_ROW_TRIGGER, WINDOW_ROW_CLOCK, WINDOW_ROW_WORDS = (
    0,
    1,
    2,
    3,
)  # words of a stored record, from JOIN_EXTRA on: start of its service, its lineage


def window_join_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """Store the record in each open pane; if a pane has already fired, emit the record's pairs at once."""
    msg = world.msg
    free = world.free
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    notes = world.notes
    entry_origin = world.entry_origin
    box = world.box
    g = world.g
    counted = par[at + JOIN_COUNTED]
    step = par[at + JOIN_STEP]
    number = 0
    seen = -1
    if counted > 0:
        seen = find_entry(table, entry, i, 0, SEEN)
        if seen >= 0:
            number = entry[seen, SEEN_COUNT]
        start = number // step
        box[BOX_WORK] = (number + counted) // step - start
    else:
        start = first_open_pane(world, now, slot, port, at, i)
    panes = box[BOX_WORK]
    if panes == 0:
        box[BOX_WORK] = 1
        late = pass_late(slot, msg, port, par, at, inst, i, box)
        return late
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    size = par[at + JOIN_SIZE]
    slide = par[at + JOIN_SLIDE]
    fired_to = inst[i, I_WATERMARK] if par[at + JOIN_PROCESSING] == 0 and counted == 0 else -FAR
    other = S_LEFT + (1 - port) * S_SIDE
    listened = par[at + JOIN_LISTENED]
    matches = 0
    for k in range(panes):
        if start + k * slide + size <= fired_to:
            e = find_entry(table, entry, i, key, start + k * slide)
            if e >= 0:
                matches += entry[e, other] * listened
    ends = 0  # the end of the window that this record ends, if it does
    if counted > 0 and (number + 1) % step == 0:
        ends = start + 1
        matches = pairs_of_panes(world, ends, -FAR, at, i)
        e = find_entry(table, entry, i, key, start)
        if e >= 0:
            matches += entry[e, other]
        matches = min(matches * listened, g[G_AT_ONCE] + 1)
    if g[G_FREE] < matches:
        g[G_NEED] = matches
        return -NEED_MESSAGES
    lacking = lacking_space(panes + 1 if counted > 0 else panes, g)
    if lacking < 0:
        return lacking
    if counted > 0:
        if seen < 0:
            seen = open_entry(world, 0, SEEN, at, i)
        entry[seen, SEEN_COUNT] = number + 1

    for _ in range(panes):
        e = find_entry(table, entry, i, key, start)
        if e < 0:
            e = open_entry(world, key, start, at, i)
            entry[e, S_ALL_EVENT] = msg[slot, M_EVENT]
            entry[e, S_ALL_NEWEST] = msg[slot, M_NEWEST]
            entry[e, S_ALL_OLDEST] = msg[slot, M_OLDEST]
            copy_stamps(entry, e, msg, slot, stamps)
            if tracing:
                entry_origin[e] = now
        if tracing and (
            (anchor == M_NEWEST and msg[slot, M_NEWEST] > entry[e, S_ALL_NEWEST])
            or (anchor == M_OLDEST and msg[slot, M_OLDEST] < entry[e, S_ALL_OLDEST])
        ):
            entry_origin[e] = now
        entry[e, S_ALL_EVENT] = max(entry[e, S_ALL_EVENT], msg[slot, M_EVENT])
        entry[e, S_ALL_NEWEST] = max(entry[e, S_ALL_NEWEST], msg[slot, M_NEWEST])
        entry[e, S_ALL_OLDEST] = min(entry[e, S_ALL_OLDEST], msg[slot, M_OLDEST])
        join_stamps(entry, e, msg, slot, g, stamps, PAIRED)
        r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
        extra = par[at + JOIN_EXTRA]
        row[r, extra + WINDOW_ROW_STORED] = now
        row[r, extra + WINDOW_ROW_TRIGGER] = msg[slot, M_TRIGGER]
        row[r, extra + WINDOW_ROW_CLOCK] = msg[slot, M_CLOCK]
        if start + size <= fired_to and entry[e, other] > 0 and listened == 1:
            r = entry[e, other + 1]
            for _ in range(entry[e, other]):
                made = new_output(msg, free, g, box, slot, stamps)
                pair_with_stored(world, made, slot, port, at, r, start, start + size, tracing, anchor, stamps)
                if par[at + JOIN_EVENT] == EVENT_WINDOW:
                    msg[made, M_EVENT] = entry[e, S_ALL_EVENT]
                    msg[made, M_NEWEST] = entry[e, S_ALL_NEWEST]
                    msg[made, M_OLDEST] = entry[e, S_ALL_OLDEST]
                    join_stamps(msg, made, entry, e, g, stamps, PAIRED)
                    if tracing and anchor != M_CLOCK:
                        notes[made, N_ORIGIN] = entry_origin[e] if entry_origin[e] < now else -1
                r = row[r, R_NEXT]
        start += slide
    if matches > 0 and ends == 0:
        mark_last(msg, par, at, box[BOX_LAST])
    if ends > 0:
        matches = fire_panes(world, ends, -FAR, slot, at, i, tracing, anchor, stamps)
    return matches


def pair_of_stored(world, made, at, e, left, right, start, end, tracing, anchor, stamps):
    """Fill the output `made` from two stored records of an entry."""
    msg = world.msg
    par = world.par
    entry = world.entry
    row = world.row
    notes = world.notes
    entry_origin = world.entry_origin
    row_origin = world.row_origin
    g = world.g
    extra = par[at + JOIN_EXTRA]
    last = left if row[left, extra + WINDOW_ROW_STORED] > row[right, extra + WINDOW_ROW_STORED] else right
    rule = par[at + JOIN_EVENT]
    if tracing:
        counted = last
        if anchor == M_NEWEST and row[left, R_NEWEST] != row[right, R_NEWEST]:
            counted = left if row[left, R_NEWEST] > row[right, R_NEWEST] else right
        elif anchor == M_OLDEST and row[left, R_OLDEST] != row[right, R_OLDEST]:
            counted = left if row[left, R_OLDEST] < row[right, R_OLDEST] else right
        notes[made, N_ORIGIN] = row_origin[counted]
        if rule == EVENT_WINDOW and anchor != M_CLOCK:
            notes[made, N_ORIGIN] = entry_origin[e]
    msg[made, M_EVENT] = row[last, R_EVENT]
    msg[made, M_TRIGGER] = row[last, extra + WINDOW_ROW_TRIGGER]
    msg[made, M_CLOCK] = row[last, extra + WINDOW_ROW_CLOCK]
    msg[made, M_NEWEST] = max(row[left, R_NEWEST], row[right, R_NEWEST])
    msg[made, M_OLDEST] = min(row[left, R_OLDEST], row[right, R_OLDEST])
    copy_stamps(msg, made, row, last, stamps)
    join_stamps(msg, made, row, left + right - last, g, stamps, PAIRED)
    if rule == EVENT_NEWEST:
        msg[made, M_EVENT] = max(row[left, R_EVENT], row[right, R_EVENT])
    elif rule == EVENT_OLDEST:
        msg[made, M_EVENT] = min(row[left, R_EVENT], row[right, R_EVENT])
    elif rule == EVENT_WINDOW:
        msg[made, M_EVENT] = entry[e, S_ALL_EVENT]
        msg[made, M_NEWEST] = entry[e, S_ALL_NEWEST]
        msg[made, M_OLDEST] = entry[e, S_ALL_OLDEST]
        join_stamps(msg, made, entry, e, g, stamps, PAIRED)
    msg[made, M_EDGE] = 0
    table = par[at + JOIN_TABLE]
    for c in range(par[at + JOIN_OUTPUTS]):
        side = par[table + 3 * c]
        if side < BOUND_START:
            msg[made, M_PAYLOAD + c] = row[left if side == 0 else right, R_VALUES + par[table + 3 * c + 2]]
        elif side == BOUND_START:
            msg[made, M_PAYLOAD + c] = start
        elif side == BOUND_END:
            msg[made, M_PAYLOAD + c] = end
        else:
            msg[made, M_PAYLOAD + c] = 0


def mark_last(msg, par, at, made):
    """Output `made` is the last one of its firing."""
    table = par[at + JOIN_TABLE]
    for c in range(par[at + JOIN_OUTPUTS]):
        if par[table + 3 * c] == LAST_PAIR:
            msg[made, M_PAYLOAD + c] = 1


def window_join_on_close(world, limit, by_timer, slot, at, i, tracing, anchor, stamps):
    """Fire the panes that end by `limit` (a watermark or a timer's time), and free those past their lateness."""
    inst = world.inst
    par = world.par
    if limit < inst[i, I_PANE_END] or (par[at + JOIN_PROCESSING] == 1) != by_timer or par[at + JOIN_COUNTED] > 0:
        return 0
    fired_to = -FAR if by_timer else inst[i, I_WATERMARK]
    outputs = pairs_of_panes(world, limit, fired_to, at, i) * par[at + JOIN_LISTENED]
    if outputs <= world.g[G_AT_ONCE] and world.g[G_FREE] < outputs:
        world.g[G_NEED] = outputs
        return -NEED_MESSAGES
    outputs = fire_panes(world, limit, fired_to, slot, at, i, tracing, anchor, stamps)
    return outputs


def pairs_of_panes(world, limit, fired_to, at, i):
    """How many pairs the panes have that end after `fired_to` and by `limit`. Stores in `box` how many records are read for that."""
    inst = world.inst
    par = world.par
    entry = world.entry
    pane = world.pane
    groups = par[at + JOIN_GROUPS]
    first = par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups
    pairs = 0
    read = 0
    for where in range(first, first + groups):
        x = world.panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            if pane[x, W_END] > fired_to:
                e = pane[x, W_FIRST]
                while e >= 0:
                    pairs += entry[e, S_LEFT] * entry[e, S_LEFT + S_SIDE]
                    read += entry[e, S_LEFT] + entry[e, S_LEFT + S_SIDE]
                    e = entry[e, S_SIBLING]
            x = pane[x, W_NEXT]
    world.box[BOX_READ] = read
    return pairs


def fire_panes(world, limit, fired_to, slot, at, i, tracing, anchor, stamps):
    """Join the panes that end after `fired_to` and by `limit`, and free those past their lateness. The caller has checked for space."""
    msg = world.msg
    free = world.free
    inst = world.inst
    par = world.par
    entry = world.entry
    row = world.row
    pane = world.pane
    panes_of = world.panes_of
    box = world.box
    g = world.g
    groups = par[at + JOIN_GROUPS]
    first = par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups
    listened = par[at + JOIN_LISTENED]
    outputs = pairs_of_panes(world, limit, fired_to, at, i) * listened
    lateness = par[at + JOIN_LATENESS]
    discount_panes(world, limit - lateness, at, i)
    to_fire = first_pane_end(pane, panes_of, first, groups, limit)
    to_free = first_pane_end(pane, panes_of, first, groups, limit - lateness)
    inst[i, I_PANE_END] = min(to_fire, to_free + lateness)
    if outputs > g[G_AT_ONCE]:
        put_off(world, outputs, limit, fired_to, limit - lateness, first)
        return outputs
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            if pane[x, W_END] > fired_to and listened == 1:
                e = pane[x, W_FIRST]
                while e >= 0:
                    left = entry[e, S_LEFT + 1]
                    for _ in range(entry[e, S_LEFT]):
                        right = entry[e, S_LEFT + S_SIDE + 1]
                        for _ in range(entry[e, S_LEFT + S_SIDE]):
                            made = new_output(msg, free, g, box, slot, stamps)
                            pair_of_stored(world, made, at, e, left, right, pane[x, W_START], pane[x, W_END], tracing, anchor, stamps)
                            right = row[right, R_NEXT]
                        left = row[left, R_NEXT]
                    e = entry[e, S_SIBLING]
            x = pane[x, W_NEXT]
    if outputs > 0:
        mark_last(msg, par, at, box[BOX_LAST])
    free_panes(world, limit - lateness, at, i)
    return outputs


def put_off(world, outputs, limit, fired_to, freed_to, first):
    """Make the pairs of the panes that end behind `fired_to` and by `limit` one by one when they are sent. The panes that end by `freed_to`
    are freed then. first: the instance's first list of panes."""
    msg = world.msg
    made = take_message(world.free, world.g)
    msg[made, M_KIND] = PENDING
    msg[made, M_NEXT] = -1
    msg[made, M_EDGE] = 0
    msg[made, PENDING_LEFT] = outputs
    for column in range(PENDING_ENTRY, PENDING_LIST):
        msg[made, column] = -1
    msg[made, PENDING_LIST] = first - 1
    msg[made, PENDING_LIMIT] = limit
    msg[made, PENDING_FIRED_TO] = fired_to
    msg[made, PENDING_FREED_TO] = freed_to
    add_output(msg, world.box, made)


def window_join_make_output(world, slot, at, i, tracing, anchor, stamps):
    """Make the next pair of the pending ones in `slot`. Behind the last one, free the panes."""
    msg = world.msg
    entry = world.entry
    row = world.row
    pane = world.pane
    e = msg[slot, PENDING_ENTRY]
    left = msg[slot, PENDING_ROW]
    right = msg[slot, PENDING_OTHER_ROW]
    x = msg[slot, PENDING_PANE]
    while right < 0:
        if left >= 0:
            left = row[left, R_NEXT]
        while left < 0:
            if e >= 0:
                e = entry[e, S_SIBLING]
            while e < 0:
                if x >= 0:
                    x = pane[x, W_NEXT]
                while x < 0 or pane[x, W_END] > msg[slot, PENDING_LIMIT]:
                    msg[slot, PENDING_LIST] += 1
                    x = world.panes_of[msg[slot, PENDING_LIST]]
                if pane[x, W_END] > msg[slot, PENDING_FIRED_TO]:
                    e = pane[x, W_FIRST]
            if entry[e, S_LEFT] > 0 and entry[e, S_LEFT + S_SIDE] > 0:
                left = entry[e, S_LEFT + 1]
        right = entry[e, S_LEFT + S_SIDE + 1]
    made = take_message(world.free, world.g)
    msg[made, M_KIND] = RECORD
    for column in range(M_EVENT, M_PAYLOAD):
        msg[made, column] = 0
    pair_of_stored(world, made, at, e, left, right, pane[x, W_START], pane[x, W_END], tracing, anchor, stamps)
    msg[slot, PENDING_ENTRY] = e
    msg[slot, PENDING_ROW] = left
    msg[slot, PENDING_OTHER_ROW] = row[right, R_NEXT]
    msg[slot, PENDING_PANE] = x
    if msg[slot, PENDING_LEFT] == 1:
        mark_last(msg, world.par, at, made)
        free_panes(world, msg[slot, PENDING_FREED_TO], at, i)
    return made


class WindowJoin(PanePairing):
    """Equi-join that fires at the end of a window: each matching pair of records gives an output then. A window of time ends when the
    watermark (or the clock) passes it, a window of a number of records with the last of them, whichever input it comes from. `select` may
    name last_of_firing, which is true in the last output of each firing.

    State: the records of both sides by key and pane: their own bytes, and 16 per key and pane.
    Cost: record_ps per pane that the record falls into; at its end control_ps, read_ps per stored record, and output_ps per pair.
    Source: Karimov 2020, 3.4.2 (Flink buffers both sides and joins at firing), A3 of its chapter 3 for the event time.
    """

    kind, title, group, icon = "window_join", "Window join", "Stateful", "rings"
    position = 10
    source = "Karimov 2020, 3.4.2"
    on_record = staticmethod(window_join_on_record)
    on_close = staticmethod(window_join_on_close)
    make_output = staticmethod(window_join_make_output)
    next_tick = staticmethod(pairs_next_tick)
    keeping = KEPT_IN_PANES

    class Params(PaneParams):
        window: FiringWindow = Field(description="each window is joined when it closes")
        event_time: Literal["newest", "window", "trigger", "oldest"] = Field(  # type: ignore[assignment]  # one choice more
            "newest",
            description="event time of an output: that of the newer record, the latest of all records of its key and pane, "
            "that of the record that arrived last, or that of the older record",
        )
        keys_grow: KeysGrowIfSaid = None

    @classmethod
    def _bounds(cls, params: Any, inputs: Mapping[str, RecordSchema], named: Mapping[str, Any]) -> dict[str, tuple[int, RecordField]]:
        """Also whether an output is the last of its firing."""
        name = "last_of_firing"
        last = {} if name in named else {name: (LAST_PAIR, RecordField(name, "bool"))}
        return super()._bounds(params, inputs, named) | last

    @classmethod
    def unscaled(cls, params: Params) -> str:
        if isinstance(params.window, Count):
            return "its window ends after a number of records"
        return super().unscaled(params)

    @classmethod
    def key_weight(cls, params: Params, weight: int) -> int:
        return weight if params.keys_grow else 1

    @classmethod
    def parallelism_max(cls, params: Params) -> int | None:
        return 1 if isinstance(params.window, Count) else super().parallelism_max(params)

    @classmethod
    def waits_for_watermarks(cls, params: Params) -> bool:
        return cls.may_be_late(params)

    @classmethod
    def deadlines(cls, params: Params) -> tuple[int, int] | None:
        return deadlines(params.window)

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        lowering.entry_values(S_ALL_END - S_VALUES)
        return cls._lowered(params, inputs, lowering, cls._pane_words(params, inputs, lowering), row_words=WINDOW_ROW_WORDS)
