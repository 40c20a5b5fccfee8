"""Configurable synthetic records, as defined by the document's models."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from engine.core.mathematics import cosine, exp
from engine.spec.experiment.streams.synthetic import Synthetic, Vectors

from .. import draws
from ..draws import Floats, Integers
from ..generated import Block, Generated

DIGITS = "0123456789abcdef"
PARETO_SHAPE = 10.0
SKEW, BIAS = 10.0, 148.4131591025766  # the bias is e^5


class SyntheticRecords(Block[Synthetic]):
    """The fields i1, f1, s1 and so on are resolved by name."""

    makes = "synthetic"

    texts: ClassVar = {"digit": tuple(DIGITS)}

    @property
    def key(self) -> Integers:
        if self.stream.in_turn:
            return self.numbers % self.stream.keys
        return self.keys("key", self.stream.skew, self.stream.keys)

    @property
    def number(self) -> Integers:
        return self.numbers

    def __getattr__(self, name: str) -> Integers | Floats:
        letter, rest = name[:1], name[1:]
        if letter not in "ifs" or not rest.isdecimal():
            raise AttributeError(name)
        if letter == "i":
            return self.stream.integer_min + self.below(name, self.stream.integer_max - self.stream.integer_min + 1)
        if letter == "f":
            return np.floor((2.0 * self.unit(name) - 1.0) * self.stream.float_size * 100.0 + 0.5) / 100.0
        return self.text("digit", self.below(name, len(DIGITS)))


class VectorRecords(Block[Vectors]):
    """The coordinates x1, x2 and so on are resolved by name, v holds them all. Those of clusters and bands are made together, once for
    each block."""

    makes = "vectors"

    @property
    def id(self) -> Integers:
        return self.numbers

    @property
    def v(self) -> Floats:
        """Shape (n, dimensions)."""
        return np.stack([getattr(self, f"x{n + 1}") for n in range(self.stream.dimensions)], axis=1)

    def __getattr__(self, name: str) -> Floats:
        if name[:1] != "x" or not name[1:].isdecimal():
            raise AttributeError(name)
        if self.stream.law == "clustered":
            made: Floats = self.around_centres[int(name[1:]) - 1]
            return made
        if self.stream.law == "bands":
            made = self.in_bands[int(name[1:]) - 1]
            return made
        if self.stream.law == "gaussian":
            return 2.0 * self.normal(name) - 1.0
        if self.stream.law == "skewed":
            return 2.0 * (BIAS / (BIAS + exp(-self.normal(name) / SKEW)) - 0.5)
        if self.stream.law == "pareto":
            return exp(draws.exponential(self.source.random(name), self.numbers) / PARETO_SHAPE)
        return 2.0 * self.unit(name) - 1.0

    @classmethod
    def tables(cls, source: Generated) -> Any:
        """The centres of clusters: vectors of length 1 in directions drawn uniformly. Shape (clusters, dimensions)."""
        if source.stream.law != "clustered":
            return None
        numbers = np.arange(source.stream.clusters)
        owner = "/" if source.stream.centres == "common" else ""
        drawn = [draws.normal(source.random(f"{owner}centre x{n + 1}"), numbers) for n in range(source.stream.dimensions)]
        return _of_length_1(np.stack(drawn, axis=1))

    @functools.cached_property
    def around_centres(self) -> Floats:
        """Shape (dimensions, n)."""
        centres = self.source.tables[self.below("cluster", self.stream.clusters)]
        apart = [self.stream.spread * self.normal(f"x{n + 1}") for n in range(self.stream.dimensions)]
        return _of_length_1(centres + np.stack(apart, axis=1)).T

    @functools.cached_property
    def in_bands(self) -> Floats:
        """Shape (2, n)."""
        which, place = self.unit("band"), self.unit("place")
        x, y = (2.0 * self.unit(name) - 1.0 for name in ("x1", "x2"))
        begin = 0.0
        is_first = self.numbers < self.stream.first
        for n, band in enumerate(self.stream.bands):
            in_share = ~is_first & (which >= begin) & (which < begin + band.share)
            here = in_share | (is_first & (self.numbers % len(self.stream.bands) == n))
            turns = (band.turn + band.width * (place[here] - 0.5)) / 2.0
            x[here], y[here] = cosine(turns), cosine(turns - 0.25)
            begin += band.share
        return np.stack([x, y])


def _of_length_1(vectors: Floats) -> Floats:
    squares = np.zeros(len(vectors))
    for column in vectors.T:  # in this order on every machine
        squares += column * column
    return vectors / np.sqrt(squares)[:, None]
