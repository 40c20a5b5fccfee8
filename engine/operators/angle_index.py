"""Counts the stored vectors of two coordinates within an angle of another one, without visiting them: two search trees of directions for
each side of an entry, one of its own records and one of outer ones.

The counts are those that comparing gives, to the last pair. Where they might not be, an entry is not searched and its records are compared:
where a record lies so close to the threshold that rounding decides, and where coordinates are so small or large that their squares are
not numbers.
"""

from __future__ import annotations

from engine.core.distances.angular import turn_of
from engine.core.kernels.messages import new_output
from engine.core.kernels.range_tree import (
    FOUND_COUNT,
    FOUND_FIRST,
    FOUND_LAST,
    FOUND_LIST,
    FOUND_NEAR,
    FOUND_OLDEST,
    FOUND_WORDS,
    TREE_COUNT,
    TREE_LINK,
    add_to_tree,
    clear_found,
    find_range,
)
from engine.core.layout import (
    M_EDGE,
    M_EVENT,
    M_NEWEST,
    M_OLDEST,
    M_PAYLOAD,
    N_ORIGIN,
    R_NEXT,
    S_LEFT,
    S_SIDE,
)
from engine.operators.pairs import EVENT_NEWEST, EVENT_OLDEST, JOIN_EVENT, add_contributor
from engine.operators.similarity import INNER, OUTER

OWN_TREE, OUTER_TREE = 0, 1
TREES = 2
S_INDEXED = S_LEFT + 2 * S_SIDE + 6
"""First column of an index in an entry, behind its comparisons, pairs and records by role: the number of its records in trees, -1 if it is
not to be searched. Then by side the roots of its trees and its number of inner records; last what the search for the record that is served
has found (its count is -1 if there was none)."""
S_ROOTS = S_INDEXED + 1
S_INNER = S_ROOTS + 2 * TREES
S_FOUND = S_INNER + 2
INDEX_END = S_FOUND + FOUND_WORDS
THRESHOLD_MIN = 1e-5
"""The smallest threshold, and distance of a threshold from 1, at which directions are accurate enough."""
MARGIN = 1e-12
SMALLEST, LARGEST = 1e-200, 1e200


def is_regular(square):
    """Whether a vector with this square of its length has a direction to be relied upon. False for NaN."""
    return square > SMALLEST and square < LARGEST


def index_row(world, e, r, side, role, vector, tree):
    """Add a stored row of an entry to its trees. vector, tree: columns of the row where these begin."""
    entry = world.entry
    row_f = world.row_f
    x = row_f[r, vector]
    y = row_f[r, vector + 1]
    if is_regular(x * x + y * y):
        at = S_ROOTS + TREES * side + (OUTER_TREE if role == OUTER else OWN_TREE)
        entry[e, at] = add_to_tree(world.row, row_f, tree, entry[e, at], r, turn_of(x, y), entry[e, S_INDEXED])
        entry[e, S_INDEXED] += 1
        entry[e, S_INNER + side] += 1 if role == INNER else 0
    else:
        entry[e, S_INDEXED] = -1


def index_entry(world, e, role_at, vector, tree):
    """Index all rows of an entry: state that was restored has lost its trees."""
    entry = world.entry
    row = world.row
    for c in range(S_INDEXED, S_FOUND):
        entry[e, c] = 0
    for side in range(2):
        own = S_LEFT + side * S_SIDE
        r = entry[e, own + 1]
        for _ in range(entry[e, own]):
            if entry[e, S_INDEXED] >= 0:
                index_row(world, e, r, side, row[r, role_at], vector, tree)
            r = row[r, R_NEXT]


def find_turns(row, row_f, tree, root, turn, reach, margin, time, entry, e):
    """Add the rows within `reach` of a direction, both in half turns, to what the entry's search has found."""
    low = turn - reach + margin
    high = turn + reach - margin
    if low < -1.0:
        find_range(row, row_f, tree, root, low + 2.0, 2.0, 2.0 * margin, time, entry, e, S_FOUND)
        find_range(row, row_f, tree, root, -2.0, high, 2.0 * margin, time, entry, e, S_FOUND)
    elif high > 1.0:
        find_range(row, row_f, tree, root, low, 2.0, 2.0 * margin, time, entry, e, S_FOUND)
        find_range(row, row_f, tree, root, -2.0, high - 2.0, 2.0 * margin, time, entry, e, S_FOUND)
    else:
        find_range(row, row_f, tree, root, low, high, 2.0 * margin, time, entry, e, S_FOUND)
        if low < 2.0 * margin - 1.0 or high > 1.0 - 2.0 * margin:
            entry[e, S_FOUND + FOUND_NEAR] = 1  # a record beyond the half turn may be near


def search(world, e, slot, met, columns, role, threshold, role_at, vector, tree):
    """Find the records of side `met` of an entry that match the one in `slot`. Returns the number of comparisons that this replaces;
    -1, with S_FOUND -1, if the records have to be compared."""
    entry = world.entry
    row = world.row
    msg_f = world.msg_f
    x = msg_f[slot, M_PAYLOAD + world.par[columns]]
    y = msg_f[slot, M_PAYLOAD + world.par[columns + 1]]
    compared = -1
    if entry[e, S_INDEXED] >= 0 and entry[e, S_INDEXED] != entry[e, S_LEFT] + entry[e, S_LEFT + S_SIDE]:
        index_entry(world, e, role_at, vector, tree)
    if entry[e, S_INDEXED] >= 0 and is_regular(x * x + y * y):
        compared = 0
        turn = turn_of(x, y)
        margin = MARGIN / min(threshold, 1.0 - threshold)
        clear_found(entry, e, S_FOUND)
        if role == INNER:  # inner records match without being compared
            compared -= entry[e, S_INNER + met]
        for theirs in range(TREES):
            root = entry[e, S_ROOTS + TREES * met + theirs]
            if root > 0 and (role != OUTER or theirs != OUTER_TREE):
                compared += row[root - 1, tree + TREE_COUNT]
                find_turns(row, world.row_f, tree, root, turn, threshold, margin, world.msg[slot, M_NEWEST], entry, e)
        if entry[e, S_FOUND + FOUND_NEAR] == 1:
            compared = -1
    if compared < 0:
        entry[e, S_FOUND] = -1
    return compared


def emit_newer(world, r, slot, at, tracing, anchor, stamps):
    """An output for a match that is newer than the record in `slot`."""
    msg = world.msg
    made = new_output(msg, world.free, world.g, world.box, slot, stamps)
    msg[made, M_EDGE] = 0
    msg[made, M_PAYLOAD] = 1
    if tracing and anchor == M_NEWEST:
        world.notes[made, N_ORIGIN] = world.row_origin[r]
    add_contributor(world, made, r, at, stamps)


def emit_found(world, e, slot, at, tree, tracing, anchor, stamps):
    """One output with the number of records that the search has found, and one for each newer one: `count_pairs` after comparing."""
    entry = world.entry
    row = world.row
    msg = world.msg
    if entry[e, S_FOUND + FOUND_COUNT] > 0:
        made = new_output(msg, world.free, world.g, world.box, slot, stamps)
        msg[made, M_EDGE] = 0
        msg[made, M_PAYLOAD] = entry[e, S_FOUND + FOUND_COUNT]
        rule = world.par[at + JOIN_EVENT]
        if rule == EVENT_NEWEST:
            msg[made, M_EVENT] = max(msg[made, M_EVENT], entry[e, S_FOUND + FOUND_LAST])
        elif rule == EVENT_OLDEST:
            msg[made, M_EVENT] = min(msg[made, M_EVENT], entry[e, S_FOUND + FOUND_FIRST])
        msg[made, M_OLDEST] = min(msg[made, M_OLDEST], entry[e, S_FOUND + FOUND_OLDEST])
    r = entry[e, S_FOUND + FOUND_LIST] - 1
    while r >= 0:
        emit_newer(world, r, slot, at, tracing, anchor, stamps)
        r = row[r, tree + TREE_LINK] - 1
