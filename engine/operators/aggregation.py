"""Common parts of aggregates: functions and accumulators, stored records, output rows, checks of parameters.

A *group* is the keyed-state entry of one key in one window. It counts its records and tracks their lineage. With incremental evaluation,
a record is added to the accumulators on arrival; with at_firing it is stored, and the accumulators are computed from the stored records
whenever a row is emitted. A distinct count keeps each of its values as a separate entry, owned by the group.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from engine.core.kernels.expression_machine import NAN_WORD
from engine.core.kernels.latencies import copy_stamps, join_stamps
from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import add_entry, drop_entry, find_entry, free_pane, free_rows, take_row
from engine.core.layout import (
    ADDED,
    BOX_FIRST,
    BOX_LAST,
    BOX_READ,
    BOX_REUSED,
    DISTINCT_VALUES,
    I_ENTRIES,
    I_LATE,
    I_STATE_BYTES,
    M_CLOCK,
    M_EDGE,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    M_TRIGGER,
    N_ORIGIN,
    R_EVENT,
    R_NEWEST,
    R_NEXT,
    R_OLDEST,
    R_VALUES,
    S_CLOCK,
    S_COUNT,
    S_KEY,
    S_NEWEST,
    S_OLDEST,
    S_SIBLING,
    S_TRIGGER,
    S_VALUES,
    W_FIRST,
    W_NEXT,
)
from engine.core.tables import Arrays, Words
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import NO_KEYS, FieldType, RecordField, RecordSchema
from engine.spec.base.units import Integer, Number, milliseconds_ns

# parameters of every aggregate, in order; those of the kind follow
AGG_KEY = 0  # column of the key, -1 for a single group
AGG_LISTENED = 1  # 1 if an edge leaves port `out`
AGG_LATE_PORT = 2  # 1 if an edge leaves port `late`
AGG_EVERY = 3  # emit a row whenever the group's record count is a multiple of this; 0: never
AGG_ON_CLOSE = 4  # 1: emit a row when the window ends
AGG_BOUNDS = 5  # number of window bounds in rows: 2, 1 (the end) or 0
AGG_PROCESSING = 6
AGG_LATENESS = 7
AGG_ENTRY_BYTES = 8
AGG_RECORD_BYTES = 9
AGG_ROWS = 10  # column of the group's first stored row, followed by that of the last; 0: incremental
AGG_DISTINCTS = 11  # number of distinct counts
AGG_VALUES = 12  # column of the first accumulator
AGG_COUNT = 13  # number of aggregates
AGG_TABLE = 14  # position of their lines, each of AGG_LINE words: function, column, 1 for a float or 2 for an int used as one, and for a
# distinct count the column of its first value and the owner of its values
AGG_LINKS = 15  # first column of the kind's links
AGG_VALUE_BYTES = 16  # of a value seen by a distinct count
AGG_OWN = 17
AGG_LINE = 5
COUNT, SUM, MIN, MAX, AVG, DISTINCT = range(6)
LATE = 1  # number of port `late`


def send_late(slot, msg, par, at, inst, i, box):
    """Count a late record, and forward it unchanged if port `late` is connected."""
    inst[i, I_LATE] += 1
    if par[at + AGG_LATE_PORT] == 1:
        msg[slot, M_EDGE] = LATE
        box[BOX_FIRST] = slot
        box[BOX_LAST] = slot
        box[BOX_REUSED] = 1
    return par[at + AGG_LATE_PORT]


def fold_records(world, slot, r, steps, fresh, at, i, e):
    """Add records to the accumulators of group e: `steps` stored ones from row r on, or the message if r < 0. fresh: 1 to reset them
    first."""
    msg = world.msg
    inst = world.inst
    par = world.par
    stack = world.stack
    stack_f = world.stack_f
    table = world.table
    entry = world.entry
    entry_f = world.entry_f
    row = world.row
    g = world.g
    for _ in range(steps):
        for k in range(par[at + AGG_COUNT]):
            line = par[at + AGG_TABLE] + AGG_LINE * k
            function = par[line]
            if function == COUNT:
                continue
            v = par[at + AGG_VALUES] + k
            word = msg[slot, M_PAYLOAD + par[line + 1]] if r < 0 else row[r, R_VALUES + k]
            stack[0] = word
            if par[line + 2] == 2:
                stack_f[0] = float(word)
            if function == DISTINCT:
                if fresh == 1:
                    entry[e, v] = 0
                if par[line + 2] == 1:
                    stack_f[0] = stack_f[0] + 0.0  # normalise zero and NaN
                    if stack_f[0] != stack_f[0]:
                        stack[0] = NAN_WORD
                    word = stack[0]
                x = find_entry(table, entry, par[line + 4], word, e)
                if x < 0:
                    x = add_entry(table, entry, g, par[line + 4], word, e)
                    entry[x, S_SIBLING] = entry[e, par[line + 3]]
                    entry[e, par[line + 3]] = x + 1  # 0: none
                    entry[e, v] += 1
                    inst[i, I_STATE_BYTES] += par[at + AGG_VALUE_BYTES]
            elif par[line + 2] >= 1:
                value_f = stack_f[0]
                if fresh == 1:
                    entry_f[e, v] = value_f
                elif function == MIN:  # NaN counts as greater than every number
                    if value_f < entry_f[e, v] or entry_f[e, v] != entry_f[e, v]:
                        entry_f[e, v] = value_f
                elif function == MAX:
                    if value_f > entry_f[e, v] or value_f != value_f:
                        entry_f[e, v] = value_f
                else:
                    entry_f[e, v] += value_f
            elif fresh == 1:
                entry[e, v] = word
            elif function == MIN:
                if word < entry[e, v]:
                    entry[e, v] = word
            elif function == MAX:
                if word > entry[e, v]:
                    entry[e, v] = word
            else:
                entry[e, v] += word
        fresh = 0
        if r >= 0:
            r = row[r, R_NEXT]


def take_record(world, now, slot, due, at, i, tracing, anchor, e, stamps):
    """Count the message in group e, and store it or add it to the accumulators. due: 1 if a row follows, which reads the stored records."""
    msg = world.msg
    inst = world.inst
    par = world.par
    entry = world.entry
    row = world.row
    entry_origin = world.entry_origin
    g = world.g
    first = entry[e, S_COUNT] == 0
    count = entry[e, S_COUNT] + 1
    entry[e, S_COUNT] = count
    if tracing and (
        first
        or anchor == M_CLOCK
        or (anchor == M_NEWEST and msg[slot, M_NEWEST] > entry[e, S_NEWEST])
        or (anchor == M_OLDEST and msg[slot, M_OLDEST] < entry[e, S_OLDEST])
    ):
        entry_origin[e] = now
    entry[e, S_TRIGGER] = msg[slot, M_TRIGGER]
    entry[e, S_CLOCK] = msg[slot, M_CLOCK]
    if first or msg[slot, M_NEWEST] > entry[e, S_NEWEST]:
        entry[e, S_NEWEST] = msg[slot, M_NEWEST]
    if first or msg[slot, M_OLDEST] < entry[e, S_OLDEST]:
        entry[e, S_OLDEST] = msg[slot, M_OLDEST]
    if first:
        copy_stamps(entry, e, msg, slot, stamps)
    else:
        join_stamps(entry, e, msg, slot, g, stamps, ADDED)
    fresh = 1 if first else 0
    steps = 1
    r = -1
    rows = par[at + AGG_ROWS]
    if rows > 0:
        r = take_row(row, g)
        row[r, R_EVENT] = msg[slot, M_EVENT]
        row[r, R_NEWEST] = msg[slot, M_NEWEST]
        row[r, R_OLDEST] = msg[slot, M_OLDEST]
        copy_stamps(row, r, msg, slot, stamps)
        for k in range(par[at + AGG_COUNT]):
            column = par[par[at + AGG_TABLE] + AGG_LINE * k + 1]
            row[r, R_VALUES + k] = msg[slot, M_PAYLOAD + column] if column >= 0 else 0
        if first:
            entry[e, rows] = r
        else:
            row[entry[e, rows + 1], R_NEXT] = r
        entry[e, rows + 1] = r
        inst[i, I_STATE_BYTES] += par[at + AGG_RECORD_BYTES]
        fresh = 1
        steps = count if due == 1 else 0
        r = entry[e, rows]
    fold_records(world, slot, r, steps, fresh, at, i, e)


def put_row(world, slot, event, start, end, at, tracing, e, stamps):
    """Emit one output of group e: key, window bounds, aggregates."""
    msg = world.msg
    msg_f = world.msg_f
    free = world.free
    par = world.par
    entry = world.entry
    entry_f = world.entry_f
    notes = world.notes
    entry_origin = world.entry_origin
    box = world.box
    g = world.g
    made = new_output(msg, free, g, box, slot, stamps)
    if tracing:
        notes[made, N_ORIGIN] = entry_origin[e]
    msg[made, M_EDGE] = 0
    msg[made, M_EVENT] = event
    msg[made, M_TRIGGER] = entry[e, S_TRIGGER]
    msg[made, M_CLOCK] = entry[e, S_CLOCK]
    msg[made, M_NEWEST] = entry[e, S_NEWEST]
    msg[made, M_OLDEST] = entry[e, S_OLDEST]
    copy_stamps(msg, made, entry, e, stamps)
    column = M_PAYLOAD
    if par[at + AGG_KEY] >= 0:
        msg[made, column] = entry[e, S_KEY]
        column += 1
    if par[at + AGG_BOUNDS] == 2:
        msg[made, column] = start
        column += 1
    if par[at + AGG_BOUNDS] > 0:
        msg[made, column] = end
        column += 1
    for k in range(par[at + AGG_COUNT]):
        line = par[at + AGG_TABLE] + AGG_LINE * k
        v = par[at + AGG_VALUES] + k
        if par[line] == COUNT:
            msg[made, column + k] = entry[e, S_COUNT]
        elif par[line] == AVG:
            msg_f[made, column + k] = entry_f[e, v] / entry[e, S_COUNT]
        else:
            msg[made, column + k] = entry[e, v]
        if par[line + 2] >= 1 and msg_f[made, column + k] != msg_f[made, column + k]:
            msg[made, column + k] = NAN_WORD


def forget_values(par, at, inst, i, table, entry, g, e):
    """Free the values seen by the distinct counts of group e."""
    if par[at + AGG_DISTINCTS] > 0:
        for k in range(par[at + AGG_COUNT]):
            line = par[at + AGG_TABLE] + AGG_LINE * k
            if par[line] == DISTINCT:
                x = entry[e, par[line + 3]] - 1
                entry[e, par[line + 3]] = 0
                while x >= 0:
                    after = entry[x, S_SIBLING] - 1
                    drop_entry(table, entry, g, x)
                    inst[i, I_STATE_BYTES] -= par[at + AGG_VALUE_BYTES]
                    x = after


def drop_group(world, at, i, e):
    """Free a group with all its state."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    g = world.g
    forget_values(par, at, inst, i, table, entry, g, e)
    rows = par[at + AGG_ROWS]
    if rows > 0:
        free_rows(row, g, entry[e, rows], entry[e, rows + 1], entry[e, S_COUNT])
        inst[i, I_STATE_BYTES] -= entry[e, S_COUNT] * par[at + AGG_RECORD_BYTES]
    inst[i, I_STATE_BYTES] -= par[at + AGG_ENTRY_BYTES]
    inst[i, I_ENTRIES] -= 1
    drop_entry(table, entry, g, e)


def end_pane(world, slot, where, x, puts, at, i, tracing, stamps):
    """Free pane `x`, which the record in `slot` ends; puts: 1 to emit a row for each of its keys, by first arrival. It is the first or the
    second in list `where`. Returns the number of rows."""
    msg = world.msg
    par = world.par
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    outputs = 0
    e = pane[x, W_FIRST]
    while e >= 0:
        after = entry[e, S_SIBLING]
        if par[at + AGG_ROWS] > 0 and puts == 1:
            r = entry[e, par[at + AGG_ROWS]]
            steps = entry[e, S_COUNT]
            world.box[BOX_READ] += steps
            fold_records(world, slot, r, steps, 1, at, i, e)
        if par[at + AGG_LISTENED] == 1 and puts == 1:
            put_row(world, slot, msg[slot, M_EVENT], 0, 0, at, tracing, e, stamps)
            outputs += 1
        drop_group(world, at, i, e)
        e = after
    if panes_of[where] == x:
        panes_of[where] = pane[x, W_NEXT]
    else:
        pane[panes_of[where], W_NEXT] = pane[x, W_NEXT]
    free_pane(pane, world.g, x)
    return outputs


def group_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    """Return the bytes of groups, including stored records and counted distinct values."""
    sizes: Words = w.par[at + AGG_ENTRY_BYTES] + w.par[at + AGG_RECORD_BYTES] * entries[:, S_COUNT] + w.par[at + AGG_VALUE_BYTES] * values
    return sizes


FUNCTIONS = ("count", "sum", "min", "max", "avg", "count_distinct")


class AggregateField(Model):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$", description="name of the field in the output record")
    function: Literal["count", "sum", "min", "max", "avg", "count_distinct"] = Field(
        default="count", description="function over the records of a key and window"
    )
    field: str | None = Field(
        default=None, description="field of the input record; not needed for count", json_schema_extra={"x-editor": "field"}
    )


Key = Annotated[
    str | None,
    Field(description="field to group by; none: a single group (parallelism 1)", json_schema_extra={"x-editor": "field"}),
]
Aggregates = Annotated[
    tuple[AggregateField, ...], Field(min_length=1, max_length=16, description="aggregates of the output record, in order")
]
Evaluation = Annotated[
    Literal["incremental", "at_firing"],
    Field(
        description="incremental: records update the aggregates on arrival; at_firing: records are stored, and each row reads all of them"
    ),
]
Emit = Annotated[
    Literal["on_update", "on_close"],
    Field(
        description="on_update: each record emits the aggregate so far; on_close: one row per key and window when the window ends",
    ),
]
Every = Annotated[
    Integer | None,
    Field(
        ge=1,
        le=1_000_000_000,
        description="number of records of a key and window between rows; "
        "none: a row per record with on_update, no row before the end with on_close",
    ),
]
LatenessMs = Annotated[
    Number,
    Field(
        ge=0,
        le=1e9,
        description="allowed lateness: how long a window is kept after its end (event clock); a late record emits an updated row at once",
        json_schema_extra={"x-unit": "ms"},
    ),
]


KeysGrow = Annotated[
    bool,
    Field(
        description="whether more records mean more keys, not more records per key; in a scaled run, groups and rows then stand for as "
        "many real ones as records do",
    ),
]


class Aggregation(Operator):
    """Base of aggregates."""

    group = "Stateful"
    outputs: ClassVar[tuple[str, ...]] = ("out", "late")
    reads_as_records = True

    class Params(Model):
        key: Key = None
        aggregates: Aggregates = (AggregateField(name="count"),)
        evaluation: Evaluation = "incremental"

    @classmethod
    def compares(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> tuple[FieldType, ...]:
        names = (params.key, *(aggregate.field for aggregate in params.aggregates))
        return tuple(inputs["in"].type_of(name) for name in names if name is not None)

    @classmethod
    def bounds(cls, params: Any) -> tuple[str, ...]:
        """Return the window bounds contained in rows."""
        return "window_start", "window_end"

    @classmethod
    def may_be_late(cls, params: Any) -> bool:
        """Return whether windows end by watermark, so that records can be late."""
        return False

    @classmethod
    def waits_for_watermarks(cls, params: Any) -> bool:
        return cls.may_be_late(params) and bool(params.emit == "on_close")

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        return cls.outputs if cls.may_be_late(params) else ("out",)

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
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
            if (type := schema.type_of(params.key)) in NO_KEYS:
                raise Refusal(
                    f"key '{params.key}' is a {type}; group by an int, string, bool or timestamp field",
                    at=("key",),
                    code="type_mismatch",
                    value=params.key,
                )
            if params.key in cls.bounds(params):
                message = f"key '{params.key}' has the name of a field that windows add; rename it with a map upstream"
                raise Refusal(message, at=("key",), code="duplicate_name", value=params.key)
            fields.append(schema.field(params.key))
        zero_ns = schema.zero_ns if cls.may_be_late(params) else None  # such windows use event time
        fields += [RecordField(name, "timestamp", zero_ns) for name in cls.bounds(params)]
        for n, aggregate in enumerate(params.aggregates):
            if aggregate.name in {f.name for f in fields}:
                raise Refusal(
                    f"aggregate name '{aggregate.name}' is already a field of the output; choose another",
                    at=("aggregates", n, "name"),
                    code="duplicate_name",
                    value=aggregate.name,
                )
            type = cls._type(aggregate, schema, n)
            zero_ns = schema.field(aggregate.field).zero_ns if type == "timestamp" and aggregate.field is not None else None
            fields.append(RecordField(aggregate.name, type, zero_ns))
        return {"out": RecordSchema(tuple(fields)), "late": schema}

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
        if aggregate.function == "count_distinct" and of != "vector":
            return "int"
        if of in ("string", "bool", "vector") or (of == "timestamp" and aggregate.function in ("sum", "avg")):
            raise Refusal(
                f"{aggregate.function} of '{aggregate.field}' ({of}) is not defined; use an int or float field, or count_distinct",
                at=at,
                code="type_mismatch",
                value=aggregate.field,
            )
        return "float" if aggregate.function == "avg" else of

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        key: str | None = params.key
        return key

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return field if field == params.key else None

    @classmethod
    def parallelism_max(cls, params: Any) -> int | None:
        return 1 if params.key is None else None

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        fields = {aggregate.field for aggregate in params.aggregates if aggregate.function != "count"}
        return {"in": {name for name in (params.key, *fields) if name is not None}}

    @classmethod
    def lower_common(
        cls,
        params: Any,
        schema: RecordSchema,
        lowering: Any,
        *,
        every: int = 0,
        on_close: bool = False,
        processing: bool = False,
        lateness_ms: Number = 0.0,
        own: tuple[int, ...] = (),
        own_state: int = 0,
        own_links: int = 0,
        own_bytes: int = 0,
    ) -> list[int]:
        """Return all parameters of the kernels; `own`: those of the kind.

        A group's entry holds own_state words (before) and own_links words (after) of the kind; links are positions, not state.
        """
        weight = lowering.weight if getattr(params, "keys_grow", False) else 1  # real groups per group
        count = len(params.aggregates)
        at_firing = params.evaluation == "at_firing"
        values = S_VALUES + own_state
        heads = values + count
        distincts = sum(aggregate.function == "count_distinct" for aggregate in params.aggregates)
        rows = heads + distincts + own_links
        lowering.entry_values(rows + 2 - S_VALUES)
        lowering.groups_of(words=5 + own_state + count, first_row=rows if at_firing else 0, heads=(heads, distincts))
        if at_firing:
            lowering.stored_rows(count)
        lines: list[int] = []
        head = heads
        for k, aggregate in enumerate(params.aggregates):
            of = None if aggregate.function == "count" else aggregate.field
            real = int(of is not None and schema.type_of(of) == "float") or 2 * int(aggregate.function == "avg")
            lines += [FUNCTIONS.index(aggregate.function), -1 if of is None else schema.index(of), real, head, DISTINCT_VALUES + k]
            head += aggregate.function == "count_distinct"
        return [
            -1 if params.key is None else schema.index(params.key),
            int("out" in lowering.connected),
            int("late" in lowering.connected),
            every,
            int(on_close),
            len(cls.bounds(params)),
            int(processing),
            milliseconds_ns(lateness_ms),
            (24 + own_bytes + (0 if at_firing else 8 * count)) * weight,
            schema.bytes * lowering.weight if at_firing else 0,
            rows if at_firing else 0,
            distincts,
            values,
            count,
            lowering.params_at + AGG_OWN + len(own),
            heads + distincts,
            8 * weight,
            *own,
            *lines,
        ]


def check_keys_grow(keys_grow: bool, key: str | None) -> None:
    """Check that growing keys have a key. Raises `Refusal`."""
    if keys_grow and key is None:
        raise Refusal(
            "keys_grow is true, but there is no key; choose a key, or leave keys_grow out", at=("keys_grow",), code="no_key", value=True
        )


def check_lateness(lateness_ms: Number, reason: str) -> None:
    """Check that lateness is 0 where no record can be late. reason: why none can. Raises `Refusal`."""
    if lateness_ms > 0:
        message = f"lateness_ms is {lateness_ms:g}, but {reason}; set it to 0, or use a window with the clock event"
        raise Refusal(message, at=("lateness_ms",), code="no_lateness", value=lateness_ms)
