"""Random numbers as a pure function of (seed, name, counter), so that they depend on nothing but the record they belong to.

No generator advances: the words of record 7 are the same in any order, in any process, on any machine. Only integer operations that wrap at
64 bits are used, because NumPy's own generators and the C library's functions may differ between versions and processors.

Source: splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"), read by counter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF_BITS = np.uint64(32)


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64, a bijection of 64-bit words; works in place and returns its argument. Shape (n,)."""
    scratch = words >> np.uint64(30)
    words ^= scratch
    words *= _FIRST
    np.right_shift(words, np.uint64(27), out=scratch)
    words ^= scratch
    words *= _SECOND
    np.right_shift(words, np.uint64(31), out=scratch)
    words ^= scratch
    return words


def scale(words: NDArray[np.uint64], bounds: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """floor(word x bound / 2^64): uniform words become uniform integers in [0, bound).

    bounds: 1 .. 2^62, one for all or one for each word; the bias is below bound / 2^64.
    """
    bound = np.asarray(bounds).astype(np.uint64)
    short = bool(np.max(bound, initial=0) <= _LOW_HALF)  # the common case, with half of the work
    low: NDArray[np.uint64] = bound if short else bound & _LOW_HALF
    carry = words & _LOW_HALF
    carry *= low
    carry >>= _HALF_BITS
    middle: NDArray[np.uint64] = words >> _HALF_BITS
    middle *= low
    middle += carry
    if short:
        middle >>= _HALF_BITS
        return middle.view(np.int64)
    high = bound >> _HALF_BITS
    other = (words & _LOW_HALF) * high + (middle & _LOW_HALF)
    result: NDArray[np.uint64] = (words >> _HALF_BITS) * high + (middle >> _HALF_BITS) + (other >> _HALF_BITS)
    return result.view(np.int64)


class RandomStream:
    """One named stream of random words.

    seed: the workload's seed. names: purpose of the words, e.g. ``("bids", "price")``; other names give independent words.
    """

    def __init__(self, seed: int, *names: str | int):
        text = "\x1f".join(str(part) for part in (seed, *names))
        self._key = np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))

    @property
    def key(self) -> int:
        """Key of this stream, as a signed word: word n is mix64((n + 1) x golden + key)."""
        return int(self._key.view(np.int64))

    def words(self, counters: NDArray[np.int64]) -> NDArray[np.uint64]:
        """One 64-bit word for each counter (>= 0). Shape (n,)."""
        words = counters.astype(np.uint64)
        words += np.uint64(1)
        words *= _GOLDEN
        words += self._key
        return mix64(words)

    def below(self, counters: NDArray[np.int64], bounds: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """One uniform integer in [0, bound) for each counter; see `scale`. Shape (n,)."""
        return scale(self.words(counters), bounds)


AT_ONCE = 64


class Chance:
    """Draws in a row from one stream, for what is put together step by step. seed, names: as for `RandomStream`."""

    def __init__(self, seed: int, *names: str | int):
        self._stream = RandomStream(seed, *names)
        self._drawn = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        at = self._drawn % AT_ONCE
        if at == 0:
            self._words = self._stream.words(np.arange(self._drawn, self._drawn + AT_ONCE)).tolist()
        self._drawn += 1
        return self._words[at] * bound >> 64

    def choice(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def coin(self) -> bool:
        return self.below(2) == 1
