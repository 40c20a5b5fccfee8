"""Settings of stores that change while a query runs: by hand, in a fork, and by the agent that tunes compaction.

What this catches: a setting that changes too early, too late, or not at all; a thread that is let go amid its pass; an agent that swings,
that forgets the limit of the broker's CPU, or that depends on how the run is cut.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.tables import Capacity
from engine.services.cleaner import Cleaner, CleanerSettings
from engine.services.topics import LogSettings, Partition
from engine.simulation.simulation import Simulation
from engine.spec import load, validate
from engine.spec.base.problems import Refusal
from engine.spec.experiment.states.tuning import Tuning
from engine.spec.rules.forking import Fork
from engine.state.adjusting import LADDER, PERIODS_BETWEEN, Seen, Tuner
from engine.state.stores import Stores
from tests.support.agreement import TINY
from tests.support.stored import SECOND, in_memory, stored

COMPACTED = {"compacted": True, "segment_ms": 200, "dirty_ratio": 0.5}


def ended(document: dict[str, Any], **options: Any) -> tuple[Simulation, list[dict[str, Any]]]:
    simulation, frames = Simulation(document, **options), []
    while frame := simulation.advance():
        frames.append(frame["state"])
    return simulation, frames


def stores(simulation: Simulation) -> Stores:
    assert simulation._stores is not None
    return simulation._stores


def changing(*adjustments: dict[str, Any], **state: Any) -> dict[str, Any]:
    given = {"changelog": COMPACTED, "cleaner": {"backoff_s": 0.5, "setup_ms": 5}, **state}
    return stored(horizon_s=6, commit_s=1, adjustments=list(adjustments), **given)


def test_settings_change_at_their_time_and_not_before() -> None:
    whole, before = ended(changing())
    _, after = ended(changing({"at_s": 3, "commit_s": 0.5, "dirty_ratio": 0.01, "backoff_s": 0.1}, {"at_s": 4, "threads": 3}))
    assert before[:2] == after[:2]
    assert [frame["settings"]["commit_s"] for frame in after] == [1, 1, 0.5, 0.5, 0.5, 0.5]
    assert [frame["settings"]["threads"] for frame in after] == [2, 2, 2, 3, 3, 3]
    assert [len(frame["cleaners"]) for frame in after] == [2, 2, 2, 3, 3, 3]
    assert [frame["limits"]["dirty_ratio"] for frame in after] == [0.5, 0.5, 0.01, 0.01, 0.01, 0.01]
    assert sum(frame["commits"] for frame in after[3:]) > 1.5 * sum(frame["commits"] for frame in before[3:])
    assert sum(frame["passes"] for frame in after[3:]) > 1.5 * sum(frame["passes"] for frame in before[3:])
    assert stores(whole).tuner is None


def test_a_segment_closes_by_the_setting_of_its_time() -> None:
    """Without a cleaner the number of segments is all that changes."""
    _, before = ended(stored(horizon_s=6, commit_s=1, changelog={}))
    _, after = ended(stored(horizon_s=6, commit_s=1, changelog={}, adjustments=[{"at_s": 3, "segment_ms": 100}]))
    assert [frame["stores"]["revenue[0]"]["segments"] for frame in before] == [0] * 6
    segments = [frame["stores"]["revenue[0]"]["segments"] for frame in after]
    assert segments[:3] == [0] * 3
    assert segments[5] - segments[3] in (18, 19, 20)


def test_a_batch_that_changes_is_that_of_the_cache() -> None:
    _, after = ended(stored("retain", horizon_s=4, commit_s=2, adjustments=[{"at_s": 2, "batch": 10}]))
    assert [frame["limits"]["dirty"] for frame in after] == [500, 10, 10, 10]
    assert after[3]["stores"]["revenue[0]"]["dirty"] < 10


def test_threads_that_are_too_many_end_their_pass() -> None:
    log = Partition(LogSettings())
    cleaner = Cleaner([log], CleanerSettings(3, 10), [5, 6, 7], lambda _: 1.0)
    cleaner.threads[2].pass_, cleaner.threads[2].log = log.cleaning(0), 0
    cleaner.adjust(CleanerSettings(1, 10), 1)
    assert [(thread.pass_ is not None, thread.until_ns) for thread in cleaner.threads] == [(True, 7)]
    cleaner.adjust(CleanerSettings(2, 10), 1)
    assert [thread.until_ns for thread in cleaner.threads] == [7, 1]
    cleaner.wake(1)
    assert [thread.until_ns for thread in cleaner.threads] == [7, 11]
    cleaner.adjust(CleanerSettings(2, 1), 2)
    assert [thread.until_ns for thread in cleaner.threads] == [7, 3]


def test_a_fork_changes_settings_from_its_time_on() -> None:
    document = changing({"at_s": 1, "dirty_ratio": 0.4})
    fork = Fork.model_validate({"at_s": 3.0, "adjustments": [{"at_s": 3, "dirty_ratio": 0.01, "segment_ms": 100}]})
    forked = fork.applied(load(document), document)
    assert forked["policies"]["state"]["adjustments"][1] == {"at_s": 3.0, "dirty_ratio": 0.01, "segment_ms": 100.0}
    assert ended(document)[1][:2] == ended(forked)[1][:2]
    with pytest.raises(Refusal, match="before the fork"):
        Fork.model_validate({"at_s": 4.0, "adjustments": [{"at_s": 3, "batch": 2}]}).applied(load(document), document)
    plain = in_memory(document)
    with pytest.raises(Refusal, match="no local stores"):
        fork.applied(load(plain), plain)


@pytest.mark.parametrize(
    ("state", "place", "words"),
    [
        ({"adjustments": [{"at_s": 1}]}, "adjustments/0/at_s", "nothing would change"),
        ({"adjustments": [{"at_s": 99, "batch": 3}]}, "adjustments/0/at_s", "not before the end of the run"),
        ({"adjustments": [{"at_s": 1, "batch": 5000}]}, "adjustments/0/batch", "more than the 1000 entries"),
        ({"adjustments": [{"at_s": 1, "threads": 2}], "changelog": {}}, "adjustments/0/threads", "not compacted"),
        ({"adjustments": [{"at_s": 1, "commit_s": 0}]}, "adjustments/0/commit_s", "above 0"),
        ({"tuning": {"restore_s": 1}, "changelog": {}}, "tuning", "nothing to tune"),
        ({"tuning": {}}, "tuning/changelog_mb", "there is no goal"),
        ({"tuning": {"restore_s": 0}}, "tuning/restore_s", "above 0"),
    ],
)
def test_bad_adjustments_and_goals(state: dict[str, Any], place: str, words: str) -> None:
    document = changing()
    document["policies"]["state"] |= state
    found = validate(document)
    said = next(problem for problem in found if problem.pointer == f"/policies/state/{place}")
    assert words in said.message


# -- the agent ----------------------------------------------------------------------------------------------------------------------


def seen(share: float, busy: float = 0.2) -> Seen:
    return Seen(int(share * 100e6), 0.0, busy)


def test_the_agent_steps_up_and_down_with_two_looks_between() -> None:
    tuner = Tuner(Tuning(changelog_mb=100))
    steps = []
    for n, share in enumerate([1.2] * 6 + [0.8] * 2 + [0.4] * 4):
        tuner.look(seen(share), n)
        steps.append(tuner.step)
    assert steps == [1, 1, 2, 2, 3, 3, 3, 3, 2, 2, 1, 1]
    assert PERIODS_BETWEEN == 2


def test_the_limit_of_the_brokers_cpu_comes_first() -> None:
    tuner = Tuner(Tuning(changelog_mb=100, broker_busy=0.3))
    tuner.step = 4
    assert tuner.look(seen(1.5, busy=0.4), 1) == dict(LADDER[3])
    assert tuner.verdicts == [(1, "conflict")]
    assert tuner.look(seen(0.8, busy=0.4), 2) == {}
    assert tuner.verdicts[-1] == (2, "compact less")


@given(shares=st.lists(st.floats(0, 3), min_size=1, max_size=60), busy=st.floats(0, 1))
def test_the_agent_stays_on_its_ladder_and_never_hurries(shares: list[float], busy: float) -> None:
    tuner = Tuner(Tuning(changelog_mb=100, broker_busy=0.5))
    steps = [0]
    for n, share in enumerate(shares):
        tuner.look(seen(share, busy), n)
        steps.append(tuner.step)
    moves = [n for n, (before, after) in enumerate(itertools.pairwise(steps)) if before != after]
    assert all(abs(after - before) <= 1 for before, after in itertools.pairwise(steps))
    assert all(later - earlier >= PERIODS_BETWEEN for earlier, later in itertools.pairwise(moves))
    assert 0 <= min(steps) <= max(steps) < len(LADDER)
    assert busy <= 0.5 or max(steps) == 0


def test_each_step_compacts_more_than_the_one_before() -> None:
    for before, after in itertools.pairwise(LADDER):
        assert all(after[name] <= before[name] for name in before)
        assert after != before


def tuned(**tuning: float) -> dict[str, Any]:
    """A log that grows for want of compaction: segments of a second, and a goal that only smaller ones reach."""
    document = stored(horizon_s=30, per_s=800, commit_s=5, changelog=COMPACTED, cleaner={"setup_ms": 5}, tuning={"every_s": 1, **tuning})
    return document


def test_an_agent_reaches_its_goal_in_a_run() -> None:
    whole, frames = ended(tuned(changelog_mb=0.03))
    steps = [frame["settings"]["tuning_step"] for frame in frames]
    assert steps[0] <= 1
    assert max(steps) >= 5
    sizes = [frame["changelog_bytes"] for frame in frames]
    assert max(sizes[-5:]) < 0.5 * max(sizes)
    summary = whole.summary()["state"]
    assert summary["tuning_step"] == steps[-1]
    assert summary["tuning_conflicts"] == 0


def test_a_busy_broker_stops_the_agent() -> None:
    simulation, frames = ended(tuned(changelog_mb=0.0001, broker_busy=0.1))
    assert {frame["settings"]["tuning_step"] for frame in frames} == {0}
    assert simulation.summary()["state"]["tuning_conflicts"] >= 25


def test_tuning_does_not_depend_on_how_the_run_is_cut(tmp_path: Any) -> None:
    document = tuned(restore_s=0.001)
    document["policies"]["state"]["adjustments"] = [{"at_s": 3, "batch": 20}, {"at_s": 9, "commit_s": 2}]
    document["workload"]["horizon_s"] = 12
    whole, _ = ended(document)
    tiny = Simulation(document, capacity=Capacity(**{**vars(TINY), "changes": 1}))
    for at_s in (0.3, 2.9999, 3.0, 7.25):
        tiny.run_until(round(at_s * SECOND))
        tiny.digest()
    tiny.save(tmp_path / "run")
    for one in (tiny, Simulation.resume(document, tmp_path / "run"), tiny.fork()):
        while one.advance():
            pass
        assert one.digest() == whole.digest()
