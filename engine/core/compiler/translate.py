"""Translates kernels to the language of LLVM.

A kernel becomes one function for each way in which it is called: with which tables, and with which types of values. It is given the
addresses and shapes of all tables (one pointer, the same everywhere) and the values. LLVM removes what that leaves of variables and calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any

from llvmlite import ir

from .problem import CannotCompile
from .source import Signature, definition, is_called, plain
from .values import FLOAT, ONE, WORD, ZERO, Given, Table, Tables, Values


def translate(
    function: Callable[..., Any],
    name: str,
    signature: Signature,
    called: Collection[Callable[..., Any]],
    widths: Mapping[str, int],
    checked: bool = False,
) -> str:
    """The text of a module with one function `name(addresses and shapes, words ...) -> word`. Raises CannotCompile.

    checked: it notes the first index beyond its table behind the addresses and shapes (`source.FAULT_WORDS`).
    """
    given: list[Given] = []
    at = 0
    for part in signature:
        if part is None:
            given.append(WORD)
            continue
        single = isinstance(part[0], str)
        fields = []
        for table, element, dimensions in [("", *part)] if single else part:
            fields.append((table, Table(at, element, dimensions, widths.get(table))))
            at += 1 + dimensions
        given.append(fields[0][1] if single else Tables(tuple(fields)))
    program = Program(called, at if checked else None)
    kernel = program.kernel(plain(function), tuple(given))
    if kernel.returns is FLOAT:
        raise CannotCompile(f"kernel {function.__name__} returns a float; to Python only words can be returned")
    kernel.ir.name = name
    kernel.ir.linkage = ""
    kernel.ir.attributes = ir.FunctionAttributes(["nounwind"])
    return str(program.module)


class Program:
    """All kernels of one module. fault_at: where a wrong index is noted among the given words, None if none is."""

    def __init__(self, called: Collection[Callable[..., Any]], fault_at: int | None):
        self.module = ir.Module("kernels")
        self.fault_at = fault_at
        self.called = called
        self.unchanging = self.module.add_metadata([])
        self._kernels: dict[tuple[FunctionType, tuple[Given, ...]], Kernel | None] = {}

    def kernel(self, function: FunctionType, given: tuple[Given, ...]) -> Kernel:
        key = (function, given)
        if key not in self._kernels:
            self._kernels[key] = None
            self._kernels[key] = Kernel(self, function, given, f"{function.__name__}.{len(self._kernels)}")
        made = self._kernels[key]
        if made is None:
            raise CannotCompile(f"kernel {function.__name__} calls itself; use a loop")
        return made


class Kernel(Values):
    """One kernel for one way of calling it.

    A value is returned as a word, whatever its type: the bits of a float, 0 or 1 for a truth value.
    """

    def __init__(self, program: Program, function: FunctionType, given: tuple[Given, ...], name: str):
        node = definition(function)
        parameters = [parameter.arg for parameter in node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.posonlyargs or node.args.defaults:
            raise CannotCompile(f"kernel {function.__name__} ({ast.unparse(node.args)}) must have plain parameters, without defaults")
        if len(parameters) != len(given):
            raise CannotCompile(f"kernel {function.__name__} takes {len(parameters)} arguments ({', '.join(parameters)}), not {len(given)}")
        tables = {parameter: kind for parameter, kind in zip(parameters, given, strict=True) if isinstance(kind, Table | Tables)}
        values = {parameter: kind for parameter, kind in zip(parameters, given, strict=True) if parameter not in tables}
        made = ir.Function(program.module, ir.FunctionType(WORD, [WORD.as_pointer(), *values.values()]), name)
        made.linkage = "internal"
        made.attributes.add("nounwind")
        made.attributes.add("noinline" if is_called(function, program.called) else "alwaysinline")
        super().__init__(program, function, made)
        body = self.build.block
        self.returns: ir.Type | None = None
        self.gives = any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node))
        self.loops: list[tuple[ir.Block, ir.Block]] = []  # where `continue` and `break` lead
        self.tables.update(tables)
        for parameter, value in zip(values, made.args[1:], strict=True):
            self.assign(parameter, value, node)
        self.run(node.body)
        if not self.build.block.is_terminated:
            if self.gives and self.build.block in self.reached:
                self.refuse(node, "returns a value on some ways and ends without one on others")
            self.build.ret(ZERO)
        self.first.branch(body)

    def run(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.build.block.is_terminated:
                return  # nothing gets here
            self.line = statement.lineno
            method = getattr(self, f"run_{type(statement).__name__.lower()}", None)
            if method is None:
                self.refuse(statement, "is no statement that kernels can have")
            method(statement)

    def run_pass(self, node: ast.Pass) -> None:
        pass

    def run_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.call(node.value)
        elif not isinstance(node.value, ast.Constant):  # a docstring
            self.refuse(node, "has no effect")

    def run_assign(self, node: ast.Assign) -> None:
        table = self.table_of(node.value)
        if table is not None:
            for target in node.targets:
                if not isinstance(target, ast.Name) or target.id in self.variables or self.tables.get(target.id, table) != table:
                    self.refuse(node, "a table's name means one table all along, and no value")
                self.tables[target.id] = table
            return
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        values = [self.value(part) for part in parts]
        for target in node.targets:
            places = target.elts if isinstance(target, ast.Tuple) else [target]
            if len(places) != len(values):
                self.refuse(node, f"has {len(places)} places for {len(values)} values")
            for place, value in zip(places, values, strict=True):
                self.put(place, value)

    def put(self, target: ast.expr, value: ir.Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value, target)
        elif isinstance(target, ast.Subscript):
            place, element = self.place(target)
            self.store(place, element, value, target)
        else:
            self.refuse(target, "cannot be assigned to; variables and elements of tables can")

    def assign(self, name: str, value: ir.Value, node: ast.AST) -> None:
        if name in self.tables:
            self.refuse(node, f"gives {name}, which is a table, a value; use another name")
        if name not in self.variables:
            self.variables[name] = self.first.alloca(value.type, name=name)
            self.first.store(ir.Constant(value.type, 0), self.variables[name])  # no way leads to an undefined value
        variable = self.variables[name]
        self.build.store(self.as_type(value, variable.type.pointee, node), variable)

    def run_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.assign(node.target.id, self.combine(node, node.op, self.value(node.target), self.value(node.value)), node)
        elif isinstance(node.target, ast.Subscript):
            place, element = self.place(node.target)
            value = self.combine(node, node.op, self.load(place, element), self.value(node.value))
            self.store(place, element, value, node)
        else:
            self.refuse(node, "cannot be assigned to")

    def run_if(self, node: ast.If) -> None:
        yes, after = self.block(), self.block()
        no = self.block() if node.orelse else after
        self.test(node.test, yes, no)
        for block, statements in ((yes, node.body), (no, node.orelse)):
            if statements:
                self.build.position_at_end(block)
                self.run(statements)
                self.go(after)
        self.build.position_at_end(after)

    def run_while(self, node: ast.While) -> None:
        head, body, after = self.block(), self.block(), self.block()
        self.go(head)
        self.build.position_at_end(head)
        self.test(node.test, body, after)
        self.repeat(node, body, head, after)

    def run_for(self, node: ast.For) -> None:
        call = node.iter
        if not (
            isinstance(node.target, ast.Name)
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and 1 <= len(call.args) <= 3
        ):
            self.refuse(node, "is no loop of the form `for name in range(..)`")
        bounds = [self.as_type(self.value(bound), WORD, bound) for bound in call.args]
        start, stop, step = [ZERO, *bounds, ONE] if len(bounds) == 1 else [*bounds, ONE][:3]
        counter = self.first.alloca(WORD)
        self.build.store(start, counter)
        head, body, onward, after = self.block(), self.block(), self.block(), self.block()
        self.go(head)
        self.build.position_at_end(head)
        at = self.build.load(counter)
        more = self.build.icmp_signed("<", at, stop)
        if step is not ONE:
            down = self.build.icmp_signed("<", step, ZERO)
            more = self.build.select(down, self.build.icmp_signed(">", at, stop), more)
        self.choose(more, body, after)
        self.build.position_at_end(body)
        self.assign(node.target.id, at, node.target)
        self.repeat(node, body, onward, after)
        self.build.position_at_end(onward)
        self.build.store(self.build.add(self.build.load(counter), step), counter)
        self.build.branch(head)
        self.build.position_at_end(after)

    def repeat(self, node: ast.While | ast.For, body: ir.Block, again: ir.Block, after: ir.Block) -> None:
        if node.orelse:
            self.refuse(node, "has an else; set a variable instead")
        self.build.position_at_end(body)
        self.loops.append((again, after))
        self.run(node.body)
        self.loops.pop()
        self.go(again)
        self.build.position_at_end(after)

    def run_break(self, node: ast.Break) -> None:
        self.go(self.loops[-1][1])

    def run_continue(self, node: ast.Continue) -> None:
        self.go(self.loops[-1][0])

    def run_return(self, node: ast.Return) -> None:
        if node.value is None:
            if self.gives:
                self.refuse(node, "gives no value, but others do")
            self.build.ret(ZERO)
            return
        value = self.value(node.value)
        if self.returns is None:
            self.returns = value.type
        value = self.as_type(value, self.returns, node)
        self.build.ret(self.build.bitcast(value, WORD) if value.type is FLOAT else self.as_type(value, WORD, node))
