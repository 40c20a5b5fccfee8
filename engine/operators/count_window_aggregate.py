"""Aggregates by key over count windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field, model_validator

from engine.core.keeping import Keeping
from engine.core.kernels.state_table import add_entry, find_entry
from engine.core.layout import (
    BOX_READ,
    BOX_WORK,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_ROWS_FREE,
    I_ENTRIES,
    I_STATE_BYTES,
    M_EVENT,
    M_PAYLOAD,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_ROWS,
    S_CLOCK,
    S_COUNT,
    S_PANE,
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
    group_sizes,
    put_row,
    take_record,
)
from engine.operators.windows import PANES_MAX
from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Integer

# parameters of this kind, in order
AGG_LENGTH, AGG_STEP = range(AGG_OWN, AGG_OWN + 2)
SEEN = -1  # used as window number of the entry that counts a key's records
SEEN_COUNT = S_CLOCK  # it stores none of them, so S_COUNT is not used
SEEN_BYTES = 16


def count_window_on_record(world, now, slot, at, i, tracing, anchor, stamps):
    """Add the record to each of its windows; the oldest of them ends with every AGG_STEP-th record of the key."""
    msg = world.msg
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    box = world.box
    g = world.g
    key = msg[slot, M_PAYLOAD + par[at + AGG_KEY]] if par[at + AGG_KEY] >= 0 else 0
    length = par[at + AGG_LENGTH]
    step = par[at + AGG_STEP]
    seen = -1
    number = 0
    if step == length:  # a window ends before the next one starts, so its own count is enough
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
    if g[G_ENTRIES_FREE] < entries:
        g[G_NEED] = entries
        return -NEED_ENTRIES
    if par[at + AGG_ROWS] > 0 and g[G_ROWS_FREE] < windows:
        g[G_NEED] = windows
        return -NEED_ROWS
    if g[G_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_MESSAGES

    box[BOX_WORK] = windows
    outputs = 0
    if step < length:
        if seen < 0:
            seen = add_entry(table, entry, g, i, key, SEEN)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += SEEN_BYTES
        entry[seen, SEEN_COUNT] = number + 1
    for n in range(windows):
        window = 0 if step == length else first + n
        e = find_entry(table, entry, i, key, window)
        if e < 0:
            e = add_entry(table, entry, g, i, key, window)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += par[at + AGG_ENTRY_BYTES]
        due = 1 if n == 0 and (number + 1) % step == 0 else 0
        take_record(world, now, slot, due, at, i, tracing, anchor, e, stamps)
        if due == 1:
            if par[at + AGG_ROWS] > 0:
                box[BOX_READ] += entry[e, S_COUNT]
            if par[at + AGG_LISTENED] == 1:
                put_row(world, slot, msg[slot, M_EVENT], 0, 0, at, tracing, e, stamps)
                outputs += 1
            drop_group(world, at, i, e)
    return outputs


def count_window_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    return np.where(entries[:, S_PANE] == SEEN, SEEN_BYTES, group_sizes(w, at, entries, values))


class CountWindowAggregate(Aggregation):
    """Count, sum, min, max, avg, distinct count of fields by key over windows of a number of records of the key.

    With a slide smaller than the size, every slide-th record emits the aggregate of the last `size` records, or of fewer at first. Windows
    that are not full when the input ends emit no row. Without a key, windows contain all records, in the order of their service.
    State: one entry per open (key, window): 24 bytes, 8 per aggregate and per distinct value; at_firing instead the records
    themselves; with a slide, 16 bytes per key.
    Cost: record_ps per window that the record falls into, and at_firing read_ps per record that a row reads; output_ps per row.
    Source: Karimov 2020, 2.1.1 (count windows).
    """

    kind, title, icon = "count_window_aggregate", "Count window", "window"
    position = 8
    source = "Karimov 2020, 2.1.1"
    outputs = ("out",)
    on_record = staticmethod(count_window_on_record)
    keeping = Keeping(count_window_sizes)

    class Params(Model):
        key: Key = None
        size: Integer = Field(ge=1, le=1_000_000_000, description="records per window", json_schema_extra={"x-unit": "records"})
        slide: Integer | None = Field(
            None,
            ge=1,
            le=1_000_000_000,
            description="records from one window's end to the next, at most the size; default: the size",
            json_schema_extra={"x-unit": "records"},
        )
        aggregates: Aggregates = (AggregateField(name="count"),)
        evaluation: Evaluation = "incremental"

        @property
        def step(self) -> int:
            return self.size if self.slide is None else self.slide

        @model_validator(mode="after")
        def _slide_within_size(self) -> CountWindowAggregate.Params:
            if self.step > self.size:
                message = f"slide {self.step} is more than size {self.size}: records would be lost; use at most {self.size}"
                raise Refusal(message, at=("slide",), code="slide_too_long", value=self.slide)
            if self.size > PANES_MAX * self.step:
                message = f"size / slide is {self.size / self.step:g}, the number of windows per record; at most {PANES_MAX} are allowed"
                raise Refusal(message, at=("slide",), code="too_many_panes", value=self.slide)
            return self

    @classmethod
    def bounds(cls, params: Params) -> tuple[str, ...]:
        return ()

    @classmethod
    def lower(cls, params: Params, inputs: Any, lowering: Any) -> list[int]:
        schema: RecordSchema = inputs["in"]
        return cls.lower_common(params, schema, lowering, own=(params.size, params.step))
