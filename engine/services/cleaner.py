"""The threads of a broker that compact its logs. Each looks for a log that is due, cleans it, and looks again; if there is none, it sleeps.

Source: Chronarakis 2019, 2.2 and 4.5; Apache Kafka 0.10.1. The durations are calibrated (specification, A6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .topics import Cleaning, Partition


@dataclass(frozen=True)
class CleanerSettings:
    """threads: of the broker. backoff_ns: how long one sleeps that has found no log. A pass takes setup_ns, which varies, the time to index
    the dirty bytes, the time to rewrite all of them, and segment_ns for each segment."""

    threads: int = 1
    backoff_ns: int = 15_000_000_000
    setup_ns: int = 150_000_000
    index_bytes_per_s: float = 80e6
    rewrite_bytes_per_s: float = 100e6
    segment_ns: int = 3_000_000

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ValueError(f"threads is {self.threads}; it must be at least 1, or leave out the cleaner")
        if self.backoff_ns < 1:
            raise ValueError(f"backoff_ns is {self.backoff_ns}; it must be at least 1, or a thread without work would never rest")

    def duration_ns(self, pass_: Cleaning, factor: float) -> int:
        """Of a pass. factor: of this pass's set-up."""
        indexing_s = pass_.dirty_bytes / self.index_bytes_per_s
        rewriting_s = (pass_.clean_bytes + pass_.dirty_bytes) / self.rewrite_bytes_per_s
        return max(1, round(self.setup_ns * factor + 1e9 * (indexing_s + rewriting_s)) + self.segment_ns * pass_.segments)


@dataclass
class Thread:
    """until_ns: when it ends its pass, or its sleep. log: the number of the log that it cleans, -1 asleep."""

    until_ns: int
    log: int = -1
    pass_: Cleaning | None = None
    began_ns: int = 0


@dataclass(frozen=True)
class Pass:
    """A pass that has ended. before_bytes, after_bytes: of the whole log, in the moment of the swap."""

    log: int
    began_ns: int
    ended_ns: int
    before_bytes: int
    after_bytes: int


class Cleaner:
    """All threads. Let `wake` act at `next_ns`, with all records in the logs that were appended until then, and no later ones."""

    def __init__(
        self,
        logs: Sequence[Partition],
        settings: CleanerSettings,
        wakes_ns: Sequence[int],
        factor: Callable[[int], float],
        slow_down: Callable[[int], float] = lambda _: 1.0,
    ):
        """wakes_ns: when each thread looks for the first time. factor: of the set-up of the n-th pass. slow_down: by how much longer a pass
        takes that begins while so many other threads clean."""
        self.logs, self.settings, self.factor, self.slow_down = logs, settings, factor, slow_down
        self.threads = [Thread(at_ns) for at_ns in wakes_ns]
        self.passes: list[Pass] = []
        self.begun = 0
        if len(self.threads) != settings.threads:
            raise ValueError(f"wakes_ns has {len(self.threads)} times, but there are {settings.threads} threads")

    def adjust(self, settings: CleanerSettings, now_ns: int) -> None:
        """Go on with other settings. Threads that are too many end their pass first; others sleep no longer than they would now."""
        self.settings = settings
        for thread in self.threads:
            if thread.pass_ is None:
                thread.until_ns = min(thread.until_ns, now_ns + settings.backoff_ns)
        self.threads += [Thread(now_ns) for _ in range(settings.threads - len(self.threads))]
        for n in reversed(range(len(self.threads))):
            if len(self.threads) > settings.threads and self.threads[n].pass_ is None:
                del self.threads[n]

    @property
    def next_ns(self) -> int:
        return min(thread.until_ns for thread in self.threads)

    def wake(self, now_ns: int) -> None:
        for thread in list(self.threads):
            if thread.until_ns <= now_ns:
                self._end(thread, now_ns)
                if len(self.threads) > self.settings.threads:
                    self.threads = [one for one in self.threads if one is not thread]
                else:
                    self._begin(thread, now_ns)

    def busy_ns(self, until_ns: int) -> int:
        """How long threads have cleaned."""
        ended = sum(one.ended_ns - one.began_ns for one in self.passes)
        return ended + sum(until_ns - thread.began_ns for thread in self.threads if thread.pass_ is not None)

    def _end(self, thread: Thread, now_ns: int) -> None:
        if thread.pass_ is None:
            return
        log = self.logs[thread.log]
        before_bytes = log.bytes
        log.swap(thread.pass_)
        self.passes.append(Pass(thread.log, thread.began_ns, now_ns, before_bytes, log.bytes))
        thread.log, thread.pass_ = -1, None

    def _begin(self, thread: Thread, now_ns: int) -> None:
        """Take the log with the largest dirty share of those that are due and that no other thread cleans."""
        taken = {other.log for other in self.threads}
        due = [(log.dirty_share, -n) for n, log in enumerate(self.logs) if n not in taken and log.is_due]
        if not due:
            thread.until_ns = now_ns + self.settings.backoff_ns
            return
        thread.log, thread.began_ns = -max(due)[1], now_ns
        thread.pass_ = self.logs[thread.log].cleaning(now_ns)
        alone_ns = self.settings.duration_ns(thread.pass_, self.factor(self.begun))
        thread.until_ns = now_ns + round(alone_ns * self.slow_down(len(taken - {-1})))
        self.begun += 1
