"""The newest line without orphans, and the checkpoint graph.

What this catches: a search that stops too early (orphans) or goes back too far, intervals that are off by one, counters of the wrong
channel, orphans and in-flight messages taken for one another, a graph and a search that disagree, a report of steps that does not lead to
the line.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from engine.checkpointing.checkpoint_graph import Edge, Node, checkpoint_graph, rollback_propagation
from engine.checkpointing.recovery_line import (
    Channel,
    Checkpoint,
    CheckpointRecord,
    Step,
    in_flight,
    is_consistent,
    orphans,
    recovery_line,
)

from ...support.histories import M12, M23, M31, O1, O2, O3, History, domino, histories

THOROUGH = settings(max_examples=5 * settings().max_examples)


def test_domino_of_figure_3_5() -> None:
    found = recovery_line(domino().record())
    assert found.steps == (
        Step(O1, 3, 2, M31),  # m6
        Step(O2, 3, 2, M12),  # m4
        Step(O3, 2, 1, M23),  # m5
        Step(O1, 2, 1, M31),  # m3
        Step(O2, 2, 1, M12),  # m2
    )
    assert found.checkpoints == (1, 1, 1)
    assert found.discarded == (2, 2, 1)
    assert found.discarded_count == 5


def test_domino_of_figure_3_5_on_the_graph() -> None:
    record = domino().record()
    rounds = rollback_propagation(record.newest, checkpoint_graph(record))
    assert [each.root for each in rounds] == [(3, 3, 2), (2, 3, 2), (2, 2, 2), (2, 2, 1), (1, 2, 1), (1, 1, 1)]
    assert [each.marked for each in rounds] == [(O1,), (O2,), (O3,), (O1,), (O2,), ()]


def test_without_the_last_message_no_domino_falls() -> None:
    record = domino(with_m6=False).record()
    found = recovery_line(record)
    assert (found.checkpoints, found.discarded_count, found.steps) == ((3, 3, 2), 0, ())
    assert len(rollback_propagation(record.newest, checkpoint_graph(record))) == 1


def test_edges_of_figure_3_5() -> None:
    across = {(tail, head) for tail, head, channel in checkpoint_graph(domino().record()) if channel is not None}
    m1, m2, m3 = (Node(O2, 0), Node(O3, 1)), (Node(O1, 1), Node(O2, 2)), (Node(O3, 1), Node(O1, 2))
    m4, m5, m6 = (Node(O1, 2), Node(O2, 3)), (Node(O2, 2), Node(O3, 2)), (Node(O3, 2), Node(O1, 3))
    assert across == {m1, m2, m3, m4, m5, m6}


def figure_3_2(*, sent_inside: bool, processed_inside: bool) -> CheckpointRecord:
    """m1 from O1 to O2 inside both checkpoints, m2 from O2 to O3 as said; one checkpoint each."""
    history = History(3, [Channel(O1, O2), Channel(O2, O3)])
    history.send(0)
    history.receive(0)
    if sent_inside:
        history.send(1)
    history.checkpoint(O1)
    history.checkpoint(O2)
    if not sent_inside:
        history.send(1)
    if processed_inside:
        history.receive(1)
    history.checkpoint(O3)
    return history.record()


@pytest.mark.parametrize(
    ("sent_inside", "processed_inside", "channel_state", "consistent"),
    [
        pytest.param(True, True, {}, True, id="a: all sent and processed inside"),
        pytest.param(False, True, {}, False, id="b: m2 is an orphan"),
        pytest.param(True, False, {}, False, id="c: m2 is in flight, and nobody has it"),
        pytest.param(True, False, {1: range(1, 2)}, True, id="d: m2 is in flight, and stored"),
    ],
)
def test_cases_of_figure_3_2(sent_inside: bool, processed_inside: bool, channel_state: dict[int, range], consistent: bool) -> None:
    record = figure_3_2(sent_inside=sent_inside, processed_inside=processed_inside)
    assert is_consistent(record, (1, 1, 1), channel_state) == consistent


def test_nothing_stored_helps_against_an_orphan() -> None:
    record = figure_3_2(sent_inside=False, processed_inside=True)
    assert orphans(record, (1, 1, 1)) == {1: range(1, 2)}
    assert not is_consistent(record, (1, 1, 1), {1: range(1, 9)})
    assert recovery_line(record).checkpoints == (1, 1, 0)


def test_messages_in_flight_must_all_be_stored() -> None:
    record = CheckpointRecord([Channel(0, 1)], [[Checkpoint([5], [])], [Checkpoint([], [2])]])
    assert in_flight(record, (1, 1)) == {0: range(3, 6)}
    stored = [range(3, 6), range(1, 9), range(3, 5), range(4, 6), range(0)]
    assert [is_consistent(record, (1, 1), {0: numbers}) for numbers in stored] == [True, True, False, False, False]


@THOROUGH
@given(history=histories())
def test_the_line_is_the_newest_of_all_consistent_ones(history: History) -> None:
    """Against all lines, judged by the intervals of each message."""
    record = history.record()
    consistent = history.consistent_lines(record.newest)
    newest = tuple(max(indices) for indices in zip(*consistent, strict=True))
    found = recovery_line(record)
    assert newest in consistent
    assert found.checkpoints == newest
    assert found.discarded == tuple(last - index for last, index in zip(record.newest, newest, strict=True))


@THOROUGH
@given(history=histories())
def test_the_graph_leads_to_the_same_line(history: History) -> None:
    record = history.record()
    for recovery_graph in ("strict", "cross_worker_only"):
        rounds = rollback_propagation(record.newest, checkpoint_graph(record, recovery_graph))
        assert rounds[-1].root == recovery_line(record, recovery_graph).checkpoints


@given(history=histories())
def test_no_number_makes_more_than_one_edge_and_all_channels_are_compared(history: History) -> None:
    """So the price of a look at each number covers the graph."""
    record = history.record()
    for recovery_graph in ("strict", "cross_worker_only"):
        across = [edge for edge in checkpoint_graph(record, recovery_graph) if edge.channel is not None]
        numbers = sum(len(own) * (len(own[0].last_sent) + len(own[0].last_processed)) for own in history.checkpoints if own)
        assert len(across) <= numbers
        found = recovery_line(record, recovery_graph)
        again = sum(len(record.leaving[step.instance]) for step in found.steps)
        counted = int(record.counted(recovery_graph).sum())
        assert counted + found.discarded_count <= found.compared <= counted + found.discarded_count + again


@given(history=histories())
def test_edges_are_the_messages(history: History) -> None:
    """Each message between two instances is an edge, and nothing else is: by intervals, where the graph goes by counters. A message that no
    checkpoint holds processed is none."""
    expected = {
        Edge(Node(channel.sender, history.sent_in[number, nth]), Node(channel.receiver, interval + 1), number)
        for (number, nth), interval in history.processed_in.items()
        if (channel := history.channels[number]).sender != channel.receiver and interval < len(history.checkpoints[channel.receiver])
    }
    edges = checkpoint_graph(history.record())
    assert {edge for edge in edges if edge.channel is not None} == expected
    assert len(edges) == len(expected) + sum(history.record().newest)


@given(history=histories())
def test_orphans_and_messages_in_flight_of_any_line(history: History) -> None:
    record = history.record()
    for line in ((0,) * len(record.newest), record.newest, recovery_line(record).checkpoints):
        for found, expected in ((orphans(record, line), history.orphans(line)), (in_flight(record, line), history.in_flight(line))):
            assert {(channel, number) for channel, numbers in found.items() for number in numbers} == expected


@given(history=histories())
def test_each_step_has_its_reason_and_they_lead_to_the_line(history: History) -> None:
    record = history.record()
    found = recovery_line(record)
    line = list(record.newest)
    for step in found.steps:
        channel = record.channels[step.channel]
        sent = record.sent_on(step.channel)[line[channel.sender]]
        processed = record.processed_on(step.channel)
        assert channel.receiver == step.instance
        assert line[step.instance] == step.replaced
        assert processed[step.replaced] > sent >= processed[step.by]
        assert step.by + 1 == step.replaced or processed[step.by + 1] > sent
        line[step.instance] = step.by
    assert tuple(line) == found.checkpoints


@given(history=histories())
def test_without_channels_of_one_worker_the_line_is_that_of_the_others(history: History) -> None:
    """It is nowhere older than the strict one, and may have orphans on those channels alone."""
    record = history.record()
    loose = recovery_line(record, "cross_worker_only").checkpoints
    assert all(one >= other for one, other in zip(loose, recovery_line(record).checkpoints, strict=True))
    held = orphans(record, loose)
    assert all(history.channels[channel].same_worker for channel in held)
    others = History(len(history.checkpoints), history.channels)
    others.sent_in = history.sent_in
    others.processed_in = {place: x for place, x in history.processed_in.items() if not history.channels[place[0]].same_worker}
    assert loose == tuple(max(indices) for indices in zip(*others.consistent_lines(record.newest), strict=True))


def test_a_channel_on_one_worker_may_be_left_out() -> None:
    """The forward edge's receiver processed what its sender sent behind its checkpoint: the strict line goes back, the other one does not
    and so holds an orphan."""
    record = CheckpointRecord([Channel(0, 1, same_worker=True)], [[Checkpoint([3], [])], [Checkpoint([], [4])]])
    assert recovery_line(record).checkpoints == (1, 0)
    assert recovery_line(record, "cross_worker_only").checkpoints == (1, 1)
    assert orphans(record, (1, 1)) == {0: range(4, 5)}


def test_a_silent_channel_is_not_forgotten() -> None:
    """Nothing was sent or processed between the last two checkpoints: what is in flight still is."""
    record = CheckpointRecord([Channel(0, 1)], [[Checkpoint([5], []), Checkpoint([5], [])], [Checkpoint([], [3]), Checkpoint([], [3])]])
    found = recovery_line(record)
    assert found.discarded_count == 0
    assert in_flight(record, found.checkpoints) == {0: range(4, 6)}


def test_several_checkpoints_are_left_behind_in_one_step() -> None:
    record = CheckpointRecord([Channel(0, 1)], [[Checkpoint([2], [])], [Checkpoint([], [n]) for n in (1, 2, 2, 3, 7)]])
    found = recovery_line(record)
    assert found.steps == (Step(1, 5, 3, 0),)
    assert found.discarded == (0, 2)
    assert [each.root for each in rollback_propagation(record.newest, checkpoint_graph(record))] == [(1, 5), (1, 3)]


def test_a_shuffle_among_a_hundred_workers() -> None:
    """Busy channels all over: a receiver keeps its newest checkpoint just if no sender's is older, and the newest line has no orphan."""
    workers, checkpoints = 100, 30
    channels = [Channel(i, workers + j) for i in range(workers) for j in range(workers)]
    taken_at = np.sort(np.random.default_rng(1).permutation(2 * workers * checkpoints).reshape(2 * workers, checkpoints), axis=1)
    # one message a tick on every channel, processed at once
    senders = [[Checkpoint([int(tick)] * workers, []) for tick in own] for own in taken_at[:workers]]
    receivers = [[Checkpoint([], [int(tick)] * workers) for tick in own] for own in taken_at[workers:]]
    record = CheckpointRecord(channels, [*senders, *receivers])
    found = recovery_line(record)
    earliest = taken_at[:workers, -1].min()
    kept = [int(np.searchsorted(own, earliest, side="right")) for own in taken_at[workers:]]
    assert found.checkpoints == (*[checkpoints] * workers, *kept)
    assert orphans(record, found.checkpoints) == {}


def test_no_checkpoints_at_all() -> None:
    record = CheckpointRecord([Channel(0, 1), Channel(1, 0)], [[], []])
    assert recovery_line(record).checkpoints == (0, 0)
    assert checkpoint_graph(record) == []


@pytest.mark.parametrize(
    ("channels", "checkpoints", "what"),
    [
        ([Channel(0, 2)], [[], []], "channel 0 leads from 0 to 2; instances are 0 .. 1"),
        (
            [Channel(0, 1)],
            [[Checkpoint([1, 2], [])], []],
            "last_sent of checkpoint 1 of instance 0 has 2 numbers; the instance has 1 such channels",
        ),
        (
            [Channel(0, 1)],
            [[], [Checkpoint([], [4]), Checkpoint([], [1])]],
            "last_processed of checkpoint 2 of instance 1 is lower than in the previous one",
        ),
        ([Channel(0, 1)], [[Checkpoint([-1], [])], []], "last_sent of checkpoint 1 of instance 0 is lower than in the previous one"),
    ],
)
def test_records_that_cannot_be(channels: list[Channel], checkpoints: list[list[Checkpoint]], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        CheckpointRecord(channels, checkpoints)


@pytest.mark.parametrize("line", [(1,), (0, 2), (-1, 0)])
def test_lines_that_cannot_be(line: tuple[int, ...]) -> None:
    record = CheckpointRecord([Channel(0, 1)], [[Checkpoint([1], [])], [Checkpoint([], [1])]])
    with pytest.raises(ValueError, match="is not a line; the newest checkpoints are"):
        orphans(record, line)
