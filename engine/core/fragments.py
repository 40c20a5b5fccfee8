"""Assembles a long kernel from fragments, so that each of them can be read as a whole.

A template is a package with a function `advance`; a *fragment* is any function without arguments in a module of that package. A line

    name()

of `advance` or of a fragment is replaced by the lines of the fragment `name`. So fragments share the variables of `advance`, and their
`return` leaves it. If their `break` or `continue` refers to a loop around that line, the fragment's body is inside `while IN_LOOP:`, which
is removed. A fragment can be named several times; every fragment must be named somewhere.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.core.syntax import parsed

IN_LOOP = True
"""In fragments: `while IN_LOOP:` stands for the loop in which the fragment is named."""

NAMED = re.compile(r"(?P<indent> *)(?P<name>\w+)\(\) *(#.*)?")


@dataclass(frozen=True)
class Line:
    """A line of a template. place: its location, for messages."""

    text: str
    place: str


@dataclass(frozen=True)
class Template:
    """A template with its fragments inserted. lines: its text. fragments: the original lines of each. space: the objects that its names
    refer to. variables: those of `advance`."""

    lines: tuple[Line, ...]
    fragments: tuple[tuple[Line, ...], ...]
    space: dict[str, Any]
    variables: tuple[str, ...]


@functools.cache
def assembled(template: ModuleType) -> Template:
    """The template with its fragments inserted.

    Raises ValueError for a fragment that does not exist, is named nowhere, contains itself, takes arguments, or exists twice, and for a
    name that means different things in two modules.
    """
    modules = _modules(template)
    fragments: dict[str, tuple[Line, ...]] = {}
    space: dict[str, Any] = {}
    for module in (*modules, template):
        if module is not template:
            for name, lines in _fragments(module):
                if name in fragments:
                    raise ValueError(f"{lines[0].place}: another fragment is also named '{name}'; rename one of them")
                fragments[name] = lines
        for name, value in vars(module).items():
            if not name.startswith("__") and space.setdefault(name, value) is not value:
                raise ValueError(f"'{name}' means something else in {module.__name__} than in another module of its template")
    text = inspect.getsource(template).splitlines()
    used: set[str] = set()
    lines = tuple(_with_fragments([Line(line, f"line {n} of the template") for n, line in enumerate(text, 1)], fragments, used, ()))
    if unused := sorted(fragments.keys() - used):
        raise ValueError(f"{fragments[unused[0]][0].place}: nothing names the fragment '{unused[0]}'; name it, or delete it")
    return Template(lines, tuple(fragments.values()), space | vars(template), _variables(lines))


def _modules(template: ModuleType) -> list[ModuleType]:
    if not hasattr(template, "__path__"):
        return []
    names = sorted(found.name for found in pkgutil.iter_modules(template.__path__))
    return [importlib.import_module(f"{template.__name__}.{name}") for name in names]


def _fragments(module: ModuleType) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """The fragments of a module by name: the lines of each after its docstring, without indentation."""
    source = inspect.getsource(module)
    text = source.splitlines()
    file = Path(module.__file__ or module.__name__).name
    for node in parsed(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        place = f"line {node.lineno} of {file}"
        if ast.unparse(node.args):
            raise ValueError(f"{place}: the fragment '{node.name}' takes arguments; it shares the variables of 'advance' instead")
        first, *others = node.body
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            begin = first.end_lineno or 0
            if others:
                first, *others = others
        else:
            begin = node.lineno
        indent = 4
        if isinstance(first, ast.While) and ast.unparse(first.test) == "IN_LOOP":
            if others:
                raise ValueError(f"line {others[0].lineno} of {file}: 'while IN_LOOP' must contain the whole fragment '{node.name}'")
            begin = first.lineno
            indent = 8
        end = begin
        while end < len(text) and (not text[end] or text[end].startswith(" ")):  # including comments after the last statement
            end += 1
        yield node.name, tuple(Line(text[n][indent:], f"line {n + 1} of {file}") for n in range(begin, end))


def _with_fragments(
    lines: list[Line] | tuple[Line, ...], fragments: dict[str, tuple[Line, ...]], used: set[str], around: tuple[str, ...]
) -> Iterator[Line]:
    for line in lines:
        named = NAMED.fullmatch(line.text)
        if named is None:
            yield line
            continue
        indent, name = named["indent"], named["name"]
        if name not in fragments:
            raise ValueError(f"{line.place}: there is no fragment '{name}'; it must be one of {', '.join(sorted(fragments))}")
        if name in around:
            raise ValueError(f"{line.place}: the fragment '{name}' contains itself")
        used.add(name)
        for inner in _with_fragments(fragments[name], fragments, used, (*around, name)):
            yield Line(indent + inner.text if inner.text else "", inner.place)


def _variables(lines: tuple[Line, ...]) -> tuple[str, ...]:
    module = compile("\n".join(line.text for line in lines), "<template>", "exec")
    return next((part.co_varnames for part in module.co_consts if getattr(part, "co_name", None) == "advance"), ())
