"""When records are appended: a rate over time becomes one exact append time for each record, in integers only.

A rate is piecewise constant. With A(t) the area under it, record n (n = 0, 1, ...) comes at the first moment at which A reaches n, rounded
down to a nanosecond; at a constant rate this is floor(n x 1e9 / rate). Rates are integers in micro-records per second and times in ns, so
areas are integers in units of 1e-15 records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.spec.units import scaled, seconds_ns
from engine.spec.workload import ConstantRate, CosineRate, Rate, StepsRate

RECORD = 10**15  # one record, in micro-records per second x ns
GRID_NS = 10_000_000  # a smooth rate is held constant for this long, ...
GRID_STEPS_MIN, GRID_STEPS_MAX = 64, 1 << 13  # ... for less or more where a period would have too few or too many steps
FIXED = 1 << 60  # one, in the fixed-point numbers of the cosine
TWO_PI = 7244019458077122842  # 2 pi x FIXED


class Arrivals(Protocol):
    """Append times of a source operator's records, all partitions together."""

    def count_before(self, time_ns: int) -> int:
        """How many records have append time < time_ns."""
        ...

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        """Append times of records first .. last - 1, non-decreasing. Shape (last - first,)."""
        ...


class PiecewiseArrivals:
    """Arrivals at a rate that is constant between given times, and may repeat.

    starts_ns: ascending, the first is 0. rates: micro-records per second from that start on.
    period_ns: after this time the pieces begin anew; None if the last one lasts for ever.
    """

    def __init__(self, starts_ns: Sequence[int], rates: Sequence[int], period_ns: int | None = None):
        self._starts_ns, self._rates, self._period_ns = list(starts_ns), list(rates), period_ns
        self._areas = [0]
        for start, end, rate in zip(starts_ns, starts_ns[1:], rates, strict=False):
            self._areas.append(self._areas[-1] + rate * (end - start))
        self._period_area = 0 if period_ns is None else self._areas[-1] + rates[-1] * (period_ns - starts_ns[-1])

    def count_before(self, time_ns: int) -> int:
        if time_ns <= 0:
            return 0
        turn, offset_ns = divmod(time_ns, self._period_ns) if self._period_ns else (0, time_ns)
        piece = bisect_right(self._starts_ns, offset_ns) - 1
        area = turn * self._period_area + self._areas[piece] + (offset_ns - self._starts_ns[piece]) * self._rates[piece]
        return -(-area // RECORD)

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        times = np.empty(max(0, last - first), np.int64)
        number = first
        for start_ns, rate, area, end_area in self._pieces_from(first * RECORD):
            if number >= last:
                break
            end = last if end_area is None else min(last, -(-end_area // RECORD))
            while number < end:
                # One exact division in Python for a block, small words in NumPy inside it: (rest + j x step) stays below 2^63.
                count = min(end - number, (1 << 62) // rate)
                base_ns, rest = divmod(number * RECORD - area, rate)
                whole_ns, step = divmod(RECORD, rate)
                offsets = np.arange(count, dtype=np.int64)
                times[number - first : number - first + count] = start_ns + base_ns + offsets * whole_ns + (rest + offsets * step) // rate
                number += count
        return times

    def _pieces_from(self, area: int) -> Iterator[tuple[int, int, int, int | None]]:
        """(start_ns, rate, area at the start, area at the end) of the pieces from the one that reaches `area` on, without empty ones."""
        turn, rest = divmod(area, self._period_area) if self._period_area else (0, area)
        piece = bisect_right(self._areas, rest) - 1
        while True:
            before, start_ns = turn * self._period_area, turn * (self._period_ns or 0)
            for here in range(piece, len(self._rates)):
                if not self._rates[here]:
                    continue
                if here + 1 < len(self._areas):
                    end_area: int | None = before + self._areas[here + 1]
                else:
                    end_area = before + self._period_area if self._period_ns else None
                yield start_ns + self._starts_ns[here], self._rates[here], before + self._areas[here], end_area
            if not self._period_area:
                return
            turn, piece = turn + 1, 0


def cosine(numerator: int, denominator: int) -> int:
    """cos(2 pi x numerator / denominator) x FIXED, by its series in integers; the error is below 1e-15."""
    turn = numerator % denominator * FIXED // denominator
    turn = min(turn, FIXED - turn)  # cos(-x) = cos(x)
    sign = 1
    if turn > FIXED // 4:  # cos(pi - x) = -cos(x)
        turn, sign = FIXED // 2 - turn, -1
    angle = turn * TWO_PI // FIXED
    square = angle * angle // FIXED
    term, total = FIXED, 0
    for order in range(2, 26, 2):
        total += term
        term = -(term * square // FIXED) // (order * (order - 1))
    return sign * total


def cosine_pieces(rate: CosineRate) -> tuple[list[int], list[int], int]:
    """(starts_ns, rates, period_ns): each grid step has the rate of its middle."""
    period_ns, phase_ns = seconds_ns(rate.period_s), seconds_ns(rate.phase_s)
    mean, amplitude = micro(rate.mean_per_s), micro(rate.amplitude_per_s)
    step_ns = min(GRID_NS, period_ns // GRID_STEPS_MIN)
    while period_ns > step_ns * GRID_STEPS_MAX:
        step_ns *= 2
    starts = list(range(0, period_ns, step_ns))
    middles = [(start + min(start + step_ns, period_ns)) // 2 for start in starts]
    return starts, [max(0, mean + amplitude * cosine(middle - phase_ns, period_ns) // FIXED) for middle in middles], period_ns


def micro(per_s: float) -> int:
    """Records per second as micro-records per second, half up."""
    return scaled(per_s, 1_000_000)


def arrivals(rate: Rate) -> PiecewiseArrivals:
    """Append times at a constant, stepped or cosine rate."""
    if isinstance(rate, ConstantRate):
        return PiecewiseArrivals([0], [micro(rate.per_s)])
    if isinstance(rate, StepsRate):
        starts, rates = [seconds_ns(step.at_s) for step in rate.steps], [micro(step.per_s) for step in rate.steps]
        return PiecewiseArrivals(starts, rates) if starts[0] == 0 else PiecewiseArrivals([0, *starts], [0, *rates])
    if isinstance(rate, CosineRate):
        return PiecewiseArrivals(*cosine_pieces(rate))
    raise ValueError(f"rate '{type(rate).__name__}' has no arrivals of its own; known: constant, steps, cosine")


class RecordedArrivals:
    """A file's own times, replayed at a speed.

    places_ns: when each record comes on the file's own clock, non-decreasing, from 0; only those before the horizon are kept.
    speed: seconds of the file in a second of virtual time; rounded to a millionth.
    """

    def __init__(self, places_ns: NDArray[np.int64], speed: float, horizon_ns: int):
        speed_micro = scaled(speed, 1_000_000)
        reached_ns = min(-(-horizon_ns * speed_micro // 1_000_000), 1 << 62)
        kept = places_ns[: int(np.searchsorted(places_ns, reached_ns, side="left"))]
        # floor(place x 1e6 / speed_micro) in two steps of a thousand, so that nothing exceeds 64 bits
        whole, rest = np.divmod(kept, speed_micro)
        for _ in range(2):
            more, rest = np.divmod(rest * 1000, speed_micro)
            whole = whole * 1000 + more
        self._times_ns = whole

    def count_before(self, time_ns: int) -> int:
        return int(np.searchsorted(self._times_ns, time_ns, side="left"))

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return self._times_ns[first:last]
