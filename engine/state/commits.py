"""Commits of the tasks of a host: input positions are noted, stores are written out and flushed, and the positions become durable.

A position may only become durable when what was read before it is in the stores. Operators of a host pass records on through channels, so a
commit waits until all that had been read when it began has been served. Later records may be in the stores, too: at least once.

Source: Chronarakis 2019, 2.2 and 4.3 (specification of incremental checkpointing, A3: both orders of the two durable steps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.core.control.instance_checkpoint import Checkpoint
from engine.core.control.ranks import hold
from engine.core.tables import Arrays
from engine.core.world import World

LOOK_NS = 1_000_000
"""Time between two looks at whether the records before a commit have been served."""
SERVING, FLUSHING, NOTING, ENDED = "serving", "flushing", "noting", "ended"
Positions = dict[int, Checkpoint]
"""By source instance."""


class CommittedStores(Protocol):
    """The stores of a host."""

    def write_out(self, now_ns: int) -> int:
        """Write out and flush. Returns when all of it is on disk and in the logs."""
        ...

    def end_commit(self) -> None:
        """The positions are durable."""
        ...

    def strikes(self, now_ns: int, commit: int, step: str) -> bool:
        """Whether the host will now be lost, before this step of its commit."""
        ...


@dataclass
class Commit:
    """A commit under way. step: what it waits for. due_ns: when to look again. level: which operators are still to serve what came before,
    by distance from the sources. sent: by channel into this level, how many records. serving: by instance, start of the service that has
    to end."""

    began_ns: int
    positions: Positions
    step: str = SERVING
    due_ns: int = 0
    level: int = 0
    sent: dict[int, int] = field(default_factory=dict)
    serving: dict[int, int] | None = None


class Commits:
    """Commits of the tasks of one host. durable: the positions from which its sources read again after a crash. begun: how many
    there were."""

    def __init__(self, levels: Sequence[Sequence[int]], offset_first: bool, exact: bool, request_ns: int):
        """levels: instances of the host by distance from the sources, those with stores and all before them. offset_first: whether the
        positions become durable before the stores are flushed. exact: whether sources stop reading until the stores are written out, so
        that these hold what was read before the positions and nothing else. request_ns: of the request that makes positions durable."""
        self.levels, self.offset_first, self.exact, self.request_ns = levels, offset_first, exact, request_ns
        self.sources = list(levels[0]) if levels else []
        self.under_way: Commit | None = None
        self.durable: Positions = {}
        self.begun = 0

    @property
    def next_ns(self) -> int:
        return L.FAR if self.under_way is None else self.under_way.due_ns

    def begin(self, world: World, now_ns: int) -> None:
        """Note the positions, unless the commit before has not ended."""
        if self.under_way is None:
            self.begun += 1
            self.under_way = Commit(now_ns, self._positions(world), due_ns=now_ns)
            if self.exact:
                hold(world, np.array(self.sources, np.int64), True, now_ns)

    def _positions(self, world: World) -> Positions:
        return {i: instance_checkpoint.capture(world, i) for i in self.sources}

    def crash(self) -> None:
        """A commit that has not ended never does."""
        self.under_way = None

    def act(self, world: World, now_ns: int, stores: CommittedStores) -> None:
        """Go on, as far as possible."""
        while (commit := self.under_way) is not None and commit.due_ns <= now_ns:
            if commit.step == SERVING and not self._served(world, commit):
                commit.due_ns = now_ns + LOOK_NS
            elif commit.step == SERVING:
                commit.positions = self._positions(world) if self.exact else commit.positions
                self._enter(world, NOTING if self.offset_first else FLUSHING, now_ns, stores)
            elif commit.step == NOTING and stores.strikes(now_ns, self.begun, "offset"):
                commit.due_ns = L.FAR
            elif commit.step == NOTING:
                self.durable = commit.positions
                stores.end_commit()
                self._enter(world, FLUSHING if self.offset_first else ENDED, now_ns, stores)
            else:
                self._enter(world, ENDED if self.offset_first else NOTING, now_ns, stores)

    def _enter(self, world: World, step: str, now_ns: int, stores: CommittedStores) -> None:
        assert self.under_way is not None
        if step == ENDED:
            self.under_way = None
        elif step == NOTING:
            self.under_way.step, self.under_way.due_ns = step, now_ns + self.request_ns
        elif stores.strikes(now_ns, self.begun, "flush"):
            self.under_way.due_ns = L.FAR
        else:
            self.under_way.step, self.under_way.due_ns = step, stores.write_out(now_ns)
            if self.exact:
                hold(world, np.array(self.sources, np.int64), False, now_ns)

    def _served(self, world: World, commit: Commit) -> bool:
        """Whether all that was read when the commit began has been served."""
        w = world.arrays
        while commit.level < len(self.levels):
            here = self.levels[commit.level]
            if any(w.carried[c, L.SEQ_PROCESSED] < sent for c, sent in commit.sent.items()):
                return False
            if commit.serving is None:
                commit.serving = {i: began_ns for i in here if (began_ns := serves_since_ns(w, i)) is not None}
            if any(serves_since_ns(w, i) == began_ns for i, began_ns in commit.serving.items()):
                return False
            if (w.inst[list(here), L.I_OUT] >= 0).any():
                return False
            commit.level, commit.serving = commit.level + 1, None
            if commit.level < len(self.levels):
                channels = np.concatenate([world.entering[i] for i in self.levels[commit.level]])
                commit.sent = dict(zip(channels.tolist(), w.carried[channels, L.SEQ_SENT].tolist(), strict=True))
        return True

    # -- saving --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        commit = self.under_way
        if commit is not None:
            sent, serving = _pairs(commit.sent), None if commit.serving is None else _pairs(commit.serving)
            step = [commit.began_ns, commit.step, commit.due_ns, commit.level, sent, serving, _to_bytes(commit.positions)]
        return [self.begun, _to_bytes(self.durable), None if commit is None else step]

    def restore(self, state: Any) -> None:
        self.begun, durable, commit = state
        self.durable, self.under_way = _from_bytes(durable), None
        if commit is not None:
            began_ns, step, due_ns, level, sent, serving, positions = commit
            serving = None if serving is None else dict(serving)
            self.under_way = Commit(began_ns, _from_bytes(positions), step, due_ns, level, dict(sent), serving)


def serves_since_ns(w: Arrays, i: int) -> int | None:
    """When the service in progress of an instance began, None if it serves nothing."""
    if w.inst[i, L.I_STATUS] != L.SERVING:
        return None
    return int(w.proc[w.proc[:, L.P_INSTANCE] == i, L.P_START][0])


def closes(w: Arrays, i: int) -> bool:
    """Whether an instance is closing windows, whose results leave when that has ended."""
    return bool(w.inst[i, L.I_STATUS] == L.SERVING and w.inst[i, L.I_KIND] != L.RECORD)


def _pairs(numbers: dict[int, int]) -> list[list[int]]:
    return [list(pair) for pair in numbers.items()]


def _to_bytes(positions: Positions) -> list[list[Any]]:
    return [[i, position.to_bytes()] for i, position in positions.items()]


def _from_bytes(state: Any) -> Positions:
    return {i: Checkpoint.from_bytes(content) for i, content in state}
