"""The language of predicates and computed fields: small, typed, free of side effects, and never executed by Python.

Fields are written by name. A name that is not an identifier, or is a reserved word such as ``class``, is quoted:
``record["Price (EUR)"]``. The language has numbers, quoted strings, ``True`` and ``False``; ``+ - * / // %`` and unary ``-``; comparisons,
also chained; ``and``, ``or``, ``not``; ``in``, ``not in`` with a list of constants; ``a if condition else b``; and calls of the functions
in `engine.spec.expressions.functions`. Their meaning is defined in `docs/experiment-document.md`.

Python's own parser reads the text; this module converts its tree into a typed one or refuses it.
"""

from __future__ import annotations

import ast
import difflib
import json
import keyword
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from engine.core.syntax import parsed

from ..base.problems import Refusal, suggestion
from ..base.records import FieldType, RecordSchema, common
from .functions import CALENDAR, FUNCTIONS, INSTEAD, BadArgument, Function
from .tree import Binary, BinaryName, Conditional, Constant, FieldReference, Logic, Member, Node, OfText, TextFunction, Unary, as_float

if TYPE_CHECKING:
    from .compiler import Program, Strings

CHARACTERS_MAX = 2000
DEPTH_MAX = 100
"""Limit of nesting levels, which bounds the machine's stack (`engine.core.kernels.expression_machine.STACK_WORDS`)."""

INT_MIN, INT_MAX = -(2**63), 2**63 - 1

ARITHMETIC: dict[type[ast.operator], BinaryName] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
IN_WORDS = {
    ast.Lambda: "lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Attribute: "an attribute (a dot after a name)",
    ast.Subscript: "an index in brackets",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "an assignment (:=)",
    ast.Tuple: "a list of values outside 'in'",
    ast.List: "a list of values outside 'in'",
    ast.Set: "a set",
    ast.Dict: "a dictionary",
    ast.Pow: "'**'",
    ast.BitAnd: "'&' (write 'and')",
    ast.BitOr: "'|' (write 'or')",
    ast.BitXor: "'^'",
    ast.LShift: "'<<'",
    ast.RShift: "'>>'",
    ast.MatMult: "'@'",
    ast.Invert: "'~' (write 'not')",
    ast.UAdd: "a leading '+'",
    ast.Is: "'is' (write '==')",
    ast.IsNot: "'is not' (write '!=')",
}
AS_IN_SQL = (
    (r"<>", "write '!=' for 'is not equal'"),
    (r"&&|\|\|", "write 'and', 'or'"),
    (r"!(?!=)", "write 'not'"),
    (r"(?i)\bis\s+(not\s+)?null\b", "there are no missing values, so no test is needed"),
    (r"(?i)\bbetween\b", "write low <= x <= high"),
    (r"(?i)\b(like|ilike)\b", "write like(text, 'A%')"),
    (r"(?i)\b(case|when|then)\b", "write a if condition else b"),
    (r"(?i)\binterval\b", "write minutes(5), for example"),
    (r"(?i)\bcast\b", "write int(x), float(x) or timestamp(ns)"),
    (r"\b(AND|OR|NOT|IN|IF|ELSE)\b", "write 'and', 'or', 'not', 'in', 'if', 'else' in lower case"),
    (r"(?<![=<>!])=(?!=)", "write '==' to compare"),
)
"""SQL syntax and its equivalent here, searched in this order in texts that fail to parse."""
LINE_ENDS = {ord(letter): f"\\u{ord(letter):04x}" for letter in "\x85\u2028\u2029"}
"""What ends a line, and therefore cannot stand in an expression as it is. JSON escapes the others."""
LANGUAGE_WORDS = ("and", "or", "not", "in", "if", "else", "True", "False")
A_TYPE = {"int": "an int", "float": "a float", "bool": "a bool", "string": "a string", "timestamp": "a timestamp"}
NUMBERS = ("zero", "one", "two", "three", "four", "five")


class ExpressionRefusal(Refusal):
    """A text that is not a valid expression. column: position of the error, from 1."""

    def __init__(self, message: str, column: int, *, at: Sequence[str | int] = (), code: str, value: object = None, hint: str = ""):
        super().__init__(f"{message} (column {column})", at=at, code=code, value=value, hint=hint)
        self.column = column


@dataclass(frozen=True)
class Expression:
    """A typed expression over the records of one schema.

    type: type of its value. fields: names of the fields it reads, in schema order. strings: string constants, in text order.
    comparisons: type of the values of each comparison in it, tests of texts included.
    """

    text: str
    schema: RecordSchema
    tree: Node
    fields: tuple[str, ...]
    strings: tuple[str, ...]
    comparisons: tuple[FieldType, ...] = ()

    @property
    def type(self) -> FieldType:
        return self.tree.type

    @property
    def zero_ns(self) -> int | None:
        """For a timestamp, the calendar time of its 0 (`RecordField.zero_ns`)."""
        return zero_of(self.tree, self.schema)

    def compile(self, strings: Strings) -> Program:
        """Compile to a program of the stack machine. String constants get codes from `strings`, in text order."""
        from .compiler import compile_tree  # imported on demand: validating a document does not load the machine

        for text in self.strings:
            strings.code(text)
        return compile_tree(self.tree, strings)


def parse(text: str, schema: RecordSchema, at: Sequence[str | int] = ()) -> Expression:
    """Parse and type one expression. at: path of the text below the params. Raises `ExpressionRefusal`."""
    if len(text) > CHARACTERS_MAX:
        message = f"the expression has {len(text):,} characters; at most {CHARACTERS_MAX:,} are allowed"
        raise ExpressionRefusal(message, CHARACTERS_MAX + 1, at=at, code="too_long", value=text[:80])
    reader = _Reader(text, schema, at)
    tree = reader.read()
    strings = tuple(text for _, text in sorted(reader.strings))
    return Expression(text, schema, tree, tuple(name for name in schema.names if name in reader.fields), strings, tuple(reader.comparisons))


class _Reader:
    """Converts Python's syntax tree into a typed tree."""

    def __init__(self, text: str, schema: RecordSchema, at: Sequence[str | int]):
        self.text, self.schema, self.at = text, schema, at
        self.line = " ".join(text.splitlines())  # a folded YAML text is read as one line
        self.indent = len(self.line) - len(self.line.lstrip())
        self.line = self.line.strip()
        self.fields: set[str] = set()
        self.strings: list[tuple[int, str]] = []  # by column
        self.comparisons: list[FieldType] = []

    def refuse(self, message: str, where: ast.AST | int, code: str, hint: str = "") -> NoReturn:
        if code in ("syntax", "unknown_field", "not_allowed"):
            hint = self.quoting_hint(LANGUAGE_WORDS) or hint or self.quoting_hint(())
        if isinstance(where, int):
            column = where
        else:  # Python counts columns in bytes
            column = len(self.line.encode()[: getattr(where, "col_offset", 0)].decode(errors="ignore")) + 1
        raise ExpressionRefusal(message, column + self.indent, at=self.at, code=code, value=self.text, hint=hint)

    def quoting_hint(self, besides: Collection[str]) -> str:
        """How to write a field that stands unquoted in the text and cannot, or ''. besides: names that are left out."""
        outside = outside_quotes(self.line)
        names = (name for name in self.schema.names if name not in besides and field_text(name) != name)
        found = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", outside)]
        return f"write the field as {field_text(max(found, key=len))}" if found else ""

    def read(self) -> Node:
        if not self.line:
            self.refuse("the expression is empty; write, for example, a comparison of a field with a number", 1, "syntax")
        try:
            syntax = parsed(self.line, "eval")
        except SyntaxError as error:
            if "too many nested" in (error.msg or ""):
                self.too_deep(error.offset or 1)
            self.refuse(f"not an expression: {error.msg}", error.offset or len(self.line) + 1, "syntax", as_here(self.line))
        except ValueError as error:
            self.refuse(f"not an expression: {error}", 1, "syntax")
        except (RecursionError, MemoryError):
            self.too_deep(1)
        return self.node(syntax.body, 1)

    def too_deep(self, where: ast.AST | int) -> NoReturn:
        self.refuse(f"the expression is nested too deeply; at most {DEPTH_MAX} levels are allowed", where, "too_deep")

    def node(self, syntax: ast.expr, depth: int) -> Node:
        if depth > DEPTH_MAX:
            self.too_deep(syntax)
        match syntax:
            case ast.Constant():
                return self.constant(syntax, 1)
            case ast.Name():
                return self.name(syntax)
            case ast.Subscript(value=ast.Name(id="record"), slice=ast.Constant(value=str(name))):
                return self.field(name, syntax)
            case ast.UnaryOp(op=ast.USub()):
                return self.negation(syntax, depth)
            case ast.UnaryOp(op=ast.Not()):
                return Unary("not", self.condition(syntax.operand, "'not'", depth), "bool")
            case ast.BinOp() if type(syntax.op) in ARITHMETIC:
                return self.arithmetic(syntax, ARITHMETIC[type(syntax.op)], depth)
            case ast.BoolOp():
                word: str = "and" if isinstance(syntax.op, ast.And) else "or"
                children = tuple(self.condition(child, f"'{word}'", depth) for child in syntax.values)
                return Logic("and" if word == "and" else "or", children)
            case ast.Compare():
                return self.comparison(syntax, depth)
            case ast.IfExp():
                return self.conditional(syntax, depth)
            case ast.Call():
                return self.call(syntax, depth)
        part: ast.AST = syntax.op if isinstance(syntax, ast.BinOp | ast.UnaryOp) else syntax
        self.not_allowed(IN_WORDS.get(type(part), f"'{type(part).__name__}'"), syntax)

    def not_allowed(self, what: str, where: ast.AST) -> NoReturn:
        allowed = "fields, constants, + - * / // %, comparisons, and/or/not, in, 'a if c else b' and functions such as abs()"
        self.refuse(f"{what} is not allowed here; use {allowed}", where, "not_allowed")

    # Leaves

    def constant(self, syntax: ast.Constant, sign: int) -> Constant:
        match syntax.value:
            case bool():
                return Constant(syntax.value, "bool")
            case int():
                value = sign * syntax.value
                if not INT_MIN <= value <= INT_MAX:
                    self.refuse(f"{value} does not fit an int; it must be between {INT_MIN} and {INT_MAX}", syntax, "out_of_range")
                return Constant(value, "int")
            case float():
                if syntax.value in (float("inf"), float("-inf")):
                    self.refuse("the number is too large for a float; it must be below 1.8e308", syntax, "out_of_range")
                return Constant(sign * syntax.value, "float")
            case str():
                if any("\ud800" <= character <= "\udfff" for character in syntax.value):
                    self.refuse("the string holds half of a surrogate pair; write whole characters", syntax, "syntax")
                self.strings.append((syntax.col_offset, syntax.value))
                return Constant(syntax.value, "string")
        self.refuse(f"{syntax.value!r} is not allowed; constants are numbers, strings, True and False", syntax, "not_allowed")

    def name(self, syntax: ast.Name) -> Node:
        if syntax.id not in self.schema and syntax.id in ("true", "false"):  # as JSON and YAML spell them
            return Constant(syntax.id == "true", "bool")
        return self.field(syntax.id, syntax)

    def field(self, name: str, where: ast.AST) -> Node:
        if name not in self.schema:
            self.refuse(f"unknown field '{name}'; use a field of the input", where, "unknown_field", self.known_fields(name))
        self.fields.add(name)
        index = self.schema.index(name)
        type = self.schema.fields[index].type
        if type == "vector":
            self.refuse(f"'{name}' is a vector, which has no value here; only similarity joins read vectors", where, "type_mismatch")
        return FieldReference(name, index, type)

    def known_fields(self, name: str) -> str:
        """The field that was probably meant, or else the fields that there are, as they are written here."""
        near = difflib.get_close_matches(name, self.schema.names, n=1)
        if near and field_text(near[0]) != near[0]:
            return f"did you mean {field_text(near[0])}?"
        return suggestion(name, self.schema.names if near else map(field_text, self.schema.names))

    # Arithmetic

    def negation(self, syntax: ast.UnaryOp, depth: int) -> Node:
        if isinstance(syntax.operand, ast.Constant) and type(syntax.operand.value) in (int, float):
            return self.constant(syntax.operand, -1)  # so that -2^63 can be written
        child = self.node(syntax.operand, depth + 1)
        if child.type not in ("int", "float"):
            self.refuse(f"'-' needs a number, but {self.described(syntax.operand, child)}", syntax, "type_mismatch")
        return Unary("-", child, child.type)

    def arithmetic(self, syntax: ast.BinOp, operation: BinaryName, depth: int) -> Node:
        left, right = self.node(syntax.left, depth + 1), self.node(syntax.right, depth + 1)
        types = (left.type, right.type)
        for side, child in ((syntax.left, left), (syntax.right, right)):
            if child.type in ("string", "bool"):
                self.refuse(f"'{operation}' needs numbers, but {self.described(side, child)}", side, "type_mismatch")
        if "timestamp" in types:
            results: dict[tuple[str, tuple[FieldType, FieldType]], FieldType] = {
                ("-", ("timestamp", "timestamp")): "int",
                ("-", ("timestamp", "int")): "timestamp",
                ("+", ("timestamp", "int")): "timestamp",
                ("+", ("int", "timestamp")): "timestamp",
                ("//", ("timestamp", "int")): "int",
                ("%", ("timestamp", "int")): "int",
            }
            result = results.get((operation, types))
            if result is None:
                remedy = "a timestamp supports +, -, //, % with an int of ns such as seconds(5), and - with a timestamp"
                self.refuse(f"'{operation}' cannot combine {types[0]} and {types[1]}; {remedy}", syntax, "type_mismatch")
            return Binary(operation, left, right, result)
        if operation == "/":
            return Binary(operation, as_float(left), as_float(right), "float")
        if "float" in types:
            if operation in ("//", "%"):
                remedy = "use floor(a / b)" if operation == "//" else "use a - floor(a / b) * b"
                message = f"'{operation}' needs ints on both sides, not {types[0]} and {types[1]}; {remedy} for floats"
                self.refuse(message, syntax, "type_mismatch")
            return Binary(operation, as_float(left), as_float(right), "float")
        return Binary(operation, left, right, "int")

    # Functions

    def call(self, syntax: ast.Call, depth: int) -> Node:
        name = syntax.func.id if isinstance(syntax.func, ast.Name) else None
        if name is None or name not in FUNCTIONS:
            self.unknown_function(syntax, name)
        function = FUNCTIONS[name]
        if syntax.keywords or any(isinstance(argument, ast.Starred) for argument in syntax.args):
            self.refuse(f"{name}() takes plain arguments only, without names or '*'", syntax, "not_allowed")
        count = len(syntax.args)
        if count < function.least or (count > function.least and not function.repeated):
            least = NUMBERS[function.least]
            wanted = f"{least} or more arguments" if function.repeated else f"exactly {counted(function.least, least)}"
            message = f"{name}() has {counted(count, str(count))}; it takes {wanted}"
            self.refuse(message, syntax, "wrong_arguments", "; ".join(function.shown()))
        nodes = [self.node(argument, depth + count) for argument in syntax.args]  # min(a, b, c) is min(min(a, b), c)
        for signature in function.signatures:
            if signature.takes(nodes):
                if function.group == CALENDAR:
                    nodes = [self.dated(function, syntax.args[0], nodes[0])]
                try:
                    node = signature.applied(nodes)
                except BadArgument as bad:
                    self.refuse(str(bad), syntax.args[bad.position], "out_of_range")
                if isinstance(node, OfText) and node.type == "bool":
                    self.comparisons.append("string")
                return node
        self.wrong_types(function, syntax, nodes)

    def dated(self, function: Function, syntax: ast.expr, node: Node) -> Node:
        """The timestamp counted from 1970."""
        zero_ns = zero_of(node, self.schema)
        if zero_ns is None:
            shown = ast.get_source_segment(self.line, syntax)
            message = f"{function.name}() needs a date, but the date of '{shown}' is not known here; use it where the stream is read"
            self.refuse(message, syntax, "no_date", "without a date, use for example time // hours(1) % 24")
        return Binary("+", node, Constant(zero_ns, "int"), "timestamp") if zero_ns else node

    def unknown_function(self, syntax: ast.Call, name: str | None) -> NoReturn:
        if isinstance(syntax.func, ast.Attribute) and syntax.func.attr in FUNCTIONS:
            method = syntax.func.attr
            arguments = ", ".join(ast.unparse(argument) for argument in (syntax.func.value, *syntax.args))
            self.refuse(f"the call .{method}() is not allowed", syntax, "not_allowed", f"write {method}({arguments})")
        if name is None:
            self.refuse("this call is not allowed; call a function by its name, such as abs(x)", syntax, "not_allowed")
        small = name.lower()
        hint = f"write {small}()" if small in FUNCTIONS else INSTEAD.get(small) or suggestion(name, FUNCTIONS)
        self.refuse(f"{name}() is not a function of the expression language", syntax, "not_allowed", hint)

    def wrong_types(self, function: Function, syntax: ast.Call, nodes: Sequence[Node]) -> NoReturn:
        """Refuse the first argument that no signature accepts, or else the combination of types."""
        hint = "; ".join(function.shown())
        for position, (argument, node) in enumerate(zip(syntax.args, nodes, strict=True)):
            parameters = [signature.parameter(position) for signature in function.signatures]
            if any(parameter.takes(node) for parameter in parameters):
                continue
            wanted = " or ".join(dict.fromkeys(A_TYPE.get(parameter.type, "a value") for parameter in parameters))
            found = self.described(argument, node)
            if any(parameter.constant and parameter.type == node.type for parameter in parameters):
                wanted, found = f"{wanted} literal", f"{found} that is computed for each record"
            self.refuse(f"{function.name}() needs {wanted} as {parameters[0].name}, but {found}", argument, "type_mismatch", hint)
        types = " with ".join(sorted({node.type for node in nodes}, reverse=True))
        self.refuse(f"{function.name}() cannot mix {types}; all must have the same type", syntax, "type_mismatch", hint)

    # Conditions

    def condition(self, syntax: ast.expr, user: str, depth: int) -> Node:
        child = self.node(syntax, depth + 1)
        if child.type != "bool":
            self.refuse(f"{user} needs conditions, but {self.described(syntax, child)}; compare it with a value", syntax, "type_mismatch")
        return child

    def comparison(self, syntax: ast.Compare, depth: int) -> Node:
        terms: list[Node] = []
        left_syntax = syntax.left
        left = self.node(left_syntax, depth + 1)
        for operator, right_syntax in zip(syntax.ops, syntax.comparators, strict=True):
            word = COMPARISONS.get(type(operator))
            if word is None:
                self.not_allowed(IN_WORDS[type(operator)], right_syntax)
            if word in ("in", "not in"):
                if len(syntax.ops) > 1:
                    self.refuse("'in' cannot be part of a chain; join the two conditions with 'and'", right_syntax, "not_allowed")
                member = self.membership(left_syntax, left, right_syntax)
                return Unary("not", member, "bool") if word == "not in" else member
            right = self.node(right_syntax, depth + 1)
            terms.append(self.compared(word, left_syntax, left, right_syntax, right))
            left_syntax, left = right_syntax, right
        return terms[0] if len(terms) == 1 else Logic("and", tuple(terms))

    def compared(self, word: str, left_syntax: ast.expr, left: Node, right_syntax: ast.expr, right: Node) -> Node:
        types = {left.type, right.type}
        ordered = word not in ("==", "!=")
        if ordered and "bool" in types:
            side, child = (left_syntax, left) if left.type == "bool" else (right_syntax, right)
            message = f"'{word}' needs numbers, strings or timestamps, but {self.described(side, child)}; bools support only == and !="
            self.refuse(message, side, "type_mismatch")
        if len(types) > 1 and types not in ({"int", "float"}, {"int", "timestamp"}):
            both = f"{self.described(left_syntax, left)}, {self.described(right_syntax, right)}"
            self.refuse(f"'{word}' needs two values of the same type, but {both}", left_syntax, "type_mismatch")
        self.comparisons.append("float" if "float" in types else left.type)
        if "float" in types:
            left, right = as_float(left), as_float(right)
        if ordered and "string" in types:
            left, right = (OfText(TextFunction("rank"), side, "int") for side in (left, right))
        match word:
            case "==":
                return Binary("==", left, right, "bool")
            case "!=":
                return Unary("not", Binary("==", left, right, "bool"), "bool")
            case ">":
                return Binary("<", right, left, "bool")
            case ">=":
                return Binary("<=", right, left, "bool")
            case "<":
                return Binary("<", left, right, "bool")
            case _:
                return Binary("<=", left, right, "bool")

    def membership(self, left_syntax: ast.expr, left: Node, right: ast.expr) -> Node:
        if not isinstance(right, ast.Tuple | ast.List) or not right.elts:
            hint = "to search in a string, write contains(text, part)" if left.type == "string" else ""
            self.refuse(
                "'in' needs a list of constants, such as ('a', 'b') or (1, 2); write a single one as (1,)", right, "not_allowed", hint
            )
        values: list[Constant] = []
        for element in right.elts:
            value = self.literal(element)
            same = value.type == left.type or {value.type, left.type} in ({"int", "float"}, {"int", "timestamp"})
            if not same:
                both = f"{self.described(left_syntax, left)}, {self.described(element, value)}"
                self.refuse(f"'in' needs values of the same type, but {both}", element, "type_mismatch")
            values.append(value)
        self.comparisons.append(left.type)
        if left.type == "float" or any(value.type == "float" for value in values):
            return Member(as_float(left), tuple(Constant(float(value.value), "float") for value in values))
        return Member(left, tuple(values))

    def literal(self, syntax: ast.expr) -> Constant:
        match syntax:
            case ast.Constant():
                return self.constant(syntax, 1)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand) if type(operand.value) in (int, float):
                return self.constant(operand, -1)
        self.refuse("the list after 'in' can contain only constants: numbers, strings, True, False", syntax, "not_allowed")

    def conditional(self, syntax: ast.IfExp, depth: int) -> Node:
        condition = self.condition(syntax.test, "'if'", depth)
        yes, no = self.node(syntax.body, depth + 1), self.node(syntax.orelse, depth + 1)
        if {yes.type, no.type} == {"int", "float"}:
            yes, no = as_float(yes), as_float(no)
        if yes.type != no.type:
            message = f"'if' gives {yes.type} or {no.type}; both branches must have the same type"
            self.refuse(message, syntax, "type_mismatch")
        return Conditional(condition, yes, no, yes.type)

    def described(self, syntax: ast.expr, node: Node) -> str:
        """The expression and its type, for messages: 'name' is a string."""
        shown = ast.get_source_segment(self.line, syntax) or "it"
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        if not isinstance(syntax, ast.Constant):
            shown = f"'{shown}'"
        return f"{shown} is {A_TYPE[node.type]}"


def zero_of(node: Node, schema: RecordSchema) -> int | None:
    """The calendar time of a timestamp's 0, in ns since 1970; None if unknown."""
    match node:
        case FieldReference():
            return schema.field(node.name).zero_ns
        case Binary() if node.type == "timestamp":
            return common(zero_of(child, schema) for child in (node.left, node.right) if child.type == "timestamp")
        case Conditional() if node.type == "timestamp":
            return common((zero_of(node.yes, schema), zero_of(node.no, schema)))
        case Unary() if node.type == "timestamp":  # timestamp(ns)
            return schema.zero_ns
    return None


def field_text(name: str) -> str:
    """Return a field as an expression writes it: its name, or ``record["..."]`` where Python would read the bare name differently."""
    is_plain = name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
    return name if is_plain else f"record[{json.dumps(name, ensure_ascii=False).translate(LINE_ENDS)}]"


def outside_quotes(line: str) -> str:
    """Return a text with all that is in quotes taken out."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)


def counted(count: int, shown: str) -> str:
    return f"{shown} argument{'' if count == 1 else 's'}"


def as_here(line: str) -> str:
    """A hint for a text in SQL syntax, or ''."""
    return next((hint for pattern, hint in AS_IN_SQL if re.search(pattern, outside_quotes(line))), "")
