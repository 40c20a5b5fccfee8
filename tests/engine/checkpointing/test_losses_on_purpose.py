"""Losses of hosts placed where they hurt most (docs/checkpointing.md): each moment is found in a run that is the same up to it, and the
host that is lost is one that the moment concerns, or another.

What this catches: a round that is cut and still used, a checkpoint that counts before it is stored, a recovery that a second loss brings
out of step, records that are sent again twice or no more when they are lost on their second way. Random losses (`test_recovery.py`) meet
such moments now and then; here it is certain that they do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import engine
from engine.checkpointing import messages as M
from engine.core import layout as L

from ...support.agreement import MS
from ...support.moments import Moment, coordinator_of, expected, in_a_round, in_an_upload, lost_then, meet, on_another_host, slow, worker_of
from ...support.recovery_examples import (
    JOBS_AND_PROTOCOLS,
    LOGGED,
    Document,
    communication_induced,
    coordinated,
    counting,
    hybrid,
    loss,
    uncoordinated,
    values,
    with_losses,
)

FIRST_NS = 150 * MS  # of a loss that others follow
on_each_job_and_protocol = pytest.mark.parametrize(
    ("job", "protocol"), JOBS_AND_PROTOCOLS, ids=[f"{job.__name__}-{protocol.__name__}" for job, protocol in JOBS_AND_PROTOCOLS]
)
THAT_WAIT = [(job, protocol) for job, protocol in JOBS_AND_PROTOCOLS if protocol is not hybrid]  # chains do not: test_hybrid.py
THAT_SEARCH = [(job, protocol) for job, protocol in JOBS_AND_PROTOCOLS if protocol in LOGGED]


# -- the moments ---------------------------------------------------------------------------------------------------------------------


def in_detection(simulation: engine.Simulation) -> set[int]:
    """The host that is down while nobody believes it."""
    about = coordinator_of(simulation)
    return {host for _, host in about._suspected} if not about.recoveries else set()


def in_the_search(simulation: engine.Simulation) -> set[int]:
    """Hosts that were lost, while their coordinator searches the line."""
    about = coordinator_of(simulation)
    return set(about.recoveries[-1].hosts) if about._searching else set()


def in_the_restart(simulation: engine.Simulation) -> set[int]:
    """Hosts that have been ordered back and do not fetch yet."""
    epoch = coordinator_of(simulation).epoch
    machines = worker_of(simulation).machines
    return {host for host, machine in machines.items() if epoch and machine.epoch == epoch and machine.line and not machine.awaited}


def in_its_restart(simulation: engine.Simulation) -> set[int]:
    """The host that was lost, as soon as it is up and has been ordered back itself."""
    return in_the_restart(simulation) & set(
        coordinator_of(simulation).recoveries[-1].hosts if coordinator_of(simulation).recoveries else []
    )


def in_fetching(simulation: engine.Simulation) -> set[int]:
    """Hosts that wait for what they fetch."""
    machines = worker_of(simulation).machines
    return {host for host, machine in machines.items() if len(machine.fetched) < len(machine.awaited)}


def in_waiting_for_the_last(simulation: engine.Simulation) -> set[int]:
    """Hosts that have restored everything, while others have not."""
    about = coordinator_of(simulation)
    return set(about.recoveries[-1].restored) if about.recovering else set()


def in_a_replay(simulation: engine.Simulation) -> set[int]:
    """All go on. Hosts to which records are sent again that they have not served; where the protocol sends none, those whose sources read
    again what they had read before the loss."""
    about, w, logs = coordinator_of(simulation), simulation._world.arrays, simulation._logs
    if not about.recoveries or about.recovering or any(machine.line for machine in worker_of(simulation).machines.values()):
        return set()
    replays = replays_of(simulation)
    if replays:
        return {int(w.inst[w.chan[c, L.C_RECEIVER], L.I_HOST]) for c, first, end in replays if w.carried[c, L.SEQ_PROCESSED] < end}
    sources = np.flatnonzero(w.inst[:, L.I_SOURCE] == 1).tolist()
    return {int(w.inst[i, L.I_HOST]) for i in sources if logs.place(w, i).append_ns < FIRST_NS}


def replays_of(simulation: engine.Simulation) -> list[list[int]]:
    """Channel, first and end of what the last recovery has sent again."""
    return [found for _, replays in coordinator_of(simulation)._orders.values() for found in replays]


IN_A_RECOVERY = (in_detection, in_the_restart, in_its_restart, in_fetching, in_waiting_for_the_last)


# -- the losses ----------------------------------------------------------------------------------------------------------------------


@on_another_host
@pytest.mark.parametrize(("job", "protocol"), THAT_WAIT, ids=[f"{job.__name__}-{protocol.__name__}" for job, protocol in THAT_WAIT])
def test_in_a_round(job: Callable[..., Document], protocol: Callable[..., Document], other: bool) -> None:
    """The round that is cut comes to nothing. (Without rounds: of checkpoints that others have not taken yet, none leaves an orphan.)"""
    simulation, lost_ns, host = lost_then(slow(job, protocol), in_a_round, 100 * MS, 200 * MS, other)
    opened = getattr(coordinator_of(simulation), "open_round", None)
    simulation.run_until(simulation.end_ns)
    about = simulation.checkpointing
    (recovery,) = about["recoveries"]
    assert recovery["hosts"] == [host]
    if "rounds" in about:
        cut = next(one for one in about["rounds"] if one["number"] == opened.number)
        assert cut["triggered_ns"] < lost_ns < cut["ended_ns"]
        assert cut["ended"] == "aborted"
        assert set(recovery["line"]) == {opened.number - 1}
    assert values(simulation).keys() == expected(job, protocol)


@on_another_host
@on_each_job_and_protocol
def test_in_an_upload(job: Callable[..., Document], protocol: Callable[..., Document], other: bool) -> None:
    """What the store has not confirmed by then is in no line, now or ever."""
    simulation, _, host = lost_then(slow(job, protocol), in_an_upload, 100 * MS, 200 * MS, other)
    machines = worker_of(simulation).machines
    cut = {name for at, machine in machines.items() for name in machine.uploads if other or at == host}
    assert cut
    simulation.run_until(simulation.end_ns)
    about = simulation.checkpointing
    (recovery,) = about["recoveries"]
    assert recovery["hosts"] == [host]
    known = about["stored"] if "stored" in about else [[row, one["ended_ns"]] for one in about["rounds"] for row in one["taken"]]
    durable = {(row[M.NUMBER], row[M.INSTANCE]) for row, _ in known}
    in_time = {(row[M.NUMBER], row[M.INSTANCE]) for row, heard_ns in known if heard_ns <= recovery["detected_ns"]}
    assert not other or not cut <= in_time, "some uploads last longer than the detection"
    assert not {(number, i) for number, i in cut - in_time if recovery["line"][i] == number}
    assert other or not cut & durable, "its host is gone: nobody says that it is stored"
    assert values(simulation).keys() == expected(job, protocol)


@on_another_host
@pytest.mark.parametrize("moment", IN_A_RECOVERY, ids=lambda moment: moment.__name__)
@on_each_job_and_protocol
def test_in_a_recovery(job: Callable[..., Document], protocol: Callable[..., Document], moment: Moment, other: bool) -> None:
    """The first recovery never ends, or began before the second loss; the last one does."""
    document = with_losses(slow(job, protocol), [loss("w2", FIRST_NS / 1e9, 0.004)])
    simulation, lost_ns, host = lost_then(document, moment, FIRST_NS, FIRST_NS + 60 * MS, other)
    is_down = host in coordinator_of(simulation).down  # then it will be for longer
    simulation.run_until(simulation.end_ns)
    recoveries = simulation.checkpointing["recoveries"]
    assert [recovery["go_ns"] > 0 for recovery in recoveries] == ([True] if is_down else [False, True])
    if not is_down:
        assert recoveries[1]["hosts"] == [host]
        assert recoveries[1]["line"] == recoveries[0]["line"], "nobody has gone on, so there is nothing newer"
        assert lost_ns < recoveries[1]["detected_ns"] < recoveries[1]["go_ns"]
    assert values(simulation).keys() == expected(job, protocol)


@on_another_host
@pytest.mark.parametrize(("job", "protocol"), THAT_SEARCH, ids=[f"{job.__name__}-{protocol.__name__}" for job, protocol in THAT_SEARCH])
def test_in_the_search(
    job: Callable[..., Document], protocol: Callable[..., Document], other: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search so slow that another loss is noticed while it lasts: it is finished, nobody is ordered back to what it found, and the next
    one begins. A host that comes up meanwhile waits for it."""
    monkeypatch.setattr("engine.checkpointing.uncoordinated.SEARCH_STEP_NS", 100_000)
    document = with_losses(slow(job, protocol), [loss("w2", FIRST_NS / 1e9, 0.004)])
    simulation, lost_ns, host = lost_then(document, in_the_search, FIRST_NS, FIRST_NS + 60 * MS, other)
    simulation.run_until(simulation.end_ns)
    recoveries = simulation.checkpointing["recoveries"]
    found_ns = [recovery["detected_ns"] + recovery["search_ns"] for recovery in recoveries]
    assert recoveries[0]["detected_ns"] < lost_ns < found_ns[0]
    if other:
        first, last = recoveries
        assert last["hosts"] == [host]
        assert last["detected_ns"] < found_ns[0] < found_ns[1]
        assert (first["ordered"], first["go_ns"]) == ([], -1)
        assert first["line"] == last["line"]
    assert min(at_ns for _, at_ns in recoveries[-1]["ordered"]) == found_ns[-1] < recoveries[-1]["go_ns"]
    assert values(simulation).keys() == expected(job, protocol)


@on_another_host
@on_each_job_and_protocol
def test_in_a_replay(job: Callable[..., Document], protocol: Callable[..., Document], other: bool) -> None:
    """What is sent again is lost again, and sent a third time."""
    document = with_losses(slow(job, protocol), [loss("w2", FIRST_NS / 1e9, 0.004)])
    simulation, lost_ns, host = lost_then(document, in_a_replay, FIRST_NS, FIRST_NS + 60 * MS, other)
    first = replays_of(simulation)
    assert sum(end - begin for _, begin, end in first) > 0 or protocol is coordinated
    simulation.run_until(simulation.end_ns)
    recoveries = simulation.checkpointing["recoveries"]
    assert [recovery["hosts"] for recovery in recoveries] == [[1], [host]]
    assert 0 < recoveries[0]["go_ns"] < lost_ns < recoveries[1]["detected_ns"] < recoveries[1]["go_ns"]
    assert all(new >= old for old, new in zip(recoveries[0]["line"], recoveries[1]["line"], strict=True))
    if recoveries[1]["line"] == recoveries[0]["line"]:
        assert replays_of(simulation) == first
    else:
        assert protocol is communication_induced, "only a forced checkpoint is quick enough"
    assert values(simulation).keys() == expected(job, protocol)


def test_each_recovery_has_these_moments() -> None:
    """In their order, so that the losses above are what they are called."""
    for protocol in (coordinated, uncoordinated, communication_induced):
        document = with_losses(slow(counting, protocol), [loss("w2", FIRST_NS / 1e9, 0.004)])
        moments = (in_detection, in_the_restart, in_fetching, in_a_replay)
        times = [meet(document, moment, FIRST_NS, FIRST_NS + 60 * MS)[0] for moment in moments]
        assert times == sorted(times)
        assert len(set(times)) == len(times)
