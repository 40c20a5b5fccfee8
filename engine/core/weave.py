"""Completes the loop with the kernels of operators and protocols, as one flat module, and compiles it.

Why text: numba's disk cache goes stale when a callee in another file changes, and never hits for closures over compiled functions. One flat
file whose name is the hash of its content has neither fault, compiles once per machine, and can be stepped through (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from . import bulk, expression_machine, layout, loop, tools
from .inline import inline_calls

JIT = "cache=True, nogil=True, error_model='numpy', pipeline_class=LoopCompiler"
SCALAR = ("mix64", "group_of", "latency_bucket", "ring_before", "entry_bucket")
"""Helpers over scalars: they may be called within expressions. All others are put in place of their calls."""

HEAD = """import numba
import numpy as np

from engine.core.compiler import LoopCompiler

U64 = np.uint64"""

FLAT = {
    "inst": layout.I_COLUMNS,
    "proc": layout.P_COLUMNS,
    "host": layout.H_COLUMNS,
    "op": layout.O_COLUMNS,
    "edge": layout.E_COLUMNS,
    "chan": layout.C_COLUMNS,
    "pane": layout.W_COLUMNS,
    "notes": layout.N_COLUMNS,
}
"""Tables that the loop gets as flat arrays, with their widths."""

POINTS = ("on_record", "on_close", "next_tick")
"""Points that operators provide kernels for; the loop's local variables of the same names are their arguments."""

HOOKS = {"on_send": ("more_bytes", "size += more_bytes"), "on_receive": ("more_ps", "extra_ps += more_ps")}
"""Points that a per-message protocol provides kernels for. on_send returns additional bytes, on_receive additional picoseconds.

Both are called exactly once for a record: on_send when it leaves, numbered, on each channel; on_receive when its service starts, after the
operator's work. Without a protocol the points leave no trace in the compiled loop.
"""

_RESULT = {"on_record": "n = {call}", "on_close": "n = {call}", "next_tick": "following = {call}"}


def call_of(function: Callable[..., Any]) -> str:
    return f"{function.__name__}({', '.join(inspect.signature(function).parameters)})"


def _definitions(module: ModuleType) -> tuple[list[str], dict[str, ast.FunctionDef]]:
    """Upper-case constants (as text) and functions of a module, without imports and classes."""
    constants: list[str] = []
    functions: dict[str, ast.FunctionDef] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = _plain(node)
        elif _is_constant(node):
            constants.append(ast.unparse(node))
    return constants, functions


def _is_constant(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(n, ast.Name) and n.id.isupper() for n in names) and not _mentions_objects(node.value)


def _names(text: str) -> list[str]:
    """Names that an assignment of constants defines."""
    return [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _mentions_objects(value: ast.expr) -> bool:
    return any(isinstance(n, ast.Dict | ast.Attribute) for n in ast.walk(value))


def _plain(node: ast.FunctionDef) -> ast.FunctionDef:
    """Without annotations: the names they use are not part of the flat module."""
    node.returns = None
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        argument.annotation = None
    return node


class _Address(ast.NodeTransformer):
    """Cheap addresses: tables of fixed width become flat arrays with a literal stride, and every index is unsigned.

    Numba tests each signed index for being negative and multiplies with a stride from memory; the loop has a hundred accesses for each
    record.
    """

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        if isinstance(node.value, ast.Attribute):  # array.shape[0]
            return node
        index = node.slice
        if isinstance(node.value, ast.Name) and node.value.id in FLAT:
            assert isinstance(index, ast.Tuple)
            row = ast.BinOp(index.elts[0], ast.Mult(), ast.Constant(FLAT[node.value.id]))
            node.slice = _unsigned(ast.BinOp(row, ast.Add(), index.elts[1]))
        elif isinstance(index, ast.Tuple):
            index.elts = [_unsigned(part) for part in index.elts]
        else:
            node.slice = _unsigned(index)
        return node


def _unsigned(index: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("U64"), [index], [])


class _Literal(ast.NodeTransformer):
    """Names of integer constants become their values: the compiler has a third less to look at."""

    def __init__(self, constants: Sequence[str]):
        self.values: dict[str, Any] = {}
        exec("\n".join(constants), self.values)  # assignments of this package's own modules, chosen by `_is_constant`

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get(node.id)
        return ast.Constant(value) if isinstance(value, int) and node.id.isupper() else node


class _Widen(ast.NodeTransformer):
    """`x = 7` becomes `x = np.int64(7)`: a variable then has one type from its first assignment on, and the compiler needs no SSA form."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if isinstance(node.targets[0], ast.Name) and _is_literal(node.value):
            kind = "bool_" if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool) else "int64"
            node.value = ast.Call(ast.Attribute(ast.Name("np"), kind), [node.value], [])
        return node


def _is_literal(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return _is_literal(value.operand)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id.isupper())


def _kernel_modules(operators: Mapping[str, Any]) -> list[ModuleType]:
    """Files of the operators that have kernels, each once."""
    modules: dict[str, ModuleType] = {}
    for operator in operators.values():
        module = inspect.getmodule(operator)
        if module is not None and any(hasattr(operator, point) for point in POINTS):
            modules[module.__name__] = module
    return list(modules.values())


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
                result, use = HOOKS[name]
                lines += [f"{indent}{result} = {call_of(hook)}", indent + use]
            continue
        word = "if"
        for kind, operator in operators.items():
            function = getattr(operator, name, None)
            if function is not None:
                lines.append(f"{indent}{word} op[inst[i, I_OP], O_CODE] == {codes[kind]}:")
                lines.append(f"{indent}    {_RESULT[name].format(call=call_of(function))}")
                word = "elif"
    modules = [layout, expression_machine, tools, *_kernel_modules(operators)]
    if protocol is not None:
        modules.append(sys.modules[(protocol if isinstance(protocol, type) else type(protocol)).__module__])
    constants: list[str] = []
    functions: dict[str, ast.FunctionDef] = {}
    owner: dict[str, str] = {}
    for module in modules:
        more, kernels = _definitions(module)
        for name in [*kernels, *(name for text in more for name in _names(text))]:
            if owner.setdefault(name, module.__name__) != module.__name__:
                raise ValueError(
                    f"{module.__name__} and {owner[name]} both define {name}, and the woven loop has one name space; rename one"
                )
        constants += more
        functions |= kernels
    entry_points = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.FunctionDef)]
    return _flat_module(constants, functions, entry_points)


def _flat_module(constants: Sequence[str], functions: Mapping[str, ast.FunctionDef], entry_points: Sequence[ast.FunctionDef]) -> str:
    """The text of a module with the entry points, all their calls put in place."""
    helpers = {name: node for name, node in functions.items() if name not in SCALAR}
    literal = _Literal(constants)
    parts = ['"""Made by engine/core/weave.py; the name is the hash of the content."""', HEAD]
    parts += [f"@numba.njit({JIT}, forceinline=True)\n{ast.unparse(literal.visit(functions[name]))}" for name in SCALAR]
    for function in entry_points:
        complete: ast.AST = inline_calls(function, helpers)
        for step in (_Address(), _Widen(), literal):
            complete = step.visit(complete)
        parts.append(f"@numba.njit({JIT})\n{ast.unparse(complete)}")
    return "\n\n\n".join(parts)


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
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # numba's cache finds the functions' module by name
    spec.loader.exec_module(module)
    return module


@functools.cache
def kernel(protocol: Any = None) -> ModuleType:
    """The compiled loop of all operator kinds (and of one per-message protocol)."""
    operators = importlib.import_module("engine.operators").OPERATORS
    return load(weave(operators, protocol))


@functools.cache
def bulk_kernels() -> ModuleType:
    """The compiled work on whole tables: the same for every query."""
    constants, functions = _definitions(layout)
    for module in (tools,):
        more, kernels = _definitions(module)
        constants += more
        functions |= kernels
    return load(_flat_module(constants, functions, list(_definitions(bulk)[1].values())))


def operator_codes() -> Sequence[str]:
    return tuple(importlib.import_module("engine.operators").OPERATORS)
