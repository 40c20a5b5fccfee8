"""NexMark one event at a time, in Python's own integers, written from the benchmark's rules; only the word lists are the engine's.

It walks over the event ids e = 0, 1, 2, ... of the whole benchmark and keeps those of one topic, where the engine computes the n-th record
of a topic from n.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.workloads import vocabulary

WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Draws:
    """Uniform draws for one record: a word for each (seed, operator, purpose, record number)."""

    seed: int
    operator_id: str
    number: int

    def below(self, purpose: str, bound: int) -> int:
        name = "\x1f".join((str(self.seed), self.operator_id, purpose))
        key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        word = (key + (self.number + 1) * 0x9E3779B97F4A7C15) & WORD
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
        word ^= word >> 31
        return word * bound >> 64

    def happens(self, purpose: str, probability: float) -> bool:
        return Fraction(self.below(purpose, 1 << 53), 1 << 53) < Fraction(probability)

    def price(self, purpose: str) -> int:
        decade = 100 * 10 ** self.below(f"{purpose} decade", 6)
        return decade + self.below(purpose, 9 * decade)


def last_person(e: int) -> int:
    return e // 50


def last_auction(e: int) -> int:
    """Of an auction or bid event; the epoch's three auctions come right after its person."""
    return 3 * (e // 50) + min(e % 50 - 1, 2)


def person_id(e: int, purpose: str, hot_offset: int, hot_ratio: float, draws: Draws) -> int:
    if draws.happens(f"{purpose} hot", hot_ratio):
        return 1000 + last_person(e) // 100 * 100 + hot_offset
    people = last_person(e) + 1
    active = min(people, 1000)
    return 1000 + people - active + draws.below(purpose, active + 10)


def auction_id(e: int, hot_ratio: float, draws: Draws) -> int:
    last = last_auction(e)
    if draws.happens("auction hot", hot_ratio):
        return 1000 + last // 100 * 100
    oldest = max(last - 100, 0)
    return 1000 + oldest + draws.below("auction", last + 10 - oldest + 1)


def person(e: int, event_ns: int, hot_ratio: float, draws: Draws) -> dict[str, int | str]:
    name = vocabulary.NAMES[draws.below("name", len(vocabulary.NAMES))]
    state = draws.below("state", 6)
    return {
        "id": 1000 + last_person(e),
        "name": name,
        "email": f"{name.lower().replace(' ', '.')}@{vocabulary.PROVIDERS[draws.below('email', len(vocabulary.PROVIDERS))]}",
        "card": vocabulary.CARDS[draws.below("card", len(vocabulary.CARDS))],
        "city": vocabulary.CITIES[4 * state + draws.below("city", 4)],
        "state": ("AZ", "CA", "ID", "OR", "WA", "WY")[state],
        "time": event_ns,
    }


def auction(e: int, event_ns: int, hot_ratio: float, draws: Draws) -> dict[str, int | str]:
    item = vocabulary.ITEMS[draws.below("item", len(vocabulary.ITEMS))]
    remark = vocabulary.REMARKS[draws.below("description", len(vocabulary.REMARKS))]
    return {
        "id": 1000 + last_auction(e),
        "item": item,
        "description": f"{item[0].upper()}{item[1:]}. {remark}.",
        "initial_bid": draws.price("initial bid"),
        "reserve": draws.price("initial bid") + draws.price("reserve"),
        "time": event_ns,
        "expires": event_ns + 10**9 + draws.below("expires", 60 * 10**9),
        "seller": person_id(e, "seller", 0, hot_ratio, draws),
        "category": 10 + draws.below("category", 5),
    }


def bid(e: int, event_ns: int, hot_ratio: float, draws: Draws) -> dict[str, int | str]:
    return {
        "auction": auction_id(e, hot_ratio, draws),
        "bidder": person_id(e, "bidder", 1, hot_ratio, draws),
        "price": draws.price("price"),
        "time": event_ns,
    }


TOPICS = {"nexmark_person": (person, range(1)), "nexmark_auction": (auction, range(1, 4)), "nexmark_bid": (bid, range(4, 50))}


def records(kind: str, hot_ratio: float, seed: int, operator_id: str, event_ns: list[int]) -> Iterator[dict[str, int | str]]:
    """As many records of the topic as there are event times."""
    make, places = TOPICS[kind]
    number = e = 0
    while number < len(event_ns):
        if e % 50 in places:
            yield make(e, event_ns[number], hot_ratio, Draws(seed, operator_id, number))
            number += 1
        e += 1
