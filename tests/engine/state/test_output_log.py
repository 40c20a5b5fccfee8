"""Continuous eventual checkpointing (specification of incremental checkpointing, A9, A-28 to A-31).

What this catches: a bound that does not hold; a checkpoint of another window than that with the oldest footprint; a recovery that loses a
window, counts a tuple twice, gives a result twice, or reads more with a longer history.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.state.output_log import Bounds, Infeasible, OutputLog
from tests.support.tiers import tier


@dataclass
class Operator:
    """Sums tuples by key in windows of `size` positions. Tuple n, at position n + 1, has the key and value of `tuples[n]`."""

    tuples: list[tuple[int, int]]
    log: OutputLog
    size: int = 10**9
    position: int = 0
    sums: dict[int, int] = field(default_factory=dict)
    closed: frozenset[int] = frozenset()
    since: dict[int, int] = field(default_factory=dict)  # by window, the position that its state includes, while tuples are replayed

    def process(self) -> None:
        key, value = self.tuples[self.position]
        start = self.position // self.size
        for window in [window for window in self.sums if window // 1000 < start]:
            self.log.close(window, self.position, self.sums.pop(window))
        window = 1000 * start + key
        if window not in self.closed:
            if window not in self.sums:
                self.sums[window] = 0
                self.log.open(window, self.position)
            if self.position >= self.since.get(window, 0):
                self.sums[window] += value
        self.position += 1
        self.log.keep_short(self.position, self.sums.__getitem__)

    def recovered(self) -> Operator:
        found = self.log.recover(self.position)
        sums = {window: state or 0 for window, (state, _) in found.windows.items()}
        since = {window: at for window, (_, at) in found.windows.items()}
        return Operator(self.tuples, self.log, self.size, found.position, sums, found.closed, since)


def drawn(count: int, keys: int, seed: int = 1) -> list[tuple[int, int]]:
    chance = np.random.default_rng(seed)
    return [*zip(chance.integers(0, keys, count).tolist(), chance.integers(1, 100, count).tolist(), strict=True)]


def test_the_window_that_is_furthest_behind_is_checkpointed() -> None:
    """After a recovery the oldest footprint may include more of the input than a younger one."""
    log = OutputLog(Bounds(replay_max=20))
    log.open("a", 0)
    log.open("b", 0)
    log.checkpoint("a", 30, "a")
    log.checkpoint("b", 12, "b")
    log.keep_short(33, lambda key: key)
    assert [(record.kind, record.key) for record in log.records[4:]] == [("check", "b")]
    assert log.replay(33) == 3
    log.take_back(4)
    assert log.replay(33) == 21


@pytest.mark.parametrize("bounds", [Bounds(replay_max=40), Bounds(records_max=25), Bounds(60, 30)], ids=str)
def test_a_crash_at_any_instant_changes_nothing(bounds: Bounds) -> None:
    """A-31: the state and the results are those without a failure."""
    tuples = drawn(400, 8)
    whole = Operator(tuples, OutputLog(bounds), size=50)
    for _ in tuples:
        whole.process()
    results = {(record.key, record.content) for record in whole.log.records if record.kind == "out"}
    for crash in np.random.default_rng(2).integers(1, 400, tier(ci=40, all=200)).tolist():
        operator = Operator(tuples, OutputLog(bounds), size=50)
        for _ in range(crash):
            operator.process()
        before = dict(operator.sums)
        operator = operator.recovered()
        while operator.position < crash:
            operator.process()
        assert operator.sums == before, crash
        while operator.position < len(tuples):
            operator.process()
        assert operator.sums == whole.sums
        outs = [(record.key, record.content) for record in operator.log.records if record.kind == "out"]
        assert len(outs) == len(set(outs))
        assert set(outs) == results


def rate_of(log: OutputLog) -> float:
    """Checkpoints for each tuple, from the first ones on up to the last ones, which come together."""
    positions = [record.position for record in log.records if record.kind == "check"]
    return sum(position < positions[-1] for position in positions) / (positions[-1] - positions[0])


@pytest.mark.parametrize(("replay_max", "rate"), [(1250, 0.08), (2500, 0.04), (5000, 0.02), (10000, 0.01)])
def test_checkpoints_are_as_many_as_the_replay_asks_for(replay_max: int, rate: float) -> None:
    """A-28: of N windows, N / U* checkpoints for each input tuple, and never more to replay."""
    log = OutputLog(Bounds(replay_max=replay_max))
    for key in range(100):
        log.open(key, 0)
    most = 0
    for position in range(1, 60_001):
        log.keep_short(position, lambda key: key)
        most = max(most, log.replay(position))
    assert rate_of(log) == pytest.approx(rate, rel=0.05)
    assert most == replay_max


@pytest.mark.parametrize(("records_max", "rate"), [(150, 0.196), (300, 0.05), (600, 0.02)])
def test_checkpoints_are_as_many_as_the_extent_asks_for(records_max: int, rate: float) -> None:
    """N r / (Q* - N) for each tuple, with r other records in between."""
    log = OutputLog(Bounds(records_max=records_max))
    for key in range(100):
        log.open(key, 0)
    for position in range(1, 40_001):
        if position % 20 == 0:  # a window that closes at once, with two records
            log.open(1000 + position, position)
            log.close(1000 + position, position, 0)
        log.keep_short(position, lambda key: key)
        assert log.extent <= records_max
    assert rate_of(log) == pytest.approx(rate, rel=0.05)


def test_a_recovery_reads_no_more_after_a_longer_history() -> None:
    """A-29 and A-30."""
    read = {}
    for count in (2_000, 8_000):
        operator = Operator(drawn(count, 50), OutputLog(Bounds(records_max=200, replay_max=600)), size=500)
        for _ in range(count):
            operator.process()
            assert operator.log.extent <= 200
            assert operator.log.replay(operator.position) <= 600
        found = operator.log.recover(operator.position)
        assert found.read <= operator.log.extent
        read[count] = found.read
        end = operator.log.end
        operator.log.trim(end)
        assert (operator.log.end, len(operator.log.records)) == (end, operator.log.extent)
        assert operator.log.recover(operator.position) == found, "what is trimmed is not read"
    assert read[8_000] <= 200


def test_more_windows_than_records_are_infeasible() -> None:
    log = OutputLog(Bounds(records_max=3))
    for key in range(4):
        log.open(key, key)
    with pytest.raises(Infeasible, match="records_max is 3, but 4 windows are open"):
        log.keep_short(4, lambda key: key)


def test_the_window_with_the_oldest_footprint_is_checkpointed() -> None:
    log = OutputLog(Bounds(replay_max=5))
    for key, position in ((1, 0), (2, 3), (3, 5)):
        log.open(key, position)
    log.keep_short(7, lambda key: 10 * key)
    assert [(record.kind, record.key, record.content) for record in log.records[3:]] == [("check", 1, 10)]
    log.keep_short(9, lambda key: 10 * key)
    assert log.records[-1] == ("check", 2, 3, 9, 20)
    assert log.replay(9) == 4


@pytest.mark.parametrize(("given", "named"), [({"replay_max": 0}, "replay_max is 0"), ({"records_max": 0}, "records_max is 0")])
def test_bounds_that_cannot_be(given: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Bounds(**given)


def test_a_window_opens_once() -> None:
    log = OutputLog(Bounds())
    log.open(1, 0)
    with pytest.raises(ValueError, match="window 1 is open already"):
        log.open(1, 1)


def test_a_window_that_has_closed_stays_closed() -> None:
    log = OutputLog(Bounds())
    log.open(1, 0)
    log.open(2, 1)
    log.checkpoint(2, 3, "half")
    log.checkpoint(1, 4, "all")
    log.close(1, 5, "result")
    found = log.recover(6)
    assert found.windows == {2: ("half", 3)}
    assert (found.closed, found.position, found.read) == (frozenset({1}), 3, 3)
