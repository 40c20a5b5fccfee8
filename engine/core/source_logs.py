"""Interface of the sources' logs to the core. They are outside the system under test and keep records after they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.core import layout as L
from engine.core.tables import Arrays, Words


class Place(NamedTuple):
    """Position of an instance in its log: the next entry's append time, and its event time and trigger, which distinguish it from others of
    the same append time. trigger LOG_AHEAD: the first entry from that time on."""

    append_ns: int
    event_ns: int
    trigger: int


BEGINNING = Place(0, 0, L.LOG_AHEAD)


class SourceLogs(Protocol):
    """The logs of the sources. They keep records after they are read. owners: by operator, the index of the instance that owns each
    partition."""

    owners: dict[str, Words]

    def place(self, w: Arrays, i: int) -> Place: ...

    def seek(self, w: Arrays, i: int, place: Place) -> None:
        """Set instance `i` to this position, once `reload` has filled its log."""
        ...

    def places(self, w: Arrays, operator: str) -> list[Place]:
        """Position at which each partition continues."""
        ...

    def assign(self, w: Arrays, operator: str, owner: Words, floors: Sequence[Place]) -> None:
        """Change the owners of partitions, which continue at `floors` once `reload` has filled the logs."""
        ...

    def set_floors(self, operator: str, floors: Sequence[Place]) -> None:
        """Set the positions at which partitions resume after `to_floors`."""
        ...

    def to_floors(self, w: Arrays, operator: str, i: int) -> None:
        """Let instance `i` resume at the floors of its partitions, once `reload` has filled its log."""
        ...

    def reload(self, w: Arrays) -> Arrays: ...

    def appended(self, w: Arrays, operator: str, t_ns: int) -> int:
        """Real records of a source that have been appended at times <= t_ns."""
        ...
