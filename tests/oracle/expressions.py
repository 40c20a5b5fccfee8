"""What expressions mean (docs/experiment-document.md, "Expressions"), read from Python's syntax tree and worked out value by value.

It shares nothing with the engine's parser, types or programs. A value knows its own type: an int, float, bool, str, or `Time`, which is a
timestamp in ns.
"""

from __future__ import annotations

import ast
import datetime
import itertools
import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


class Time(int):
    """A timestamp. zero_ns: what 0 is, in ns since 1970."""

    zero_ns: int | None

    def __new__(cls, ns: int, zero_ns: int | None = 0) -> Time:
        time = super().__new__(cls, ns)
        time.zero_ns = zero_ns
        return time


Value = int | float | bool | str
Row = Mapping[str, Value]

UNITS_NS = {"milliseconds": 10**6, "seconds": 10**9, "minutes": 60 * 10**9, "hours": 3600 * 10**9, "days": 86400 * 10**9}
ERA = datetime.timedelta(days=146_097)
"""400 years: the calendar repeats, and Python's own begins at year 1."""


@dataclass(frozen=True)
class Outcome:
    value: Value
    errors: int


class Expression:
    """An expression over records. times: the fields of type timestamp, each with what its 0 is. The text must be a right one."""

    def __init__(self, text: str, times: Mapping[str, int | None]):
        self._body = ast.parse(" ".join(text.splitlines()).strip(), mode="eval").body
        self._times = times

    def outcome(self, row: Row) -> Outcome:
        """The value on one record, and 1 if an error was met on the way."""
        typed = {name: Time(int(value), self._times[name]) if name in self._times else value for name, value in row.items()}
        evaluation = _Evaluation(typed, next(iter(self._times.values()), None))
        value = evaluation.of(self._body)
        return Outcome(value, int(evaluation.failed))

    def evaluate(self, row: Row) -> Value:
        return self.outcome(row).value

    def strings(self) -> list[str]:
        """Its string constants, in the order of the text."""
        names = {id(node.slice) for node in ast.walk(self._body) if isinstance(node, ast.Subscript)}
        found = [node for node in ast.walk(self._body) if isinstance(node, ast.Constant) and id(node) not in names]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
        return [node.value for node in found if isinstance(node.value, str)]

    def calls(self) -> set[str]:
        """Names of the functions that it calls."""
        return {node.func.id for node in ast.walk(self._body) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


class _Evaluation:
    """One record under evaluation."""

    def __init__(self, row: Row, zero_ns: int | None):
        self.row, self.zero_ns = row, zero_ns
        self.failed = False

    def of(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                assert isinstance(value, int | float | str)
                return value
            case ast.Name(id=name):
                return self.row[name] if name in self.row else {"true": True, "false": False}[name]
            case ast.Subscript(slice=ast.Constant(value=name)):
                return self.row[str(name)]
            case ast.UnaryOp(op=ast.Not()):
                return not self.of(node.operand)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return negative(value)
            case ast.UnaryOp():
                return negative(self.of(node.operand))
            case ast.BinOp():
                return self.arithmetic(node.op, self.of(node.left), self.of(node.right))
            case ast.BoolOp(op=ast.And()):
                return all(self.of(part) for part in node.values)
            case ast.BoolOp():
                return any(self.of(part) for part in node.values)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp():
                return self.conditional(node)
            case ast.Call(func=ast.Name(id=name)):
                arguments = [self.of(argument) for argument in node.args]
                return self.call(name, arguments)
        raise AssertionError(f"no expression: {ast.dump(node)}")

    def arithmetic(self, operator: ast.operator, a: Any, b: Any) -> Value:
        times = [value for value in (a, b) if isinstance(value, Time)]
        if isinstance(a, float) or isinstance(b, float) or isinstance(operator, ast.Div):
            a, b = float(a), float(b)
        match operator:
            case ast.Add():
                result = a + b
            case ast.Sub():
                result = a - b
            case ast.Mult():
                result = a * b
            case ast.Div():
                return quotient(a, b)
            case _ if b == 0:
                self.failed = True
                return 0
            case ast.FloorDiv():
                return wrapped(math.floor(Fraction(a, b)))
            case _:
                return int(a - b * math.floor(Fraction(a, b)))
        if isinstance(result, float):
            return result
        return Time(wrapped(result), times[0].zero_ns) if len(times) == 1 else wrapped(result)

    def comparison(self, node: ast.Compare) -> bool:
        left = self.of(node.left)
        holds = True
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                assert isinstance(right_node, ast.Tuple | ast.List)
                values = [self.of(element) for element in right_node.elts]
                if any(isinstance(value, float) for value in (left, *values)):
                    left, values = float(left), [float(value) for value in values]
                return (left in values if not isinstance(left, float) else any(left == value for value in values)) == isinstance(
                    operator, ast.In
                )
            if not holds:  # a chain stops like `and`
                return False
            right = self.of(right_node)
            holds = compared(operator, left, right)
            left = right
        return holds

    def conditional(self, node: ast.IfExp) -> Value:
        """Both branches are looked at for their types: an int beside a float becomes a float."""
        taken, other = (node.body, node.orelse) if self.of(node.test) else (node.orelse, node.body)
        value = self.of(taken)
        alike = _Evaluation(self.row, self.zero_ns).of(other)
        return float(value) if isinstance(alike, float) else value

    def whole(self, x: float, rounded: Callable[[Fraction], int]) -> int:
        """A float made an int."""
        if math.isnan(x):
            self.failed = True
            return 0
        n = rounded(Fraction(x)) if math.isfinite(x) else (2**63 if x > 0 else -(2**63) - 1)
        if not -(2**63) <= x < 2**63:
            self.failed = True
        return min(max(n, -(2**63)), 2**63 - 1)

    def call(self, name: str, given: list[Any]) -> Value:
        x = given[0]
        match name:
            case "abs":
                return abs(x) if isinstance(x, float) else wrapped(abs(x))
            case "min" | "max":
                values = [float(value) for value in given] if any(isinstance(value, float) for value in given) else given
                best = values[0]
                for value in values[1:]:
                    if value < best if name == "min" else value > best:
                        best = value
                return best
            case "sqrt":
                return math.nan if x < 0 else math.sqrt(x)
            case "floor" | "ceil" | "round" | "int":
                rounded = {"floor": math.floor, "ceil": math.ceil, "round": nearest, "int": math.trunc}[name]
                return self.whole(x, rounded) if isinstance(x, float) else int(x)
            case "float":
                return float(x)
            case "timestamp":
                return Time(x, self.zero_ns)
            case "startswith" | "endswith":
                return bool(getattr(x, name)(given[1]))
            case "contains":
                return given[1] in x
            case "like":
                return like(x, given[1])
            case "length":
                return len(x)
            case "lower" | "upper":
                return str(getattr(x, name)())
            case "hash":
                return hashed(given)
            case "bucket":
                return hashed(given[:1]) % given[1]
            case _ if name in UNITS_NS:
                return self.whole(x * float(UNITS_NS[name]), nearest) if isinstance(x, float) else wrapped(x * UNITS_NS[name])
        return of_calendar(name, wrapped(x + x.zero_ns))


TESTS_OF_TEXTS = ("startswith", "endswith", "contains", "like")


def comparisons(text: str, type_of: Callable[[str], str]) -> list[str]:
    """The type of the values of each comparison in an expression, tests of texts included. type_of: the type of an expression."""
    found = []
    for node in ast.walk(ast.parse(" ".join(text.split("\n")).strip(), mode="eval")):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for (a, b), operator in zip(itertools.pairwise(sides), node.ops, strict=True):
                types = [type_of(ast.unparse(a))] + ([] if isinstance(operator, ast.In | ast.NotIn) else [type_of(ast.unparse(b))])
                found.append("float" if "float" in types else types[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TESTS_OF_TEXTS:
            found.append("string")
    return found


def wrapped(n: int) -> int:
    """As 64 bits hold it."""
    return (n + 2**63) % 2**64 - 2**63


def negative(x: Any) -> Value:
    return -x if isinstance(x, float) else wrapped(-x)


def quotient(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def compared(operator: ast.cmpop, a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    if isinstance(a, str):
        a, b = [ord(character) for character in a], [ord(character) for character in b]
    match operator:
        case ast.Lt():
            return bool(a < b)
        case ast.LtE():
            return bool(a <= b)
        case ast.Gt():
            return bool(a > b)
        case ast.GtE():
            return bool(a >= b)
        case ast.Eq():
            return bool(a == b)
    return bool(a != b)


def nearest(x: Fraction) -> int:
    """Halves go away from zero."""
    return math.floor(x + Fraction(1, 2)) if x >= 0 else -math.floor(-x + Fraction(1, 2))


def like(text: str, pattern: str) -> bool:
    """Does the whole text fit?"""
    if not pattern:
        return not text
    if pattern[0] == "\\" and pattern[1:2] in ("%", "_", "\\"):
        return text[:1] == pattern[1] and like(text[1:], pattern[2:])
    if pattern[0] == "%":
        return any(like(text[n:], pattern[1:]) for n in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])


def of_calendar(name: str, time: int) -> int:
    seconds = time // 10**9
    days, second = divmod(seconds, 86400)
    if name in ("hour", "minute", "second"):
        return {"hour": second // 3600, "minute": second // 60 % 60, "second": second % 60}[name]
    eras, days_left = divmod(days, ERA.days)
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days=days_left)
    return {"weekday": date.isoweekday(), "day": date.day, "month": date.month, "year": date.year + 400 * eras}[name]


def float_word(x: float) -> int:
    """Its 64 bits as an int; there is one NaN."""
    return 0x7FF8 << 48 if math.isnan(x) else int(struct.unpack("<q", struct.pack("<d", x))[0])


# xxHash64, after its specification: a word is hashed as its eight bytes, little end first


PRIMES = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
U64 = (1 << 64) - 1


def hashed(values: list[Any]) -> int:
    seed = 42
    for n, value in enumerate(values):
        match value:
            case str() if n == 0:
                seed = xxh64(value.encode(), seed)
                continue
            case str():
                word = xxh64(value.encode(), 42)
            case float():
                word = float_word(0.0 if value == 0.0 else value)
            case _:
                word = int(value)
        seed = xxh64((word & U64).to_bytes(8, "little"), seed & U64)
    return wrapped(seed)


def xxh64(data: bytes, seed: int) -> int:
    p1, p2, p3, p4, p5 = PRIMES

    def left(x: int, n: int) -> int:
        x &= U64
        return ((x << n) | (x >> (64 - n))) & U64

    def round_of(accumulator: int, lane: int) -> int:
        return left(accumulator + lane * p2, 31) * p1 & U64

    stripes = re.findall(rb"[\s\S]{32}", data)
    if stripes:
        state = [seed + p1 + p2, seed + p2, seed, seed - p1]
        for stripe in stripes:
            state = [round_of(old, int.from_bytes(stripe[8 * n : 8 * n + 8], "little")) for n, old in enumerate(state)]
        total = sum(left(lane, turn) for lane, turn in zip(state, (1, 7, 12, 18), strict=True)) & U64
        for lane in state:
            total = ((total ^ round_of(0, lane)) * p1 + p4) & U64
    else:
        total = seed + p5
    total += len(data)
    rest = data[32 * len(stripes) :]
    while len(rest) >= 8:
        total = left(total & U64 ^ round_of(0, int.from_bytes(rest[:8], "little")), 27) * p1 + p4
        rest = rest[8:]
    if len(rest) >= 4:
        total = left(total & U64 ^ int.from_bytes(rest[:4], "little") * p1 & U64, 23) * p2 + p3
        rest = rest[4:]
    for byte in rest:
        total = left(total & U64 ^ byte * p5 & U64, 11) * p1
    total &= U64
    total = (total ^ total >> 33) * p2 & U64
    total = (total ^ total >> 29) * p3 & U64
    return total ^ total >> 32
