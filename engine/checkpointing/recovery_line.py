"""Find the line to roll back to when instances take independent checkpoints: the newest line without orphans.

An orphan is a message that the receiver's checkpoint contains as processed, but the sender's does not contain as sent. A message that is
sent but not processed at the line is in flight: a log must contain it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.origins import constant

Words = NDArray[np.int64]
Bools = NDArray[np.bool_]

Line = tuple[int, ...]
"""One checkpoint per instance, by index; 0 is the initial state, where nothing was sent or processed."""

RecoveryGraph = Literal["strict", "cross_worker_only"]
"""Which channels count. `cross_worker_only` leaves out channels within a worker, as the published measurements did; its line may contain
orphans on them, so it must not be restored."""

SEARCH_STEP_NS = constant(20, "measured")
"""Time for a coordinator to process one counter of a checkpoint. Compiled code that walks all channels takes 13 ns each on 100 workers, and
19 to 21 ns on 30, where most counters are not cached (`python -m benchmarks.line_search`, on an EPYC; rounded up)."""


class Channel(NamedTuple):
    """A FIFO channel between two instances. same_worker: both are on one worker."""

    sender: int
    receiver: int
    same_worker: bool = False


class Checkpoint(NamedTuple):
    """A checkpoint's channel counters: number (from 1; 0 before the first) of the last message sent on each output channel, and of the last
    one processed on each input channel, both in channel order. Numbers count from the start of the run, so the counter of a channel that
    was silent since the previous checkpoint is unchanged."""

    last_sent: Sequence[int] | Words
    last_processed: Sequence[int] | Words


class CheckpointRecord:
    """The restorable checkpoints, as tables of counters.

    leaving, entering: output and input channels of each instance, ascending. sent, processed: one table per instance, (checkpoints + 1, its
    output or input channels), whose row 0 is the initial state. newest: the line of the newest checkpoints.
    """

    def __init__(self, channels: Sequence[Channel], checkpoints: Sequence[Sequence[Checkpoint]]):
        """checkpoints: durable checkpoints by instance, oldest first, without the initial state.

        Raises ValueError for channels of unknown instances, and for counters that do not match the channels or that decrease.
        """
        self.channels = tuple(channels)
        leaving: list[list[int]] = [[] for _ in checkpoints]
        entering: list[list[int]] = [[] for _ in checkpoints]
        for number, channel in enumerate(self.channels):
            if not all(0 <= end < len(checkpoints) for end in channel[:2]):
                last = len(checkpoints) - 1
                raise ValueError(f"channel {number} leads from {channel.sender} to {channel.receiver}; instances are 0 .. {last}")
            leaving[channel.sender].append(number)
            entering[channel.receiver].append(number)
        self.leaving = [np.array(numbers, np.int64) for numbers in leaving]
        self.entering = [np.array(numbers, np.int64) for numbers in entering]
        self.sent = [_table(i, "last_sent", [each.last_sent for each in own], len(leaving[i])) for i, own in enumerate(checkpoints)]
        self.processed = [
            _table(i, "last_processed", [each.last_processed for each in own], len(entering[i])) for i, own in enumerate(checkpoints)
        ]
        self.newest: Line = tuple(len(own) for own in checkpoints)
        self._leaving_column = _places(self.leaving, len(self.channels))
        self._entering_column = _places(self.entering, len(self.channels))

    def sent_on(self, channel: int) -> Words:
        """Return the last number sent on the channel at each checkpoint of its sender, starting with the initial state."""
        return self.sent[self.channels[channel].sender][:, self._leaving_column[channel]]

    def processed_on(self, channel: int) -> Words:
        """Return the last number processed on the channel at each checkpoint of its receiver, starting with the initial state."""
        return self.processed[self.channels[channel].receiver][:, self._entering_column[channel]]

    def sent_at(self, line: Sequence[int]) -> Words:
        """Return (channels,): the last number sent on each at the line."""
        return self._at(line, self.leaving, self.sent)

    def processed_at(self, line: Sequence[int]) -> Words:
        """Return (channels,): the last number processed on each at the line."""
        return self._at(line, self.entering, self.processed)

    def counted(self, recovery_graph: RecoveryGraph) -> Bools:
        """Return (channels,): whether the graph counts each channel."""
        return np.array([recovery_graph == "strict" or not channel.same_worker for channel in self.channels], np.bool_)

    def _at(self, line: Sequence[int], numbers: list[Words], tables: list[Words]) -> Words:
        if len(line) != len(self.newest) or not all(0 <= index <= last for index, last in zip(line, self.newest, strict=True)):
            raise ValueError(f"{tuple(line)} is not a line; the newest checkpoints are {self.newest}")
        at = np.zeros(len(self.channels), np.int64)
        for own, table, index in zip(numbers, tables, line, strict=True):
            at[own] = table[index]
        return at


class Step(NamedTuple):
    """A rollback of an instance to an older checkpoint, which has processed no more on the channel than its sender has sent."""

    instance: int
    replaced: int
    by: int
    channel: int


@dataclass(frozen=True)
class RecoveryLine:
    """checkpoints: the line. discarded: number of newer checkpoints that each instance discards. steps: the rollbacks of the search, in
    order.
    compared: number of comparisons of processed with sent counters."""

    checkpoints: Line
    discarded: tuple[int, ...]
    steps: tuple[Step, ...]
    compared: int

    @property
    def discarded_count(self) -> int:
        return sum(self.discarded)


def recovery_line(record: CheckpointRecord, recovery_graph: RecoveryGraph = "strict") -> RecoveryLine:
    """Return the newest line without orphans on the counted channels. It exists, and no other such line is newer at any instance.

    Finds the same line as rollback propagation, without the checkpoint graph: while a receiver has processed more on a channel than its
    sender has sent, it rolls back to its newest checkpoint that has not. Only channels of senders that rolled back are checked again.

    Source: Siachamis 2024, 3.3.2, Algorithm 2, after Wang, Chung, Lin and Fuchs 1995, "Checkpoint space reclamation for
    uncoordinated checkpointing in message-passing systems".
    """
    counted = record.counted(recovery_graph)
    line = list(record.newest)
    processed = record.processed_at(line)
    steps = []
    compared = 0
    gone_back = set(range(len(line)))
    while gone_back:
        senders, gone_back = sorted(gone_back), set()
        for sender in senders:
            leaving, sent = record.leaving[sender], record.sent[sender][line[sender]]
            compared += int(np.count_nonzero(counted[leaving]))
            for place in np.flatnonzero(counted[leaving] & (processed[leaving] > sent)):
                channel = int(leaving[place])
                receiver = record.channels[channel].receiver
                index = int(np.searchsorted(record.processed_on(channel), sent[place], side="right")) - 1
                if index < line[receiver]:  # otherwise another channel of this sender has already rolled it back
                    steps.append(Step(receiver, line[receiver], index, channel))
                    compared += line[receiver] - index
                    line[receiver] = index
                    processed[record.entering[receiver]] = record.processed[receiver][index]
                    gone_back.add(receiver)
    discarded = tuple(last - index for last, index in zip(record.newest, line, strict=True))
    return RecoveryLine(tuple(line), discarded, tuple(steps), compared)


def orphans(record: CheckpointRecord, line: Sequence[int]) -> dict[int, range]:
    """Return the numbers of the line's orphans by channel, over all channels; channels without orphans are left out."""
    return _ranges(record.sent_at(line), record.processed_at(line))


def in_flight(record: CheckpointRecord, line: Sequence[int]) -> dict[int, range]:
    """Return the numbers of the messages in flight at the line, by channel: what must be replayed. Channels without any are left out."""
    return _ranges(record.processed_at(line), record.sent_at(line))


def is_consistent(record: CheckpointRecord, line: Sequence[int], channel_state: Mapping[int, range]) -> bool:
    """Return whether the line and the stored messages (numbers by channel) form a consistent global state: no message is an orphan, and
    none in flight is missing.

    Source: Siachamis 2024, 3.2.2, Figure 3.2.
    """
    stored = all(
        numbers.start in channel_state.get(channel, ()) and numbers[-1] in channel_state[channel]
        for channel, numbers in in_flight(record, line).items()
    )
    return stored and not orphans(record, line)


def _table(instance: int, name: str, rows: Sequence[Sequence[int] | Words], columns: int) -> Words:
    for index, row in enumerate(rows, 1):
        if len(row) != columns:
            raise ValueError(
                f"{name} of checkpoint {index} of instance {instance} has {len(row)} numbers; the instance has {columns} such channels"
            )
    table = np.zeros((len(rows) + 1, columns), np.int64)
    if rows:
        table[1:] = rows
    behind = (np.diff(table, axis=0) < 0).any(axis=1)
    if behind.any():
        raise ValueError(f"{name} of checkpoint {int(behind.argmax()) + 1} of instance {instance} is lower than in the previous one")
    return table


def _places(numbers: Sequence[Words], channels: int) -> Words:
    """Return (channels,): the position of each channel among those of its instance."""
    places = np.zeros(channels, np.int64)
    for own in numbers:
        places[own] = np.arange(len(own))
    return places


def _ranges(above: Words, up_to: Words) -> dict[int, range]:
    return {int(channel): range(int(above[channel]) + 1, int(up_to[channel]) + 1) for channel in np.flatnonzero(up_to > above)}
