"""Expressions on rows of Python values: random texts, and the machine, compiled and as plain Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from engine.core.compiler import compiled
from engine.core.kernels import expression_machine
from engine.lowering.text_tables import TextTables
from engine.spec.base.records import RecordSchema
from engine.spec.expressions.parser import parse
from engine.workloads.strings import Strings

Row = Mapping[str, Any]


# The machine


MACHINES: dict[str, Callable[..., int]] = {"compiled": compiled(expression_machine.evaluate), "plain": expression_machine.evaluate}


def word(value: object, strings: Strings) -> int:
    """The value as the engine stores it."""
    if isinstance(value, str):
        return strings.code(value)
    if isinstance(value, float):
        return expression_machine.NAN_WORD if math.isnan(value) else struct.unpack("<q", struct.pack("<d", value))[0]
    return int(value)  # type: ignore[call-overload]


def run(text: str, schema: RecordSchema, rows: Sequence[Row], machine: str) -> list[tuple[int, int, Strings]]:
    """Result word, errors and dictionary for each row. The program stands behind another one, and the record behind two other columns."""
    strings = Strings(["first"])
    other = parse("a + 41 if s == 'first' else 43", RecordSchema.of(a="int", s="string")).compile(strings)
    program = parse(text, schema).compile(strings)
    words = np.full((len(rows), len(schema.fields) + 2), -1, np.int64)
    for n, row in enumerate(rows):
        words[n, 2:] = [word(row[name], strings) for name in schema.names]
    code, constants, spans = expression_machine.pack([(other.code, other.constants), (program.code, program.constants)])
    uses = [(len(other.constants) + place, function) for place, function in program.tables]
    constants = TextTables(strings, constants, uses).cover()
    stack = np.zeros(expression_machine.STACK_WORDS, np.int64)
    results = []
    with np.errstate(all="ignore"):
        for n in range(len(rows)):
            errors = MACHINES[machine](code, spans[1, 0], spans[1, 1], constants, words, n, 2, stack, stack.view(np.float64))
            results.append((int(stack[0]), int(errors), strings))
    return results


# Random texts


SCHEMA = RecordSchema.of(a="int", b="int", x="float", y="float", p="bool", q="bool", s="string", t="string", u="timestamp", v="timestamp")
TYPES = ("int", "float", "string", "timestamp", "bool")
TIMES = {field.name: field.zero_ns for field in SCHEMA.fields if field.type == "timestamp"}
TEXTS = (
    "OR",
    "ID",
    "CA",
    "or",
    "",
    "naïve",
    "it's",
    'a "b"',
    "100%",
    "a_b\\",
    "Straße",
    "ΣΑΣ",
    "OREGON or WASHINGTON, one of the two",
    "é\U0001f600",
    "\uffff",
)

small = st.integers(-3, 3)
edges = st.sampled_from([2**63 - 1, -(2**63), 2**62, -(2**62) - 1, 2**53 + 1, 86_400 * 10**9, 1_000_000_000, -1, 0])
ints = small | st.integers(-(2**63), 2**63 - 1) | edges
floats = (
    st.floats()
    | small.map(float)
    | st.integers(-9, 9).map(lambda n: n / 2)
    | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**63, -(2.0**63), 2.0**52 + 0.5, 0.49999999999999994, 5e-324])
)
texts_of_rows = st.sampled_from(TEXTS) | st.text(max_size=8) | st.text("ab%_", max_size=70)
rows = st.fixed_dictionaries(
    {"a": ints, "b": ints, "x": floats, "y": floats, "p": st.booleans(), "q": st.booleans()}
    | {"s": texts_of_rows, "t": texts_of_rows, "u": ints, "v": ints}
)

literals = st.sampled_from(TEXTS).map(repr)
patterns = (st.sampled_from(["%", "_", "", "%OR%", "O_", "%%_", "\\%%", "%\\_%", "a\\_b\\\\"]) | st.text("ab%_\\", max_size=5)).map(repr)
int_text = st.sampled_from(["a", "b"]) | small.map(str) | ints.map(str)
float_text = st.sampled_from(["x", "y"]) | small.map(lambda n: f"{n}.5") | st.floats(allow_nan=False, allow_infinity=False).map(repr)
string_text = st.sampled_from(["s", "t"]) | literals
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


DURATIONS = ["milliseconds", "seconds", "minutes", "hours", "days"]
CALENDAR = ["year", "month", "day", "weekday", "hour", "minute", "second"]


@cache
def texts(type: str, depth: int) -> st.SearchStrategy[str]:
    """Expressions of the type with at most that many levels."""
    if depth == 0:
        leaves = {"int": int_text, "float": float_text, "string": string_text, "timestamp": time_text, "bool": bool_text}
        return leaves[type]
    i, f, s, t, b = (sized(name, depth - 1) for name in TYPES)
    n = i | f
    anything = i | f | s | t | b
    comparisons = ["<", "<=", ">", ">=", "==", "!="]
    literal = small.map(str) | st.sampled_from(["0.5", "-0.5", "-0.0", "1e300"])
    forms = {
        "int": joined(["+", "-", "*", "//", "%"], i, i) | joined(["-"], t, t) | joined(["//", "%"], t, i) | call(["abs"], i)
        | call(["min", "max"], i, i, i) | i.map(lambda text: f"(-{text})") | chosen(i, b, i)
        | call(["floor", "ceil", "round", "int"], n) | call(["int"], b) | call(["int"], t) | call(["length"], s)
        | call(["hash"], anything) | call(["hash"], anything, anything, anything)
        | call(["bucket"], anything, st.sampled_from(["1", "16", "1000003"]))
        | call(DURATIONS, f) | call(DURATIONS, small.map(str)) | call(DURATIONS, st.sampled_from(["a", "b"])) | call(CALENDAR, t),
        "float": joined(["/"], n, n) | joined(["+", "-", "*"], f, n) | joined(["+", "-", "*"], n, f) | call(["abs"], f)
        | call(["min", "max"], f, n) | call(["min", "max"], n, f, n) | f.map(lambda text: f"(-{text})") | chosen(f, b, n)
        | chosen(i, b, f) | call(["sqrt", "float"], n),
        "string": string_text | chosen(s, b, s) | call(["lower", "upper"], s),
        "timestamp": joined(["+", "-"], t, i) | joined(["+"], i, t) | call(["min", "max"], t, t) | chosen(t, b, t) | call(["timestamp"], i),
        "bool": joined(comparisons, n, n) | joined(comparisons, f, f) | joined(comparisons, t, t) | joined(comparisons, t, i)
        | joined(comparisons, s, s)
        | joined(["==", "!="], b, b) | joined(["and", "or"], b, b) | b.map(lambda text: f"(not {text})")
        | st.tuples(n, n, n).map(lambda parts: f"({parts[0]} < {parts[1]} <= {parts[2]})")
        | st.tuples(s, s, s).map(lambda parts: f"({parts[0]} < {parts[1]} >= {parts[2]})")
        | call(["startswith", "endswith", "contains"], s, literals) | call(["like"], s, patterns)
        | member(n, literal) | member(s, literals) | member(t, small.map(str)) | chosen(b, b, b),
    }  # fmt: skip
    return forms[type]


def sized(type: str, depth: int) -> st.SearchStrategy[str]:
    """Often as deep as allowed, sometimes a leaf. Without the detour over `flatmap`, unions would be flattened and favour leaves."""
    return st.sampled_from([0, depth, depth, depth]).flatmap(lambda levels: texts(type, levels))


expressions = st.tuples(st.sampled_from([*TYPES, "bool", "bool", "int", "float"]), st.integers(1, 4)).flatmap(lambda drawn: texts(*drawn))
