"""Send the live frames of a run to Redis: the first at once, then at most ten messages per second, with several frames each."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque

import redis

from engine.telemetry.files import Live
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import pack, publish

log = logging.getLogger(__name__)

INTERVAL_S = 0.1


class FramePublisher:
    """Takes frames from the engine's thread and sends them from another one.

    A frame is kept until it is in the run's files, too. When Redis comes back after a failure, with or without its data, all kept frames
    are sent again; Redis refuses those it still has.
    """

    def __init__(self, run_id: uuid.UUID) -> None:
        self.run_id = run_id
        self.kept: deque[tuple[int, Live]] = deque()  # with frame numbers
        self.sent_through = -1  # number of the last frame sent
        self.stored_through = -1  # number of the last frame in the files
        self.sent_at_s = -INTERVAL_S
        self.reachable = True
        self.lock = threading.Lock()

    def add(self, number: int, live: Live) -> None:
        with self.lock:
            self.kept.append((number, live))

    def stored(self, frame_count: int) -> None:
        """Record that frames below this number are in the files."""
        with self.lock:
            self.stored_through = frame_count - 1
            self._forget()

    def has_news(self) -> bool:
        """Return whether there are frames to send."""
        with self.lock:
            return bool(self.kept) and self.kept[-1][0] > self.sent_through

    def wait_s(self) -> float:
        """Return the seconds until the next message may be sent."""
        return max(0.0, self.sent_at_s + INTERVAL_S - time.monotonic())

    def send(self) -> None:
        """Send the frames since the last message. Without Redis the frames wait; viewers get them from the files later."""
        with self.lock:
            news = [(number, live) for number, live in self.kept if number > self.sent_through]
        if not news:
            return
        self.sent_at_s = time.monotonic()
        try:
            for entry in pack(news[0][0], [live.text for _, live in news], time.time()):
                publish(connection(), self.run_id, entry)
                self.sent_through = entry.last
            self.reachable = True
        except (redis.RedisError, OSError) as error:
            if self.reachable:
                log.warning("run %s: live frames cannot be sent (%s); viewers get them later", self.run_id, error)
            self.reachable = False
            with self.lock:  # Redis may come back empty, so resend everything that is not in the files
                self.sent_through = self.stored_through
        with self.lock:
            self._forget()

    def _forget(self) -> None:
        """Drop frames that are in the files and, if Redis is reachable, sent."""
        through = min(self.stored_through, self.sent_through) if self.reachable else self.stored_through
        while self.kept and self.kept[0][0] <= through:
            self.kept.popleft()
