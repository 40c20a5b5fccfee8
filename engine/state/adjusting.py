"""Settings of stores and changelogs that change while a query runs, by hand (`adjustments`) or by an agent (`tuning`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.core.layout import FAR
from engine.services.broker import Broker
from engine.services.topics import Partition
from engine.spec.base.units import milliseconds_ns, seconds_ns
from engine.spec.experiment.states.adjustment import Adjustment
from engine.spec.experiment.states.tuning import Tuning

from .store import Store

LADDER: tuple[dict[str, float], ...] = (
    {"dirty_ratio": 0.66, "segment_ms": 1000, "backoff_s": 15},
    {"dirty_ratio": 0.33, "segment_ms": 1000, "backoff_s": 15},
    {"dirty_ratio": 0.01, "segment_ms": 1000, "backoff_s": 15},
    {"dirty_ratio": 0.01, "segment_ms": 500, "backoff_s": 15},
    {"dirty_ratio": 0.01, "segment_ms": 100, "backoff_s": 15},
    {"dirty_ratio": 0.01, "segment_ms": 100, "backoff_s": 5},
    {"dirty_ratio": 0.01, "segment_ms": 100, "backoff_s": 1},
)
"""Steps of the agent, each of which compacts more than the one before (specification of incremental checkpointing, A11)."""
PERIODS_BETWEEN = 2
"""At least so many looks from one step to the next."""
ENOUGH = 0.5
"""With so much of its goal, it takes a step back."""


def adjust_logs(logs: Sequence[Partition], changed: Mapping[str, float]) -> None:
    """Change settings of changelogs. changed: by name, as in `Adjustment`; those of other parts do not matter here."""
    given: dict[str, Any] = {}
    if "segment_ms" in changed:
        given["segment_ns"] = max(1, milliseconds_ns(changed["segment_ms"]))
    if "dirty_ratio" in changed:
        given["dirty_share"] = changed["dirty_ratio"]
    if "delete_retention_ms" in changed:
        given["delete_retention_ns"] = milliseconds_ns(changed["delete_retention_ms"])
    for log in logs:
        log.settings = replace(log.settings, **given)


def adjust_cleaner(broker: Broker, changed: Mapping[str, float], now_ns: int) -> None:
    if broker.cleaner is None or not {"backoff_s", "threads"} & set(changed):
        return
    settings = broker.cleaner.settings
    if "backoff_s" in changed:
        settings = replace(settings, backoff_ns=seconds_ns(changed["backoff_s"]))
    if "threads" in changed:
        settings = replace(settings, threads=int(changed["threads"]))
    broker.cleaner.adjust(settings, now_ns)


def adjust_caches(stores: Sequence[Store], changed: Mapping[str, float]) -> None:
    if "batch" in changed:
        for store in stores:
            store.cache.settings = replace(store.cache.settings, batch=int(changed["batch"]))


class Adjustments:
    """The adjustments of a document. done: how many have been made, in order of time."""

    def __init__(self, adjustments: Sequence[Adjustment]):
        self._all = sorted(adjustments, key=lambda one: one.at_s)
        self.done = 0

    @property
    def next_ns(self) -> int:
        return seconds_ns(self._all[self.done].at_s) if self.done < len(self._all) else FAR

    def due(self, now_ns: int) -> dict[str, float]:
        """What changes now; of several that are due the last one of a setting counts."""
        found: dict[str, float] = {}
        while self.next_ns <= now_ns:
            found |= self._all[self.done].changed
            self.done += 1
        return found


@dataclass(frozen=True)
class Seen:
    """What the agent sees. broker_busy: since its last look. restore_s: predicted, of the store that takes longest."""

    changelog_bytes: int
    restore_s: float
    broker_busy: float


Verdict = Literal["compact more", "compact less", "stay", "conflict"]


class Tuner:
    """The agent. step: on the ladder. verdicts: by time of a look, the newest last."""

    def __init__(self, about: Tuning):
        self.about = about
        self.step = 0
        self.next_ns = about.every_ns
        self.verdicts: list[tuple[int, Verdict]] = []
        self._waits = 0
        self.busy_ns = 0  # of the broker until the last look

    def look(self, seen: Seen, now_ns: int) -> dict[str, float]:
        """Settings that change now, none if it stays where it is. conflict: a goal is missed, but the broker has no CPU left for it."""
        self.next_ns = now_ns + self.about.every_ns
        self._waits = max(self._waits - 1, 0)
        share = self._share(seen)
        too_busy = self.about.broker_busy is not None and seen.broker_busy > self.about.broker_busy
        wanted = -1 if too_busy else 1 if share > 1 else -1 if share < ENOUGH else 0
        verdict: Verdict = "conflict" if too_busy and share > 1 else ("compact less", "stay", "compact more")[wanted + 1]
        self.verdicts.append((now_ns, verdict))
        step = min(max(self.step + wanted, 0), len(LADDER) - 1)
        if step == self.step or self._waits:
            return {}
        self.step, self._waits = step, PERIODS_BETWEEN
        return dict(LADDER[step])

    def _share(self, seen: Seen) -> float:
        """What is used of the goals, of the one that is missed by most."""
        about = self.about
        of_bytes = 0.0 if about.changelog_mb is None else seen.changelog_bytes / (1e6 * about.changelog_mb)
        of_time = 0.0 if about.restore_s is None else seen.restore_s / about.restore_s
        return max(of_bytes, of_time)

    def state(self) -> Any:
        return [self.step, self.next_ns, [list(verdict) for verdict in self.verdicts], self._waits, self.busy_ns]

    def restore(self, state: Any) -> None:
        self.step, self.next_ns, verdicts, self._waits, self.busy_ns = state
        self.verdicts = [(at_ns, verdict) for at_ns, verdict in verdicts]
