"""Puts the bodies of helpers in place of their calls, in source text.

A compiled call that takes arrays passes nine words for each and counts references; for work of a few nanoseconds that is most of the time.
Every call that is a whole statement (`f(...)` or `x = f(...)`) of a known helper is replaced; calls inside expressions stay, so helpers
over
scalars are used there. A helper may return early, but not from within a loop of its own.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Mapping


class CannotInline(ValueError):
    """A helper or call has a form that the inliner does not know."""


def inline_calls(function: ast.FunctionDef, helpers: Mapping[str, ast.FunctionDef]) -> ast.FunctionDef:
    """`function` with all statement calls of `helpers` replaced, also those within them."""
    numbers = itertools.count()
    function = copy.deepcopy(function)
    function.body = _block(function.body, helpers, numbers)
    return ast.fix_missing_locations(function)


def _block(statements: list[ast.stmt], helpers: Mapping[str, ast.FunctionDef], numbers: itertools.count[int]) -> list[ast.stmt]:
    done: list[ast.stmt] = []
    for statement in statements:
        call, target = _call_of(statement)
        if call is not None and isinstance(call.func, ast.Name) and call.func.id in helpers:
            done += _block(_expanded(helpers[call.func.id], call, target, next(numbers)), helpers, numbers)
            continue
        for field in ("body", "orelse"):
            if isinstance(getattr(statement, field, None), list):
                setattr(statement, field, _block(getattr(statement, field), helpers, numbers))
        done.append(statement)
    return done


def _call_of(statement: ast.stmt) -> tuple[ast.Call | None, ast.expr | None]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value, None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.Call):
        return statement.value, statement.targets[0]
    return None, None


def _expanded(helper: ast.FunctionDef, call: ast.Call, target: ast.expr | None, number: int) -> list[ast.stmt]:
    """The helper's body with its names made unique, its parameters replaced by the arguments, and its returns turned into assignments."""
    parameters = [argument.arg for argument in helper.args.args]
    if len(parameters) != len(call.args) or call.keywords:
        raise CannotInline(f"call of {helper.name} in line {call.lineno} has {len(call.args)} plain arguments; it takes {len(parameters)}")
    body = copy.deepcopy(helper.body)
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # the docstring
    assigned = {
        node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names: dict[str, ast.expr] = {name: ast.Name(f"{name}_{number}") for name in assigned}
    before: list[ast.stmt] = []
    for parameter, argument in zip(parameters, call.args, strict=True):
        if isinstance(argument, ast.Name) and parameter not in assigned:
            names[parameter] = argument
        else:
            names[parameter] = ast.Name(f"{parameter}_{number}")
            before.append(ast.Assign([ast.Name(f"{parameter}_{number}", ast.Store())], argument))
    body = [_Rename(names).visit(statement) for statement in body]
    if not any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement)):
        return before + body
    if isinstance(body[-1], ast.Return) and sum(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement)) == 1:
        return before + body[:-1] + _result(body[-1], target)
    once = [line for statement in body for line in _without_returns(statement, target, helper.name)]
    return [*before, ast.While(ast.Constant(True), [*once, ast.Break()], [])]


def _result(statement: ast.Return, target: ast.expr | None) -> list[ast.stmt]:
    if target is None or statement.value is None:
        return []
    return [ast.Assign([copy.deepcopy(target)], statement.value)]


def _without_returns(statement: ast.stmt, target: ast.expr | None, name: str) -> list[ast.stmt]:
    if isinstance(statement, ast.Return):
        return [*_result(statement, target), ast.Break()]
    if isinstance(statement, ast.If):
        statement.body = [line for inner in statement.body for line in _without_returns(inner, target, name)]
        statement.orelse = [line for inner in statement.orelse for line in _without_returns(inner, target, name)]
    elif any(isinstance(node, ast.Return) for node in ast.walk(statement)):
        raise CannotInline(f"{name} returns from within a loop (line {statement.lineno}); leave the loop first")
    return [statement]


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        replacement = copy.deepcopy(self.names[node.id])
        if isinstance(replacement, ast.Name):
            replacement.ctx = node.ctx
        return replacement
