"""Detects senders on a cycle that wait for one another's credits and so never send again (docs/event-core.md, section 9)."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.tables import Arrays, Words


def standing_channels(w: Arrays) -> Words:
    """Numbers of the channels on which these senders wait, ascending. Empty without a deadlock.

    A blocked sender waits for one channel: its credit is in flight, or its receiver must take a record first. A receiver that is itself
    blocked takes none. So senders wait forever exactly if their waits form a cycle.
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
