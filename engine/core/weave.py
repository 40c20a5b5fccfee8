"""Completes the loop with the kernels of operators and protocols, as one flat module, and compiles it.

Why text: numba's disk cache goes stale when a callee in another file changes, and never hits for closures over compiled functions. One flat file
whose name is the hash of its content has neither fault, compiles once per machine, and can be read and stepped through (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import os
import re
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from . import expression_machine, layout, loop, tools

POINTS = ("on_record", "on_watermark", "on_tick", "next_tick")
"""Points that operators provide kernels for; the loop's local variables of the same names are their arguments."""

HOOKS = {"on_send": "size += {call}", "on_receive": "extra_ps += {call}"}
"""Points that a per-message protocol provides kernels for. on_send returns additional bytes, on_receive additional picoseconds.

on_receive may be called again for the same message when the loop hands back for space before serving it, so it must be idempotent until
the message is served. Without a protocol the points leave no trace in the compiled loop.
"""

_RESULT = {"on_record": "n = {call}", "on_watermark": "n = {call}", "on_tick": "n = {call}", "next_tick": "following = {call}"}


def call_of(function: Callable[..., Any]) -> str:
    return f"{function.__name__}({', '.join(inspect.signature(function).parameters)})"


def _definitions(module: ModuleType) -> str:
    """Upper-case constants and all functions of a module, as text without imports and docstrings' annotations."""
    tree = ast.parse(inspect.getsource(module))
    kept = [node for node in tree.body if isinstance(node, ast.FunctionDef) or _is_constant(node)]
    return "\n\n".join(ast.unparse(_plain(node)) for node in kept)


def _is_constant(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(n, ast.Name) and n.id.isupper() for n in names) and not _mentions_objects(node.value)


def _mentions_objects(value: ast.expr) -> bool:
    return any(isinstance(n, ast.Dict | ast.Attribute) for n in ast.walk(value))


def _plain(node: ast.stmt) -> ast.stmt:
    """Without annotations: the names they use are not part of the flat module."""
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        for argument in [*node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
    return node


def _kernel_module(operators: Mapping[str, Any]) -> list[ModuleType]:
    modules: list[ModuleType] = []
    for operator in operators.values():
        module = inspect.getmodule(operator)
        if module is not None and any(hasattr(operator, point) for point in POINTS) and module not in modules:
            modules.append(module)
    return modules


def _kernels(module: ModuleType) -> str:
    """Constants and kernels of an operator's file: its module-level functions, not its class."""
    return _definitions(module)


def weave(operators: Mapping[str, Any], protocol: Any = None) -> str:
    """The text of the complete loop. Operator codes are their positions in `operators`."""
    lines = []
    codes = {kind: number for number, kind in enumerate(operators)}
    for line in inspect.getsource(loop).splitlines():
        point = re.match(r"( *)# WEAVE (\w+)$", line)
        if point is None:
            lines.append(line)
            continue
        indent, name = point.group(1), point.group(2)
        if name in HOOKS:
            hook = getattr(protocol, name, None)
            if hook is not None:
                lines.append(indent + HOOKS[name].format(call=call_of(hook)))
            continue
        word = "if"
        for kind, operator in operators.items():
            function = getattr(operator, name, None)
            if function is not None:
                lines.append(f"{indent}{word} op[inst[i, I_OP], O_CODE] == {codes[kind]}:")
                lines.append(f"{indent}    {_RESULT[name].format(call=call_of(function))}")
                word = "elif"
    body = "\n".join(line for line in lines if not line.startswith(("import ", "from ")))
    protocol_text = "" if protocol is None else _definitions(inspect.getmodule(protocol))  # type: ignore[arg-type]
    parts = [
        '"""Made by engine/core/weave.py; the name is the hash of the content."""',
        "import numba\nimport numpy as np",
        _definitions(layout),
        _definitions(expression_machine).replace("STACK_WORDS", "STACK_WORDS"),
        _definitions(tools),
        *(_kernels(module) for module in _kernel_module(operators)),
        protocol_text,
        body,
    ]
    text = "\n\n\n".join(part for part in parts if part)
    return re.sub(r"^def (\w+)", r"@numba.njit(cache=True, nogil=True, error_model='numpy')\ndef \1", text, flags=re.MULTILINE)


def cache_directory() -> Path:
    """Where woven modules and their compiled forms are kept: MILLRACE_KERNELS, else the user's cache, else the temporary directory."""
    choices = [os.environ.get("MILLRACE_KERNELS"), os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~/.cache"), tempfile.gettempdir()]
    for choice in choices:
        if not choice:
            continue
        path = Path(choice) / "millrace-kernels"
        try:
            path.mkdir(parents=True, exist_ok=True)
            if os.access(path, os.W_OK):
                return path
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="millrace-kernels-"))


def load(text: str) -> ModuleType:
    """Import a woven text as a module from the cache directory, writing it there first if need be."""
    name = "loop_" + hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
    path = cache_directory() / f"{name}.py"
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)  # never rewritten, so numba's cache of it stays valid
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def kernel(protocol: Any = None) -> ModuleType:
    """The compiled loop of all operator kinds (and of one per-message protocol)."""
    operators = importlib.import_module("engine.operators").OPERATORS
    return load(weave(operators, protocol))


def operator_codes() -> Sequence[str]:
    return tuple(importlib.import_module("engine.operators").OPERATORS)
