"""The rules by which messages force checkpoints: HMNR and BCS.

What this catches: a test that forces nothing, vectors that are not merged or of the wrong instance, a checkpoint that is forced behind the
processing of its message. In the pictures time goes to the right, [ is a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.checkpointing.forced_checkpoints import Bcs, Hmnr, HmnrPiggyback
from engine.checkpointing.recovery_line import Channel
from engine.spec.experiment.checkpointing.communication_induced import InducedCheckpoints

from ...support.histories import History, random_acts

CIRCLE = [Channel(0, 1), Channel(1, 2), Channel(2, 0)]
ALL_TO_ALL = [Channel(i, j) for i in range(4) for j in range(4)]  # each itself included
SHUFFLE = [Channel(i, 3 + j) for i in range(3) for j in range(3)]
FEEDBACK = [*SHUFFLE, *(Channel(3 + i, 6 + i) for i in range(3)), *(Channel(6 + i, 3 + j) for i in range(3) for j in range(3))]
ACYCLIC = [Channel(i, j) for i in range(5) for j in range(i + 1, 5)]
GRAPHS = {"circle": CIRCLE, "all to all": ALL_TO_ALL, "feedback": FEEDBACK, "acyclic": ACYCLIC}
SEEDS, ACTS = range(6), 1500


class HmnrHistory(History):
    def __init__(self, channels: Sequence[Channel], *, first_test: bool = True, second_test: bool = True):
        instances = 1 + max(max(channel.sender, channel.receiver) for channel in channels)
        super().__init__(instances, channels)
        self.rules = [Hmnr.start(i, instances) for i in range(instances)]
        self.tests = {"first_test": first_test, "second_test": second_test}
        self.forced = [0] * instances

    def checkpoint(self, instance: int) -> None:
        super().checkpoint(instance)
        self.rules[instance] = self.rules[instance].take_checkpoint()

    def piggyback(self, channel: int) -> HmnrPiggyback:
        sender, receiver, _ = self.channels[channel]
        self.rules[sender], piggyback = self.rules[sender].send(receiver)
        return piggyback

    def before_processing(self, channel: int, piggyback: HmnrPiggyback) -> None:
        receiver = self.channels[channel].receiver
        if self.rules[receiver].must_force(piggyback, **self.tests):
            self.forced[receiver] += 1
            self.checkpoint(receiver)
        self.rules[receiver] = self.rules[receiver].merge(piggyback)


class BcsHistory(History):
    def __init__(self, channels: Sequence[Channel]):
        instances = 1 + max(max(channel.sender, channel.receiver) for channel in channels)
        super().__init__(instances, channels)
        self.rules = [Bcs() for _ in range(instances)]
        self.forced = [0] * instances
        self.numbers: list[list[int]] = [[0] for _ in range(instances)]  # of the checkpoints, the start included

    def checkpoint(self, instance: int) -> None:
        super().checkpoint(instance)
        self.rules[instance] = self.rules[instance].take_checkpoint()
        self.numbers[instance].append(self.rules[instance].number)

    def piggyback(self, channel: int) -> Bcs:
        return self.rules[self.channels[channel].sender]

    def before_processing(self, channel: int, piggyback: Bcs) -> None:
        receiver = self.channels[channel].receiver
        if self.rules[receiver].must_force(piggyback):
            self.forced[receiver] += 1
            super().checkpoint(receiver)
            self.rules[receiver] = self.rules[receiver].forced(piggyback)
            self.numbers[receiver].append(piggyback.number)


def test_a_cycle_over_a_checkpoint_of_the_other_is_broken() -> None:
    """The second test alone forces it: P1 knows itself what it sent, so its clock is no reason.

    P1 ──────m2▸──[──m1──
    P2 ──m2──────────▸m1     (before m1)
    """
    p1, p2 = Hmnr.start(0, 2), Hmnr.start(1, 2)
    p2, m2 = p2.send(0)
    assert not p1.must_force(m2)
    p1 = p1.merge(m2).take_checkpoint()
    p1, m1 = p1.send(1)
    assert p2.closes_cycle(m1)
    assert not p2.meets_higher_clock(m1)
    assert p2.must_force(m1)
    assert not p2.must_force(m1, second_test=False)
    assert not p2.take_checkpoint().must_force(m1)


def test_a_higher_clock_behind_a_send_to_a_third_is_broken() -> None:
    """The first test alone forces it: nothing that P2 sent has come back.

    P1 ──[──m───────
    P2 ──s──────▸m      (before m)
    P3 ─────────────
    """
    p1, p2 = Hmnr.start(0, 3).take_checkpoint(), Hmnr.start(1, 3)
    p2, _ = p2.send(2)
    p1, m = p1.send(1)
    assert p2.meets_higher_clock(m)
    assert not p2.closes_cycle(m)
    assert p2.must_force(m)
    assert not p2.must_force(m, first_test=False)
    assert not Hmnr.start(1, 3).must_force(m), "it has sent nothing since its checkpoint"
    assert not Hmnr.start(1, 3).send(0)[0].must_force(m), "nor to anybody who is behind: the sender is not behind itself"
    _, later = p1.take_checkpoint().send(1)
    assert p2.must_force(later)
    assert not p2.take_checkpoint().must_force(later), "its clock is still lower, but what it sent is in the interval before"


def test_a_higher_clock_is_no_reason_where_the_third_is_as_far() -> None:
    """P1 has heard of P3's clock, which is its own: what P2 sent to P3 ends at no lower one."""
    p1, p2, p3 = (Hmnr.start(i, 3) for i in range(3))
    p2, _ = p2.send(2)
    p1, p3 = p1.take_checkpoint(), p3.take_checkpoint()
    p3, from_p3 = p3.send(0)
    p1, m = p1.merge(from_p3).send(1)
    assert m.clock > p2.clock
    assert not m.greater[2]
    assert not p2.must_force(m)


def test_an_equal_clock_is_no_reason() -> None:
    p2, _ = Hmnr.start(1, 3).send(2)
    _, m = Hmnr.start(0, 3).send(1)
    assert (m.clock, m.greater.tolist()) == (1, [False, True, True])
    assert not p2.must_force(m)


def test_what_an_instance_learns_from_a_message() -> None:
    """Of P1 more, of P2 (itself) nothing, of P3 as much, of P4 less; the clock of the message is lower, equal, higher."""
    no, yes = False, True
    knows = Hmnr(1, 5, np.array([2, 4, 3, 3]), *np.array([[no, no, yes, no], [no, no, no, yes], [yes, no, yes, no]]))
    taken, greater = np.array([[yes, yes, yes, no], [no, yes, yes, yes]])
    learnt = [knows.merge(HmnrPiggyback(clock, np.array([3, 4, 3, 2]), taken, greater)) for clock in (4, 5, 6)]
    assert [each.clock for each in learnt] == [5, 5, 6]
    assert [each.greater.tolist() for each in learnt] == [[yes, no, yes, no], [no, no, yes, no], [no, no, yes, yes]]
    for each in learnt:
        assert each.checkpoints.tolist() == [3, 4, 3, 3]
        assert each.taken.tolist() == [yes, no, yes, yes]
        assert each.sent_to.tolist() == [no, no, yes, no]
    behind = HmnrPiggyback(4, np.array([3, 4, 3, 2]), ~taken, greater)
    assert knows.merge(behind).taken.tolist() == [no, no, no, yes]
    assert learnt[0].merge(behind).taken.tolist() == [yes, no, yes, yes]


@pytest.mark.parametrize("tests", [(True, True), (False, True), (True, False)])
@pytest.mark.parametrize("graph", GRAPHS)
def test_bits_of_oneself_are_never_true_and_own_counts_are_exact(graph: str, tests: tuple[bool, bool]) -> None:
    history = HmnrHistory(GRAPHS[graph], first_test=tests[0], second_test=tests[1])
    for act in random_acts(1, 400):
        history.act([act])
        for i, rule in enumerate(history.rules):
            assert not rule.taken[i]
            assert not rule.greater[i]
            assert rule.checkpoints[i] == len(history.checkpoints[i]) + 1
            assert all(rule.checkpoints[k] <= len(own) + 1 for k, own in enumerate(history.checkpoints))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_hmnr_leaves_no_useless_checkpoint(graph: str, seed: int) -> None:
    history = HmnrHistory(GRAPHS[graph])
    history.act(random_acts(seed, ACTS))
    assert sum(history.forced) > 0
    assert history.useless() == []


@pytest.mark.parametrize("graph", ["circle", "all to all", "feedback"])
def test_neither_test_of_hmnr_can_be_spared(graph: str) -> None:
    """With one alone some checkpoint is useless, with none more are."""

    def useless(first_test: bool, second_test: bool) -> int:
        return sum(len(_run(graph, seed, first_test, second_test).useless()) for seed in SEEDS)

    first_alone, second_alone, neither = useless(True, False), useless(False, True), useless(False, False)
    assert 0 < first_alone < neither
    assert 0 < second_alone < neither


@pytest.mark.parametrize("seed", SEEDS)
def test_sources_are_never_forced_and_others_are_without_cycles_too(seed: int) -> None:
    history = HmnrHistory(ACYCLIC)
    history.act(random_acts(seed, ACTS))
    assert history.forced[0] == 0
    assert sum(history.forced) > 0


def test_with_or_without_its_tests_an_acyclic_graph_has_no_useless_checkpoint() -> None:
    assert not any(_run("acyclic", seed, first, False).useless() for seed in SEEDS for first in (True, False))


def test_vectors_of_a_checkpoint_do_not_change_behind_it() -> None:
    """What was saved is what is restored."""
    saved = Hmnr.start(0, 3).take_checkpoint()
    before = (saved.clock, saved.checkpoints.tolist(), saved.sent_to.tolist(), saved.taken.tolist(), saved.greater.tolist())
    _, message = Hmnr.start(1, 3).take_checkpoint().take_checkpoint().send(0)
    after, _ = saved.merge(message).send(2)
    assert (after.clock, after.checkpoints.tolist()) == (3, [2, 3, 0])
    assert before == (saved.clock, saved.checkpoints.tolist(), saved.sent_to.tolist(), saved.taken.tolist(), saved.greater.tolist())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_bcs_leaves_no_useless_checkpoint_and_equal_numbers_fit(graph: str, seed: int) -> None:
    """The first checkpoint of each instance that has at least some number: together these are a consistent line, for every number."""
    history = BcsHistory(GRAPHS[graph])
    history.act(random_acts(seed, ACTS))
    assert sum(history.forced) > 0
    assert history.useless() == []
    for number in range(min(own[-1] for own in history.numbers) + 1):
        line = [next(x for x, its in enumerate(own) if its >= number) for own in history.numbers]
        assert history.orphans(line) == set()


def test_bcs_forces_a_checkpoint_with_the_number_of_the_message() -> None:
    ahead = Bcs().take_checkpoint().take_checkpoint()
    assert Bcs().must_force(ahead)
    assert Bcs().forced(ahead) == Bcs(2)
    assert not ahead.must_force(ahead)
    assert not ahead.must_force(Bcs(1))


def test_a_piggyback_grows_with_the_instances() -> None:
    assert InducedCheckpoints(piggyback_bytes=300, entry_bytes=2).added_bytes(30) == 360
    assert InducedCheckpoints(variant="bcs", piggyback_bytes=0, entry_bytes=8).added_bytes(30) == 8


def _run(graph: str, seed: int, first_test: bool, second_test: bool) -> HmnrHistory:
    history = HmnrHistory(GRAPHS[graph], first_test=first_test, second_test=second_test)
    history.act(random_acts(seed, ACTS))
    return history
