"""Find useless checkpoints: those that can be on no consistent line, whatever checkpoints the other instances will take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .recovery_line import CheckpointRecord

Words = NDArray[np.int64]


def useless_checkpoints(checkpoints: Sequence[int], messages: Words) -> list[tuple[int, int]]:
    """Return (instance, index) of all useless checkpoints, ascending.

    checkpoints: number of checkpoints of each instance, without the initial state. messages: (n, 4), for each processed message the sender,
    the index of the sender's last checkpoint before the send (0: the initial state), the receiver, and the index of its last checkpoint
    before the processing; in any order, duplicates allowed. Raises ValueError for a message of an unknown interval.

    A checkpoint is useless if and only if it lies on a Z-cycle: a chain of messages from after it to before it, each sent in the interval
    in which the previous one was processed, or in a later one. Equivalently, in the graph whose nodes are the intervals between
    checkpoints, with an edge to the instance's next interval and one per message, the intervals on both sides of it are in one strongly
    connected component.

    Source: Netzer and Xu 1995, "Necessary and sufficient conditions for consistent global snapshots"; Siachamis 2024, 3.3.3.
    """
    from scipy import sparse  # imported on use: it takes half a second

    intervals = np.array(checkpoints, np.int64) + 1
    first = np.cumsum(intervals) - intervals
    nodes = int(intervals.sum())
    sender, sent_in, receiver, processed_in = messages.reshape(-1, 4).T
    for instance, interval in ((sender, sent_in), (receiver, processed_in)):
        there = (instance >= 0) & (instance < len(intervals))
        if not there.all() or not ((interval >= 0) & (interval < intervals[instance])).all():
            raise ValueError("a message refers to an unknown instance or interval")
    within = np.delete(np.arange(nodes), first + intervals - 1)  # all intervals except the last ones
    tails = np.concatenate([within, first[sender] + sent_in])
    heads = np.concatenate([within + 1, first[receiver] + processed_in])
    graph = sparse.coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(nodes, nodes)).tocsr()
    _, component = sparse.csgraph.connected_components(graph, connection="strong")
    useless = within[component[within] == component[within + 1]]
    instance = np.searchsorted(first, useless, side="right") - 1
    return [(int(i), int(index)) for i, index in zip(instance, useless - first[instance] + 1, strict=True)]


def messages_between(record: CheckpointRecord, processed: Words) -> Words:
    """Return the messages of a checkpoint record for `useless_checkpoints`, one per pair of intervals.

    processed: (channels,) number of the last message processed on each, at the end.
    """
    found: list[tuple[int, int, int, int]] = []
    for c, channel in enumerate(record.channels):
        sent, served = record.sent_on(c), record.processed_on(c)
        ends = np.append(served[1:], processed[c])
        for interval in np.flatnonzero(ends > served).tolist():  # messages served + 1 .. ends
            first, last = np.searchsorted(sent, [served[interval] + 1, ends[interval]], side="left") - 1
            found += [(channel.sender, x, channel.receiver, interval) for x in range(first, last + 1)]
    return np.array(found, np.int64).reshape(-1, 4)
