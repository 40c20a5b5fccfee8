"""Changes of keyed state, noted for the local stores of instances (`engine.core.control.changes`)."""

from engine.core.layout import *


def note_change(world, now, i, kind, key, pane, count):
    """Note one change of instance `i`, and add what its store takes for it to the work of the service. The caller has checked for room.

    pane: start of the window. count: of CHANGE_CLEAR, how many stored records or values there are; of CHANGE_GET and CHANGE_PUT the side.
    """
    changes = world.changes
    g = world.g
    n = g[G_CHANGES]
    changes[n, CHANGE_TIME] = now
    changes[n, CHANGE_INSTANCE] = i
    changes[n, CHANGE_KIND] = kind
    changes[n, CHANGE_KEY] = key
    changes[n, CHANGE_PANE] = pane
    changes[n, CHANGE_COUNT] = count
    changes[n, CHANGE_CHANNEL] = -1
    g[G_CHANGES] = n + 1
    o = world.inst[i, I_OP]
    work = 0
    if kind <= CHANGE_CLEAR:
        work = world.op[o, O_SCAN_PS]
    if kind == CHANGE_GET:
        work = world.op[o, O_GET_PS]
    if kind == CHANGE_CLEAR:
        work += count * world.op[o, O_WRITE_PS]
    elif kind != CHANGE_READ and kind != CHANGE_GET:
        work += world.op[o, O_WRITE_PS]
    world.box[BOX_STATE_PS] += work


def note_record(world, slot):
    """The last change comes from the record in `slot`."""
    n = world.g[G_CHANGES] - 1
    world.changes[n, CHANGE_CHANNEL] = world.msg[slot, M_CHANNEL]
    world.changes[n, CHANGE_SEQUENCE] = world.msg[slot, M_SEQUENCE]


def lacks_room_for_changes(world, needed):
    """Whether fewer than `needed` changes still fit. Then G_NEED says how many."""
    lacks = world.g[G_CHANGES] + needed > world.changes.shape[0]
    if lacks:
        world.g[G_NEED] = needed
    return lacks


def note_content(world, e, r):
    """Note what the last change has made of entry `e` and of its stored row `r`, -1 for none. Only if content is noted."""
    if world.g[G_CHANGING] < 2:
        return
    entry = world.entry
    row = world.row
    words = world.change_words
    n = world.g[G_CHANGES] - 1
    width = entry.shape[1]
    for c in range(width):
        words[n, c] = entry[e, c]
    for c in range(row.shape[1]):
        words[n, width + c] = row[r, c] if r >= 0 else 0
