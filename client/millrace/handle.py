"""Base classes of experiments, runs and studies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from .connection import Connection
from .waiting import checked, wait


class Handle:
    """An object of the lab. told: the API's last response for it."""

    def __init__(self, connection: Connection, told: dict[str, Any]) -> None:
        self.connection, self.told = connection, told

    @property
    def id(self) -> str:
        return str(self.told["id"])


class Work(Handle, ABC):
    """Work that workers do; it has a state, and ends."""

    @property
    @abstractmethod
    def called(self) -> str:
        """Its name for use in a sentence."""

    @property
    def state(self) -> str:
        return str(self.told["state"])

    @abstractmethod
    def refresh(self) -> Self:
        """Reload it."""

    def wait(self, timeout_s: float | None = None, *, progress: bool = True, check: bool = True) -> Self:
        """Wait until it has ended. Raises LabError if it did not succeed (unless check is False), and after timeout_s; it then keeps
        running."""
        self.told = wait(lambda: self.refresh().told, self.called[0].upper() + self.called[1:], timeout_s, progress)
        if check:
            checked(self.told, self.called)
        return self
