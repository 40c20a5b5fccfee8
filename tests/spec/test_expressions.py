"""What the expression language refuses, with the column at which it happens, and how it types what it takes."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec import ExpressionRefusal, RecordSchema, parse
from engine.spec.expressions.parser import field_text
from tests.oracle.expressions import Expression, Time
from tests.support.expressions import MACHINES, run

SCHEMA = RecordSchema(
    RecordSchema.of(id="int", price="float", state="string", vip="bool", time="timestamp").fields
    + RecordSchema.of(**{"Price (EUR)": "float", "größe": "int"}).fields
)

REFUSED = {
    # text: (code, column, words of the message or the hint)
    "": ("syntax", 1, ["empty"]),
    "id >": ("syntax", 5, ["not an expression"]),
    "id = 3": ("syntax", 4, ["write '=='"]),
    "id > 3; price": ("syntax", 7, ["not an expression"]),
    "stat == 'OR'": ("unknown_field", 1, ["'stat'", "did you mean 'state'"]),
    "  stat == 'OR'": ("unknown_field", 3, ["'stat'"]),
    "größe > 1 and stat == 'OR'": ("unknown_field", 15, ["'stat'"]),
    "record['Price'] > 1": ("unknown_field", 1, ["'Price'", "did you mean 'price'"]),
    "__import__('os').system('ls') == 0": ("not_allowed", 1, ["this call", "by its name"]),
    "open('x') == 1": ("not_allowed", 1, ["open()", "not a function"]),
    "mix(id, 2) > 0": ("not_allowed", 1, ["mix()", "did you mean 'min'"]),
    "ABS(id) > 0": ("not_allowed", 1, ["ABS()", "write abs()"]),
    "coalesce(state, 'OR') == 'OR'": ("not_allowed", 1, ["coalesce()", "no missing values"]),
    "power(id, 2) > 4": ("not_allowed", 1, ["power()", "write x * x"]),
    "log(price) > 1": ("not_allowed", 1, ["log()", "identical bits"]),
    "concat(state, 'x') == 'ORx'": ("not_allowed", 1, ["concat()", "no new strings"]),
    "state.startswith('O')": ("not_allowed", 1, [".startswith()", "write startswith(state, 'O')"]),
    "abs(id, 2) > 0": ("wrong_arguments", 1, ["abs() has 2", "exactly one argument", "abs(x: int) -> int"]),
    "abs() > 0": ("wrong_arguments", 1, ["abs() has 0", "exactly one argument"]),
    "max(id) > 0": ("wrong_arguments", 1, ["max() has 1", "two or more arguments"]),
    "startswith(state)": ("wrong_arguments", 1, ["startswith() has 1 argument;", "exactly two arguments"]),
    "hash() == 1": ("wrong_arguments", 1, ["hash() has 0", "one or more arguments"]),
    "max(*state) > 0": ("not_allowed", 1, ["plain arguments"]),
    "max(id, key=2) > 0": ("not_allowed", 1, ["plain arguments"]),
    "id.real > 0": ("not_allowed", 1, ["an attribute"]),
    "state[0] == 'O'": ("not_allowed", 1, ["an index"]),
    "id > 0 and [x for x in (1,)]": ("not_allowed", 12, ["a comprehension"]),
    "(lambda: 1)() > 0": ("not_allowed", 1, ["this call"]),
    "f'{id}' == '1'": ("not_allowed", 1, ["an f-string"]),
    "(id := 3) > 2": ("not_allowed", 2, ["an assignment"]),
    "id ** 2 > 3": ("not_allowed", 1, ["'**'"]),
    "vip & True": ("not_allowed", 1, ["write 'and'"]),
    "~id": ("not_allowed", 1, ["write 'not'"]),
    "id is 3": ("not_allowed", 7, ["write '=='"]),
    "id == None": ("not_allowed", 7, ["None", "constants are"]),
    "id == 3j": ("not_allowed", 7, ["3j"]),
    "state == b'OR'": ("not_allowed", 10, ["b'OR'"]),
    "state in 'ORID'": ("not_allowed", 10, ["a list of constants", "(1,)"]),
    "state in ()": ("not_allowed", 10, ["a list of constants"]),
    "state in ('OR', state)": ("not_allowed", 17, ["only constants"]),
    "id in (1, 'OR')": ("type_mismatch", 11, ["'id' is an int", "'OR' is a string"]),
    "1 < id in (1, 2)": ("not_allowed", 11, ["chain"]),
    "state + 1 > 0": ("type_mismatch", 1, ["'+'", "'state' is a string"]),
    "id + vip > 0": ("type_mismatch", 6, ["'vip' is a bool"]),
    "vip < True": ("type_mismatch", 1, ["'<'", "'vip' is a bool", "== and !="]),
    "state < id": ("type_mismatch", 1, ["'state' is a string", "'id' is an int"]),
    "'O' in state": ("not_allowed", 8, ["a list of constants", "write contains(text, part)"]),
    "state == 3": ("type_mismatch", 1, ["'state' is a string", "3 is an int"]),
    "vip == 1": ("type_mismatch", 1, ["'vip' is a bool"]),
    "time == price": ("type_mismatch", 1, ["'time' is a timestamp"]),
    "time * 2 > time": ("type_mismatch", 1, ["'*'", "timestamp and int"]),
    "time + time > time": ("type_mismatch", 1, ["'+'"]),
    "price // 2 > 1": ("type_mismatch", 1, ["'//'", "use floor(a / b)"]),
    "id % 2.5 > 1": ("type_mismatch", 1, ["'%'", "use a - floor(a / b) * b"]),
    "time + 0.5 > time": ("type_mismatch", 1, ["'+'", "seconds(5)"]),
    "-state == 'a'": ("type_mismatch", 1, ["'-'", "'state' is a string"]),
    "not id": ("type_mismatch", 5, ["'not'", "'id' is an int"]),
    "vip and id": ("type_mismatch", 9, ["'and'", "'id' is an int"]),
    "1 if id else 2": ("type_mismatch", 6, ["'if'", "'id' is an int"]),
    "1 if vip else 'a'": ("type_mismatch", 1, ["int or string", "the same type"]),
    "max(time, id) > 0": ("type_mismatch", 1, ["max()", "timestamp with int", "the same type"]),
    "min(state, 'OR') == 'OR'": ("type_mismatch", 5, ["min() needs an int or a float or a timestamp as x", "'state' is a string"]),
    "max(id, state) > 0": ("type_mismatch", 9, ["max()", "as y", "'state' is a string"]),
    "hour(id) > 8": ("type_mismatch", 6, ["hour() needs a timestamp as t", "'id' is an int"]),
    "hours(time) > 8": ("type_mismatch", 7, ["hours() needs an int or a float as n", "'time' is a timestamp"]),
    "length(id) > 8": ("type_mismatch", 8, ["length() needs a string as text", "'id' is an int"]),
    "startswith(state, 3)": ("type_mismatch", 19, ["startswith() needs a string as start", "3 is an int"]),
    "startswith(state, state)": ("type_mismatch", 19, ["a string literal as start", "'state' is a string that is computed"]),
    "bucket(id, 0) == 1": ("out_of_range", 12, ["at least one bucket", "n is 0"]),
    "bucket(id, id) == 1": ("type_mismatch", 12, ["an int literal as n"]),
    "time + days(1000000)": ("out_of_range", 13, ["1000000 is too long", "106,751"]),
    "id > 1 AND vip": ("syntax", 8, ["in lower case"]),
    "id <> 3": ("syntax", None, ["write '!='"]),
    "vip && id > 3": ("syntax", None, ["write 'and'"]),
    "!vip": ("syntax", None, ["write 'not'"]),
    "id between 1 and 3": ("syntax", None, ["low <= x <= high"]),
    "state like 'O%'": ("syntax", None, ["write like("]),
    "case when vip then 1 else 2 end": ("syntax", None, ["a if condition else b"]),
    "state is null": ("not_allowed", 10, ["write '=='"]),
    "cast(price as int) > 3": ("syntax", None, ["write int(x)"]),
    "time > time - interval '5' second": ("syntax", None, ["minutes(5)"]),
    "state == 'a AND b' vip": ("syntax", None, ["not an expression"]),
    "abs(state) == 'a'": ("type_mismatch", 5, ["abs()", "'state' is a string"]),
    "id > 9223372036854775808": ("out_of_range", 6, ["9223372036854775808", "between"]),
    "price > 1e999": ("out_of_range", 9, ["too large"]),
    r"state == '\ud800'": ("syntax", 10, ["surrogate"]),
    "id > 0 or " * 300 + "vip": ("too_long", 2001, ["3,003 characters", "2,000"]),
    "-" * 150 + "id > 0": ("too_deep", 100, ["100 levels"]),
    "(" * 150 + "id" + ")" * 150 + " > 0": (None, None, None),  # brackets alone are no levels
    "(" * 300 + "id" + ")" * 300 + " > 0": ("too_deep", None, ["100 levels"]),
    "not " * 400 + "vip": ("too_deep", None, ["100 levels"]),
    "max(" * 60 + "1, 2)" + ", 3)" * 59 + " > 0": ("too_deep", None, ["100 levels"]),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_refused(text):
    code, column, words = REFUSED[text]
    if code is None:
        assert parse(text, SCHEMA).type == "bool"
        return
    with pytest.raises(ExpressionRefusal) as raised:
        parse(text, SCHEMA, at=("predicate",))
    refusal = raised.value
    assert refusal.code == code
    assert refusal.at == ("predicate",)
    assert column in (None, refusal.column)
    assert f"(column {refusal.column})" in str(refusal)
    shown = f"{refusal} {refusal.hint}"
    assert [word for word in words if word not in shown] == [], shown


@pytest.mark.parametrize(
    ("text", "type", "fields"),
    [
        ("id * 2", "int", ("id",)),
        ("id / 2", "float", ("id",)),
        ("id + price", "float", ("id", "price")),
        ("price * 0.82", "float", ("price",)),
        ("time - 5", "timestamp", ("time",)),
        ("time - time", "int", ("time",)),
        ("time // 1000000000 % 24", "int", ("time",)),
        ("time < 5000000000", "bool", ("time",)),
        ("max(time, time + 1)", "timestamp", ("time",)),
        ("'a' if vip else state", "string", ("state", "vip")),
        ("0 < id <= 5 != 3", "bool", ("id",)),
        ('record["Price (EUR)"] * größe', "float", ("Price (EUR)", "größe")),
        ("true", "bool", ()),
        ("id in [1, 2.5]", "bool", ("id",)),
        ("id > 3 # comment", "bool", ("id",)),
        ("floor(price) + round(id)", "int", ("id", "price")),
        ("sqrt(id)", "float", ("id",)),
        ("state < 'OR'", "bool", ("state",)),
        ("upper(state)", "string", ("state",)),
        ("timestamp(id) + hours(2)", "timestamp", ("id",)),
        ("hash(id, price, state, vip, time)", "int", ("id", "price", "state", "vip", "time")),
        ("bucket(state, 4)", "int", ("state",)),
        ("weekday(time)", "int", ("time",)),
        ("1 if vip else price", "float", ("price", "vip")),
    ],
)
def test_types(text, type, fields):
    expression = parse(text, SCHEMA)
    assert (expression.type, expression.fields) == (type, fields)


def test_a_field_named_like_a_word_of_the_language():
    schema = RecordSchema.of(true="int", min="int", record="int")
    row = {"true": 5, "min": 2, "record": 3}
    for text in ("min(true, record) + min", "record['true']"):
        assert parse(text, schema).type == "int"
        for machine in MACHINES:
            [(found, errors, _)] = run(text, schema, [row], machine)
            assert (found, errors) == (5, 0)


ODD_NAMES = {
    # name: a text in which it stands unquoted
    "class": "class == 3",
    "lambda": "id > 1 and lambda > 2",
    "if": "if > 3",
    "unit price": "unit price > 3",
    "Price (EUR)": "Price (EUR) > 3",
    "price-eur": "price-eur > 3",
    "a.b": "a.b > 3",
    "2nd": "2nd > 3",
    "🚕": "🚕 > 3",
    "שם": None,  # an identifier: no quotes are needed
    "ﬁeld": "ﬁeld > 3",  # Python reads the ligature as two letters
    "a\u2028b\x85": None,
    'say "a"': None,
    "it's": None,
    "👨\u200d👩\u200d👧": None,
    "\u202eabc": None,
}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_that_is_no_plain_word_is_quoted_and_the_refusal_says_how(name):
    schema = RecordSchema.of(**{"id": "int", name: "int"})
    text, row = f"{field_text(name)} + 1", {"id": 1, name: 4}
    assert parse(text, schema).fields == (name,)
    assert Expression(text, {}).outcome(row).value == 5
    for machine in MACHINES:
        [(found, errors, _)] = run(text, schema, [row], machine)
        assert (found, errors) == (5, 0)
    if ODD_NAMES[name]:
        with pytest.raises(ExpressionRefusal) as raised:
            parse(ODD_NAMES[name], schema)
        assert raised.value.hint == f"write the field as {field_text(name)}"


@given(st.text(min_size=1, max_size=12).filter(lambda name: not any("\ud800" <= letter <= "\udfff" for letter in name)))
@settings(deadline=None, derandomize=True)
def test_any_name_can_be_written(name):
    assert parse(field_text(name), RecordSchema.of(**{name: "int"})).fields == (name,)


def test_an_unknown_field_is_corrected_in_the_form_that_can_be_written():
    with pytest.raises(ExpressionRefusal) as raised:
        parse("unitprice > 3", RecordSchema.of(**{"unit price": "int"}))
    assert raised.value.hint == 'did you mean record["unit price"]?'


def test_the_page_quotes_the_words_that_are_reserved():
    source = (Path(__file__).resolve().parents[2] / "frontend/src/model/document/completion.ts").read_text()
    listed = source[source.index("const RESERVED") :]
    assert set(re.findall(r'"(\w+)"', listed[: listed.index("]);")])) == set(keyword.kwlist)


words = st.sampled_from(
    ["id", "price", "state", "vip", "time", "record", "(", ")", "[", "]", ",", "1", "0.5", "'OR'", "-", "not", "and", "or"]
)
signs = st.sampled_from(
    [
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "<",
        ">=",
        "==",
        "in",
        "if",
        "else",
        "abs(",
        "max(",
        "hash(",
        "round(",
        "lower(",
        "hour(",
        "like(",
        ".",
        ":",
        "lambda",
        "=",
        "\n",
        "\\",
        "'",
        "#",
    ]
)


@given(st.lists(words | signs, max_size=14).map(" ".join) | st.text(max_size=40))
@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None, derandomize=True)
def test_any_text_is_typed_or_refused(text):
    """Nothing but a refusal ever comes out of the parser, and what it takes can be evaluated."""
    row = {"id": 3, "price": 0.5, "state": "OR", "vip": True, "time": 7, "Price (EUR)": 1.5, "größe": 2}
    python = {"int": int, "float": float, "string": str, "bool": bool, "timestamp": Time}
    try:
        expression = parse(text, SCHEMA)
    except ExpressionRefusal:
        return
    assert type(Expression(text, {"time": 0}).outcome(row).value) is python[expression.type]
