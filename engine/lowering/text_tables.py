"""Text functions inside the engine, where a text is a code: each is a table with one word per text of the run's dictionary.

A function is evaluated once per text, not once per record; the compiled machine only looks the value up. The tables follow the constants of
the programs. They grow with the dictionary, so texts that appear during a run are covered before the loop sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.spec.expressions.functions import HASH_SEED
from engine.spec.expressions.tree import TextFunction
from engine.workloads.strings import Strings

Words = NDArray[np.int64]
U64 = (1 << 64) - 1
PRIMES = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


class TextTables:
    """The constants of a run: those of its programs, then the tables that they use.

    constants: constants of the programs. uses: (index of a constant that must hold the start of a table, function of that table).
    """

    def __init__(self, strings: Strings, constants: Sequence[int], uses: Sequence[tuple[int, TextFunction]]):
        self._strings = strings
        self._constants = np.array([*constants, 0], np.int64)
        self._uses = list(uses)
        self._functions = list(dict.fromkeys(function for _, function in uses))
        self._values: dict[TextFunction, list[int]] = {function: [] for function in self._functions}

    def cover(self, constants: Words | None = None) -> Words:
        """The run's constants with tables for all current texts. Returns the given array itself if it has them already."""
        if constants is not None and len(constants) == len(self._constants) + len(self._functions) * len(self._strings):
            return constants
        self._close()
        tables = [np.array(self._table(function), np.int64) for function in self._functions]
        start = len(self._constants) + np.arange(len(tables)) * len(self._strings)
        for place, function in self._uses:
            self._constants[place] = start[self._functions.index(function)]
        return np.concatenate([self._constants, *tables])

    def _close(self) -> None:
        """Register the results of functions on the dictionary's texts, and on those results in turn: by function, in code order."""
        used = {function.name for function in self._functions}
        makers = [make for name, make in MAKERS.items() if name in used]
        covered = -1
        while covered < len(self._strings):
            covered = len(self._strings)
            for make in makers:
                for text in self._strings.as_list():
                    self._strings.code(make(text))

    def _table(self, function: TextFunction) -> list[int]:
        texts = self._strings.as_list()
        if function.name == "rank":
            ranks = {text: rank for rank, text in enumerate(sorted(texts))}
            return [ranks[text] for text in texts]
        values = self._values[function]
        new = texts[len(values) :]
        if function.name in MAKERS:
            values += [self._strings.code(MAKERS[function.name](text)) for text in new]
        else:
            measure = MEASURES[function.name](*function.arguments)
            values += [int(measure(text)) for text in new]
        return values


MAKERS: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper}
"""Functions that return another text."""


def _like(pattern: str) -> Callable[[str], bool]:
    """SQL's LIKE: % matches any characters, _ matches one; a backslash escapes %, _ and itself."""
    parts = re.findall(r"\\[%_\\]|[\s\S]", pattern)
    wild = {"%": r"[\s\S]*", "_": r"[\s\S]"}
    fits = re.compile("".join(wild.get(part) or re.escape(part[-1]) for part in parts)).fullmatch
    return lambda text: fits(text) is not None


def hash_of(text: str) -> int:
    """xxHash64 of the UTF-8 bytes as a signed word (Y. Collet, XXH64; Spark's xxhash64 of a string)."""
    data = text.encode()
    p1, p2, p3, p4, p5 = PRIMES

    def rotated(x: int, bits: int) -> int:
        return (x << bits | x >> 64 - bits) & U64

    def mixed(lane: int, word: int) -> int:
        return rotated((lane + word * p2) & U64, 31) * p1 & U64

    at = 0
    h = HASH_SEED + p5
    if len(data) >= 32:
        lanes = [(HASH_SEED + p1 + p2) & U64, (HASH_SEED + p2) & U64, HASH_SEED, (HASH_SEED - p1) & U64]
        while at <= len(data) - 32:
            lanes = [mixed(lane, int.from_bytes(data[at + 8 * n : at + 8 * n + 8], "little")) for n, lane in enumerate(lanes)]
            at += 32
        h = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & U64
        for lane in lanes:
            h = ((h ^ mixed(0, lane)) * p1 + p4) & U64
    h = (h + len(data)) & U64
    while at <= len(data) - 8:
        h = (rotated(h ^ mixed(0, int.from_bytes(data[at : at + 8], "little")), 27) * p1 + p4) & U64
        at += 8
    if at <= len(data) - 4:
        h = (rotated(h ^ int.from_bytes(data[at : at + 4], "little") * p1 & U64, 23) * p2 + p3) & U64
        at += 4
    for byte in data[at:]:
        h = rotated(h ^ byte * p5 & U64, 11) * p1 & U64
    h = (h ^ h >> 33) * p2 & U64
    h = (h ^ h >> 29) * p3 & U64
    h ^= h >> 32
    return h - (1 << 64) if h >> 63 else h


MEASURES: dict[str, Callable[..., Callable[[str], int | bool]]] = {
    "startswith": lambda start: lambda text: text.startswith(start),
    "endswith": lambda end: lambda text: text.endswith(end),
    "contains": lambda part: lambda text: part in text,
    "like": _like,
    "length": lambda: len,
    "hash": lambda: hash_of,
}
"""Functions that return a number or a truth value, built from their other arguments."""
