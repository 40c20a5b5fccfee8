"""The broker's cores: what requests, segments and cleaners take of them.

What this catches: passes that take no longer on a crowded host; a core that closing segments costs nothing; set-ups without their spread.
"""

from __future__ import annotations

import numpy as np
import pytest

from engine.services.broker import Broker, BrokerSettings
from engine.services.cleaner import CleanerSettings
from engine.services.topics import LogSettings, Partition

NS = 1_000_000_000
TOPIC = LogSettings(segment_ns=NS // 10, dirty_share=0.01)


def busy(settings: BrokerSettings, threads: int = 1, logs: int = 1, seconds: int = 20, setup_ns: int = NS // 50) -> Broker:
    """Logs that each get 1,000 records/s of two keys, in turn."""
    partitions = [Partition(TOPIC) for _ in range(logs)]
    broker = Broker(partitions, settings, CleanerSettings(threads, backoff_ns=NS, setup_ns=setup_ns), seed=3)
    for tick in range(seconds * 100):
        now_ns = (tick + 1) * NS // 100
        while broker.next_ns <= now_ns:
            broker.wake(broker.next_ns)
        times = np.full(10, now_ns)
        for log in partitions:
            log.append(times, np.arange(10) % 2, np.full(10, 100), np.zeros(10, np.int64), np.zeros(10, bool))
        broker.wake(now_ns)
    return broker


def durations(broker: Broker) -> np.ndarray:
    assert broker.cleaner is not None
    return np.array([one.ended_ns - one.began_ns for one in broker.cleaner.passes])


def test_on_a_crowded_host_passes_take_longer() -> None:
    roomy, crowded = (busy(BrokerSettings(cores=cores, spread=0)) for cores in (8, 1))
    wanted = 0.18 + 1 + 9 * 0.09  # base load, the pass itself, the segments of a second
    assert durations(crowded).min() == pytest.approx(wanted * durations(roomy).min(), rel=0.05)


def test_threads_share_the_cores() -> None:
    one, two = (busy(BrokerSettings(cores=1, spread=0, roll_ns=0, base_share=0), threads, logs=2) for threads in (1, 2))
    times = np.unique(np.round(durations(two) / durations(one).min(), 1))
    assert times.min() == 1.0  # alone
    assert 2.0 in times


def test_set_ups_vary_around_their_median() -> None:
    logs = np.log(durations(busy(BrokerSettings(roll_ns=0), seconds=60, setup_ns=NS // 2)))
    assert np.median(logs) == pytest.approx(np.log(NS // 2), abs=0.15)
    assert 0.15 < logs.std() < 0.35


def test_cores_are_busy_for_passes_and_for_segments() -> None:
    broker = busy(BrokerSettings(roll_ns=90_000_000))
    until_ns = 20 * NS
    assert broker.rolled == pytest.approx(20 * 10, rel=0.12)
    assert broker.busy_ns(until_ns) == pytest.approx(durations(broker).sum() + broker.rolled * 90_000_000, rel=0.02)
    without = Broker([Partition(TOPIC)], BrokerSettings(), None, seed=1)
    without.wake(NS)
    assert without.busy_ns(until_ns) == 0
