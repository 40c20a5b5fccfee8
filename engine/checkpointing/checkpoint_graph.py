"""The checkpoint graph and rollback propagation on it, round by round, as published: for pages that show it, and small records.

`recovery_line` finds the same line for records of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .recovery_line import CheckpointRecord, Line, RecoveryGraph


class Node(NamedTuple):
    """checkpoint: its index within the instance; 0 is the initial state."""

    instance: int
    checkpoint: int


class Edge(NamedTuple):
    """channel: a message on it was sent between the tail and the sender's next checkpoint, and processed between the receiver's previous
    checkpoint and the head; None between two consecutive checkpoints of an instance."""

    tail: Node
    head: Node
    channel: int | None


class Round(NamedTuple):
    """root: the candidate line. marked: instances whose member is reachable from a member of the root, ascending."""

    root: Line
    marked: tuple[int, ...]


def checkpoint_graph(record: CheckpointRecord, recovery_graph: RecoveryGraph = "strict") -> list[Edge]:
    """Return all edges: of instances first, then of the counted channels. A path between two members of a line means an orphan message.

    Source: Siachamis 2024, 3.3.2, Figure 3.4(a), after Wang, Chung, Lin and Fuchs 1995, "Checkpoint space reclamation for
    uncoordinated checkpointing in message-passing systems".
    """
    edges = [Edge(Node(i, index), Node(i, index + 1), None) for i, newest in enumerate(record.newest) for index in range(newest)]
    for number in np.flatnonzero(record.counted(recovery_graph)):
        channel = int(number)
        sender, receiver, _ = record.channels[channel]
        if sender != receiver:  # messages of an instance to itself exclude no checkpoints
            sent, processed = record.sent_on(channel), record.processed_on(channel)
            # numbers (first[x], last[x]] were sent after x, (before[y], up_to[y]] were processed before y + 1
            first, last = sent[:, None], np.append(sent[1:], np.iinfo(np.int64).max)[:, None]
            before, up_to = processed[None, :-1], processed[None, 1:]
            meet = np.maximum(first, before) < np.minimum(last, up_to)
            edges += [Edge(Node(sender, int(x)), Node(receiver, int(y) + 1), channel) for x, y in np.argwhere(meet)]
    return edges


def rollback_propagation(newest: Sequence[int], edges: Iterable[Edge]) -> list[Round]:
    """Return the rounds from the newest checkpoints to the recovery line, which is the root of the last round, where nothing is marked.
    Between rounds, every marked member is replaced by the instance's next older checkpoint that no member reaches.

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
            while (i, root[i]) in reached:  # terminates, since no edge leads to the initial state
                root[i] -= 1


def _strictly_reachable(start: Iterable[Node], heads: dict[Node, list[Node]]) -> set[Node]:
    """Return the nodes reachable by a path of at least one edge."""
    reached: set[Node] = set()
    waiting = list(start)
    while waiting:
        new = set(heads.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached
