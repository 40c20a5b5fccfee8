"""Typed expression trees. `docs/experiment-document.md` defines the meaning of each node; `engine.spec.expressions.compiler` compiles
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..base.records import FieldType

Value = int | float | bool | str
UnaryName = Literal["float", "-", "abs", "not", "sqrt", "int", "floor", "ceil", "round", "bits", "retyped", "year", "month", "day"]
BinaryName = Literal["+", "-", "*", "/", "//", "%", "<", "<=", "==", "min", "max", "hash"]


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
class Unary:
    """`type` is the type of the result.

    int, floor, ceil, round: a float converted to an int. bits: a float's word, with a single zero and a single NaN. retyped: the same word
    with another type. year, month, day: calendar field of a number of days since 1970-01-01.
    """

    operation: UnaryName
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Binary:
    """Both operands have the same representation: two floats or two words. `type` is the type of the result.

    hash: xxHash64 of the right word, with the left one as seed.
    """

    operation: BinaryName
    left: Node
    right: Node
    type: FieldType


@dataclass(frozen=True)
class TextFunction:
    """A string function by its name in `engine.lowering.text_tables`, with its constant arguments."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class OfText:
    """A string function applied to the child."""

    function: TextFunction
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Member:
    """Whether the child's value is one of the constants, which have the child's representation."""

    child: Node
    values: tuple[Constant, ...]
    type: FieldType = field(default="bool", init=False)


@dataclass(frozen=True)
class Logic:
    """Short-circuiting `and` or `or` over two or more conditions."""

    operation: Literal["and", "or"]
    children: tuple[Node, ...]
    type: FieldType = field(default="bool", init=False)


@dataclass(frozen=True)
class Conditional:
    condition: Node
    yes: Node
    no: Node
    type: FieldType


Node = Constant | FieldReference | Unary | Binary | OfText | Member | Logic | Conditional


def as_float(node: Node) -> Node:
    """The node converted to float; constants are converted immediately."""
    if node.type == "float":
        return node
    return Constant(float(node.value), "float") if isinstance(node, Constant) else Unary("float", node, "float")
