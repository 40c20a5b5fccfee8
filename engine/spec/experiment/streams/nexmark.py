"""NexMark: people, auctions and bids of an auction site."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.records import RecordSchema
from ...base.units import Integer, Number
from .base import Stream, count, ratio


class NexmarkStream(Stream):
    """One of NexMark's three topics, sufficient for its queries Q0 to Q12.

    Of 50 events, 1 is a person, 3 are auctions and 46 are bids. New sources get rates in this proportion: at other proportions one topic
    refers to records of another that are long past, or that do not exist yet.

    The benchmark's padding field `extra` counts in the accounting size, but is not carried as a field.
    """

    group: ClassVar[str] = "NexMark"
    source: ClassVar[str] = "Siachamis 2024, 3.6; Apache Beam's NexMark defaults"

    hot_ratio: Number = ratio(
        0.0,
        title="Hot ratio",
        description="Share of records that refer to a single hot seller, bidder or auction. 0: uniform. NexMark's ratio r is 1 - 1/r here.",
    )


class NexmarkPerson(NexmarkStream):
    """People who register at the auction site, 200 bytes each. Their state is one of AZ, CA, ID, OR, WA, WY."""

    title: ClassVar[str] = "NexMark persons"
    icon: ClassVar[str] = "user"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        200, id="int", name="string", email="string", card="string", city="string", state="string", time="timestamp"
    )
    position: ClassVar[int] = 0
    usual_per_s: ClassVar[float] = 200.0
    kind: Literal["nexmark_person"] = "nexmark_person"


class PickingStream(NexmarkStream):
    """Base of topics whose records refer to people."""

    active_people: Integer = count(
        1000, most=1_000_000, title="Active people", description="Number of newest people that records refer to."
    )
    people_ahead: Integer = count(
        10,
        least=0,
        most=1_000_000,
        title="Bidders before registration",
        description="Number of people that records refer to before they register.",
    )


class NexmarkAuction(PickingStream):
    """Opened auctions, 500 bytes each. A hot auction's seller is the hot person."""

    title: ClassVar[str] = "NexMark auctions"
    icon: ClassVar[str] = "gavel"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        500,
        id="int",
        item="string",
        description="string",
        initial_bid="int",
        reserve="int",
        time="timestamp",
        expires="timestamp",
        seller="int",
        category="int",
    )
    position: ClassVar[int] = 1
    usual_per_s: ClassVar[float] = 600.0
    kind: Literal["nexmark_auction"] = "nexmark_auction"


class NexmarkBid(PickingStream):
    """Bids on auctions, 100 bytes each. Bidder and auction are hot independently of each other."""

    title: ClassVar[str] = "NexMark bids"
    icon: ClassVar[str] = "coins"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(100, auction="int", bidder="int", price="int", time="timestamp")
    position: ClassVar[int] = 2
    usual_per_s: ClassVar[float] = 9200.0
    kind: Literal["nexmark_bid"] = "nexmark_bid"

    recent_auctions: Integer = count(
        100, most=1_000_000, title="Recent auctions", description="Number of older auctions that get bids, besides the newest one."
    )
    auctions_ahead: Integer = count(
        10, least=0, most=1_000_000, title="Auctions before opening", description="Number of auctions that get bids before they open."
    )
