"""The words of a search, before the database is asked: prefixes such as `tag:`, conditions, and what is neither."""

from __future__ import annotations

import difflib
import re

from .conditions import CONDITION, SIGN, unit_named
from .quantities import SCALES, example_of
from .search_values import QUOTED, BadCondition, unquoted

PREFIXED = {
    "note": "note:slower", "tag": "tag:baseline", "state": "state:failed", "assertions": "assertions:fails", "author": "author:ada",
    "experiment": 'experiment:"NexMark Q3"', "no": "no:tag", "has": "has:p99",
}  # fmt: skip
"""Prefixes of words, each with an example."""

UNITS = "|".join(sorted({re.escape(unit) for units in SCALES.values() for unit in units if unit}, key=len, reverse=True))
SPACED_SIGN = re.compile(rf"({QUOTED})|(?<=\S)\s*({SIGN})\s*(?=\S)", re.DOTALL)
SPACED_UNIT = re.compile(rf"({QUOTED})|((?:{SIGN})[-+]?[\d.]+)\s+({UNITS})(?=\s|$)", re.DOTALL)
WORDS_MAX = 50
"""Maximum number of words of a search: each is a part of the database's statement, and SQLite takes one of 1,000 nested parts at most."""
WORD = re.compile(rf'(?:{QUOTED}|[^\s"])+', re.DOTALL)
COLON = re.compile(rf'({QUOTED}|[^\s"<>=!|:]+):(.*)', re.DOTALL)


def words_of(search: str) -> list[str]:
    """The words of a search; a condition with spaces in it, such as `p99 > 10 s`, is one word, and so is what stands in quotation marks.

    Raises BadCondition for a quotation mark that is not closed, and for too many words.
    """
    rest = re.sub(QUOTED, "", search, flags=re.DOTALL)
    if '"' in rest:
        begun = rest[rest.index('"') :].strip()
        raise BadCondition(f"the quotation mark in '{begun}' is not closed; write one at each end, as in tag:\"two words\"")
    joined = SPACED_SIGN.sub(lambda found: found[1] or found[2], search)
    words = WORD.findall(SPACED_UNIT.sub(lambda found: found[1] or found[2] + found[3], joined))
    if len(words) > WORDS_MAX:
        raise BadCondition(f"the search has {len(words):,} words and conditions; write at most {WORDS_MAX}")
    return words


def colon_of(word: str) -> tuple[str, str] | None:
    """What stands before and after the colon of a word; None for a word without one."""
    read = COLON.fullmatch(word)
    return (read[1], read[2]) if read else None


def refuse_bad_prefix(word: str, prefix: str, rest: str, *, is_field: bool) -> None:
    """Raises BadCondition for a prefix without a value, and for one that is close to a known one and names no field."""
    if not rest and (prefix in PREFIXED or is_field):
        example = PREFIXED.get(prefix, f"{prefix}:{example_of(unit_named(unquoted(prefix)))}")
        raise BadCondition(f"'{word}' has nothing after the colon; write it without a space, as in {example}")
    if prefix in PREFIXED or is_field or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        return
    if near := difflib.get_close_matches(prefix.lower(), PREFIXED, n=1, cutoff=0.75):
        raise BadCondition(f"'{prefix}:' is unknown; did you mean '{near[0]}:', as in {PREFIXED[near[0]]}?")


def refuse_half_conditions(word: str) -> None:
    """Raises BadCondition for a word with a sign of comparison that lacks its name or its value, or has a sign that does not exist."""
    bare = re.sub(QUOTED, lambda found: "q" * len(found[0]), word, flags=re.DOTALL)
    signs = re.search(r"[<>=!]*[<>=][<>=!]*", bare)
    if signs is None or CONDITION.fullmatch(word):
        return
    name, sign, rest = word[: signs.start()], signs[0], word[signs.end() :]
    if not re.fullmatch(SIGN, sign):
        raise BadCondition(f"'{sign}' is no comparison; use one of = != < <= > >=")
    if not name:
        raise BadCondition(f"'{word}' has no name before the comparison; write one, as in p99{sign}{rest or '500ms'}")
    raise BadCondition(f"'{word}' has no value; write one after it, as in {name}{sign}{example_of(unit_named(unquoted(name)))}")
