"""The host that keeps changelogs: its cores do what requests, segments and cleaners take.

Source: Chronarakis 2019, 4.5; the costs are calibrated (specification of incremental checkpointing, A6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.layout import FAR
from engine.core.mathematics import exp, normal_quantile
from engine.core.random import RandomStream

from .cleaner import Cleaner, CleanerSettings
from .topics import Partition

SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class BrokerSettings:
    """base_share: of its cores that requests and all else take. roll_ns: of a core, to close a segment and to delete it. spread: standard
    deviation of the logarithm of a pass's set-up."""

    cores: int = 8
    base_share: float = 0.18
    roll_ns: int = 90_000_000
    spread: float = 0.25


class Broker:
    """Logs, and the threads that compact them if a cleaner is given. Let `wake` act at `next_ns`, as `Cleaner`."""

    def __init__(self, logs: Sequence[Partition], settings: BrokerSettings, cleaner: CleanerSettings | None, seed: int):
        self.logs, self.settings, self.seed = list(logs), settings, seed
        self.cleaner: Cleaner | None = None
        if cleaner is not None:
            first = RandomStream(seed, "cleaner", "wakes").below(np.arange(cleaner.threads), cleaner.backoff_ns) + 1
            self.cleaner = Cleaner(self.logs, cleaner, first.tolist(), self._factor, self._slow_down)
        self._rolls = [(0, 0), (0, 0)]  # (time, segments closed): at least a second ago, and since

    @property
    def next_ns(self) -> int:
        return FAR if self.cleaner is None else self.cleaner.next_ns

    def wake(self, now_ns: int) -> None:
        rolled = self.rolled
        if now_ns - self._rolls[1][0] >= SECOND_NS:
            self._rolls = [self._rolls[1], (now_ns, rolled)]
        if self.cleaner is not None:
            self.cleaner.wake(now_ns)

    def take_over(self, logs: Sequence[Partition], rolls: list[tuple[int, int]], cleaner: Cleaner | None) -> None:
        """Go on from a saved state. rolls, cleaner: as there, the cleaner without what it asks its broker for."""
        self.logs, self._rolls, self.cleaner = list(logs), rolls, cleaner
        if cleaner is not None:
            cleaner.factor, cleaner.slow_down = self._factor, self._slow_down

    @property
    def rolled(self) -> int:
        """Segments that have been closed."""
        return sum(log.rolled for log in self.logs)

    def busy_ns(self, until_ns: int) -> int:
        """What its cores have done beside the base load, summed over them."""
        cleaning = 0 if self.cleaner is None else self.cleaner.busy_ns(until_ns)
        return cleaning + self.rolled * self.settings.roll_ns

    def _factor(self, n: int) -> float:
        """Of the set-up of the n-th pass."""
        word = RandomStream(self.seed, "cleaner", "passes").words(np.array([n]))
        share = ((word >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
        return float(exp(self.settings.spread * normal_quantile(share))[0])

    def _slow_down(self, others: int) -> float:
        """All threads share the cores with the base load and with the segments of the last second."""
        (then_ns, before), (last_ns, rolled) = self._rolls
        rolling = (rolled - before) * self.settings.roll_ns / max(last_ns - then_ns, 1)
        wanted = self.settings.base_share * self.settings.cores + rolling + others + 1
        return max(1.0, wanted / self.settings.cores)
