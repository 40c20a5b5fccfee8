"""Texts of the NexMark records. The lists are short: what matters for the engine is that the texts repeat and are strings."""

from __future__ import annotations

FIRST_NAMES = ("Ada", "Ben", "Chloe", "David", "Elena", "Farid", "Grace", "Hugo", "Iris", "Kim", "Leila", "Marco", "Nora", "Omar")
LAST_NAMES = ("Archer", "Bauer", "Costa", "Dubois", "Eriksen", "Fischer", "Garcia", "Hansen", "Ito", "Jansen", "Kaya", "Lopez")
PROVIDERS = ("example.com", "example.net", "example.org", "mail.example", "post.example")
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES_PER_STATE = 4
CITIES = (
    *("Phoenix", "Tucson", "Mesa", "Flagstaff"),
    *("Los Angeles", "San Francisco", "San Diego", "Sacramento"),
    *("Boise", "Nampa", "Pocatello", "Moscow"),
    *("Portland", "Salem", "Eugene", "Bend"),
    *("Seattle", "Spokane", "Tacoma", "Kent"),
    *("Cheyenne", "Casper", "Laramie", "Cody"),
)
ADJECTIVES = ("antique", "blue", "carved", "dented", "early", "folding", "gilded", "heavy", "indoor", "jade", "little", "modern")
NOUNS = ("atlas", "bicycle", "camera", "desk", "easel", "fiddle", "globe", "hammock", "kettle", "lamp", "mirror", "oboe", "piano", "radio")
REMARKS = (
    "One owner, kept dry, with the original box and papers; collection in person or shipping at cost",
    "Some wear at the edges and one small repair; works as it should, sold as seen and without returns",
    "From an estate, not tested, with all the parts that were found with it; please ask before you bid",
    "Restored last year by a workshop, with the bill; a reserve is set and the auction will not be extended",
)

NAMES = tuple(f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES)
EMAILS = tuple(f"{name.lower().replace(' ', '.')}@{provider}" for name in NAMES for provider in PROVIDERS)
CARDS = tuple(f"{4000 + n:04d} {n * 7919 % 10_000:04d} {n * 6101 % 10_000:04d} {n * 4409 % 10_000:04d}" for n in range(1000))
ITEMS = tuple(f"{adjective} {noun}" for adjective in ADJECTIVES for noun in NOUNS)
WORDINGS = len(REMARKS)
DESCRIPTIONS = tuple(f"{item[0].upper()}{item[1:]}. {remark}." for item in ITEMS for remark in REMARKS)
