"""Few at a time, in fair turn: who has asked for much waits for his own work, and nobody for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from .limited import LOOKS_S, Abandoned


class TooManyWaiting(Exception):
    """One person has as much waiting as is allowed."""


class Turns:
    """at_once: how many may work at a time. per_person: of one person. waiting_max: how many of one person may wait."""

    def __init__(self, at_once: int, per_person: int, waiting_max: int) -> None:
        self.at_once, self.per_person, self.waiting_max = at_once, per_person, waiting_max
        self._working: Counter[Hashable] = Counter()
        self._waiting: list[tuple[Hashable, object]] = []  # oldest first
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, who: Hashable, is_gone: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Wait for a turn, and have it. Raises TooManyWaiting, or Abandoned if the client goes meanwhile."""
        ticket = (who, object())
        with self._changed:
            if self.waiting(who) >= self.waiting_max and not self._is_free(who):
                raise TooManyWaiting(f"{self.waiting_max} of yours are waiting already; wait for them, or cancel them")
            self._waiting.append(ticket)
            try:
                while self._next() is not ticket:
                    if is_gone():
                        raise Abandoned
                    self._changed.wait(LOOKS_S)
                self._working[who] += 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._working[who] -= 1
                self._working += Counter()  # without those who have none
                self._changed.notify_all()

    def waiting(self, who: Hashable) -> int:
        """How many of theirs wait."""
        return sum(other == who for other, _ in self._waiting)

    def _is_free(self, who: Hashable) -> bool:
        return not self._waiting and self._working.total() < self.at_once and self._working[who] < self.per_person

    def _next(self) -> tuple[Hashable, object] | None:
        """Whose turn it is: the first whose person has less at work than is allowed."""
        if self._working.total() >= self.at_once:
            return None
        return next((ticket for ticket in self._waiting if self._working[ticket[0]] < self.per_person), None)
