"""Keyed state by key group: taken out of an instance, kept as arrays or bytes, put into another instance.

An entry of keyed state belongs to the key group of its key (`hashing.group_of`). Its contents move with it: its words, its stored rows and
the distinct values that it has counted. Everything else is an index over entries (hash chains, panes, heaps, lists by age) and is rebuilt
at the destination. The operator kind defines these indexes and the accounted bytes of an entry (`Keeping`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.keeping import Keeping
from engine.core.kernels import state_transfer
from engine.core.tables import Arrays, Words
from engine.core.world import World


class CannotMove(ValueError):
    """The state cannot be taken out or put in now. The message gives the reason."""


@dataclass(frozen=True)
class KeyedState:
    """State of some key groups of an operator, independent of its location in the world.

    entries: (n, columns of the table). rows: (m, columns of the table) by entry, then side, in order of storage. row_counts: (n, sides).
    values: (v, 2) owner and value of each distinct value, by entry, then head. value_counts: (n, heads). sizes: (n,) bytes.
    about: (4,) operator, watermark of the instance, time before which none of its panes ends, columns of stamps.
    """

    entries: Words
    rows: Words
    row_counts: Words
    values: Words
    value_counts: Words
    sizes: Words
    about: Words

    @property
    def state_bytes(self) -> int:
        """Bytes as accounted by the operator."""
        return int(self.sizes.sum())

    def to_bytes(self) -> bytes:
        return tables_to_bytes([getattr(self, field.name) for field in fields(self)])

    @classmethod
    def from_bytes(cls, content: bytes) -> KeyedState:
        return cls(*tables_from_bytes(content))


def tables_to_bytes(tables: Sequence[Words]) -> bytes:
    """Serialise arrays of one or two dimensions: their number, then for each its dimensions (-1 for none) and its words."""
    shapes = [(*table.shape, -1)[:2] for table in tables]
    head = np.array([len(tables), *chain(*shapes)], "<i8")
    return b"".join([np.ascontiguousarray(table, "<i8").data for table in (head, *tables) if table.size])


def tables_from_bytes(content: bytes) -> list[Words]:
    """The inverse of `tables_to_bytes`. Returns new arrays."""
    words = np.frombuffer(content, "<i8").astype(np.int64)
    count = int(words[0])
    tables, at = [], 1 + 2 * count
    for rows, columns in words[1:at].reshape(count, 2).tolist():
        size = rows * abs(columns)
        tables.append(words[at : at + size].reshape((rows, columns) if columns >= 0 else rows))
        at += size
    return tables


def key_groups(w: Arrays, o: int) -> tuple[int, int]:
    """Scheme and number of operator o's key groups: those of an inbound hash edge, otherwise a single group."""
    hashed = w.edge[(w.edge[:, L.E_TARGET] == o) & (w.edge[:, L.E_KIND] == L.HASH)]
    return (int(hashed[0, L.E_SCHEME]), int(hashed[0, L.E_GROUPS])) if len(hashed) else (L.SCHEME_KEY_GROUPS, 1)


def route(world: World, o: int, first: int, end: int, index: int) -> None:
    """Route records of key groups [first, end) to instance `index` of operator o from now on. Messages in flight are not rerouted."""
    w = world.arrays
    for edge in w.edge[(w.edge[:, L.E_TARGET] == o) & (w.edge[:, L.E_KIND] == L.HASH)]:
        w.route[int(edge[L.E_ROUTE]) + first : int(edge[L.E_ROUTE]) + end] = index


def capture(world: World, keeping: Keeping, i: int, first: int, end: int) -> KeyedState:
    """Copy the state of key groups [first, end) in instance i. Call it between instants. Raises CannotMove."""
    w = world.arrays
    return _packed(w, keeping, i, _chosen(w, keeping, _entries(w, keeping, i), i, first, end))


def take(world: World, keeping: Keeping, i: int, first: int, end: int) -> KeyedState:
    """Take the state of key groups [first, end) out of instance i. Call it between instants. Raises CannotMove."""
    _no_tick_waits(world, i)
    w = world.arrays
    entries = _entries(w, keeping, i)
    return _taken(w, keeping, i, entries, _chosen(w, keeping, entries, i, first, end))


def bytes_of_keys(world: World, keeping: Keeping, i: int, keys: Collection[int]) -> int:
    """Bytes of the state of these keys in instance i, as accounted by the operator."""
    w = world.arrays
    return _packed(w, keeping, i, _of_keys(w, _entries(w, keeping, i), keys)).state_bytes


def take_keys(world: World, keeping: Keeping, i: int, keys: Collection[int]) -> KeyedState:
    """Take the state of these keys out of instance i, which may have none of some. Call it between instants. Raises CannotMove."""
    _no_tick_waits(world, i)
    w = world.arrays
    entries = _entries(w, keeping, i)
    return _taken(w, keeping, i, entries, _of_keys(w, entries, keys))


def _of_keys(w: Arrays, entries: Words, keys: Collection[int]) -> Words:
    chosen: Words = entries[np.isin(w.entry[entries, L.S_KEY], np.array(sorted(keys), np.int64))]
    return chosen


def _taken(w: Arrays, keeping: Keeping, i: int, entries: Words, chosen: Words) -> KeyedState:
    """entries: all of the instance."""
    state = _packed(w, keeping, i, chosen)
    state_transfer.drop_entries(w, chosen, *_rows_at(w, i), *_heads_at(w, i))
    _account(w, i, -len(chosen), -state.state_bytes)
    _relink(w, keeping, i, entries[~np.isin(entries, chosen)])
    return state


def put(world: World, keeping: Keeping, i: int, state: KeyedState) -> None:
    """Add the state to instance i, which must have the same watermark. Raises CannotMove, with nothing changed."""
    _no_tick_waits(world, i)
    w = world.arrays
    operator, watermark_ns, pane_end_ns, stamps = state.about.tolist()
    if w.inst[i, L.I_OP] != operator or w.g[L.G_STAMPS] != stamps:
        raise CannotMove("the state belongs to another operator or run; put it into an instance of the operator that it was taken from")
    if w.inst[i, L.I_WATERMARK] != watermark_ns:
        raise CannotMove(
            f"the state is at watermark {watermark_ns}, the instance at {w.inst[i, L.I_WATERMARK]}; move state between equal watermarks"
        )
    present = _entries(w, keeping, i)
    if np.isin(state.entries[:, L.S_KEY], w.entry[present, L.S_KEY]).any():
        raise CannotMove("the instance already holds state of one of these keys; a key group belongs to one instance at a time")
    for reason, free, wanted in (
        (L.NEED_ENTRIES, L.G_ENTRIES_FREE, len(state.entries) + len(state.values)),
        (L.NEED_ROWS, L.G_ROWS_FREE, len(state.rows)),
        (L.NEED_PANES, L.G_PANES_FREE, len(state.entries)),
    ):
        if w.g[free] < wanted:
            w.g[L.G_NEED] = wanted
            world.grow(reason)
            w = world.arrays
    made = np.zeros(len(state.entries), np.int64)
    content = (state.entries, state.rows, state.row_counts, state.values, state.value_counts)
    state_transfer.unpack(w, i, *content, *_rows_at(w, i), *_heads_at(w, i), made)
    _account(w, i, len(made), state.state_bytes)
    w.inst[i, L.I_PANE_END] = min(int(w.inst[i, L.I_PANE_END]), pane_end_ns)
    _relink(w, keeping, i, np.concatenate([present, made]))


def part(state: KeyedState, w: Arrays, o: int, first: int, end: int) -> KeyedState:
    """The state of key groups [first, end) of its operator o, as `capture` would have returned it."""
    return _of_groups(state, _within(state, w, o, first, end))


def rest(state: KeyedState, w: Arrays, o: int, first: int, end: int) -> KeyedState:
    """The state without key groups [first, end): the complement of `part`."""
    return _of_groups(state, ~_within(state, w, o, first, end))


def _within(state: KeyedState, w: Arrays, o: int, first: int, end: int) -> NDArray[np.bool_]:
    group = _groups_of(state.entries[:, L.S_KEY], *key_groups(w, o))
    found: NDArray[np.bool_] = (group >= first) & (group < end)
    return found


def _of_groups(state: KeyedState, chosen: NDArray[np.bool_]) -> KeyedState:
    return KeyedState(
        state.entries[chosen],
        state.rows[np.repeat(chosen, state.row_counts.sum(axis=1))],
        state.row_counts[chosen],
        state.values[np.repeat(chosen, state.value_counts.sum(axis=1))],
        state.value_counts[chosen],
        state.sizes[chosen],
        state.about,
    )


def bytes_by_group(state: KeyedState, w: Arrays, o: int) -> Words:
    """Bytes by key group. Shape (key groups of operator o,)."""
    scheme, groups = key_groups(w, o)
    found = np.zeros(groups, np.int64)
    np.add.at(found, _groups_of(state.entries[:, L.S_KEY], scheme, groups), state.sizes)
    return found


def relink(world: World, i: int) -> None:
    """Rebuild the indexes over the entries of instance i, and its ticks."""
    w = world.arrays
    keeping = world.keepings[int(w.inst[i, L.I_OP])]
    if keeping is not None:
        _relink(w, keeping, i, _entries(w, keeping, i))


def parameters(w: Arrays, i: int) -> int:
    """Start of the parameters of the instance's operator in `par`."""
    return int(w.op[w.inst[i, L.I_OP], L.O_PARAMS])


def rows_of(w: Arrays, i: int, entries: Words) -> tuple[Words, Words]:
    """Numbers of the rows stored by entries of instance i, by entry, then side, in order of storage; and their counts, (n, sides)."""
    counts = _row_counts(w, i, w.entry[entries])
    rows = np.zeros(int(counts.sum()), np.int64)
    state_transfer.walk_rows(w, entries, counts, _rows_at(w, i)[0], rows)
    return rows, counts


def _row_counts(w: Arrays, i: int, entries: Words) -> Words:
    """Number of stored rows by entry and side, (n, sides). entries: (n, columns)."""
    return np.ascontiguousarray(entries[:, counts_of_rows(w, i)])


def counts_of_rows(w: Arrays, i: int) -> list[int]:
    """The columns of an entry with its number of stored rows, by side."""
    first, sides = _rows_at(w, i)
    return [first - 1 + side * L.S_SIDE if sides == 2 else L.S_COUNT for side in range(sides)]


def entries_by_key(w: Arrays, i: int) -> Words:
    """All entries of an instance, sorted by key, then pane (start for sessions): their places depend on how the run was cut."""
    fresh, freed = int(w.g[L.G_ENTRY_FRESH]), int(w.g[L.G_ENTRIES_FREED])
    changed = freed, int(w.g[L.G_ENTRIES_USED]) - fresh + freed  # entries freed and used again
    found: _Owned | None = w.known.get("entries by owner")
    if found is None or found.changed != changed:
        found = w.known["entries by owner"] = _Owned(0, changed, [])
    if found.fresh < fresh:  # entries that are new since the last call
        owners = np.minimum(w.entry[found.fresh : fresh, L.S_OWNER], len(w.inst))  # distinct values have owners beyond; free entries -1
        order = np.argsort(owners, kind="stable")
        found.parts.append((found.fresh + order, np.searchsorted(owners[order], np.arange(len(w.inst) + 1))))
        found.fresh = fresh
    parts = [numbers[starts[i] : starts[i + 1]] for numbers, starts in found.parts]
    numbers = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    return numbers[np.lexsort(w.entry[numbers][:, [L.S_VALUES, L.S_PANE, L.S_KEY]].T)]


@dataclass
class _Owned:
    """Owners of the entries below `fresh`, valid until one is freed or reused.

    changed: counts of entries freed and reused so far. parts: (numbers, start of each instance's range), one per stretch of the table.
    """

    fresh: int
    changed: tuple[int, int]
    parts: list[tuple[Words, Words]]


def entries_of_panes(w: Arrays, first: int, lists: int) -> Words:
    """Entries in the panes of some lists: by list, pane and place in the pane."""
    found = np.zeros(int(w.g[L.G_ENTRIES_USED]), np.int64)
    return found[: state_transfer.walk_panes(w, first, lists, found)]


def relink_panes(w: Arrays, i: int, entries: Words, first: int, scheme: int, groups: int, size_ns: int, processing: int) -> None:
    """Put all entries of an instance into panes of its lists, in order. size_ns: length of the panes."""
    state_transfer.relink_panes(w, i, entries, first, scheme, groups, size_ns, processing)


def _no_tick_waits(world: World, i: int) -> None:
    if any(world.arrays.msg[slot, L.M_KIND] == L.TICK for slot in world.queue(i)):
        raise CannotMove("a tick is queued, and the panes that it ends must not move; move state before the tick or after its service")


def _entries(w: Arrays, keeping: Keeping, i: int) -> Words:
    if w.inst[i, L.I_ENTRIES] == 0:
        return np.zeros(0, np.int64)
    return entries_by_key(w, i) if keeping.in_order is None else keeping.in_order(w, i)


def _chosen(w: Arrays, keeping: Keeping, entries: Words, i: int, first: int, end: int) -> Words:
    scheme, groups = key_groups(w, int(w.inst[i, L.I_OP]))
    if not 0 <= first <= end <= groups:
        raise CannotMove(f"key groups [{first}, {end}) are not within [0, {groups})")
    if (first, end) == (0, groups):
        return entries
    if not keeping.by_key_groups:
        raise CannotMove(f"key groups [{first}, {end}) of {groups} are asked for, but this state can only be moved as a whole")
    group = _groups_of(w.entry[entries, L.S_KEY], scheme, groups)
    chosen: Words = entries[(group >= first) & (group < end)]
    return chosen


def _groups_of(keys: Words, scheme: int, groups: int) -> Words:
    found = np.zeros(len(keys), np.int64)
    state_transfer.groups_of_keys(np.ascontiguousarray(keys), scheme, groups, found)
    return found


def _rows_at(w: Arrays, i: int) -> tuple[int, int]:
    """Column of an entry's first stored row, and how many sides it stores: 0 if none."""
    o = w.op[w.inst[i, L.I_OP]]
    if o[L.O_ROW_WORDS] == 0:
        return 0, 0
    return (int(o[L.O_FIRST_ROW]), 1) if o[L.O_FIRST_ROW] else (L.S_LEFT + 1, 2)


def _heads_at(w: Arrays, i: int) -> tuple[int, int]:
    """Column of an entry's first distinct value, and how many such columns there are."""
    o = w.op[w.inst[i, L.I_OP]]
    return int(o[L.O_HEADS]), int(o[L.O_HEADS_COUNT])


def _packed(w: Arrays, keeping: Keeping, i: int, chosen: Words) -> KeyedState:
    (first, sides), (head, heads) = _rows_at(w, i), _heads_at(w, i)
    entries = w.entry[chosen]
    row_counts = _row_counts(w, i, entries) if sides else np.zeros((len(chosen), 0), np.int64)
    rows = np.empty((int(row_counts.sum()), w.row.shape[1]), np.int64)
    if len(rows):
        state_transfer.copy_rows(w, chosen, row_counts, first, rows)
    value_counts = np.zeros((len(chosen), heads), np.int64)
    values = np.zeros((int(w.g[L.G_ENTRIES_USED]) if heads else 0, 2), np.int64)
    values = values[: state_transfer.walk_values(w, chosen, head, heads, value_counts, values)].copy()
    return _without_places(w, keeping, i, entries, rows, row_counts, values, value_counts)


def assembled(world: World, keeping: Keeping, i: int, entries: Words, rows: Words, row_counts: Words) -> KeyedState:
    """State of an instance without distinct values, from words of entries and rows that were copied one by one while it ran. Its watermark
    is that of the instance. Shapes as in `KeyedState`."""
    w = world.arrays
    heads = _heads_at(w, i)[1]
    none, counts = np.zeros((0, 2), np.int64), np.zeros((len(entries), heads), np.int64)
    entries = entries.copy()
    entries[:, counts_of_rows(w, i)] = row_counts
    state = _without_places(w, keeping, i, entries, rows.copy(), row_counts, none, counts)
    if len(entries):  # none of its panes ends before the first one begins
        state.about[2] = min(int(state.about[2]), int(entries[:, L.S_PANE].min()))
    return state


def places(w: Arrays, keeping: Keeping, i: int) -> tuple[list[int], list[int]]:
    """Columns of the entries and of the rows of instance i that say where something lies, or nothing at all."""
    (first, sides), (head, heads) = _rows_at(w, i), _heads_at(w, i)
    of_entries = [L.S_NEXT, L.S_SIBLING, *range(head, head + heads)]
    for side in range(sides):
        of_entries += [first + side * L.S_SIDE, first + side * L.S_SIDE + 1]
    if keeping.links is not None:
        of_entries += keeping.links(w, parameters(w, i))
    words, stamps = int(w.op[w.inst[i, L.I_OP], L.O_ROW_WORDS]), int(w.g[L.G_STAMPS])
    return of_entries, [L.R_NEXT, *range(L.R_EVENT + words, w.row.shape[1] - stamps)]


def _without_places(
    w: Arrays, keeping: Keeping, i: int, entries: Words, rows: Words, row_counts: Words, values: Words, value_counts: Words
) -> KeyedState:
    """The state of these words, which it takes over, less what depends on where they lay."""
    of_entries, of_rows = places(w, keeping, i)
    entries[:, of_entries], rows[:, of_rows] = 0, 0
    about = [w.inst[i, L.I_OP], w.inst[i, L.I_WATERMARK], w.inst[i, L.I_PANE_END], w.g[L.G_STAMPS]]
    sizes = keeping.sizes(w, parameters(w, i), entries, value_counts.sum(axis=1))
    return KeyedState(entries, rows, row_counts, values, value_counts, sizes, np.array(about, np.int64))


def _account(w: Arrays, i: int, entries: int, state_bytes: int) -> None:
    w.inst[i, L.I_ENTRIES] += entries
    w.inst[i, L.I_STATE_BYTES] += state_bytes
    w.tally[i, L.Y_STATE] += state_bytes  # its host counts it at once
    w.memory[w.inst[i, L.I_HOST], L.Z_STATE] += state_bytes


def _relink(w: Arrays, keeping: Keeping, i: int, entries: Words) -> None:
    if keeping.relink is None:
        return
    keeping.relink(w, i, entries)
    h, tick_ns = int(w.inst[i, L.I_HOST]), int(w.inst[i, L.I_TICK])
    w.host[h, L.H_TICK] = min(int(w.host[h, L.H_TICK]), tick_ns)
    w.next_ns[h] = min(int(w.next_ns[h]), tick_ns)
