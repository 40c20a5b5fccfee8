"""Joins two streams by key, incrementally: every arrival is joined with the stored records of the other side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import find_entry
from engine.core.layout import BOX_WORK, FAR, G_FREE, G_NEED, I_PANE_END, M_PAYLOAD, NEED_MESSAGES, R_NEXT, S_LEFT, S_SIDE
from engine.operators.pairs import (
    JOIN_LATENESS,
    JOIN_LEFT_KEY,
    JOIN_LISTENED,
    JOIN_PROCESSING,
    JOIN_SIZE,
    JOIN_SLIDE,
    KEPT_IN_PANES,
    KeysGrow,
    PanePairing,
    PaneParams,
    discount_panes,
    first_open_pane,
    free_panes,
    lacking_space,
    open_entry,
    pair_hash,
    pair_with_stored,
    pairs_next_tick,
    pass_late,
    store_record,
)
from engine.operators.windows import FullHistory, JoinWindow
from engine.spec.base.records import RecordSchema


def join_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """In each open pane, store the record on its side, then emit one output per record that the other side stores under its key."""
    msg = world.msg
    free = world.free
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    box = world.box
    g = world.g
    start = first_open_pane(world, now, slot, port, at, i)
    panes = box[BOX_WORK]
    if panes == 0:
        box[BOX_WORK] = 1
        late = pass_late(slot, msg, port, par, at, inst, i, box)
        return late
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    slide = par[at + JOIN_SLIDE]
    other = S_LEFT + (1 - port) * S_SIDE  # columns of the other side in the entry: count, first row, last row
    listened = par[at + JOIN_LISTENED]
    matches = 0
    e = -1
    for k in range(panes):
        e = find_entry(table, entry, i, key, start + k * slide)
        if e >= 0:
            matches += entry[e, other] * listened
    if g[G_FREE] < matches:
        g[G_NEED] = matches
        return -NEED_MESSAGES
    lacking = lacking_space(panes, g)
    if lacking < 0:
        return lacking

    for _ in range(panes):
        if panes > 1:
            e = find_entry(table, entry, i, key, start)
        if e < 0:
            e = open_entry(world, key, start, at, i)
        r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
        here = entry[e, other]
        if here > 0 and listened == 1:
            r = entry[e, other + 1]
            for _ in range(here):
                made = new_output(msg, free, g, box, slot, stamps)
                pair_with_stored(world, made, slot, port, at, r, start, start + par[at + JOIN_SIZE], tracing, anchor, stamps)
                r = row[r, R_NEXT]
        start += slide
    return matches


def join_hash(made, msg, i2, port, par, at):
    """Return the hash of the entry of a record that goes to instance `i2`, without panes."""
    known = 0
    if par[at + JOIN_SIZE] == 0:
        known = pair_hash(made, msg, i2, port, par, at)
    return known


def join_on_close(world, limit, by_timer, at, i):
    """Free the panes that end by `limit` (a watermark minus the lateness, or a timer's time)."""
    inst = world.inst
    par = world.par
    pane = world.pane
    panes_of = world.panes_of
    closed_to = limit - par[at + JOIN_LATENESS]
    if par[at + JOIN_SIZE] > 0 and closed_to >= inst[i, I_PANE_END] and (par[at + JOIN_PROCESSING] == 1) == by_timer:
        discount_panes(world, closed_to, at, i)
        free_panes(world, closed_to, at, i)
        inst[i, I_PANE_END] = pairs_next_tick(-FAR, par, at, inst, i, pane, panes_of)
    return 0


class Join(PanePairing):
    """Equi-join of two inputs: each arrival is stored, then joined with the stored records of the other side, one output per match and
    pane.

    State: the records of both sides by key and pane: their own bytes, and 16 per key and pane (whatever the scale).
    Cost: record_ps per pane that the record falls into, output_ps per match.
    Source: Siachamis 2024, 3.6 (Q3 full history, Q8 over a running tumbling window).
    """

    kind, title, group, icon = "join", "Join", "Stateful", "rings"
    position = 9
    source = "Siachamis 2024, 3.6"
    on_record = staticmethod(join_on_record)
    key_hash = staticmethod(join_hash)
    on_close = staticmethod(join_on_close)
    next_tick = staticmethod(pairs_next_tick)
    keeping = KEPT_IN_PANES

    class Params(PaneParams):
        window: JoinWindow = Field(default_factory=FullHistory, description="the records to keep, and how long")
        keys_grow: KeysGrow = None

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return cls._lowered(params, inputs, lowering, cls._pane_words(params, inputs, lowering))
