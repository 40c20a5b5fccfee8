"""The Yahoo streaming benchmark's advertisement events."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer, Number
from ..skew import AnySkew, UniformSkew
from .base import Stream, count


class YahooEvent(Stream):
    """Events of advertisements; 260 bytes each, about what the benchmark's JSON has. Of the campaign, which the benchmark looks up in a
    table, the ads have consecutive numbers: campaign = ad // ads per campaign.

    event_type is view, click or purchase and ad_type banner, modal, sponsored-search, mail or mobile, each equally often. interest is a
    positive weight with mean 1 and a gamma distribution, for sums whose values are not all equal.
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

    campaigns: Integer = count(100, most=1_000_000, title="Campaigns", description="How many there are.")
    ads_per_campaign: Integer = count(10, most=1000, title="Ads per campaign", description="How many ads each campaign has.")
    users: Integer = count(100_000, title="Users", description="How many there are.")
    pages: Integer = count(100_000, title="Pages", description="How many there are.")
    interest_cv: Number = Field(
        default=0.53, ge=0.01, le=1, title="Deviation of interest", description="Standard deviation of the interest over its mean."
    )
    skew: AnySkew = Field(default=UniformSkew(), title="Skew of ads", description="How often each ad occurs.")
