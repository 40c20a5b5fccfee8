"""Finds useless checkpoints: those that no consistent line can ever hold, whatever checkpoints the other instances still take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .recovery_line import CheckpointRecord

Words = NDArray[np.int64]


def useless_checkpoints(checkpoints: Sequence[int], messages: Words) -> list[tuple[int, int]]:
    """(instance, index) of all useless checkpoints, ascending.

    checkpoints: how many each instance has taken, the start not counted. messages: (n, 4), for each processed one the sender, the index of
    the sender's last checkpoint before the send (0: the start), the receiver, and that of its last checkpoint before the processing; any
    order, and as often as they like. Raises ValueError for a message of an interval that is not there.

    A checkpoint is useless just if it lies on a Z-cycle: a chain of messages from behind it to before it, each sent in the interval in
    which the one before was processed or in a later one. In the graph whose nodes are the intervals between checkpoints, with an edge to an
    instance's next interval and one for each message, the intervals on both sides of it are then in one strongly connected component.

    Source: Netzer and Xu 1995, "Necessary and sufficient conditions for consistent global snapshots"; Siachamis 2024, 3.3.3.
    """
    from scipy import sparse  # half a second, for those who ask

    intervals = np.array(checkpoints, np.int64) + 1
    first = np.cumsum(intervals) - intervals
    nodes = int(intervals.sum())
    sender, sent_in, receiver, processed_in = messages.reshape(-1, 4).T
    for instance, interval in ((sender, sent_in), (receiver, processed_in)):
        there = (instance >= 0) & (instance < len(intervals))
        if not there.all() or not ((interval >= 0) & (interval < intervals[instance])).all():
            raise ValueError("a message is of an instance or an interval that is not there")
    within = np.delete(np.arange(nodes), first + intervals - 1)  # all intervals that another one follows
    tails = np.concatenate([within, first[sender] + sent_in])
    heads = np.concatenate([within + 1, first[receiver] + processed_in])
    graph = sparse.coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(nodes, nodes)).tocsr()
    _, component = sparse.csgraph.connected_components(graph, connection="strong")
    useless = within[component[within] == component[within + 1]]
    instance = np.searchsorted(first, useless, side="right") - 1
    return [(int(i), int(index)) for i, index in zip(instance, useless - first[instance] + 1, strict=True)]


def messages_between(record: CheckpointRecord, processed: Words) -> Words:
    """The messages of a record of checkpoints as `useless_checkpoints` wants them, one for all of the same intervals.

    processed: (channels,) the number of the last message that was processed of each, at the end.
    """
    found: list[tuple[int, int, int, int]] = []
    for c, channel in enumerate(record.channels):
        sent, served = record.sent_on(c), record.processed_on(c)
        ends = np.append(served[1:], processed[c])
        for interval in np.flatnonzero(ends > served).tolist():  # messages served + 1 .. ends
            first, last = np.searchsorted(sent, [served[interval] + 1, ends[interval]], side="left") - 1
            found += [(channel.sender, x, channel.receiver, interval) for x in range(first, last + 1)]
    return np.array(found, np.int64).reshape(-1, 4)
