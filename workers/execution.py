"""One attempt at a run: claim it, run the engine frame by frame, and store the outcome.

The order of the steps makes it safe to be killed at any point:
1. claim the row; 2. remove partial files, resume from the snapshot if there is one, and drop telemetry written after it; 3. run; every
few seconds close the telemetry parts, then take a snapshot; 4. close the last parts; 5. judge its assertions, and store
summary, digest, verdicts and state in one conditional update.
If a worker dies in between, its lease expires, and the next attempt continues at 2.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import DatabaseError, InterfaceError, connections, transaction
from django.db.models import F
from django.utils import timezone

import engine
from engine.assertions.judging import judge
from engine.core.compiler import watched
from engine.prices import version_for
from engine.spec import InvalidExperiment
from engine.spec.experiment.assertion import overall
from engine.spec.rules.validation import Context, load
from engine.telemetry.recorded import Recorded
from webapp.lab.documents import datasets_of
from webapp.lab.models import Run, RunState, RunSummary, Work
from webapp.lab.sparklines import sparkline
from webapp.lab.verdicts import verdicts_of
from webapp.lab.waiting_work import enqueue
from webapp.lib import outages
from webapp.lib.file_sizes import bytes_below, size_of
from webapp.lib.redis_connection import connection
from webapp.messaging.frame_files import frames_after
from webapp.messaging.stream import announce

from .artifacts import disk_full_message, is_disk_full
from .identity import new_holder
from .pace import Schedule
from .run_monitor import Cancelled, LeaseLost, Parked, RunMonitor, ShuttingDown
from .time_slices import TimeSlices

log = logging.getLogger(__name__)

SHUTTING_DOWN = threading.Event()
SNAPSHOT_EVERY_S = float(os.environ.get("MILLRACE_SNAPSHOT_EVERY_S", "3"))
SNAPSHOT_SHARE_MAX = 0.05  # of wall-clock time; large states are stored less often
STANDING_S = 3.0  # a paused run keeps its worker this long, for stepping; then it yields to waiting work
FINISH_ATTEMPTS, FINISH_PAUSE_S = 20, 0.5


def execute(run_id: str) -> bool:
    """Execute a queued run. Returns False, without any effect, if another worker holds it, or if it is no longer queued."""
    holder = new_holder()
    document = Run.objects.filter(pk=run_id).values_list("document", flat=True).first() or {}
    if not Run.objects.claim(run_id, holder, engine_version=version_for(document), summary=None, compiling=False):
        return False
    run = Run.objects.select_related("lab").get(pk=run_id)
    if run.hold_at_frame is not None and run.hold_at_frame < run.frames:  # after a loss: pause where it was paused
        Run.objects.held(run_id, holder).filter(hold_at_frame__lt=F("frames")).update(hold_at_frame=F("frames"))
        run.refresh_from_db(fields=["hold_at_frame"])
    announce(connection(), run.pk)
    attempt = Attempt(run, holder)
    try:
        with attempt.monitor:
            outcome = attempt.outcome()
    except LeaseLost:
        log.warning("run %s (#%d): lost to another worker, or deleted", run.pk, run.number)
        return True
    except (Parked, ShuttingDown) as why:
        reason = "it is paused" if isinstance(why, Parked) else "this worker is shutting down"
        log.info("run %s (#%d): released at %.3f s, %s", run.pk, run.number, attempt.t_ns / 1e9, reason)
        if Run.objects.release(run.pk, holder, t_ns=attempt.t_ns, frames=attempt.frames, summary=attempt.kept_summary()):
            announce(connection(), run.pk)
            if isinstance(why, Parked):
                enqueue(run.pk)  # in case someone resumed it in between
            return True
        outcome = {"state": RunState.CANCELLED, "summary": attempt.kept_summary()}
    finish(run, holder, {**outcome, "t_ns": attempt.t_ns, "frames": attempt.frames, "sparkline": sparkline(attempt.p99_ms)})
    return True


def finish(run: Run, holder: str, changes: dict[str, Any]) -> None:
    """Store the outcome of the run, if this attempt still holds it."""
    summary = changes.get("summary")
    stored_bytes = bytes_below(run.directory) - size_of(run.snapshot)
    ended = {**changes, "eta_s": None, "stored_bytes": stored_bytes}
    if run.judged and "verdicts" not in changes:
        run.state, run.error = changes["state"], changes.get("error", "")
        ended["verdicts"] = verdicts_of(run)
    mine = store_end(run, holder, ended, lambda: RunSummary.store(run, summary) if summary else None)
    if mine:
        run.remove_working_files()
        announce(connection(), run.pk, ended=True)
    log.info("run %s (#%d): %s", run.pk, run.number, changes["state"] if mine else "taken by another worker")


def store_end(work: Work, holder: str, changes: dict[str, Any], also: Callable[[], None] = lambda: None) -> bool:
    """Store the outcome of work. also: stores more in the same transaction. Returns False, with nothing stored, if another worker holds the
    work now. Retries, so that a brief database outage does not lose a result."""
    for attempt in range(FINISH_ATTEMPTS):
        try:
            ended = {"finished_at": timezone.now(), "lease_holder": "", "lease_until": None}
            with transaction.atomic():
                mine = type(work).objects.held(work.pk, holder).update(**changes, **ended) == 1
                if mine:
                    also()
            return mine
        except (DatabaseError, InterfaceError) as error:
            log.warning("%s %s: cannot store its outcome yet (%s)", type(work).__name__, work.pk, error)
            connections.close_all()
            if attempt == FINISH_ATTEMPTS - 1:
                raise
            time.sleep(FINISH_PAUSE_S)
    return False


class Attempt:
    """An attempt at a run, and its state."""

    def __init__(self, run: Run, holder: str) -> None:
        self.run, self.holder, self.directory = run, holder, Path(run.directory)
        self.monitor = RunMonitor(run, holder, SHUTTING_DOWN)
        self.simulation: engine.Simulation | None = None
        self.t_ns, self.frames = 0, 0
        self.p99_ms: list[float | None] = []  # by frame
        self.schedule = Schedule()
        self.stored_ns = 0
        self.stored_at_s, self.snapshot_pause_s = time.monotonic(), SNAPSHOT_EVERY_S

    def outcome(self) -> dict[str, Any]:
        """Run to the end. Returns the outcome as changes of the row. Raises LeaseLost, Parked and ShuttingDown, and the database's error if
        that is away."""
        try:
            return self._run()
        except (LeaseLost, Parked, ShuttingDown):
            raise
        except Cancelled:
            return {"state": RunState.CANCELLED, "summary": self.kept_summary()}
        except InvalidExperiment as error:
            return failed(f"the experiment is invalid: {error}")
        except MemoryError:
            return failed(f"the worker ran out of memory {self._where()}; reduce the rate, the horizon or the state")
        except Exception as error:
            outages.pass_on(error)
            if is_disk_full(error):
                return failed(disk_full_message(error, self.directory, self.t_ns))
            log.exception("run %s (#%d) failed", self.run.pk, self.run.number)
            return failed(f"the engine failed {self._where()}: {type(error).__name__}: {error}; the worker's log has the details")

    def _where(self) -> str:
        return f"at {self.t_ns / 1e9:.3f} s of virtual time"

    def _run(self) -> dict[str, Any]:
        self.directory.mkdir(parents=True, exist_ok=True)
        with watched(self.monitor.compiles):
            return self._simulated()

    def _simulated(self) -> dict[str, Any]:
        simulation = self.simulation = self._begin()
        slices = TimeSlices()
        try:
            self._wait_for_turn(simulation)
            while (frame := slices.next_frame(simulation, lambda: self._check(simulation))) is not None:
                self.t_ns, self.frames = simulation.now_ns, frame["n"] + 1
                self.p99_ms.append(p99_of(frame))
                self.monitor.reached(frame["n"], simulation.telemetry.latest, self.t_ns)
                self._wait_for_turn(simulation)
        except (Parked, ShuttingDown):
            if simulation.now_ns > self.stored_ns:
                self._store(simulation)
            raise
        except Cancelled:
            simulation.telemetry.write(self.directory)
            raise
        simulation.telemetry.write(self.directory)
        self.t_ns = simulation.now_ns
        if ended := simulation.deadlock or simulation.exhaustion:
            return {**failed(ended), "summary": simulation.summary()}
        summary = simulation.summary()
        verdicts = [verdict.as_dict() for verdict in judge(simulation.experiment, summary, lambda: Recorded.read(self.directory))]
        judged = {"verdicts": verdicts, "judged": overall([verdict["state"] for verdict in verdicts]) or ""}
        return {"state": RunState.SUCCEEDED, "summary": summary, "digest": simulation.digest(), **judged}

    def _begin(self) -> engine.Simulation:
        """Resume from the snapshot of an earlier attempt, or start from the beginning. Removes partial files of killed workers."""
        self.run.remove_unfinished()
        datasets = datasets_of(self.run.lab)
        experiment = load(self.run.document, Context(datasets=datasets))
        simulation = None
        if self.run.snapshot.exists():
            try:
                simulation = engine.Simulation.resume(experiment, self.run.snapshot, datasets=datasets)
            except Exception:
                # Another engine version wrote it, or it is damaged. The run restarts from the beginning, with the same result.
                log.exception("run %s: cannot use its snapshot, restarting from the beginning", self.run.pk)
        if simulation is None:
            simulation = engine.Simulation(experiment, datasets=datasets)
        simulation.telemetry.truncate(self.directory)
        self.t_ns, self.frames = max(simulation.now_ns, 0), simulation.frame_number
        self.p99_ms = [p99_of(json.loads(text)) for text in frames_after(self.directory, -1, self.frames)]
        self.stored_ns = simulation.now_ns
        self.monitor.begin_at(self.t_ns, self.frames)
        return simulation

    def _wait_for_turn(self, simulation: engine.Simulation) -> None:
        """Wait until the next frame is due."""
        t_ns = simulation.frame_end_ns
        while True:
            self._check(simulation)
            self._store_when_due(simulation)
            pace = self.monitor.pace
            if (wait_s := self.schedule.wait_s(t_ns, pace)) <= 0:
                return self.schedule.let_through(t_ns, pace)
            self.monitor.wait(wait_s)

    def _check(self, simulation: engine.Simulation) -> None:
        """Raise what interrupts the run, and wait while it is paused."""
        self.monitor.check()
        if not self.monitor.holds_at(self.frames):
            return
        began_s = time.monotonic()
        with self.monitor.standing_still():
            while self.monitor.holds_at(self.frames):
                if self.monitor.others_wait and time.monotonic() - began_s >= STANDING_S:
                    raise Parked
                self._store_when_due(simulation)
                self.monitor.wait()
                self.monitor.check()
        self.schedule.restart()

    def _store_when_due(self, simulation: engine.Simulation) -> None:
        if simulation.now_ns > self.stored_ns and time.monotonic() - self.stored_at_s >= self.snapshot_pause_s:
            try:
                self._store(simulation)
            except (DatabaseError, InterfaceError) as error:  # whether it still holds the run is not known, so it writes nothing
                if not outages.note(error):
                    raise
                connections.close_all()
                self.stored_at_s = time.monotonic()

    def _store(self, simulation: engine.Simulation) -> None:
        """Close the telemetry parts, then take a snapshot. In this order, because parts newer than the snapshot can be dropped, but missing
        ones could not be restored."""
        if not Run.objects.renew(self.run.pk, self.holder):
            raise LeaseLost
        began_s = time.monotonic()
        simulation.telemetry.write(self.directory)
        simulation.save(self.run.snapshot)
        self.stored_ns = simulation.now_ns
        self.monitor.stored(self.frames)
        Run.objects.held(self.run.pk, self.holder).filter(losses__gt=0).update(losses=0)
        self.stored_at_s = time.monotonic()
        self.snapshot_pause_s = max(SNAPSHOT_EVERY_S, (self.stored_at_s - began_s) / SNAPSHOT_SHARE_MAX)

    def kept_summary(self) -> dict[str, Any] | None:
        """Return the summary of the measurements so far."""
        return self.simulation.summary() if self.simulation and self.frames else None


def p99_of(frame: dict[str, Any]) -> float | None:
    """The 99th percentile of latency in a live frame, ms; None if nothing was delivered."""
    found: float | None = (frame.get("latency_ms") or {}).get("p99")
    return found


def failed(error: str) -> dict[str, Any]:
    return {"state": RunState.FAILED, "error": error}
