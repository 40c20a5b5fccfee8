"""The generator of `java.util.Random`, for load patterns that were published with its seeds."""

from __future__ import annotations

MULTIPLIER, ADDEND, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
DOUBLE = 1 << 53  # nextDouble() is a whole multiple of 1 / DOUBLE


class JavaRandom:
    """A linear congruential generator of 48 bits.

    Source: the specification of java.util.Random; Knuth, The Art of Computer Programming, volume 2, 3.2.1.
    """

    def __init__(self, seed: int):
        self._state = (seed ^ MULTIPLIER) & MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * MULTIPLIER + ADDEND) & MASK
        return self._state >> (48 - bits)

    def share_of(self, whole: int) -> int:
        """floor(nextDouble() x whole), exactly."""
        return ((self._next(26) << 27) + self._next(27)) * whole // DOUBLE

    def skip(self, doubles: int) -> None:
        """Discard this many doubles."""
        for _ in range(2 * doubles):
            self._next(1)
