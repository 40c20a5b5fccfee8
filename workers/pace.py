"""Due times of frames, for a run limited to n times real time.

A frame is due its length divided by the pace after the previous frame was due. So a change of pace takes effect after the last frame, and
a late frame is made up for, within limits: a run that was slower than its pace for long does not rush afterwards. The first frame, and the
first after a pause, is due at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MADE_UP_S = 1.0


class Schedule:
    """clock: returns seconds, like time.monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.last_due_s: float | None = None
        self.last_ns = 0

    def restart(self) -> None:
        """Make the next frame due at once."""
        self.last_due_s = None

    def wait_s(self, t_ns: int, pace: float | None) -> float:
        """Return the seconds until a frame that ends at t_ns is due."""
        return max(0.0, self._due_s(t_ns, pace) - self.clock())

    def let_through(self, t_ns: int, pace: float | None) -> None:
        """Record that the frame that ends at t_ns starts now."""
        self.last_due_s = max(self._due_s(t_ns, pace), self.clock() - MADE_UP_S)
        self.last_ns = t_ns

    def _due_s(self, t_ns: int, pace: float | None) -> float:
        if self.last_due_s is None or pace is None:
            return self.clock()
        return self.last_due_s + (t_ns - self.last_ns) / (1e9 * pace)
