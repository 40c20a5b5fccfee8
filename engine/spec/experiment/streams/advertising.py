"""Ad impressions in a search engine, and the clicks on them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer, Number
from .base import Stream, count


class AdvertisingStream(Stream):
    """Base of the two topics. With equal parameters, impression i is the same record in every stream of the document, so a click can
    repeat the columns of its impression.

    Ads and queries are Zipf-distributed. An ad has one advertiser, url, title and description; a query has one keyword. `key` identifies
    the pair of ad and query.
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

    ads: Integer = count(600_000, title="Ads", description="Number of ads.")
    queries: Integer = count(20_000_000, title="Queries", description="Number of distinct queries.")
    exponent: Number = Field(
        default=1.1, ge=0, le=5, title="Exponent", description="Exponent of the Zipf distributions of ads and queries."
    )
    users: Integer = count(1_000_000, title="Users", description="Number of users.")


class AdImpression(AdvertisingStream):
    """Ads shown: up to three on a page (`depth`), this one at `position`."""

    title: ClassVar[str] = "Ad impressions"
    icon: ClassVar[str] = "eye"
    position: ClassVar[int] = 4
    kind: Literal["ad_impression"] = "ad_impression"


class AdClick(AdvertisingStream):
    """Clicks on recent impressions, on average one per `every` impressions.

    With an impression rate `every` times the click rate, the two streams stay aligned in time.
    """

    title: ClassVar[str] = "Ad clicks"
    icon: ClassVar[str] = "pointer"
    position: ClassVar[int] = 5
    kind: Literal["ad_click"] = "ad_click"

    every: Integer = count(
        28,
        most=1_000_000,
        title="Impressions per click",
        description="Average number of impressions per click; 28 is a click-through rate of 3.6 percent.",
    )
    back: Integer = count(
        1000,
        most=10_000_000,
        title="Click lag",
        description="Largest distance of a click's impression from the newest one, in impressions.",
    )
