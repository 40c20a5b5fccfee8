"""The thread of an instance that sends changes to the broker: all that wait go in one request, and the next one follows its answer.

Source: Apache Kafka's producer with one request in flight and no linger (specification of incremental checkpointing, A6 and M5).
"""

from __future__ import annotations

import numpy as np

from engine.core.tables import Words

from .kernels import SEND_ANSWERED, SEND_BEGAN, SEND_REQUESTS, SEND_WAITS, SEND_WORDS, send


class Sender:
    """request_ns: from a request to its answer."""

    def __init__(self, request_ns: int):
        self.request_ns = request_ns
        self._words = np.zeros(SEND_WORDS, np.int64)
        self._words[SEND_BEGAN] = -1

    @property
    def requests(self) -> int:
        return int(self._words[SEND_REQUESTS])

    @property
    def began_ns(self) -> int:
        """When the last request began: what was handed over until then has been sent. -1 before the first one."""
        return int(self._words[SEND_BEGAN])

    def send(self, times_ns: Words) -> None:
        """Hand over records, in order of time."""
        send(np.ascontiguousarray(times_ns), self._words, self.request_ns)

    def answered_ns(self, now_ns: int) -> int:
        """When all that was handed over is in the log, `now_ns` at the least."""
        waits = int(self._words[SEND_WAITS])
        return max(now_ns, int(self._words[SEND_ANSWERED]) + waits * self.request_ns)

    def crash(self, now_ns: int) -> int:
        """The process ends: what waits for the next request is lost. Returns the time until which what was handed over has been sent."""
        if self._words[SEND_WAITS] and self._words[SEND_ANSWERED] <= now_ns:
            self._words[SEND_BEGAN] = self._words[SEND_ANSWERED]
            self._words[SEND_REQUESTS] += 1
        sent_ns = int(self._words[SEND_BEGAN])
        self._words[SEND_WAITS] = 0
        self._words[SEND_ANSWERED] = min(self._words[SEND_ANSWERED], now_ns)
        return sent_ns
