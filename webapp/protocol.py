"""HTTP as the web server speaks it: uvicorn's, with a limit on the time that the headers of a request may take.

uvicorn waits for the first headers of a connection without end, so a client could hold as many connections as the machine has.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 20.0


class LimitedH11(H11Protocol):
    """Closes connections whose headers do not come in time. Between requests, uvicorn's own limit holds."""

    _waits: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    def _look(self) -> None:
        """Wait from the first byte of a request on, until its headers are complete."""
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._waits is None:
            self._waits = self.loop.call_later(HEADERS_S, self.transport.close)

    def _stop(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None
