"""What goes on beside the engine while it works: the lease, cancelling, progress, and live frames. In one thread of its own.

The engine's thread only hands frames over and asks `check`; it never waits for the database or for Redis.
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

from django.db import DatabaseError, close_old_connections, connections

from engine.telemetry.files import Live
from webapp.lab.models import Run, RunState, Work
from webapp.lab.waiting_work import somebody_waits
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce, announce_row

from .publisher import FramePublisher

log = logging.getLogger(__name__)

LOOK_S = 0.1  # how often wishes are looked for: what is asked of a run shows at once
RENEW_S = 2.0  # how often the lease is renewed; it holds several times as long
PROGRESS_S = 0.5
KNOWN_AFTER_S = 0.2  # of work: before, the engine's speed is a guess


THREADS = ThreadPoolExecutor(max_workers=32, thread_name_prefix="monitor")
"""They stay, and with them their connections to the database: a short run is over sooner than one is made."""


class Interrupted(Exception):
    """The work does not go on here."""


class Cancelled(Interrupted):
    """A person wants it to stop."""


class LeaseLost(Interrupted):
    """Another worker has it now, or it was deleted; nothing more may be written."""


class Parked(Interrupted):
    """It is paused, and others wait for the worker."""


class ShuttingDown(Interrupted):
    """This worker ends; the work goes on elsewhere, or later."""


class Monitor:
    """Attends one attempt at a piece of work, from `with` to the end of its block."""

    WISHES: tuple[str, ...] = ("cancel_requested",)  # what people may change in the row
    look_now = False

    def __init__(self, work: Work, holder: str, shutting_down: threading.Event) -> None:
        self.work, self.holder, self.shutting_down = work, holder, shutting_down
        self.rows = type(work).objects
        self.interruption: type[Interrupted] | None = None
        self.progress = 0.0
        self.wake, self.over = threading.Event(), threading.Event()
        self.name = f"monitor of {type(work).__name__} {work.pk}"

    def __enter__(self) -> Self:
        in_context = contextvars.copy_context().run  # what it logs is about the same work
        self.attending = THREADS.submit(in_context, self._attend)
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.wake.set()
        self.attending.result()

    # --- for the engine's thread ------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises what interrupts the work."""
        if self.interruption:
            raise self.interruption
        if self.shutting_down.is_set():
            raise ShuttingDown

    def reached_share(self, progress: float) -> None:
        """A share of the work is done. Raises what interrupts it."""
        self.progress = progress
        self.check()

    # --- the thread -------------------------------------------------------------------------------------------------------------------

    def _attend(self) -> None:
        looked_s = renewed_s = reported_s = time.monotonic()  # whoever claimed the row has just done all of it
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
                except DatabaseError as error:
                    log.warning("%s: the database does not answer (%s), trying again", self.name, error)
                    connections.close_all()
            self._send()
        except Exception:
            log.exception("%s failed", self.name)
            self.interruption = ShuttingDown  # give the work back rather than go on unattended
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
        """What is to be sent as it comes."""

    def _report(self) -> None:
        """Progress into the row, and a hint to the viewers that it changed."""
        if self.rows.held(self.work.pk, self.holder).update(progress=self.progress):
            announce_row(connection(), "question", self.work.pk)


class RunMonitor(Monitor):
    """Also sends the live frames of a run, and knows how fast and how far it may go. At the end all frames have been sent, if Redis can
    be reached."""

    WISHES = ("cancel_requested", "pace", "hold_at_frame", "state")

    def __init__(self, run: Run, holder: str, shutting_down: threading.Event) -> None:
        super().__init__(run, holder, shutting_down)
        self.run = run
        self.publisher = FramePublisher(run.pk)
        self.pace, self.hold_at_frame = run.pace, run.hold_at_frame
        self.standing = False
        self.others_wait = False  # as seen while it stands
        self.news = threading.Event()
        self.reported = (run.t_ns, run.pace, run.hold_at_frame)
        self.begin_at(run.t_ns, run.frames)

    # --- for the engine's thread ------------------------------------------------------------------------------------------------------

    def begin_at(self, t_ns: int, frames: int) -> None:
        """The virtual time and the number of frames from which this attempt goes on."""
        self.began_s, self.began_ns, self.waited_s = time.monotonic(), t_ns, 0.0
        self.t_ns, self.frames = t_ns, frames

    def holds_at(self, frames: int) -> bool:
        """The run is to stand still when it has so many frames."""
        return self.hold_at_frame is not None and frames >= self.hold_at_frame

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """The row says that the run is paused, until somebody lets it go on."""
        self.standing, self.others_wait = True, False
        self.look_now = True
        self.wake.set()
        try:
            yield
        finally:
            self.standing = False

    def wait(self, timeout_s: float = LOOK_S) -> None:
        """Until wishes were looked for, or the time is over."""
        began_s = time.monotonic()
        self.news.wait(min(timeout_s, LOOK_S))
        self.news.clear()
        self.waited_s += time.monotonic() - began_s

    def reached(self, number: int, live: Live, t_ns: int) -> None:
        """A frame is complete. It is sent to the viewers soon; the first one, and one after a pause, at once."""
        self.publisher.add(number, live)
        self.t_ns, self.frames = t_ns, number + 1
        self.wake.set()

    def stored(self, frame_count: int) -> None:
        """All frames below this number are in the run's files, and there is a snapshot."""
        self.publisher.stored(frame_count)

    def eta_s(self) -> float | None:
        """Wall-clock seconds to the horizon: what the pace takes, or what the engine takes if that is more.

        None before the engine's speed is known, and for a run that is to stand still on its way.
        """
        if self.hold_at_frame is not None:
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
        # Said again if between two looks it was to go on and to stand still once more. Who wants it to go on meanwhile is not overruled.
        untold = self.standing and wishes["state"] == RunState.RUNNING
        if untold and Run.objects.stand_still(self.run.pk, self.holder, self.t_ns, self.frames):
            announce(connection(), self.run.pk)

    def _report(self) -> None:
        """Progress into the row, and a hint to the viewers that it changed."""
        now = (self.t_ns, self.pace, self.hold_at_frame)
        if now != self.reported:
            self.reported = now
            if self.rows.held(self.run.pk, self.holder).update(t_ns=self.t_ns, frames=self.frames, eta_s=self.eta_s()):
                announce(connection(), self.run.pk)
