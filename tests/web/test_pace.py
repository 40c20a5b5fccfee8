"""How fast and how far a run goes: its pace, pauses and steps, in this process. None of them may change a result."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

import engine
from webapp.lab.models import Experiment, Lab, Run, RunState
from webapp.lab.people import member
from webapp.messaging import frame_files as files
from workers import execution, run_monitor
from workers.pace import MADE_UP_S, Schedule

from .conftest import small_document, wait_for
from .executing import Background, calls_of, executed, frames_of, inside_a_frame, parked, paused, queued

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def assert_as_undisturbed(run: Run) -> None:
    twin = engine.run(run.document)
    assert (run.state, run.error, run.digest) == (RunState.SUCCEEDED, "", twin.digest)
    assert {**run.summary, "wall_s": 0} == {**twin.summary, "wall_s": 0}
    assert frames_of(run) == twin.frames
    assert [json.loads(text) for text in files.frames_after(run.directory, -1, 100_000)] == twin.frames


def looked_or_ended(looks: list[Any], enough: int, background: Background) -> None:
    """Until workers have looked for wishes so often in all, or this one has ended."""
    wait_for(lambda: len(looks) >= enough or not background.thread.is_alive(), "the worker to look for wishes, or to end")


def let_others_wait(run: Run) -> None:
    """Another run is in the queue, and no worker takes it."""
    other = queued(run.lab, small_document())
    Run.objects.filter(pk=other.pk).update(enqueued_at=timezone.now() - timedelta(minutes=1))


# --- when a frame is due ------------------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


FRAME_NS = 250_000_000


@given(pace=st.floats(0.1, 1000), work_s=st.lists(st.floats(0, 1.9), min_size=2, max_size=40))
def test_frames_are_never_early_and_what_came_late_is_made_up_for(pace: float, work_s: list[float]) -> None:
    """Brute force: with any work, frames come at the pace, or as soon as they can; made up for is a second at most."""
    clock = Clock()
    schedule = Schedule(clock)
    due_s, step_s = clock.now_s, FRAME_NS / 1e9 / pace
    for n, took_s in enumerate(work_s):
        t_ns = (n + 1) * FRAME_NS
        due_s = clock.now_s if n == 0 else max(due_s + step_s, clock.now_s - MADE_UP_S)
        wait_s = schedule.wait_s(t_ns, pace)
        assert wait_s == pytest.approx(max(0.0, due_s - clock.now_s), abs=1e-6)
        clock.now_s += wait_s
        schedule.let_through(t_ns, pace)
        clock.now_s += took_s


def test_without_a_pace_and_after_a_pause_the_next_frame_is_due_at_once() -> None:
    clock = Clock()
    schedule = Schedule(clock)
    schedule.let_through(FRAME_NS, 1.0)
    assert schedule.wait_s(2 * FRAME_NS, 1.0) == pytest.approx(0.25)
    assert schedule.wait_s(2 * FRAME_NS, None) == 0
    assert schedule.wait_s(2 * FRAME_NS, 0.1) == pytest.approx(2.5), "a new pace counts from the last frame on"
    schedule.restart()
    assert schedule.wait_s(2 * FRAME_NS, 0.1) == 0


# --- runs ---------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_paced_run_takes_its_time_and_ends_with_the_same_result(lab: Lab) -> None:
    run = queued(lab, small_document(horizon_s=3.0))
    Run.objects.filter(pk=run.pk).update(pace=2.0)
    began_s = time.monotonic()
    background = Background(run)
    background.reached(3)
    run.refresh_from_db()
    assert run.eta_s == pytest.approx((3.0 - run.t_ns / 1e9) / 2.0, abs=0.05), "what is left takes what the pace says"
    run = background.join()
    took_s = time.monotonic() - began_s
    assert took_s >= 11 * 0.25 / 2.0, "twelve frames of a quarter of a second each, the first at once"
    assert_as_undisturbed(run)


@pytest.mark.slow
def test_paused_stepped_paced_and_resumed_a_run_gives_the_same(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = calls_of(monkeypatch, run_monitor.RunMonitor, "_look")
    run = queued(lab, small_document(horizon_s=30.0))
    Run.objects.filter(pk=run.pk).update(pace=4.0)
    background = Background(run)
    background.reached(2)
    assert Run.objects.pause(run.pk)
    frames = paused(run).frames
    assert run.paused_at
    assert run.eta_s is None
    looked = len(looks)
    wait_for(lambda: len(looks) >= looked + 4, "its worker to look for wishes four times more")
    run.refresh_from_db()
    assert (run.state, run.frames, len(frames_of(run))) == (RunState.PAUSED, frames, frames)
    assert Run.objects.step(run.pk, 1)
    paused(run, frames + 1)
    assert len(frames_of(run)) == frames + 1
    Run.objects.filter(pk=run.pk).update(pace=1000.0)
    assert Run.objects.step(run.pk, 3)
    assert Run.objects.step(run.pk, 2), "steps add up"
    paused(run, frames + 6)
    assert Run.objects.resume(run.pk)
    Run.objects.filter(pk=run.pk).update(pace=None)
    assert_as_undisturbed(background.join())


@pytest.mark.slow
def test_a_run_is_paused_even_within_a_frame(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One frame covers the whole run; a step from its middle makes that one frame."""
    document = small_document(horizon_s=400.0, per_s=10_000, frame_ms=400_000)
    inside = inside_a_frame(monkeypatch)
    background = Background(queued(lab, document))
    run = background.run
    wait_for(inside.is_set, "the engine to be inside the frame")
    assert Run.objects.pause(run.pk)
    paused(run, 0)
    assert Run.objects.step(run.pk, 1)
    paused(run, 1)
    Run.objects.resume(run.pk)
    assert_as_undisturbed(background.join())


def test_a_run_that_is_resumed_and_paused_at_once_is_paused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both wishes come between two looks of its worker, which sees a run that is to stand still, as before."""
    monkeypatch.setattr(run_monitor, "LOOK_S", 0.5)
    run = queued(lab, small_document(horizon_s=30.0))
    Run.objects.filter(pk=run.pk).update(pace=10.0)
    background = Background(run)
    background.reached(2)
    Run.objects.pause(run.pk)
    frames = paused(run).frames
    Run.objects.resume(run.pk)
    Run.objects.pause(run.pk)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert paused(run).frames == frames
    Run.objects.filter(pk=run.pk).update(pace=None)
    Run.objects.resume(run.pk)
    assert_as_undisturbed(background.join())


@pytest.mark.slow
def test_a_paused_run_gives_its_worker_to_those_who_wait_and_goes_on_where_it_stood(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "STANDING_S", 0.2)
    run = queued(lab, small_document(horizon_s=10.0))
    let_others_wait(run)
    Run.objects.filter(pk=run.pk).update(pace=10.0)
    background = Background(run)
    background.reached(2)
    Run.objects.pause(run.pk)
    background.join()
    frames = parked(run).frames
    assert (run.state, run.enqueued_at, run.losses) == (RunState.PAUSED, None, 0)
    since = run.paused_at
    assert len(files.frames_after(run.directory, -1, 1000)) == frames, "the files have it all, for viewers who come late"
    assert run.snapshot.exists()
    executed(run)
    assert (run.state, run.frames, run.paused_at) == (RunState.PAUSED, frames, since), "nobody takes it from the queue"
    assert Run.objects.step(run.pk, 2)
    run.refresh_from_db()
    assert (run.state, run.hold_at_frame) == (RunState.QUEUED, frames + 2)
    executed(run)
    assert (run.state, run.frames) == (RunState.PAUSED, frames + 2)
    assert len(files.frames_after(run.directory, -1, 1000)) == frames + 2
    assert Run.objects.resume(run.pk)
    assert_as_undisturbed(executed(run))


@pytest.mark.slow
@pytest.mark.parametrize("given_back", [False, True])
def test_a_paused_run_is_cancelled_and_keeps_what_was_measured(lab: Lab, monkeypatch: pytest.MonkeyPatch, given_back: bool) -> None:
    monkeypatch.setattr(execution, "STANDING_S", 0.0)
    run = queued(lab, small_document(horizon_s=30.0))
    if given_back:
        let_others_wait(run)
    Run.objects.filter(pk=run.pk).update(pace=10.0)
    background = Background(run)
    background.reached(4)
    Run.objects.pause(run.pk)
    paused(run)
    if given_back:
        background.join()
        parked(run)
    assert Run.objects.request_cancel(run.pk)
    background.join()
    assert (run.state, run.digest) == (RunState.CANCELLED, "")
    assert run.summary["records_in"] > 0
    assert run.metrics.get(metric="records_in").value == run.summary["records_in"]
    assert not run.snapshot.exists()
    assert len(frames_of(run)) == run.frames


@pytest.mark.slow
def test_shutting_down_gives_a_paused_run_back_as_paused(lab: Lab) -> None:
    run = queued(lab, small_document(horizon_s=10.0))
    Run.objects.filter(pk=run.pk).update(pace=10.0)
    background = Background(run)
    background.reached(2)
    Run.objects.pause(run.pk)
    frames = paused(run).frames
    execution.SHUTTING_DOWN.set()
    background.join()
    assert (run.state, run.frames, run.lease_holder, run.losses) == (RunState.PAUSED, frames, "", 0)
    execution.SHUTTING_DOWN.clear()
    Run.objects.resume(run.pk)
    assert_as_undisturbed(executed(run))


def test_a_lost_run_that_stood_still_stands_still_at_the_same_frame_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed as it stood, with no snapshot yet and Redis empty: all frames are made again."""
    from webapp.lib.redis_connection import connection

    monkeypatch.setattr(execution, "STANDING_S", 0.0)
    run = queued(lab, small_document(horizon_s=10.0))
    assert Run.objects.claim(run.pk, "dead")
    Run.objects.filter(pk=run.pk).update(frames=7, t_ns=7 * FRAME_NS, hold_at_frame=0)  # told to pause, as far as anybody saw
    (lost,) = Run.objects.take_back_lost(lambda holder: holder == "dead")
    assert (lost.state, lost.losses) == (RunState.QUEUED, 1)
    connection().flushall()
    let_others_wait(run)
    executed(run)
    assert (run.state, run.frames, run.losses) == (RunState.PAUSED, 7, 0)
    assert len(files.frames_after(run.directory, -1, 1000)) == 7
    Run.objects.resume(run.pk)
    assert_as_undisturbed(executed(run))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_wishes_in_any_order_change_the_result(lab: Lab, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Random pauses, steps, paces, resumptions and ends of the worker, while a worker takes the run whenever it is queued."""
    random = Random(seed)
    monkeypatch.setattr(execution, "STANDING_S", 0.1)
    monkeypatch.setattr(execution, "SNAPSHOT_EVERY_S", 0.3)
    looks = calls_of(monkeypatch, run_monitor.RunMonitor, "_look")
    run = queued(lab, small_document(horizon_s=60.0, seed=seed + 1))
    let_others_wait(run)
    Run.objects.filter(pk=run.pk).update(pace=20.0)
    background = Background(run)
    for _ in range(25):
        wish = random.choice(["pause", "step", "resume", "pace", "end of the worker", "nothing"])
        if wish == "pause":
            Run.objects.pause(run.pk)
        elif wish == "step":
            Run.objects.step(run.pk, random.randint(1, 6))
        elif wish == "resume":
            Run.objects.resume(run.pk)
        elif wish == "pace":
            Run.objects.filter(pk=run.pk).update(pace=random.choice([5.0, 50.0, 1000.0]))
        elif wish == "end of the worker":
            execution.SHUTTING_DOWN.set()
            background.join()
            execution.SHUTTING_DOWN.clear()
        looked_or_ended(looks, len(looks) + random.randint(0, 2), background)
        if not background.thread.is_alive():
            background = Background(run)
    Run.objects.filter(pk=run.pk).update(pace=None)
    while Run.objects.get(pk=run.pk).active:
        Run.objects.resume(run.pk)
        background.thread.join(timeout=0.1)
        if not background.thread.is_alive():
            background = Background(run)
    assert_as_undisturbed(background.join())


@pytest.mark.slow
def test_a_paused_run_is_stored_as_it_stands_and_keeps_a_worker_that_nobody_waits_for(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "STANDING_S", 0.0)
    monkeypatch.setattr(execution, "SNAPSHOT_EVERY_S", 0.5)
    run = queued(lab, small_document(horizon_s=10.0))
    Run.objects.filter(pk=run.pk).update(pace=10.0)
    background = Background(run)
    background.reached(2)
    Run.objects.pause(run.pk)
    frames = paused(run).frames
    wait_for(lambda: len(files.frames_after(run.directory, -1, 1000)) == frames, "all frames in the files")
    wait_for(run.snapshot.exists, "the snapshot, written after them")
    run.refresh_from_db()
    assert (run.state, bool(run.lease_holder)) == (RunState.PAUSED, True)
    Run.objects.resume(run.pk)
    assert_as_undisturbed(background.join())


# --- the row ------------------------------------------------------------------------------------------------------------------------------


def test_a_queued_run_is_paused_at_once_and_queued_again_when_it_may_go_on(lab: Lab) -> None:
    run = queued(lab, small_document())
    assert Run.objects.pause(run.pk)
    run.refresh_from_db()
    assert (run.state, run.hold_at_frame) == (RunState.PAUSED, 0)
    assert not Run.objects.claim(run.pk, "w")
    assert Run.objects.pause(run.pk), "to pause twice is no error"
    assert Run.objects.step(run.pk, 3)
    run.refresh_from_db()
    assert (run.state, run.hold_at_frame, run.enqueued_at) == (RunState.QUEUED, 3, None)


def test_what_has_ended_is_neither_paused_nor_stepped(lab: Lab) -> None:
    run = queued(lab, small_document())
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    assert not Run.objects.pause(run.pk)
    assert not Run.objects.step(run.pk, 1)
    assert not Run.objects.resume(run.pk)


# --- the API ------------------------------------------------------------------------------------------------------------------------------


def asked(client: Client, run: Run, action: str, status: int = 202, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/runs/{run.pk}/{action}", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    run.refresh_from_db()
    found: dict[str, Any] = answer.json()
    return found


def test_the_api_paces_pauses_steps_and_resumes(client: Client, experiment: Experiment) -> None:
    answer = client.post(f"/api/experiments/{experiment.pk}/runs", {"pace": 0.5}, content_type="application/json")
    assert (answer.status_code, answer.json()["pace"]) == (201, 0.5)
    run = Run.objects.get(pk=answer.json()["id"])
    assert asked(client, run, "pace", pace=None)["pace"] is None
    assert asked(client, run, "pace", pace=1000)["pace"] == 1000
    shown = asked(client, run, "pause")
    assert (shown["state"], shown["hold_at_frame"], bool(shown["paused_at"])) == ("paused", 0, True)
    assert [item["number"] for item in client.get("/api/runs?state=paused").json()["items"]] == [run.number]
    shown = asked(client, run, "step", frames=5)
    assert (shown["state"], shown["hold_at_frame"], shown["paused_at"]) == ("queued", 5, None)
    assert asked(client, run, "step")["hold_at_frame"] == 6
    assert asked(client, run, "resume")["hold_at_frame"] is None
    assert_as_undisturbed(executed(run))
    again = client.post(f"/api/runs/{run.pk}/rerun", {"pace": 2}, content_type="application/json").json()
    assert (again["pace"], again["hash"]) == (2, run.hash)


def test_refusals_say_why(client: Client, experiment: Experiment, lab: Lab) -> None:
    run = queued(lab, small_document())
    assert "pause it, then step" in asked(client, run, "step", 409)["detail"]
    for pace in (0, 0.05, 1001, "fast"):
        (problem,) = asked(client, run, "pace", 422, pace=pace)["problems"]
        assert problem["pointer"] == "/pace"
    assert "a pace of 1001 is out of range; give 0.1 to 1,000" in asked(client, run, "pace", 422, pace=1001)["detail"]
    assert "/pace" in asked(client, run, "pace", 422)["detail"], "there is no pace of its own"
    asked(client, run, "pause")
    for frames in (0, -1, 10**9, "many"):
        assert asked(client, run, "step", 422, frames=frames)["problems"][0]["pointer"] == "/frames"
    asked(client, run, "cancel")
    for action, body in (("pause", {}), ("step", {}), ("resume", {}), ("pace", {"pace": 1})):
        assert "was cancelled; only a run that is queued" in asked(client, run, action, 409, **body)["detail"]
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED, cancel_requested=False)
    assert f"run #{run.number} has succeeded" in asked(client, run, "pause", 409)["detail"]
    viewer = Client(HTTP_HOST="127.0.0.1")
    viewer.force_login(member("victor", "viewer").user)
    assert "viewer" in asked(viewer, run, "pause", 403)["detail"]
