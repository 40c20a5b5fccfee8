"""Kernels as Python runs them (MILLRACE_COMPILE=0): line by line, with the numbers that machine code has.

A number of Python knows no end, and NumPy's numbers wrap and divide by zero as the processor does. So every number of a kernel becomes one
of NumPy's as soon as it appears: constants, arguments, shapes, steps of loops, conversions, truth values that are counted with. What is
worked out from them is right by itself. Lines and names stay those of the source, so that a debugger can step through them.
"""

from __future__ import annotations

import ast
import copy
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from .problem import CannotCompile
from .source import Wrapped, definition, named, plain

WORD_LEAST, WORD_MOST = -(1 << 63), (1 << 63) - 1
WORD, FLOAT, WHOLE, STEPS = "_as_word", "_as_float", "_whole_word", "_steps"
"""Names by which interpreted kernels know what follows."""

_known: weakref.WeakKeyDictionary[FunctionType, FunctionType] = weakref.WeakKeyDictionary()


def as_word(value: Any) -> np.int64:
    """Return a whole number or a truth value as a word, which keeps its lowest 64 bits."""
    return value if type(value) is np.int64 else np.int64((int(value) - WORD_LEAST & (1 << 64) - 1) + WORD_LEAST)


def whole_word(value: Any) -> np.int64:
    """Return what is before the point: the nearest word of what does not fit, 0 of NaN."""
    if not isinstance(value, float):
        return as_word(value)
    return np.int64(0 if value != value else WORD_LEAST if value <= WORD_LEAST else WORD_MOST if value >= -WORD_LEAST else int(value))


def steps(*bounds: Any) -> Iterator[np.int64]:
    """Count as `range` does, in words. A step of 0 ends at once if nothing lies between the bounds."""
    return map(np.int64, range(*map(int, bounds)))


class Narrow(np.ndarray[Any, Any]):
    """A view of a table of narrow integers: its elements are read as words. What is written keeps its lowest bits."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return as_word(found) if isinstance(found, np.integer) else found

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, np.asarray(value).astype(self.dtype))


def as_argument(argument: Any) -> Any:
    """Return an argument of a kernel as machine code takes it: words, tables whose elements are words, tuples of such tables."""
    if isinstance(argument, np.ndarray):
        return argument.view(Narrow) if argument.dtype.kind in "iu" and argument.dtype != np.int64 else argument
    if isinstance(argument, tuple):
        tables = {name: as_argument(table) for name, table in zip(argument._fields, argument, strict=True)}  # type: ignore[attr-defined]
        changed = {name: table for name, table in tables.items() if type(table) is Narrow}
        return argument._replace(**changed) if changed else argument  # type: ignore[attr-defined]
    return as_word(argument)


def interpreted(function: Callable[..., Any] | Wrapped) -> FunctionType:
    """Return the kernel as Python is to run it; it calls others in the same form. Raises CannotCompile where it cannot be a kernel."""
    kernel = plain(function)
    if kernel not in _known:
        node = copy.deepcopy(definition(kernel))
        node.decorator_list, node.returns = [], None
        for parameter in node.args.args:
            parameter.annotation = None
        words = _Words(node)
        module = ast.fix_missing_locations(ast.Module([words.visit(node)], type_ignores=[]))
        space = {**kernel.__globals__, **words.constants, WORD: as_word, FLOAT: np.float64, WHOLE: whole_word, STEPS: steps}
        exec(compile(module, kernel.__code__.co_filename, "exec", dont_inherit=True), space)  # our own source, read anew
        made = _known[kernel] = space[kernel.__name__]
        space.update({name: _as_global(value) for name, value in named(kernel).items() if name != kernel.__name__})
        made.__module__ = kernel.__module__
    return _known[kernel]


def _as_global(value: Any) -> Any:
    """What a kernel finds under a name of its module."""
    if isinstance(value, FunctionType | Wrapped):
        try:
            return interpreted(value)
        except CannotCompile:  # something to look at the kernel with, which only Python knows
            return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return as_word(value)
    return np.float64(value) if isinstance(value, float) else value


class _Words(ast.NodeTransformer):
    """Puts NumPy's numbers in place of Python's. constants: by the names that stand for them."""

    CONVERSIONS = {"int": WHOLE, "float": FLOAT, "range": STEPS}
    BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)

    def __init__(self, kernel: ast.FunctionDef):
        self.constants: dict[str, Any] = {}
        self.kinds: dict[str, str] = {}  # of variables: what their first assignment gives, as far as it can be seen
        self.kinds.update((parameter.arg, "") for parameter in kernel.args.args)
        assignments = [part for part in ast.walk(kernel) if isinstance(part, ast.Assign)]
        for assignment in sorted(assignments, key=lambda part: (part.lineno, part.col_offset)):
            for target, value in self.pairs(assignment):
                if isinstance(target, ast.Name):
                    self.kinds.setdefault(target.id, self.kind(value))

    @staticmethod
    def pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
        """Targets, and what each of them is given."""
        if not isinstance(node.value, ast.Tuple):
            return [(target, node.value) for target in node.targets]
        return [
            pair for target in node.targets if isinstance(target, ast.Tuple) for pair in zip(target.elts, node.value.elts, strict=False)
        ]

    def kind(self, node: ast.expr) -> str:
        """What the expression gives: "truth", "float", or "" for a word or where that is not to be seen."""
        match node:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
                return "truth"
            case ast.Constant(value=float()) | ast.BinOp(op=ast.Div()) | ast.Call(func=ast.Name(id="float") | ast.Attribute(attr="sqrt")):
                return "float"
            case ast.Name():
                return self.kinds.get(node.id, "")
            case ast.UnaryOp():
                return "float" if self.kind(node.operand) == "float" else ""
            case ast.BinOp() | ast.IfExp():
                parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.body, node.orelse]
                kinds = {self.kind(part) for part in parts}
                if kinds == {"truth"} and (isinstance(node, ast.IfExp) or isinstance(node.op, self.BITWISE)):
                    return "truth"
                return "float" if "float" in kinds else ""
        return ""

    def number(self, value: float, node: ast.expr) -> ast.expr:
        if isinstance(value, int) and not WORD_LEAST <= value <= WORD_MOST:
            raise CannotCompile(f"`{ast.unparse(node)}` is {value}, which does not fit into a word of 64 bits with sign")
        name = f"_number_{len(self.constants)}"
        self.constants[name] = np.int64(value) if isinstance(value, int) else np.float64(value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def called(self, name: str, node: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [node], []), node)

    def as_kind(self, node: ast.expr, kind: str) -> ast.expr:
        """The expression, as a value of this kind."""
        own = self.kind(node)
        made: ast.expr = self.visit(node)
        if kind == "float" and own != "float":
            return self.called(FLOAT, made)
        return self.called(WORD, made) if own == "truth" and kind != "truth" else made

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self.number(node.value, node) if type(node.value) in (int, float) else node  # type: ignore[arg-type]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float):
            return self.number(-node.operand.value, node)  # type: ignore[operator,arg-type]
        operand = self.visit(node.operand) if isinstance(node.op, ast.Not) else self.as_kind(node.operand, "")
        return ast.copy_location(ast.UnaryOp(node.op, operand), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        kind = "truth" if self.kind(node) == "truth" else ""
        return ast.copy_location(ast.BinOp(self.as_kind(node.left, kind), node.op, self.as_kind(node.right, kind)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        kind = self.kind(node)
        return ast.copy_location(ast.IfExp(self.visit(node.test), self.as_kind(node.body, kind), self.as_kind(node.orelse, kind)), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self.called(WORD, node)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in self.CONVERSIONS:
            name = ast.copy_location(ast.Name(self.CONVERSIONS[node.func.id], ast.Load()), node.func)
            return ast.copy_location(ast.Call(name, [self.visit(argument) for argument in node.args], node.keywords), node)
        if isinstance(node.func, ast.Attribute) or (isinstance(node.func, ast.Name) and node.func.id in ("abs", "min", "max")):
            node.args = [self.as_kind(argument, "") for argument in node.args]
            return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        kinds = {id(value): self.kinds.get(target.id, "") if isinstance(target, ast.Name) else "" for target, value in self.pairs(node)}
        if isinstance(node.value, ast.Tuple):
            node.value.elts = [self.as_kind(value, kinds.get(id(value), "")) for value in node.value.elts]
        else:
            node.value = self.as_kind(node.value, kinds[id(node.value)])
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        node.target = self.visit(node.target)
        node.value = self.visit(node.value) if isinstance(node.op, self.BITWISE) else self.as_kind(node.value, "")
        return node
