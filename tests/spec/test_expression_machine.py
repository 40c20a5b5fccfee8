"""The compiled program gives what expressions mean (`tests.oracle.expressions`), on random ones and rows, compiled and as plain Python.

Such a pair can catch: a wrong opcode or jump, an operand order, a missing conversion, integers that do not wrap, divisions by zero, NaN, a
wrong type, texts that are looked up in the wrong table. The generator writes texts, so the parser is under test as well.
"""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import example, given, settings

from engine.core.kernels import expression_machine
from engine.lowering.text_tables import TextTables
from engine.spec.base.records import RecordSchema
from engine.spec.expressions.parser import parse
from engine.workloads.strings import Strings
from tests.oracle.expressions import Expression, Time
from tests.support.expressions import MACHINES, SCHEMA, TIMES, Row, expressions, rows, run, word


def row_of(**values: object) -> dict[str, object]:
    zero = {"a": 0, "b": 0, "x": 0.0, "y": 0.0, "p": True, "q": False, "s": "", "t": "", "u": 0, "v": 0}
    return {**zero, **values}


def assert_right(text: str, row: Row) -> None:
    """Oracle, compiled and uncompiled machine agree on value, type and errors."""
    outcome = Expression(text, TIMES).outcome(row)
    for machine in MACHINES:
        [(found, errors, strings)] = run(text, SCHEMA, [row], machine)
        assert not isinstance(outcome.value, str) or outcome.value in strings
        assert (found, errors) == (word(outcome.value, strings), outcome.errors), machine
    kinds = {int: "int", float: "float", str: "string", bool: "bool", Time: "timestamp"}
    assert parse(text, SCHEMA).type == kinds[type(outcome.value)]


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
@example(text="hash(x) == hash(y)", row=row_of(x=-0.0))
@example(text="hash(x / y, s)", row=row_of(s="a"))
@example(text="round(x) + floor(y)", row=row_of(x=math.nan))
@example(text="int(x)", row=row_of(x=-math.inf))
@example(text="lower(upper(s)) < upper(lower(t))", row=row_of(s="Straße", t="ΣΑΣ"))
@settings(max_examples=6 * settings.default.max_examples, deadline=None, derandomize=True)
def test_the_machine_gives_what_the_text_means(text, row):
    assert_right(text, row)


@pytest.mark.parametrize("name", ["floor(x)", "ceil(x)", "round(x)", "int(x)", "sqrt(x)", "hours(x)"])
def test_floats_at_every_edge(name):
    halves = [n + half for n in (0.0, 1.0, 2.0, 2.0**51, 2.0**52, 2.0**53, 2.0**62, 2.0**63, 1e300) for half in (0.0, 0.5)]
    for edge in [*halves, 5e-324, math.inf]:
        for x in (edge, math.nextafter(edge, math.inf), math.nextafter(edge, -math.inf)):
            assert_right(name, row_of(x=x))
            assert_right(name, row_of(x=-x))


ROW = row_of(a=7, x=1.5, y=-2.5, s="OR", t="Idaho", u=5_000_000_000, v=1_709_210_096_789_000_000)  # 2024-02-29T12:34:56.789Z


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
        ("x / b", math.inf, 0),
        ("x / -float(b)", -math.inf, 0),
        ("9223372036854775807 + 1", -(2**63), 0),
        ("-9223372036854775808", -(2**63), 0),
        ("s in ('OR', 'ID', 'CA')", True, 0),
        ("t not in ['OR']", True, 0),
        ("0 < a <= 7 and not q", True, 0),
        ("'big' if a > 5 else 'small'", "big", 0),
        ("u // 1000000000 % 24", 5, 0),
        ("max(a, 2.5, x)", 7.0, 0),
        ("min(u, v)", 5_000_000_000, 0),
        ("abs(-a)", 7, 0),
        ("  a\n  + 1 ", 8, 0),
        ("floor(y)", -3, 0),
        ("ceil(y)", -2, 0),
        ("round(y)", -3, 0),
        ("round(x)", 2, 0),
        ("int(y)", -2, 0),
        ("round(x * 100) / 100", 1.5, 0),
        ("floor(1e300)", 2**63 - 1, 1),
        ("int(-1e300)", -(2**63), 1),
        ("round(sqrt(y))", 0, 1),
        ("sqrt(2)", 1.4142135623730951, 0),
        ("int(a > 5)", 1, 0),
        ("float(a)", 7.0, 0),
        ("1 if q else x", 1.5, 0),
        ("1 if p else x", 1.0, 0),
        ("startswith(t, 'Id') and not startswith(t, 'id')", True, 0),
        ("endswith(t, 'aho')", True, 0),
        ("contains(t, 'dah')", True, 0),
        ("contains(t, '')", True, 0),
        ("like(t, 'I_a%')", True, 0),
        ("like(t, 'I_a')", False, 0),
        ("length(t)", 5, 0),
        ("upper(t)", "IDAHO", 0),
        ("lower(upper(t)) == 'idaho'", True, 0),
        ("s > t", True, 0),  # 'O' comes after 'I'
        ("'A' <= s < 'P'", True, 0),
        ("hash(a)", -2864211556195259663, 0),
        ("bucket(a, 10)", -2864211556195259663 % 10, 0),
        ("timestamp(5) + seconds(1)", 1_000_000_005, 0),
        ("u - minutes(2)", -115_000_000_000, 0),
        ("seconds(0.5)", 500_000_000, 0),
        ("(v - u) // days(1)", 19782, 0),
        ("(u - timestamp(0)) / seconds(1)", 5.0, 0),
        ("year(v)", 2024, 0),
        ("month(v)", 2, 0),
        ("day(v)", 29, 0),
        ("weekday(v)", 4, 0),  # a Thursday
        ("hour(v)", 12, 0),
        ("minute(v)", 34, 0),
        ("second(v)", 56, 0),
        ("weekday(timestamp(-1))", 3, 0),
        ("year(timestamp(-1)) * 10000 + month(timestamp(-1)) * 100 + day(timestamp(-1))", 19691231, 0),
    ],
)
def test_meaning(text, value, errors):
    outcome = Expression(text, TIMES).outcome(ROW)
    assert (outcome.value, outcome.errors) == (value, errors)
    assert_right(text, ROW)


def test_dates_of_all_days_of_eight_centuries():
    first = dt.date(1601, 1, 1).toordinal() - dt.date(1970, 1, 1).toordinal()
    for day in range(first, first + 2 * 146_097, 11):
        date = dt.date(1970, 1, 1) + dt.timedelta(days=day)
        parts = [
            expression_machine.civil(day, part) for part in (expression_machine.YEAR, expression_machine.MONTH, expression_machine.DAY)
        ]
        assert parts == [date.year, date.month, date.day]


@pytest.mark.slow
def test_deepest_expression_fits_the_stack():
    """The parser's limit of nesting keeps the machine inside STACK_WORDS; the deepest right-leaning texts that it accepts run."""
    accepted = 0
    forms = [
        ("(1 + ", ")"),
        ("max(1, ", ")"),
        ("hash(1, 2, ", ")"),
        ("round(0.5 + ", ")"),
        ("hash(x, 1 if p else ", ")"),
        ("(p if p else ", ")"),
    ]
    for levels in range(1, 120):
        for before, after in forms:
            text = before * levels + ("p" if before.startswith("(p") else "a") + after * levels
            try:
                parse(text, SCHEMA)
            except ValueError:
                continue
            accepted += 1
            assert_right(text, ROW)
    assert accepted > 300


def test_texts_that_come_later_are_known_without_a_new_program():
    """Tables grow with the dictionary; what they say of a text does not change, but for its rank, which is only compared."""
    strings = Strings(["OR", "ID"])
    schema = RecordSchema.of(s="string")
    programs = [parse(text, schema).compile(strings) for text in ("startswith(s, 'O')", "lower(s) < 'or'", "length(upper(s))")]
    code, constants, spans = expression_machine.pack([(program.code, program.constants) for program in programs])
    starts = np.cumsum([0] + [len(program.constants) for program in programs])
    uses = [(int(start) + place, function) for start, program in zip(starts, programs, strict=False) for place, function in program.tables]
    tables = TextTables(strings, constants, uses)
    before = tables.cover()
    assert tables.cover(before) is before
    new = strings.codes(["Ohio", "Oß", "AZ"])
    after = tables.cover(before)
    assert after is not before
    assert tables.cover(after) is after
    assert {"ohio", "OHIO", "OSS", "az"} <= set(strings.as_list())
    stack = np.zeros(expression_machine.STACK_WORDS, np.int64)
    found = []
    for code_of_text in [0, 1, *new]:
        for first, last in spans:
            words = np.array([[code_of_text]])
            MACHINES["compiled"](code, first, last, after, words, 0, 0, stack, stack.view(np.float64))
            found.append(int(stack[0]))
    assert found == [1, 0, 2, 0, 1, 2, 1, 1, 4, 1, 0, 3, 0, 1, 2]
