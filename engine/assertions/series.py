"""Values extracted from runs: numbers, series, and missing values."""

from __future__ import annotations

from dataclasses import dataclass

RunKeys = tuple[str, ...]
"""Hashes of the documents (with their seeds) of the runs behind a value."""


@dataclass(frozen=True)
class Number:
    """low, high: bounds of a mean over seeds."""

    value: float
    low: float | None = None
    high: float | None = None
    runs: RunKeys = ()


@dataclass(frozen=True)
class Series:
    """x, y: shape (n,); an y may be `AtLeast`. low, high: bounds of y if it is a mean over seeds, otherwise (). runs: those behind each
    point, or behind all points."""

    x: tuple[float | str, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    runs: tuple[RunKeys, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether some y is only known to be at least some value."""
        return any(isinstance(y, AtLeast) for y in self.y)


class AtLeast(float):
    """A number that was still growing when its observation ended: this, or more. why: what was observed, in words."""

    why: str

    def __new__(cls, value: float, why: str) -> AtLeast:
        made = super().__new__(cls, value)
        made.why = why
        return made


@dataclass(frozen=True)
class Missing:
    """A value that could not be extracted."""

    reason: str


Value = Number | Series | Missing
