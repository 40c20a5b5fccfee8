"""Aggregates by key over panes of time, or over all records so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field, model_validator

from engine.core.control.keyed_state import entries_of_panes, parameters, relink_panes
from engine.core.keeping import Keeping
from engine.core.kernels.changes import lacks_room_for_changes, note_change, note_content, note_record
from engine.core.kernels.hashing import group_of
from engine.core.kernels.state_table import add_entry, covers, find_entry, first_pane_end, free_pane, join_pane
from engine.core.layout import (
    BOX_READ,
    BOX_WORK,
    CHANGE_ADD,
    CHANGE_CLEAR,
    CHANGE_FOLD,
    CHANGE_READ,
    FAR,
    G_ENTRIES_FREE,
    G_FREE,
    G_NEED,
    G_PANES_FREE,
    G_ROWS_FREE,
    I_ENTRIES,
    I_INDEX,
    I_PANE_END,
    I_STATE_BYTES,
    I_TICK,
    I_WATERMARK,
    M_EVENT,
    M_PAYLOAD,
    NEED_CHANGES,
    NEED_ENTRIES,
    NEED_MESSAGES,
    NEED_PANES,
    NEED_ROWS,
    S_COUNT,
    S_KEY,
    S_SIBLING,
    W_COUNT,
    W_END,
    W_FIRST,
    W_NEXT,
    W_START,
)
from engine.core.tables import Arrays, Words
from engine.operators.aggregation import (
    AGG_DISTINCTS,
    AGG_ENTRY_BYTES,
    AGG_EVERY,
    AGG_KEY,
    AGG_LATENESS,
    AGG_LISTENED,
    AGG_ON_CLOSE,
    AGG_OWN,
    AGG_PROCESSING,
    AGG_ROWS,
    AggregateField,
    Aggregates,
    Aggregation,
    Emit,
    Evaluation,
    Every,
    Key,
    KeysGrow,
    LatenessMs,
    check_keys_grow,
    check_lateness,
    drop_group,
    end_pane,
    fold_records,
    forget_values,
    group_sizes,
    put_row,
    send_late,
    take_record,
)
from engine.operators.windows import (
    PROCESSING_TIME,
    AggregateWindow,
    Marked,
    NoWindow,
    Sliding,
    Tumbling,
    Until,
    deadlines,
    panes_of_a_record,
)
from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import FieldType, RecordSchema
from engine.spec.base.units import seconds_ns

# parameters of this kind, in order
# column of the field that ends windows, -1 if none does
AGG_WINDOWED, AGG_SIZE, AGG_SLIDE, AGG_ORIGIN, AGG_UNTIL, AGG_SCHEME, AGG_GROUPS, AGG_LISTS, AGG_MARK = range(AGG_OWN, AGG_OWN + 9)


def aggregate_on_record(world, now, slot, at, i, tracing, anchor, stamps, changing):
    """Add the record to each pane that is still kept. Emit a row after every AGG_EVERY records, and for panes that have already ended."""
    msg = world.msg
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    box = world.box
    g = world.g
    start = 0
    panes = 1
    slide = FAR
    size = FAR
    ended = -FAR  # panes that end by then have emitted their row
    if par[at + AGG_WINDOWED] == 1:
        size = par[at + AGG_SIZE]
        slide = par[at + AGG_SLIDE]
        time = now
        if par[at + AGG_PROCESSING] == 0:
            time = msg[slot, M_EVENT]
            ended = inst[i, I_WATERMARK]
        if par[at + AGG_UNTIL] >= 0:  # such a pane is identified by its end; without a size it begins there, too
            start = msg[slot, M_PAYLOAD + par[at + AGG_UNTIL]] - size
        else:
            start = par[at + AGG_ORIGIN] + (time - par[at + AGG_ORIGIN]) // slide * slide
            older = (size - 1 - (time - start)) // slide
            panes = older + 1
            start -= older * slide
        freed = ended - par[at + AGG_LATENESS]
        if start + size <= freed:
            skipped = min((freed - start - size) // slide + 1, panes)
            panes -= skipped
            start += skipped * slide
    box[BOX_WORK] = max(panes, 1)
    outputs = 0
    if panes == 0:
        outputs = send_late(slot, msg, par, at, inst, i, box)
        return outputs

    key = msg[slot, M_PAYLOAD + par[at + AGG_KEY]] if par[at + AGG_KEY] >= 0 else 0
    groups = par[at + AGG_GROUPS]
    lists = par[at + AGG_LISTS] + inst[i, I_INDEX] * groups
    rows = panes
    ends = 0
    most = 0  # stored records of one group
    if par[at + AGG_MARK] >= 0 and msg[slot, M_PAYLOAD + par[at + AGG_MARK]] != 0:
        ends = 1
        for where in range(lists, lists + groups):
            if panes_of[where] >= 0:
                rows += pane[panes_of[where], W_COUNT]
                e = pane[panes_of[where], W_FIRST]
                while e >= 0:
                    most = max(most, entry[e, S_COUNT])
                    e = entry[e, S_SIBLING]
    entries = panes * (1 + par[at + AGG_DISTINCTS])
    if par[at + AGG_ROWS] > 0 and par[at + AGG_DISTINCTS] > 0:  # the distinct values of a row are all recomputed
        for k in range(panes):
            e = find_entry(table, entry, i, key, start + k * slide)
            if e >= 0:
                most = max(most, entry[e, S_COUNT])
        entries = panes + (most + 1) * par[at + AGG_DISTINCTS]
    if g[G_ENTRIES_FREE] < entries:
        g[G_NEED] = entries
        return -NEED_ENTRIES
    if par[at + AGG_ROWS] > 0 and g[G_ROWS_FREE] < panes:
        g[G_NEED] = panes
        return -NEED_ROWS
    if g[G_PANES_FREE] < panes:
        g[G_NEED] = panes
        return -NEED_PANES
    if g[G_FREE] < rows:
        g[G_NEED] = rows
        return -NEED_MESSAGES
    if changing and lacks_room_for_changes(world, 2 * panes):
        return -NEED_CHANGES

    where = lists + group_of(key, par[at + AGG_SCHEME], groups)
    for _ in range(panes):
        end = start + size if par[at + AGG_WINDOWED] == 1 else FAR
        e = find_entry(table, entry, i, key, start)
        if e < 0:
            e = add_entry(table, entry, g, i, key, start)
            join_pane(pane, panes_of, g, inst, i, where, start, end, e, entry)
            inst[i, I_ENTRIES] += 1
            inst[i, I_STATE_BYTES] += par[at + AGG_ENTRY_BYTES]
            if par[at + AGG_WINDOWED] == 1 and par[at + AGG_PROCESSING] == 1 and end < inst[i, I_TICK]:
                inst[i, I_TICK] = end
        count = entry[e, S_COUNT] + 1
        event = msg[slot, M_EVENT]
        due = 0
        known = changing and covers(world, e, slot)
        if not known and par[at + AGG_EVERY] > 0 and count % par[at + AGG_EVERY] == 0:
            due = 1
        if not known and par[at + AGG_ON_CLOSE] == 1 and end <= ended:
            due = 1
            event = end - 1
        if not known:
            take_record(world, now, slot, due, at, i, tracing, anchor, e, stamps)
        if changing and not known:
            note_change(world, now, i, CHANGE_ADD if par[at + AGG_ROWS] > 0 else CHANGE_FOLD, key, start, 1)
            note_content(world, e, entry[e, par[at + AGG_ROWS] + 1] if par[at + AGG_ROWS] > 0 else -1)
            note_record(world, slot)
            if due == 1 and par[at + AGG_ROWS] > 0:
                note_change(world, now, i, CHANGE_READ, key, start, count)
        if due == 1:
            if par[at + AGG_ROWS] > 0:
                box[BOX_READ] += count
            if par[at + AGG_LISTENED] == 1:
                put_row(world, slot, event, start, end, at, tracing, e, stamps)
                outputs += 1
            if par[at + AGG_ROWS] > 0:
                forget_values(par, at, inst, i, table, entry, g, e)
        start += slide
    if ends == 1:
        for where in range(lists, lists + groups):
            if panes_of[where] >= 0:
                outputs += end_pane(world, slot, where, panes_of[where], par[at + AGG_ON_CLOSE], at, i, tracing, stamps)
    return outputs


def aggregate_on_close(world, now, limit, by_timer, slot, at, i, tracing, stamps, changing):
    """Close panes that end by `limit` (a watermark or a timer's time): rows by key group, start, first arrival. Free panes past their
    lateness."""
    inst = world.inst
    par = world.par
    table = world.table
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    box = world.box
    g = world.g
    if par[at + AGG_WINDOWED] == 0 or limit < inst[i, I_PANE_END] or (par[at + AGG_PROCESSING] == 1) != by_timer:
        return 0
    ended = -FAR if by_timer else inst[i, I_WATERMARK]
    groups = par[at + AGG_GROUPS]
    first = par[at + AGG_LISTS] + inst[i, I_INDEX] * groups
    rows = 0
    read = 0  # stored records
    most = 0  # ... of one group
    if par[at + AGG_ON_CLOSE] == 1:
        for where in range(first, first + groups):
            x = panes_of[where]
            while x >= 0 and pane[x, W_END] <= limit:
                if pane[x, W_END] > ended:
                    rows += pane[x, W_COUNT]
                    if par[at + AGG_ROWS] > 0:
                        e = pane[x, W_FIRST]
                        while e >= 0:
                            read += entry[e, S_COUNT]
                            most = max(most, entry[e, S_COUNT])
                            e = entry[e, S_SIBLING]
                x = pane[x, W_NEXT]
    box[BOX_READ] = read
    if par[at + AGG_LISTENED] == 0:
        rows = 0
    if g[G_FREE] < rows:
        g[G_NEED] = rows
        return -NEED_MESSAGES
    if g[G_ENTRIES_FREE] < most * par[at + AGG_DISTINCTS]:
        g[G_NEED] = most * par[at + AGG_DISTINCTS]
        return -NEED_ENTRIES
    if changing and lacks_room_for_changes(world, inst[i, I_ENTRIES]):
        return -NEED_CHANGES
    for where in range(first, first + groups):
        x = panes_of[where]
        while x >= 0 and pane[x, W_END] <= limit:
            following = pane[x, W_NEXT]
            frees = pane[x, W_END] + par[at + AGG_LATENESS] <= limit
            puts = rows > 0 and par[at + AGG_ON_CLOSE] == 1 and pane[x, W_END] > ended
            e = pane[x, W_FIRST]
            while e >= 0 and (frees or puts):
                after = entry[e, S_SIBLING]
                if puts:
                    if par[at + AGG_ROWS] > 0:
                        r = entry[e, par[at + AGG_ROWS]]
                        steps = entry[e, S_COUNT]
                        fold_records(world, slot, r, steps, 1, at, i, e)
                    put_row(world, slot, pane[x, W_END] - 1, pane[x, W_START], pane[x, W_END], at, tracing, e, stamps)
                    if par[at + AGG_ROWS] > 0:
                        forget_values(par, at, inst, i, table, entry, g, e)
                if changing:
                    note_closed(world, now, at, i, e, pane[x, W_START], frees)
                if frees:
                    drop_group(world, at, i, e)
                e = after
            if frees:  # panes of a list have the same length, so the first ones end first
                panes_of[where] = following
                free_pane(pane, g, x)
            x = following
    earliest = first_pane_end(pane, panes_of, first, groups, limit)
    if par[at + AGG_LATENESS] > 0:
        kept = first_pane_end(pane, panes_of, first, groups, -FAR)
        earliest = min(earliest, kept + par[at + AGG_LATENESS]) if kept < FAR else earliest
    inst[i, I_PANE_END] = earliest
    return rows


def note_closed(world, now, at, i, e, start, frees):
    """Note that group `e` is read, and deleted if its window is freed."""
    count = world.entry[e, S_COUNT] if world.par[at + AGG_ROWS] > 0 else 1
    note_change(world, now, i, CHANGE_CLEAR if frees else CHANGE_READ, world.entry[e, S_KEY], start, count)


def aggregate_next_tick(due, par, at, inst, i, pane, panes_of):
    """Return the next pane end after `due`, FAR if no pane is open."""
    groups = par[at + AGG_GROUPS]
    result = first_pane_end(pane, panes_of, par[at + AGG_LISTS] + inst[i, I_INDEX] * groups, groups, due)
    return result


def aggregate_lists(w: Arrays, i: int) -> tuple[int, int, int]:
    """Return the first list of the instance's panes, and scheme and number of its key groups."""
    scheme, groups, lists = w.par[parameters(w, i) + AGG_SCHEME :][:3].tolist()
    return lists + int(w.inst[i, I_INDEX]) * groups, scheme, groups


def aggregate_in_order(w: Arrays, i: int) -> Words:
    first, _, groups = aggregate_lists(w, i)
    return entries_of_panes(w, first, groups)


def aggregate_relink(w: Arrays, i: int, entries: Words) -> None:
    at = parameters(w, i)
    windowed, size_ns, processing = (int(w.par[at + column]) for column in (AGG_WINDOWED, AGG_SIZE, AGG_PROCESSING))
    relink_panes(w, i, entries, *aggregate_lists(w, i), size_ns if windowed else FAR, windowed * processing)


class Aggregate(Aggregation):
    """Count, sum, min, max, avg, distinct count of fields by key over tumbling, sliding or no windows, or until a time in the records, or
    until a record that ends the window of all keys, such as the last of a join's firing.

    avg is the sum as a float divided by the count. By event time a window ends when the watermark reaches its end; records that come later
    update it while it is kept (`lateness_ms`), then leave by port `late`, or are dropped if no edge leaves it.
    State: one entry per open (key, pane): 24 bytes, 8 per aggregate and per distinct value; at_firing instead the records themselves.
    Cost: record_ps per pane that the record falls into, and at_firing read_ps per record that a row reads; output_ps per row.
    Source: Karimov 2020, 2.1.2 (windows); the running form is NexMark Q12 of Siachamis 2024, 3.6.
    """

    kind, title, icon = "aggregate", "Aggregate", "sigma"
    position = 6
    source = "Karimov 2020, 2.1.2"
    on_record = staticmethod(aggregate_on_record)
    on_close = staticmethod(aggregate_on_close)
    next_tick = staticmethod(aggregate_next_tick)
    keeping = Keeping(group_sizes, aggregate_in_order, aggregate_relink)

    class Params(Model):
        key: Key = None
        window: AggregateWindow = Field(default_factory=NoWindow, description="windows of event time, one result per key and window")
        aggregates: Aggregates = (AggregateField(name="count"),)
        emit: Emit = "on_update"
        every: Every = None
        lateness_ms: LatenessMs = 0.0
        evaluation: Evaluation = "incremental"
        keys_grow: KeysGrow = False

        @model_validator(mode="after")
        def _fits(self) -> Aggregate.Params:
            check_keys_grow(self.keys_grow, self.key)
            if isinstance(self.window, Marked):
                check_lateness(self.lateness_ms, "records end the windows, so none is late")
            elif isinstance(self.window, NoWindow):
                check_lateness(self.lateness_ms, "window is none, whose only pane never ends")
                if self.emit == "on_close":
                    message = "emit is on_close but window is none: such a pane never closes; choose a window or on_update"
                    raise Refusal(message, at=("emit",), value="on_close")
            elif self.window.clock == "processing":
                check_lateness(self.lateness_ms, "the window's clock is processing, by which no record is late")
            return self

    @classmethod
    def bounds(cls, params: Params) -> tuple[str, ...]:
        return (
            ()
            if isinstance(params.window, NoWindow | Marked)
            else ("window_end",)
            if isinstance(params.window, Until) and params.window.size_s is None
            else super().bounds(params)
        )

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if isinstance(params.window, Until):
            cls._check_field(params.window.field, inputs["in"], ("timestamp", "int"), "the end of a window is a timestamp (ns)")
        elif isinstance(params.window, Marked):
            cls._check_field(params.window.field, inputs["in"], ("bool",), "a field that ends windows is a bool")
        return super().output_schemas(params, inputs)

    @staticmethod
    def _check_field(name: str, schema: RecordSchema, types: tuple[FieldType, ...], wanted: str) -> None:
        """Check the field that a window refers to. Raises `Refusal` if it is unknown or of another type."""
        if name not in schema:
            message = f"window.field '{name}' is not a field of the input record; {suggestion(name, schema.names)}"
            raise Refusal(message, at=("window", "field"), code="unknown_field", value=name)
        if schema.type_of(name) not in types:
            message = f"window.field '{name}' is {schema.type_of(name)}; {wanted}"
            raise Refusal(message, at=("window", "field"), code="type_mismatch", value=name)

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        read = super().reads(params, inputs, wanted)
        return {"in": {*read["in"], params.window.field}} if isinstance(params.window, Until | Marked) else read

    @classmethod
    def may_be_late(cls, params: Params) -> bool:
        return not isinstance(params.window, NoWindow) and params.window.clock == "event"

    @classmethod
    def parallelism_max(cls, params: Params) -> int | None:
        return 1 if isinstance(params.window, Marked) else super().parallelism_max(params)

    @classmethod
    def deadlines(cls, params: Params) -> tuple[int, int] | None:
        return deadlines(params.window) if cls.waits_for_watermarks(params) else None

    @classmethod
    def usual_work(cls, params: Any) -> int:
        return panes_of_a_record(params.window)

    @classmethod
    def unscaled(cls, params: Params) -> str:
        if isinstance(params.window, Marked):
            return "records end its windows, and of scaled ones only some are there"
        if params.keys_grow:
            return ""
        if params.every is not None or params.lateness_ms:
            return "every and lateness_ms count records or rows one by one, unless the keys grow (keys_grow)"
        if params.evaluation == "at_firing" and params.emit != "on_close":
            return "evaluation at_firing reads all records for each of fewer rows (choose emit on_close), unless the keys grow (keys_grow)"
        return ""

    @classmethod
    def unlogged(cls, params: Params) -> str:
        if isinstance(params.window, Marked):
            return "records end its windows, and a changelog notes windows that time ends"
        if any(aggregate.function == "count_distinct" for aggregate in params.aggregates):
            return "a distinct count keeps its values beside what a changelog notes"
        return ""

    @classmethod
    def unreplayed(cls, params: Params) -> str:
        if not isinstance(params.window, Tumbling | Sliding):
            return "its windows must be tumbling or sliding"
        if params.window.clock == "processing":
            return "its windows are of processing time, so records that come again would be in other windows (choose clock event)"
        if params.emit != "on_close" or params.lateness_ms:
            return "its results must come once, when a window ends (emit on_close, without lateness_ms)"
        if params.evaluation == "at_firing":
            return "it retains records, and a checkpoint of a window has its value (evaluation incremental)"
        return cls.unlogged(params)

    @classmethod
    def unmirrored(cls, params: Params) -> str:
        return PROCESSING_TIME if getattr(params.window, "clock", "event") == "processing" else ""

    @classmethod
    def weight_out(cls, params: Params, weight: int, port: str) -> int:
        """A row at the close of a pane is one row, however many records made it, unless its key stands for as many as they."""
        return 1 if params.emit == "on_close" and port == "out" and not params.keys_grow else weight

    @classmethod
    def lower(cls, params: Params, inputs: Any, lowering: Any) -> list[int]:
        schema: RecordSchema = inputs["in"]
        window = params.window
        size_s = slide_s = origin_s = 0.0
        if isinstance(window, Tumbling | Sliding):
            size_s, origin_s = window.size_s, window.origin_s
            slide_s = size_s if isinstance(window, Tumbling) else window.slide_s
        elif isinstance(window, Until):
            size_s = window.size_s or 0.0
        scheme, groups = lowering.key_groups()
        on_close = params.emit == "on_close"
        return cls.lower_common(
            params,
            schema,
            lowering,
            every=params.every or int(not on_close),
            on_close=on_close,
            processing=not isinstance(window, NoWindow) and window.clock == "processing",
            lateness_ms=params.lateness_ms,
            own=(
                int(not isinstance(window, NoWindow | Marked)),
                seconds_ns(size_s),
                max(1, seconds_ns(slide_s)),
                seconds_ns(origin_s) + lowering.start_ns,
                schema.index(window.field) if isinstance(window, Until) else -1,
                scheme,
                groups,
                lowering.pane_lists(groups),
                schema.index(window.field) if isinstance(window, Marked) else -1,
            ),
        )
