"""Samples of the synthetic streams of a drawn query, and which of their fields its operators use.

Streams hold whole numbers from -10 to 10, decimals from -0.05 to 0.05 in steps of 0.01 (the ends half as often), and hexadecimal digits.
"""

from __future__ import annotations

import numpy as np

from engine.core.random import RandomStream
from engine.costmodels import sampling
from engine.costmodels.description import Aggregate, Filter, Join, Source, WindowedAggregate
from engine.costmodels.sampling import SAMPLE, Fields, Table

from .experiments import DOUBLES, FIRST, KEYS, attribute
from .queries import DrawnQuery

DIGITS = np.array(list("0123456789abcdef"))


def estimated(query: DrawnQuery, seed: int, *names: str | int) -> tuple[float, ...]:
    """By operator (`engine.costmodels.sampling`). seed, names: of the streams' samples."""
    samples = {n: sample(seed, *names, n) for n, of in enumerate(query.operators) if isinstance(of, Source)}
    fields = [used(query, n) for n in range(len(query.operators))]
    return sampling.estimated(query, samples, fields, RandomStream(seed, *names, "pairs"))


def sample(seed: int, *names: str | int) -> Table:
    """Of the fields that operators use."""
    counters = np.arange(SAMPLE)

    def below(field: str, bound: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return RandomStream(seed, *names, field).below(counters, bound)

    return {
        FIRST["int"]: below("int", 21) - 10,
        FIRST["double"]: ((below("double", 20) + 1) // 2 - 5) / 100,
        FIRST["string"]: DIGITS[below("string", len(DIGITS))],
        KEYS["double"]: below("key", DOUBLES),
    }


def used(query: DrawnQuery, number: int) -> Fields:
    match query.operators[number]:
        case Filter() as of:
            return Fields(tested=attribute(query, number, of.dtype))
        case Join() as of:
            return Fields(keys=(KEYS[of.key], KEYS[of.key]))
        case WindowedAggregate() | Aggregate() as of:
            return Fields(group=None if of.group_by is None else KEYS[of.group_by], value=FIRST[of.dtype])
    return Fields()
