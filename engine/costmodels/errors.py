"""How far predictions are off: q-errors of costs, shares of correct classes (Heinrich et al. 2024, section VII; specification 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.core.random import RandomStream

Floats = NDArray[np.float64]

RESAMPLES = 1000


def q_errors(measured: ArrayLike, predicted: ArrayLike, least: float) -> Floats:
    """Each at least 1: how many times as large one is as the other. Both count as `least` below it, negative predictions, too."""
    a, b = (np.maximum(np.asarray(values, np.float64), least) for values in (measured, predicted))
    found: Floats = np.maximum(a / b, b / a)
    return found


@dataclass(frozen=True)
class Errors:
    """q-errors in short. low, high: bounds of q50 at 95 %, by resampling. clipped: predictions that were below the least."""

    count: int
    q50: float
    q95: float
    low: float
    high: float
    clipped: int


def errors(measured: Sequence[float], predicted: Sequence[float], least: float, seed: int = 1) -> Errors:
    """Raises ValueError without values, or with other than finite ones."""
    if not len(measured) or not np.isfinite(measured).all() or not np.isfinite(predicted).all():
        raise ValueError("q-errors need at least one value, and finite ones")
    each = q_errors(measured, predicted, least)
    chosen = RandomStream(seed, "resamples").below(np.arange(RESAMPLES * len(each)), len(each)).reshape(RESAMPLES, -1)
    low, high = np.percentile(np.median(each[chosen], axis=1), [2.5, 97.5]).tolist()
    q50, q95 = np.percentile(each, [50, 95]).tolist()
    return Errors(len(each), q50, q95, low, high, int(np.count_nonzero(np.asarray(predicted) < least)))


@dataclass(frozen=True)
class Classes:
    """Predicted against measured classes, as counts. good: the class that one hopes for, such as success."""

    good_as_good: int
    good_as_bad: int
    bad_as_good: int
    bad_as_bad: int

    @classmethod
    def of(cls, measured: Sequence[bool], predicted: Sequence[bool]) -> Classes:
        pairs = list(zip(measured, predicted, strict=True))
        return cls(*(pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def count(self) -> int:
        return self.good_as_good + self.good_as_bad + self.bad_as_good + self.bad_as_bad

    @property
    def accuracy(self) -> float | None:
        return (self.good_as_good + self.bad_as_bad) / self.count if self.count else None

    @property
    def precision(self) -> float | None:
        """Of what was predicted good, the share that is."""
        predicted = self.good_as_good + self.bad_as_good
        return self.good_as_good / predicted if predicted else None

    @property
    def recall(self) -> float | None:
        """Of what is good, the share that was predicted so."""
        good = self.good_as_good + self.good_as_bad
        return self.good_as_good / good if good else None

    @property
    def one_class_only(self) -> bool:
        """An accuracy says little then."""
        return not (self.good_as_good + self.good_as_bad) or not (self.bad_as_good + self.bad_as_bad)


def balanced(classes: Sequence[bool], seed: int) -> list[int]:
    """Numbers of as many of either class as the rarer one has, in order. For use inside of one part of a split."""
    words = RandomStream(seed, "balanced").words(np.arange(len(classes)))
    of_each = [np.flatnonzero(np.asarray(classes, bool) == good) for good in (False, True)]
    count = min(map(len, of_each))
    return sorted(int(n) for numbers in of_each for n in numbers[np.argsort(words[numbers])][:count])
