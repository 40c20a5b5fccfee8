"""The language of assertions, of figures and of experiments: named numbers and series, typed, and never executed by Python.

A name refers to a value computed from runs. It may consist of several words, such as ``operators.my-join.in``: the longest name that is
known at a place is read there. In figures, ``reported(name)`` refers to the value given in the paper, ``tolerance`` to the assertion's own.
``+ - * /`` work on numbers, on series with the same x, and point by point on a series and a number. So do comparisons; on a series they
give a truth value per point, for ``all``, ``any``, ``when`` and ``where``. ``and``, ``or``, ``not`` combine single truth values.
Python's own parser reads the text; this module converts its tree into a typed one or refuses it. `engine.assertions.evaluation` evaluates
it.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from engine.core.syntax import parsed

from ..base.problems import Refusal, suggestion

CHARACTERS_MAX = 1000
DEPTH_MAX = 50
NUMBER_MAX = 1e300
NAME_SHOWN_MAX = 100
COMPARED_MAX = 500
"""Names that are compared with an unknown one in full."""

Type = Literal["number", "series", "truth", "truths"]
A_TYPE = {"number": "a number", "series": "a series", "truth": "a truth value", "truths": "a truth value per point"}


@dataclass(frozen=True)
class Function:
    """A function. signatures: types of the arguments and of the result. repeated: the last argument can be repeated."""

    signatures: tuple[tuple[tuple[Type, ...], Type], ...]
    help: str
    repeated: bool = False


def _of(*arguments: Type, gives: Type) -> tuple[tuple[Type, ...], Type]:
    return arguments, gives


def _of_series(help: str) -> Function:
    return Function((_of("series", gives="number"),), help)


FUNCTIONS: dict[str, Function] = {
    "all": Function((_of("truths", gives="truth"),), "Whether the condition holds at every point."),
    "any": Function((_of("truths", gives="truth"),), "Whether the condition holds at one point or more."),
    "when": Function((_of("truths", gives="number"),), "The x of the first point at which the condition holds."),
    "points": Function((_of("number", "number", gives="series"),), "A series from alternating x and y values.", repeated=True),
    "lasting": Function(
        (_of("truths", "number", gives="number"),), "The x at which the condition first holds for this many consecutive points."
    ),
    "between": Function((_of("series", "number", "number", gives="series"),), "The points with a < x <= b."),
    "where": Function(
        (_of("series", "truths", gives="series"),), "The points at whose x the condition holds; it must be defined at every x."
    ),
    "at": Function((_of("series", "number", gives="number"),), "The value at this x."),
    "mean": _of_series("The mean of the values."),
    "median": _of_series("The median of the values."),
    "sum": _of_series("The sum of the values."),
    "count": _of_series("The number of points."),
    "first": _of_series("The value at the first point."),
    "last": _of_series("The value at the last point."),
    "deviation": _of_series("The standard deviation of the values."),
    "quantile": Function((_of("series", "number", gives="number"),), "The least value that this share of the values does not exceed."),
    "quantiles": Function(
        (_of("series", "number", "number", gives="series"),), "The percentiles from a to b, one for each per cent, with these as x."
    ),
    "proportion_low": Function(
        (_of("number", "number", gives="number"),), "The lower end of the 95 % interval (Wilson) of a share: hits, and of how many."
    ),
    "proportion_high": Function(
        (_of("number", "number", gives="number"),), "The upper end of the 95 % interval (Wilson) of a share: hits, and of how many."
    ),
    "slope": _of_series("The Theil-Sen slope: the median slope over all pairs of points."),
    "steps": Function((_of("series", gives="series"),), "The difference from each point to the next, at the later x."),
    "min": Function((_of("series", gives="number"), _of("number", "number", gives="number")), "The smallest value.", repeated=True),
    "max": Function((_of("series", gives="number"), _of("number", "number", gives="number")), "The largest value.", repeated=True),
    "abs": Function((_of("number", gives="number"), _of("series", gives="series")), "The absolute value."),
    "within": Function((_of("number", "number", "number", gives="truth"),), "Whether a and b differ by at most this amount."),
    "near": Function((_of("number", "number", "number", gives="truth"),), "Whether a and b differ by at most this share of b."),
}


@dataclass(frozen=True)
class Number:
    value: float
    text: str
    type: Type = "number"


@dataclass(frozen=True)
class Name:
    """The name of a value computed from runs, or of a reported value."""

    name: str
    reported: bool
    text: str
    type: Type


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Node, ...]
    text: str
    type: Type


@dataclass(frozen=True)
class Arithmetic:
    operation: Literal["+", "-", "*", "/"]
    left: Node
    right: Node
    text: str
    type: Type


@dataclass(frozen=True)
class Comparison:
    """A chain: ``a < b <= c`` has two operations and three operands."""

    operations: tuple[str, ...]
    operands: tuple[Node, ...]
    text: str
    type: Type


@dataclass(frozen=True)
class Logic:
    operation: Literal["and", "or", "not"]
    children: tuple[Node, ...]
    text: str
    type: Type = "truth"


Node = Number | Name | Call | Arithmetic | Comparison | Logic

TOLERANCE = "tolerance"
ARITHMETIC: dict[type[ast.operator], Literal["+", "-", "*", "/"]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Expression:
    """A typed expression. names: the values from runs that it uses."""

    text: str
    tree: Node
    names: frozenset[str]

    @property
    def type(self) -> Type:
        return self.tree.type


def parse(
    text: str,
    types: Mapping[str, Type],
    reported: Mapping[str, Type] | None = None,
    tolerance: float | None = None,
    at: Sequence[str | int] = (),
) -> Expression:
    """Parse and type an expression. types: types of the names allowed in the text. Raises Refusal with the column."""
    return _parsed(_Reader(text, types, reported or {}, tolerance, at))


def parse_of_run(text: str, types: Mapping[str, Type], at: Sequence[str | int] = ()) -> Expression:
    """Parse an expression about a single run, where nothing is reported and nothing has a tolerance. Raises as `parse`."""
    return _parsed(_Reader(text, types, None, None, at))


def _parsed(reader: _Reader) -> Expression:
    return Expression(reader.text, reader.read(), frozenset(reader.names))


def assertion_of(expression: Expression, at: Sequence[str | int] = ()) -> Expression:
    """Return the expression if it can be an assertion: a truth value about something measured. Raises Refusal."""
    if expression.type != "truth":
        message = f"'{expression.text}' is {A_TYPE[expression.type]}; an assertion must be a comparison"
        raise Refusal(message, at=at, code="wrong_type", hint="write all(...) or any(...)" if expression.type == "truths" else "")
    return expression


SINGLE_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")
DOTTED = re.compile(r"(?<![\w.])[^\W\d]\w*\.[\w.-]+")


def _read_names(line: str, known: Mapping[str, Type]) -> tuple[str, dict[int, str]]:
    """Replace names of several words by identifiers of the same length, so that Python can parse the line and columns stay as they are.

    Returns the line and the names by column, in bytes as in Python's trees. A hyphen may belong to a name or be a minus. In a name that is
    not known it counts as part of it only if names with the same beginning have hyphens.
    """
    names: dict[int, str] = {}
    parts, end = [], 0
    while found := DOTTED.search(line, end):
        first, run = found.start(), found.group()
        ends = [n for n in range(len(run), 0, -1) if n == len(run) or run[n] == "-"]
        name = next((run[:n] for n in ends if run[:n] in known), None)
        if name is None:
            words = run[: ends[-1]]
            alike = words.rpartition(".")[0]
            name = run.rstrip("-.") if any("-" in other for other in known if other.startswith(alike)) else words
        names[len(line[:first].encode())] = name
        parts += [line[end:first], "n" * len(name.encode())]
        end = first + len(name)
    return "".join([*parts, line[end:]]), names


def _nearest(name: str, known: Mapping[str, Type]) -> str:
    """Suggest a name that ends with the given one, such as latency_ms.p99 for p99, or else one that is spelt alike.

    Large documents have tens of thousands of names, so these are compared word by word: one word leaves few names for the next.
    """
    ending = [other for other in known if other.endswith(f".{name}")]
    if ending:
        return f"did you mean '{min(ending, key=len)}'?"
    left = [other.split(".") for other in known]
    for at, word in enumerate(name.split(".")):
        there = {other[at] for other in left if len(other) > at}
        near = difflib.get_close_matches(word, sorted(there), n=1)
        if not near:
            return suggestion(name, there if at == 0 or len(left) > COMPARED_MAX else (".".join(other) for other in left))
        left = [other for other in left if len(other) > at and other[at] == near[0]]
    shortest = min((".".join(other) for other in left), key=len)
    return f"did you mean '{shortest}'?"


class _Reader:
    def __init__(
        self, text: str, types: Mapping[str, Type], reported: Mapping[str, Type] | None, tolerance: float | None, at: Sequence[str | int]
    ):
        """reported: None outside figures."""
        self.text, self.line = text, " ".join(text.split())
        self.encoded = self.line.encode()  # columns of syntax count bytes
        self.types, self.reported, self.tolerance, self.at = types, reported, tolerance, at
        self.names: set[str] = set()
        self.by_column: dict[int, str] = {}

    def refuse(self, message: str, syntax: ast.AST | int, code: str, hint: str = "") -> NoReturn:
        column = syntax if isinstance(syntax, int) else getattr(syntax, "col_offset", 0) + 1
        raise Refusal(f"{message} (column {column})", at=self.at, code=code, value=self.line[:80], hint=hint)

    def read(self) -> Node:
        if len(self.line) > CHARACTERS_MAX:
            message = f"the expression has {len(self.line):,} characters; at most {CHARACTERS_MAX:,} are allowed"
            self.refuse(message, CHARACTERS_MAX + 1, "too_long")
        line = self.line
        if any("." in name for name in self.types):
            line, self.by_column = _read_names(line, self.types)
        try:
            return self.node(parsed(line, "eval").body, 1)
        except SyntaxError as error:
            hint = "write == to compare" if SINGLE_EQUALS.search(self.line) else ""
            self.refuse(f"not an expression: {error.msg}", error.offset or 1, "syntax", hint)
        except ValueError as error:
            if isinstance(error, Refusal):
                raise
            self.refuse(f"not an expression: {error}", 1, "syntax")
        except (RecursionError, MemoryError):
            self.refuse("the expression is nested too deeply", 1, "too_deep")

    def node(self, syntax: ast.expr, depth: int) -> Node:
        if depth > DEPTH_MAX:
            self.refuse(f"the expression is nested too deeply; at most {DEPTH_MAX} levels are allowed", syntax, "too_deep")
        text = self.encoded[syntax.col_offset : syntax.end_col_offset].decode()
        match syntax:
            case ast.Constant():
                return self.constant(syntax, text)
            case ast.Name():
                return self.name(syntax, text)
            case ast.Call():
                return self.call(syntax, text, depth)
            case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
                return self.arithmetic(ARITHMETIC[type(operator)], (left, right), text, depth)
            case ast.UnaryOp(ast.USub(), child):
                negated = self.typed(child, depth, "number", "series")
                return Arithmetic("-", Number(0.0, "0"), negated, text, negated.type)
            case ast.UnaryOp(ast.Not(), child):
                return Logic("not", (self.typed(child, depth, "truth"),), text)
            case ast.BoolOp(operator, children):
                name: Literal["and", "or"] = "and" if isinstance(operator, ast.And) else "or"
                return Logic(name, tuple(self.typed(child, depth, "truth") for child in children), text)
            case ast.Compare():
                return self.comparison(syntax, text, depth)
        if isinstance(syntax, ast.Tuple):
            message = f"the comma in '{text[:40]}' separates no arguments; write decimals with a point, as in 1.5"
            self.refuse(message, syntax.elts[-1], "not_allowed")
        message = f"'{text[:40]}' is not allowed in an assertion; use names, numbers, + - * /, comparisons, and, or, not, functions"
        self.refuse(message, syntax, "not_allowed")

    def typed(self, syntax: ast.expr, depth: int, *types: Type) -> Node:
        node = self.node(syntax, depth + 1)
        if node.type not in types:
            wanted = " or ".join(A_TYPE[type] for type in types)
            hint = "write all(...) or any(...)" if node.type == "truths" and "truth" in types else ""
            self.refuse(f"'{node.text}' is {A_TYPE[node.type]}, but {wanted} is needed here", syntax, "wrong_type", hint)
        return node

    def constant(self, syntax: ast.Constant, text: str) -> Number:
        value = syntax.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(f"{text} is not a number", syntax, "wrong_type")
        if not abs(value) <= NUMBER_MAX:
            self.refuse(f"{text[:40]} is too large; a number is at most {NUMBER_MAX:g}", syntax, "out_of_range")
        return Number(float(value), text)

    def name(self, syntax: ast.Name, text: str) -> Node:
        name = self.by_column.get(syntax.col_offset, syntax.id)
        if name == TOLERANCE and self.reported is not None:
            if self.tolerance is None:
                self.refuse("the expression uses tolerance, but the assertion has none; give one", syntax, "missing")
            return Number(self.tolerance, text)
        if name not in self.types:
            self.refuse(f"there is no value '{name[:NAME_SHOWN_MAX]}'", syntax, "unknown_name", _nearest(name, self.types))
        self.names.add(name)
        return Name(name, False, text, self.types[name])

    def call(self, syntax: ast.Call, text: str, depth: int) -> Node:
        if not isinstance(syntax.func, ast.Name) or syntax.keywords:
            self.refuse("call a function by its name, without keyword arguments", syntax, "not_allowed")
        name = syntax.func.id
        if name == "reported" and self.reported is not None:
            return self.as_reported(syntax, text)
        if name not in FUNCTIONS:
            others = [] if self.reported is None else ["reported"]
            self.refuse(f"there is no function '{name}'", syntax, "unknown_function", suggestion(name, [*FUNCTIONS, *others]))
        function = FUNCTIONS[name]
        arguments = tuple(self.node(argument, depth + 1) for argument in syntax.args)
        given = tuple(argument.type for argument in arguments)
        for takes, gives in function.signatures:
            longer = function.repeated and len(given) > len(takes) > 1
            fits = given == (takes + takes[-1:] * (len(given) - len(takes)) if longer else takes)
            if fits:
                return Call(name, arguments, text, gives)
        rights = " or ".join(f"{name}({', '.join(takes)})" for takes, _ in function.signatures)
        self.refuse(f"{name} has arguments ({', '.join(given)}); it takes {rights}", syntax, "wrong_type")

    def as_reported(self, syntax: ast.Call, text: str) -> Name:
        if len(syntax.args) != 1 or not isinstance(syntax.args[0], ast.Name):
            self.refuse("reported() takes a single name", syntax, "wrong_type")
        name = syntax.args[0].id
        assert self.reported is not None
        if name not in self.reported:
            self.refuse(
                f"there is no reported value '{name}'; add it under reported", syntax, "unknown_name", suggestion(name, self.reported)
            )
        return Name(name, True, text, self.reported[name])

    def arithmetic(self, operation: Literal["+", "-", "*", "/"], sides: tuple[ast.expr, ast.expr], text: str, depth: int) -> Node:
        left, right = (self.typed(side, depth, "number", "series") for side in sides)
        if operation == "/" and isinstance(right, Number) and right.value == 0:
            self.refuse(f"'{text}' divides by zero", sides[1], "division_by_zero")
        return Arithmetic(operation, left, right, text, "series" if "series" in (left.type, right.type) else "number")

    def comparison(self, syntax: ast.Compare, text: str, depth: int) -> Comparison:
        for operator in syntax.ops:
            if type(operator) not in COMPARISONS:
                self.refuse("a comparison must use < <= > >= == or !=", syntax, "not_allowed")
        operands = tuple(self.typed(side, depth, "number", "series") for side in (syntax.left, *syntax.comparators))
        kind: Type = "truths" if any(operand.type == "series" for operand in operands) else "truth"
        return Comparison(tuple(COMPARISONS[type(operator)] for operator in syntax.ops), operands, text, kind)
