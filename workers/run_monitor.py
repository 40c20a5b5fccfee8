"""Background thread beside the engine: renews the lease, watches for cancellation, reports progress, and sends live frames.

The engine's thread only hands over frames and calls `check`; it never waits for the database or for Redis.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from engine.telemetry.files import Live
from webapp.lab.models import Run, RunState, Work
from webapp.lab.waiting_work import somebody_waits
from webapp.lib import outages
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce, announce_row

from .publisher import FramePublisher

log = logging.getLogger(__name__)

LOOK_S = 0.1  # polling interval of requests, such as cancel, which should take effect at once
RENEW_S = 2.0  # renewal interval of the lease, which lasts several times as long
PROGRESS_S = 0.5
KNOWN_AFTER_S = 0.2  # of work; before that, the engine's speed is unknown


THREADS = ThreadPoolExecutor(max_workers=32, thread_name_prefix="monitor")
"""A pool, to keep threads and their database connections: opening a connection takes longer than a short run."""


class Interrupted(Exception):
    """The work does not continue here."""


class Cancelled(Interrupted):
    """A person cancelled it."""


class LeaseLost(Interrupted):
    """Another worker holds it now, or it was deleted; nothing more may be written."""


class Parked(Interrupted):
    """It is paused, and other work waits for the worker."""


class ShuttingDown(Interrupted):
    """This worker is shutting down; the work continues elsewhere, or later."""


class Monitor:
    """Monitors one attempt at a piece of work, as a context manager."""

    WISHES: tuple[str, ...] = ("cancel_requested",)  # fields of the row that people may change
    look_now = False

    def __init__(self, work: Work, holder: str, shutting_down: threading.Event) -> None:
        self.work, self.holder, self.shutting_down = work, holder, shutting_down
        self.rows = type(work).objects
        self.interruption: type[Interrupted] | None = None
        self.progress = 0.0
        self.wake, self.over = threading.Event(), threading.Event()
        self.name = f"monitor of {type(work).__name__} {work.pk}"

    def __enter__(self) -> Self:
        in_context = contextvars.copy_context().run  # its log lines carry the same context
        self.attending = THREADS.submit(in_context, self._attend)
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.wake.set()
        self.attending.result()

    # --- for the engine's thread ------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise what interrupts the work."""
        if self.interruption:
            raise self.interruption
        if self.shutting_down.is_set():
            raise ShuttingDown

    def reached_share(self, progress: float) -> None:
        """Record progress (0 to 1). Raises what interrupts the work."""
        self.progress = progress
        self.check()

    # --- the thread -------------------------------------------------------------------------------------------------------------------

    def _attend(self) -> None:
        looked_s = renewed_s = reported_s = time.monotonic()  # the claim of the row has just done all three
        try:
            while not self.over.is_set():
                self.wake.wait(LOOK_S)
                self.wake.clear()
                self._send()
                if self.over.is_set():
                    break
                now_s = time.monotonic()
                try:
                    if now_s - renewed_s >= RENEW_S:
                        renewed_s = now_s
                        self._renew()
                    if self.look_now or now_s - looked_s >= LOOK_S:
                        looked_s, self.look_now = now_s, False
                        self._look()
                    if now_s - reported_s >= PROGRESS_S:
                        reported_s = now_s
                        self._report()
                except (DatabaseError, InterfaceError) as error:
                    if not outages.note(error):
                        log.warning("%s: %s; retrying", self.name, error)
                    connections.close_all()
            self._send()
        except Exception:
            log.exception("%s failed", self.name)
            self.interruption = ShuttingDown  # release the work rather than continue unmonitored
        finally:
            close_old_connections()

    def _renew(self) -> None:
        if not self.rows.renew(self.work.pk, self.holder):
            self.interruption = LeaseLost

    def _look(self) -> None:
        wishes = self.rows.held(self.work.pk, self.holder).values(*self.WISHES).first()
        if wishes is None:
            self.interruption = LeaseLost
        else:
            self._take(wishes)

    def _take(self, wishes: dict[str, Any]) -> None:
        if wishes["cancel_requested"]:
            self.interruption = self.interruption or Cancelled

    def _send(self) -> None:
        """Send data as it arrives."""

    def _report(self) -> None:
        """Store the progress and notify viewers."""
        if self.rows.held(self.work.pk, self.holder).update(progress=self.progress):
            announce_row(connection(), "question", self.work.pk)


class RunMonitor(Monitor):
    """Also sends the live frames of a run, and tracks its pace and pauses. At the end all frames have been sent, if Redis is reachable."""

    WISHES = ("cancel_requested", "pace", "hold_at_frame", "state")

    def __init__(self, run: Run, holder: str, shutting_down: threading.Event) -> None:
        super().__init__(run, holder, shutting_down)
        self.run = run
        self.publisher = FramePublisher(run.pk)
        self.pace, self.hold_at_frame = run.pace, run.hold_at_frame
        self.standing = False
        self.compiling_since_s: float | None = None
        self.others_wait = False  # as seen while paused
        self.news = threading.Event()
        self.reported = (run.t_ns, run.pace, run.hold_at_frame, False)
        self.begin_at(run.t_ns, run.frames)

    # --- for the engine's thread ------------------------------------------------------------------------------------------------------

    def begin_at(self, t_ns: int, frames: int) -> None:
        """Set the virtual time and the number of frames from which this attempt continues."""
        self.began_s, self.began_ns, self.waited_s = time.monotonic(), t_ns, 0.0
        self.t_ns, self.frames = t_ns, frames

    def compiles(self, compiling: bool) -> None:
        """The engine starts or stops compiling the event loop of this query. The time for it says nothing about its speed."""
        now_s = time.monotonic()
        if compiling:
            self.compiling_since_s = now_s
        elif self.compiling_since_s is not None:
            self.waited_s += now_s - self.compiling_since_s
            self.compiling_since_s = None
        self.wake.set()

    def holds_at(self, frames: int) -> bool:
        """Return whether the run must pause at this number of frames."""
        return self.hold_at_frame is not None and frames >= self.hold_at_frame

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Mark the run as paused until someone resumes it."""
        self.standing, self.others_wait = True, False
        self.look_now = True
        self.wake.set()
        try:
            yield
        finally:
            self.standing = False

    def wait(self, timeout_s: float = LOOK_S) -> None:
        """Wait until requests were polled, or until the timeout."""
        began_s = time.monotonic()
        self.news.wait(min(timeout_s, LOOK_S))
        self.news.clear()
        self.waited_s += time.monotonic() - began_s

    def reached(self, number: int, live: Live, t_ns: int) -> None:
        """Hand over a complete frame. It is sent to viewers soon; the first frame, and the first after a pause, at once."""
        self.publisher.add(number, live)
        self.t_ns, self.frames = t_ns, number + 1
        self.wake.set()

    def stored(self, frame_count: int) -> None:
        """Record that all frames below this number are in the run's files, and that there is a snapshot."""
        self.publisher.stored(frame_count)

    def eta_s(self) -> float | None:
        """Estimate the wall-clock seconds to the horizon: by the pace, or by the engine's speed if that takes longer.

        None until the engine's speed is known, while it compiles, and for a run that will pause before its end.
        """
        if self.hold_at_frame is not None or self.compiling_since_s is not None:
            return None
        left_ns = max(0, self.run.horizon_ns - self.t_ns)
        done_ns, worked_s = self.t_ns - self.began_ns, time.monotonic() - self.began_s - self.waited_s
        known = done_ns > 0 and worked_s >= KNOWN_AFTER_S
        estimates_s = [left_ns * worked_s / done_ns] if known else []
        if self.pace is not None:
            estimates_s.append(left_ns / (1e9 * self.pace))
        return max(estimates_s, default=None)

    # --- the thread -------------------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        if not self.publisher.has_news():
            return
        self.over.wait(self.publisher.wait_s())  # the last frames need not wait
        self.publisher.send()

    def _look(self) -> None:
        self.others_wait = self.standing and somebody_waits(self.run.executor)
        super()._look()
        self.news.set()

    def _take(self, wishes: dict[str, Any]) -> None:
        super()._take(wishes)
        self.pace, self.hold_at_frame = wishes["pace"], wishes["hold_at_frame"]
        # Set again if, between two polls, the run was resumed and paused once more. A concurrent resume is not overruled.
        untold = self.standing and wishes["state"] == RunState.RUNNING
        if untold and Run.objects.stand_still(self.run.pk, self.holder, self.t_ns, self.frames):
            announce(connection(), self.run.pk)

    def _report(self) -> None:
        """Store the progress and notify viewers."""
        compiling = self.compiling_since_s is not None
        now = (self.t_ns, self.pace, self.hold_at_frame, compiling)
        if now != self.reported:
            self.reported = now
            progress = {"t_ns": self.t_ns, "frames": self.frames, "eta_s": self.eta_s(), "compiling": compiling}
            if self.rows.held(self.run.pk, self.holder).update(**progress):
                announce(connection(), self.run.pk)
