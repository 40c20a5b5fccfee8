"""What experiments, runs and studies have in common: each is something of the lab that can be looked at again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from .connection import Connection
from .waiting import checked, wait


class Handle:
    """told: what the API says of it, as of the last look."""

    def __init__(self, connection: Connection, told: dict[str, Any]) -> None:
        self.connection, self.told = connection, told

    @property
    def id(self) -> str:
        return str(self.told["id"])


class Work(Handle, ABC):
    """What workers do: it has a state, and ends."""

    @property
    @abstractmethod
    def called(self) -> str:
        """Its name in a sentence."""

    @property
    def state(self) -> str:
        return str(self.told["state"])

    @abstractmethod
    def refresh(self) -> Self:
        """Look again."""

    def wait(self, timeout_s: float | None = None, *, progress: bool = True, check: bool = True) -> Self:
        """Until it has ended. Raises LabError if it did not succeed, unless check is False, and after timeout_s; it goes on then."""
        self.told = wait(lambda: self.refresh().told, self.called[0].upper() + self.called[1:], timeout_s, progress)
        if check:
            checked(self.told, self.called)
        return self
