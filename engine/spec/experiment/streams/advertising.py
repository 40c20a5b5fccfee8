"""Impressions of advertisements in a search engine, and the clicks on them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer, Number
from .base import Stream, count


class AdvertisingStream(Stream):
    """What the two topics share: impression i is the same record in every stream of the document with the same parameters, so a click can
    repeat the columns of the impression that it belongs to.

    Ads and queries have Zipf laws; an ad belongs to one advertiser and has one url, title and description, a query one keyword. `key` is
    one number for each pair of ad and query.
    """

    group: ClassVar[str] = "Advertising"
    source: ClassVar[str] = "Heinrich et al. 2024, V; KDD Cup 2012, track 2 (synthesised)"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        0,
        impression="int",
        key="int",
        ad="int",
        advertiser="int",
        query="int",
        keyword="int",
        depth="int",
        position="int",
        url="string",
        title="int",
        description="int",
        user="int",
        time="timestamp",
    )

    ads: Integer = count(600_000, title="Ads", description="How many there are.")
    queries: Integer = count(20_000_000, title="Queries", description="How many there are.")
    exponent: Number = Field(default=1.1, ge=0, le=5, title="Exponent", description="Of the Zipf laws of ads and queries.")
    users: Integer = count(1_000_000, title="Users", description="How many there are.")


class AdImpression(AdvertisingStream):
    """Advertisements shown: up to three on a page (`depth`), this one on place `position`."""

    title: ClassVar[str] = "Ad impressions"
    icon: ClassVar[str] = "eye"
    position: ClassVar[int] = 4
    kind: Literal["ad_impression"] = "ad_impression"


class AdClick(AdvertisingStream):
    """Clicks on impressions, one on average for so many impressions; the impression lies a little back.

    At rates of 1 to `every` impressions and clicks keep step in time.
    """

    title: ClassVar[str] = "Ad clicks"
    icon: ClassVar[str] = "pointer"
    position: ClassVar[int] = 5
    kind: Literal["ad_click"] = "ad_click"

    every: Integer = count(28, most=1_000_000, title="Impressions per click", description="28 is a click rate of 3.6 percent.")
    back: Integer = count(1000, most=10_000_000, title="Back", description="How many impressions a click may lie behind the newest one.")
