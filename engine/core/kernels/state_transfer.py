"""Compiled work on entries of keyed state that go from one instance to another (`engine.core.control.keyed_state`)."""

from engine.core.compiler import compiled, prefetch
from engine.core.kernels.hashing import group_of
from engine.core.kernels.state_table import add_entry, drop_entry, drop_panes, free_rows_of, join_pane, take_row
from engine.core.layout import *


@compiled
def groups_of_keys(keys, scheme, groups, found):
    """The key group of each key."""
    for n in range(keys.shape[0]):
        found[n] = group_of(keys[n], scheme, groups)
    return 0


@compiled
def walk_rows(world, entries, counts, first, found):
    entry = world.entry
    row = world.row
    m = 0
    for n in range(entries.shape[0]):
        for side in range(counts.shape[1]):
            r = entry[entries[n], first + side * S_SIDE]
            for _ in range(counts[n, side]):
                found[m] = r
                m += 1
                r = row[r, R_NEXT]
    return m


@compiled
def copy_rows(world, entries, counts, first, copied):
    """The rows themselves that `walk_rows` finds."""
    entry = world.entry
    row = world.row
    m = 0
    for n in range(entries.shape[0]):
        if n + 4 < entries.shape[0]:  # they lie far apart
            prefetch(row, entry[entries[n + 4], first], 0)
        for side in range(counts.shape[1]):
            r = entry[entries[n], first + side * S_SIDE]
            for _ in range(counts[n, side]):
                for c in range(row.shape[1]):
                    copied[m, c] = row[r, c]
                m += 1
                r = row[r, R_NEXT]
    return m


@compiled
def rows_in_place(before, first, had, after, counts, origin, differs):
    """By row of `after` its place in `before` if it is at the same place of its list: first, had: by list, its first row before, and how
    many there were. differs: 1 for lists with other rows than before at some place."""
    m = 0
    for n in range(counts.shape[0]):
        for p in range(counts[n]):
            origin[m] = -1
            if p < had[n]:
                b = first[n] + p
                for c in range(before.shape[1]):
                    if before[b, c] != after[m, c]:
                        differs[n] = 1
                origin[m] = b
            m += 1
    return m


@compiled
def walk_values(world, entries, head, heads, counts, values):
    """The distinct values of entries; returns how many."""
    entry = world.entry
    m = 0
    for n in range(entries.shape[0]):
        for k in range(heads):
            x = entry[entries[n], head + k] - 1
            while x >= 0:
                values[m, 0] = entry[x, S_OWNER]
                values[m, 1] = entry[x, S_KEY]
                m += 1
                counts[n, k] += 1
                x = entry[x, S_SIBLING] - 1
    return m


@compiled
def walk_panes(world, first, lists, found):
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    m = 0
    for where in range(first, first + lists):
        x = panes_of[where]
        while x >= 0:
            e = pane[x, W_FIRST]
            while e >= 0:
                found[m] = e
                m += 1
                e = entry[e, S_SIBLING]
            x = pane[x, W_NEXT]
    return m


@compiled
def drop_entries(world, entries, first, sides, head, heads):
    """Free entries with all that they hold."""
    table = world.table
    entry = world.entry
    row = world.row
    g = world.g
    for n in range(entries.shape[0]):
        e = entries[n]
        free_rows_of(entry, row, g, e, first, sides)
        for k in range(heads):
            x = entry[e, head + k] - 1
            while x >= 0:
                after = entry[x, S_SIBLING] - 1
                drop_entry(table, entry, g, x)
                x = after
        drop_entry(table, entry, g, e)
    return 0


@compiled
def unpack(world, i, entries, rows, row_counts, values, value_counts, first, sides, head, heads, made):
    """Entries of instance i with all that they hold; the caller has checked for space."""
    table = world.table
    entry = world.entry
    row = world.row
    g = world.g
    entry_origin = world.entry_origin
    row_origin = world.row_origin
    tracing = g[G_TRACING] == 1
    m = 0
    v = 0
    for n in range(entries.shape[0]):
        e = add_entry(table, entry, g, i, entries[n, S_KEY], entries[n, S_PANE])
        made[n] = e
        for c in range(S_COUNT, entry.shape[1]):
            entry[e, c] = entries[n, c]
        if tracing:
            entry_origin[e] = -1  # its services were another instance's
        for side in range(sides):
            at = first + side * S_SIDE
            last = -1
            for _ in range(row_counts[n, side]):
                r = take_row(row, g)
                for c in range(row.shape[1]):
                    row[r, c] = rows[m, c]
                m += 1
                row[r, R_NEXT] = -1
                if tracing:
                    row_origin[r] = -1
                if last < 0:
                    entry[e, at] = r
                else:
                    row[last, R_NEXT] = r
                entry[e, at + 1] = r
                last = r
        for k in range(heads):
            count = value_counts[n, k]
            entry[e, head + k] = 0
            for x in range(v + count - 1, v - 1, -1):
                made_value = add_entry(table, entry, g, values[x, 0], values[x, 1], e)
                entry[made_value, S_SIBLING] = entry[e, head + k]
                entry[e, head + k] = made_value + 1
            v += count
    return 0


@compiled
def relink_panes(world, i, entries, first, scheme, groups, size, processing):
    entry = world.entry
    pane = world.pane
    panes_of = world.panes_of
    inst = world.inst
    g = world.g
    for where in range(first, first + groups):
        drop_panes(pane, panes_of, g, where)
    earliest = inst[i, I_PANE_END]  # still true of what was here and of what came
    tick = FAR
    for n in range(entries.shape[0]):
        e = entries[n]
        entry[e, S_SIBLING] = -1
        start = entry[e, S_PANE]
        end = start + size
        tick = min(tick, end)
        join_pane(pane, panes_of, g, inst, i, first + group_of(entry[e, S_KEY], scheme, groups), start, end, e, entry)
    inst[i, I_PANE_END] = earliest
    if processing == 1:
        inst[i, I_TICK] = tick
    return 0
