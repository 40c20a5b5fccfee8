"""Values of kernels: constants, variables, elements of tables, operators and calls, as LLVM's instructions."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Never, Protocol

import numpy as np
from llvmlite import ir

from .problem import CannotCompile
from .source import Wrapped, plain, prefetch

WORD, FLOAT, TRUTH = ir.IntType(64), ir.DoubleType(), ir.IntType(1)
NAMES = {WORD: "a word", FLOAT: "a float", TRUTH: "a truth value"}
ELEMENTS = {f"{sign}int{bits}": ir.IntType(bits) for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"float64": FLOAT}
ZERO, ONE = ir.Constant(WORD, 0), ir.Constant(WORD, 1)
WORD_LEAST, WORD_MOST = -(1 << 63), (1 << 63) - 1

ARITHMETIC = {
    ast.Add: ("add", "fadd"),
    ast.Sub: ("sub", "fsub"),
    ast.Mult: ("mul", "fmul"),
    ast.BitAnd: ("and_", None),
    ast.BitOr: ("or_", None),
    ast.BitXor: ("xor", None),
}
"""Methods of LLVM's builder for words and for floats."""

COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Table:
    """at: where its address stands among the given words; its shape follows. width: its columns, where they are always the same."""

    at: int
    element: str
    dimensions: int
    width: int | None = None


@dataclass(frozen=True)
class Tables:
    """A named tuple of tables."""

    fields: tuple[tuple[str, Table], ...]


Given = Any
"""What a parameter of a kernel stands for: a `Table` or `Tables`, which are known when compiling, or the type of a value."""


class Translated(Protocol):
    """A kernel as its callers see it. returns: the type of its value, None if it gives none."""

    ir: ir.Function
    returns: ir.Type | None


class Program(Protocol):
    """What the kernels of one module share."""

    module: ir.Module
    fault_at: int | None  # where a wrong index is noted among the given words
    unchanging: ir.Value  # marks loads of words that never change

    def kernel(self, function: FunctionType, given: tuple[Given, ...]) -> Translated: ...


class Values:
    """What the expressions of one kernel become.

    ir: its function. build: where instructions are added. first: the same at its beginning, for what is needed everywhere.
    """

    def __init__(self, program: Program, function: FunctionType, made: ir.Function):
        self.program, self.function, self.ir = program, function, made
        self.variables: dict[str, ir.AllocaInstr] = {}
        self.tables: dict[str, Table | Tables] = {}
        self.words: dict[int, ir.Value] = {}  # given words by number
        self.reached: set[ir.Block] = set()
        self.line = 0
        entry = made.append_basic_block("entry")
        self.first, self.build = ir.IRBuilder(entry), ir.IRBuilder(self.block())

    def refuse(self, node: ast.AST, why: str) -> Never:
        where = f"{self.function.__module__}.{self.function.__name__}, line {getattr(node, 'lineno', self.line)}"
        raise CannotCompile(f"kernel {where}: `{ast.unparse(node).splitlines()[0]}` {why}")

    # -- blocks ---------------------------------------------------------------------------------------------------------------

    def block(self) -> ir.Block:
        return self.ir.append_basic_block()

    def go(self, block: ir.Block) -> None:
        """Go on in the block, unless this one has ended already."""
        if not self.build.block.is_terminated:
            self.reached.add(block)
            self.build.branch(block)

    def choose(self, condition: ir.Value, yes: ir.Block, no: ir.Block) -> None:
        self.reached |= {yes, no}
        self.build.cbranch(condition, yes, no)

    def test(self, node: ast.expr, yes: ir.Block, no: ir.Block, as_value: bool = False) -> None:
        """Evaluate a condition only as far as needed. as_value: its value is wanted, which has to be a truth value then."""
        if isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                rest = self.block()
                self.test(part, *((rest, no) if isinstance(node.op, ast.And) else (yes, rest)), as_value)
                self.build.position_at_end(rest)
            self.test(node.values[-1], yes, no, as_value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.test(node.operand, no, yes)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            self.go(yes if node.value else no)
        else:
            value = self.value(node)
            if as_value and value.type is not TRUTH:
                self.refuse(node, f"gives {NAMES[value.type]}; `and` and `or` give a value of truth values only")
            self.choose(self.truth(value), yes, no)

    # -- tables ---------------------------------------------------------------------------------------------------------------

    def table_of(self, node: ast.expr) -> Table | Tables | None:
        """The table or tuple of tables that an expression names."""
        if isinstance(node, ast.Name):
            return self.tables.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            tables = self.tables.get(node.value.id)
            if isinstance(tables, Tables):
                fields = dict(tables.fields)
                if node.attr not in fields:
                    self.refuse(node, f"names none of its tables ({', '.join(fields)})")
                return fields[node.attr]
        return None

    def word(self, number: int) -> ir.Value:
        """One of the given words. They never change, which LLVM has to be told."""
        if number not in self.words:
            word = self.first.load(self.first.gep(self.ir.args[0], [ir.Constant(WORD, number)]))
            word.set_metadata("invariant.load", self.program.unchanging)
            self.words[number] = word
        return self.words[number]

    def size(self, table: Table, dimension: int) -> ir.Value:
        if table.width is not None and dimension == table.dimensions - 1:
            return ir.Constant(WORD, table.width)
        return self.word(table.at + 1 + dimension)

    def load(self, place: ir.Value, element: str) -> ir.Value:
        value = self.build.load(place)
        if value.type in (WORD, FLOAT):
            return value
        return self.build.zext(value, WORD) if element.startswith("u") else self.build.sext(value, WORD)

    def store(self, place: ir.Value, element: str, value: ir.Value, node: ast.AST) -> None:
        value = self.as_type(value, FLOAT if element == "float64" else WORD, node)
        kind = ELEMENTS[element]
        self.build.store(value if kind is value.type else self.build.trunc(value, kind), place)

    def place(self, node: ast.Subscript) -> tuple[ir.Value, str]:
        """The address of an element, and its type."""
        table = self.table_of(node.value)
        if not isinstance(table, Table):
            self.refuse(node.value, "is no table")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) != table.dimensions:
            self.refuse(node, f"has {len(indices)} indices; the table has {table.dimensions} dimensions")
        offset = ZERO
        inside: ir.Value = ir.Constant(TRUTH, 1)
        for n, index in enumerate(indices):
            if n > 0:
                offset = self.build.mul(offset, self.size(table, n))
            position = self.as_type(self.value(index), WORD, index)
            offset = position if n == 0 else self.build.add(offset, position)
            if self.program.fault_at is not None:
                inside = self.build.and_(inside, self.checked(position, self.size(table, n), node, self.program.fault_at))
        base = self.build.inttoptr(self.word(table.at), ELEMENTS[table.element].as_pointer())
        if self.program.fault_at is None:
            return self.build.gep(base, [offset], inbounds=True), table.element
        elsewhere = self.build.bitcast(self.fault(self.program.fault_at, 3), base.type)
        return self.build.select(inside, self.build.gep(base, [offset]), elsewhere), table.element

    def checked(self, index: ir.Value, size: ir.Value, node: ast.Subscript, fault_at: int) -> ir.Value:
        """Whether an index lies inside its table; the first that does not is noted."""
        inside = self.build.icmp_unsigned("<", index, size)
        note, after = self.block(), self.block()
        first = self.build.icmp_signed("==", self.build.load(self.fault(fault_at, 0)), ZERO)
        self.choose(self.build.and_(self.build.not_(inside), first), note, after)
        self.build.position_at_end(note)
        for n, word in enumerate((self.build.ptrtoint(self.where(node), WORD), index, size)):
            self.build.store(word, self.fault(fault_at, n))
        self.go(after)
        self.build.position_at_end(after)
        return inside

    def fault(self, fault_at: int, n: int) -> ir.Value:
        """Address of the n-th word of what is noted of a wrong index."""
        return self.build.gep(self.ir.args[0], [ir.Constant(WORD, fault_at + n)])

    def where(self, node: ast.AST) -> ir.Value:
        """Address of a text, with 0 behind it, that names a place in the source."""
        line = getattr(node, "lineno", self.line)
        text = f"kernel {self.function.__module__}.{self.function.__name__}, line {line}: `{ast.unparse(node)}`".encode() + b"\0"
        kind = ir.ArrayType(ir.IntType(8), len(text))
        name = self.program.module.get_unique_name("place")
        constant = ir.GlobalVariable(self.program.module, kind, name)
        constant.linkage, constant.global_constant, constant.initializer = "internal", True, ir.Constant(kind, bytearray(text))
        return constant

    # -- values ---------------------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> ir.Value:
        method = getattr(self, f"value_{type(node).__name__.lower()}", None)
        if method is None:
            self.refuse(node, "is no expression that kernels can have")
        return method(node)

    def as_type(self, value: ir.Value, kind: ir.Type, node: ast.AST) -> ir.Value:
        """The value as another type, where nothing is lost."""
        if value.type is kind:
            return value
        if value.type is TRUTH and kind is WORD:
            return self.build.zext(value, WORD)
        if value.type is WORD and kind is FLOAT:
            return self.build.sitofp(value, FLOAT)
        if value.type is TRUTH and kind is FLOAT:
            return self.build.uitofp(value, FLOAT)
        self.refuse(node, f"gives {NAMES[value.type]} where {NAMES[kind]} is needed (a variable keeps the type of its first assignment)")

    def truth(self, value: ir.Value) -> ir.Value:
        if value.type is WORD:
            return self.build.icmp_signed("!=", value, ZERO)
        return self.build.fcmp_unordered("!=", value, ir.Constant(FLOAT, 0.0)) if value.type is FLOAT else value

    def alike(self, a: ir.Value, b: ir.Value, node: ast.AST) -> tuple[ir.Value, ir.Value]:
        """Both as the wider of their types; truth values as words."""
        kind = FLOAT if FLOAT in (a.type, b.type) else WORD
        return self.as_type(a, kind, node), self.as_type(b, kind, node)

    def constant(self, number: Any, node: ast.AST) -> ir.Value:
        if isinstance(number, bool):
            return ir.Constant(TRUTH, int(number))
        if isinstance(number, int | np.integer):
            if not WORD_LEAST <= number <= WORD_MOST:
                self.refuse(node, f"is {number}, which does not fit into a word of 64 bits with sign")
            return ir.Constant(WORD, int(number))
        if isinstance(number, float):
            return ir.Constant(FLOAT, number)
        self.refuse(node, f"is {number!r}; kernels know numbers only")

    def value_constant(self, node: ast.Constant) -> ir.Value:
        return self.constant(node.value, node)

    def value_name(self, node: ast.Name) -> ir.Value:
        if node.id in self.variables:
            return self.build.load(self.variables[node.id])
        if node.id in self.tables:
            self.refuse(node, "is a table, not a value")
        if node.id not in self.function.__globals__:
            self.refuse(node, "is neither assigned before nor a constant of the module")
        return self.constant(self.function.__globals__[node.id], node)

    def value_subscript(self, node: ast.Subscript) -> ir.Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            table = self.table_of(node.value.value)
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(table, Table) or not isinstance(index, int) or index not in range(table.dimensions):
                self.refuse(node, "is no dimension of a table")
            return self.size(table, index)
        return self.load(*self.place(node))

    def value_unaryop(self, node: ast.UnaryOp) -> ir.Value:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int | float):
            return self.constant(-node.operand.value, node)
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.build.not_(self.truth(value))
        if value.type is FLOAT and isinstance(node.op, ast.USub):
            return self.build.fneg(value)
        value = self.as_type(value, WORD, node)
        return {ast.USub: self.build.neg, ast.Invert: self.build.not_, ast.UAdd: lambda v: v}[type(node.op)](value)

    def value_binop(self, node: ast.BinOp) -> ir.Value:
        return self.combine(node, node.op, self.value(node.left), self.value(node.right))

    def combine(self, node: ast.AST, operator: ast.operator, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(operator, ast.Div):
            return self.build.fdiv(self.as_type(a, FLOAT, node), self.as_type(b, FLOAT, node))
        if isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor) and a.type is b.type is TRUTH:
            return getattr(self.build, ARITHMETIC[type(operator)][0])(a, b)
        a, b = self.alike(a, b, node)
        if isinstance(operator, ast.FloorDiv | ast.Mod) and a.type is WORD:
            return self.floor_divided(a, b, isinstance(operator, ast.Mod))
        if isinstance(operator, ast.LShift | ast.RShift) and a.type is WORD:
            return self.shifted(a, b, isinstance(operator, ast.LShift))
        method = ARITHMETIC.get(type(operator), (None, None))[a.type is FLOAT]
        if method is None:
            self.refuse(node, f"is not there for {NAMES[a.type]}")
        return getattr(self.build, method)(a, b)

    def floor_divided(self, a: ir.Value, b: ir.Value, modulo: bool) -> ir.Value:
        """Quotient rounded down, or what is left. By 0 it is 0; processors trap there, and for the least word by -1, which wraps."""
        special = self.build.icmp_unsigned("<=", self.build.add(b, ONE), ONE)  # 0 or -1
        divisor = self.build.select(special, ONE, b)
        rest = self.build.srem(a, divisor)
        opposite = self.build.icmp_signed("<", self.build.xor(rest, divisor), ZERO)
        below = self.build.and_(self.build.icmp_signed("!=", rest, ZERO), opposite)
        if modulo:
            return self.build.select(special, ZERO, self.build.add(rest, self.build.select(below, divisor, ZERO)))
        quotient = self.build.sub(self.build.sdiv(a, divisor), self.build.zext(below, WORD))
        return self.build.select(special, self.build.mul(a, b), quotient)

    def shifted(self, a: ir.Value, b: ir.Value, left: bool) -> ir.Value:
        """By 64 bits and more all are shifted out; processors count modulo 64."""
        inside = self.build.icmp_unsigned("<", b, ir.Constant(WORD, 64))
        if left:
            return self.build.select(inside, self.build.shl(a, self.build.select(inside, b, ZERO)), ZERO)
        return self.build.ashr(a, self.build.select(inside, b, ir.Constant(WORD, 63)))

    def value_compare(self, node: ast.Compare) -> ir.Value:
        left, result = self.value(node.left), None
        for operator, part in zip(node.ops, node.comparators, strict=True):
            if type(operator) not in COMPARISONS:
                self.refuse(node, "is no comparison of numbers")
            right = self.value(part)
            holds = self.compare(COMPARISONS[type(operator)], left, right, node)
            result = holds if result is None else self.build.and_(result, holds)
            left = right
        return result

    def compare(self, sign: str, a: ir.Value, b: ir.Value, node: ast.AST) -> ir.Value:
        a, b = self.alike(a, b, node)
        if a.type is WORD:
            return self.build.icmp_signed(sign, a, b)
        return self.build.fcmp_unordered(sign, a, b) if sign == "!=" else self.build.fcmp_ordered(sign, a, b)

    def value_boolop(self, node: ast.BoolOp) -> ir.Value:
        yes, no, after = self.block(), self.block(), self.block()
        self.test(node, yes, no, as_value=True)
        result = []
        for block, truth in ((yes, 1), (no, 0)):
            self.build.position_at_end(block)
            self.go(after)
            result.append((ir.Constant(TRUTH, truth), block))
        return self.either(after, result)

    def value_ifexp(self, node: ast.IfExp) -> ir.Value:
        yes, no, after = self.block(), self.block(), self.block()
        self.test(node.test, yes, no)
        values = []
        for block, part in ((yes, node.body), (no, node.orelse)):
            self.build.position_at_end(block)
            values.append((self.value(part), self.build.block))
        kinds = {value.type for value, _ in values}
        kind = kinds.pop() if len(kinds) == 1 else FLOAT if FLOAT in kinds else WORD
        result = []
        for value, block in values:
            self.build.position_at_end(block)
            result.append((self.as_type(value, kind, node), block))
            self.go(after)
        return self.either(after, result)

    def either(self, after: ir.Block, values: list[tuple[ir.Value, ir.Block]]) -> ir.Value:
        self.build.position_at_end(after)
        result = self.build.phi(values[0][0].type)
        for value, block in values:
            result.add_incoming(value, block)
        return result

    # -- calls ----------------------------------------------------------------------------------------------------------------

    def value_call(self, node: ast.Call) -> ir.Value:
        value = self.call(node)
        if value is None:
            self.refuse(node, "gives no value")
        return value

    def call(self, node: ast.Call) -> ir.Value | None:
        if node.keywords:
            self.refuse(node, "has arguments by name; kernels are called with plain ones")
        if isinstance(node.func, ast.Attribute):
            module = self.function.__globals__.get(node.func.value.id) if isinstance(node.func.value, ast.Name) else None
            if module is np and node.func.attr == "sqrt" and len(node.args) == 1:
                return self.intrinsic("llvm.sqrt", self.as_type(self.value(node.args[0]), FLOAT, node))
            self.refuse(node, "is no call that kernels can make")
        if not isinstance(node.func, ast.Name):
            self.refuse(node, "is no call that kernels can make")
        name = node.func.id
        function = self.function.__globals__.get(name)
        if function is prefetch:
            self.prefetch(node)
            return None
        if isinstance(function, FunctionType | Wrapped):
            arguments: list[ir.Value] = []
            given: list[Given] = []
            for part in node.args:
                table = self.table_of(part)
                if table is None:
                    arguments.append(self.value(part))
                    given.append(arguments[-1].type)
                else:
                    given.append(table)
            kernel = self.program.kernel(plain(function), tuple(given))
            word = self.build.call(kernel.ir, [self.ir.args[0], *arguments])
            if kernel.returns is FLOAT:
                return self.build.bitcast(word, FLOAT)
            return self.build.trunc(word, TRUTH) if kernel.returns is TRUTH else word if kernel.returns is WORD else None
        builtin = getattr(self, f"call_{name}", None)
        if builtin is None or function is not None:
            self.refuse(node, "calls something that is no kernel")
        return builtin(node, [self.value(part) for part in node.args])

    def prefetch(self, node: ast.Call) -> None:
        """A hint to the processor, so nothing is checked."""
        table = self.table_of(node.args[0]) if node.args else None
        if not isinstance(table, Table) or len(node.args) != 1 + table.dimensions:
            self.refuse(node, "names no element of a table")
        offset = ZERO
        for n, index in enumerate(node.args[1:]):
            offset = self.build.add(self.build.mul(offset, self.size(table, n)), self.as_type(self.value(index), WORD, index))
        address = self.build.gep(self.build.inttoptr(self.word(table.at), ELEMENTS[table.element].as_pointer()), [offset])
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        fetch = self.program.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        reading, often, data = (ir.Constant(number, n) for n in (0, 3, 1))
        self.build.call(fetch, [self.build.bitcast(address, pointer), reading, often, data])

    def intrinsic(self, name: str, value: ir.Value, result: ir.Type = FLOAT) -> ir.Value:
        types = [result, FLOAT] if result is not FLOAT else [FLOAT]
        return self.build.call(self.program.module.declare_intrinsic(name, types, ir.FunctionType(result, [FLOAT])), [value])

    def call_min(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        return self.extreme(node, values, "<")

    def call_max(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        return self.extreme(node, values, ">")

    def extreme(self, node: ast.Call, values: list[ir.Value], sign: str) -> ir.Value:
        if len(values) < 2:
            self.refuse(node, "needs two values or more")
        best = values[0]
        for value in values[1:]:
            best, value = self.alike(best, value, node)
            best = self.build.select(self.compare(sign, value, best, node), value, best)
        return best

    def call_abs(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        value = self.only(node, values)
        if value.type is FLOAT:
            return self.intrinsic("llvm.fabs", value)
        value = self.as_type(value, WORD, node)
        return self.build.select(self.build.icmp_signed("<", value, ZERO), self.build.neg(value), value)

    def call_float(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        return self.as_type(self.only(node, values), FLOAT, node)

    def call_int(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        """Of a float: what is before the point. What does not fit becomes the nearest word, NaN 0; Python refuses it."""
        value = self.only(node, values)
        return self.intrinsic("llvm.fptosi.sat", value, WORD) if value.type is FLOAT else self.as_type(value, WORD, node)

    def only(self, node: ast.Call, values: list[ir.Value]) -> ir.Value:
        if len(values) != 1:
            self.refuse(node, "needs one value")
        return values[0]
