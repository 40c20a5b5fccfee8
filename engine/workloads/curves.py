"""Rates over time in integers, piecewise constant.

A rate is in micro-records per second and a time in ns, so the area under a curve is an integer in units of 1e-15 records. The area up to a
time gives the number of records due by then; its inverse gives the time of a record. Both are exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.problems import Refusal
from engine.spec.base.units import scaled, seconds_ns

RECORD = 10**15  # one record, in micro-records per second x ns
GRID_NS = 10_000_000  # a smooth rate is approximated by steps of this length, ...
GRID_STEPS_MIN, GRID_STEPS_MAX = 64, 1 << 13  # ... shorter or longer if there would be too few or too many steps
STEPS_MAX = 200_000  # of a pattern without a period
FIXED = 1 << 60  # one, in the fixed-point numbers of the cosine
TWO_PI = 7244019458077122842  # 2 pi x FIXED


class Curve:
    """A piecewise constant rate, which may repeat.

    starts_ns: ascending, the first is 0. rates: micro-records per second (>= 0) from that start on. period_ns: after this time the pieces
    repeat; None if the last one lasts forever.
    """

    def __init__(self, starts_ns: Sequence[int], rates: Sequence[int], period_ns: int | None = None):
        self.starts_ns, self.rates, self.period_ns = starts_ns, rates, period_ns
        self._areas = [0]  # under the curve, up to each start
        for (start_ns, end_ns), rate in zip(pairwise(starts_ns), rates, strict=False):
            self._areas.append(self._areas[-1] + rate * (end_ns - start_ns))
        self._period_area = 0 if period_ns is None else self._areas[-1] + rates[-1] * (period_ns - starts_ns[-1])

    def area(self, time_ns: int) -> int:
        """Return the area under the curve from 0 to time_ns."""
        if time_ns <= 0:
            return 0
        turn, offset_ns = divmod(time_ns, self.period_ns) if self.period_ns else (0, time_ns)
        piece = bisect_right(self.starts_ns, offset_ns) - 1
        return turn * self._period_area + self._areas[piece] + (offset_ns - self.starts_ns[piece]) * self.rates[piece]

    def count_before(self, time_ns: int, unit: int) -> int:
        """Return the number of multiples of `unit`, including 0, below the area at time_ns: those with a time < time_ns by `times_ns`."""
        return -(-self.area(time_ns) // unit)

    def times_ns(self, places: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
        """Return when the area reaches place x unit (and keeps growing), rounded down, for non-decreasing places. Shape (n,)."""
        times = np.empty(len(places), np.int64)
        if not len(places):
            return times
        done = 0
        for start_ns, rate, area, end_area in self._pieces_from(int(places[0]) * unit):
            end = len(places)
            if end_area is not None and int(places[-1]) * unit >= end_area:
                end = done + int(np.searchsorted(places[done:], -(-end_area // unit), side="left"))
            while done < end:
                done = self._fill(times, places, done, end, start_ns, rate, area, unit)
            if done == len(places):
                return times
        raise ValueError("the curve ends at rate 0 before the last place; request only records before the horizon")

    @staticmethod
    def _fill(
        times: NDArray[np.int64], places: NDArray[np.int64], first: int, end: int, start_ns: int, rate: int, area: int, unit: int
    ) -> int:
        """Fill times from `first` on in one piece of constant rate, as far as 64 bits allow. Returns where it stopped.

        One exact division in Python for a block. Inside it, with d the distance from the block's first place:
        time = base + floor((rest + d x unit) / rate), unit = whole x rate + step, and where d x step is too large d = high x 2^shift + low,
        step x 2^shift = high_ns x rate + high_step.
        """
        base = int(places[first])
        base_ns, rest = divmod(base * unit - area, rate)
        if first + 1 == end:
            times[first] = start_ns + base_ns
            return end
        whole_ns, step = divmod(unit, rate)
        shift = max(0, ((1 << 61) // max(step, 1)).bit_length() - 1)
        high_ns, high_step = divmod(step << shift, rate)
        far = base + (((1 << 61) // max(high_step, 1)) << shift)
        stop = end if int(places[end - 1]) < far else first + int(np.searchsorted(places[first:end], far, side="left"))
        distance = places[first:stop] - base
        if int(distance[-1]) >> shift:
            high = distance >> shift
            time = distance * whole_ns + high * high_ns + (rest + high * high_step + (distance & ((1 << shift) - 1)) * step) // rate
        else:
            time = distance * step
            time += rest
            time //= rate
            time += distance * whole_ns
        time += start_ns + base_ns
        times[first:stop] = time
        return stop

    def pieces_between(self, from_ns: int, to_ns: int) -> Iterator[tuple[int, int]]:
        """Yield (start_ns, rate) of the pieces from from_ns until to_ns."""
        turn, offset_ns = divmod(from_ns, self.period_ns) if self.period_ns else (0, from_ns)
        piece, start_ns = bisect_right(self.starts_ns, offset_ns) - 1, from_ns
        while start_ns < to_ns:
            yield start_ns, self.rates[piece]
            piece += 1
            if piece == len(self.rates):
                if not self.period_ns:
                    return
                turn, piece = turn + 1, 0
            start_ns = turn * (self.period_ns or 0) + self.starts_ns[piece]

    def _pieces_from(self, area: int) -> Iterator[tuple[int, int, int, int | None]]:
        """(start_ns, rate, area at the start, area at the end) of the non-empty pieces, starting with the one that reaches `area`."""
        turn, rest = divmod(area, self._period_area) if self._period_area else (0, area)
        piece = bisect_right(self._areas, rest) - 1
        while True:
            before, start_ns = turn * self._period_area, turn * (self.period_ns or 0)
            for here in range(piece, len(self.rates)):
                if not self.rates[here]:
                    continue
                if here + 1 < len(self._areas):
                    end_area: int | None = before + self._areas[here + 1]
                else:
                    end_area = before + self._period_area if self.period_ns else None
                yield start_ns + self.starts_ns[here], self.rates[here], before + self._areas[here], end_area
            if not self._period_area:
                return
            turn, piece = turn + 1, 0


def cosine(numerator: int, denominator: int) -> int:
    """Return cos(2 pi x numerator / denominator) x FIXED, by its series in integers; the error is below 1e-15."""
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


def micro(per_s: float) -> int:
    """Convert records per second to micro-records per second, rounded half up."""
    return scaled(per_s, 1_000_000)


MICRO = 1_000_000


def from_zero(starts: list[int], rates: list[int], before: int = 0) -> Curve:
    """Return a curve with the rate `before` until the first start."""
    return Curve(starts, rates) if starts[0] == 0 else Curve([0, *starts], [before, *rates])


def grid(length_ns: int) -> range:
    """Return the starts of the steps of a smooth piece."""
    step_ns = max(1, min(GRID_NS, length_ns // GRID_STEPS_MIN))
    while length_ns > step_ns * GRID_STEPS_MAX:
        step_ns *= 2
    return range(0, length_ns, step_ns)


def steps_until(horizon_ns: int, length_s: float, name: str) -> list[int]:
    """Return the starts of the steps before the horizon. Raises Refusal (at the field `name`) if there are too many."""
    length_ns = seconds_ns(length_s)
    number = -(-horizon_ns // length_ns)
    if number > STEPS_MAX:
        message = (
            f"{name} is {length_s:g}, which divides the horizon into {number:,} pieces, more than {STEPS_MAX:,}; "
            f"it must be at least {horizon_ns / STEPS_MAX / 1e9:.6g}"
        )
        raise Refusal(message, at=(name,), code="too_many_steps", value=length_s)
    return list(range(0, horizon_ns, length_ns))
