"""The words of a search, before the database is asked: prefixes such as `tag:`, conditions, and what is neither."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from .conditions import CONDITION, SIGN, BadCondition, unit_named
from .quantities import SCALES, example_of

PREFIXED = {"note": "note:slower", "tag": "tag:baseline", "state": "state:failed", "assertions": "assertions:fails"}
"""Prefixes of words, each with an example."""

UNITS = "|".join(sorted({re.escape(unit) for units in SCALES.values() for unit in units if unit}, key=len, reverse=True))
SPACED_SIGN = re.compile(rf"(?<=\S)\s*({SIGN})\s*(?=\S)")
SPACED_UNIT = re.compile(rf"((?:{SIGN})[-+]?[\d.]+)\s+({UNITS})(?=\s|$)")
PREFIX = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9_]*):(?P<rest>.*)")


def words_of(search: str) -> list[str]:
    """The words of a search; a condition with spaces in it, such as `p99 > 10 s`, is one word."""
    return SPACED_UNIT.sub(r"\1\2", SPACED_SIGN.sub(r"\1", search)).split()


def prefix_of(word: str, fields: Collection[str]) -> tuple[str, str] | None:
    """The known prefix of a word, and what follows it; None for a plain word. fields: names that conditions can use.

    Raises BadCondition for a prefix without a word, and for one that is close to a known one or names a field.
    """
    read = PREFIX.fullmatch(word)
    if read is None:
        return None
    prefix, rest = read["prefix"], read["rest"]
    if prefix in PREFIXED:
        if not rest:
            raise BadCondition(f"'{word}' has nothing after the colon; write it without a space, as in {PREFIXED[prefix]}")
        return prefix, rest
    if prefix in fields:
        raise BadCondition(f"'{word}' is no condition; compare with = != < <= > or >=, as in {prefix}={rest or '10'}")
    if near := difflib.get_close_matches(prefix.lower(), PREFIXED, n=1, cutoff=0.75):
        raise BadCondition(f"'{prefix}:' is unknown; did you mean '{near[0]}:', as in {PREFIXED[near[0]]}?")
    return None


def refuse_half_conditions(word: str) -> None:
    """Raises BadCondition for a word with a sign of comparison that lacks its name or its value, or has a sign that does not exist."""
    signs = re.search(r"[<>=!]*[<>=][<>=!]*", word)
    if signs is None or CONDITION.fullmatch(word):
        return
    name, sign, rest = word[: signs.start()], signs[0], word[signs.end() :]
    if not re.fullmatch(SIGN, sign):
        raise BadCondition(f"'{sign}' is no comparison; use one of = != < <= > >=")
    if not name:
        raise BadCondition(f"'{word}' has no name before the comparison; write one, as in p99{sign}{rest or '500ms'}")
    raise BadCondition(f"'{word}' has no value; write one after it, as in {name}{sign}{example_of(unit_named(name))}")
