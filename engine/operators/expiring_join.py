"""Joins two streams by key over the records stored within a time to live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import Field

from engine.core.compiler import compiled
from engine.core.control.keyed_state import parameters, rows_of
from engine.core.keeping import Keeping
from engine.core.kernels.changes import lacks_room_for_changes, note_change, note_content
from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import find_entry, free_row
from engine.core.layout import (
    CHANGE_GET,
    CHANGE_PUT,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_ROWS_FREE,
    I_INDEX,
    I_STATE_BYTES,
    M_PAYLOAD,
    NEED_CHANGES,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_ROWS,
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
    KeysGrow,
    Pairing,
    PairParams,
    close_if_empty,
    open_key,
    pair_hash,
    pair_sizes,
    pair_with_stored,
    store_record,
)
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Number, quantity, seconds_ns

# parameters after the common ones: time to live, by side what is kept, first of the instances' lists by age
EXPIRY_TTL, EXPIRY_LEFT_KEEP, EXPIRY_RIGHT_KEEP, EXPIRY_AGES = range(JOIN_OWN, JOIN_OWN + 4)
ALL, UNMATCHED, LATEST = range(3)
# words of a stored record, from JOIN_EXTRA on: its expiry; the next younger row; its entry and side, -1 once it has matched or was replaced
EXPIRY_ROW_EXPIRES, EXPIRY_ROW_YOUNGER, EXPIRY_ROW_ENTRY = range(3)
EXPIRY_ROW_WORDS, EXPIRY_ROW_LINKS = 1, 2


def expire_records(world, now, at, i):
    """Free the instance's records that expire by `now`: the oldest ones, which are the first of their side and key."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    panes_of = world.panes_of
    g = world.g
    extra = par[at + JOIN_EXTRA]
    oldest = par[at + EXPIRY_AGES] + 2 * inst[i, I_INDEX]
    r = panes_of[oldest]
    while r >= 0 and row[r, extra + EXPIRY_ROW_EXPIRES] <= now:
        panes_of[oldest] = row[r, extra + EXPIRY_ROW_YOUNGER]
        if row[r, extra + EXPIRY_ROW_ENTRY] >= 0:
            e = row[r, extra + EXPIRY_ROW_ENTRY] // 2
            port = row[r, extra + EXPIRY_ROW_ENTRY] % 2
            own = S_LEFT + port * S_SIDE
            entry[e, own + 1] = row[r, R_NEXT]
            entry[e, own] -= 1
            inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + port]
            close_if_empty(par, at, inst, i, table, entry, g, e)
        free_row(row, g, r)
        r = panes_of[oldest]


def expiring_join_on_record(world, now, slot, port, at, i, tracing, anchor, stamps, changing):
    """Emit one output per record that the other side stores under the key; then store and free records as the parameters say."""
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
    expire_records(world, now, at, i)
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    extra = par[at + JOIN_EXTRA]
    other = S_LEFT + (1 - port) * S_SIDE
    e = find_entry(table, entry, i, key, 0)
    matches = entry[e, other] if e >= 0 else 0
    outputs = matches * par[at + JOIN_LISTENED]
    if g[G_FREE] < outputs:
        g[G_NEED] = outputs
        return -NEED_MESSAGES
    if g[G_ROWS_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ROWS
    if g[G_ENTRIES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ENTRIES
    if changing and lacks_room_for_changes(world, 2):
        return -NEED_CHANGES

    if matches > 0:
        r = entry[e, other + 1]
        for _ in range(matches):
            if outputs > 0:
                made = new_output(msg, free, g, box, slot, stamps)
                pair_with_stored(world, made, slot, port, at, r, 0, 0, tracing, anchor, stamps)
            if par[at + EXPIRY_LEFT_KEEP + 1 - port] == UNMATCHED:
                row[r, extra + EXPIRY_ROW_ENTRY] = -1
                entry[e, other] -= 1
                inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + 1 - port]
            r = row[r, R_NEXT]
    if matches == 0 or par[at + EXPIRY_LEFT_KEEP + port] != UNMATCHED:
        if e < 0:
            e = open_key(world, key, 0, at, i)
        own = S_LEFT + port * S_SIDE
        if par[at + EXPIRY_LEFT_KEEP + port] == LATEST and entry[e, own] > 0:
            row[entry[e, own + 1], extra + EXPIRY_ROW_ENTRY] = -1
            entry[e, own] = 0
            inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + port]
        r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
        row[r, extra + EXPIRY_ROW_EXPIRES] = now + par[at + EXPIRY_TTL]
        row[r, extra + EXPIRY_ROW_YOUNGER] = -1
        row[r, extra + EXPIRY_ROW_ENTRY] = 2 * e + port
        oldest = par[at + EXPIRY_AGES] + 2 * inst[i, I_INDEX]
        if panes_of[oldest] < 0:
            panes_of[oldest] = r
        else:
            row[panes_of[oldest + 1], extra + EXPIRY_ROW_YOUNGER] = r
        panes_of[oldest + 1] = r
        if changing:
            note_change(world, now, i, CHANGE_PUT, key, 0, port)
            note_content(world, e, r)
            note_change(world, now, i, CHANGE_GET, key, 0, 1 - port)
    else:
        close_if_empty(par, at, inst, i, table, entry, g, e)
    return outputs


@compiled
def free_matched(world, oldest, extra):
    """Free the records of a list by age that have matched or were replaced, and reset the list."""
    row = world.row
    panes_of = world.panes_of
    g = world.g
    r = panes_of[oldest]
    while r >= 0:
        after = row[r, extra + EXPIRY_ROW_YOUNGER]
        if row[r, extra + EXPIRY_ROW_ENTRY] < 0:
            free_row(row, g, r)
        r = after
    panes_of[oldest] = -1
    panes_of[oldest + 1] = -1
    return 0


def expiring_relink(w: Arrays, i: int, entries: Words) -> None:
    """List all stored records of the instance by age."""
    at = parameters(w, i)
    extra, oldest = int(w.par[at + JOIN_EXTRA]), int(w.par[at + EXPIRY_AGES] + 2 * w.inst[i, I_INDEX])
    free_matched(w, oldest, extra)
    rows, counts = rows_of(w, i, entries)
    w.row[rows, extra + EXPIRY_ROW_ENTRY] = np.repeat(2 * entries[:, None] + np.arange(2), counts.ravel())
    rows = rows[np.argsort(w.row[rows, extra + EXPIRY_ROW_EXPIRES], kind="stable")]
    w.row[rows, extra + EXPIRY_ROW_YOUNGER] = [*rows[1:], -1][: len(rows)]
    w.panes_of[oldest : oldest + 2] = (rows[0], rows[-1]) if len(rows) else -1


Keep = Literal["all", "unmatched", "latest"]
KEEPS: dict[Keep, int] = {"all": ALL, "unmatched": UNMATCHED, "latest": LATEST}


class ExpiringJoin(Pairing):
    """Equi-join over full history with expiry: a record can match for `ttl_s` from the start of the service that stored it.

    With `unmatched`, records of that side are kept only until they match: a record that matches at once is not stored, and a waiting one
    is freed with its first match. The autoscaling study's NexMark Q3 keeps all persons and unmatched auctions, for 300 s.

    With `latest`, a record replaces the one before of its side and key. With both sides so, a record gives at most one output: the window
    join of Apache Samza, whose stores hold one record of each key.

    State: the stored records: their own bytes, and 16 per key (where keys grow with the scale: of the real ones). Expired ones are freed
    when the instance serves its next record.
    Cost: record_ps per record, output_ps per match.
    Source: Siachamis 2024, 4.5.2 (Q3); `latest`: Chronarakis 2019, 4.6.
    """

    kind, title, group, icon = "expiring_join", "Join with expiry", "Stateful", "rings"
    position = 12
    source = "Siachamis 2024, 4.5.2"
    on_record = staticmethod(expiring_join_on_record)
    key_hash = staticmethod(pair_hash)
    keeping = Keeping(pair_sizes, relink=expiring_relink)

    class Params(PairParams):
        ttl_s: Number = quantity(unit="s", gt=0, le=1e8, description="how long a stored record can match, by the processing clock")
        keep_left: Keep = Field("all", description="records of the left input to store: all, unmatched ones, or the latest of each key")
        keep_right: Keep = Field("all", description="records of the right input to store: all, unmatched ones, or the latest of each key")
        keys_grow: KeysGrow = None

    @classmethod
    def unscaled(cls, params: Params) -> str:
        if params.keys_grow is False and "unmatched" in (params.keep_left, params.keep_right):
            return "records kept until their first match wait longer for it when fewer arrive, unless the keys grow (keys_grow: true)"
        if params.keys_grow is False and "latest" in (params.keep_left, params.keep_right):
            return "of each key the latest record stays longer when fewer arrive, unless the keys grow (keys_grow: true)"
        return super().unscaled(params)

    @classmethod
    def unlogged(cls, params: Params) -> str:
        if (params.keep_left, params.keep_right) != ("latest", "latest"):
            return "its store would hold several records of a key; keep the latest of both sides (keep_left, keep_right: latest)"
        return ""

    @classmethod
    def key_weight(cls, params: Params, weight: int) -> int:
        return weight if params.keys_grow else 1

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        own = [seconds_ns(params.ttl_s), KEEPS[params.keep_left], KEEPS[params.keep_right], lowering.other_lists(2)]
        words = cls._lowered(params, inputs, lowering, own, EXPIRY_ROW_WORDS, EXPIRY_ROW_LINKS)
        lowering.rows_by_age(words[JOIN_EXTRA] + EXPIRY_ROW_YOUNGER)
        return words
