"""Typed expressions as a tree. What each node means is said in `docs/experiment-document.md`; `engine.spec.expressions.compiler` makes
programs of them.
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

    int, floor, ceil, round: of a float, as an int. bits: a float's word, one for both zeros and one for all NaN. retyped: the same word
    with another type. year, month, day: of a number of days since 1970-01-01.
    """

    operation: UnaryName
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Binary:
    """Both operands have the same representation: two floats, or two words. `type` is the type of the result.

    hash: xxHash64 of the right word, seeded by the left one.
    """

    operation: BinaryName
    left: Node
    right: Node
    type: FieldType


@dataclass(frozen=True)
class TextFunction:
    """A function of one text, by its name in `engine.lowering.text_tables`, with its other arguments."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class OfText:
    """A function of the child's text."""

    function: TextFunction
    child: Node
    type: FieldType


@dataclass(frozen=True)
class Member:
    """Is the child's value among the constants? They have the child's representation."""

    child: Node
    values: tuple[Constant, ...]
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


Node = Constant | FieldReference | Unary | Binary | OfText | Member | Logic | Conditional


def as_float(node: Node) -> Node:
    """The node as a float; constants are converted here and now."""
    if node.type == "float":
        return node
    return Constant(float(node.value), "float") if isinstance(node, Constant) else Unary("float", node, "float")
