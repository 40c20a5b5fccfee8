"""Joins two streams by key for records whose event times are close to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from engine.core.compiler import compiled
from engine.core.control.keyed_state import parameters
from engine.core.keeping import Keeping
from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import find_entry, free_row
from engine.core.layout import (
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_ROWS_FREE,
    I_INDEX,
    I_STATE_BYTES,
    I_WATERMARK,
    M_EVENT,
    M_PAYLOAD,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_ROWS,
    R_EVENT,
    R_NEXT,
    S_LEFT,
    S_SIDE,
)  # fmt: skip
from engine.core.tables import Arrays, Words
from engine.operators.pairs import (
    JOIN_EXTRA,
    JOIN_LEFT_BYTES,
    JOIN_LEFT_KEY,
    JOIN_LISTENED,
    JOIN_OWN,
    KeysGrowIfSaid,
    Pairing,
    PairParams,
    close_if_empty,
    field_of,
    known_field,
    open_key,
    pair_hash,
    pair_sizes,
    pair_with_stored,
    pass_late,
    store_record,
)
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Number, milliseconds_ns, quantity, seconds_ns

# parameters after the common ones: bounds, the left column with the upper bound (-1: it is left.t + upper), lateness, first heap
INTERVAL_LOWER, INTERVAL_UPPER, INTERVAL_UNTIL, INTERVAL_LATENESS, INTERVAL_HEAPS = range(JOIN_OWN, JOIN_OWN + 5)
# words of a stored record, from JOIN_EXTRA on: the last time of the other side that can match it; links of the heap by this time; its entry
INTERVAL_ROW_LAST, INTERVAL_ROW_CHILD, INTERVAL_ROW_SIBLING, INTERVAL_ROW_ENTRY = range(4)
INTERVAL_ROW_WORDS, INTERVAL_ROW_LINKS = 1, 3


def heap_merged(a, b, row, last):
    """Merge two skew heaps and return the root. last: column of the heap key, followed by the two children. -1 is empty."""
    root = a
    if a < 0:
        root = b
    elif b >= 0:
        if row[b, last] < row[a, last]:
            root = b
            b = a
            a = root
        going = True
        while going:
            c = row[a, last + 2]
            row[a, last + 2] = row[a, last + 1]
            if c < 0:
                row[a, last + 1] = b
                going = False
            elif row[b, last] < row[c, last]:
                row[a, last + 1] = b
                a = b
                b = c
            else:
                row[a, last + 1] = c
                a = c
    return root


def interval_join_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """Emit one output per stored record of the other side within the bounds, then store the record while later ones can match it."""
    msg = world.msg
    free = world.free
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    panes_of = world.panes_of
    box = world.box
    g = world.g
    time = msg[slot, M_EVENT]
    closed_to = inst[i, I_WATERMARK] - par[at + INTERVAL_LATENESS]
    if time < closed_to:
        late = pass_late(slot, msg, port, par, at, inst, i, box)
        return late
    lower = par[at + INTERVAL_LOWER]
    if port == 1:
        last = time - lower  # of left records that match this one ...
    elif par[at + INTERVAL_UNTIL] >= 0:
        last = msg[slot, M_PAYLOAD + par[at + INTERVAL_UNTIL]]
    else:
        last = time + par[at + INTERVAL_UPPER]
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    extra = par[at + JOIN_EXTRA]
    other = S_LEFT + (1 - port) * S_SIDE
    e = find_entry(table, entry, i, key, 0)
    matches = 0
    if e >= 0 and par[at + JOIN_LISTENED] == 1:
        r = entry[e, other + 1]
        for _ in range(entry[e, other]):
            event = row[r, R_EVENT]
            if port == 0:
                if time + lower <= event and event <= last:
                    matches += 1
            elif event <= last and time <= row[r, extra + INTERVAL_ROW_LAST]:
                matches += 1
            r = row[r, R_NEXT]
    if g[G_FREE] < matches:
        g[G_NEED] = matches
        return -NEED_MESSAGES
    if g[G_ROWS_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ROWS
    if g[G_ENTRIES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ENTRIES

    if matches > 0:
        r = entry[e, other + 1]
        for _ in range(entry[e, other]):
            event = row[r, R_EVENT]
            fits = time + lower <= event and event <= last
            if port == 1:
                fits = event <= last and time <= row[r, extra + INTERVAL_ROW_LAST]
            if fits:
                made = new_output(msg, free, g, box, slot, stamps)
                pair_with_stored(world, made, slot, port, at, r, 0, 0, tracing, anchor, stamps)
            r = row[r, R_NEXT]
    if last >= closed_to:
        if e < 0:
            e = open_key(world, key, 0, at, i)
        r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
        row[r, extra + INTERVAL_ROW_LAST] = last
        row[r, extra + INTERVAL_ROW_CHILD] = -1
        row[r, extra + INTERVAL_ROW_SIBLING] = -1
        row[r, extra + INTERVAL_ROW_ENTRY] = 2 * e + port
        heap = par[at + INTERVAL_HEAPS] + inst[i, I_INDEX]
        root = heap_merged(panes_of[heap], r, row, extra)
        panes_of[heap] = root
    return matches


def interval_join_on_close(world, limit, at, i):
    """Free the stored records that no later record can match."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    panes_of = world.panes_of
    g = world.g
    closed_to = limit - par[at + INTERVAL_LATENESS]
    extra = par[at + JOIN_EXTRA]
    heap = par[at + INTERVAL_HEAPS] + inst[i, I_INDEX]
    r = panes_of[heap]
    while r >= 0 and row[r, extra + INTERVAL_ROW_LAST] < closed_to:
        root = heap_merged(row[r, extra + INTERVAL_ROW_CHILD], row[r, extra + INTERVAL_ROW_SIBLING], row, extra)
        e = row[r, extra + INTERVAL_ROW_ENTRY] // 2
        port = row[r, extra + INTERVAL_ROW_ENTRY] % 2
        own = S_LEFT + port * S_SIDE
        before = -1
        x = entry[e, own + 1]
        while x != r:
            before = x
            x = row[x, R_NEXT]
        if before < 0:
            entry[e, own + 1] = row[r, R_NEXT]
        else:
            row[before, R_NEXT] = row[r, R_NEXT]
        if entry[e, own + 2] == r:
            entry[e, own + 2] = before
        entry[e, own] -= 1
        inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + port]
        close_if_empty(par, at, inst, i, table, entry, g, e)
        free_row(row, g, r)
        r = root
        panes_of[heap] = root
    return 0


@compiled
def relink_heap(world, entries, counts, extra, heap):
    """Insert all stored records of some entries into a heap. counts: (n, 2) number of stored records by side."""
    entry = world.entry
    row = world.row
    panes_of = world.panes_of
    panes_of[heap] = -1
    for n in range(entries.shape[0]):
        for port in range(2):
            r = entry[entries[n], S_LEFT + port * S_SIDE + 1]
            for _ in range(counts[n, port]):
                row[r, extra + INTERVAL_ROW_CHILD] = -1
                row[r, extra + INTERVAL_ROW_SIBLING] = -1
                row[r, extra + INTERVAL_ROW_ENTRY] = 2 * entries[n] + port
                root = heap_merged(panes_of[heap], r, row, extra)
                panes_of[heap] = root
                r = row[r, R_NEXT]
    return 0


def interval_relink(w: Arrays, i: int, entries: Words) -> None:
    at = parameters(w, i)
    counts = w.entry[entries][:, [S_LEFT, S_LEFT + S_SIDE]]
    relink_heap(w, entries, np.ascontiguousarray(counts), w.par[at + JOIN_EXTRA], w.par[at + INTERVAL_HEAPS] + w.inst[i, I_INDEX])


class IntervalJoin(Pairing):
    """Equi-join of records with close event times: left.t + lower <= right.t <= left.t + upper. One output per match, at once.

    State: records that later ones can match: their own bytes, and 16 per key. The watermark frees them.
    Cost: record_ps per record, output_ps per match.
    """

    kind, title, group, icon = "interval_join", "Interval join", "Stateful", "rings"
    position = 11
    source = "Apache Flink's interval join"
    on_record = staticmethod(interval_join_on_record)
    key_hash = staticmethod(pair_hash)
    on_close = staticmethod(interval_join_on_close)
    keeping = Keeping(pair_sizes, relink=interval_relink)

    class Params(PairParams):
        lower_s: Number = quantity(
            0.0,
            unit="s",
            ge=-1e6,
            le=1e6,
            description="earliest time of a matching right record, relative to the left record; negative: before it",
        )
        upper_s: Number | None = quantity(
            None, unit="s", ge=-1e6, le=1e6, description="latest time of a matching right record, relative to the left record"
        )
        until: str | None = Field(
            None,
            description="instead of upper_s: field of the left input with the latest time of a matching right record, inclusive",
            json_schema_extra=field_of("left"),
        )
        lateness_ms: Number = quantity(
            0.0, unit="ms", ge=0, le=1e11, description="allowed lateness: how far behind the watermark a record may be"
        )
        keys_grow: KeysGrowIfSaid = None

        @model_validator(mode="after")
        def _one_upper_bound(self) -> IntervalJoin.Params:
            if (self.upper_s is None) == (self.until is None):
                found = (
                    "neither upper_s nor until is"
                    if self.until is None
                    else f"upper_s is {self.upper_s:g} and until is '{self.until}', so both are"
                )
                message = f"{found} given; give one of them: how long after the left record, or until which field's time, others match"
                raise Refusal(message, at=("upper_s",), code="missing" if self.until is None else "invalid", value=self.upper_s)
            if self.upper_s is not None and self.lower_s > self.upper_s:
                message = f"lower_s is {self.lower_s:g}, above upper_s ({self.upper_s:g}), so nothing matches; it must be at most that"
                raise Refusal(message, at=("lower_s",), code="empty_interval", value=self.lower_s)
            return self

    @classmethod
    def may_be_late(cls, params: Params) -> bool:
        return True

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if params.until is not None:
            field = known_field(params.until, inputs["left"], "until", "the left input")
            if field.type not in ("timestamp", "int"):
                message = f"until '{params.until}' is {field.type}; it must be a timestamp (ns)"
                raise Refusal(message, at=("until",), code="type_mismatch", value=params.until)
        return super().output_schemas(params, inputs)

    @classmethod
    def further_reads(cls, params: Params) -> tuple[set[str], set[str]]:
        return set() if params.until is None else {params.until}, set()

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        own = [
            seconds_ns(params.lower_s),
            0 if params.upper_s is None else seconds_ns(params.upper_s),
            -1 if params.until is None else inputs["left"].index(params.until),
            milliseconds_ns(params.lateness_ms),
            lowering.other_lists(1),
        ]
        return cls._lowered(params, inputs, lowering, own, INTERVAL_ROW_WORDS, INTERVAL_ROW_LINKS)
