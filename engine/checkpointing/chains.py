"""Chains of checkpoints: a whole one, then what changed from one to the next. Issued by the worker of a machine, by instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from engine.core import layout as L
from engine.core.control.instance_checkpoint import Checkpoint
from engine.core.control.keyed_state import KeyedState
from engine.core.control.state_delta import StateDelta, applied, difference, size_of
from engine.core.world import World
from engine.spec.base.origins import constant

from . import messages as M

TOMBSTONE_BYTES = constant(16, "assumed", "the key of an entry or stored record that is gone")


@dataclass
class Chain:
    """The chain of an instance, up to its last checkpoint. start, last: numbers of the first and last link. length: number of links. state:
    what the last one restores."""

    start: int
    last: int
    length: int
    state: KeyedState

    def to_words(self) -> list[Any]:
        return [self.start, self.last, self.length, self.state.to_bytes()]

    @classmethod
    def from_words(cls, words: Sequence[Any]) -> Chain:
        start, last, length, content = words
        return cls(start, last, length, KeyedState.from_bytes(content))


@dataclass(frozen=True)
class Link:
    """A checkpoint as it is stored. start: number of the whole one that its chain begins with, its own if it is whole. base: number of the
    link before it, 0 for none."""

    checkpoint: Checkpoint
    state_bytes: int
    start: int
    base: int = 0


def next_link(world: World, i: int, number: int, checkpoint: Checkpoint, chain: Chain | None, most: int) -> tuple[Link, Chain]:
    """The next checkpoint of an instance that keeps state, and its chain with it. most: links of a chain."""
    state = checkpoint.state
    assert state is not None
    if chain is None or chain.length >= most:
        return Link(checkpoint, state.state_bytes, number), Chain(number, number, 1, state)
    delta = difference(chain.state, state)
    keeping = world.keepings[int(world.arrays.inst[i, L.I_OP])]
    assert keeping is not None
    written_bytes, gone = size_of(world.arrays, keeping, i, chain.state, delta)
    link = Link(replace(checkpoint, keyed=delta.tables), written_bytes + TOMBSTONE_BYTES * gone, chain.start, chain.last)
    return link, Chain(chain.start, number, chain.length + 1, state)


def restored(links: Iterable[Checkpoint]) -> Checkpoint:
    """The checkpoint that a chain restores. links: all of it, from the whole one on."""
    first, *others = links
    if not others:
        return first
    state = first.state
    assert state is not None
    for link in others:
        state = applied(state, StateDelta(*link.keyed))
    return replace(others[-1], keyed=tuple(getattr(state, field.name) for field in fields(state)))


def linked(rows: Sequence[Sequence[int]], known: Iterable[list[int]]) -> list[list[int]]:
    """The rows (`messages.TAKEN`) of all links that the checkpoints in `rows` need, themselves included, each chain from its whole one on.
    known: rows of all checkpoints that are stored. Raises ValueError for a link that is missing."""
    if all(row[M.BASE] == 0 for row in rows):
        return [list(row) for row in rows]
    wanted = {row[M.INSTANCE] for row in rows if row[M.BASE]}
    by_name = {(row[M.INSTANCE], row[M.NUMBER]): row for row in known if row[M.INSTANCE] in wanted}
    found = []
    for row in rows:
        chain = [list(row)]
        while chain[-1][M.BASE]:
            before = by_name.get((row[M.INSTANCE], chain[-1][M.BASE]))
            if before is None:
                raise ValueError(f"checkpoint {row[M.NUMBER]} of instance {row[M.INSTANCE]} needs {chain[-1][M.BASE]}, which is not stored")
            chain.append(list(before))
        found += chain[::-1]
    return found
