"""Key skew: how often each key of a stream occurs. Keys are numbered 0, 1, 2, ...; `engine.workloads.keys` draws them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Integer, Number
from ..base.variant import Variant


class Skew(Variant):
    """The distribution of a key."""


class UniformSkew(Skew):
    """All keys occur equally often."""

    title: ClassVar[str] = "Uniform"
    kind: Literal["uniform"] = "uniform"


class HotSkew(Skew):
    """A share of the records goes to the hot keys, which are the first ones; the rest is uniform over all keys."""

    title: ClassVar[str] = "Hot keys"
    source: ClassVar[str] = "Siachamis 2024, 3.6"
    kind: Literal["hot"] = "hot"
    share: Number = Field(
        default=0.2, ge=0, le=1, title="Share", description="Share of the records that go to the hot keys; 1 sends all records to them."
    )
    keys: Integer = Field(default=1, ge=1, le=1_000_000, title="Hot keys", description="Number of hot keys.")


class ZipfSkew(Skew):
    """Key k has a probability proportional to (k + 1)^-exponent: few keys are frequent, most are rare."""

    title: ClassVar[str] = "Zipf"
    kind: Literal["zipf"] = "zipf"
    exponent: Number = Field(default=1.0, ge=0, le=5, title="Exponent", description="0: uniform. Larger values are more skewed.")


class NormalSkew(Skew):
    """Normal distribution around the middle key, rounded and truncated at both ends. Its standard deviation is a sixth of the keys."""

    title: ClassVar[str] = "Normal"
    source: ClassVar[str] = "Karimov 2020, 3.5"
    kind: Literal["normal"] = "normal"


class RoundedSkew(Skew):
    """Uniform, except that the first and last key occur half as often, as when a uniform number is rounded."""

    title: ClassVar[str] = "Rounded"
    kind: Literal["rounded"] = "rounded"


AnySkew = Annotated[UniformSkew | HotSkew | ZipfSkew | NormalSkew | RoundedSkew, Field(discriminator="kind")]
