"""Typed expressions as a tree, and their meaning in plain Python.

`evaluate` is the reference: the compiled program (`engine.spec.expression_compiler`) must give the same word on every record. Integers wrap
at 64 bits. The value of an integer division or remainder by zero is 0, and it is counted as an error. Floats follow IEEE 754: a division by
zero gives an infinity or NaN and is no error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .records import FieldType

Value = int | float | bool | str
BinaryName = Literal["+", "-", "*", "/", "//", "%", "<", "<=", "==", "min", "max"]


@dataclass
class Evaluation:
    """One record under evaluation, and whether an error was met."""

    row: Mapping[str, Value]
    errors: int = 0


@dataclass(frozen=True)
class Constant:
    value: Value
    type: FieldType


@dataclass(frozen=True)
class FieldReference:
    name: str
    index: int
    type: FieldType


@dataclass(frozen=True)
class ToFloat:
    child: Node
    type: FieldType = field(default="float", init=False)


@dataclass(frozen=True)
class Negate:
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Absolute:
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Binary:
    """Both operands have the same representation: two floats, or two words. `type` is the type of the result."""

    operation: BinaryName
    left: Node
    right: Node
    type: FieldType


@dataclass(frozen=True)
class Member:
    """Is the child's value among the constants? They have the child's representation."""

    child: Node
    values: tuple[Constant, ...]
    type: FieldType = field(default="bool", init=False)


@dataclass(frozen=True)
class Not:
    child: Node
    type: FieldType = field(default="bool", init=False)


@dataclass(frozen=True)
class Logic:
    """`and` or `or` over two or more conditions; stops at the first that decides."""

    operation: Literal["and", "or"]
    children: tuple[Node, ...]
    type: FieldType = field(default="bool", init=False)


@dataclass(frozen=True)
class Conditional:
    condition: Node
    yes: Node
    no: Node
    type: FieldType


Node = Constant | FieldReference | ToFloat | Negate | Absolute | Binary | Member | Not | Logic | Conditional


def evaluate(node: Node, evaluation: Evaluation) -> Value:
    """The value of the tree on one record."""
    match node:
        case Constant():
            return node.value
        case FieldReference():
            return evaluation.row[node.name]
        case ToFloat():
            return float(evaluate(node.child, evaluation))
        case Negate():
            return _stored(-_number(evaluate(node.child, evaluation)))
        case Absolute():
            return _stored(abs(_number(evaluate(node.child, evaluation))))
        case Binary():
            return _binary(node.operation, evaluate(node.left, evaluation), evaluate(node.right, evaluation), evaluation)
        case Member():
            value = evaluate(node.child, evaluation)
            return any(value == constant.value for constant in node.values)
        case Not():
            return not evaluate(node.child, evaluation)
        case Logic():
            results = (bool(evaluate(child, evaluation)) for child in node.children)
            return all(results) if node.operation == "and" else any(results)
        case Conditional():
            return evaluate(node.yes if evaluate(node.condition, evaluation) else node.no, evaluation)


def _binary(operation: BinaryName, left: Value, right: Value, evaluation: Evaluation) -> Value:
    if operation == "==":
        return left == right
    a, b = _number(left), _number(right)
    match operation:
        case "+":
            return _stored(a + b)
        case "-":
            return _stored(a - b)
        case "*":
            return _stored(a * b)
        case "/":
            return _divide(float(a), float(b))
        case "//" | "%":
            if b == 0:
                evaluation.errors = 1
                return 0
            return _stored(a // b if operation == "//" else a % b)
        case "<":
            return a < b
        case "<=":
            return a <= b
        case "min":
            return b if b < a else a
        case "max":
            return b if b > a else a


def _number(value: Value) -> int | float:
    assert not isinstance(value, str)
    return value


def _stored(value: int | float) -> int | float:
    """As a 64-bit word holds it: integers wrap, floats stay."""
    return value if isinstance(value, float) else (value + 2**63) % 2**64 - 2**63


def _divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
