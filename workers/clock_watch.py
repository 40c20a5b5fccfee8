"""Notices that somebody has set the machine's clock.

Ages are differences of wall-clock times. After a jump, all that the lab keeps may seem a year old, and its week of undoing over.
"""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)

JUMP_S = 600.0
"""Corrections of a clock are smaller than this."""
STEADY_S = 3600.0


class ClockWatch:
    """Of one process. It cannot know of jumps before its start."""

    def __init__(self) -> None:
        self._ahead_s = self._now_ahead_s()
        self._steady_from_s = 0.0

    def is_steady(self) -> bool:
        """Return False for an hour after the clock was set."""
        ahead_s = self._now_ahead_s()
        jump_s, self._ahead_s = ahead_s - self._ahead_s, ahead_s
        if abs(jump_s) > JUMP_S:
            self._steady_from_s = time.monotonic() + STEADY_S
            way = "forward" if jump_s > 0 else "back"
            log.warning("the clock was set %s by %.0f s; nothing old is removed for the next %.0f minutes", way, abs(jump_s), STEADY_S / 60)
        return time.monotonic() >= self._steady_from_s

    @staticmethod
    def _now_ahead_s() -> float:
        """Of the clock that nobody can set."""
        return time.time() - time.monotonic()
