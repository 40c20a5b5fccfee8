"""Aggregates by key over windows of a number of records."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from engine.core.control.keyed_state import entries_by_key, entries_of_panes, parameters, relink_panes
from engine.core.keeping import Keeping
from engine.core.kernels.hashing import group_of
from engine.core.kernels.state_table import add_entry, find_entry, join_pane
from engine.core.layout import (
    BOX_READ,
    BOX_WORK,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_PANES_FREE,
    G_ROWS_FREE,
    I_ENTRIES,
    I_INDEX,
    I_STATE_BYTES,
    M_EVENT,
    M_PAYLOAD,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_PANES,
    NEED_ROWS,
    S_CLOCK,
    S_COUNT,
    S_PANE,
    W_COUNT,
    W_NEXT,
    W_START,
)
from engine.core.tables import Arrays, Words
from engine.operators.aggregation import (
    AGG_DISTINCTS,
    AGG_ENTRY_BYTES,
    AGG_KEY,
    AGG_LISTENED,
    AGG_OWN,
    AGG_ROWS,
    AggregateField,
    Aggregates,
    Aggregation,
    Evaluation,
    Key,
    drop_group,
    end_pane,
    group_sizes,
    put_row,
    take_record,
)
from engine.operators.windows import RecordsPerSlide, RecordsPerWindow, check_count
from engine.spec.base.operator import Model
from engine.spec.base.records import RecordSchema

# parameters of this kind, in order
AGG_LENGTH, AGG_STEP, AGG_TOGETHER, AGG_SCHEME, AGG_GROUPS, AGG_LISTS = range(AGG_OWN, AGG_OWN + 6)
SEEN = -1  # used as window number of the entry that counts a key's records; that of all records is in a pane of its own
SEEN_COUNT = S_CLOCK  # it stores none of them, so S_COUNT is not used
SEEN_BYTES = 16


def count_window_on_record(world, now, slot, at, i, tracing, anchor, stamps):
    """Add the record to each of its windows; the oldest of them ends with every AGG_STEP-th record of the key, or of all keys together."""
    msg = world.msg
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    box = world.box
    g = world.g
    key = msg[slot, M_PAYLOAD + par[at + AGG_KEY]] if par[at + AGG_KEY] >= 0 else 0
    length = par[at + AGG_LENGTH]
    step = par[at + AGG_STEP]
    together = par[at + AGG_TOGETHER]
    groups = par[at + AGG_GROUPS]
    lists = par[at + AGG_LISTS] + inst[i, I_INDEX] * groups
    seen = -1
    number = 0
    if together == 1:
        seen = find_entry(table, entry, i, 0, SEEN)
        if seen >= 0:
            number = entry[seen, SEEN_COUNT]
    elif step == length:  # a window ends before the next one starts, so its own count is enough
        e = find_entry(table, entry, i, key, 0)
        if e >= 0:
            number = entry[e, S_COUNT]
    else:
        seen = find_entry(table, entry, i, key, SEEN)
        if seen >= 0:
            number = entry[seen, SEEN_COUNT]
    first = number // step
    windows = (number + length) // step - first
    entries = 1 + windows * (1 + par[at + AGG_DISTINCTS])
    if par[at + AGG_ROWS] > 0:
        entries = 1 + windows + (min(number + 1, length)) * par[at + AGG_DISTINCTS]
    due = 1 if (number + 1) % step == 0 else 0
    rows = 1
    if together == 1 and due == 1:
        for where in range(lists, lists + groups):
            x = window_of_all(pane, panes_of, where, first)
            if x >= 0:
                rows += pane[x, W_COUNT]
    if together == 1 and g[G_PANES_FREE] < windows + 1:
        g[G_NEED] = windows + 1
        return -NEED_PANES
    if g[G_ENTRIES_FREE] < entries:
        g[G_NEED] = entries
        return -NEED_ENTRIES
    if par[at + AGG_ROWS] > 0 and g[G_ROWS_FREE] < windows:
        g[G_NEED] = windows
        return -NEED_ROWS
    if g[G_FREE] < rows:
        g[G_NEED] = rows
        return -NEED_MESSAGES

    box[BOX_WORK] = windows
    outputs = 0
    if step < length or together == 1:
        if seen < 0:
            seen = add_entry(table, entry, g, i, 0 if together == 1 else key, SEEN)
            if together == 1:
                where = lists + group_of(0, par[at + AGG_SCHEME], groups)
                join_pane(pane, panes_of, g, inst, i, where, SEEN, SEEN + 1, seen, entry)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += SEEN_BYTES
        entry[seen, SEEN_COUNT] = number + 1
    for n in range(windows):
        window = 0 if step == length and together == 0 else first + n
        e = find_entry(table, entry, i, key, window)
        if e < 0:
            e = add_entry(table, entry, g, i, key, window)
            if together == 1:
                where = lists + group_of(key, par[at + AGG_SCHEME], groups)
                join_pane(pane, panes_of, g, inst, i, where, window, window + 1, e, entry)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += par[at + AGG_ENTRY_BYTES]
        alone = due if n == 0 and together == 0 else 0
        take_record(world, now, slot, alone, at, i, tracing, anchor, e, stamps)
        if alone == 1:
            if par[at + AGG_ROWS] > 0:
                box[BOX_READ] += entry[e, S_COUNT]
            if par[at + AGG_LISTENED] == 1:
                put_row(world, slot, msg[slot, M_EVENT], 0, 0, at, tracing, e, stamps)
                outputs += 1
            drop_group(world, at, i, e)
    if due == 1 and together == 1:
        for where in range(lists, lists + groups):
            x = window_of_all(pane, panes_of, where, first)
            if x >= 0:
                outputs += end_pane(world, slot, where, x, 1, at, i, tracing, stamps)
    return outputs


def window_of_all(pane, panes_of, where, window):
    """The pane of a window in list `where`, -1 if none of its keys is there. No older window is open."""
    x = panes_of[where]
    if x >= 0 and pane[x, W_START] == SEEN:
        x = pane[x, W_NEXT]
    if x >= 0 and pane[x, W_START] != window:
        x = -1
    return x


def count_window_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    return np.where(entries[:, S_PANE] == SEEN, SEEN_BYTES, group_sizes(w, at, entries, values))


def counted_together(w: Arrays, i: int) -> bool:
    return bool(w.par[parameters(w, i) + AGG_TOGETHER])


def count_windows_in_order(w: Arrays, i: int) -> Words:
    if not counted_together(w, i):
        return entries_by_key(w, i)
    first, _, groups = lists_of(w, i)
    return entries_of_panes(w, first, groups)


def count_windows_relink(w: Arrays, i: int, entries: Words) -> None:
    if counted_together(w, i):
        relink_panes(w, i, entries, *lists_of(w, i), 1, 0)


def lists_of(w: Arrays, i: int) -> tuple[int, int, int]:
    """Return the first list of the instance's panes, and scheme and number of its key groups."""
    scheme, groups, lists = w.par[parameters(w, i) + AGG_SCHEME :][:3].tolist()
    return lists + int(w.inst[i, I_INDEX]) * groups, scheme, groups


class CountWindowAggregate(Aggregation):
    """Count, sum, min, max, avg, distinct count of fields by key over windows of a number of records.

    A window is full with `size` records of its key or, if all are counted, with `size` records of all keys together; then it emits one row
    for each of its keys, by key group and first arrival. With a slide smaller than the size, every slide-th record emits the aggregate of
    the last `size` records, or of fewer at first. Windows that are not full when the input ends emit no row. Records are counted in the
    order of their service.
    State: one entry per open (key, window): 24 bytes, 8 per aggregate and per distinct value; at_firing instead the records
    themselves; with a slide, 16 bytes per key, or 16 if all are counted.
    Cost: record_ps per window that the record falls into, and at_firing read_ps per record that a row reads; output_ps per row.
    Source: Karimov 2020, 2.1.1 (count windows).
    """

    kind, title, icon = "count_window_aggregate", "Count window", "window"
    position = 8
    source = "Karimov 2020, 2.1.1"
    outputs = ("out",)
    on_record = staticmethod(count_window_on_record)
    keeping = Keeping(count_window_sizes, count_windows_in_order, count_windows_relink)

    class Params(Model):
        key: Key = None
        counts: Literal["each_key", "all"] = Field(
            "each_key", description="each_key: records of a key fill its windows; all: all records fill them together (parallelism 1)"
        )
        size: RecordsPerWindow
        slide: RecordsPerSlide = None
        aggregates: Aggregates = (AggregateField(name="count"),)
        evaluation: Evaluation = "incremental"

        @property
        def step(self) -> int:
            return self.size if self.slide is None else self.slide

        @model_validator(mode="after")
        def _slide_within_size(self) -> CountWindowAggregate.Params:
            check_count(self.size, self.slide)
            return self

    @classmethod
    def bounds(cls, params: Params) -> tuple[str, ...]:
        return ()

    @classmethod
    def unmirrored(cls, params: Params) -> str:
        return ""  # records alone end its windows

    @classmethod
    def lower(cls, params: Params, inputs: Any, lowering: Any) -> list[int]:
        schema: RecordSchema = inputs["in"]
        together = params.counts == "all" and params.key is not None
        scheme, groups = lowering.key_groups()
        own = (params.size, params.step, int(together), scheme, groups, lowering.pane_lists(groups) if together else 0)
        return cls.lower_common(params, schema, lowering, own=own)

    @classmethod
    def parallelism_max(cls, params: Params) -> int | None:
        return 1 if params.counts == "all" else super().parallelism_max(params)
