"""Ad events of the Yahoo streaming benchmark."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer, Number
from ..skew import AnySkew, UniformSkew
from .base import Stream, count


class YahooEvent(Stream):
    """Ad events, 260 bytes each, about the size of the benchmark's JSON. The benchmark looks campaigns up in a table; here the ads of a
    campaign have consecutive numbers: campaign = ad // ads per campaign.

    event_type is view, click or purchase; ad_type is banner, modal, sponsored-search, mail or mobile, all equally frequent. interest is a
    positive weight, gamma-distributed with mean 1, for sums of unequal values.
    """

    title: ClassVar[str] = "Yahoo ad events"
    group: ClassVar[str] = "Advertising"
    icon: ClassVar[str] = "eye"
    source: ClassVar[str] = "Farhat 2020, 3.5 and 4.5; Yahoo streaming benchmark"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        260,
        user="int",
        page="int",
        ad="int",
        ad_type="string",
        event_type="string",
        time="timestamp",
        ip="string",
        interest="float",
    )
    position: ClassVar[int] = 3
    kind: Literal["yahoo_event"] = "yahoo_event"

    campaigns: Integer = count(100, most=1_000_000, title="Campaigns", description="Number of campaigns.")
    ads_per_campaign: Integer = count(10, most=1000, title="Ads per campaign", description="Number of ads in each campaign.")
    users: Integer = count(100_000, title="Users", description="Number of users.")
    pages: Integer = count(100_000, title="Pages", description="Number of pages.")
    interest_cv: Number = Field(
        default=0.53,
        ge=0.01,
        le=1,
        title="Interest variation",
        description="Coefficient of variation of the interest (standard deviation divided by mean).",
    )
    skew: AnySkew = Field(default=UniformSkew(), title="Skew of ads", description="How often each ad occurs.")
