"""The logs of the sources, as the core sees them: they are outside of the system under test, and keep what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.core import layout as L
from engine.core.tables import Arrays, Words


class Place(NamedTuple):
    """Where an instance goes on in its log: the next entry's append time, and its event time and trigger, by which it is told from others
    that came at that time. trigger LOG_AHEAD: the first one from that time on."""

    append_ns: int
    event_ns: int
    trigger: int


BEGINNING = Place(0, 0, L.LOG_AHEAD)


class SourceLogs(Protocol):
    """The logs of the sources, outside the system under test; they keep what was read. owners: by operator, the instance (its index) that
    each partition belongs to."""

    owners: dict[str, Words]

    def place(self, w: Arrays, i: int) -> Place: ...

    def seek(self, w: Arrays, i: int, place: Place) -> None:
        """Instance `i` goes on there, once `reload` has filled its log."""
        ...

    def places(self, w: Arrays, operator: str) -> list[Place]:
        """Where each partition goes on."""
        ...

    def assign(self, w: Arrays, operator: str, owner: Words, floors: Sequence[Place]) -> None:
        """Partitions have other owners, and go on at `floors` once `reload` has filled the logs."""
        ...

    def set_floors(self, operator: str, floors: Sequence[Place]) -> None:
        """Partitions go on there, whoever seeks them (`to_floors`)."""
        ...

    def to_floors(self, w: Arrays, operator: str, i: int) -> None:
        """Instance `i` of the operator goes on at the floors of its partitions, once `reload` has filled its log."""
        ...

    def reload(self, w: Arrays) -> Arrays: ...

    def appended(self, w: Arrays, operator: str, t_ns: int) -> int:
        """Real records of a source that have been appended at times <= t_ns."""
        ...
