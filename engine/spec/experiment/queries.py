"""Named queries: which operators belong to one, how many copies of it run, and when each starts."""

from __future__ import annotations

from pydantic import Field

from ..base.operator import Model
from ..base.units import Integer, Number, quantity, seconds_ns
from ..base.words import number_in_words

QUERY_NAME = r"^[a-z][a-z0-9_-]{0,62}$"
COPIES_MAX = 1_000


class NamedQuery(Model):
    """Operators that are measured together as one query. Operators of no query are shared: every copy of a query that they feed gets
    all of their records.
    """

    name: str = Field(pattern=QUERY_NAME, title="Name", description="Lower-case letters, digits, '_', '-', a letter first.")
    operators: tuple[str, ...] = Field(
        min_length=1,
        title="Operators",
        description="Operator ids, each in at most one query.",
        json_schema_extra={"x-items": "operator"},
    )
    copies: Integer | None = Field(
        default=None,
        ge=1,
        le=COPIES_MAX,
        title="Copies",
        description="Number of identical queries, each with records of its own, named name-1, name-2, ... Default: one query with exactly "
        "this name.",
    )
    start_s: Number = quantity(
        0.0,
        unit="s",
        ge=0,
        le=1e8,
        title="Start",
        description="Virtual time at which the query starts. Rates, watermarks and windows of a query count from its start.",
    )
    start_within_s: Number = quantity(
        0.0,
        unit="s",
        ge=0,
        le=1e8,
        title="Start within",
        description="Each copy starts at a random time of this span after the start, drawn from the seed.",
    )

    @property
    def in_words(self) -> str:
        start = f" from {number_in_words(self.start_s, 's')}" if self.start_s else ""
        within = f", started within {number_in_words(self.start_within_s, 's')}" if self.start_within_s else ""
        return f"{self.name}{'' if self.copies is None else f' ({self.copies:,} copies)'}{start}{within}"

    @property
    def copy_count(self) -> int:
        return 1 if self.copies is None else self.copies

    def named(self, copy: int) -> str:
        """Name of a copy, counted from 0."""
        return numbered(self.name, None if self.copies is None else copy)

    @property
    def starts_by_ns(self) -> int:
        """No copy starts later."""
        return seconds_ns(self.start_s) + seconds_ns(self.start_within_s)


def numbered(name: str, copy: int | None) -> str:
    """The name of a copy's query or operator, copies counted from 0; None: the name itself."""
    return name if copy is None else f"{name}-{copy + 1}"
