"""The checkpoint graph, and rollback propagation on it round by round, as it is published: for pages that show it, and small records.

`recovery_line` finds the same line in records of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .recovery_line import CheckpointRecord, Line, RecoveryGraph


class Node(NamedTuple):
    """checkpoint: its index among those of the instance; 0 is the start."""

    instance: int
    checkpoint: int


class Edge(NamedTuple):
    """channel: on which a message was sent after the tail was taken and before its next, and processed before the head was taken and after
    the one before it; None between two checkpoints of an instance that follow each other."""

    tail: Node
    head: Node
    channel: int | None


class Round(NamedTuple):
    """root: the line that is tried. marked: instances whose member is reachable from a member of the root, ascending."""

    root: Line
    marked: tuple[int, ...]


def checkpoint_graph(record: CheckpointRecord, recovery_graph: RecoveryGraph = "strict") -> list[Edge]:
    """All edges, those of instances first, then those of the channels that count. A path from one member of a line to another is an orphan.

    Source: Siachamis 2024, 3.3.2, Figure 3.4(a), after Wang, Chung, Lin and Fuchs 1995, "Checkpoint space reclamation for
    uncoordinated checkpointing in message-passing systems".
    """
    edges = [Edge(Node(i, index), Node(i, index + 1), None) for i, newest in enumerate(record.newest) for index in range(newest)]
    for number in np.flatnonzero(record.counted(recovery_graph)):
        channel = int(number)
        sender, receiver, _ = record.channels[channel]
        if sender != receiver:  # what an instance sends to itself keeps no checkpoint from another
            sent, processed = record.sent_on(channel), record.processed_on(channel)
            # numbers (first[x], last[x]] were sent after x, (before[y], up_to[y]] processed in front of y + 1
            first, last = sent[:, None], np.append(sent[1:], np.iinfo(np.int64).max)[:, None]
            before, up_to = processed[None, :-1], processed[None, 1:]
            meet = np.maximum(first, before) < np.minimum(last, up_to)
            edges += [Edge(Node(sender, int(x)), Node(receiver, int(y) + 1), channel) for x, y in np.argwhere(meet)]
    return edges


def rollback_propagation(newest: Sequence[int], edges: Iterable[Edge]) -> list[Round]:
    """The rounds from the newest checkpoint of each instance to the recovery line, which is the root of the last round: nothing is marked
    there. In between every marked member is replaced by its instance's next older checkpoint that no member reaches.

    Source: Siachamis 2024, Algorithm 2.
    """
    heads: dict[Node, list[Node]] = {}
    for edge in edges:
        heads.setdefault(edge.tail, []).append(edge.head)
    root = list(newest)
    rounds = []
    while True:
        reached = _strictly_reachable([Node(i, index) for i, index in enumerate(root)], heads)
        marked = [i for i, index in enumerate(root) if (i, index) in reached]
        rounds.append(Round(tuple(root), tuple(marked)))
        if not marked:
            return rounds
        for i in marked:
            while (i, root[i]) in reached:  # nothing leads to the start, so this ends
                root[i] -= 1


def _strictly_reachable(start: Iterable[Node], heads: dict[Node, list[Node]]) -> set[Node]:
    """What a path of at least one edge leads to."""
    reached: set[Node] = set()
    waiting = list(start)
    while waiting:
        new = set(heads.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached
