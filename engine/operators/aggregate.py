"""Aggregates by key over panes of time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import Field

from engine.core.layout import (
    FAR,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_PANE,
    G_PANES_FREE,
    I_ENTRIES,
    I_INDEX,
    I_LATE,
    I_PANE_END,
    I_STATE_BYTES,
    I_TICK,
    I_WATERMARK,
    M_CLOCK,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    M_TRIGGER,
    N_ORIGIN,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_PANES,
    S_CLOCK,
    S_COUNT,
    S_KEY,
    S_NEWEST,
    S_OLDEST,
    S_SIBLING,
    S_TRIGGER,
    S_VALUES,
    W_COUNT,
    W_END,
    W_FIRST,
    W_NEXT,
    W_START,
)  # fmt: skip
from engine.core.tools import add_entry, drop_entry, find_entry, first_pane_end, group_of, join_pane, new_output
from engine.operators.windows import AggregateWindow, NoWindow
from engine.spec.operator import Model, Operator
from engine.spec.problems import Refusal, suggestion
from engine.spec.records import RecordField, RecordSchema
from engine.spec.units import seconds_ns

# parameters, in order
A_KEY, A_WINDOWED, A_SIZE, A_SLIDE, A_ORIGIN, A_PROCESSING, A_ON_CLOSE, A_SCHEME, A_GROUPS, A_LISTS, A_ENTRY_BYTES, A_COUNT, A_FUNCTIONS = (
    range(13)
)
COUNT, SUM, MIN, MAX, AVG = range(5)


def aggregate_row(msg, msg_f, made, entry, entry_f, e, par, at, start, end):
    """Write the output fields: key, pane bounds, aggregates."""
    column = M_PAYLOAD
    if par[at + A_KEY] >= 0:
        msg[made, column] = entry[e, S_KEY]
        column += 1
    if par[at + A_WINDOWED] == 1:
        msg[made, column] = start
        msg[made, column + 1] = end
        column += 2
    for k in range(par[at + A_COUNT]):
        function = par[at + A_FUNCTIONS + 3 * k]
        if function == COUNT:
            msg[made, column + k] = entry[e, S_COUNT]
        elif function == AVG:
            total = entry_f[e, S_VALUES + k] if par[at + A_FUNCTIONS + 3 * k + 2] == 1 else float(entry[e, S_VALUES + k])
            msg_f[made, column + k] = total / entry[e, S_COUNT]
        else:
            msg[made, column + k] = entry[e, S_VALUES + k]


def aggregate_add(msg, msg_f, slot, entry, entry_f, e, par, at, now, tracing, anchor, entry_origin):
    """Take a record into the accumulators of an entry."""
    first = entry[e, S_COUNT] == 0
    entry[e, S_COUNT] += 1
    for k in range(par[at + A_COUNT]):
        function = par[at + A_FUNCTIONS + 3 * k]
        if function == COUNT:
            continue
        column = M_PAYLOAD + par[at + A_FUNCTIONS + 3 * k + 1]
        v = S_VALUES + k
        if par[at + A_FUNCTIONS + 3 * k + 2] == 1:
            value_f = msg_f[slot, column]
            if first:
                entry_f[e, v] = value_f
            elif function == MIN:
                entry_f[e, v] = min(entry_f[e, v], value_f)
            elif function == MAX:
                entry_f[e, v] = max(entry_f[e, v], value_f)
            else:
                entry_f[e, v] += value_f
        else:
            value = msg[slot, column]
            if first:
                entry[e, v] = value
            elif function == MIN:
                entry[e, v] = min(entry[e, v], value)
            elif function == MAX:
                entry[e, v] = max(entry[e, v], value)
            else:
                entry[e, v] += value
    if tracing and (
        first
        or anchor == M_CLOCK
        or (anchor == M_NEWEST and msg[slot, M_NEWEST] > entry[e, S_NEWEST])
        or (anchor == M_OLDEST and msg[slot, M_OLDEST] < entry[e, S_OLDEST])
    ):
        entry_origin[e] = now
    entry[e, S_TRIGGER] = msg[slot, M_TRIGGER]
    entry[e, S_CLOCK] = msg[slot, M_CLOCK]
    if first:
        entry[e, S_NEWEST] = msg[slot, M_NEWEST]
        entry[e, S_OLDEST] = msg[slot, M_OLDEST]
    else:
        entry[e, S_NEWEST] = max(entry[e, S_NEWEST], msg[slot, M_NEWEST])
        entry[e, S_OLDEST] = min(entry[e, S_OLDEST], msg[slot, M_OLDEST])


def aggregate_on_record(
    now, slot, msg, msg_f, par, at, inst, i, table, entry, entry_f, pane, panes_of, g, free, box, tracing, anchor, notes, entry_origin
):
    """Add the record to each open pane that it falls into; with on_update, emit each pane's aggregate so far."""
    start = 0
    panes = 1
    slide = FAR
    size = FAR
    closed_to = -FAR
    if par[at + A_WINDOWED] == 1:
        size = par[at + A_SIZE]
        slide = par[at + A_SLIDE]
        time = now if par[at + A_PROCESSING] == 1 else msg[slot, M_EVENT]
        if par[at + A_PROCESSING] == 0:
            closed_to = inst[i, I_WATERMARK]
        start = par[at + A_ORIGIN] + (time - par[at + A_ORIGIN]) // slide * slide
        older = (size - 1 - (time - start)) // slide
        panes = older + 1
        start -= older * slide
        if start + size <= closed_to:
            skipped = min((closed_to - start - size) // slide + 1, panes)
            panes -= skipped
            start += skipped * slide
            if panes == 0:
                inst[i, I_LATE] += 1
                return 0
    if g[G_ENTRIES_FREE] < panes:
        g[G_NEED] = panes
        return -NEED_ENTRIES
    if g[G_PANES_FREE] < panes:
        g[G_NEED] = panes
        return -NEED_PANES
    if g[G_FREE] < panes:
        g[G_NEED] = panes
        return -NEED_MESSAGES
    box[3] = panes
    key = msg[slot, M_PAYLOAD + par[at + A_KEY]] if par[at + A_KEY] >= 0 else 0
    groups = par[at + A_GROUPS]
    where = par[at + A_LISTS] + inst[i, I_INDEX] * groups + group_of(key, par[at + A_SCHEME], groups)
    for _ in range(panes):
        e = find_entry(table, entry, i, key, start)
        if e < 0:
            e = add_entry(table, entry, g, i, key, start)
            end = start + size if par[at + A_WINDOWED] == 1 else FAR
            join_pane(pane, panes_of, g, inst, i, where, start, end, e, entry)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += par[at + A_ENTRY_BYTES]
            if par[at + A_WINDOWED] == 1 and par[at + A_PROCESSING] == 1 and end < inst[i, I_TICK]:
                inst[i, I_TICK] = end
        aggregate_add(msg, msg_f, slot, entry, entry_f, e, par, at, now, tracing, anchor, entry_origin)
        if par[at + A_ON_CLOSE] == 0:
            made = new_output(msg, free, g, box, slot)
            if tracing:
                notes[made, N_ORIGIN] = entry_origin[e]
            msg[made, M_NEWEST] = entry[e, S_NEWEST]
            msg[made, M_OLDEST] = entry[e, S_OLDEST]
            aggregate_row(msg, msg_f, made, entry, entry_f, e, par, at, start, start + size)
        start += slide
    return panes if par[at + A_ON_CLOSE] == 0 else 0


def aggregate_on_close(
    limit, by_timer, slot, msg, msg_f, par, at, inst, i, table, entry, entry_f, pane, panes_of, g, free, box, tracing, notes, entry_origin
):
    """Close the panes that end by `limit` (a watermark or a timer's time): emit by key group, start, first arrival; free them."""
    if par[at + A_WINDOWED] == 0 or limit < inst[i, I_PANE_END] or (par[at + A_PROCESSING] == 1) != by_timer:
        return 0
    groups = par[at + A_GROUPS]
    first = par[at + A_LISTS] + inst[i, I_INDEX] * groups
    rows = 0
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            rows += pane[x, W_COUNT]
            x = pane[x, W_NEXT]
    if par[at + A_ON_CLOSE] == 1 and g[G_FREE] < rows:
        g[G_NEED] = rows
        return -NEED_MESSAGES
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            e = pane[x, W_FIRST]
            while e >= 0:
                after = entry[e, S_SIBLING]
                if par[at + A_ON_CLOSE] == 1:
                    made = new_output(msg, free, g, box, slot)
                    if tracing:
                        notes[made, N_ORIGIN] = entry_origin[e]
                    msg[made, M_EVENT] = pane[x, W_END] - 1
                    msg[made, M_TRIGGER] = entry[e, S_TRIGGER]
                    msg[made, M_CLOCK] = entry[e, S_CLOCK]
                    msg[made, M_NEWEST] = entry[e, S_NEWEST]
                    msg[made, M_OLDEST] = entry[e, S_OLDEST]
                    aggregate_row(msg, msg_f, made, entry, entry_f, e, par, at, pane[x, W_START], pane[x, W_END])
                drop_entry(table, entry, g, e)
                inst[i, I_ENTRIES] -= 1
                inst[i, I_STATE_BYTES] -= par[at + A_ENTRY_BYTES]
                e = after
            panes_of[where] = pane[x, W_NEXT]
            pane[x, W_NEXT] = g[G_PANE]
            g[G_PANE] = x
            g[G_PANES_FREE] += 1
            x = panes_of[where]
    earliest = first_pane_end(pane, panes_of, first, groups, -FAR)
    inst[i, I_PANE_END] = earliest
    return rows if par[at + A_ON_CLOSE] == 1 else 0


def aggregate_next_tick(due, par, at, inst, i, pane, panes_of):
    """The next pane end after `due`, FAR if no pane is open."""
    groups = par[at + A_GROUPS]
    result = first_pane_end(pane, panes_of, par[at + A_LISTS] + inst[i, I_INDEX] * groups, groups, due)
    return result


class AggregateField(Model):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$", description="name of the field in the output record")
    function: Literal["count", "sum", "min", "max", "avg"] = Field(
        default="count", description="what is computed over the records of a key and pane"
    )
    field: str | None = Field(
        default=None, description="field of the input record; count needs none", json_schema_extra={"x-editor": "field"}
    )


class Aggregate(Operator):
    """Count, sum, min, max, avg of fields by key over tumbling, sliding or no windows.

    State: one entry per open (key, pane): 24 bytes and 8 per aggregate.
    Cost: record_ps per pane that the record falls into, output_ps per row emitted.
    Source: Karimov 2020, 2.1.2 (windows); the running form is NexMark Q12 of Siachamis 2024, 3.6.
    """

    kind, title, group, icon = "aggregate", "Aggregate", "Stateful", "sigma"
    source = "Karimov 2020, 2.1.2"
    on_record = staticmethod(aggregate_on_record)
    on_close = staticmethod(aggregate_on_close)
    next_tick = staticmethod(aggregate_next_tick)

    class Params(Model):
        key: str | None = Field(
            default=None, description="field to group by; none: one group for all (parallelism 1)", json_schema_extra={"x-editor": "field"}
        )
        window: AggregateWindow = Field(default_factory=NoWindow, description="panes of time")
        aggregates: tuple[AggregateField, ...] = Field(
            (AggregateField(name="count"),), min_length=1, max_length=16, description="aggregates of the output record, in order"
        )
        emit: Literal["on_update", "on_close"] = Field(
            "on_update", description="on_update: each record gives the aggregate so far; on_close: one row per key when its pane closes"
        )

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        schema = inputs["in"]
        fields: list[RecordField] = []
        if params.key is not None:
            if params.key not in schema:
                raise Refusal(
                    f"key '{params.key}' is not a field of the input record; {suggestion(params.key, schema.names)}",
                    at=("key",),
                    code="unknown_field",
                    value=params.key,
                )
            if schema.type_of(params.key) == "float":
                raise Refusal(
                    f"key '{params.key}' is a float; group by an int, string, bool or timestamp field",
                    at=("key",),
                    code="type_mismatch",
                    value=params.key,
                )
            if params.window.kind != "none" and params.key in ("window_start", "window_end"):
                message = f"key '{params.key}' has the name of a field that windows add; rename it with a map before this operator"
                raise Refusal(message, at=("key",), code="duplicate_name", value=params.key)
            fields.append(RecordField(params.key, schema.type_of(params.key)))
        if params.window.kind != "none":
            fields += [RecordField("window_start", "timestamp"), RecordField("window_end", "timestamp")]
        elif params.emit == "on_close":
            raise Refusal(
                "emit is on_close but window is none: such a pane never closes; choose a window or on_update",
                at=("emit",),
                value="on_close",
            )
        for n, aggregate in enumerate(params.aggregates):
            if aggregate.name in {f.name for f in fields}:
                raise Refusal(
                    f"aggregate name '{aggregate.name}' is already a field of the output; choose another",
                    at=("aggregates", n, "name"),
                    code="duplicate_name",
                    value=aggregate.name,
                )
            fields.append(RecordField(aggregate.name, cls._type(aggregate, schema, n)))
        return {"out": RecordSchema(tuple(fields))}

    @staticmethod
    def _type(aggregate: AggregateField, schema: RecordSchema, n: int) -> Any:
        if aggregate.function == "count":
            return "int"
        at = ("aggregates", n, "field")
        if aggregate.field is None:
            raise Refusal(f"{aggregate.function} needs a field; choose one of {', '.join(schema.names)}", at=at, code="missing")
        if aggregate.field not in schema:
            raise Refusal(
                f"field '{aggregate.field}' is not in the input record; {suggestion(aggregate.field, schema.names)}",
                at=at,
                code="unknown_field",
                value=aggregate.field,
            )
        of = schema.type_of(aggregate.field)
        if of in ("string", "bool") or (of == "timestamp" and aggregate.function in ("sum", "avg")):
            raise Refusal(
                f"{aggregate.function} of '{aggregate.field}' ({of}) is not defined; use an int or float field",
                at=at,
                code="type_mismatch",
                value=aggregate.field,
            )
        return "float" if aggregate.function == "avg" else of

    @classmethod
    def required_key(cls, params: Params, port: str) -> str | None:
        return params.key

    @classmethod
    def carries(cls, params: Params, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return field if field == params.key else None

    @classmethod
    def parallelism_max(cls, params: Params) -> int | None:
        return 1 if params.key is None else None

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {"in": {name for name in (params.key, *(a.field for a in params.aggregates if a.function != "count")) if name is not None}}

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        schema, window = inputs["in"], params.window
        size_s = slide_s = origin_s = 0.0
        if not isinstance(window, NoWindow):
            size_s, slide_s, origin_s = window.size_s, getattr(window, "slide_s", window.size_s), window.origin_s
        scheme, groups = lowering.key_groups()
        functions: list[int] = []
        for aggregate in params.aggregates:
            of = None if aggregate.function == "count" else aggregate.field
            column = 0 if of is None else schema.index(of)
            is_float = of is not None and schema.type_of(of) == "float"
            functions += [("count", "sum", "min", "max", "avg").index(aggregate.function), column, int(is_float)]
        lowering.entry_values(len(params.aggregates))
        return [
            -1 if params.key is None else schema.index(params.key),
            int(window.kind != "none"),
            seconds_ns(size_s),
            seconds_ns(slide_s),
            seconds_ns(origin_s),
            int(not isinstance(window, NoWindow) and window.clock == "processing"),
            int(params.emit == "on_close"),
            scheme,
            groups,
            lowering.pane_lists(groups),
            24 + 8 * len(params.aggregates),
            len(params.aggregates),
            *functions,
        ]
