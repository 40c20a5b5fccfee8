"""What every occurrence of faults promises; and one from outside the package, in one file (tests/newcomers/occurrence.py).

What this catches: a fault that begins before the last one has ended, at other times when a run is repeated, or before the time that forks
believe; and an occurrence of another package that the engine does not treat as one of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.core.random import RandomStream
from engine.faults.occurrences import next_ns
from engine.spec import load, validate
from engine.spec.base.family import kind_of
from engine.spec.base.problems import Refusal
from engine.spec.experiment.occurrences import OCCURRENCES
from engine.spec.experiment.occurrences.base import Occurrence
from engine.spec.experiment.occurrences.in_commit import InCommit
from engine.spec.rules.forking import Fork
from tests.newcomers.occurrence import Periodic

from ...support.agreement import MS, traced
from ...support.family_contracts import assert_is_shown, offered, samples
from ...support.worked_examples import chains_on_a_host


@pytest.fixture
def newcomer() -> Iterator[None]:
    with offered(OCCURRENCES, Periodic):
        yield


@pytest.mark.parametrize("kind", [*OCCURRENCES.kinds, Periodic], ids=kind_of)
def test_every_occurrence_names_later_times_and_the_same_ones_each_time(kind: type[Occurrence]) -> None:
    for when in samples(kind):
        random, now_ns, found = RandomStream(1, "fault", 0), 0, []
        for begun in range(20):
            at_ns = next_ns(when, random, begun, now_ns)
            assert at_ns == next_ns(when, RandomStream(1, "fault", 0), begun, now_ns)
            if at_ns is None:
                break
            assert at_ns > now_ns or (begun == 0 and at_ns == 0)
            found.append(at_ns)
            now_ns = at_ns + 7 * MS
        assert found or isinstance(when, InCommit), "it happens once at least, or when a commit has come so far"
        assert when.begins_ns in (None, *found[:1])
        assert when.begins_s is None or when.begins_s == getattr(when, when.begins_field)


FAULT = {"kind": "slow_host", "host": "h", "factor": 0.5, "for_ms": 15.0, "when": {"kind": "periodic", "first_s": 0.01, "every_s": 0.04}}


def made(**when: Any) -> dict[str, Any]:
    """A service of 10 ms each 20 ms, on a host that is slow from 10 to 25 ms, from 50 to 65 ms, and so on."""
    document = chains_on_a_host({"kind": "shared_fifo"}, 1, 1, gap_ms=20.0)
    document["workload"]["horizon_s"] = 0.1
    return document | {"faults": [FAULT | {"when": FAULT["when"] | when}]}


@pytest.mark.usefixtures("newcomer")
def test_a_newcomer_is_shown() -> None:
    assert_is_shown(OCCURRENCES, Periodic)


@pytest.mark.usefixtures("newcomer")
def test_a_newcomers_fault_comes_every_period() -> None:
    """The services that begin at 20 and at 60 ms take twice as long."""
    rows = traced(made()).service_trace()
    assert [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0] == [10, 20, 10, 20, 10]


@pytest.mark.usefixtures("newcomer")
def test_what_would_begin_during_the_one_before_is_left_out() -> None:
    """Every 10 ms, for 15 ms: it begins at 10, 30, 50, 70 and 90 ms."""
    rows = traced(made(every_s=0.01)).service_trace()
    assert [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0] == [10, 20, 20, 20, 20]


@pytest.mark.usefixtures("newcomer")
@pytest.mark.parametrize("cut_ms", [5, 15, 55])
def test_a_run_continues_from_a_snapshot(cut_ms: int) -> None:
    whole, first, second = (engine.Simulation(made()) for _ in range(3))
    whole.run_until(whole.end_ns)
    first.run_until(cut_ms * MS)
    second.restore(first.snapshot())
    second.run_until(second.end_ns)
    assert second.digest() == whole.digest()


@pytest.mark.usefixtures("newcomer")
def test_a_newcomer_obeys_the_rules_of_faults() -> None:
    """It begins before the horizon, and in a fork not before the fork."""
    (problem,) = validate(made(first_s=0.1))
    assert (problem.pointer, problem.code) == ("/faults/0/when/first_s", "outside_run")
    assert problem.message.startswith("first_s is 0.1, but the horizon is 0.1 s")
    plain = made() | {"faults": []}
    late = FAULT | {"when": FAULT["when"] | {"first_s": 0.05}}
    assert Fork.model_validate({"at_s": 0.05, "faults": [late]}).applied(load(plain), plain)["faults"] == [late]
    with pytest.raises(Refusal, match=r"the fault begins at 0\.05 s, before the fork at 0\.06 s"):
        Fork.model_validate({"at_s": 0.06, "faults": [late]}).applied(load(plain), plain)


def test_without_it_a_document_is_refused() -> None:
    (problem,) = validate(made())
    assert (problem.pointer, problem.code) == ("/faults/0/when/kind", "unknown_kind")
