"""Common parts of two-input joins: keys and output fields; storing records by side, emitting pairs, panes of time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainSerializer

from engine.core.control.keyed_state import entries_by_key, entries_of_panes, parameters, relink_panes
from engine.core.keeping import Keeping
from engine.core.kernels.hashing import group_of
from engine.core.kernels.latencies import copy_stamps, join_stamps
from engine.core.kernels.state_table import add_entry, drop_entry, entry_hash, first_pane_end, free_pane, free_rows, join_pane, take_row
from engine.core.layout import (  # fmt: skip
    BOX_FIRST,
    BOX_LAST,
    BOX_REUSED,
    BOX_WORK,
    FAR,
    G_ENTRIES_FREE,
    G_NEED,
    G_PANES_FREE,
    G_ROWS_FREE,
    I_ENTRIES,
    I_INDEX,
    I_LATE,
    I_STATE_BYTES,
    I_TICK,
    I_WATERMARK,
    M_EDGE,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    N_ORIGIN,
    NEED_ENTRIES,
    NEED_PANES,
    NEED_ROWS,
    PAIRED,
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
)
from engine.core.tables import Arrays, Words
from engine.operators.windows import Count, JoinWindow, Sliding, Tumbling, panes_of_a_record
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import NO_KEYS, FieldType, RecordField, RecordSchema
from engine.spec.base.units import Number, milliseconds_ns, quantity, seconds_ns

# parameters of every join, in order; by side: key column, bytes of a stored record, number and start of the stored columns
(
    JOIN_LEFT_KEY,
    JOIN_RIGHT_KEY,
    JOIN_LEFT_BYTES,
    JOIN_RIGHT_BYTES,
    JOIN_LEFT_STORED,
    JOIN_LEFT_COLUMNS,
    JOIN_RIGHT_STORED,
    JOIN_RIGHT_COLUMNS,
) = range(8)
# column of a stored row after its values, for words of the kind; 1 if an edge leaves port out; 0 or the late ports' numbers;
# # bytes of a key with stored records
JOIN_EXTRA, JOIN_OUTPUTS, JOIN_TABLE, JOIN_EVENT, JOIN_LISTENED, JOIN_LEFT_LATE, JOIN_RIGHT_LATE, JOIN_KEY_BYTES, JOIN_OWN = range(8, 17)
# then of joins over panes; by side: column with the end of the record's pane, -1 if its time decides. Of windows of a number of records:
# that number, else 0, and the records from one end to the next
(
    JOIN_SIZE,
    JOIN_SLIDE,
    JOIN_ORIGIN,
    JOIN_PROCESSING,
    JOIN_LATENESS,
    JOIN_LEFT_END,
    JOIN_RIGHT_END,
    JOIN_SCHEME,
    JOIN_GROUPS,
    JOIN_LISTS,
    JOIN_COUNTED,
    JOIN_STEP,
) = range(JOIN_OWN, JOIN_OWN + 12)
EVENT_NEWEST, EVENT_TRIGGER, EVENT_OLDEST, EVENT_WINDOW = range(4)
BOUND_START, BOUND_END, LAST_PAIR = 2, 3, 4  # used instead of a side in the table of output fields
KEY_BYTES = 16


def pass_late(slot, msg, port, par, at, inst, i, box):
    """Count a late record, and forward it unchanged if its side's late port is connected."""
    inst[i, I_LATE] += 1
    outputs = 0
    if par[at + JOIN_LEFT_LATE + port] > 0:
        msg[slot, M_EDGE] = par[at + JOIN_LEFT_LATE + port]
        box[BOX_FIRST] = slot
        box[BOX_LAST] = slot
        box[BOX_REUSED] = 1
        outputs = 1
    return outputs


def store_record(world, now, slot, port, at, i, e, tracing, stamps):
    """Append a record to its side of an entry and return the new row. The caller has checked for space."""
    msg = world.msg
    inst = world.inst
    par = world.par
    entry = world.entry
    row = world.row
    row_origin = world.row_origin
    g = world.g
    r = take_row(row, g)
    if tracing:
        row_origin[r] = now
    row[r, R_EVENT] = msg[slot, M_EVENT]
    row[r, R_NEWEST] = msg[slot, M_NEWEST]
    row[r, R_OLDEST] = msg[slot, M_OLDEST]
    copy_stamps(row, r, msg, slot, stamps)
    columns = par[at + JOIN_LEFT_COLUMNS + 2 * port]
    for c in range(par[at + JOIN_LEFT_STORED + 2 * port]):
        row[r, R_VALUES + c] = msg[slot, M_PAYLOAD + par[columns + c]]
    for c in range(R_VALUES + par[at + JOIN_LEFT_STORED + 2 * port], par[at + JOIN_EXTRA]):
        row[r, c] = 0  # may contain data of another side's record
    own = S_LEFT + port * S_SIDE
    append_row(entry, row, e, own, r)
    inst[i, I_STATE_BYTES] += par[at + JOIN_LEFT_BYTES + port]
    return r


def append_row(entry, row, e, own, r):
    """Put a stored row behind the others of one side of an entry. own: the side's columns in the entry."""
    if entry[e, own] == 0:
        entry[e, own + 1] = r
    else:
        row[entry[e, own + 2], R_NEXT] = r
    entry[e, own + 2] = r
    entry[e, own] += 1


def add_contributor(world, made, r, at, stamps):
    """Stored row `r` is a contributor of the output `made`, which has the lineage of the record that is served, or of others before."""
    msg = world.msg
    row = world.row
    rule = world.par[at + JOIN_EVENT]
    if rule == EVENT_NEWEST:
        msg[made, M_EVENT] = max(msg[made, M_EVENT], row[r, R_EVENT])
    elif rule == EVENT_OLDEST:
        msg[made, M_EVENT] = min(msg[made, M_EVENT], row[r, R_EVENT])
    msg[made, M_NEWEST] = max(msg[made, M_NEWEST], row[r, R_NEWEST])
    msg[made, M_OLDEST] = min(msg[made, M_OLDEST], row[r, R_OLDEST])
    join_stamps(msg, made, row, r, world.g, stamps, PAIRED)


def pair_with_stored(world, made, slot, port, at, r, start, end, tracing, anchor, stamps):
    """Fill the output `made` from the arriving record and a stored one of the other side."""
    msg = world.msg
    par = world.par
    row = world.row
    notes = world.notes
    row_origin = world.row_origin
    if tracing and (
        (anchor == M_NEWEST and row[r, R_NEWEST] > msg[slot, M_NEWEST]) or (anchor == M_OLDEST and row[r, R_OLDEST] < msg[slot, M_OLDEST])
    ):
        notes[made, N_ORIGIN] = row_origin[r]
    add_contributor(world, made, r, at, stamps)
    msg[made, M_EDGE] = 0
    table = par[at + JOIN_TABLE]
    for c in range(par[at + JOIN_OUTPUTS]):
        side = par[table + 3 * c]
        if side == port:
            msg[made, M_PAYLOAD + c] = msg[slot, M_PAYLOAD + par[table + 3 * c + 1]]
        elif side == 1 - port:
            msg[made, M_PAYLOAD + c] = row[r, R_VALUES + par[table + 3 * c + 2]]
        elif side == BOUND_START:
            msg[made, M_PAYLOAD + c] = start
        elif side == BOUND_END:
            msg[made, M_PAYLOAD + c] = end
        else:
            msg[made, M_PAYLOAD + c] = 0


def first_open_pane(world, now, slot, port, at, i):
    """Return the start of the earliest pane the record may enter. Stores the number of panes in `box` as the counted work, 0 if all are
    closed."""
    msg = world.msg
    inst = world.inst
    par = world.par
    box = world.box
    size = par[at + JOIN_SIZE]
    slide = par[at + JOIN_SLIDE]
    panes = 1
    start = 0
    if size > 0:
        closed_to = -FAR
        if par[at + JOIN_LEFT_END + port] >= 0:
            start = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_END + port]] - size
        else:
            time = now if par[at + JOIN_PROCESSING] == 1 else msg[slot, M_EVENT]
            start = par[at + JOIN_ORIGIN] + (time - par[at + JOIN_ORIGIN]) // slide * slide
            if size > slide:
                older = (size - 1 - (time - start)) // slide
                panes = older + 1
                start -= older * slide
        if par[at + JOIN_PROCESSING] == 0:
            closed_to = inst[i, I_WATERMARK] - par[at + JOIN_LATENESS]
        if start + size <= closed_to:
            skipped = min((closed_to - start - size) // slide + 1, panes)
            panes -= skipped
            start += skipped * slide
    box[BOX_WORK] = panes
    return start


def lacking_space(panes, g):
    """Return which table lacks space for storing a record in this many panes, as a negative reason to return; 0 if none."""
    lacking = 0
    if g[G_ROWS_FREE] < panes:
        lacking = -NEED_ROWS
    elif g[G_ENTRIES_FREE] < panes:
        lacking = -NEED_ENTRIES
    elif g[G_PANES_FREE] < panes:
        lacking = -NEED_PANES
    if lacking < 0:
        g[G_NEED] = panes
    return lacking


def pair_hash(made, msg, i2, port, par, at):
    """Return the hash of the entry of a record that goes to instance `i2`, with one entry per key."""
    return entry_hash(i2, msg[made, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]], 0)


def open_key(world, key, start, at, i):
    """Add an entry for a key. The caller has checked that there is none, and for space."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    g = world.g
    e = add_entry(table, entry, g, i, key, start)
    inst[i, I_ENTRIES] += 1
    inst[i, I_STATE_BYTES] += par[at + JOIN_KEY_BYTES]
    return e


def close_if_empty(par, at, inst, i, table, entry, g, e):
    """Free an entry without stored records on either side."""
    if entry[e, S_LEFT] + entry[e, S_LEFT + S_SIDE] == 0:
        drop_entry(table, entry, g, e)
        inst[i, I_ENTRIES] -= 1
        inst[i, I_STATE_BYTES] -= par[at + JOIN_KEY_BYTES]


def open_entry(world, key, start, at, i):
    """Like `open_key`, in the pane that starts at `start`."""
    inst = world.inst
    par = world.par
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    g = world.g
    e = open_key(world, key, start, at, i)
    if par[at + JOIN_SIZE] > 0:
        end = start + par[at + JOIN_SIZE]
        groups = par[at + JOIN_GROUPS]
        where = par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups + group_of(key, par[at + JOIN_SCHEME], groups)
        join_pane(pane, panes_of, g, inst, i, where, start, end, e, entry)
        if par[at + JOIN_PROCESSING] == 1 and end < inst[i, I_TICK]:
            inst[i, I_TICK] = end
    return e


def discount_panes(world, limit, at, i):
    """The panes that end by `limit` are no state any more. They are still stored, until `free_panes`."""
    inst = world.inst
    par = world.par
    entry = world.entry
    pane = world.pane
    groups = par[at + JOIN_GROUPS]
    first = par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups
    for where in range(first, first + groups):
        x = world.panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            e = pane[x, W_FIRST]
            while e >= 0:
                inst[i, I_STATE_BYTES] -= par[at + JOIN_KEY_BYTES]
                inst[i, I_ENTRIES] -= 1
                for side in range(2):
                    inst[i, I_STATE_BYTES] -= entry[e, S_LEFT + side * S_SIDE] * par[at + JOIN_LEFT_BYTES + side]
                e = entry[e, S_SIBLING]
            x = pane[x, W_NEXT]


def free_panes(world, limit, at, i):
    """Free the panes that end by `limit`, with all stored records. They are no state any more (`discount_panes`)."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    row = world.row
    pane = world.pane
    panes_of = world.panes_of
    g = world.g
    groups = par[at + JOIN_GROUPS]
    first = par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            e = pane[x, W_FIRST]
            while e >= 0:
                after = entry[e, S_SIBLING]
                for side in range(2):
                    own = S_LEFT + side * S_SIDE
                    if entry[e, own] > 0:
                        free_rows(row, g, entry[e, own + 1], entry[e, own + 2], entry[e, own])
                drop_entry(table, entry, g, e)
                e = after
            panes_of[where] = pane[x, W_NEXT]
            free_pane(pane, g, x)
            x = panes_of[where]


def pairs_next_tick(due, par, at, inst, i, pane, panes_of):
    """Return the next pane end after `due`, FAR if no pane is open."""
    groups = par[at + JOIN_GROUPS]
    result = first_pane_end(pane, panes_of, par[at + JOIN_LISTS] + inst[i, I_INDEX] * groups, groups, due)
    return result


def pair_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    """Return the bytes of entries, including stored records."""
    sizes: Words = w.par[at + JOIN_KEY_BYTES] + entries[:, [S_LEFT, S_LEFT + S_SIDE]] @ w.par[[at + JOIN_LEFT_BYTES, at + JOIN_RIGHT_BYTES]]
    return sizes


def pane_lists(w: Arrays, i: int) -> tuple[int, int, int]:
    """Return the first list of the instance's panes, and scheme and number of its key groups."""
    scheme, groups, lists = w.par[parameters(w, i) + JOIN_SCHEME :][:3].tolist()
    return lists + int(w.inst[i, I_INDEX]) * groups, scheme, groups


def pairs_in_order(w: Arrays, i: int) -> Words:
    if w.par[parameters(w, i) + JOIN_SIZE] == 0:
        return entries_by_key(w, i)
    first, _, groups = pane_lists(w, i)
    return entries_of_panes(w, first, groups)


def pairs_relink(w: Arrays, i: int, entries: Words) -> None:
    at = parameters(w, i)
    if w.par[at + JOIN_SIZE] > 0:
        relink_panes(w, i, entries, *pane_lists(w, i), int(w.par[at + JOIN_SIZE]), int(w.par[at + JOIN_PROCESSING]))


KEPT_IN_PANES = Keeping(pair_sizes, pairs_in_order, pairs_relink)

SIDES = ("left", "right")
LATE_PORTS = ("late_left", "late_right")
EVENT_TIMES = ("newest", "trigger", "oldest", "window")


def field_of(port: str) -> dict[str, Any]:
    """Return the form's hints for a field name."""
    return {"x-editor": "field", "x-port": port}


class PairParams(Model):
    """Parameters of every join of two inputs."""

    left_key: str = Field(description="field of the left input", json_schema_extra=field_of("left"))
    right_key: str = Field(description="field of the right input, of the same type", json_schema_extra=field_of("right"))
    select: tuple[str, ...] | None = Field(
        None,
        max_length=256,
        description="fields of the output, in order; default: all of left, then all of right (a duplicate name gets the prefix right_)",
    )
    event_time: Literal["newest", "trigger", "oldest"] = Field(
        "newest", description="event time of an output: that of the newer record, of the record that arrived last, or of the older record"
    )


_KEYS_GROW = Field(
    description="required with a scale: whether more records mean more keys with as many records each (true), or more records of the same "
    "keys, so that pairs grow by the square (false)"
)
KeysGrow = Annotated[bool | None, _KEYS_GROW, PlainSerializer(bool, when_used="json")]
"""Written as false where nothing is said, as it was when false was the default: hashes stay."""
KeysGrowIfSaid = Annotated[bool | None, _KEYS_GROW, Field(exclude_if=lambda said: said is None)]
"""Left out where nothing is said, for kinds that had no such field: hashes stay."""


class TwoSided(Operator):
    """An operator with a left and a right side, which are its inputs unless both are one stream (`one_stream.OfOneStream`)."""

    inputs: ClassVar[tuple[str, ...]] = SIDES
    late_ports: ClassVar[tuple[str, ...]] = LATE_PORTS  # by side
    one_stream: ClassVar[bool] = False  # whether both sides are the same records

    @classmethod
    def of_side(cls, side: str, what: str) -> str:
        """The name of a side's parameter."""
        return f"{side}_{what}"

    @classmethod
    def input_in_words(cls, side: str) -> str:
        return f"the {side} input"


class Pairing(TwoSided):
    """An equi-join of two inputs: keys, output fields, lineage."""

    outputs: ClassVar[tuple[str, ...]] = ("out", *LATE_PORTS)
    writes_only_wanted = True
    bounds: ClassVar[bool] = False  # whether its outputs may contain the bounds of a pane
    keyless: ClassVar[bool] = False  # whether all records meet, so that there are no keys

    @classmethod
    def may_be_late(cls, params: Any) -> bool:
        return False

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        return cls.outputs if cls.may_be_late(params) else ("out",)

    @classmethod
    def compares(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> tuple[FieldType, ...]:
        return () if cls.keyless else (inputs["left"].type_of(params.left_key),)

    @classmethod
    def _columns(cls, inputs: Mapping[str, RecordSchema]) -> dict[str, tuple[int, RecordField]]:
        """Return output name -> (side, field); for pane bounds, start or end instead of a side."""
        named = {field.name: (0, field) for field in inputs["left"].fields}
        for field in inputs["right"].fields:
            name = field.name
            while name in named:
                name = f"right_{name}"
            named[name] = (1, field)
        return named

    @classmethod
    def _bounds(cls, params: Any, inputs: Mapping[str, RecordSchema], named: Mapping[str, Any]) -> dict[str, tuple[int, RecordField]]:
        """Return the names of the pane's bounds, available only in `select`; input fields with the same name take precedence."""
        if not cls.bounds or not isinstance(params.window, Tumbling | Sliding):
            return {}
        both = {"window_start": BOUND_START, "window_end": BOUND_END}
        zeros = {schema.zero_ns for schema in inputs.values()} if params.window.clock == "event" else {None}
        zero_ns = zeros.pop() if len(zeros) == 1 else None
        return {name: (code, RecordField(name, "timestamp", zero_ns)) for name, code in both.items() if name not in named}

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if not cls.keyless:
            cls._check_keys(params, inputs)
        named = cls._columns(inputs)
        names = list(named) if params.select is None else list(params.select)
        named |= cls._bounds(params, inputs, named)
        for n, name in enumerate(names):
            if name not in named:
                message = f"select names '{name}', which neither input has; {suggestion(name, named)}"
                raise Refusal(message, at=("select", n), code="unknown_field", value=name)
            if name in names[:n]:
                message = f"select names '{name}' twice; every output field needs its own name"
                raise Refusal(message, at=("select", n), code="duplicate_name", value=name)
        if not names:
            message = "select is empty, so the output would have no fields; name at least one, or leave select out"
            raise Refusal(message, at=("select",), value=[])
        out = RecordSchema(tuple(named[name][1].named(name) for name in names))
        return {"out": out, **{late: inputs[side] for late, side in zip(cls.late_ports, SIDES, strict=True)}}

    @classmethod
    def _check_keys(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> None:
        """Raise Refusal unless both keys are fields of the same type, and not floats."""
        types = []
        for side in SIDES:
            key = cls.of_side(side, "key")
            name = getattr(params, key)
            field = known_field(name, inputs[side], key, cls.input_in_words(side))
            if field.type in NO_KEYS:
                message = f"{key} '{name}' is a {field.type}; join on an int, string, bool or timestamp field"
                raise Refusal(message, at=(key,), code="type_mismatch", value=name)
            types.append(field.type)
        if types[0] != types[1]:
            raise Refusal(
                f"left_key '{params.left_key}' is {types[0]} but right_key '{params.right_key}' is {types[1]}; use the same type",
                at=("right_key",),
                code="type_mismatch",
                value=params.right_key,
            )

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        return None if cls.keyless else cls._keys(params)[port]

    @classmethod
    def _keys(cls, params: Any) -> dict[str, str]:
        """The key's field by side."""
        return {} if cls.keyless else {"left": params.left_key, "right": params.right_key}

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        """Both keys are equal in every output, so either side's key may be used."""
        keys = cls._keys(params)
        if field != keys.get(port):
            return None
        names = (name for name, (side, of) in cls._columns(inputs).items() if of.name == keys[SIDES[side]])
        return next((name for name in names if params.select is None or name in params.select), None)

    @classmethod
    def unscaled(cls, params: Any) -> str:
        if not hasattr(params, "keys_grow"):
            return super().unscaled(params)
        if params.keys_grow is None:
            return "the number of matches per record depends on whether keys grow with the records: say it (keys_grow: true or false)"
        return ""

    @classmethod
    def weight_out(cls, params: Any, weight: int, port: str) -> int:
        """Where keys do not grow, both sides of a key have `weight` times as many records, so a pair stands for the square."""
        return weight * weight if port == "out" and getattr(params, "keys_grow", None) is False else weight

    @classmethod
    def key_weight(cls, params: Any, weight: int) -> int:
        """Return the number of real keys per key in state accounting, if each record stands for `weight` real ones."""
        return 1

    @classmethod
    def further_reads(cls, params: Any) -> tuple[set[str], set[str]]:
        """Return further fields that the kernels read, besides keys and outputs, by side."""
        return set(), set()

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        keys = cls._keys(params)
        read = [{keys[side]} | more if keys else more for side, more in zip(SIDES, cls.further_reads(params), strict=True)]
        for name, (side, field) in cls._columns(inputs).items():
            if name in wanted["out"]:
                read[side].add(field.name)
        return dict(zip(SIDES, read, strict=True))

    @classmethod
    def _lowered(
        cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any, own: list[int], row_words: int = 0, links: int = 0
    ) -> list[int]:
        """Return all parameters: the common ones, those of the kind (`own`), and the tables.

        row_words: words of the kind per stored record. links: words after them that refer to other rows.
        """
        named = cls._columns(lowering.full)
        named |= cls._bounds(params, inputs, named)
        chosen = [named[name] for name in lowering.outputs["out"].names]
        columns = [inputs[SIDES[side]].index(field.name) if side < 2 else 0 for side, field in chosen]
        stored = [sorted({column for (side, _), column in zip(chosen, columns, strict=True) if side == s}) for s in (0, 1)]
        if cls.one_stream:  # a stored record may be either of a pair
            stored = [sorted({*stored[0], *stored[1]})] * 2
        width = max(map(len, stored))
        lowering.stored_rows(width + row_words, links)
        table_at = lowering.params_at + JOIN_OWN + len(own)
        outputs = [
            word
            for (side, _), column in zip(chosen, columns, strict=True)
            for word in (side, column, stored[side].index(column) if side < 2 else 0)
        ]
        columns_at = table_at + len(outputs)
        late = [cls.outputs.index(port) if port in lowering.connected else 0 for port in cls.late_ports]
        keys = cls._keys(params)
        return [
            *(inputs[side].index(keys[side]) if keys else -1 for side in SIDES),
            inputs["left"].bytes * lowering.weight,
            inputs["right"].bytes * lowering.weight,
            len(stored[0]),
            columns_at,
            len(stored[1]),
            columns_at + len(stored[0]),
            R_VALUES + width,
            len(chosen),
            table_at,
            EVENT_TIMES.index(params.event_time),
            int("out" in lowering.connected),
            *late,
            KEY_BYTES * cls.key_weight(params, lowering.weight),
            *own,
            *outputs,
            *stored[0],
            *stored[1],
        ]


class PaneParams(PairParams):
    """Parameters of a join over panes."""

    left_window_end: str | None = Field(
        None,
        description="field of the left input with the end of the record's pane; default: the record's time decides",
        json_schema_extra=field_of("left"),
    )
    right_window_end: str | None = Field(
        None,
        description="field of the right input with the end of the record's pane; default: the record's time decides",
        json_schema_extra=field_of("right"),
    )
    lateness_ms: Number = quantity(
        0.0,
        unit="ms",
        ge=0,
        le=1e11,
        description="allowed lateness: how long after its end, by the watermark, a pane still accepts records (event clock)",
    )


class PanePairing(Pairing):
    """A join of records with the same key and pane of time."""

    bounds = True

    @classmethod
    def may_be_late(cls, params: Any) -> bool:
        return has_late_records(params.window)

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        schemas = super().output_schemas(params, inputs)
        by = clock_in_words(params.window)
        check_lateness(params)
        for side in SIDES:
            name = f"{side}_window_end"
            field_name = getattr(params, name)
            if field_name is None:
                continue
            if not cls.may_be_late(params):
                message = f"{name} is '{field_name}', but the window has {by}; use panes by the event clock, or leave it out"
                raise Refusal(message, at=(name,), code="no_panes", value=field_name)
            field = known_field(field_name, inputs[side], name, f"the {side} input")
            if field.type not in ("timestamp", "int"):
                message = f"{name} '{field_name}' is {field.type}; the end of a pane is a timestamp (ns)"
                raise Refusal(message, at=(name,), code="type_mismatch", value=field_name)
        return schemas

    @classmethod
    def usual_work(cls, params: Any) -> int:
        return panes_of_a_record(params.window)

    @classmethod
    def further_reads(cls, params: Any) -> tuple[set[str], set[str]]:
        return {params.left_window_end} - {None}, {params.right_window_end} - {None}

    @classmethod
    def _pane_words(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        window: JoinWindow | Count = params.window
        size_s = slide_s = origin_s = 0.0
        clock = "event"
        if isinstance(window, Tumbling | Sliding):
            size_s, slide_s, origin_s, clock = window.size_s, getattr(window, "slide_s", window.size_s), window.origin_s, window.clock
        scheme, groups = lowering.key_groups()
        ends = [
            -1 if name is None else inputs[side].index(name)
            for side, name in zip(SIDES, (params.left_window_end, params.right_window_end), strict=True)
        ]
        counted = isinstance(window, Count)  # a pane is as long as its number
        return [
            1 if counted else seconds_ns(size_s),
            1 if counted else seconds_ns(slide_s),
            seconds_ns(origin_s) + lowering.start_ns,
            int(clock == "processing"),
            milliseconds_ns(params.lateness_ms),
            *ends,
            scheme,
            groups,
            lowering.pane_lists(groups),
            *((window.size, window.step) if isinstance(window, Count) else (0, 1)),
        ]


def has_late_records(window: JoinWindow | Count) -> bool:
    return isinstance(window, Tumbling | Sliding) and window.clock == "event"


def clock_in_words(window: JoinWindow | Count) -> str:
    return f"the {window.clock} clock" if isinstance(window, Tumbling | Sliding) else "no panes of time"


def check_lateness(params: Any) -> None:
    """Raise Refusal for an allowed lateness where no record is late."""
    if params.lateness_ms > 0 and not has_late_records(params.window):
        message = (
            f"lateness_ms is {params.lateness_ms:g}, but the window has {clock_in_words(params.window)}, so no record is late; leave it out"
        )
        raise Refusal(message, at=("lateness_ms",), code="no_lateness", value=params.lateness_ms)


def known_field(name: str, schema: RecordSchema, at: str, where: str) -> RecordField:
    """Return the field of this name. Raises Refusal at the parameter `at`."""
    if name not in schema:
        message = f"{at} '{name}' is not a field of {where}; {suggestion(name, schema.names)}"
        raise Refusal(message, at=(at,), code="unknown_field", value=name)
    return schema.fields[schema.index(name)]
