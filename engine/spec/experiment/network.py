"""Network beyond the hosts' egress links: links between regions, links between single hosts, and trunks shared by many hosts."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, latency, milliseconds_ns, quantity
from ..base.words import number_in_words

REGION_LENGTH_MAX = 40
"""Characters of the name of a region, which is the `group` of its hosts."""

TRUNK_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"


def bandwidth(default: Any = ..., *, title: str, description: str) -> Any:
    """A field in Mbit/s. Never 0: a link that carries nothing is a partition (`faults`)."""
    return quantity(default, unit="Mbit/s", ge=1, le=10_000_000, title=title, description=description)


def region(*, title: str, description: str) -> Any:
    """A field that names a region of hosts."""
    return Field(min_length=1, max_length=REGION_LENGTH_MAX, title=title, description=description, json_schema_extra={"x-editor": "region"})


class RegionLink(Model):
    """Properties of the links from every host of one region to every host of another one, or between the hosts of one region.

    A host's region is its `group`. A link from host to host overrides the latency, the bandwidth or both.
    """

    source: str = region(title="From", description="Region of the sending hosts.")
    target: str = region(title="To", description="Region of the receiving hosts. The same region: the links within it.")
    both_ways: bool = Field(default=True, title="Both ways", description="Also applies in the opposite direction.")
    latency_ms: Number | None = latency(None, description="Latency from host to host. Default: the sender's own.")
    mbit_per_s: Integer | None = bandwidth(
        None,
        title="Bandwidth",
        description="Bandwidth from host to host, as a FIFO for each pair. Default: the sender's egress link. A trunk limits all together.",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> RegionLink:
        if self.latency_ms is None and self.mbit_per_s is None:
            message = f"the link from '{self.source}' to '{self.target}' changes nothing; give latency_ms, mbit_per_s or both, or remove it"
            raise Refusal(message, code="missing")
        return self

    @property
    def ways(self) -> tuple[tuple[str, str], ...]:
        """The directions that it applies to, as pairs of a sending and a receiving region."""
        there, back = (self.source, self.target), (self.target, self.source)
        return (there, back) if self.both_ways and there != back else (there,)

    @property
    def in_words(self) -> str:
        if self.source == self.target:
            return f"within {self.source} ({_limits_in_words(self)})"
        return f"{self.source} {'↔' if self.both_ways else '→'} {self.target} ({_limits_in_words(self)})"

    @property
    def latency_ns(self) -> int | None:
        return None if self.latency_ms is None else milliseconds_ns(self.latency_ms)


class Link(Model):
    """Properties of the link from one host to another, in this direction only."""

    source: str = Field(min_length=1, title="From", description="Name of the sending host.", json_schema_extra={"x-editor": "host"})
    target: str = Field(min_length=1, title="To", description="Name of the receiving host.", json_schema_extra={"x-editor": "host"})
    latency_ms: Number | None = latency(None, description="Latency in this direction. Default: the regions', or else the sender's own.")
    mbit_per_s: Integer | None = bandwidth(
        None,
        title="Bandwidth",
        description="Bandwidth, as a FIFO of its own. Default: the regions', or else the sender's egress link.",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Link:
        if self.latency_ms is None and self.mbit_per_s is None:
            message = f"the link from '{self.source}' to '{self.target}' changes nothing; give latency_ms, mbit_per_s or both, or remove it"
            raise Refusal(message, code="missing")
        return self

    @property
    def in_words(self) -> str:
        return f"{self.source} → {self.target} ({_limits_in_words(self)})"

    @property
    def latency_ns(self) -> int | None:
        return None if self.latency_ms is None else milliseconds_ns(self.latency_ms)


def _limits_in_words(link: Link | RegionLink) -> str:
    given = [(link.latency_ms, "ms"), (link.mbit_per_s, "Mbit/s")]
    return ", ".join(number_in_words(value, unit) for value, unit in given if value is not None)


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
