"""Forms worksets inside each space, and says in which of them a record is at home and where copies of it are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from engine.core.distances import BEYOND, DISTANCES, bound_of
from engine.core.keeping import Keeping
from engine.core.kernels.hashing import group_of
from engine.core.kernels.messages import new_output
from engine.core.kernels.state_table import find_entry, take_row
from engine.core.layout import (
    BOX_READ,
    BOX_WORK,
    FAR,
    G_FREE,
    G_NEED,
    G_STAMP_ANCHOR,
    I_INDEX,
    I_STATE_BYTES,
    I_WATERMARK,
    M_CLOCK,
    M_EDGE,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    M_TRIGGER,
    N_ORIGIN,
    NEED_MESSAGES,
    R_EVENT,
    R_NEWEST,
    R_NEXT,
    R_OLDEST,
    R_VALUES,
    S_KEY,
    S_LEFT,
    S_PANE,
    S_SIBLING,
    S_SIDE,
    S_VALUES,
    W_FIRST,
    W_NEXT,
)
from engine.core.tables import Arrays, Words
from engine.operators.join import join_on_close
from engine.operators.pairs import (
    EVENT_NEWEST,
    JOIN_EXTRA,
    JOIN_GROUPS,
    JOIN_KEY_BYTES,
    JOIN_LATENESS,
    JOIN_LEFT_KEY,
    JOIN_LISTS,
    JOIN_SCHEME,
    JOIN_SIZE,
    JOIN_SLIDE,
    JOIN_STEP,
    KEY_BYTES,
    LATE_PORTS,
    SIDES,
    PanePairing,
    TwoSided,
    append_row,
    check_lateness,
    first_open_pane,
    has_late_records,
    lacking_space,
    open_entry,
    open_key,
    pair_sizes,
    pairs_next_tick,
    pairs_relink,
    pass_late,
    store_record,
)
from engine.operators.similarity import (
    INNER,
    OUTER,
    OUTLIER,
    READ_PS,
    DistanceParams,
    check_coordinates,
    check_fields,
    check_same_dimensions,
    check_threshold,
    columns_of,
    coordinates_of,
    dimensions_of,
    distance_to_row,
    float_word,
    output_words,
    store_vector,
    with_fields,
)
from engine.operators.space_partitioner import SpacePartitioner
from engine.operators.windows import FullHistory, JoinWindow
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Integer, Number, quantity

# parameters after those of a join over panes; by side: column of `inner`, place of the list of coordinates, 1 if an edge leaves the port,
# number and start of the words that make its outputs. FORM_NEAR: column of a centroid with its words NEAR_. FORM_UNUSED: after how many
# windows without a record a workset is dropped, 0 for never
(
    FORM_DISTANCE,
    FORM_DIMENSIONS,
    FORM_THRESHOLD,
    FORM_BOUND,
    FORM_WORKERS,
    FORM_CENTROID_BYTES,
    FORM_LEFT_INNER,
    FORM_RIGHT_INNER,
    FORM_LEFT_COORDINATES,
    FORM_RIGHT_COORDINATES,
    FORM_LEFT_LISTENED,
    FORM_RIGHT_LISTENED,
    FORM_LEFT_OUTPUTS,
    FORM_LEFT_TABLE,
    FORM_RIGHT_OUTPUTS,
    FORM_RIGHT_TABLE,
    FORM_NEAR,
    FORM_UNUSED,
) = range(JOIN_STEP + 1, JOIN_STEP + 19)
FORM_OWN = JOIN_STEP + 19
# words of a stored row, from JOIN_EXTRA on: its distance to the record that is served; of a centroid its worker, and the next one with the
# start of the first window for which it is; into how many parts it is split, and from which window on; then its vector
FORM_ROW_DISTANCE, FORM_ROW_WORKER, FORM_ROW_NEXT, FORM_ROW_FROM, FORM_ROW_PARTS, FORM_ROW_SPLIT, FORM_ROW_VECTOR = range(7)
NEAR_NEXT, NEAR_NUMBER = range(2)
"""Words of a centroid from FORM_NEAR on: the next one that is near the record that is served (row + 1, 0 for none), and its own number."""
NEAR_WORDS = 2
S_NEAR = S_LEFT + 2 * S_SIDE
"""Column of an entry with the first centroid that is near the record that is served (row + 1, 0 for none)."""
S_DROPPED = S_NEAR + 1
"""Column of such an entry with how many of its worksets have been dropped; only where worksets are."""
R_LAST_END, R_DROPPED = R_NEWEST, R_OLDEST
"""Columns of a centroid: the end of the last window in which its workset was a record's home; when it was dropped, 0 for not."""
CENTROIDS = -FAR - 1
"""Start of the "pane" of the entry with a space's centroids: no pane begins there."""
COPIES = ("out_left", "out_right")
WORKSETS_MAX = 1 << 32
"""Worksets per space, from number 1 on. A workset is numbered space x WORKSETS_MAX + its number in the space."""


def worker_of(row, r, extra, start):
    """The worker of the workset with centroid `r` in the window that starts at `start`."""
    return row[r, extra + FORM_ROW_NEXT] if start >= row[r, extra + FORM_ROW_FROM] else row[r, extra + FORM_ROW_WORKER]


def parts_of(row, r, extra, start):
    """Into how many parts the workset with centroid `r` is split in the window that starts at `start`."""
    return row[r, extra + FORM_ROW_PARTS] if start >= row[r, extra + FORM_ROW_SPLIT] else 1


def copies_for(row, r, extra, start, port):
    """How many copies of a record the workset gets: a left record goes to one of its parts, a right one to all."""
    return parts_of(row, r, extra, start) if port == 1 else 1


def fill_copy(msg, par, made, of, a, first, port, at, workset, role, worker):
    """Fill the output `made` for a workset from row `a` of a table (messages or stored rows) whose fields begin at column `first`."""
    table = par[at + FORM_LEFT_TABLE + 2 * port]
    for c in range(par[at + FORM_LEFT_OUTPUTS + 2 * port]):
        column = par[table + c]
        if column >= 0:
            msg[made, M_PAYLOAD + c] = of[a, first + column]
        elif column == -1:
            msg[made, M_PAYLOAD + c] = workset
        elif column == -2:
            msg[made, M_PAYLOAD + c] = role
        else:
            msg[made, M_PAYLOAD + c] = worker
    msg[made, M_EDGE] = port


def copy_message(world, made, slot, port, at, workset, role, worker):
    """Fill the output `made`: the record in `slot`, for a workset."""
    fill_copy(world.msg, world.par, made, world.msg, slot, M_PAYLOAD, port, at, workset, role, worker)


def send_copies(world, slot, port, at, r, start, workset, role, stamps):
    """Send the record in `slot` to the worker of the workset with centroid `r`. If it is split, its parts are on as many workers, one after
    the other, and each left record meets each right one in one of them."""
    row = world.row
    par = world.par
    extra = par[at + JOIN_EXTRA]
    parts = parts_of(row, r, extra, start)
    owner = worker_of(row, r, extra, start)
    first = world.msg[slot, M_TRIGGER] % parts if port == 0 else 0
    for part in range(first, first + copies_for(row, r, extra, start, port)):
        made = new_output(world.msg, world.free, world.g, world.box, slot, stamps)
        copy_message(world, made, slot, port, at, workset, role, (owner + part) % par[at + FORM_WORKERS])


def copy_stored(world, made, r, side, at, workset, worker, tracing, anchor, stamps):
    """Fill the output `made`: a copy of the stored row for a new workset. Its trigger is the record that has opened the workset."""
    msg = world.msg
    row = world.row
    g = world.g
    fill_copy(msg, world.par, made, row, r, R_VALUES, side, at, workset, OUTER, worker)
    msg[made, M_EVENT] = row[r, R_EVENT]
    msg[made, M_NEWEST] = row[r, R_NEWEST]
    msg[made, M_OLDEST] = row[r, R_OLDEST]
    for k in range(stamps):
        if g[G_STAMP_ANCHOR + k] != M_CLOCK:
            msg[made, msg.shape[1] - 1 - k] = row[r, row.shape[1] - 1 - k]
    if tracing and anchor != M_CLOCK:
        world.notes[made, N_ORIGIN] = world.row_origin[r]


def offer_stored(world, e, slot, port, at, workset, worker, emits, tracing, anchor, stamps):
    """Measure the records that entry `e` keeps against the one in `slot`, counting in BOX_READ. Returns how many are within twice the
    threshold and have a listener. emits: 1 to send these, measured before, to the workset."""
    par = world.par
    entry = world.entry
    row = world.row
    row_f = world.row_f
    extra = par[at + JOIN_EXTRA]
    reach = 2.0 * world.par_f[at + FORM_THRESHOLD]
    bound = world.par_f[at + FORM_BOUND]
    columns = par[at + FORM_LEFT_COORDINATES + port]
    sent = 0
    for side in range(2):
        own = S_LEFT + side * S_SIDE
        if emits == 0:
            world.box[BOX_READ] += entry[e, own]
        r = entry[e, own + 1]
        for _ in range(entry[e, own]):
            if emits == 0:
                row_f[r, extra + FORM_ROW_DISTANCE] = distance_to_row(
                    world, par[at + FORM_DISTANCE], slot, columns, par[at + FORM_DIMENSIONS], r, extra + FORM_ROW_VECTOR, bound
                )
            if row_f[r, extra + FORM_ROW_DISTANCE] <= reach and par[at + FORM_LEFT_LISTENED + side] == 1:
                sent += 1
                if emits == 1:
                    made = new_output(world.msg, world.free, world.g, world.box, slot, stamps)
                    copy_stored(world, made, r, side, at, workset, worker, tracing, anchor, stamps)
            r = row[r, R_NEXT]
    return sent


def offer_outer(world, key, slot, port, at, i, workset, worker, emits, tracing, anchor, stamps):
    """`offer_stored` for all outer records of space `key` whose panes are open, by pane."""
    par = world.par
    entry = world.entry
    pane = world.pane
    sent = 0
    if par[at + JOIN_SIZE] == 0:
        e = find_entry(world.table, entry, i, key, 0)
        if e >= 0:
            sent = offer_stored(world, e, slot, port, at, workset, worker, emits, tracing, anchor, stamps)
    else:
        groups = par[at + JOIN_GROUPS]
        x = world.panes_of[par[at + JOIN_LISTS] + world.inst[i, I_INDEX] * groups + group_of(key, par[at + JOIN_SCHEME], groups)]
        while x >= 0:
            e = pane[x, W_FIRST]
            while e >= 0:
                if entry[e, S_KEY] == key:
                    sent += offer_stored(world, e, slot, port, at, workset, worker, emits, tracing, anchor, stamps)
                e = entry[e, S_SIBLING]
            x = pane[x, W_NEXT]
    return sent


def is_dropped(world, now, e, r, at, i):
    """Whether the workset with centroid `r` of entry `e` is dropped, now or earlier: once enough windows have ended after the last one
    with a record at home in it, no record can come for a window in which it has one. It never comes back, not even after a
    failure: a record that is measured without it would miss those that are measured with it."""
    par = world.par
    row = world.row
    dropped = row[r, R_DROPPED] > 0
    if not dropped and par[at + FORM_UNUSED] > 0:
        ended = world.inst[i, I_WATERMARK] - par[at + JOIN_LATENESS]
        if row[r, R_LAST_END] + par[at + FORM_UNUSED] * par[at + JOIN_SLIDE] <= ended:
            dropped = True
            row[r, R_DROPPED] = max(now, 1)
            world.entry[e, S_DROPPED] += 1
            world.inst[i, I_STATE_BYTES] -= par[at + FORM_CENTROID_BYTES]
    return dropped


def measure_centroids(world, now, e, slot, port, at, i):
    """Measure the record against all worksets of a space, counting in BOX_READ, and list those within twice the threshold from S_NEAR on.
    Returns the row of the nearest of them, -1 if there is none; of two as near, the older one."""
    par = world.par
    entry = world.entry
    row = world.row
    row_f = world.row_f
    extra = par[at + JOIN_EXTRA]
    near = par[at + FORM_NEAR]
    columns = par[at + FORM_LEFT_COORDINATES + port]
    reach = 2.0 * world.par_f[at + FORM_THRESHOLD]
    bound = world.par_f[at + FORM_BOUND]
    home = -1
    nearest = 0.0
    before = -1
    measured = 0
    if e >= 0:
        entry[e, S_NEAR] = 0
        r = entry[e, S_LEFT + 1]
        for w in range(entry[e, S_LEFT]):
            far = BEYOND
            if not is_dropped(world, now, e, r, at, i):
                vector = extra + FORM_ROW_VECTOR
                far = distance_to_row(world, par[at + FORM_DISTANCE], slot, columns, par[at + FORM_DIMENSIONS], r, vector, bound)
                measured += 1
            if far <= reach:
                row_f[r, extra + FORM_ROW_DISTANCE] = far
                row[r, near + NEAR_NUMBER] = w
                row[r, near + NEAR_NEXT] = 0
                if before >= 0:
                    row[before, near + NEAR_NEXT] = r + 1
                else:
                    entry[e, S_NEAR] = r + 1
                before = r
                if home < 0 or far < nearest:
                    home = r
                    nearest = far
            r = row[r, R_NEXT]
    world.box[BOX_READ] = measured
    return home


def copy_to_worksets(world, e, slot, port, at, end, start, emits, stamps):
    """The number of copies for those of the oldest `end` worksets of a space that are near the record. emits: 1 to send them, for the
    window that starts at `start`."""
    par = world.par
    row = world.row
    extra = par[at + JOIN_EXTRA]
    near = par[at + FORM_NEAR]
    key = world.msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    sent = 0
    if e >= 0:
        r = world.entry[e, S_NEAR] - 1
        while r >= 0 and row[r, near + NEAR_NUMBER] < end:
            sent += copies_for(row, r, extra, start, port)
            if emits == 1:
                workset = key * WORKSETS_MAX + row[r, near + NEAR_NUMBER] + 1
                send_copies(world, slot, port, at, r, start, workset, OUTER, stamps)
            r = row[r, near + NEAR_NEXT] - 1
    return sent


def add_centroid(world, now, key, slot, port, at, i, e, worker):
    """The record in `slot` becomes the centroid of a new workset of space `key`. The caller has checked for space."""
    par = world.par
    entry = world.entry
    row = world.row
    if e < 0:
        e = open_key(world, key, CENTROIDS, at, i)
    r = take_row(row, world.g)
    for c in range(R_EVENT, row.shape[1]):
        row[r, c] = 0
    row[r, R_EVENT] = now  # when it was opened
    extra = par[at + JOIN_EXTRA]
    row[r, extra + FORM_ROW_WORKER] = worker
    row[r, extra + FORM_ROW_NEXT] = worker
    row[r, extra + FORM_ROW_FROM] = FAR
    row[r, extra + FORM_ROW_PARTS] = 1
    row[r, extra + FORM_ROW_SPLIT] = FAR
    store_vector(world, slot, par[at + FORM_LEFT_COORDINATES + port], par[at + FORM_DIMENSIONS], r, extra + FORM_ROW_VECTOR)
    append_row(entry, row, e, S_LEFT, r)
    world.inst[i, I_STATE_BYTES] += par[at + FORM_CENTROID_BYTES]
    return r


def formulation_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """Say to which workset a record belongs, opening one if none is near; send it there, and copies to all other worksets that need one."""
    msg = world.msg
    inst = world.inst
    par = world.par
    entry = world.entry
    row = world.row
    box = world.box
    g = world.g
    start = first_open_pane(world, now, slot, port, at, i)
    panes = box[BOX_WORK]
    box[BOX_WORK] = 1
    start += (panes - 1) * par[at + JOIN_SLIDE]  # of its last window
    if panes == 0:
        late = pass_late(slot, msg, port, par, at, inst, i, box)
        return late
    lacking = lacking_space(1, g)
    if lacking < 0:
        return lacking
    threshold = world.par_f[at + FORM_THRESHOLD]
    listened = par[at + FORM_LEFT_LISTENED + port]
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]]
    is_inner = msg[slot, M_PAYLOAD + par[at + FORM_LEFT_INNER + port]] == 1
    extra = par[at + JOIN_EXTRA]
    e = find_entry(world.table, entry, i, key, CENTROIDS)
    known = entry[e, S_LEFT] if e >= 0 else 0
    r = measure_centroids(world, now, e, slot, port, at, i)
    role = OUTER
    worker = key % par[at + FORM_WORKERS]
    last = known  # copies go to worksets older than this
    opens = False
    if is_inner:
        role = INNER
        nearest = BEYOND
        if r >= 0:
            nearest = world.row_f[r, extra + FORM_ROW_DISTANCE]
        opens = nearest > threshold
        if not opens:
            last = row[r, par[at + FORM_NEAR] + NEAR_NUMBER]
            if nearest > threshold / 2.0:
                role = OUTLIER
    workset = key * WORKSETS_MAX + last + 1
    outputs = 0
    if listened == 1:
        outputs = copy_to_worksets(world, e, slot, port, at, last, start, 0, stamps)
        if opens:
            outputs += 1
        elif is_inner:
            outputs += copies_for(row, r, extra, start, port)
    if opens:
        outputs += offer_outer(world, key, slot, port, at, i, workset, worker, 0, tracing, anchor, stamps)
    if g[G_FREE] < outputs:
        g[G_NEED] = outputs
        return -NEED_MESSAGES

    if opens and listened == 1:
        made = new_output(msg, world.free, g, box, slot, stamps)
        copy_message(world, made, slot, port, at, workset, role, worker)
    elif is_inner and listened == 1:
        send_copies(world, slot, port, at, r, start, workset, role, stamps)
    if opens:
        offer_outer(world, key, slot, port, at, i, workset, worker, 1, tracing, anchor, stamps)
    if listened == 1:
        copy_to_worksets(world, e, slot, port, at, last, start, 1, stamps)
    if opens:
        r = add_centroid(world, now, key, slot, port, at, i, e, worker)
    if is_inner:
        row[r, R_LAST_END] = max(row[r, R_LAST_END], start + par[at + JOIN_SIZE])
    else:
        buffer = find_entry(world.table, entry, i, key, start)
        if buffer < 0:
            buffer = open_entry(world, key, start, at, i)
        r = store_record(world, now, slot, port, at, i, buffer, tracing, stamps)
        row[r, extra + FORM_ROW_DISTANCE] = 0
        for c in range(FORM_ROW_WORKER, FORM_ROW_VECTOR):
            row[r, extra + c] = 0
        store_vector(world, slot, par[at + FORM_LEFT_COORDINATES + port], par[at + FORM_DIMENSIONS], r, extra + FORM_ROW_VECTOR)
    return outputs


def formulation_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    """Bytes of entries: of centroids, or of copies from other spaces."""
    copies = pair_sizes(w, at, entries, values)
    kept = entries[:, S_LEFT] - (entries[:, S_DROPPED] if w.par[at + FORM_UNUSED] > 0 else 0)
    worksets = w.par[at + JOIN_KEY_BYTES] + kept * w.par[at + FORM_CENTROID_BYTES]
    sizes: Words = np.where(entries[:, S_PANE] == CENTROIDS, worksets, copies)
    return sizes


def formulation_relink(w: Arrays, i: int, entries: Words) -> None:
    """Put the copies from other spaces into their panes; centroids are in none."""
    pairs_relink(w, i, entries[w.entry[entries, S_PANE] != CENTROIDS])


class WorksetFormulation(TwoSided):
    """Forms the worksets of each space: a record of the space that is farther than the threshold from all of their centroids becomes the
    centroid of a new one. Any other belongs to the workset of its nearest centroid: to its inner set up to half the threshold, as an
    outlier beyond. Copies go to older worksets of the space within twice the threshold, and copies from other spaces to all of these.

    Adds the fields `workset` (space x 2^32 + number, from 1 on), `role` (0 inner, 1 outer, 2 outlier) and `worker`: send the records there,
    hashed by `worker` modulo the number of workers. Worksets outlive their windows. Records that come after all of their windows have ended
    leave by `late_left` and `late_right`.

    State: the centroids, 8 bytes for each coordinate, or 16 for a string, and 24 for each; copies from other spaces until their windows
    end: their own bytes; 16 for each space and window with such copies, and for each space with worksets.
    Cost: record_ps per record, read_ps per distance to a centroid or to a stored copy, output_ps per record and copy.
    Source: Siachamis 2024, 2.4 (S3J, workset formulation; with twice the threshold as the only bound of outer records).
    """

    kind, title, group, icon = "workset_formulation", "Workset formulation", "Similarity", "rings"
    position = 21
    source = "Siachamis 2024, 2.4"
    priced_as: ClassVar[str | tuple[str, ...]] = "join"
    read_ps = READ_PS
    keeping = Keeping(formulation_sizes, relink=formulation_relink, links=lambda w, at: range(S_NEAR, S_NEAR + 1))
    outputs: ClassVar[tuple[str, ...]] = (*COPIES, *LATE_PORTS)
    copies: ClassVar[tuple[str, ...]] = COPIES  # by side
    writes_only_wanted = True
    on_record = staticmethod(formulation_on_record)
    on_close = staticmethod(join_on_close)
    next_tick = staticmethod(pairs_next_tick)
    added: ClassVar[dict[str, str]] = {"workset": "int", "role": "int", "worker": "int"}

    class Params(DistanceParams):
        left_coordinates: tuple[str, ...] = coordinates_of("left", " of a left record")
        right_coordinates: tuple[str, ...] = coordinates_of("right", " of a right record")
        workers: Integer = Field(ge=1, le=10_000, description="number of instances of the similarity join behind it")
        window: JoinWindow = Field(default_factory=FullHistory, description="windows of the similarity join behind it")
        lateness_ms: Number = quantity(0.0, unit="ms", ge=0, le=1e11, description="allowed lateness, as of the similarity join behind it")
        centroid_ttl_windows: Integer | None = Field(
            None,
            ge=1,
            le=1_000_000,
            title="Centroids kept",
            description="drop a workset, with its centroid, when so many windows have ended since the last one with a record of its own; "
            "left out, worksets stay",
            exclude_if=lambda value: value is None,
            json_schema_extra={"x-unit": "windows"},
        )
        left_window_end: ClassVar[None] = None
        right_window_end: ClassVar[None] = None

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        return cls.outputs if has_late_records(params.window) else cls.copies

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        check_threshold(params)
        for side in SIDES:
            name = cls.of_side(side, "coordinates")
            check_coordinates(getattr(params, name), inputs[side], name, cls.input_in_words(side), params.distance)
            check_fields(SpacePartitioner.added, inputs[side], cls.input_in_words(side), "a space partitioner")
        check_same_dimensions(params, inputs["left"], inputs["right"])
        check_lateness(params)
        _check_windows_end(params)
        return {
            **{port: with_fields(inputs[side], cls.added) for port, side in zip(cls.copies, SIDES, strict=True)},
            **{late: inputs[side] for late, side in zip(cls.late_ports, SIDES, strict=True)},
        }

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        return "space"

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return field

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        return {
            side: {"space", "inner", *getattr(params, f"{side}_coordinates"), *(set(wanted[port]) - cls.added.keys()), *wanted[late]}
            for side, port, late in zip(SIDES, cls.copies, cls.late_ports, strict=True)
        }

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        tables = [output_words(lowering.outputs[port], inputs[side], cls.added) for port, side in zip(cls.copies, SIDES, strict=True)]
        columns = [columns_of(getattr(params, f"{side}_coordinates"), inputs[side]) for side in SIDES]
        stored = [list(range(len(inputs[side].fields))) for side in SIDES]
        width, dimensions = max(map(len, stored)), dimensions_of(params.left_coordinates, inputs["left"])
        lowering.stored_rows(width + FORM_ROW_VECTOR + len(columns[0]), links=NEAR_WORDS)
        lowering.entry_values((S_DROPPED if params.centroid_ttl_windows else S_NEAR) + 1 - S_VALUES)
        places = [lowering.params_at + FORM_OWN]
        for words in (*columns, *tables, *stored):
            places.append(places[-1] + len(words))
        late = [cls.outputs.index(port) if port in lowering.connected else 0 for port in cls.late_ports]
        return [
            *(inputs[side].index("space") for side in SIDES),
            *(inputs[side].bytes * lowering.weight for side in SIDES),
            len(stored[0]),
            places[4],
            len(stored[1]),
            places[5],
            R_VALUES + width,
            0,
            0,
            EVENT_NEWEST,
            0,
            *late,
            KEY_BYTES,
            *PanePairing._pane_words(params, inputs, lowering),
            DISTANCES[params.distance].code,
            dimensions,
            float_word(params.threshold),
            float_word(bound_of(params.distance, 2.0 * params.threshold)),
            params.workers,
            sum(inputs["left"].field(name).bytes for name in params.left_coordinates) + 24,
            *(inputs[side].index("inner") for side in SIDES),
            *places[:2],
            *(int(port in lowering.connected) for port in cls.copies),
            len(tables[0]),
            places[2],
            len(tables[1]),
            places[3],
            R_VALUES + width + FORM_ROW_VECTOR + len(columns[0]),
            params.centroid_ttl_windows or 0,
            *(word for words in (*columns, *tables, *stored) for word in words),
        ]


def _check_windows_end(params: Any) -> None:
    """Raise Refusal for worksets that are to be dropped where no watermark ends windows."""
    if params.centroid_ttl_windows and not has_late_records(params.window):
        message = (
            f"centroid_ttl_windows is {params.centroid_ttl_windows}, but no watermark ends the windows of window '{params.window.kind}'; "
            "use tumbling or sliding windows of event time, or leave it out"
        )
        raise Refusal(message, at=("centroid_ttl_windows",), code="no_window_end", value=params.centroid_ttl_windows)
