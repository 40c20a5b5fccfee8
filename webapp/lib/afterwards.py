"""Work that waits until what it is about has been stored: queues and news tell of rows that others then read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Work = Callable[[], Any]
_waiting: ContextVar[list[Work] | None] = ContextVar("waiting", default=None)


def is_waiting() -> bool:
    """Whether work waits now."""
    return _waiting.get() is not None


def later(work: Work) -> None:
    """Do this when all is stored: at once, unless somebody collects what is to be done."""
    waiting = _waiting.get()
    if waiting is None:
        work()
    else:
        waiting.append(work)


@contextmanager
def collected() -> Iterator[list[Work]]:
    """Collect the work. The caller does it, or drops it."""
    work: list[Work] = []
    token = _waiting.set(work)
    try:
        yield work
    finally:
        _waiting.reset(token)
