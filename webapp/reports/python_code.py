"""Documents as Python code for a notebook, and such code as documents again. Code is parsed, never executed."""

from __future__ import annotations

import ast
import keyword
import math
import textwrap
from typing import Any, NoReturn

from engine.core.syntax import parsed
from engine.spec import Experiment
from engine.spec.experiment.brief import without_defaults
from engine.spec.experiment.document import outline_problems

WIDTH = 110  # characters of a line
INDENT = 4
RESULT = "document"
VARIABLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", ("name",)),
    ("description", ("description",)),
    ("seed", ("workload", "seed")),
    ("horizon_s", ("workload", "horizon_s")),
    ("operators", ("query", "operators")),
    ("edges", ("query", "edges")),
    ("hosts", ("cluster", "hosts")),
    ("region_links", ("cluster", "region_links")),
    ("sources", ("workload", "sources")),
    ("placement", ("placement",)),
    ("policies", ("policies",)),
    ("faults", ("faults",)),
    ("positions", ("ui", "positions")),
)
"""The parts of a document that get a variable, in the order in which they are written, with their path."""
CHANGED_OFTEN = (("workload", "seed"), ("workload", "horizon_s"))
"""Written even if they equal their defaults, so that they can be changed in their place."""
PROLOGUE = "import millrace\n\n"
EPILOGUE = "lab = millrace.connect()\nrun = lab.submit(document).wait()\nrun.digest\n"
AROUND = (PROLOGUE + EPILOGUE).splitlines()
"""The lines around the document, which say nothing about it."""
CODE_LENGTH_MAX = 300_000  # characters; Python's parser takes up to 500 bytes for each, and 1,000 operators are half of it
ONLY_OURS = "only documents as Millrace writes them can be pasted"


class NotOurs(Exception):
    """The code is not a document as `write` writes it. The message names the line and what is wrong there."""


# --- writing ------------------------------------------------------------------------------------------------------------------------------


class _Variable(str):
    """The name of a variable in place of a value."""


def write(document: dict[str, Any], experiment: Experiment | None) -> str:
    """Return Python code that builds the document and runs it through the client package.

    experiment: the document, validated; what equals a default is then left out. None for a document with errors, which is written whole.
    """
    brief = without_defaults(document, experiment) if experiment else document
    parts, body = [PROLOGUE], brief
    for variable, path in VARIABLES:
        value = _at(document if path in CHANGED_OFTEN else brief, path)
        if value is not None:
            parts.append(f"{variable} = {_literal(value, len(variable) + 3, 0, spread=True)}\n")
            body = _with(body, path, _Variable(variable))
    parts.append(f"\n{RESULT} = {_literal(body, WIDTH, 0, spread=True)}\n")
    return "".join([*parts, "\n", EPILOGUE])


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def _with(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {**tree, path[0]: _with(tree.get(path[0], {}), path[1:], value) if len(path) > 1 else value}


def _literal(value: Any, column: int, indent: int, spread: bool = False) -> str:
    """Return the value as code. column: where it begins in its line. spread: lists and mappings of mappings have a line for each item."""
    line = _one_line(value)
    short = column + len(line) < WIDTH
    if isinstance(value, list | dict) and value:
        items = value.values() if isinstance(value, dict) else value
        if short and not (spread and any(isinstance(item, dict) for item in items)):
            return line
        opening, closing = _brackets(value)
        inner = " " * (indent + INDENT)
        keys = [_key(key, value) for key in value] if isinstance(value, dict) else [""] * len(value)
        lines = [
            f"{inner}{key}{_literal(item, indent + INDENT + len(key) + 1, indent + INDENT)}," for key, item in zip(keys, items, strict=True)
        ]
        return "\n".join([opening, *lines, " " * indent + closing])
    if isinstance(value, str) and not isinstance(value, _Variable) and not short:
        return _wrapped(value, indent)
    return line


def _one_line(value: Any) -> str:
    if isinstance(value, _Variable):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_one_line, value))}]"
    if isinstance(value, dict):
        opening, closing = _brackets(value)
        return f"{opening}{', '.join(f'{_key(key, value)}{_one_line(item)}' for key, item in value.items())}{closing}"
    return repr(value)


def _is_call(mapping: dict[str, Any]) -> bool:
    """Whether the mapping can be written as `dict(key=...)`."""
    return bool(mapping) and all(key.isidentifier() and not keyword.iskeyword(key) and key.isascii() for key in mapping)


def _brackets(value: Any) -> tuple[str, str]:
    return ("[", "]") if isinstance(value, list) else ("dict(", ")") if _is_call(value) else ("{", "}")


def _key(key: str, mapping: dict[str, Any]) -> str:
    return f"{key}=" if _is_call(mapping) else f"{_text(key)}: "


def _text(text: str) -> str:
    """Return a text as a literal, in double quotes where that needs no escape. Invisible characters are escaped."""
    return repr(text) if '"' in text else f'"{repr(chr(39) + text)[2:-1]}"'


def _wrapped(text: str, indent: int) -> str:
    """Return a long text as adjacent literals in parentheses, broken between words."""
    inner = " " * (indent + INDENT)
    wrapper = textwrap.TextWrapper(WIDTH - len(inner) - 2, expand_tabs=False, replace_whitespace=False, drop_whitespace=False)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    pieces = wrapper.wrap(text)
    return "\n".join(["(", *(f"{inner}{_text(piece)}" for piece in pieces), " " * indent + ")"]) if len(pieces) > 1 else _text(text)


# --- reading ------------------------------------------------------------------------------------------------------------------------------


def read(code: str) -> dict[str, Any]:
    """Return the document that code in the form of `write` builds. Raises NotOurs.

    Names, numbers and texts may have changed, and variables may be new: literals, `dict(key=...)` and variables assigned above are read.
    """
    if len(code) > CODE_LENGTH_MAX:
        raise NotOurs(
            f"the text has {len(code):,} characters; at most {CODE_LENGTH_MAX:,} are read as Python, so paste YAML or JSON instead"
        )
    try:
        document = _assigned(parsed(code).body, code.splitlines())
    except SyntaxError as error:
        raise NotOurs(f"line {error.lineno or 1} is not Python: {error.msg}; {ONLY_OURS}") from None
    except (ValueError, MemoryError, RecursionError):
        raise NotOurs(f"the text cannot be parsed as Python; {ONLY_OURS}") from None
    if not isinstance(document, dict):
        raise NotOurs(f"the text does not assign a mapping to the variable '{RESULT}'; {ONLY_OURS}")
    problems = outline_problems(document)
    if problems:
        raise NotOurs(f"the document cannot be read: {problems[0].message}")
    return document


def _assigned(statements: list[ast.stmt], lines: list[str]) -> Any:
    """Return the value of the variable `document`, None if it is not assigned."""
    variables: dict[str, Any] = {}
    for statement in statements:
        match statement:
            case _ if lines[statement.lineno - 1] in AROUND:
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                variables[name] = _value(value, variables)
            case _:
                _refuse(statement)
    return variables.get(RESULT)


def _value(node: ast.expr, variables: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=str() | int() | None) | ast.Constant(value=float()):
            if isinstance(node.value, float) and not math.isfinite(node.value):
                raise NotOurs(f"line {node.lineno} has a number that is too large; the largest is about 1.8e308")
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if not isinstance(number, bool):
            return -_value(node.operand, variables)
        case ast.List(elts=items):
            return [_value(item, variables) for item in items]
        case ast.Dict(keys=keys, values=values):
            return _mapping(node, [key.value if isinstance(key, ast.Constant) else None for key in keys], values, variables)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return _mapping(node, [one.arg for one in keywords], [one.value for one in keywords], variables)
        case ast.Name(id=name) if name in variables:
            return variables[name]
    _refuse(node)


def _mapping(node: ast.expr, keys: list[Any], values: list[ast.expr], variables: dict[str, Any]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if not isinstance(key, str):
            raise NotOurs(f"line {node.lineno} has a mapping with a key that is not a text; {ONLY_OURS}")
        if key in mapping:
            raise NotOurs(f"line {value.lineno} gives '{key[:80]}' twice in one mapping; keep one")
        mapping[key] = _value(value, variables)
    return mapping


def _refuse(node: ast.stmt | ast.expr) -> NoReturn:
    """Raise NotOurs: what the line does instead of giving a value."""
    match node:
        case ast.Expr(value=ast.Call() as call) | (ast.Call() as call):
            does = f"calls {_called(call.func)}()"
        case ast.Import(names=[ast.alias(name=name), *_]):
            does = f"imports {name[:80]}"
        case ast.ImportFrom(module=name):
            does = f"imports from {(name or '.')[:80]}"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            does = f"defines {name[:80]}"
        case ast.Name(id=name):
            does = f"uses {name[:80]}, which no line above it assigns"
        case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare():
            does = "calculates a value; write the result"
        case ast.Constant():
            does = "has a value that no document has; write a text, a number, True, False or None"
        case ast.JoinedStr():
            does = "has an f-string; write the text"
        case ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.GeneratorExp() | ast.For() | ast.While() | ast.AsyncFor():
            does = "has a loop; write its results"
        case _:
            does = f"has {type(node).__name__.lower()}"
    raise NotOurs(f"line {node.lineno} {does}: {ONLY_OURS}")


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name):
            return name[:80]
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return f"{name[:80]}.{attribute[:80]}"
        case ast.Attribute(attr=attribute):
            return attribute[:80]
    return "a function"
