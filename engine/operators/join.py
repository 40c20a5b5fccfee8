"""Joins two streams by key, incrementally: every arrival meets what the other side has stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from engine.core.layout import (
    FAR,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_PANE,
    G_PANES_FREE,
    G_ROW,
    G_ROW_FRESH,
    G_ROWS_FREE,
    I_ENTRIES,
    I_INDEX,
    I_LATE,
    I_PANE_END,
    I_STATE_BYTES,
    I_TICK,
    I_WATERMARK,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    N_ORIGIN,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_PANES,
    NEED_ROWS,
    R_EVENT,
    R_NEWEST,
    R_NEXT,
    R_OLDEST,
    R_VALUES,
    S_LEFT,
    S_SIBLING,
    S_SIDE,
    W_END,
    W_FIRST,
    W_NEXT,
)  # fmt: skip
from engine.core.tools import add_entry, drop_entry, find_entry, first_pane_end, group_of, join_pane, new_output
from engine.operators.windows import FullHistory, JoinWindow, Tumbling
from engine.spec.operator import Model, Operator
from engine.spec.problems import Refusal, suggestion
from engine.spec.records import RecordField, RecordSchema
from engine.spec.units import seconds_ns

# parameters, in order; by side: key column, bytes of a stored record, number and start of the stored columns
J_WINDOWED, J_SIZE, J_ORIGIN, J_PROCESSING, J_SCHEME, J_GROUPS, J_LISTS, J_LEFT_KEY, J_RIGHT_KEY, J_LEFT_BYTES, J_RIGHT_BYTES = range(11)
J_LEFT_STORED, J_LEFT_COLUMNS, J_RIGHT_STORED, J_RIGHT_COLUMNS, J_OUTPUTS, J_TABLE = range(11, 17)


def join_on_record(
    now, slot, msg, port, par, at, inst, i, table, entry, row, pane, panes_of, g, free, box, tracing, anchor, notes, row_origin
):
    """Store the record on its side, then emit one output for each record that the other side holds under its key and pane."""
    start = 0
    end = FAR
    if par[at + J_WINDOWED] == 1:
        size = par[at + J_SIZE]
        time = now if par[at + J_PROCESSING] == 1 else msg[slot, M_EVENT]
        start = par[at + J_ORIGIN] + (time - par[at + J_ORIGIN]) // size * size
        end = start + size
        if par[at + J_PROCESSING] == 0 and end <= inst[i, I_WATERMARK]:
            inst[i, I_LATE] += 1
            return 0
    key = msg[slot, M_PAYLOAD + par[at + J_LEFT_KEY + port]]
    own = S_LEFT + port * S_SIDE  # columns of this side in the entry: count, first row, last row
    other = S_LEFT + (1 - port) * S_SIDE
    e = find_entry(table, entry, i, key, start)
    matches = entry[e, other] if e >= 0 else 0
    if g[G_FREE] < matches:
        g[G_NEED] = matches
        return -NEED_MESSAGES
    if g[G_ROWS_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ROWS
    if g[G_ENTRIES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ENTRIES
    if g[G_PANES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_PANES

    if e < 0:
        e = add_entry(table, entry, g, i, key, start)
        inst[i, I_ENTRIES] += 1
        inst[i, I_STATE_BYTES] += 16
        if par[at + J_WINDOWED] == 1:
            groups = par[at + J_GROUPS]
            where = par[at + J_LISTS] + inst[i, I_INDEX] * groups + group_of(key, par[at + J_SCHEME], groups)
            join_pane(pane, panes_of, g, inst, i, where, start, end, e, entry)
            if par[at + J_PROCESSING] == 1 and end < inst[i, I_TICK]:
                inst[i, I_TICK] = end
    r = g[G_ROW]
    if r >= 0:
        g[G_ROW] = row[r, R_NEXT]
    else:
        r = g[G_ROW_FRESH]
        g[G_ROW_FRESH] = r + 1
    g[G_ROWS_FREE] -= 1
    if tracing:
        row_origin[r] = now
    row[r, R_NEXT] = -1
    row[r, R_EVENT] = msg[slot, M_EVENT]
    row[r, R_NEWEST] = msg[slot, M_NEWEST]
    row[r, R_OLDEST] = msg[slot, M_OLDEST]
    columns = par[at + J_LEFT_COLUMNS + 2 * port]
    for c in range(par[at + J_LEFT_STORED + 2 * port]):
        row[r, R_VALUES + c] = msg[slot, M_PAYLOAD + par[columns + c]]
    for c in range(R_VALUES + par[at + J_LEFT_STORED + 2 * port], row.shape[1]):
        row[r, c] = 0  # left over from another side's record
    if entry[e, own] == 0:
        entry[e, own + 1] = r
    else:
        row[entry[e, own + 2], R_NEXT] = r
    entry[e, own + 2] = r
    entry[e, own] += 1
    inst[i, I_STATE_BYTES] += par[at + J_LEFT_BYTES + port]

    if matches > 0:
        r = entry[e, other + 1]
        for _ in range(matches):
            made = new_output(msg, free, g, box, slot)
            if tracing and (
                (anchor == M_NEWEST and row[r, R_NEWEST] > msg[slot, M_NEWEST])
                or (anchor == M_OLDEST and row[r, R_OLDEST] < msg[slot, M_OLDEST])
            ):
                notes[made, N_ORIGIN] = row_origin[r]
            msg[made, M_EVENT] = max(msg[slot, M_EVENT], row[r, R_EVENT])
            msg[made, M_NEWEST] = max(msg[slot, M_NEWEST], row[r, R_NEWEST])
            msg[made, M_OLDEST] = min(msg[slot, M_OLDEST], row[r, R_OLDEST])
            for c in range(par[at + J_OUTPUTS]):
                side = par[at + J_TABLE + 3 * c]
                if side == port:
                    msg[made, M_PAYLOAD + c] = msg[slot, M_PAYLOAD + par[at + J_TABLE + 3 * c + 1]]
                else:
                    msg[made, M_PAYLOAD + c] = row[r, R_VALUES + par[at + J_TABLE + 3 * c + 2]]
            r = row[r, R_NEXT]
    return matches


def join_on_close(limit, by_timer, par, at, inst, i, table, entry, row, pane, panes_of, g):
    """Free the panes that end by `limit` (a watermark, or the time of a timer) with all that is stored in them."""
    if par[at + J_WINDOWED] == 0 or limit < inst[i, I_PANE_END] or (par[at + J_PROCESSING] == 1) != by_timer:
        return 0
    groups = par[at + J_GROUPS]
    first = par[at + J_LISTS] + inst[i, I_INDEX] * groups
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            e = pane[x, W_FIRST]
            while e >= 0:
                after = entry[e, S_SIBLING]
                inst[i, I_STATE_BYTES] -= 16
                inst[i, I_ENTRIES] -= 1
                for side in range(2):
                    own = S_LEFT + side * S_SIDE
                    if entry[e, own] > 0:
                        inst[i, I_STATE_BYTES] -= entry[e, own] * par[at + J_LEFT_BYTES + side]
                        row[entry[e, own + 2], R_NEXT] = g[G_ROW]
                        g[G_ROW] = entry[e, own + 1]
                        g[G_ROWS_FREE] += entry[e, own]
                drop_entry(table, entry, g, e)
                e = after
            panes_of[where] = pane[x, W_NEXT]
            pane[x, W_NEXT] = g[G_PANE]
            g[G_PANE] = x
            g[G_PANES_FREE] += 1
            x = panes_of[where]
    earliest = first_pane_end(pane, panes_of, first, groups, -FAR)
    inst[i, I_PANE_END] = earliest
    return 0


def join_next_tick(due, par, at, inst, i, pane, panes_of):
    """The next pane end after `due`, FAR if no pane is open."""
    groups = par[at + J_GROUPS]
    result = first_pane_end(pane, panes_of, par[at + J_LISTS] + inst[i, I_INDEX] * groups, groups, due)
    return result


class Join(Operator):
    """Equi-join of two inputs: each arrival is stored, then joined with the other side's records, one output per match.

    State: the records of both sides by key (and pane): their own bytes, and 16 per key.
    Cost: record_ps per record, output_ps per match.
    Source: Siachamis 2024, 3.6 (Q3 full history, Q8 over a running tumbling window).
    """

    kind, title, group, icon = "join", "Join", "Stateful", "rings"
    source = "Siachamis 2024, 3.6"
    inputs = ("left", "right")
    writes_only_wanted = True
    on_record = staticmethod(join_on_record)
    on_close = staticmethod(join_on_close)
    next_tick = staticmethod(join_next_tick)

    class Params(Model):
        left_key: str = Field(description="field of the left input", json_schema_extra={"x-editor": "field", "x-port": "left"})
        right_key: str = Field(
            description="field of the right input, of the same type", json_schema_extra={"x-editor": "field", "x-port": "right"}
        )
        window: JoinWindow = Field(default_factory=FullHistory, description="what is kept, and for how long")
        select: tuple[str, ...] | None = Field(
            None,
            max_length=64,
            description="fields of the output, in order; none: all of left, then all of right (a taken name gets the prefix right_)",
        )

    @classmethod
    def _columns(cls, inputs: Mapping[str, RecordSchema]) -> dict[str, tuple[int, RecordField, int]]:
        """Output name -> (side, field, column on that side)."""
        named = {field.name: (0, field, c) for c, field in enumerate(inputs["left"].fields)}
        for c, field in enumerate(inputs["right"].fields):
            name = field.name
            while name in named:
                name = f"right_{name}"
            named[name] = (1, field, c)
        return named

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        types = []
        for side in ("left", "right"):
            key, schema = getattr(params, f"{side}_key"), inputs[side]
            if key not in schema:
                raise Refusal(
                    f"{side}_key '{key}' is not a field of the {side} input; {suggestion(key, schema.names)}",
                    at=(f"{side}_key",),
                    code="unknown_field",
                    value=key,
                )
            if schema.type_of(key) == "float":
                raise Refusal(
                    f"{side}_key '{key}' is a float; join on an int, string, bool or timestamp field",
                    at=(f"{side}_key",),
                    code="type_mismatch",
                    value=key,
                )
            types.append(schema.type_of(key))
        if types[0] != types[1]:
            raise Refusal(
                f"left_key '{params.left_key}' is {types[0]} but right_key '{params.right_key}' is {types[1]}; both must have one type",
                at=("right_key",),
                code="type_mismatch",
                value=params.right_key,
            )
        named = cls._columns(inputs)
        names = list(named) if params.select is None else list(params.select)
        for n, name in enumerate(names):
            if name not in named:
                raise Refusal(
                    f"select names '{name}', which neither input has; {suggestion(name, named)}",
                    at=("select", n),
                    code="unknown_field",
                    value=name,
                )
            if name in names[:n]:
                raise Refusal(
                    f"select names '{name}' twice; every output field needs a name of its own",
                    at=("select", n),
                    code="duplicate_name",
                    value=name,
                )
        if not names:
            raise Refusal(
                "select is empty: the output would have no field; name at least one, or leave select out", at=("select",), value=[]
            )
        return {"out": RecordSchema(tuple(named[name][1].named(name) for name in names))}

    @classmethod
    def required_key(cls, params: Params, port: str) -> str | None:
        return params.left_key if port == "left" else params.right_key

    @classmethod
    def carries(cls, params: Params, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        """Both keys are equal in every output, so either side's key may stand for the other's."""
        keys = {0: params.left_key, 1: params.right_key}
        if field != keys[0 if port == "left" else 1]:
            return None
        names = (name for name, (side, of, _) in cls._columns(inputs).items() if of.name == keys[side])
        return next((name for name in names if params.select is None or name in params.select), None)

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        read = ({params.left_key}, {params.right_key})
        for name, (side, field, _) in cls._columns(inputs).items():
            if name in wanted["out"]:
                read[side].add(field.name)
        return dict(zip(("left", "right"), read, strict=True))

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        pane = params.window if isinstance(params.window, Tumbling) else None
        named = cls._columns(lowering.full)
        chosen = [
            (side, inputs["right" if side else "left"].index(field.name))
            for side, field, _ in (named[name] for name in lowering.outputs["out"].names)
        ]
        stored = [sorted({column for side, column in chosen if side == s}) for s in (0, 1)]
        lowering.stored_rows(max(map(len, stored)))
        scheme, groups = lowering.key_groups()
        outputs = [word for side, column in chosen for word in (side, column, stored[side].index(column))]
        columns_at = lowering.params_at + J_TABLE + len(outputs)
        return [
            int(pane is not None),
            seconds_ns(pane.size_s) if pane else 0,
            seconds_ns(pane.origin_s) if pane else 0,
            int(pane is not None and pane.clock == "processing"),
            scheme,
            groups,
            lowering.pane_lists(groups),
            inputs["left"].index(params.left_key),
            inputs["right"].index(params.right_key),
            inputs["left"].bytes,
            inputs["right"].bytes,
            len(stored[0]),
            columns_at,
            len(stored[1]),
            columns_at + len(stored[0]),
            len(chosen),
            *outputs,
            *stored[0],
            *stored[1],
        ]
