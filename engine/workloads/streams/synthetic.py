"""Configurable synthetic records, as defined by the document's models."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from engine.core.mathematics import exp
from engine.spec.experiment.streams.synthetic import Synthetic, Vectors

from .. import draws
from ..draws import Floats, Integers
from ..generated import Block

DIGITS = "0123456789abcdef"
PARETO_SHAPE = 10.0


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
    """The coordinates x1, x2 and so on are resolved by name."""

    makes = "vectors"

    @property
    def id(self) -> Integers:
        return self.numbers

    def __getattr__(self, name: str) -> Floats:
        if name[:1] != "x" or not name[1:].isdecimal():
            raise AttributeError(name)
        if self.stream.law == "gaussian":
            return 2.0 * self.normal(name) - 1.0
        if self.stream.law == "pareto":
            return exp(draws.exponential(self.source.random(name), self.numbers) / PARETO_SHAPE)
        return 2.0 * self.unit(name) - 1.0
