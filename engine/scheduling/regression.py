"""Linear regression of sweeping watermarks, the estimator that Klink's is compared with (Farhat 2020, Figure 3.9a).

The next one is taken in so long after the last one was made: a linear function of that one's delay and of its epoch's mean delay,
learnt by gradient descent, one step an epoch. It gives a point, no interval.
"""

from __future__ import annotations

import math
from typing import Any

STEP = 1e-3
"""Of the descent, on standardised values (calibrated; the source says nothing)."""

LEAST = 2
"""Epochs before there is an estimate."""

Features = tuple[float, float]


class Regression:
    """Of one input. Values are standardised by what was seen so far."""

    def __init__(self) -> None:
        self.count = 0
        self._means, self._squares = (
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
        )  # of the features and of the target: means, sums of squared deviations
        self._weights = [0.0, 0.0, 0.0]  # of the features, and the bias

    def learn(self, features: Features, target: float) -> None:
        self.count += 1
        for k, value in enumerate((*features, target)):
            away = value - self._means[k]
            self._means[k] += away / self.count
            self._squares[k] += away * (value - self._means[k])
        if self.count < LEAST:
            return
        x = self._standardised(features)
        wrong = self._at(x) - self._scaled(2, target)
        self._weights = [weight - STEP * wrong * each for weight, each in zip(self._weights, x, strict=True)]

    def estimate(self, features: Features) -> float | None:
        """The target that is expected; None while too little is known."""
        if self.count < LEAST:
            return None
        return self._means[2] + self._at(self._standardised(features)) * self._deviation(2)

    def _at(self, x: list[float]) -> float:
        return sum(weight * each for weight, each in zip(self._weights, x, strict=True))

    def _standardised(self, features: Features) -> list[float]:
        return [*(self._scaled(k, value) for k, value in enumerate(features)), 1.0]

    def _scaled(self, k: int, value: float) -> float:
        deviation = self._deviation(k)
        return (value - self._means[k]) / deviation if deviation > 0 else 0.0

    def _deviation(self, k: int) -> float:
        return math.sqrt(self._squares[k] / self.count)

    def state(self) -> Any:
        return [self.count, list(self._means), list(self._squares), list(self._weights)]

    @classmethod
    def restored(cls, state: Any) -> Regression:
        found = cls()
        found.count, found._means, found._squares, found._weights = state[0], list(state[1]), list(state[2]), list(state[3])
        return found
