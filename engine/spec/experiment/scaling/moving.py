"""Base of everything that moves operators of a running query to other hosts, and parameters shared by several of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Number, quantity, seconds_ns
from ...base.words import number_in_words
from ..restart_elsewhere import RestartElsewhere
from .base import BY_OPERATOR, Rearranging, capture_field, objective_field, serialise_field

HostName = Annotated[str, Field(json_schema_extra={"x-editor": "host"})]


class Move(Model):
    """Operators that move at a given time of the run."""

    at_s: Number = quantity(unit="s", gt=0, le=1e9, title="At", description="Virtual time, before the end of the run's horizon.")
    hosts: dict[str, HostName] = Field(
        min_length=1, title="Hosts", description="New host by operator. Other operators stay.", json_schema_extra=BY_OPERATOR
    )

    @property
    def in_words(self) -> str:
        moves = ", ".join(f"{operator} to {host}" for operator, host in self.hosts.items())
        return f"{moves} at {number_in_words(self.at_s, 's')}"


class Moving(Rearranging):
    """Base of everything that moves operators of one instance each to other hosts while the query runs."""

    moves: tuple[Move, ...] = Field(
        default=(), max_length=10_000, title="Moves", description="Moves at given times, independent of what a policy decides."
    )
    rescaling: RestartElsewhere = Field(
        default=RestartElsewhere(), title="Restart", description="How the query stops, takes its state along, and restarts."
    )
    slo_s: Number = objective_field()
    capture_ms: Number = capture_field()
    serialise_mb_per_s: Number = serialise_field()
    relocates: ClassVar[bool] = True

    @model_validator(mode="after")
    def _moves_at_different_times(self) -> Self:
        times = [seconds_ns(move.at_s) for move in self.moves]
        for n, move in enumerate(self.moves):
            if times[n] in times[:n]:
                message = f"at_s is {move.at_s:g} in two moves; put all operators of one time into one move"
                raise Refusal(message, at=("moves", n, "at_s"), code="duplicate", value=move.at_s)
        return self
