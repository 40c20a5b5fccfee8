"""Experiment 2b: what a run with a monitor is compared by. Catches overhead that nobody measured."""

from __future__ import annotations

from typing import Any

import pytest

from engine.corpus.timelines import timeline
from engine.learning.evaluations.monitoring import _problems, chain, compared
from engine.spec.figure.evaluations import Monitoring


def run(*means: tuple[float | None, int], moves: tuple[list[float], ...] = ()) -> dict[str, Any]:
    """Pairs of a mean and for how many seconds it holds."""
    by_second = [mean for mean, seconds in means for _ in range(seconds)]
    return {"mean_ms": by_second, "count": [0 if mean is None else 5 for mean in by_second], "moves": list(moves)}


CHOSEN = run((99.0, 10), (10.0, 50))


def test_overhead_lasts_until_ten_seconds_are_as_fast() -> None:
    moved = run((50.0, 30), (None, 10), (200.0, 2), (8.0, 18), moves=([30.0, 40.0, 2_000_000],))
    found = compared(CHOSEN, moved)
    assert found["chosen_ms"] == 10
    assert found["slowdown"] == 5
    assert found["overhead_s"] == 52, "the first ten seconds without what had waited"
    assert (found["settled_s"], found["moves"], found["state_mb"], found["reached"]) == (40, 1, 2, 1)


def test_what_is_never_as_fast_has_no_overhead_and_says_so() -> None:
    found = compared(CHOSEN, run((50.0, 60)))
    assert (found["overhead_s"], found["reached"], found["slowdown"], found["settled_s"]) == (None, 0, 5, 0)
    assert found["overhead_or_length_s"] == 60


def test_what_was_as_fast_from_the_first_has_none() -> None:
    assert compared(CHOSEN, run((10.0, 60)))["overhead_s"] == 0


def test_queues_that_are_only_filling_are_not_as_fast() -> None:
    filling = run(*((5.0 + 2 * second, 1) for second in range(60)))
    assert compared(CHOSEN, filling)["overhead_s"] is None


def test_a_pick_that_delivers_nothing_is_not_compared() -> None:
    found = compared(run((None, 60)), run((50.0, 60)))
    assert found["slowdown"] is found["overhead_s"] is None
    assert (found["pick_failed"], found["start_failed"]) == (1, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"windows_s": [25]}, "samples of 10 s"),
        ({"windows_s": [0]}, "greater than or equal to 1"),
        ({"windows_s": [5, 5]}, "given twice"),
        ({"stored_s": [-1]}, "greater than or equal to 0"),
        ({"selectivities": [7]}, "less than or equal to 1"),
        ({"rates_per_s": [0]}, "greater than or equal to 1"),
    ],
)
def test_points_that_cannot_be_run_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Monitoring.model_validate(given)


def test_literals_come_near_to_selectivities() -> None:
    literals = [chain(400, selectivity, 0).operators[1].literal for selectivity in (0.05, 0.5, 0.95)]  # type: ignore[union-attr]
    assert literals == [-10, -1, 9]  # 1, 10 and 20 of 21 values


def test_points_differ_in_hosts_and_windows_do_not() -> None:
    of = Monitoring(selectivities=(0.5,), rates_per_s=(1600, 400), queries=2, windows_s=(5, 30), stored_s=(0, 16), points=3)
    found = list(_problems(of))
    assert len(found) == 3 * 2 * 2
    assert [one.at["rate_per_s"] for one in found[::4]] == [400, 400, 1600], "low rates first"
    assert len({one.hosts for one in found}) == 3
    for n in range(0, len(found), 4):
        assert len({one.hosts for one in found[n : n + 4]}) == 1
        assert found[n].candidates == found[n + 1].candidates


@pytest.mark.slow
def test_a_monitored_run_and_one_that_stays() -> None:
    several = _problems(Monitoring(selectivities=(0.5,), rates_per_s=(400,), windows_s=(10,), queries=9))
    one = next(one for one in several if len(set(one.candidates[0])) == 3)
    strong = max(range(5), key=lambda host: one.hosts[host].cpu_percent)
    stays, moves = timeline(one.document((strong,) * 3, 90)), timeline(one.monitored(90))
    assert stays["moves"] == []
    assert moves["moves"]
    found = compared(stays, moves)
    assert found["slowdown"] is not None
    assert found["slowdown"] > 1
    assert found["overhead_s"] is not None
    assert found["overhead_s"] > 30
