"""The functions of the expression language, for the parser, editor completion and documentation.

Each entry of `FUNCTIONS` has a help text and one or more signatures, each with the tree it builds. A signature gives the types of arguments
and result. An int is accepted for a float; ``constant`` marks an argument that must be a literal; ``...`` marks a parameter that can be
repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any, Literal, cast

from ..base.records import FieldType
from .tree import Binary, BinaryName, Constant, Node, OfText, TextFunction, Unary, UnaryName, as_float

INT_MAX = 2**63 - 1
SECOND_NS = 1_000_000_000
HASH_SEED = 42
"""Spark's seed, so that hash() equals Spark's xxhash64."""

CALENDAR = "Calendar"
"""The group of functions that need a date. Their timestamp argument counts from 1970."""

UNITS_NS = {
    "milliseconds": 1_000_000,
    "seconds": SECOND_NS,
    "minutes": 60 * SECOND_NS,
    "hours": 3600 * SECOND_NS,
    "days": 86400 * SECOND_NS,
}


class BadArgument(ValueError):
    """An argument of the right type with an invalid value. position: index of the argument, from 0."""

    def __init__(self, position: int, message: str):
        super().__init__(message)
        self.position = position


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function. type: "any" accepts all types. constant: the argument must be a literal."""

    name: str
    type: FieldType | Literal["any"]
    constant: bool = False

    def takes(self, node: Node) -> bool:
        if self.constant and not isinstance(node, Constant):
            return False
        return self.type in ("any", node.type) or (self.type, node.type) == ("float", "int")


@dataclass(frozen=True)
class Signature:
    """A signature of a function. text: as shown. repeated: the last parameter can be repeated. tree: builds the node of a call."""

    text: str
    parameters: tuple[Parameter, ...]
    repeated: bool
    result: FieldType
    tree: Callable[..., Node]

    @classmethod
    def of(cls, text: str, tree: Callable[..., Node]) -> Signature:
        """Parse a text such as "(text: string, start: constant string) -> bool"."""
        inside, _, result = text.removeprefix("(").partition(") -> ")
        parts = inside.split(", ")
        repeated = parts[-1] == "..."
        parameters = []
        for part in parts[:-1] if repeated else parts:
            name, _, type = part.partition(": ")
            parameters.append(Parameter(name, cast(FieldType, type.removeprefix("constant ")), type.startswith("constant ")))
        return cls(text, tuple(parameters), repeated, cast(FieldType, result), tree)

    def parameter(self, position: int) -> Parameter:
        return self.parameters[min(position, len(self.parameters) - 1)]

    def takes(self, nodes: Sequence[Node]) -> bool:
        return all(self.parameter(position).takes(node) for position, node in enumerate(nodes))

    def applied(self, nodes: Sequence[Node]) -> Node:
        """Build the tree of a call. Raises BadArgument."""
        wanted = [self.parameter(position).type for position in range(len(nodes))]
        return self.tree(*(as_float(node) if type == "float" else node for node, type in zip(nodes, wanted, strict=True)))


@dataclass(frozen=True)
class Function:
    """A function with its help (one or two sentences) and example for editors. All signatures take the same number of arguments."""

    name: str
    group: str
    help: str
    example: str
    signatures: tuple[Signature, ...]

    @property
    def least(self) -> int:
        """Minimum number of arguments; the exact number unless `repeated`."""
        return len(self.signatures[0].parameters)

    @property
    def repeated(self) -> bool:
        return self.signatures[0].repeated

    def shown(self) -> list[str]:
        return [f"{self.name}{signature.text}" for signature in self.signatures]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able description for editor completion. `type` of a parameter is a field type or "any"."""
        signatures = [
            {
                "text": text,
                "parameters": [asdict(parameter) for parameter in signature.parameters],
                "repeated": signature.repeated,
                "result": signature.result,
            }
            for text, signature in zip(self.shown(), self.signatures, strict=True)
        ]
        return {"name": self.name, "group": self.group, "help": self.help, "example": self.example, "signatures": signatures}


def _unary(operation: UnaryName, type: FieldType) -> Callable[..., Node]:
    return lambda x: Unary(operation, x, type)


def _folded(operation: BinaryName) -> Callable[..., Node]:
    """Fold the operation over all arguments, from left to right."""
    return lambda *values: reduce(lambda left, right: Binary(operation, left, right, left.type), values)


def _same(x: Node) -> Node:
    return x


def _of_text(name: str, type: FieldType) -> Callable[..., Node]:
    return lambda text, *constants: OfText(TextFunction(name, tuple(constant.value for constant in constants)), text, type)


def _hash(*values: Node) -> Node:
    """Chained xxHash64: each word is hashed with the previous hash as its seed. A string enters as the hash of its UTF-8 bytes."""
    words = [_hashable(value) for value in values]
    if values[0].type != "string":
        words.insert(0, Constant(HASH_SEED, "int"))
    return _folded("hash")(*words)


def _hashable(value: Node) -> Node:
    """A word that is equal for equal values."""
    match value.type:
        case "string":
            return OfText(TextFunction("hash"), value, "int")
        case "float":
            return Unary("bits", value, "int")
    return value


def _bucket(x: Node, n: Constant) -> Node:
    if int(n.value) < 1:
        raise BadArgument(1, f"bucket() needs at least one bucket, but n is {n.value}")
    return Binary("%", _hash(x), n, "int")


def _duration(unit_ns: int) -> tuple[Callable[..., Node], Callable[..., Node]]:
    """Trees that convert an int and a float number of units to ns."""

    def of_int(n: Node) -> Node:
        if not isinstance(n, Constant):
            return Binary("*", n, Constant(unit_ns, "int"), "int")
        if abs(int(n.value)) * unit_ns > INT_MAX:
            raise BadArgument(0, f"{n.value} is too long; a duration is at most {INT_MAX // unit_ns:,} of these units")
        return Constant(int(n.value) * unit_ns, "int")

    def of_float(n: Node) -> Node:
        return Unary("round", Binary("*", n, Constant(float(unit_ns), "float"), "float"), "int")

    return of_int, of_float


def _part(unit_ns: int, count: int, first: int = 0) -> Callable[..., Node]:
    """Index of the timestamp's unit in a cycle of `count` units. 1970-01-01T00:00 has index `first`."""

    def tree(t: Node) -> Node:
        number: Node = Binary("//", t, Constant(unit_ns, "int"), "int")
        if first:
            number = Binary("+", number, Constant(first, "int"), "int")
        return Binary("%", number, Constant(count, "int"), "int")

    return tree


def _weekday(t: Node) -> Node:
    return Binary("+", _part(UNITS_NS["days"], 7, first=3)(t), Constant(1, "int"), "int")  # 1970-01-01 was a Thursday


def _of_date(operation: UnaryName) -> Callable[..., Node]:
    return lambda t: Unary(operation, Binary("//", t, Constant(UNITS_NS["days"], "int"), "int"), "int")


def _function(name: str, group: str, help: str, example: str, signatures: Mapping[str, Callable[..., Node]]) -> Function:
    return Function(name, group, help, example, tuple(Signature.of(text, tree) for text, tree in signatures.items()))


def _rounding(name: Literal["floor", "ceil", "round"], help: str, example: str) -> Function:
    signatures = {"(x: int) -> int": _same, "(x: float) -> int": _unary(name, "int")}
    return _function(
        name, "Numbers", f"{help} NaN gives 0, an out-of-range value the nearest int; both count as errors.", example, signatures
    )


def _extreme(name: Literal["min", "max"], help: str, example: str) -> Function:
    types = ("int", "float", "timestamp")
    return _function(name, "Numbers", help, example, {f"(x: {t}, y: {t}, ...) -> {t}": _folded(name) for t in types})


def _test_of_text(name: str, other: str, help: str, example: str) -> Function:
    return _function(name, "Texts", help, example, {f"(text: string, {other}: constant string) -> bool": _of_text(name, "bool")})


def _span(name: str) -> Function:
    of_int, of_float = _duration(UNITS_NS[name])
    signatures = {"(n: int) -> int": of_int, "(n: float) -> int": of_float}
    help = f"A duration of n {name}, in ns: add it to a timestamp, or divide the difference of two timestamps by it."
    return _function(name, "Durations", help, f"time + {name}(5)", signatures)


def _calendar(name: str, help: str, tree: Callable[..., Node]) -> Function:
    return _function(name, CALENDAR, help, f"{name}(time)", {"(t: timestamp) -> int": tree})


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        _function(
            "abs",
            "Numbers",
            "The absolute value.",
            "abs(a - b)",
            {"(x: int) -> int": _unary("abs", "int"), "(x: float) -> float": _unary("abs", "float")},
        ),
        _extreme("min", "The smallest of two or more values.", "min(price, 100)"),
        _extreme("max", "The largest of two or more values.", "max(price, 0)"),
        _rounding("floor", "The largest int not above x.", "floor(longitude / 0.005)"),
        _rounding("ceil", "The smallest int not below x.", "ceil(seconds_left / 60)"),
        _rounding("round", "The nearest int; halves round away from zero.", "round(price * 100) / 100"),
        _function("sqrt", "Numbers", "The square root; NaN for a negative number.", "sqrt(dx * dx + dy * dy)", {
            "(x: float) -> float": _unary("sqrt", "float"),
        }),
        _function(
            "int",
            "Types",
            "Convert to int: a float is truncated (out of range as for floor), True is 1, a timestamp gives ns.",
            "int(price > 100)",
            {
                "(x: int) -> int": _same,
                "(x: float) -> int": _unary("int", "int"),
                "(x: bool) -> int": _unary("retyped", "int"),
                "(x: timestamp) -> int": _unary("retyped", "int"),
            },
        ),
        _function("float", "Types", "Convert to the nearest float.", "float(count)", {"(x: float) -> float": _same}),
        _function("timestamp", "Types", "The timestamp this many ns after the start.", "timestamp(created_ms * 1000000)", {
            "(ns: int) -> timestamp": _unary("retyped", "timestamp"),
        }),
        _test_of_text("startswith", "start", "Whether the string begins with these characters.", "startswith(name, 'An')"),
        _test_of_text("endswith", "end", "Whether the string ends with these characters.", "endswith(email, '.org')"),
        _test_of_text("contains", "part", "Whether the string contains these characters.", "contains(title, 'radio')"),
        _test_of_text(
            "like",
            "pattern",
            "Whether the whole string matches the pattern. % matches any characters, _ a single one; a backslash escapes %, _ and itself.",
            "like(city, 'San %')",
        ),
        _function("length", "Texts", "The number of characters.", "length(name)", {"(text: string) -> int": _of_text("length", "int")}),
        _function("lower", "Texts", "The string in lower case.", "lower(state) == 'or'", {
            "(text: string) -> string": _of_text("lower", "string"),
        }),
        _function("upper", "Texts", "The string in upper case.", "upper(state)", {
            "(text: string) -> string": _of_text("upper", "string"),
        }),
        _function(
            "hash",
            "Keys",
            "A pseudo-random number computed from all values; equal values give equal numbers. Useful as a key of several fields.",
            "hash(ad, query)",
            {"(x: any, ...) -> int": _hash},
        ),
        _function("bucket", "Keys", "One of n buckets, 0 to n - 1, by the hash of x.", "bucket(user, 16)", {
            "(x: any, n: constant int) -> int": _bucket,
        }),
        *map(_span, UNITS_NS),
        _calendar("hour", "Hour of the day, 0 to 23, in UTC.", _part(UNITS_NS["hours"], 24)),
        _calendar("minute", "Minute of the hour, 0 to 59.", _part(UNITS_NS["minutes"], 60)),
        _calendar("second", "Second of the minute, 0 to 59.", _part(SECOND_NS, 60)),
        _calendar("weekday", "Day of the week, in UTC: 1 is Monday, 7 is Sunday.", _weekday),
        _calendar("day", "Day of the month, 1 to 31, in UTC.", _of_date("day")),
        _calendar("month", "Month, 1 to 12, in UTC.", _of_date("month")),
        _calendar("year", "Year, in UTC.", _of_date("year")),
    )
}  # fmt: skip

INSTEAD = {
    name: advice
    for names, advice in {
        "least": "write min()",
        "greatest": "write max()",
        "ceiling": "write ceil()",
        "trunc truncate integer bigint long": "write int(x), which truncates",
        "double real": "write float(x)",
        "cast try_cast convert": "write int(x), float(x) or timestamp(ns)",
        "len char_length character_length": "write length()",
        "lcase": "write lower()",
        "ucase": "write upper()",
        "rlike regexp regexp_like ilike": "write like(text, pattern), and lower(text) to ignore case",
        "position instr locate strpos charindex": "write contains(text, part)",
        "iif case when decode": "write a if condition else b",
        "mod pmod": "write a % b, which is never negative for a positive b",
        "div": "write a // b",
        "pow power square": "write x * x",
        "xxhash64 murmur_hash md5 sha1 crc32": "write hash()",
        "dayofmonth": "write day()",
        "dayofweek": "write weekday()",
        "date_trunc": "write time - time % hours(1)",
        "datediff timestampdiff": "write (b - a) // days(1)",
        "dateadd timestampadd interval": "write time + minutes(5)",
        "coalesce ifnull nvl isnull isnotnull nullif": "there are no missing values, so nothing needs a replacement",
        "str string concat substring substr left right replace trim format split": (
            "a running query creates no new strings, except by lower() and upper(); use hash(a, b) as a key of two fields"
        ),
        "exp ln log log2 log10 sin cos tan asin acos atan atan2 cbrt hypot": (
            "only operations with identical bits on every processor are available, such as + - * / and sqrt()"
        ),
        "now current_timestamp rand random uuid": "an expression depends on its record alone",
        "sum count avg mean": "an expression sees one record; use an aggregate operator",
    }.items()
    for name in names.split()
}
"""Advice for functions that SQL users look for."""
