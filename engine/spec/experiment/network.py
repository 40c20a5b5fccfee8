"""Network beyond the hosts' egress links: individual links between hosts, and trunks shared by many hosts."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, latency, milliseconds_ns, quantity
from ..base.words import number_in_words

TRUNK_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"


def bandwidth(default: Any = ..., *, title: str, description: str) -> Any:
    """A field in Mbit/s. Never 0: a link that carries nothing is a partition (`faults`)."""
    return quantity(default, unit="Mbit/s", ge=1, le=10_000_000, title=title, description=description)


class Link(Model):
    """Properties of the link from one host to another, in this direction only."""

    source: str = Field(min_length=1, title="From", description="Name of the sending host.", json_schema_extra={"x-editor": "host"})
    target: str = Field(min_length=1, title="To", description="Name of the receiving host.", json_schema_extra={"x-editor": "host"})
    latency_ms: Number | None = latency(None, description="Latency in this direction. Default: the sender's own.")
    mbit_per_s: Integer | None = bandwidth(
        None, title="Bandwidth", description="Bandwidth, as a FIFO of its own. Default: the link shares the sender's egress link."
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Link:
        if self.latency_ms is None and self.mbit_per_s is None:
            message = f"the link from '{self.source}' to '{self.target}' changes nothing; give latency_ms, mbit_per_s or both, or remove it"
            raise Refusal(message, code="missing")
        return self

    @property
    def in_words(self) -> str:
        given = [(self.latency_ms, "ms"), (self.mbit_per_s, "Mbit/s")]
        limits = ", ".join(number_in_words(value, unit) for value, unit in given if value is not None)
        return f"{self.source} → {self.target} ({limits})"

    @property
    def latency_ns(self) -> int | None:
        return None if self.latency_ms is None else milliseconds_ns(self.latency_ms)


class Trunk(Model):
    """A FIFO shared by all traffic from its sources to its targets, after the senders' egress links.

    With a single target it models that host's ingress link.
    """

    name: str = Field(pattern=TRUNK_NAME, title="Name", description="Letters, digits, '_', '.', '-'; at most 63 characters.")
    mbit_per_s: Integer = bandwidth(title="Bandwidth", description="Bandwidth of the trunk.")
    sources: tuple[str, ...] = Field(
        min_length=1, title="From", description="Sending hosts. The name of an entry with a count stands for all its machines."
    )
    targets: tuple[str, ...] | None = Field(
        default=None, min_length=1, title="To", description="Receiving hosts, named in the same way. Default: all other hosts."
    )

    @property
    def in_words(self) -> str:
        targets = "all other hosts" if self.targets is None else ", ".join(self.targets)
        return f"{self.name} ({', '.join(self.sources)} → {targets}, {number_in_words(self.mbit_per_s, 'Mbit/s')})"
