"""Divide a frame's work into pieces, so that the worker can react between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import engine

PIECE_S = 0.2
FIRST_PIECE_NS = 1_000_000


class TimeSlices:
    """Advances a simulation frame by frame, in pieces of at most about a fifth of a second of wall-clock time.

    The result does not depend on the division. Pieces grow while they are fast and shrink when they are slow, so that even a frame that
    takes long can be cancelled within a second.
    """

    def __init__(self) -> None:
        self.piece_ns = FIRST_PIECE_NS

    def next_frame(self, simulation: engine.Simulation, check: Callable[[], None]) -> dict[str, Any] | None:
        """Return the next frame, or None at the end. Calls `check` after each piece; it may raise."""
        self._until_near(simulation, simulation.frame_end_ns, check)
        return self._measured(simulation.advance)

    def run_until(self, simulation: engine.Simulation, t_ns: int, check: Callable[[], None]) -> None:
        """Run up to a time. Calls `check` after each piece; it may raise."""
        self._until_near(simulation, t_ns, check)
        self._measured(lambda: simulation.run_until(t_ns))
        check()

    def _until_near(self, simulation: engine.Simulation, t_ns: int, check: Callable[[], None]) -> None:
        while t_ns - simulation.now_ns > self.piece_ns and not simulation.finished:
            self._measured(lambda: simulation.run_until(simulation.now_ns + self.piece_ns))
            check()

    def _measured(self, piece: Callable[[], Any]) -> Any:
        began_s = time.perf_counter()
        result = piece()
        took_s = time.perf_counter() - began_s
        if took_s < PIECE_S / 4:
            self.piece_ns *= 2
        elif took_s > PIECE_S:
            self.piece_ns = max(FIRST_PIECE_NS, self.piece_ns // 2)
        return result
