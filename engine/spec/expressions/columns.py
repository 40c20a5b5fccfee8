"""Evaluate typed trees on many records at once, with the words that the compiled programs give (`expressions.compiler`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.kernels.expression_machine import NAN_WORD, hash_word

from .tree import Binary, Conditional, Constant, FieldReference, Logic, Member, Node, OfText, Unary

Words = NDArray[np.int64]
Values = NDArray[Any]
"""float64 (n,) for floats, otherwise int64 (n,): the word."""

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
WHOLE = {"int": np.trunc, "floor": np.floor, "ceil": np.ceil}


class NotByColumn(Exception):
    """The expression uses a function that only compiled programs have; the message names it."""


class Texts(Protocol):
    """The string dictionary of a run."""

    def __contains__(self, text: object) -> bool: ...

    def code(self, text: str) -> int: ...


def evaluate(node: Node, field: Callable[[str], Words], texts: Texts) -> Words:
    """Return the words of one expression, (n,) or () for a constant. field: words of a field by name, (n,). texts: never extended; each
    constant that is not in it has a negative word of its own within the expression, so that it equals itself alone. Raises NotByColumn."""
    with np.errstate(all="ignore"):
        values = _Evaluation(field, texts).of(node)
    return words_of(values) if node.type == "float" else values


def words_of(floats: Values) -> Words:
    """Return floats by their bits, with one NaN."""
    floats = np.asarray(floats, np.float64)
    return np.where(np.isnan(floats), NAN_WORD, np.ascontiguousarray(floats).view(np.int64))


class _Evaluation:
    def __init__(self, field: Callable[[str], Words], texts: Texts) -> None:
        self.field, self.texts = field, texts
        self.unknown: dict[str, int] = {}  # the words of constants that are no text of the run's input

    def of(self, node: Node) -> Values:
        match node:
            case Constant():
                return self.constant(node)
            case FieldReference():
                words = self.field(node.name)
                return words.view(np.float64) if node.type == "float" else words
            case Unary():
                return self.unary(node)
            case Binary():
                left, right = self.of(node.left), self.of(node.right)
                return self.floats(node, left, right) if node.left.type == "float" else self.words(node, left, right)
            case OfText():
                raise NotByColumn(f"the text function {node.function.name}")
            case Member():
                return np.isin(self.of(node.child), np.array([self.constant(value) for value in node.values])).astype(np.int64)
            case Logic():
                join = np.logical_and if node.operation == "and" else np.logical_or
                joined: Values = reduce(join, (self.of(child) != 0 for child in node.children))
                return joined.astype(np.int64)
            case Conditional():
                return np.where(self.of(node.condition) != 0, self.of(node.yes), self.of(node.no))

    def constant(self, node: Constant) -> Values:
        value = node.value
        if isinstance(value, str):
            known = value in self.texts
            return np.asarray(self.texts.code(value) if known else self.unknown.setdefault(value, -1 - len(self.unknown)), np.int64)
        return np.asarray(value, np.float64 if node.type == "float" else np.int64)

    def unary(self, node: Unary) -> Values:
        value = self.of(node.child)
        match node.operation:
            case "float":
                return value.astype(np.float64)
            case "-":
                return np.negative(value)
            case "abs":
                return np.abs(value)
            case "not":
                return 1 - value
            case "retyped":
                return value
            case "bits":
                return words_of(value + 0.0)
            case "sqrt":
                return np.where(value < 0.0, np.nan, np.sqrt(value))
            case "int" | "floor" | "ceil" | "round":
                return whole(value, node.operation)
        raise NotByColumn(f"the function {node.operation}()")

    def words(self, node: Binary, a: Values, b: Values) -> Values:
        match node.operation:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "//" | "%":
                plain = np.where((b == 0) | (b == -1), 1, b)
                if node.operation == "//":
                    return np.where(b == 0, 0, np.where(b == -1, np.negative(a), a // plain))
                return np.where((b == 0) | (b == -1), 0, a % plain)
            case "hash":
                found: Values = hash_word(a, b)
                return found
        return compared(node.operation, a, b)

    def floats(self, node: Binary, a: Values, b: Values) -> Values:
        match node.operation:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                quotient: Values = a / b
                return quotient
        return compared(node.operation, a, b)


def compared(operation: str, a: Values, b: Values) -> Values:
    """Return the comparison of two floats or two words as words, or the smaller or the larger of them. Raises NotByColumn for other
    operations."""
    match operation:
        case "<":
            return (a < b).astype(np.int64)
        case "<=":
            return (a <= b).astype(np.int64)
        case "==":
            equal: Words = (a == b).astype(np.int64)
            return equal
        case "min":
            return np.where(b < a, b, a)
        case "max":
            return np.where(b > a, b, a)
    raise NotByColumn(f"the operation {operation}")


def whole(values: Values, way: str) -> Words:
    """Return floats as ints: cut off, down, up, or to the nearest with halves away from zero. Out of range: the nearest int; NaN: 0."""
    if way == "round":
        cut = np.trunc(values)
        fraction = values - cut
        rounded = cut + (fraction >= 0.5) - (fraction <= -0.5)
    else:
        rounded = WHOLE[way](values)
    high, low = values >= 2.0**63, values < -(2.0**63)
    inside = np.where(high | low | np.isnan(values), 0.0, rounded).astype(np.int64)
    found: Words = np.where(high, INT_MAX, np.where(low, INT_MIN, inside))
    return found
