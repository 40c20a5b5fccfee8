"""How often each key of a stream occurs. Keys are numbers 0, 1, 2, ...; `engine.workloads.keys` draws from these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Integer, Number
from ..base.variant import Variant


class Skew(Variant):
    """The law of a key."""


class UniformSkew(Skew):
    """All keys equally often."""

    title: ClassVar[str] = "Uniform"
    kind: Literal["uniform"] = "uniform"


class HotSkew(Skew):
    """A share of the records goes to the hot keys, which are the first ones; the others to any key."""

    title: ClassVar[str] = "Hot keys"
    source: ClassVar[str] = "Siachamis 2024, 3.6"
    kind: Literal["hot"] = "hot"
    share: Number = Field(default=0.2, ge=0, le=1, title="Share", description="Of the records that go to the hot keys; 1 for a single key.")
    keys: Integer = Field(default=1, ge=1, le=1_000_000, title="Hot keys", description="How many there are.")


class ZipfSkew(Skew):
    """Key k with a probability proportional to (k + 1)^-exponent: a few keys often, most of them rarely."""

    title: ClassVar[str] = "Zipf"
    kind: Literal["zipf"] = "zipf"
    exponent: Number = Field(default=1.0, ge=0, le=5, title="Exponent", description="0 is uniform; larger is more skewed.")


class NormalSkew(Skew):
    """A bell: normal around the middle key with a sixth of the keys as standard deviation, rounded, and cut at both ends."""

    title: ClassVar[str] = "Normal"
    source: ClassVar[str] = "Karimov 2020, 3.5"
    kind: Literal["normal"] = "normal"


class RoundedSkew(Skew):
    """Uniform but for the first and the last key, which occur half as often: what rounding a uniform number gives."""

    title: ClassVar[str] = "Rounded"
    kind: Literal["rounded"] = "rounded"


AnySkew = Annotated[UniformSkew | HotSkew | ZipfSkew | NormalSkew | RoundedSkew, Field(discriminator="kind")]
