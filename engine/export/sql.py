"""Expressions as Spark SQL that gives the same value, bit for bit, where ANSI mode is off (`tests/engine/spark/test_spark_expressions.py`).

Ints and timestamps are BIGINT, floats DOUBLE. Spark's own operators differ for zero divisors, negative remainders and NaN, so these are
written out, unless a constant operand rules them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from engine.spec.expressions.functions import HASH_SEED
from engine.spec.expressions.tree import Binary, Conditional, Constant, FieldReference, Logic, Member, Node, OfText, Unary

SQL_TYPES = {"int": "BIGINT", "timestamp": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "string": "STRING"}


def sql(node: Node, columns: Mapping[str, str] | None = None) -> str:
    """The expression. columns: how a field is written, by its name; default: its quoted name."""
    return _Writer(columns or {}).write(node)


def quoted(name: str) -> str:
    """The name of a column."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def literal(value: int | float | bool | str) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"{value}L"
        case float():
            return f"{value!r}D" if math.isfinite(value) else f"DOUBLE('{value}')"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


class _Writer:
    def __init__(self, columns: Mapping[str, str]):
        self.columns = columns

    def write(self, node: Node) -> str:
        match node:
            case Constant():
                return literal(bool(node.value) if node.type == "bool" else node.value)
            case FieldReference():
                return self.columns.get(node.name, quoted(node.name))
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case OfText():
                return self._of_text(node)
            case Member():
                return f"{self.write(node.child)} IN ({', '.join(map(self.write, node.values))})"
            case Logic():
                return "(" + f" {node.operation.upper()} ".join(map(self.write, node.children)) + ")"
            case Conditional():
                return f"CASE WHEN {self.write(node.condition)} THEN {self.write(node.yes)} ELSE {self.write(node.no)} END"

    def _unary(self, node: Unary) -> str:
        x = self.write(node.child)
        match node.operation:
            case "float":
                return f"CAST({x} AS DOUBLE)"
            case "-":
                return f"(-{x})"
            case "not":
                return f"(NOT {x})"
            case "abs" | "sqrt":
                return f"{node.operation}({x})"
            case "int":
                return f"CAST({x} AS BIGINT)"
            case "floor" | "ceil" | "round":
                return f"CAST({node.operation}({x}) AS BIGINT)"
            case "retyped":
                return f"CAST({x} AS BIGINT)" if node.child.type == "bool" else x
            case "bits":
                return x  # only hash() reads bits, and xxhash64 takes those of a double itself
            case "year" | "month" | "day":
                return f"CAST({node.operation}(date_from_unix_date(CAST({x} AS INT))) AS BIGINT)"

    def _binary(self, node: Binary) -> str:
        if node.operation == "hash":
            return self._hash(node)
        a, b, is_float = self.write(node.left), self.write(node.right), node.left.type == "float"
        match node.operation:
            case "+" | "-" | "*":
                return f"({a} {node.operation} {b})"
            case "/":
                return self._quotient(node, a, b)
            case "//" | "%":
                return self._whole(node, a, b)
            case "min" | "max" if is_float:
                sign = "<" if node.operation == "min" else ">"
                return f"CASE WHEN {b} {sign} {a} AND NOT isnan({a}) AND NOT isnan({b}) THEN {b} ELSE {a} END"
            case "min":
                return f"least({a}, {b})"
            case "max":
                return f"greatest({a}, {b})"
        sign = "=" if node.operation == "==" else node.operation
        numbers = [f"NOT isnan({self.write(side)})" for side in (node.left, node.right) if is_float and not isinstance(side, Constant)]
        return f"({' AND '.join([f'{a} {sign} {b}', *numbers])})"

    def _quotient(self, node: Binary, a: str, b: str) -> str:
        if isinstance(node.right, Constant) and node.right.value != 0:
            return f"({a} / {b})"
        same_sign = f"(STRING({a}) LIKE '-%') = (STRING({b}) LIKE '-%')"
        return (
            f"CASE WHEN {b} <> 0 THEN {a} / {b} WHEN {a} = 0 OR isnan({a}) THEN DOUBLE('NaN') "
            f"WHEN {same_sign} THEN DOUBLE('inf') ELSE DOUBLE('-inf') END"
        )

    def _whole(self, node: Binary, a: str, b: str) -> str:
        """Division that rounds down, and its remainder; by zero both are 0."""
        if isinstance(node.right, Constant) and int(node.right.value) > 0:
            return f"pmod({a}, {b})" if node.operation == "%" else f"({a} div {b} - IF({a} % {b} < 0, 1, 0))"
        apart = f"{a} % {b} <> 0 AND ({a} < 0) <> ({b} < 0)"
        if node.operation == "%":
            return f"CASE WHEN {b} = 0 THEN 0L WHEN {apart} THEN {a} % {b} + {b} ELSE {a} % {b} END"
        return f"CASE WHEN {b} = 0 THEN 0L ELSE {a} div {b} - IF({apart}, 1, 0) END"

    def _hash(self, node: Binary) -> str:
        """xxhash64 chains its arguments from the same seed. A string enters as a word, the first one as the seed of the others."""
        words: list[Node] = []
        seed: Node = node
        while isinstance(seed, Binary) and seed.operation == "hash":
            words.insert(0, seed.right)
            seed = seed.left
        if isinstance(seed, OfText):
            words.insert(0, seed.child)
        else:
            assert seed == Constant(HASH_SEED, "int")
        written = (f"CAST({self.write(word)} AS BIGINT)" if word.type == "bool" else self.write(word) for word in words)
        return f"xxhash64({', '.join(written)})"

    def _of_text(self, node: OfText) -> str:
        text, arguments = self.write(node.child), [literal(argument) for argument in node.function.arguments]
        shapes: dict[str, Callable[[], str]] = {
            "rank": lambda: text,  # texts are in the same order
            "length": lambda: f"CAST(length({text}) AS BIGINT)",
            "hash": lambda: f"xxhash64({text})",
            "like": lambda: f"({text} LIKE {arguments[0]})",
        }
        usual = lambda: f"{node.function.name}({', '.join([text, *arguments])})"  # noqa: E731
        return shapes.get(node.function.name, usual)()
