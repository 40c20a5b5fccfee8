"""Purchases of gem packs in a game's shop, and the ads for them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer
from ..skew import AnySkew, NormalSkew
from .base import Stream, count

GEM_PACKS = Field(default=NormalSkew(), title="Skew of gem packs", description="How often each gem pack occurs.")


class ShopStream(Stream):
    """Base of purchases and ads, 104 bytes each: 1.2 million per second saturate a link of 1 Gbit/s."""

    group: ClassVar[str] = "Game shop"
    source: ClassVar[str] = "Karimov 2020, 3.5; the default numbers of gem packs and users are ours"

    gem_packs: Integer = count(64, most=10_000_000, title="Gem packs", description="Number of gem packs.")
    users: Integer = count(1000, title="Users", description="Number of users, all equally frequent.")
    skew: AnySkew = GEM_PACKS


class Purchase(ShopStream):
    """Purchases: a user buys a gem pack at a price."""

    title: ClassVar[str] = "Purchases"
    icon: ClassVar[str] = "cart"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(104, user="int", gem_pack="int", price="int", time="timestamp")
    position: ClassVar[int] = 6
    kind: Literal["purchase"] = "purchase"

    price: Literal["uniform", "gem_pack"] = Field(
        default="uniform",
        title="Price",
        description="A random whole number from 1 to 100 (uniform), or the gem pack's number, from 1 (gem_pack).",
    )


class AdShown(ShopStream):
    """Advertisements: a user is shown a gem pack."""

    title: ClassVar[str] = "Advertisements"
    icon: ClassVar[str] = "eye"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(104, user="int", gem_pack="int", time="timestamp")
    position: ClassVar[int] = 7
    kind: Literal["ad_shown"] = "ad_shown"
