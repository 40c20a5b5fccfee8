"""Compile typed trees to programs of the stack machine (`engine.core.kernels.expression_machine`)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.core.kernels import expression_machine as machine

from ..base.records import FieldType
from .tree import Binary, Conditional, Constant, FieldReference, Logic, Member, Node, OfText, TextFunction, Unary


class Strings(Protocol):
    """The string dictionary of a run."""

    def code(self, text: str) -> int: ...


@dataclass(frozen=True)
class Program:
    """Compiled code of one expression.

    code: int64 (rows, 2), opcode and argument; row 0 is the header. constants: int64 (n,). type: type of the result word. tables: indices
    of constants to be set to the offset of a string function's table in the run's constants (`engine.lowering.text_tables`).
    """

    code: Any
    constants: Any
    type: FieldType
    tables: tuple[tuple[int, TextFunction], ...] = ()


UNARY_WORDS = {
    "float": (machine.TO_FLOAT, 0),
    "-": (machine.NEGATE, 0),
    "abs": (machine.ABSOLUTE, 0),
    "not": (machine.NOT, 0),
    "year": (machine.RARE, machine.YEAR),
    "month": (machine.RARE, machine.MONTH),
    "day": (machine.RARE, machine.DAY),
}
UNARY_FLOATS = {
    "-": (machine.NEGATE_FLOAT, 0),
    "abs": (machine.ABSOLUTE_FLOAT, 0),
    "sqrt": (machine.SQUARE_ROOT, 0),
    "int": (machine.RARE, machine.CUT),
    "floor": (machine.RARE, machine.DOWN),
    "ceil": (machine.RARE, machine.UP),
    "round": (machine.RARE, machine.NEAREST),
}
WORDS = {
    "+": machine.ADD,
    "-": machine.SUBTRACT,
    "*": machine.MULTIPLY,
    "//": machine.FLOOR_DIVIDE,
    "%": machine.MODULO,
    "<": machine.LESS,
    "<=": machine.LESS_EQUAL,
    "==": machine.EQUAL,
    "min": machine.LEAST,
    "max": machine.GREATEST,
}
FLOATS = {
    "+": machine.ADD_FLOAT,
    "-": machine.SUBTRACT_FLOAT,
    "*": machine.MULTIPLY_FLOAT,
    "/": machine.DIVIDE_FLOAT,
    "<": machine.LESS_FLOAT,
    "<=": machine.LESS_EQUAL_FLOAT,
    "==": machine.EQUAL_FLOAT,
    "min": machine.LEAST_FLOAT,
    "max": machine.GREATEST_FLOAT,
}


def compile_tree(node: Node, strings: Strings) -> Program:
    """Compile one typed tree. Its string constants get codes from `strings`."""
    writer = _Writer(strings)
    writer.write(node)
    if node.type == "float":
        writer.emit(machine.ONE_NAN)
    return Program(np.array(writer.code, np.int64), np.array(writer.constants, np.int64), node.type, tuple(writer.tables))


class _Writer:
    """Generates the code of a tree; `code[0]` is the header."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self.code: list[list[int]] = [[machine.HEADER, 0]]
        self.constants: list[int] = []
        self.tables: list[tuple[int, TextFunction]] = []

    def emit(self, operation: int, argument: int = 0) -> list[int]:
        """Append one instruction and return it, so that a jump target can be filled in later."""
        instruction = [operation, argument]
        self.code.append(instruction)
        return instruction

    def emit_with(self, operation: int, *constants: int) -> None:
        """Append one instruction whose argument is the index of its first constant."""
        self.emit(operation, len(self.constants))
        self.constants += constants

    def word(self, constant: Constant) -> int:
        match constant.value:
            case str():
                return self.strings.code(constant.value)
            case float():
                return int(struct.unpack("<q", struct.pack("<d", constant.value))[0])
            case _:
                return int(constant.value)

    def write(self, node: Node) -> None:
        match node:
            case Constant():
                self.emit_with(machine.CONSTANT, self.word(node))
            case FieldReference():
                self.emit(machine.FIELD, node.index)
            case Unary():
                self.write(node.child)
                self.write_unary(node)
            case Binary():
                self.write(node.left)
                self.write(node.right)
                if node.operation == "hash":
                    self.emit(machine.RARE, machine.HASH_WORD)
                else:
                    self.emit((FLOATS if node.left.type == "float" else WORDS)[node.operation])
            case OfText():
                self.write(node.child)
                self.tables.append((len(self.constants), node.function))
                self.emit_with(machine.LOOK_UP, 0)
            case Member():
                self.write(node.child)
                operation = machine.MEMBER_FLOAT if node.child.type == "float" else machine.MEMBER
                self.emit_with(operation, len(node.values), *map(self.word, node.values))
            case Logic():
                leave = machine.JUMP_IF_FALSE_ELSE_DROP if node.operation == "and" else machine.JUMP_IF_TRUE_ELSE_DROP
                jumps = []
                for child in node.children[:-1]:
                    self.write(child)
                    jumps.append(self.emit(leave))
                self.write(node.children[-1])
                for jump in jumps:
                    jump[1] = len(self.code)
            case Conditional():
                self.write(node.condition)
                otherwise = self.emit(machine.JUMP_IF_FALSE)
                self.write(node.yes)
                done = self.emit(machine.JUMP)
                otherwise[1] = len(self.code)
                self.write(node.no)
                done[1] = len(self.code)

    def write_unary(self, node: Unary) -> None:
        """Apply the operation to the top of the stack."""
        if node.operation == "bits":
            self.emit_with(machine.CONSTANT, 0)
            self.emit(machine.ADD_FLOAT)  # -0.0 + 0.0 is 0.0
            self.emit(machine.ONE_NAN)
        elif node.operation != "retyped":
            self.emit(*(UNARY_FLOATS if node.child.type == "float" else UNARY_WORDS)[node.operation])
