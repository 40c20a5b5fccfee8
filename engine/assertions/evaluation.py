"""Evaluate assertions (`engine.spec.expressions.assertions`). A missing value ends the evaluation with a reason."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from engine.spec.expressions.assertions import Arithmetic, Call, Comparison, Logic, Name, Node
from engine.spec.expressions.assertions import Number as Constant
from engine.studies.verdict import slope

from .series import AtLeast, Missing, Number, Series, Value


class NotEvaluated(ValueError):
    """The expression has no value; the message says why."""


@dataclass(frozen=True)
class Truths:
    """Truth value per point. x, holds: shape (n,)."""

    x: tuple[float | str, ...]
    holds: tuple[bool, ...]


Xs = tuple[float | str, ...]
Ys = tuple[float, ...]
Reported = Mapping[str, float | Series]
NAMED_MAX = 5
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """A part of an assertion and its measured value; for a series, minimum and maximum. most: infinite for a number that is only known to
    be at least `least`."""

    text: str
    least: float
    most: float


def evaluate(tree: Node, values: Mapping[str, Value], reported: Reported | None = None, sides: list[Side] | None = None) -> Any:
    """Return a float, a `Series` or a bool, by the expression's type. sides: collects the compared values. Raises NotEvaluated."""
    return _Evaluator(values, reported or {}, sides if sides is not None else [])(tree)


class _Evaluator:
    def __init__(self, values: Mapping[str, Value], reported: Reported, sides: list[Side]):
        self.values, self.reported, self.sides = values, reported, sides

    def __call__(self, node: Node) -> Any:
        match node:
            case Constant(value):
                return value
            case Name():
                return self.name(node)
            case Arithmetic():
                return self.arithmetic(node, self(node.left), self(node.right))
            case Comparison():
                return self.comparison(node)
            case Logic():
                truths = [self(child) for child in node.children]  # evaluate all, so that all sides are shown
                return {"and": all(truths), "or": any(truths), "not": not truths[0]}[node.operation]
            case Call():
                return self.call(node)

    def name(self, node: Name) -> float | Series:
        if node.reported:
            return self.reported[node.name]
        value = self.values[node.name]
        if isinstance(value, Missing):
            raise NotEvaluated(f"{node.name} is missing: {value.reason}")
        return value.value if isinstance(value, Number) else value

    def arithmetic(self, node: Arithmetic, left: float | Series, right: float | Series) -> float | Series:
        _refuse_open(left, right)
        if isinstance(left, float) and isinstance(right, float):
            return self.computed(node, left, right)
        x, lefts, rights = _side_by_side(left, right, node.text)
        return Series(x, tuple(self.computed(node, *both) for both in zip(lefts, rights, strict=True)))

    @staticmethod
    def computed(node: Arithmetic, left: float, right: float) -> float:
        if node.operation == "/" and right == 0:
            raise NotEvaluated(f"division by zero: {node.right.text} is 0")
        value: float = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[node.operation](left, right)
        if not math.isfinite(value):
            raise NotEvaluated(f"{node.text} is not a finite number")
        return value

    def comparison(self, node: Comparison) -> bool | Truths:
        operands = [self(operand) for operand in node.operands]
        for operand, value in zip(node.operands, operands, strict=True):
            self.note(operand, value)
        pairs = [self.compared(node, name, *both) for name, both in zip(node.operations, itertools.pairwise(operands), strict=True)]
        if node.type == "truth":
            return all(pairs)
        found = [pair for pair in pairs if isinstance(pair, Truths)]
        single = all(pair for pair in pairs if isinstance(pair, bool))
        for other in found[1:]:
            if other.x != found[0].x:
                raise _apart(node.text, found[0].x, other.x)
        return Truths(found[0].x, tuple(single and all(row) for row in zip(*(pair.holds for pair in found), strict=True)))

    @staticmethod
    def compared(node: Comparison, name: str, left: float | Series, right: float | Series) -> bool | Truths:
        if isinstance(left, float) and isinstance(right, float):
            return _compared(name, left, right)
        x, lefts, rights = _side_by_side(left, right, node.text)
        return Truths(x, tuple(_compared(name, *both) for both in zip(lefts, rights, strict=True)))

    def note(self, node: Node, value: float | Series) -> None:
        """Record a measured side, except constants."""
        if isinstance(node, Constant) and node.text != "tolerance":
            return
        y = (value,) if isinstance(value, float) else value.y
        if y:
            self.sides.append(Side(node.text, float(min(y)), math.inf if any(isinstance(each, AtLeast) for each in y) else float(max(y))))

    def call(self, node: Call) -> Any:
        arguments = [self(argument) for argument in node.arguments]
        if node.function in ("within", "near"):
            for argument, value in zip(node.arguments, arguments, strict=True):
                self.note(argument, value)
        for argument, value in zip(node.arguments, arguments, strict=True):
            empty = (isinstance(value, Series) and not value.y) or (isinstance(value, Truths) and not value.holds)
            if node.function not in ("points", "between", "at", "first", "last"):  # these hand numbers on as they are
                _refuse_open(value)
            if empty and node.function not in ("count", "between", "where"):
                raise NotEvaluated(f"{argument.text} has no points")
        return FUNCTIONS[node.function](node, *arguments)


def _compared(name: str, left: float, right: float) -> bool:
    """Compare two numbers. A number that is only known to be at least some value may decide a comparison nevertheless."""
    compare = COMPARE[name]
    found = {compare(one, other) for one in _ends(left) for other in _ends(right)}
    if len(found) > 1 or name in ("==", "!="):
        _refuse_open(left, right)
    return compare(left, right)


def _ends(number: float) -> tuple[float, ...]:
    return (float(number), math.inf) if isinstance(number, AtLeast) else (number,)


def _refuse_open(*values: Any) -> None:
    """Raise NotEvaluated if a number is only known to be at least some value."""
    for value in values:
        for number in value.y if isinstance(value, Series) else (value,):
            if isinstance(number, AtLeast):
                raise NotEvaluated(number.why)


def _apart(text: str, left: Xs, right: Xs) -> NotEvaluated:
    """Return an error that names some x at which only one of two series has a point."""
    alone = [str(x) if isinstance(x, str) else f"{x:g}" for x in dict.fromkeys((*left, *right)) if (x in left) != (x in right)]
    named = ", ".join(alone[:NAMED_MAX]) + (f" and {len(alone) - NAMED_MAX} more" if len(alone) > NAMED_MAX else "")
    return NotEvaluated(f"the series in '{text}' have different x values" + (f": only one has {named}" if alone else ""))


def _side_by_side(left: float | Series, right: float | Series, text: str) -> tuple[Xs, Ys, Ys]:
    if isinstance(left, float):
        assert isinstance(right, Series)
        return right.x, (left,) * len(right.x), right.y
    if isinstance(right, float):
        return left.x, left.y, (right,) * len(left.x)
    if left.x != right.x:
        raise _apart(text, left.x, right.x)
    return left.x, left.y, right.y


def _numbers(node: Call, series: Series | Truths) -> list[float]:
    """Return the x values as numbers."""
    if any(isinstance(x, str) for x in series.x):
        raise NotEvaluated(f"the x values of {node.arguments[0].text} are names, not numbers")
    return [float(x) for x in series.x]


def _between(node: Call, series: Series, first: float, last: float) -> Series:
    chosen = [(x, y) for x, y in zip(_numbers(node, series), series.y, strict=True) if first < x <= last]
    return Series(tuple(x for x, _ in chosen), tuple(y for _, y in chosen))


def _where(node: Call, series: Series, truths: Truths) -> Series:
    holds = dict(zip(truths.x, truths.holds, strict=True))
    for x in series.x:
        if x not in holds:
            raise NotEvaluated(f"{node.arguments[0].text} has a point at {x}, but {node.arguments[1].text} does not")
    chosen = [(x, y) for x, y in zip(series.x, series.y, strict=True) if holds[x]]
    return Series(tuple(x for x, _ in chosen), tuple(y for _, y in chosen))


def _at(node: Call, series: Series, x: float) -> float:
    for here, y in zip(_numbers(node, series), series.y, strict=True):
        if math.isclose(here, x, rel_tol=1e-9, abs_tol=1e-12):
            return y
    raise NotEvaluated(f"{node.arguments[0].text} has no point at {x:g}")


def _when(node: Call, truths: Truths) -> float:
    for x, holds in zip(_numbers(node, truths), truths.holds, strict=True):
        if holds:
            return x
    raise NotEvaluated(f"{node.arguments[0].text} never holds")


def _points(node: Call, *numbers: float) -> Series:
    if len(numbers) % 2:
        raise NotEvaluated(f"{node.text} has {len(numbers)} numbers; each point needs an x and a y")
    return Series(numbers[::2], numbers[1::2])


def _lasting(node: Call, truths: Truths, count: float) -> float:
    x, many = _numbers(node, truths), math.ceil(count)
    for first in range(len(x) - many + 1):
        if many > 0 and all(truths.holds[first : first + many]):
            return x[first]
    raise NotEvaluated(f"{node.arguments[0].text} never holds at {count:g} consecutive points")


def _slope(node: Call, series: Series) -> float:
    x = _numbers(node, series)
    if len(set(x)) < 2 or len(set(x)) < len(x):
        raise NotEvaluated(
            f"{node.arguments[0].text} has {len(set(x))} different x values among {len(x)} points; a slope needs all different"
        )
    order = np.argsort(x)
    return slope(np.array(x)[order], np.array(series.y)[order])


def _quantile(ordered: list[float], share: float) -> float:
    """The least value that at least this share of the values does not exceed. ordered: ascending, at least one."""
    if not 0 < share <= 1:
        raise NotEvaluated(f"the share of a quantile is {share:g}; it must be above 0 and at most 1")
    return ordered[max(math.ceil(share * len(ordered) - 1e-9), 1) - 1]


def _quantiles(node: Call, series: Series, first: float, last: float) -> Series:
    percents = [float(percent) for percent in range(math.ceil(first), math.floor(last) + 1)]
    if not percents:
        raise NotEvaluated(f"there is no whole per cent from {first:g} to {last:g}")
    ordered = sorted(series.y)
    return Series(tuple(percents), tuple(_quantile(ordered, percent / 100) for percent in percents))


def _proportion(hits: float, of: float) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927)."""
    if not 0 <= hits <= of or of == 0:
        raise NotEvaluated(f"{hits:g} of {of:g} is no share")
    z, share = 1.959963984540054, hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _steps(node: Call, series: Series) -> Series:
    if len(series.y) < 2:
        raise NotEvaluated(f"{node.arguments[0].text} has only one point")
    return Series(series.x[1:], tuple(later - earlier for earlier, later in zip(series.y, series.y[1:], strict=False)))


def _least(node: Call, *numbers: Any) -> float:
    return float(min(numbers[0].y if isinstance(numbers[0], Series) else numbers))


def _most(node: Call, *numbers: Any) -> float:
    return float(max(numbers[0].y if isinstance(numbers[0], Series) else numbers))


def _abs(node: Call, value: float | Series) -> float | Series:
    return abs(value) if isinstance(value, float) else Series(value.x, tuple(map(abs, value.y)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": lambda node, truths: all(truths.holds),
    "any": lambda node, truths: any(truths.holds),
    "when": _when,
    "lasting": _lasting,
    "points": _points,
    "between": _between,
    "where": _where,
    "at": _at,
    "mean": lambda node, series: float(np.mean(series.y)),
    "median": lambda node, series: float(median(series.y)),
    "sum": lambda node, series: float(sum(series.y)),
    "count": lambda node, series: float(len(series.y)),
    "first": lambda node, series: series.y[0],
    "last": lambda node, series: series.y[-1],
    "deviation": lambda node, series: float(np.std(series.y)),
    "quantile": lambda node, series, share: _quantile(sorted(series.y), share),
    "quantiles": _quantiles,
    "proportion_low": lambda node, hits, of: _proportion(hits, of)[0],
    "proportion_high": lambda node, hits, of: _proportion(hits, of)[1],
    "slope": _slope,
    "steps": _steps,
    "min": _least,
    "max": _most,
    "abs": _abs,
    "within": lambda node, a, b, most: abs(a - b) <= most,
    "near": lambda node, a, b, share: abs(a - b) <= share * abs(b),
}
