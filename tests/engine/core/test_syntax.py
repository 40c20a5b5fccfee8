"""Parsing. Catches: a fault of Python's parser that fails a run, and an error of the text that is tried again."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from engine.core import syntax


@pytest.mark.parametrize("faults", [0, 1, 2])
def test_a_fault_of_the_parser_is_tried_again(monkeypatch: pytest.MonkeyPatch, faults: int) -> None:
    parse, left = ast.parse, [SystemError("AST constructor recursion depth mismatch (before=177, after=44)")] * faults

    def faulty(*arguments: Any, **named: Any) -> Any:
        if left:
            raise left.pop()
        return parse(*arguments, **named)

    monkeypatch.setattr(syntax.ast, "parse", faulty)
    assert ast.unparse(syntax.parsed("a + 1", "eval")) == "a + 1"


def test_what_stays_wrong_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SyntaxError):
        syntax.parsed("a +")
    tried = []
    monkeypatch.setattr(syntax.ast, "parse", lambda *_, **__: tried.append(1) or (_ for _ in ()).throw(SystemError("always")))
    with pytest.raises(SystemError):
        syntax.parsed("a")
    assert len(tried) == 3
