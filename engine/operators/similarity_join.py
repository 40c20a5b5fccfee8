"""Joins records whose vectors are close to each other, workset by workset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from engine.core.distances import DISTANCES, bound_of
from engine.core.kernels.messages import new_output
from engine.core.kernels.range_tree import FOUND_NEWER, TREE_WORDS
from engine.core.kernels.state_table import find_entry
from engine.core.layout import (
    BOX_COUNTED,
    BOX_READ,
    BOX_WORK,
    G_FREE,
    G_NEED,
    M_EDGE,
    M_NEWEST,
    M_PAYLOAD,
    NEED_MESSAGES,
    R_NEWEST,
    R_NEXT,
    S_LEFT,
    S_SIDE,
    S_VALUES,
)
from engine.core.tables import Arrays
from engine.operators.angle_index import INDEX_END, S_FOUND, S_INDEXED, THRESHOLD_MIN, emit_found, emit_newer, index_row, search
from engine.operators.join import join_on_close
from engine.operators.pairs import (
    JOIN_EXTRA,
    JOIN_LEFT_KEY,
    JOIN_LISTENED,
    JOIN_SIZE,
    JOIN_SLIDE,
    JOIN_STEP,
    KEPT_IN_PANES,
    LAST_PAIR,
    SIDES,
    PanePairing,
    PaneParams,
    add_contributor,
    first_open_pane,
    lacking_space,
    open_entry,
    pair_with_stored,
    pairs_next_tick,
    pass_late,
    store_record,
)
from engine.operators.similarity import (
    INNER,
    OUTER,
    OUTLIER,
    READ_PS,
    DistanceName,
    Threshold,
    check_coordinates,
    check_fields,
    check_same_dimensions,
    check_threshold,
    columns_of,
    coordinates_of,
    dimensions_of,
    distance_to_row,
    float_word,
    store_vector,
)
from engine.operators.windows import FullHistory, JoinWindow
from engine.operators.workset_formulation import WorksetFormulation
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordField, RecordSchema

# parameters after those of a join over panes; by side: column with the role, column with the partition (-1: it does not matter), place of
# the list of coordinates. Then whether pairs are counted, and whether records are found by their angle (1 or 0)
(
    SIM_DISTANCE,
    SIM_DIMENSIONS,
    SIM_THRESHOLD,
    SIM_BOUND,
    SIM_ROLES,
    SIM_LEFT_ROLE,
    SIM_RIGHT_ROLE,
    SIM_LEFT_SPACE,
    SIM_RIGHT_SPACE,
    SIM_LEFT_COORDINATES,
    SIM_RIGHT_COORDINATES,
    SIM_COUNTS,
    SIM_INDEXED,
    SIM_ONE_STREAM,
) = range(JOIN_STEP + 1, JOIN_STEP + 15)
SIM_OWN = JOIN_STEP + 15
NUMBER = LAST_PAIR + 1  # used instead of a side in the table of output fields
ROLES_GIVEN, ROLES_OF_INNER, ROLES_NONE = range(3)
"""Where roles come from: a field with the role; a field that is true for a partition's own records, which are compared with all others;
nowhere, so all are compared with all."""
# words of a stored record, from JOIN_EXTRA on: its role; its partition; 1 if it matches the record that is served; then its vector
SIM_ROW_ROLE, SIM_ROW_SPACE, SIM_ROW_MATCHES, SIM_ROW_VECTOR = range(4)


S_COMPARING, S_COMPARED, S_MATCHING, S_PAIRED, S_INNERS, S_OUTERS = range(S_LEFT + 2 * S_SIDE, S_LEFT + 2 * S_SIDE + 6)
"""Columns of an entry after those of its sides: comparisons for the record that is served, and for all; pairs, likewise; inner and outer
records of both sides."""


def role_of(msg, slot, port, par, at):
    role = OUTLIER
    if par[at + SIM_ROLES] == ROLES_GIVEN:
        role = msg[slot, M_PAYLOAD + par[at + SIM_LEFT_ROLE + port]]
    elif par[at + SIM_ROLES] == ROLES_OF_INNER and msg[slot, M_PAYLOAD + par[at + SIM_LEFT_ROLE + port]] == 0:
        role = OUTER
    return role


def side_met(par, at, port):
    """The side whose records one that comes by `port` is compared with."""
    return port if par[at + SIM_ONE_STREAM] == 1 else 1 - port


def space_of(msg, slot, port, par, at):
    return msg[slot, M_PAYLOAD + par[at + SIM_LEFT_SPACE + port]] if par[at + SIM_LEFT_SPACE + port] >= 0 else 0


def mark_matches(world, e, slot, port, at, role):
    """Mark the records of the other side of an entry that match the one in `slot`, and return their number. Records that are both inner
    match without being compared; two that are outer are left to another workset. Where partitions matter, records of different ones are
    compared, but match elsewhere. Adds the comparisons to BOX_READ."""
    par = world.par
    entry = world.entry
    row = world.row
    extra = par[at + JOIN_EXTRA]
    threshold = world.par_f[at + SIM_THRESHOLD]
    bound = world.par_f[at + SIM_BOUND]
    columns = par[at + SIM_LEFT_COORDINATES + port]
    other = S_LEFT + side_met(par, at, port) * S_SIDE
    space = space_of(world.msg, slot, port, par, at)
    matches = 0
    compared = 0
    r = entry[e, other + 1]
    for _ in range(entry[e, other]):
        theirs = row[r, extra + SIM_ROW_ROLE]
        hit = 0
        if role == INNER and theirs == INNER:
            hit = 1
        elif role != OUTER or theirs != OUTER:
            compared += 1
            far = distance_to_row(world, par[at + SIM_DISTANCE], slot, columns, par[at + SIM_DIMENSIONS], r, extra + SIM_ROW_VECTOR, bound)
            if far <= threshold and row[r, extra + SIM_ROW_SPACE] == space:
                hit = 1
        row[r, extra + SIM_ROW_MATCHES] = hit
        matches += hit
        r = row[r, R_NEXT]
    world.box[BOX_READ] += compared
    entry[e, S_COMPARING] = compared
    return matches


def count_pairs(world, e, slot, port, at, tracing, anchor, stamps, emits):
    """Count the marked records of an entry: those that are no newer than the record in `slot` in one output; behind it each other one in an
    output of its own, since its latency is another. Returns the number of outputs. emits: 1 to make them, and remove the marks."""
    msg = world.msg
    entry = world.entry
    row = world.row
    marked = world.par[at + JOIN_EXTRA] + SIM_ROW_MATCHES
    other = S_LEFT + side_met(world.par, at, port) * S_SIDE
    together = -1
    outputs = 0
    r = entry[e, other + 1]
    for _ in range(entry[e, other]):
        if row[r, marked] == 1 and row[r, R_NEWEST] <= msg[slot, M_NEWEST]:
            outputs = 1
            if emits == 1:
                if together < 0:
                    together = new_output(msg, world.free, world.g, world.box, slot, stamps)
                    msg[together, M_EDGE] = 0
                    msg[together, M_PAYLOAD] = 0
                msg[together, M_PAYLOAD] += 1
                add_contributor(world, together, r, at, stamps)
                row[r, marked] = 0
        r = row[r, R_NEXT]
    r = entry[e, other + 1]
    for _ in range(entry[e, other]):
        if row[r, marked] == 1 and row[r, R_NEWEST] > msg[slot, M_NEWEST]:
            outputs += 1
            if emits == 1:
                emit_newer(world, r, slot, at, tracing, anchor, stamps)
                row[r, marked] = 0
        r = row[r, R_NEXT]
    return outputs


def similarity_on_record(world, now, slot, port, at, i, tracing, anchor, stamps):
    """In each open pane, store the record with its workset, then emit one output per record of the other side that matches it."""
    msg = world.msg
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
    lacking = lacking_space(panes, g)
    if lacking < 0:
        return lacking
    role = role_of(msg, slot, port, par, at)
    key = msg[slot, M_PAYLOAD + par[at + JOIN_LEFT_KEY + port]] if par[at + JOIN_LEFT_KEY + port] >= 0 else 0
    slide = par[at + JOIN_SLIDE]
    extra = par[at + JOIN_EXTRA]
    met = side_met(par, at, port)
    other = S_LEFT + met * S_SIDE
    listened = par[at + JOIN_LISTENED]
    counts = par[at + SIM_COUNTS] == 1
    matches = 0
    outputs = 0
    box[BOX_READ] = 0
    indexed = par[at + SIM_INDEXED] == 1
    vector = extra + SIM_ROW_VECTOR
    tree = vector + par[at + SIM_DIMENSIONS]
    columns = par[at + SIM_LEFT_COORDINATES + port]
    threshold = world.par_f[at + SIM_THRESHOLD]
    for k in range(panes):
        e = find_entry(table, entry, i, key, start + k * slide)
        if e >= 0:
            compared = -1
            if indexed:
                compared = search(world, e, slot, met, columns, role, threshold, extra + SIM_ROW_ROLE, vector, tree)
            if compared >= 0:
                box[BOX_READ] += compared
                entry[e, S_COMPARING] = compared
                newer = entry[e, S_FOUND + FOUND_NEWER]
                entry[e, S_MATCHING] = entry[e, S_FOUND] + newer
                matches += entry[e, S_MATCHING] * listened
                outputs += (min(entry[e, S_FOUND], 1) + newer) * listened
            else:
                found = mark_matches(world, e, slot, port, at, role)
                entry[e, S_MATCHING] = found
                matches += found * listened
                if counts:
                    found = count_pairs(world, e, slot, port, at, tracing, anchor, stamps, 0)
                outputs += found * listened
    if g[G_FREE] < outputs + 1:
        g[G_NEED] = outputs + 1
        return -NEED_MESSAGES

    for _ in range(panes):
        e = find_entry(table, entry, i, key, start)
        if e < 0:
            e = open_entry(world, key, start, at, i)
        entry[e, S_COMPARED] += entry[e, S_COMPARING]
        entry[e, S_COMPARING] = 0
        entry[e, S_PAIRED] += entry[e, S_MATCHING] * listened
        entry[e, S_MATCHING] = 0
        if role != OUTLIER:
            entry[e, S_INNERS + role] += 1
        r = store_record(world, now, slot, port, at, i, e, tracing, stamps)
        row[r, extra + SIM_ROW_ROLE] = role
        row[r, extra + SIM_ROW_SPACE] = space_of(msg, slot, port, par, at)
        row[r, extra + SIM_ROW_MATCHES] = 0
        store_vector(world, slot, columns, par[at + SIM_DIMENSIONS], r, vector)
        searched = False
        if indexed:
            searched = entry[e, S_FOUND] >= 0
            if entry[e, S_INDEXED] >= 0:
                index_row(world, e, r, port, role, vector, tree)
        if searched and listened == 1:
            emit_found(world, e, slot, at, tree, tracing, anchor, stamps)
        elif counts and listened == 1:
            count_pairs(world, e, slot, port, at, tracing, anchor, stamps, 1)
        r = entry[e, other + 1]
        for _ in range(0 if counts else entry[e, other]):  # in a self-join also the record itself, which is no match
            if row[r, extra + SIM_ROW_MATCHES] == 1 and listened == 1:
                made = new_output(msg, world.free, g, box, slot, stamps)
                pair_with_stored(world, made, slot, port, at, r, start, start + par[at + JOIN_SIZE], tracing, anchor, stamps)
            row[r, extra + SIM_ROW_MATCHES] = 0
            r = row[r, R_NEXT]
        start += slide
    box[BOX_COUNTED] = matches - outputs
    return outputs


def index_columns(w: Arrays, at: int) -> range:
    """The columns of an entry with its index of angles."""
    return range(S_INDEXED, INDEX_END if w.par[at + SIM_INDEXED] == 1 else S_INDEXED)


class SimilarityPairing(PanePairing):
    """A join of records with the same key and pane whose vectors are within the threshold of each other."""

    on_record = staticmethod(similarity_on_record)
    on_close = staticmethod(join_on_close)
    next_tick = staticmethod(pairs_next_tick)
    priced_as: ClassVar[str | tuple[str, ...]] = "join"
    read_ps = READ_PS
    keeping = replace(KEPT_IN_PANES, by_key_groups=False, links=index_columns)
    roles = ROLES_NONE
    role_field = ""
    made_by: ClassVar[str] = ""  # the operator in front of it, which sends each record to a worker ...
    added: ClassVar[dict[str, str]] = {}  # ... and the fields that it adds

    class Params(PaneParams):
        left_coordinates: tuple[str, ...] = coordinates_of("left", " of a left record")
        right_coordinates: tuple[str, ...] = coordinates_of("right", " of a right record")
        distance: DistanceName = "angular"
        threshold: Threshold
        window: JoinWindow = Field(default_factory=FullHistory, description="the records to keep, and how long")
        pairs: Literal["each", "counted"] = Field(
            "each",
            description="each: a record for each pair; counted: for each arrival that matches, one record with the number of its pairs "
            "(field pairs), which costs and counts as much",
        )

        @model_validator(mode="after")
        def _counted_pairs_have_no_fields(self) -> Self:
            if self.pairs == "counted" and self.select is not None:
                message = (
                    f"select names {len(self.select)} fields of pairs, but pairs are counted, so there is only their number; leave it out"
                )
                raise Refusal(message, at=("select",), code="counted", value=list(self.select))
            return self

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        check_threshold(params)
        for side in SIDES:
            name = cls.of_side(side, "coordinates")
            check_coordinates(getattr(params, name), inputs[side], name, cls.input_in_words(side), params.distance)
            check_fields(cls.added, inputs[side], cls.input_in_words(side), cls.made_by)
        check_same_dimensions(params, inputs["left"], inputs["right"])
        schemas = super().output_schemas(params, inputs)
        if params.pairs == "counted":
            schemas["out"] = RecordSchema((RecordField("pairs", "int"),), schemas["out"].bytes)
        return schemas

    @classmethod
    def _bounds(cls, params: Any, inputs: Mapping[str, RecordSchema], named: Mapping[str, Any]) -> dict[str, tuple[int, RecordField]]:
        """With counted pairs, also the number of pairs, which comes from neither input."""
        found = super()._bounds(params, inputs, named)
        return found | ({"pairs": (NUMBER, RecordField("pairs", "int"))} if params.pairs == "counted" else {})

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        return "worker" if cls.made_by else super().required_key(params, port)

    @classmethod
    def space_field(cls, params: Any) -> str:
        """The field with a record's partition, if pairs are reported only for records of the same one; empty if they always are."""
        return ""

    @classmethod
    def is_indexed(cls, params: Any) -> bool:
        """Whether records are found by their angle instead of being compared, which takes less time and gives the same."""
        plane = params.distance == "angular" and len(params.left_coordinates) == 2
        return (
            params.pairs == "counted" and plane and not cls.space_field(params) and THRESHOLD_MIN <= params.threshold <= 1.0 - THRESHOLD_MIN
        )

    @classmethod
    def further_reads(cls, params: Any) -> tuple[set[str], set[str]]:
        about = {cls.role_field, cls.space_field(params), "worker" if cls.made_by else ""} - {""}
        left, right = super().further_reads(params)
        return left | about | {*params.left_coordinates}, right | about | {*params.right_coordinates}

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        indexed = cls.is_indexed(params)
        lowering.entry_values((INDEX_END if indexed else S_OUTERS + 1) - S_VALUES)
        columns = [columns_of(getattr(params, f"{side}_coordinates"), inputs[side]) for side in SIDES]
        dimensions = dimensions_of(params.left_coordinates, inputs["left"])
        place = lowering.params_at + SIM_OWN
        own = [
            *cls._pane_words(params, inputs, lowering),
            DISTANCES[params.distance].code,
            dimensions,
            float_word(params.threshold),
            float_word(bound_of(params.distance, params.threshold)),
            cls.roles,
            *(inputs[side].index(name) if name else -1 for name in (cls.role_field, cls.space_field(params)) for side in SIDES),
            place,
            place + len(columns[0]),
            int(params.pairs == "counted"),
            int(indexed),
            int(cls.one_stream),
            *columns[0],
            *columns[1],
        ]
        return cls._lowered(params, inputs, lowering, own, SIM_ROW_VECTOR + len(columns[0]), links=TREE_WORDS if indexed else 0)


class SimilarityJoin(SimilarityPairing):
    """Joins the records of each workset: one output for every left and right record within the threshold of each other, in each window.

    Inner records of a workset match one another without a comparison, outer ones are compared with all but outer ones, outliers with all.
    Takes what workset formulation sends (`workset`, `role`, `worker`).

    State: the records of both sides by workset and window: their own bytes, and 16 per workset and window.
    Cost: record_ps per window that the record falls into, read_ps per comparison, output_ps per pair.
    Source: Siachamis 2024, 2.4 (S3J, similarity computation).
    """

    kind, title, group, icon = "similarity_join", "Workset join", "Similarity", "rings"
    position = 22
    source = "Siachamis 2024, 2.4"
    roles = ROLES_GIVEN
    role_field = "role"
    made_by = "a workset formulation"
    added = WorksetFormulation.added

    class Params(SimilarityPairing.Params):
        left_key: str = Field("workset", description="field of the left input with the record's workset")
        right_key: str = Field("workset", description="field of the right input with the record's workset")
