"""What the windowed revenue of the thesis writes to its changelog, straight into a log: 6,250 purchases/s for eight minutes, ten keys,
windows of a second (specification of incremental checkpointing, 2.4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from engine.services.cleaner import Cleaner, CleanerSettings, Pass
from engine.services.topics import LogSettings, Partition

Layout = Literal["fold", "retain"]
SECONDS, PER_S, BATCH, QUIET_S = 480, 6250, 500, 60
PUT_BYTES: dict[Layout, tuple[int, int]] = {"fold": (64, 65), "retain": (129, 134)}
TOMBSTONE_BYTES = (60, 61)
"""Of keys 1 to 9, and of key 10, which is a letter longer."""
NS = 1_000_000_000


@dataclass
class Outcome:
    """samples_mb: size of the log at the end of each second, also of the quiet ones after the load. busy_share: of a thread under load."""

    samples_mb: list[float] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    busy_share: float = 0.0
    log: Partition = field(default_factory=lambda: Partition(LogSettings()))

    @property
    def most_mb(self) -> float:
        return max(self.samples_mb)

    @property
    def mean_mb(self) -> float:
        return sum(self.samples_mb[:SECONDS]) / SECONDS

    @property
    def tombstone_share(self) -> float:
        records = self.log.read()
        return float(records.sizes[records.is_tombstone].sum() / records.bytes)


def loaded(layout: Layout, segment_ms: int | None, dirty_share: float = 0.0, seed: int = 1, threads: int = 2, **about: Any) -> Outcome:
    """The log under this load. segment_ms: None leaves out the cleaner. about: other settings of cleaner and log. Where all purchases are
    retained, a record stands for ten of them, with their bytes."""
    scale = 1 if layout == "fold" else 10
    chance = np.random.default_rng(seed)
    own = {name: about.pop(name) for name in ("setup_ns", "backoff_ns") if name in about}
    found = Outcome()
    if segment_ms is not None:
        found.log = Partition(LogSettings(segment_ns=segment_ms * 1_000_000, dirty_share=dirty_share, **about))
    factors = np.exp(chance.normal(0, 0.25, 100_000))
    wakes_ns = [int(chance.integers(0, 15 * NS)) for _ in range(threads)]
    cleaner = Cleaner([found.log], CleanerSettings(threads=threads, **own), wakes_ns, lambda n: float(factors[n]))
    for second in range(SECONDS):
        for batch in written(layout, second, PER_S // scale, scale, chance):
            times = batch[0]
            at = 0
            while at < len(times):
                to = len(times) if segment_ms is None else int(np.searchsorted(times, cleaner.next_ns, "right"))
                found.log.append(*(column[at:to] for column in batch))
                at = to
                if at < len(times):
                    cleaner.wake(cleaner.next_ns)
        found.samples_mb.append(found.log.bytes / 1e6)
    found.busy_share = cleaner.busy_ns(SECONDS * NS) / (SECONDS * NS)
    for second in range(SECONDS, SECONDS + QUIET_S):
        while segment_ms is not None and cleaner.next_ns <= second * NS:
            cleaner.wake(cleaner.next_ns)
        found.samples_mb.append(found.log.bytes / 1e6)
    found.passes = cleaner.passes
    return found


def written(layout: Layout, second: int, per_s: int, scale: int, chance: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """Times, keys, bytes, values and tombstones: of the purchases of a window, and of its end."""
    times = second * NS + np.sort(chance.integers(0, NS, per_s))
    ids = np.round(chance.uniform(1, 10, per_s)).astype(np.int64)
    longer = (ids == 10).astype(np.int64)
    end_ns = (second + 1) * NS
    short, long = PUT_BYTES[layout]
    sizes = np.where(longer, long, short) * scale
    if layout == "fold":  # each update by itself, since each reads what was there
        keys, ended = second * 10 + ids - 1, np.unique(ids)
        gone, weights = second * 10 + ended - 1, np.where(ended == 10, TOMBSTONE_BYTES[1], TOMBSTONE_BYTES[0])
    else:  # in batches
        size = max(1, BATCH // scale)
        times = times[np.minimum((np.arange(per_s) // size + 1) * size - 1, per_s - 1)]
        keys = gone = second * per_s + np.arange(per_s)
        weights = np.where(longer, TOMBSTONE_BYTES[1], TOMBSTONE_BYTES[0]) * scale
    yield times, keys, sizes, ids, np.zeros(per_s, bool)
    yield np.full(len(gone), end_ns), gone, weights, np.zeros(len(gone), np.int64), np.ones(len(gone), bool)
