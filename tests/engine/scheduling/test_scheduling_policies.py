"""What each policy decides from statistics alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.scheduling.fcfs import FirstComeFirstServed
from engine.scheduling.highest_rate import HighestRate
from engine.scheduling.klink import Klink, freed
from engine.scheduling.policy import PAUSED, Selection
from engine.scheduling.round_robin import RoundRobin
from engine.scheduling.srpt import ShortestFirst
from engine.scheduling.streambox import StreamBox
from engine.spec.experiment.scheduling import klink

from ...support.scheduled_examples import S, told

DEADLINES_S = {"a": 7.0, "b": 6.0}
EVENTS_S = {"a": [1, 3, 4, 5, 7], "b": [2, 2, 3, 6]}


def scheduled(policy: Any, cycle: int) -> tuple[list[str], dict[str, int]]:
    """Figure 1.1: each event takes a second of the one core, all wait at 0. Which query runs in each second, and when each is done."""
    left, now, ran, done = {name: list(events) for name, events in EVENTS_S.items()}, 0, [], {}
    while any(left.values()):
        chains = [[(1.0, 0.0, len(left[name]))] for name in "ab"]
        heads = [left[name][0] if left[name] else 99 for name in "ab"]
        selection = policy.select(told(chains, list(DEADLINES_S.values()), now, cycle, heads_s=heads))
        for _ in range(cycle):
            name = next(("ab"[q] for q in selection.order if left["ab"[q]]), None)
            if name is None:
                break
            left[name].pop(0)
            ran.append(name)
            now += 1
            done.setdefault(name, now) if not left[name] else None
    return ran, done


def test_figure_1_1_first_come_first_served() -> None:
    """Both windows are out two seconds late."""
    ran, done = scheduled(FirstComeFirstServed(None), 1)
    assert "".join(ran) == "abbabaab" + "a"
    assert {name: done[name] - DEADLINES_S[name] for name in "ab"} == {"a": 2, "b": 2}


def test_first_come_first_served_finishes_what_has_been_begun() -> None:
    """Else a record would join the end of the line at each operator."""
    ranks = FirstComeFirstServed(None).select(told([[(1, 1, 2), (1, 1, 3)], [(1, 1, 1)]], [9, 9])).ranks
    assert ranks.tolist() == [0, 2, 1, 0, 2]


def test_figure_1_1_least_slack() -> None:
    """The second window is out in time, the first two seconds late: half the mean latency."""
    ran, done = scheduled(Klink(klink.Klink(cycle_ms=2000)), 2)
    assert "".join(ran) == "bb" + "aa" + "bb" + "aaa"
    assert {name: done[name] - DEADLINES_S[name] for name in "ab"} == {"a": 2, "b": 0}


def test_the_least_slack_is_not_the_earliest_deadline() -> None:
    """Deadlines at 10 and 10.5 s, but work for 0.1 and 3 s: the second has to begin first."""
    statistics = told([[(0.1, 0.0, 1)], [(1.0, 0.0, 3)]], [10.0, 10.5])
    assert Klink(klink.Klink()).select(statistics).order == [1, 0]
    assert StreamBox(None).select(statistics).order == [0]  # which knows deadlines alone


def test_equal_slacks_run_by_deadline_then_by_cost() -> None:
    same = [[(1.0, 0.0, 2)], [(1.0, 0.0, 1)]]
    assert Klink(klink.Klink()).select(told(same, [5.0, 4.0])).order == [1, 0]


def ranks_of(selection: Selection) -> list[int]:
    return selection.ranks.tolist()


def test_sources_run_before_all_ranks() -> None:
    for policy in (
        Klink(klink.Klink()),
        FirstComeFirstServed(None),
        RoundRobin(None),
        HighestRate(None),
        ShortestFirst(None),
        StreamBox(None),
    ):
        statistics = told([[(1.0, 1.0, 3), (1.0, 0.0, 0)]] * 3, [3, 2, 1], cores=2)
        ranks = np.array(ranks_of(policy.select(statistics)))
        assert (ranks[statistics.tasks.is_source] == 0).all()
        assert (ranks[~statistics.tasks.is_source] > 0).all()


def test_round_robin_gives_turns_and_runs_downstream_first() -> None:
    chains = [[(1.0, 1.0, 5), (1.0, 0.0, 5)]] * 3
    policy = RoundRobin(None)
    orders = [policy.select(told(chains, [1, 1, 1])).order for _ in range(4)]
    assert orders == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
    ranks = ranks_of(RoundRobin(None).select(told(chains, [1, 1, 1])))
    assert ranks[2] < ranks[1]


def test_round_robin_skips_queries_without_work() -> None:
    empty, full = [(1.0, 0.0, 0)], [(1.0, 0.0, 1)]
    policy = RoundRobin(None)
    assert [policy.select(told([full, empty, full], [1, 1, 1])).order[0] for _ in range(3)] == [0, 2, 0]


def test_the_highest_rate_counts_the_whole_path() -> None:
    """A selective cheap filter gives less output per CPU time than a dear one that keeps everything."""
    selective, whole = [(1.0, 0.1, 1), (1.0, 1.0, 0)], [(2.0, 1.0, 1), (1.0, 1.0, 0)]
    selection = HighestRate(None).select(told([selective, whole], [1, 1], fires=False))
    first = selection.ranks[[1, 4]]
    assert first[1] < first[0]  # 1 / (2 + 1) over 0.1 / (1 + 0.1)


def test_the_highest_rate_counts_costs() -> None:
    """Half of the output in a third of the time."""
    half, whole = [(0.5, 0.5, 1), (1.0, 1.0, 0)], [(2.0, 1.0, 1), (1.0, 1.0, 0)]
    first = HighestRate(None).select(told([half, whole], [1, 1], fires=False)).ranks[[1, 4]]
    assert first[0] < first[1]  # 0.5 / (0.5 + 0.5) over 1 / (2 + 1)


def test_equal_rates_are_broken_by_age() -> None:
    """Costs that differ by a few per cent are those of identical queries, as measured."""
    chains = [[(1.0, 1.0, 1)], [(1.0001, 1.0, 1)]]
    assert HighestRate(None).select(told(chains, [1, 1], 9, heads_s=[5, 4], fires=False)).order == [1, 0]


def test_the_least_work_runs_first() -> None:
    chains = [[(1.0, 1.0, 3), (1.0, 0.0, 0)], [(4.0, 0.0, 1)]]
    assert ShortestFirst(None).select(told(chains, [1, 1])).order == [1, 0]  # 3 x 2 over 4


def test_streambox_holds_until_a_watermark_is_processed() -> None:
    policy = StreamBox(None)
    both = [[(1.0, 0.0, 1)], [(1.0, 0.0, 1)]]
    first = policy.select(told(both, [2.0, 1.0]))
    assert first.order == [1]
    assert first.ranks[1] == PAUSED
    assert policy.select(told(both, [0.5, 1.0])).order == [1]  # another deadline is closer now, but it has processed none
    passed = told(both, [0.5, 1.0])
    passed.watermark_ns[3] = 0
    assert policy.select(passed).order == [0]


# -- memory --------------------------------------------------------------------------------------------------------------------------

FILTERS = [[(0.1, 0.5, 100), (0.1, 0.0, 10)], [(0.1, 1.0, 100), (0.1, 1.0, 100)]]


def test_records_are_freed_by_what_comes_to_less() -> None:
    """A second serves ten records of the filter, of which five leave; 5 of the 110 up to the window all leave."""
    assert freed(told(FILTERS, [9, 9], cycle_s=1.0)).tolist() == pytest.approx([5.0, 0.0])


def test_memory_comes_first_from_the_threshold_on_until_half_of_it_is_free() -> None:
    policy = Klink(klink.Klink(memory_threshold=0.5))

    def at(now_s: float, used: int) -> Selection:
        return policy.select(told(FILTERS, [2.0, 1.0], now_s, 1.0, used_bytes=used, budget_bytes=100, fires=False))

    assert at(0, 49).mode == "slack"
    freeing = at(0, 50)
    assert freeing.mode == "memory"
    assert freeing.order[0] == 0
    assert (freeing.ranks[[0, 3]] == PAUSED).all()  # sources
    assert freeing.ranks[1] < freeing.ranks[4]
    assert at(0.5, 26).mode == "memory"
    assert at(0.6, 25).mode == "slack"
    assert policy.counts()["memory_ns"] == 2 * S


def test_the_memory_mode_lasts_as_long_as_the_least_slack() -> None:
    policy = Klink(klink.Klink(memory_threshold=0.5))
    idle = [[(0.1, 0.5, 1)], [(0.1, 0.5, 1)]]
    modes = [policy.select(told(idle, [2.5, 60.0], now_s, 1.0, used_bytes=49 + (not now_s), budget_bytes=100)).mode for now_s in range(6)]
    assert modes == ["memory"] * 3 + ["slack"] * 3  # 2.5 s and a cycle, less 0.1 s of work, but at most 3 s


def test_without_reducing_operators_the_memory_mode_goes_by_slack() -> None:
    policy = Klink(klink.Klink(memory_threshold=0.5))
    whole = [[(0.1, 1.0, 5)], [(0.1, 1.0, 5)]]
    selection = policy.select(told(whole, [9.0, 2.0], used_bytes=60, budget_bytes=100, fires=False))
    assert (selection.mode, selection.order) == ("memory", [1, 0])
