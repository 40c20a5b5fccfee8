"""Purchases of gem packs and advertisements for them, as defined by the document's models."""

from __future__ import annotations

from functools import cached_property

from engine.spec.experiment.streams.shop import Purchase, ShopStream

from ..draws import Integers
from ..generated import Block

PRICE_MAX = 100


class AdsShown(Block[ShopStream]):
    makes = "ad_shown"

    @property
    def user(self) -> Integers:
        return self.below("user", self.stream.users)

    @cached_property
    def gem_pack(self) -> Integers:
        return self.keys("gem pack", self.stream.skew, self.stream.gem_packs)


class Purchases(AdsShown):
    makes = "purchase"
    stream: Purchase

    @property
    def price(self) -> Integers:
        return 1 + (self.gem_pack if self.stream.price == "gem_pack" else self.below("price", PRICE_MAX))
