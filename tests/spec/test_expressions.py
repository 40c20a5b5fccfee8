"""What the expression language refuses, with the column at which it happens, and how it types what it takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec import ExpressionRefusal, RecordSchema, parse

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
    "__import__('os').system('ls') == 0": ("not_allowed", 1, ["this call", "abs, min, max"]),
    "open('x') == 1": ("not_allowed", 1, ["open()", "abs, min, max"]),
    "mix(id, 2) > 0": ("not_allowed", 1, ["mix()", "did you mean 'min'"]),
    "abs(id, 2) > 0": ("wrong_arguments", 1, ["abs() has 2", "exactly one"]),
    "max(id) > 0": ("wrong_arguments", 1, ["max() has 1", "two or more"]),
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
    "state in ('OR', state)": ("not_allowed", 17, ["constants only"]),
    "id in (1, 'OR')": ("type_mismatch", 11, ["'id' is an int", "'OR' is a string"]),
    "1 < id in (1, 2)": ("not_allowed", 11, ["chain"]),
    "state + 1 > 0": ("type_mismatch", 1, ["'+'", "'state' is a string"]),
    "id + vip > 0": ("type_mismatch", 6, ["'vip' is a bool"]),
    "state < 'OR'": ("type_mismatch", 1, ["'<'", "'state' is a string", "== and !="]),
    "state == 3": ("type_mismatch", 1, ["'state' is a string", "3 is an int"]),
    "vip == 1": ("type_mismatch", 1, ["'vip' is a bool"]),
    "time == price": ("type_mismatch", 1, ["'time' is a timestamp"]),
    "time * 2 > time": ("type_mismatch", 1, ["'*'", "timestamp and int"]),
    "time + time > time": ("type_mismatch", 1, ["'+'"]),
    "price // 2 > 1": ("type_mismatch", 1, ["'//'", "use '/'"]),
    "-state == 'a'": ("type_mismatch", 1, ["'-'", "'state' is a string"]),
    "not id": ("type_mismatch", 5, ["'not'", "'id' is an int"]),
    "vip and id": ("type_mismatch", 9, ["'and'", "'id' is an int"]),
    "1 if id else 2": ("type_mismatch", 6, ["'if'", "'id' is an int"]),
    "1 if vip else 'a'": ("type_mismatch", 1, ["int or string", "one type"]),
    "max(time, id) > 0": ("type_mismatch", 1, ["max()", "timestamps with int"]),
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
    ],
)
def test_types(text, type, fields):
    expression = parse(text, SCHEMA)
    assert (expression.type, expression.fields) == (type, fields)


def test_a_field_named_like_a_word_of_the_language():
    schema = RecordSchema.of(true="int", min="int", record="int")
    row = {"true": 5, "min": 2, "record": 3}
    assert parse("min(true, record) + min", schema).evaluate(row) == 5
    assert parse("record['true']", schema).evaluate(row) == 5


words = st.sampled_from(
    ["id", "price", "state", "vip", "time", "record", "(", ")", "[", "]", ",", "1", "0.5", "'OR'", "-", "not", "and", "or"]
)
signs = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "<", ">=", "==", "in", "if", "else", "abs(", "max(", ".", ":", "lambda", "=", "\n", "\\", "'", "#"]
)


@given(st.lists(words | signs, max_size=14).map(" ".join) | st.text(max_size=40))
@settings(max_examples=500, deadline=None, derandomize=True)
def test_any_text_is_typed_or_refused(text):
    """Nothing but a refusal ever comes out of the parser, and what it takes can be evaluated."""
    row = {"id": 3, "price": 0.5, "state": "OR", "vip": True, "time": 7, "Price (EUR)": 1.5, "größe": 2}
    python = {"int": int, "float": float, "string": str, "bool": bool, "timestamp": int}
    try:
        expression = parse(text, SCHEMA)
    except ExpressionRefusal:
        return
    assert type(expression.evaluate(row)) is python[expression.type]
