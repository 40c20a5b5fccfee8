"""NexMark's three topics: persons, auctions and bids of an auction site.

Every event of the benchmark has an id e = 0, 1, 2, ...; e mod 50 decides the topic: 0 a person, 1 to 3 an auction, 4 to 49 a bid. A stream
here holds one topic, and the event id of its n-th record follows from n alone, so streams of different operators fit together without
talking: at rates of 1 : 3 : 46 they also keep step in time.

Two picks refer to other topics. A regular pick is uniform over the recent ones (and over a few that do not exist yet); with probability
`hot_ratio` it is replaced by one hot person or auction, which moves on every hundred. The regular picks are the same at every hot ratio.

Source: Siachamis 2024, 3.6; numbers from Apache Beam's NexMark defaults.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.records import RecordSchema
from engine.spec.workload import NexmarkAuction, NexmarkBid, NexmarkPerson, NexmarkStream

from . import vocabulary
from .strings import Strings

AUCTIONS, BIDS = 3, 46  # per person
FIRST_ID, FIRST_CATEGORY, CATEGORIES = 1000, 10, 5
ACTIVE_PEOPLE, LEAD_PEOPLE = 1000, 10  # recent people that are picked, and people not created yet
RECENT_AUCTIONS, LEAD_AUCTIONS = 100, 10
HOT_STEP = 100  # the hot person or auction is the last one whose number divides by this
DECADES = np.array([10**power for power in range(2, 8)], np.int64)  # cents
EXPIRY_MIN_NS, EXPIRY_RANGE_NS = 1_000_000_000, 60_000_000_000


class Topic:
    """What the three topics share: event times and the words' frame.

    `draw(purpose, numbers, bounds)` of a record depends on the seed, the operator, the purpose and the record's number only.
    """

    schema: ClassVar[RecordSchema]

    def __init__(self, stream: NexmarkStream, seed: int, operator_id: str, strings: Strings):
        self._seed, self._operator_id = seed, operator_id
        self._hot_below = int(stream.hot_ratio * (1 << 53))  # exact: a power of two only moves the point
        self._streams: dict[str, RandomStream] = {}
        self._register(strings)

    def _register(self, strings: Strings) -> None:
        """Registers every text of the topic."""

    def event_ns(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return made_ns

    def words(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        words = np.empty((len(numbers), len(self.schema.fields)), np.int64)
        for column, values in zip(words.T, self._columns(numbers, event_ns), strict=True):
            column[:] = values
        return words

    def _columns(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """One array per field, in the schema's order."""
        raise NotImplementedError

    def draw(self, purpose: str, numbers: NDArray[np.int64], bounds: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """Uniform integers in [0, bound), one per record."""
        stream = self._streams.get(purpose)
        if stream is None:
            stream = self._streams[purpose] = RandomStream(self._seed, self._operator_id, purpose)
        return stream.below(numbers, bounds)

    def _or_hot(self, purpose: str, numbers: NDArray[np.int64], regular: NDArray[np.int64], hot: NDArray[np.int64]) -> NDArray[np.int64]:
        """Hot with probability `hot_ratio`, else regular."""
        if not self._hot_below:
            return regular
        return np.where(self.draw(purpose, numbers, 1 << 53) < self._hot_below, hot, regular)

    def _person(self, purpose: str, numbers: NDArray[np.int64], last: NDArray[np.int64], hot_offset: int) -> NDArray[np.int64]:
        """Id of a person, when the newest one has the number `last`."""
        people = last + 1
        active = np.minimum(people, ACTIVE_PEOPLE)
        regular = people - active + self.draw(purpose, numbers, active + LEAD_PEOPLE)
        return FIRST_ID + self._or_hot(f"{purpose} hot", numbers, regular, last // HOT_STEP * HOT_STEP + hot_offset)

    def _price(self, purpose: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cents, from 1.00 to 1,000,000.00: the decade is uniform, and so is the price inside its decade."""
        decade = DECADES[self.draw(f"{purpose} decade", numbers, len(DECADES))]
        return decade + self.draw(purpose, numbers, 9 * decade)


class Persons(Topic):
    """Person n is event 50 n and has the id 1000 + n."""

    schema = NexmarkPerson.schema_fixed

    def _register(self, strings: Strings) -> None:
        self._names = strings.codes(vocabulary.NAMES)
        self._emails = strings.codes(vocabulary.EMAILS)
        self._cards = strings.codes(vocabulary.CARDS)
        self._cities = strings.codes(vocabulary.CITIES)
        self._states = strings.codes(vocabulary.STATES)

    def _columns(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        name = self.draw("name", numbers, len(self._names))
        provider = self.draw("email", numbers, len(vocabulary.PROVIDERS))
        state = self.draw("state", numbers, len(self._states))
        city = self.draw("city", numbers, vocabulary.CITIES_PER_STATE)
        return (
            FIRST_ID + numbers,
            self._names[name],
            self._emails[name * len(vocabulary.PROVIDERS) + provider],
            self._cards[self.draw("card", numbers, len(self._cards))],
            self._cities[state * vocabulary.CITIES_PER_STATE + city],
            self._states[state],
            event_ns,
        )


class Auctions(Topic):
    """Auction m is event 50 (m div 3) + 1 + m mod 3 and has the id 1000 + m."""

    schema = NexmarkAuction.schema_fixed

    def _register(self, strings: Strings) -> None:
        self._items = strings.codes(vocabulary.ITEMS)
        self._descriptions = strings.codes(vocabulary.DESCRIPTIONS)

    def _columns(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        item = self.draw("item", numbers, len(self._items))
        wording = self.draw("description", numbers, vocabulary.WORDINGS)
        initial_bid = self._price("initial bid", numbers)
        return (
            FIRST_ID + numbers,
            self._items[item],
            self._descriptions[item * vocabulary.WORDINGS + wording],
            initial_bid,
            initial_bid + self._price("reserve", numbers),
            event_ns,
            event_ns + EXPIRY_MIN_NS + self.draw("expires", numbers, EXPIRY_RANGE_NS),
            self._person("seller", numbers, numbers // AUCTIONS, hot_offset=0),
            FIRST_CATEGORY + self.draw("category", numbers, CATEGORIES),
        )


class Bids(Topic):
    """Bid m is event 50 (m div 46) + 4 + m mod 46."""

    schema = NexmarkBid.schema_fixed

    def _columns(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        last_person = numbers // BIDS
        last_auction = AUCTIONS * last_person + AUCTIONS - 1
        oldest = np.maximum(last_auction - RECENT_AUCTIONS, 0)
        regular = oldest + self.draw("auction", numbers, last_auction + LEAD_AUCTIONS + 1 - oldest)
        return (
            FIRST_ID + self._or_hot("auction hot", numbers, regular, last_auction // HOT_STEP * HOT_STEP),
            self._person("bidder", numbers, last_person, hot_offset=1),
            self._price("price", numbers),
            event_ns,
        )


TOPICS: dict[type[NexmarkStream], type[Topic]] = {NexmarkPerson: Persons, NexmarkAuction: Auctions, NexmarkBid: Bids}
