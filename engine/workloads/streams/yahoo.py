"""Advertisement events of the Yahoo streaming benchmark, as defined by the document's model."""

from __future__ import annotations

from typing import ClassVar

from engine.spec.experiment.streams.yahoo import YahooEvent

from .. import draws
from ..draws import Floats, Integers
from ..generated import Block

AD_TYPES = ("banner", "modal", "sponsored-search", "mail", "mobile")
EVENT_TYPES = ("view", "click", "purchase")
ADDRESSES = tuple(f"10.0.{n // 16}.{n % 16 + 1}" for n in range(256))


class YahooEvents(Block[YahooEvent]):
    makes = "yahoo_event"
    texts: ClassVar = {"ad_type": AD_TYPES, "event_type": EVENT_TYPES, "ip": ADDRESSES}

    @property
    def user(self) -> Integers:
        return self.below("user", self.stream.users)

    @property
    def page(self) -> Integers:
        return self.below("page", self.stream.pages)

    @property
    def ad(self) -> Integers:
        return self.keys("ad", self.stream.skew, self.stream.campaigns * self.stream.ads_per_campaign)

    @property
    def ad_type(self) -> Integers:
        return self.text("ad_type", self.below("ad type", len(AD_TYPES)))

    @property
    def event_type(self) -> Integers:
        return self.text("event_type", self.below("event type", len(EVENT_TYPES)))

    @property
    def ip(self) -> Integers:
        return self.text("ip", self.below("ip", len(ADDRESSES)))

    @property
    def interest(self) -> Floats:
        shape = 1.0 / (self.stream.interest_cv * self.stream.interest_cv)
        return draws.gamma(self.source.random("interest"), self.numbers, shape) / shape
