"""Random words against Python's own integers and against published values, so that they are the same on every machine."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.core.random import Chance, RandomStream, mix64, scale

WORD = (1 << 64) - 1
words = st.integers(0, WORD)


def scalar_mix64(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def test_the_mixer_gives_the_published_numbers_of_splitmix64():
    counters = np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert [hex(word) for word in mix64(counters).tolist()] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


@given(st.lists(words, max_size=20))
def test_the_mixer_equals_integers_without_bounds(values):
    assert mix64(np.array(values, np.uint64)).tolist() == [scalar_mix64(value) for value in values]


@given(st.lists(st.tuples(words, st.integers(1, 2**62) | st.integers(1, 2**32 + 1)), max_size=20))
def test_scaling_is_the_exact_upper_half_of_the_product(pairs):
    values = np.array([word for word, _ in pairs], np.uint64)
    bounds = np.array([bound for _, bound in pairs], np.int64)
    expected = [word * bound >> 64 for word, bound in pairs]
    assert scale(values, bounds).tolist() == expected
    for (word, bound), result in zip(pairs, expected, strict=True):
        assert scale(np.array([word], np.uint64), bound).tolist() == [result]


def test_a_word_depends_on_seed_name_and_counter_only():
    whole = RandomStream(1, "bids", "price").words(np.arange(1000))
    shuffled = np.arange(1000)[::-1]
    assert (RandomStream(1, "bids", "price").words(shuffled) == whole[::-1]).all()
    for other in (RandomStream(2, "bids", "price"), RandomStream(1, "bid", "sprice"), RandomStream(1, "bids", "price", 0)):
        assert not (other.words(np.arange(1000)) == whole).any()


def test_the_words_never_change_between_versions():
    assert RandomStream(1, "bids", "price").words(np.array([0, 1, 1 << 40])).tolist() == PINNED


def test_draws_are_uniform():
    counts = np.bincount(RandomStream(7, "uniform").below(np.arange(100_000), 10), minlength=10)
    chi_square = ((counts - 10_000) ** 2 / 10_000).sum()
    assert chi_square < 27.9  # 9 degrees of freedom, 1 in 1,000; the draw is fixed, so this holds always or never


PINNED = [8840321916943746260, 16432734793536421387, 16293880379665544723]


def test_draws_in_a_row_are_the_words_of_the_stream():
    stream, chance = RandomStream(7, "corpus", 3), Chance(7, "corpus", 3)
    bounds = [1 + n % 37 for n in range(200)]
    assert [chance.below(bound) for bound in bounds] == stream.below(np.arange(200), np.array(bounds)).tolist()
    other = Chance(7, "corpus", 4)
    assert {other.choice("abc") for _ in range(50)} == set("abc")
    assert 400 < sum(other.coin() for _ in range(1000)) < 600
