"""Parameters of the state `active_standby`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from ...base.operator import Model
from ...base.origins import ASSUMED
from ...base.units import Number, milliseconds_ns, quantity
from ...base.variant import Variant


class Pair(Model):
    """An operator and another one of the query, drawn like it on other hosts, that takes over when a host is lost."""

    operator: str = Field(min_length=1, max_length=200, title="Operator", description="Whose results count.")
    standby: str = Field(
        min_length=1,
        max_length=200,
        title="Standby",
        description="Its copy: the same kind, parameters, instances and edges on other hosts.",
    )


class ActiveStandby(Variant):
    """Operators keep their state in memory, and so do standbys on other hosts that process the same input. Standbys hold their results back
    until they take over: twice the resources, nothing to restore."""

    title: ClassVar[str] = "Active standby"
    source: ClassVar[str] = "Chronarakis 2019, 2.2"
    position: ClassVar[int] = 5
    kind: Literal["active_standby"] = "active_standby"
    pairs: tuple[Pair, ...] = Field(min_length=1, max_length=1000, title="Pairs", description="Operators and their standbys.")
    takeover_ms: Number = quantity(
        1000.0,
        unit="ms",
        ge=0,
        le=1e9,
        title="Takeover",
        description="Time from the loss of a host until standbys send their results: to notice the loss, and to switch.",
        charge=ASSUMED,
    )

    @property
    def takeover_ns(self) -> int:
        return milliseconds_ns(self.takeover_ms)


def standbys(experiment: Any) -> frozenset[str]:
    """The operators of an `Experiment` that are standbys of others. Whoever computes its results without losing hosts leaves them out."""
    state = experiment.policies.state
    return frozenset(pair.standby for pair in state.pairs) if isinstance(state, ActiveStandby) else frozenset()
