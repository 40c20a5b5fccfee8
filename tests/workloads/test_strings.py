"""The dictionary of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.workloads.strings import Strings


def test_codes_follow_the_order_of_first_registration():
    strings = Strings()
    assert strings.codes(["OR", "ID", "OR", "", "CA"]).tolist() == [0, 1, 0, 2, 3]
    assert strings.code("CA") == 3
    assert strings.texts([3, 0]) == ["CA", "OR"]
    assert len(strings) == 4
    assert "ID" in strings
    assert "WY" not in strings


@given(st.lists(st.text()))
def test_a_dictionary_comes_back_from_its_list(texts):
    strings = Strings(texts)
    again = Strings(strings.as_list())
    assert again.as_list() == strings.as_list() == list(dict.fromkeys(texts))
    assert again.codes(texts).tolist() == strings.codes(texts).tolist()


@pytest.mark.parametrize("code", [-1, 2])
def test_an_unknown_code_is_named(code):
    with pytest.raises(KeyError, match=f"string code {code} is unknown; codes are 0 .. 1"):
        Strings(["a", "b"]).text(code)
