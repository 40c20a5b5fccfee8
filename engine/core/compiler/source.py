"""Kernels as they are written: their syntax trees, the constants that they use, and the kernels that they call."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any, TypeVar

from engine.core.syntax import parsed

from .problem import CannotCompile

FAULT_WORDS = 4
"""Where indices are checked: address of a text that names the first place that went wrong, its index, the size; a word to use instead."""

Function = TypeVar("Function", bound=Callable[..., Any])
Signature = tuple[Any, ...]
"""For each argument: None for a word, (type, dimensions) for a table, ((name, type, dimensions), ...) for a tuple of tables."""


class Wrapped:
    """A kernel that Python can call (`kernel.Compiled`). function: as it is written."""

    function: Callable[..., Any]


def rare(function: Function) -> Function:
    """Marks a kernel that is called rarely, or from many places: it stands once in the machine code and is called."""
    function.rare = True  # type: ignore[attr-defined]
    return function


def prefetch(table: Any, *index: int) -> None:
    """In kernels: an element of the table will be wanted soon, so the processor may fetch it. It need not be there."""


def is_called(kernel: Callable[..., Any], called: Collection[Callable[..., Any]]) -> bool:
    return kernel in called or getattr(kernel, "rare", False)


def reachable(function: Callable[..., Any]) -> list[FunctionType]:
    """The kernel and all that it calls, each once."""
    found: dict[FunctionType, None] = {}
    waiting = [plain(function)]
    while waiting:
        kernel = waiting.pop()
        if kernel not in found:
            found[kernel] = None
            waiting += [plain(value) for value in named(kernel).values() if isinstance(value, FunctionType | Wrapped)]
    return list(found)


def constants(kernel: FunctionType) -> list[tuple[str, int | float]]:
    """Module-level numbers that the kernel uses, by name."""
    return sorted((name, value) for name, value in named(kernel).items() if isinstance(value, int | float))


def plain(function: Any) -> FunctionType:
    """The Python function behind a kernel. Raises CannotCompile."""
    function = function.function if isinstance(function, Wrapped) else function
    if not isinstance(function, FunctionType):
        raise CannotCompile(f"{function!r} is no function written in Python, so it cannot be a kernel")
    if function.__closure__:
        raise CannotCompile(f"kernel {function.__name__} uses variables of the function around it; use module-level constants")
    return function


def syntax(node: ast.FunctionDef) -> str:
    """The function without its name, comments and docstring, in one form however it is laid out."""
    return ast.dump(node.args) + "".join(ast.dump(part) for part in node.body if not is_text(part))


def is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def source_text(kernel: FunctionType) -> str:
    """The text of the file in which the kernel stands. Raises CannotCompile where there is none."""
    name = kernel.__code__.co_filename
    linecache.checkcache(name)
    lines = linecache.getlines(name, kernel.__globals__)
    if not lines:
        raise CannotCompile(f"the source of kernel {kernel.__name__} ({name}) is not there; kernels stand in files or notebook cells")
    return "".join(lines)


@functools.lru_cache(maxsize=64)
def _definitions(text: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line."""
    functions = [node for node in ast.walk(parsed(text)) if isinstance(node, ast.FunctionDef)]
    return {(node.name, min([node.lineno, *(part.lineno for part in node.decorator_list)])): node for node in functions}


def definition(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function. Raises CannotCompile."""
    found = _definitions(source_text(function)).get((function.__name__, function.__code__.co_firstlineno))
    if found is None:
        place = function.__code__.co_filename
        raise CannotCompile(f"kernel {function.__name__} is not in {place} any more; was the file changed meanwhile?")
    return found


def named(kernel: FunctionType) -> dict[str, Any]:
    """What the kernel names of its module, by name."""
    names = kernel.__code__.co_names
    return {name: kernel.__globals__[name] for name in names if name in kernel.__globals__}
