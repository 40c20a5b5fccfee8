"""Joins links with the paths that end where they start; a deletion also deletes the paths through the deleted link or source."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from engine.core.control.keyed_state import parameters, rows_of
from engine.core.keeping import Keeping
from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import entry_hash, find_entry, free_row
from engine.core.layout import (
    BOX_WORK,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_ROWS_FREE,
    I_INDEX,
    I_STATE_BYTES,
    M_PAYLOAD,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_ROWS,
    R_NEXT,
    S_LEFT,
    S_SIDE,
)
from engine.core.tables import Arrays, Words
from engine.operators.pairs import (
    JOIN_EXTRA,
    JOIN_LEFT_BYTES,
    JOIN_LEFT_KEY,
    JOIN_LISTENED,
    JOIN_OWN,
    Pairing,
    PairParams,
    close_if_empty,
    field_of,
    known_field,
    open_key,
    pair_hash,
    pair_sizes,
    pair_with_stored,
    store_record,
)
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordSchema

LEFT, RIGHT, DELETED = range(3)  # ports
# parameters after the common ones: columns of a deletion's start and end, of a link's end; number of nodes of a path; first of the
# # instances' lists of paths; columns of a path's nodes
PATH_DELETED_START, PATH_DELETED_END, PATH_LEFT_END, PATH_NODES, PATH_LISTS, PATH_COLUMNS = range(JOIN_OWN, JOIN_OWN + 6)
LINKS = 2  # words of a stored path after its nodes: the next path of the instance's list, its entry
NODES_MAX = 32


def unlink_row(row, entry, g, e, own, r, before):
    """Free row `r` of one side of an entry; `before` is the row preceding it, -1 for none. own: the side's columns in the entry."""
    after = row[r, R_NEXT]
    if before < 0:
        entry[e, own + 1] = after
    else:
        row[before, R_NEXT] = after
    if after < 0:
        entry[e, own + 2] = before
    entry[e, own] -= 1
    free_row(row, g, r)


def delete_links(world, start, end, at, i):
    """Delete the stored links from `start` to `end`. Returns the number removed."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    g = world.g
    e = find_entry(table, entry, i, start, 0)
    gone = 0
    if e >= 0:
        before = -1
        r = entry[e, S_LEFT + 1] if entry[e, S_LEFT] > 0 else -1
        while r >= 0:
            after = row[r, R_NEXT]
            if row[r, par[at + JOIN_EXTRA]] == end:
                unlink_row(row, entry, g, e, S_LEFT, r, before)
                gone += 1
            else:
                before = r
            r = after
        inst[i, I_STATE_BYTES] -= gone * par[at + JOIN_LEFT_BYTES]
        close_if_empty(par, at, inst, i, table, entry, g, e)
    return gone


def delete_paths(world, start, end, at, i):
    """Delete the instance's paths in which `end` follows `start`. Returns the number removed."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    panes_of = world.panes_of
    g = world.g
    nodes = par[at + JOIN_EXTRA]
    link = nodes + par[at + PATH_NODES]
    head = par[at + PATH_LISTS] + inst[i, I_INDEX]
    own = S_LEFT + S_SIDE
    gone = 0
    before = -1
    r = panes_of[head]
    while r >= 0:
        after = row[r, link]
        through = False
        for c in range(nodes, link - 1):
            if row[r, c] == start and row[r, c + 1] == end:
                through = True
        if through:
            if before < 0:
                panes_of[head] = after
            else:
                row[before, link] = after
            e = row[r, link + 1]
            last = -1
            x = entry[e, own + 1]
            while x != r:
                last = x
                x = row[x, R_NEXT]
            unlink_row(row, entry, g, e, own, r, last)
            inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + 1]
            close_if_empty(par, at, inst, i, table, entry, g, e)
            gone += 1
        else:
            before = r
        r = after
    return gone


def path_join_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """Store a link or a path and emit one output per match of the other kind; or apply a deletion."""
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
    if port == DELETED:
        start = msg[slot, M_PAYLOAD + par[at + PATH_DELETED_START]]
        end = msg[slot, M_PAYLOAD + par[at + PATH_DELETED_END]]
        links = delete_links(world, start, end, at, i)
        paths = delete_paths(world, start, end, at, i)
        box[BOX_WORK] = 1 + links + paths
        return 0
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    other = S_LEFT + (1 - port) * S_SIDE
    e = find_entry(table, entry, i, key, 0)
    matches = entry[e, other] * par[at + JOIN_LISTENED] if e >= 0 else 0
    if g[G_FREE] < matches:
        g[G_NEED] = matches
        return -NEED_MESSAGES
    if g[G_ROWS_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ROWS
    if g[G_ENTRIES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ENTRIES

    if e < 0:
        e = open_key(world, key, 0, at, i)
    r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
    nodes = par[at + JOIN_EXTRA]
    if port == LEFT:
        row[r, nodes] = msg[slot, M_PAYLOAD + par[at + PATH_LEFT_END]]
        for n in range(1, par[at + PATH_NODES]):
            row[r, nodes + n] = 0  # may contain data of a path
    else:
        for n in range(par[at + PATH_NODES]):
            row[r, nodes + n] = msg[slot, M_PAYLOAD + par[at + PATH_COLUMNS + n]]
        link = nodes + par[at + PATH_NODES]
        head = par[at + PATH_LISTS] + inst[i, I_INDEX]
        row[r, link] = panes_of[head]
        row[r, link + 1] = e
        panes_of[head] = r
    if matches > 0:
        r = entry[e, other + 1]
        for _ in range(matches):
            made = new_output(msg, free, g, box, slot, stamps)
            pair_with_stored(world, made, slot, port, at, r, 0, 0, tracing, anchor, stamps)
            r = row[r, R_NEXT]
    return matches


def path_join_hash(made, msg, i2, port, par, at):
    """Return the hash of the entry of a record that goes to instance `i2`."""
    if port == DELETED:
        return entry_hash(i2, msg[made, M_PAYLOAD + par[at + PATH_DELETED_START]], 0)
    return pair_hash(made, msg, i2, port, par, at)


def paths_relink(w: Arrays, i: int, entries: Words) -> None:
    """List all paths of the instance; their order is not observable."""
    at = parameters(w, i)
    link = int(w.par[at + JOIN_EXTRA] + w.par[at + PATH_NODES])
    rows, counts = rows_of(w, i, entries)
    is_path = np.repeat(np.tile([False, True], len(entries)), counts.ravel())
    paths = rows[is_path]
    w.row[paths, link] = [*paths[1:], -1][: len(paths)]
    w.row[paths, link + 1] = np.repeat(entries, counts[:, RIGHT])
    w.panes_of[int(w.par[at + PATH_LISTS] + w.inst[i, I_INDEX])] = paths[0] if len(paths) else -1


class PathJoin(Pairing):
    """Joins links (left) with the paths (right) that end where a link starts, over full history, one output per pair.

    A record on port `deleted` deletes the links from `deleted_start` to `deleted_end`, and every path in which the second node follows the
    first. The fields `right_path` contain a path's nodes, in order; a source, which occurs there twice, is deleted by a link from itself to
    itself. With several instances, deletions are broadcast, since paths through a link may end anywhere.

    State: the links and paths: their own bytes, and 16 per key.
    Cost: record_ps per record, and per deleted link or path, as if found by an index; output_ps per pair.
    Source: Siachamis 2024, 3.6 (reachability, Figure 3.6).
    """

    kind, title, group, icon = "path_join", "Join paths", "Stateful", "rings"
    position = 13
    source = "Siachamis 2024, 3.6"
    inputs = ("left", "right", "deleted")
    outputs = ("out",)
    on_record = staticmethod(path_join_on_record)
    key_hash = staticmethod(path_join_hash)
    keeping = Keeping(pair_sizes, relink=paths_relink)

    class Params(PairParams):
        left_end: str = Field(description="field of the left input with a link's end node", json_schema_extra=field_of("left"))
        right_path: tuple[str, ...] = Field(
            min_length=2, max_length=NODES_MAX, description="fields of the right input with a path's nodes, in order"
        )
        deleted_start: str = Field(
            "start", description="field of a deletion with the link's start node", json_schema_extra=field_of("deleted")
        )
        deleted_end: str = Field("end", description="field of a deletion with the link's end node", json_schema_extra=field_of("deleted"))

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        out = super().output_schemas(params, inputs)["out"]
        node = inputs["left"].type_of(params.left_key)
        named = [("left_end", "left", params.left_end), *(("right_path", "right", name) for name in params.right_path)]
        named += [("deleted_start", "deleted", params.deleted_start), ("deleted_end", "deleted", params.deleted_end)]
        for parameter, port, name in named:
            field = known_field(name, inputs[port], parameter, f"the {port} input")
            if field.type != node:
                message = (
                    f"{parameter} '{name}' is {field.type} but left_key '{params.left_key}' is {node}; all nodes must have the same type"
                )
                raise Refusal(message, at=(parameter,), code="type_mismatch", value=name)
        return {"out": out}

    @classmethod
    def required_key(cls, params: Params, port: str) -> str | None:
        return None if port == "deleted" else super().required_key(params, port)

    @classmethod
    def carries(cls, params: Params, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return None if port == "deleted" else super().carries(params, inputs, port, field)

    @classmethod
    def further_reads(cls, params: Params) -> tuple[set[str], set[str]]:
        return {params.left_end}, set(params.right_path)

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {**super().reads(params, inputs, wanted), "deleted": {params.deleted_start, params.deleted_end}}

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        nodes = len(params.right_path)
        own = [
            inputs["deleted"].index(params.deleted_start),
            inputs["deleted"].index(params.deleted_end),
            inputs["left"].index(params.left_end),
            nodes,
            lowering.other_lists(1),
            *(inputs["right"].index(name) for name in params.right_path),
        ]
        return cls._lowered(params, inputs, lowering, own, nodes, LINKS)
