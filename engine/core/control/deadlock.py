"""Finds senders on a cycle that wait for one another's credits: they never send again (docs/event-core.md, section 9)."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.tables import Arrays, Words


def standing_channels(w: Arrays) -> Words:
    """Numbers of the channels on which such senders wait, ascending; empty if there is no deadlock.

    A blocked sender waits for one channel; its credit is under way, or its receiver has to take a record first. A receiver that is itself
    blocked takes none. So senders stand for ever just if their waiting leads around in a circle.
    """
    waiting = np.flatnonzero(w.chan[:, L.C_WAITING] == 1)
    channel_of = {int(w.chan[c, L.C_SENDER]): int(c) for c in waiting}
    standing: set[int] = set()
    judged: set[int] = set()
    for start in channel_of:
        walk: list[int] = []
        here = start
        while here in channel_of and here not in judged:
            judged.add(here)
            walk.append(here)
            here = int(w.chan[channel_of[here], L.C_RECEIVER])
        if here in walk:
            standing.update(channel_of[sender] for sender in walk[walk.index(here) :])
    return np.array(sorted(standing), np.int64)
