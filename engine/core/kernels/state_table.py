"""Keyed state of operators: entries in a hash table, stored rows, and panes."""

from engine.core.kernels.hashing import mix64
from engine.core.layout import *


def entry_hash(owner, key, pane_start):
    """Hash of an entry of keyed state; its bucket is the lowest bits."""
    return mix64(key ^ (owner * -7046029254386353131) ^ (pane_start * -8663945395140668459))


def entry_bucket(owner, key, pane_start, buckets):
    """Bucket of an entry of keyed state; `buckets` is a power of two."""
    return entry_hash(owner, key, pane_start) & (buckets - 1)


def find_entry(table, entry, owner, key, pane_start):
    """The entry of (owner, key, pane), -1 if there is none."""
    e = table[entry_bucket(owner, key, pane_start, table.shape[0])]
    while e >= 0 and not (entry[e, S_KEY] == key and entry[e, S_OWNER] == owner and entry[e, S_PANE] == pane_start):
        e = entry[e, S_NEXT]
    return e


def add_entry(table, entry, g, owner, key, pane_start):
    """A new entry; the caller has checked that none exists and that there is space. Values are zero."""
    e = g[G_ENTRY]
    if e >= 0:
        g[G_ENTRY] = entry[e, S_NEXT]
    else:
        e = g[G_ENTRY_FRESH]
        g[G_ENTRY_FRESH] = e + 1
    g[G_ENTRIES_FREE] -= 1
    g[G_ENTRIES_USED] += 1
    for c in range(entry.shape[1]):
        entry[e, c] = 0
    b = entry_bucket(owner, key, pane_start, table.shape[0])
    entry[e, S_NEXT] = table[b]
    table[b] = e
    entry[e, S_OWNER] = owner
    entry[e, S_KEY] = key
    entry[e, S_PANE] = pane_start
    entry[e, S_SIBLING] = -1
    return e


def covers(world, e, slot):
    """Whether entry `e`, restored from a checkpoint of its own, includes the record in `slot`, which was sent again."""
    first = world.g[G_COVERED]
    if first == 0:
        return False
    sender = world.chan[world.msg[slot, M_CHANNEL], C_SENDER]
    return world.msg[slot, M_SEQUENCE] < world.entry[e, first + world.inst[sender, I_INDEX]]


def free_entry(entry, g, e):
    """Put an entry that is in no bucket on the free list."""
    entry[e, S_NEXT] = g[G_ENTRY]
    entry[e, S_OWNER] = -1
    g[G_ENTRY] = e
    g[G_ENTRIES_FREE] += 1
    g[G_ENTRIES_USED] -= 1
    g[G_ENTRIES_FREED] += 1


def drop_entry(table, entry, g, e):
    """Take an entry out of its bucket and put it on the free list."""
    b = entry_bucket(entry[e, S_OWNER], entry[e, S_KEY], entry[e, S_PANE], table.shape[0])
    x = table[b]
    if x == e:
        table[b] = entry[e, S_NEXT]
    else:
        while entry[x, S_NEXT] != e:
            x = entry[x, S_NEXT]
        entry[x, S_NEXT] = entry[e, S_NEXT]
    free_entry(entry, g, e)


def take_row(row, g):
    """A free stored row, with none behind it; the caller has checked that there is one."""
    r = g[G_ROW]
    if r >= 0:
        g[G_ROW] = row[r, R_NEXT]
    else:
        r = g[G_ROW_FRESH]
        g[G_ROW_FRESH] = r + 1
        for c in range(row.shape[1]):
            row[r, c] = 0
    g[G_ROWS_FREE] -= 1
    row[r, R_NEXT] = -1
    return r


def free_row(row, g, r):
    free_rows(row, g, r, r, 1)


def free_rows(row, g, first, last, count):
    """So many stored rows, linked from the first to the last, are free again."""
    row[last, R_NEXT] = g[G_ROW]
    g[G_ROW] = first
    g[G_ROWS_FREE] += count


def free_rows_of(entry, row, g, e, first, sides):
    """Free the rows that an entry keeps, by side if there are two. first: column of the first row, of the first side."""
    for side in range(sides):
        at = first + side * S_SIDE
        count = entry[e, at - 1] if sides == 2 else entry[e, S_COUNT]
        r = entry[e, at]
        for _ in range(count):
            if r < 0:  # fewer are kept than were counted
                break
            after = row[r, R_NEXT]
            free_row(row, g, r)
            r = after


def free_pane(pane, g, x):
    pane[x, W_NEXT] = g[G_PANE]
    g[G_PANE] = x
    g[G_PANES_FREE] += 1


def drop_panes(pane, panes_of, g, at):
    """The panes of list `at` are free again, and it is empty."""
    x = panes_of[at]
    while x >= 0:
        after = pane[x, W_NEXT]
        free_pane(pane, g, x)
        x = after
    panes_of[at] = -1


def join_pane(pane, panes_of, g, inst, i, at, start, end, e, entry):
    """Append entry `e` to the open pane [start, end) of list `at` (sorted by start), opening the pane if need be."""
    previous = -1
    x = panes_of[at]
    while x >= 0 and pane[x, W_START] < start:
        previous = x
        x = pane[x, W_NEXT]
    if x < 0 or pane[x, W_START] != start:
        made = g[G_PANE]
        g[G_PANE] = pane[made, W_NEXT]
        g[G_PANES_FREE] -= 1
        pane[made, W_START] = start
        pane[made, W_END] = end
        pane[made, W_FIRST] = -1
        pane[made, W_LAST] = -1
        pane[made, W_COUNT] = 0
        pane[made, W_NEXT] = x
        if previous < 0:
            panes_of[at] = made
        else:
            pane[previous, W_NEXT] = made
        x = made
        if end < inst[i, I_PANE_END]:
            inst[i, I_PANE_END] = end
    if pane[x, W_FIRST] < 0:
        pane[x, W_FIRST] = e
    else:
        entry[pane[x, W_LAST], S_SIBLING] = e
    pane[x, W_LAST] = e
    pane[x, W_COUNT] += 1


def first_pane_end(pane, panes_of, first, count, above):
    """The least end greater than `above` of the panes in lists first .. first + count - 1, FAR if none."""
    least = FAR
    for at in range(first, first + count):
        x = panes_of[at]
        while x >= 0:
            if pane[x, W_END] > above:
                if pane[x, W_END] < least:
                    least = pane[x, W_END]
                break
            x = pane[x, W_NEXT]
    return least
