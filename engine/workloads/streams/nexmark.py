"""NexMark's three topics: persons, auctions and bids of an auction site.

Every event of the benchmark has an id e = 0, 1, 2, ...; e mod 50 decides the topic: 0 a person, 1 to 3 an auction, 4 to 49 a bid. A stream
here holds one topic, and the event id of its n-th record depends on n alone, so streams of different operators are consistent without
communicating: at rates of 1 : 3 : 46 they also stay in step.

Two picks refer to other topics. A regular pick is uniform over the recent ones (and over a few that do not exist yet); with probability
`hot_ratio` it is replaced by one hot person or auction, which changes every hundred. The regular picks are the same at every hot ratio.

Source: Siachamis 2024, 3.6; numbers from Apache Beam's NexMark defaults.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from engine.spec.experiment.streams.nexmark import NexmarkBid, NexmarkPerson, PickingStream

from .. import vocabulary
from ..draws import Integers
from ..generated import Block

AUCTIONS, BIDS = 3, 46  # per person
FIRST_ID, FIRST_CATEGORY, CATEGORIES = 1000, 10, 5
HOT_STEP = 100  # the hot person or auction is the last one whose number is a multiple of this
DECADES = np.array([10**power for power in range(2, 8)], np.int64)  # cents
EXPIRY_MIN_NS, EXPIRY_RANGE_NS = 1_000_000_000, 60_000_000_000


class Persons(Block[NexmarkPerson]):
    """Person n is event 50 n and has the id 1000 + n."""

    makes = "nexmark_person"

    texts: ClassVar = {
        "name": vocabulary.NAMES,
        "email": vocabulary.EMAILS,
        "card": vocabulary.CARDS,
        "city": vocabulary.CITIES,
        "state": vocabulary.STATES,
    }

    @cached_property
    def _name(self) -> Integers:
        return self.below("name", len(vocabulary.NAMES))

    @cached_property
    def _state(self) -> Integers:
        return self.below("state", len(vocabulary.STATES))

    @property
    def id(self) -> Integers:
        return FIRST_ID + self.numbers

    @property
    def name(self) -> Integers:
        return self.text("name", self._name)

    @property
    def email(self) -> Integers:
        provider = self.below("email", len(vocabulary.PROVIDERS))
        return self.text("email", self._name * len(vocabulary.PROVIDERS) + provider)

    @property
    def card(self) -> Integers:
        return self.text("card", self.below("card", len(vocabulary.CARDS)))

    @property
    def city(self) -> Integers:
        return self.text("city", self._state * vocabulary.CITIES_PER_STATE + self.below("city", vocabulary.CITIES_PER_STATE))

    @property
    def state(self) -> Integers:
        return self.text("state", self._state)


class Picking(Block[PickingStream]):
    """Streams that refer to persons and have prices."""

    def _person(self, purpose: str, last: Integers, hot_offset: int) -> Integers:
        """Return the id of a person; last: number of the newest person."""
        people = last + 1
        active = np.minimum(people, self.stream.active_people)
        regular = people - active + self.below(purpose, active + self.stream.people_ahead)
        return FIRST_ID + self._or_hot(purpose, regular, last // HOT_STEP * HOT_STEP + hot_offset)

    def _or_hot(self, purpose: str, regular: Integers, hot: Integers) -> Integers:
        """Return hot picks with probability `hot_ratio`, otherwise regular ones."""
        if not self.stream.hot_ratio:
            return regular
        return np.where(self.happens(f"{purpose} hot", self.stream.hot_ratio), hot, regular)

    def _price(self, purpose: str) -> Integers:
        """Draw a price in cents, from 1.00 to 1,000,000.00: the decade is uniform, and so is the price within it."""
        decade = DECADES[self.below(f"{purpose} decade", len(DECADES))]
        return decade + self.below(purpose, 9 * decade)


class Auctions(Picking):
    """Auction m is event 50 (m div 3) + 1 + m mod 3 and has the id 1000 + m."""

    makes = "nexmark_auction"

    texts: ClassVar = {"item": vocabulary.ITEMS, "description": vocabulary.DESCRIPTIONS}

    @cached_property
    def _item(self) -> Integers:
        return self.below("item", len(vocabulary.ITEMS))

    @property
    def id(self) -> Integers:
        return FIRST_ID + self.numbers

    @property
    def item(self) -> Integers:
        return self.text("item", self._item)

    @property
    def description(self) -> Integers:
        return self.text("description", self._item * vocabulary.WORDINGS + self.below("description", vocabulary.WORDINGS))

    @cached_property
    def initial_bid(self) -> Integers:
        return self._price("initial bid")

    @property
    def reserve(self) -> Integers:
        return self.initial_bid + self._price("reserve")

    @property
    def expires(self) -> Integers:
        return self.event_ns + EXPIRY_MIN_NS + self.below("expires", EXPIRY_RANGE_NS)

    @property
    def seller(self) -> Integers:
        return self._person("seller", self.numbers // AUCTIONS, hot_offset=0)

    @property
    def category(self) -> Integers:
        return FIRST_CATEGORY + self.below("category", CATEGORIES)


class Bids(Picking):
    """Bid m is event 50 (m div 46) + 4 + m mod 46."""

    makes = "nexmark_bid"

    stream: NexmarkBid

    @cached_property
    def _last_person(self) -> Integers:
        return self.numbers // BIDS

    @property
    def auction(self) -> Integers:
        last = AUCTIONS * self._last_person + AUCTIONS - 1
        oldest = np.maximum(last - self.stream.recent_auctions, 0)
        regular = oldest + self.below("auction", last + self.stream.auctions_ahead + 1 - oldest)
        return FIRST_ID + self._or_hot("auction", regular, last // HOT_STEP * HOT_STEP)

    @property
    def bidder(self) -> Integers:
        return self._person("bidder", self._last_person, hot_offset=1)

    @property
    def price(self) -> Integers:
        return self._price("price")
