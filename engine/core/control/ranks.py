"""Control over the choice of the next item, between two calls of the loop: scheduling policies rank instances or hold them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.kernels import bulk
from engine.core.kernels.dispatch import empty_turns, look_at
from engine.core.tables import Arrays, Words
from engine.core.world import World

HELD = L.FAR
"""Rank of an instance that is not served until it gets another rank."""


def rank(world: World, ranks: Mapping[int, int], now_ns: int) -> None:
    """Rank instances by number; see `set_ranks`."""
    set_ranks(world, np.array([*ranks], np.int64), np.array([*ranks.values()], np.int64), now_ns)


def set_ranks(world: World, instances: Words, ranks: Words, now_ns: int) -> None:
    """Rank instances; the lowest rank is served first. Instances not named keep their rank (initially 0). One that is held gets its rank
    when it is released. Shape (n,) each.

    For controls (`engine.core.control.policy`). The hosts of these instances choose again at `now_ns`; a service in progress is not
    interrupted.
    """
    w = world.arrays
    w.tally[instances, L.Y_RANK] = ranks
    w.inst[instances, L.I_RANK] = np.where(w.tally[instances, L.Y_HELD] == 1, HELD, ranks)
    hosts = np.unique(w.inst[instances, L.I_HOST])
    _choose_anew(world, hosts.tolist(), now_ns)


def _choose_anew(world: World, hosts: Iterable[int], now_ns: int) -> None:
    w = world.arrays
    for h in hosts:
        w.host[h, L.H_RANKED] = 1
        if w.host[h, L.H_BACK] > 0:
            continue  # it is down, and chooses again when it is up
        if w.host[h, L.H_DISPATCH] != L.DISPATCH_SCAN:
            bulk.choose_anew(w, h)
        w.host[h, L.H_RESUME] = w.next_ns[h] = max(now_ns, int(w.host[h, L.H_PAUSED]))


def watch(world: World, host: int, instances: Words) -> None:
    """Watch these instances of a host, and no others of it. When the watermark of one has risen, the control is asked to choose anew
    (`engine.core.control.policy.Chooser`). For controls with `features = ("watching",)`."""
    w = world.arrays
    w.tally[w.inst[:, L.I_HOST] == host, L.Y_WATCHED] = 0
    w.tally[instances, L.Y_WATCHED] = 1


def set_held(w: Arrays, instances: Any, held: bool) -> None:
    """Hold instances, whatever their ranks, or let them have these again. instances: numbers, or a mask."""
    w.tally[instances, L.Y_HELD] = int(held)
    w.inst[instances, L.I_RANK] = HELD if held else w.tally[instances, L.Y_RANK]


def hold(world: World, instances: Words, held: bool, now_ns: int) -> None:
    """The same for a control, between instants: the hosts of these instances choose again at `now_ns`. A service in progress goes on."""
    w = world.arrays
    set_held(w, instances, held)
    _choose_anew(world, np.unique(w.inst[instances, L.I_HOST]).tolist(), now_ns)


def is_held(w: Arrays, i: int) -> bool:
    return bool(w.tally[i, L.Y_HELD] == 1)


def look_again(world: World, instances: Iterable[int], now_ns: int) -> None:
    """Let the hosts of these instances choose again at `now_ns`. Call it after changing the work of instances."""
    w = world.arrays
    for i in instances:
        h = int(w.inst[i, L.I_HOST])
        if w.host[h, L.H_BACK] > 0:
            continue  # it is down, and chooses again when it is up
        if w.host[h, L.H_DISPATCH] != L.DISPATCH_SCAN:
            _forget_log(w, h, i)
            if w.inst[i, L.I_LISTED] == L.LISTED_HEAP:
                empty_turns(w, h)  # type: ignore[no-untyped-call]
            look_at(w, h, i)  # type: ignore[no-untyped-call]
        w.host[h, L.H_RESUME] = w.next_ns[h] = max(now_ns, int(w.host[h, L.H_PAUSED]))


def _forget_log(w: Arrays, h: int, i: int) -> None:
    """Remove the instance's next log record from its host's heap of due times; it may have changed."""
    if w.inst[i, L.I_AWAITS] == 0:
        return
    first, size = 2 * int(w.host[h, L.H_MEMBER]), int(w.host[h, L.H_AGENDA])
    due = w.agenda[first : first + size]
    kept = due[due[:, L.DUE_WHO] != len(w.inst) + i]
    w.agenda[first : first + len(kept)] = kept[np.lexsort((kept[:, L.DUE_WHO], kept[:, L.DUE_KEY]))]  # a sorted array is a heap
    w.host[h, L.H_AGENDA] = len(kept)
    w.inst[i, L.I_AWAITS] = 0
