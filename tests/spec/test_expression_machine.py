"""The compiled program equals the reference on random typed expressions and rows, compiled and as plain Python.

Such a pair can catch: a wrong opcode or jump, an operand order, a missing conversion, integers that do not wrap, divisions by zero, NaN.
The generator writes texts, so the parser is under test as well.
"""

from __future__ import annotations

import math
import struct
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.core import expression_machine
from engine.core.compiler import compiled
from engine.spec.expressions import parse
from engine.spec.records import RecordSchema
from engine.workloads.strings import Strings

SCHEMA = RecordSchema.of(a="int", b="int", x="float", y="float", p="bool", q="bool", s="string", t="string", u="timestamp", v="timestamp")
TYPES = ("int", "float", "string", "timestamp", "bool")
TEXTS = ("OR", "ID", "CA", "", "naïve", "it's", 'a "b"')
COMPILED = compiled(expression_machine.evaluate)

small = st.integers(-3, 3)
ints = small | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([2**63 - 1, -(2**63), 2**62, -1, 0])
floats = st.floats() | small.map(float) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan])
rows = st.fixed_dictionaries(
    {"a": ints, "b": ints, "x": floats, "y": floats, "p": st.booleans(), "q": st.booleans()}
    | {"s": st.sampled_from(TEXTS), "t": st.sampled_from(TEXTS), "u": ints, "v": ints}
)

int_text = st.sampled_from(["a", "b"]) | small.map(str) | ints.map(str)
float_text = st.sampled_from(["x", "y"]) | small.map(lambda n: f"{n}.5") | st.floats(allow_nan=False, allow_infinity=False).map(repr)
string_text = st.sampled_from(["s", "t"]) | st.sampled_from(TEXTS).map(repr)
time_text = st.sampled_from(["u", "v", 'record["u"]'])
bool_text = st.sampled_from(["p", "q", "True", "false"])


def joined(operators: list[str], left: st.SearchStrategy[str], right: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(left, st.sampled_from(operators), right).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})")


def call(names: list[str], *arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.sampled_from(names), st.tuples(*arguments)).map(lambda parts: f"{parts[0]}({', '.join(parts[1])})")


def chosen(value: st.SearchStrategy[str], condition: st.SearchStrategy[str], other: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(value, condition, other).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})")


def member(value: st.SearchStrategy[str], constant: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(constant, min_size=1, max_size=4).map(lambda items: f"({', '.join(items)},)")
    return joined(["in", "not in"], value, lists)


@cache
def texts(type: str, depth: int) -> st.SearchStrategy[str]:
    """Expressions of the type with at most that many levels."""
    if depth == 0:
        leaves = {"int": int_text, "float": float_text, "string": string_text, "timestamp": time_text, "bool": bool_text}
        return leaves[type]
    i, f, s, t, b = (sized(name, depth - 1) for name in TYPES)
    n = i | f
    comparisons = ["<", "<=", ">", ">=", "==", "!="]
    literal = small.map(str) | st.sampled_from(["0.5", "-0.5", "-0.0", "1e300"])
    forms = {
        "int": joined(["+", "-", "*", "//", "%"], i, i) | joined(["-"], t, t) | joined(["//", "%"], t, i) | call(["abs"], i)
        | call(["min", "max"], i, i, i) | i.map(lambda text: f"(-{text})") | chosen(i, b, i),
        "float": joined(["/"], n, n) | joined(["+", "-", "*"], f, n) | joined(["+", "-", "*"], n, f) | call(["abs"], f)
        | call(["min", "max"], f, n) | call(["min", "max"], n, f, n) | f.map(lambda text: f"(-{text})") | chosen(f, b, n),
        "string": string_text | chosen(s, b, s),
        "timestamp": joined(["+", "-"], t, i) | joined(["+"], i, t) | call(["min", "max"], t, t) | chosen(t, b, t),
        "bool": joined(comparisons, n, n) | joined(comparisons, f, f) | joined(comparisons, t, t) | joined(comparisons, t, i)
        | joined(["==", "!="], s, s)
        | joined(["==", "!="], b, b) | joined(["and", "or"], b, b) | b.map(lambda text: f"(not {text})")
        | st.tuples(n, n, n).map(lambda parts: f"({parts[0]} < {parts[1]} <= {parts[2]})")
        | member(n, literal) | member(s, st.sampled_from(TEXTS).map(repr)) | member(t, small.map(str)) | chosen(b, b, b),
    }  # fmt: skip
    return forms[type]


def sized(type: str, depth: int) -> st.SearchStrategy[str]:
    """Often as deep as allowed, sometimes a leaf. Without the detour over `flatmap`, unions would be flattened and favour leaves."""
    return st.sampled_from([0, depth, depth, depth]).flatmap(lambda levels: texts(type, levels))


expressions = st.tuples(st.sampled_from([*TYPES, "bool", "bool", "int", "float"]), st.integers(1, 4)).flatmap(lambda drawn: texts(*drawn))


def word(value: object, strings: Strings) -> int:
    """The value as the engine stores it."""
    if isinstance(value, str):
        return strings.code(value)
    if isinstance(value, float):
        return expression_machine.NAN_WORD if math.isnan(value) else struct.unpack("<q", struct.pack("<d", value))[0]
    return int(value)


def run(evaluate, program, row, strings) -> tuple[int, int]:
    """Result word and errors; the program stands behind another one, and the record behind two other columns."""
    other = parse("a + 41 if s == 'first' else 43", SCHEMA).compile(strings)
    code, constants, spans = expression_machine.pack([(other.code, other.constants), (program.code, program.constants)])
    words = np.full((2, len(SCHEMA.fields) + 2), -1, np.int64)
    words[1, 2:] = [word(row[name], strings) for name in SCHEMA.names]
    stack = np.zeros(expression_machine.STACK_WORDS, np.int64)
    with np.errstate(all="ignore"):
        errors = evaluate(code, spans[1, 0], spans[1, 1], constants, words, 1, 2, stack, stack.view(np.float64))
    return int(stack[0]), int(errors)


def row_of(**values: object) -> dict[str, object]:
    zero = {"a": 0, "b": 0, "x": 0.0, "y": 0.0, "p": True, "q": False, "s": "", "t": "", "u": 0, "v": 0}
    return {**zero, **values}


@given(text=expressions, row=rows)
@example(text="a // b", row=row_of(a=-(2**63), b=-1))
@example(text="a % b if p else -a", row=row_of(a=-(2**63)))
@example(text="x / y", row=row_of(x=-1.0, y=-0.0))
@example(text="x / y", row=row_of(x=math.nan))
@example(text="min(x, y)", row=row_of(y=-0.0))
@example(text="max(x, y)", row=row_of(x=-0.0))
@example(text="max(x, y)", row=row_of(y=math.nan))
@example(text="min(x, y)", row=row_of(x=math.nan))
@example(text="x in (1.5, 0.0)", row=row_of(x=-0.0))
@example(text="x not in (1.5, 0.0)", row=row_of(x=math.nan))
@settings(max_examples=1000, deadline=None, derandomize=True)
def test_compiled_program_equals_reference(text, row):
    expression = parse(text, SCHEMA)
    strings = Strings(["first", *TEXTS])
    program = expression.compile(strings)
    value, errors = expression.outcome(row)
    expected = (word(value, strings), errors)
    assert run(COMPILED, program, row, strings) == expected
    assert run(expression_machine.evaluate, program, row, strings) == expected
    assert expression.type == program.type


ROW = row_of(a=7, x=1.5, s="OR", t="ID", u=5_000_000_000)


@pytest.mark.parametrize(
    ("text", "value", "errors"),
    [
        ("a + 1", 8, 0),
        ("a / 2", 3.5, 0),
        ("-a // 2", -4, 0),
        ("-a % 5", 3, 0),
        ("a // b", 0, 1),
        ("a % b + 1", 1, 1),
        ("p or a // b == 0", True, 0),  # the error is behind the condition that decides
        ("x / y", math.inf, 0),
        ("x / -y", -math.inf, 0),
        ("9223372036854775807 + 1", -(2**63), 0),
        ("-9223372036854775808", -(2**63), 0),
        ("s in ('OR', 'ID', 'CA')", True, 0),
        ("t not in ['OR']", True, 0),
        ("0 < a <= 7 and not q", True, 0),
        ("'big' if a > 5 else 'small'", "big", 0),
        ("u // 1000000000 % 24", 5, 0),
        ("max(a, 2.5, x)", 7.0, 0),
        ("min(u, v)", 0, 0),
        ("abs(-a)", 7, 0),
        ("  a\n  + 1 ", 8, 0),
    ],
)
def test_meaning(text, value, errors):
    expression = parse(text, SCHEMA)
    assert expression.outcome(ROW) == (value, errors)
    strings = Strings()
    assert run(COMPILED, expression.compile(strings), ROW, strings) == (word(value, strings), errors)


def test_deepest_expression_fits_the_stack():
    """The parser's limit of nesting keeps the machine inside STACK_WORDS; the deepest right-leaning texts it accepts run."""
    accepted = 0
    for levels in range(1, 200):
        for text in ("(1 + " * levels + "a" + ")" * levels, "max(1, " * levels + "a" + ")" * levels):
            try:
                expression = parse(text, SCHEMA)
            except ValueError:
                continue
            accepted += 1
            strings = Strings()
            value, _ = expression.outcome(ROW)
            assert run(expression_machine.evaluate, expression.compile(strings), ROW, strings) == (value, 0)
    assert accepted > 100
