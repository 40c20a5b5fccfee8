"""Predicates that cost models know: one comparison of a field with a constant."""

from __future__ import annotations

import ast
from typing import NamedTuple

from engine.core.syntax import parsed

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=", ast.NotEq: "!="}
TEXT_FUNCTIONS = ("startswith", "endswith", "contains")


class Comparison(NamedTuple):
    """function: as in `engine.costmodels.sampling.COMPARISONS`."""

    field: str
    function: str
    literal: int | float | str


def comparison(predicate: str) -> Comparison | None:
    """None if the predicate is anything else."""
    return _of(parsed(predicate.strip(), "eval").body)


def _of(node: ast.expr) -> Comparison | None:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _of(operand)
            if inner is None or inner.function not in TEXT_FUNCTIONS:
                return None
            return inner._replace(function=f"not {inner.function}")
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=field), ast.Constant(value=str(text))]) if name in TEXT_FUNCTIONS:
            return Comparison(field, name, text)
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in SIGNS:
            function = SIGNS[type(sign)]
            if isinstance(left, ast.Name) and (literal := _literal(right)) is not None:
                return Comparison(left.id, function, literal)
            if isinstance(right, ast.Name) and (literal := _literal(left)) is not None:
                return Comparison(right.id, MIRRORED[function], literal)
    return None


def _literal(node: ast.expr) -> int | float | str | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=(int() | float() | str()) as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=(int() | float()) as value)) if not isinstance(value, bool):
            return -value
    return None
