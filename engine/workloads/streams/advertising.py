"""Impressions of advertisements and clicks on them, as defined by the document's models.

All columns except the time are determined by the number of the impression, by draws that are the same in all sources of the document.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from engine.spec.experiment.streams.advertising import AdClick, AdvertisingStream

from .. import draws
from ..draws import Integers
from ..generated import Block

URLS = tuple(f"{chr(97 + n % 26)}{n:03d}.example" for n in range(1000))
ADVERTISERS, QUERIES_PER_KEYWORD = 15_000, 16


class AdImpressions(Block[AdvertisingStream]):
    """Impression n."""

    makes = "ad_impression"

    texts: ClassVar = {"url": URLS}

    @cached_property
    def impression(self) -> Integers:
        return self.numbers

    @cached_property
    def ad(self) -> Integers:
        return draws.zipf(self.stream.exponent, self.stream.ads).ranks(self.source.random("/ad"), self.impression) - 1

    @cached_property
    def query(self) -> Integers:
        return draws.zipf(self.stream.exponent, self.stream.queries).ranks(self.source.random("/query"), self.impression) - 1

    @property
    def key(self) -> Integers:
        return self.ad * self.stream.queries + self.query

    @property
    def advertiser(self) -> Integers:
        return self.below("/advertiser", ADVERTISERS, self.ad)

    @property
    def keyword(self) -> Integers:
        return self.below("/keyword", max(self.stream.queries // QUERIES_PER_KEYWORD, 1), self.query)

    @cached_property
    def depth(self) -> Integers:
        return 1 + self.below("/depth", 3, self.impression)

    @property
    def position(self) -> Integers:
        return 1 + self.below("/position", self.depth, self.impression)

    @property
    def url(self) -> Integers:
        return self.text("url", self.below("/url", len(URLS), self.ad))

    @property
    def title(self) -> Integers:
        return self.below("/title", self.stream.ads, self.ad)

    @property
    def description(self) -> Integers:
        return self.below("/description", self.stream.ads, self.ad)

    @property
    def user(self) -> Integers:
        return self.below("/user", self.stream.users, self.impression)


class AdClicks(AdImpressions):
    """Click n belongs to one of the last impressions up to number n x every."""

    makes = "ad_click"

    stream: AdClick

    @cached_property
    def impression(self) -> Integers:
        newest = self.numbers * self.stream.every
        return newest - self.below("impression", np.minimum(newest + 1, self.stream.back))
