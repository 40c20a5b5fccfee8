"""Expressions on many records at once give the words of the compiled programs, on random ones and rows. Catches: integers that do not wrap,
divisions by zero, NaN, conversions, constants that are no text of the run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec.expressions.columns import NotByColumn, evaluate
from engine.spec.expressions.parser import parse
from engine.workloads import Strings
from tests.support.expressions import SCHEMA, Row, expressions, rows, run, word


@given(text=expressions, given_rows=st.lists(rows, min_size=1, max_size=4))
@settings(deadline=None, derandomize=True)
def test_columns_have_the_words_of_the_machine(text: str, given_rows: list[Row]) -> None:
    found = run(text, SCHEMA, given_rows, "compiled")
    strings = found[0][2]

    def field(name: str) -> np.ndarray:
        return np.array([word(row[name], strings) for row in given_rows], np.int64)

    try:
        words = evaluate(parse(text, SCHEMA).tree, field, strings)
    except NotByColumn:
        return
    assert np.broadcast_to(words, len(given_rows)).tolist() == [value for value, _, _ in found]


def test_what_only_programs_have_is_named() -> None:
    for text, name in (("lower(s) == 'a'", "lower"), ("year(u) == 1970", "year")):
        with pytest.raises(NotByColumn, match=name):
            evaluate(parse(text, SCHEMA).tree, lambda name: np.zeros(1, np.int64), {})  # type: ignore[arg-type]


def test_constants_that_are_no_text_of_the_run_equal_themselves_alone() -> None:
    known = Strings(["a"])

    def words(text: str) -> list[int]:
        field = {"s": np.array([known.code("a")] * 2), "a": np.array([1, 2])}
        return np.broadcast_to(evaluate(parse(text, SCHEMA).tree, field.__getitem__, known), 2).tolist()  # type: ignore[no-any-return]

    assert words("('x' if a == 1 else 'y') == 'x'") == [1, 0]
    assert words("('x' if a == 1 else 'y') in ('y', 'z')") == [0, 1]
    assert words("('x' if a == 1 else s) == s") == [0, 1]
    assert len(known) == 1
    assert all(word < 0 for word in words("'x' if a == 1 else 'y'"))
