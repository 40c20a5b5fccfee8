"""Random queries of three templates (Heinrich et al. 2024, Figure 6): linear ones, and joins of two and of three streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.core.random import Chance
from engine.costmodels.description import (
    Aggregate,
    Dtype,
    Filter,
    Join,
    Operator,
    Query,
    Sink,
    Source,
    Window,
    WindowedAggregate,
)

from . import grid

Template = Literal["linear", "two_way", "three_way"]
PERCENT: dict[Template, int] = {"linear": 35, "two_way": 34, "three_way": 31}


@dataclass(frozen=True)
class DrawnQuery(Query):
    """template: or the name of a benchmark."""

    template: str


class Drawing:
    """One query under construction."""

    def __init__(self, template: Template, chance: Chance):
        self.template = template
        self.chance = chance
        self.operators: list[Operator] = []
        self.edges: list[tuple[int, int]] = []

    def add(self, operator: Operator, *senders: int) -> int:
        """Returns its number."""
        number = len(self.operators)
        self.operators.append(operator)
        self.edges += [(sender, number) for sender in senders]
        return number

    def source(self) -> int:
        of_each = [self.chance.choice(grid.VALUES_OF_EACH) for _ in grid.DTYPES]
        return self.add(Source(self.chance.choice(grid.RATES[self.template]), *of_each))

    def filter(self, sender: int) -> int:
        dtype = self.chance.choice(self._testable(sender))
        function = self.chance.choice(grid.FUNCTIONS[dtype])
        return self.add(Filter(function, dtype, literal(dtype, self.chance)), sender)

    def _testable(self, sender: int) -> Sequence[Dtype]:
        """Types of the attributes that leave an operator: of an aggregate its value, and its key if that is no double."""
        of = self.operators[sender]
        if not isinstance(of, WindowedAggregate | Aggregate):
            return grid.DTYPES
        return [dtype for dtype in grid.DTYPES if dtype == of.result or (dtype == of.group_by and dtype != "double")]

    def perhaps_filter(self, sender: int) -> int:
        return self.filter(sender) if self.chance.coin() else sender

    def window(self) -> Window:
        kind: Literal["tumbling", "sliding"] = "sliding" if self.chance.coin() else "tumbling"
        policy: Literal["count", "time"] = "time" if self.chance.coin() else "count"
        size = self.chance.choice(grid.TIMES_MS if policy == "time" else grid.COUNTS)
        slide = max(1, int(self.chance.choice(grid.SLIDES) * size)) if kind == "sliding" else size
        return Window(kind, policy, size, slide)

    def group_by(self) -> Dtype | None:
        return self.chance.choice(grid.DTYPES) if self.chance.coin() else None

    def perhaps_aggregate(self, sender: int) -> int:
        """Of the results of a join."""
        if not self.chance.coin():
            return sender
        function, dtype = self.chance.choice(grid.AGGREGATES), self.chance.choice(grid.AGGREGATED)
        return self.add(Aggregate(function, dtype, self.group_by()), sender)

    def done(self, last: int) -> DrawnQuery:
        self.add(Sink(), last)
        return DrawnQuery(tuple(self.operators), tuple(self.edges), self.template)


def literal(dtype: Dtype, chance: Chance) -> int | float | str:
    """A value that records of synthetic streams have, too."""
    if dtype == "int":
        return chance.below(21) - 10
    return hundredths(chance.below(20)) if dtype == "double" else chance.choice("0123456789abcdef")


def hundredths(half_step: int) -> float:
    """-0.05 to 0.05 in steps of 0.01, the ends half as often, of a number from 0 to 19."""
    return ((half_step + 1) // 2 - 5) / 100


def _linear(draw: Drawing) -> int:
    last = draw.filter(draw.source())
    if not draw.chance.coin():
        return last
    function, dtype = draw.chance.choice(grid.AGGREGATES), draw.chance.choice(grid.AGGREGATED)
    return draw.perhaps_filter(draw.add(WindowedAggregate(function, dtype, draw.group_by(), draw.window()), last))


def _two_way(draw: Drawing) -> int:
    left, right = draw.filter(draw.source()), draw.perhaps_filter(draw.source())
    joined = draw.add(Join(draw.chance.choice(grid.DTYPES), draw.window()), left, right)
    return draw.perhaps_filter(draw.perhaps_aggregate(joined))


def _three_way(draw: Drawing) -> int:
    """Both joins have one key type and one window."""
    first, second = draw.filter(draw.source()), draw.filter(draw.source())
    third = draw.perhaps_filter(draw.source())
    join = Join(draw.chance.choice(grid.DTYPES), draw.window())
    return draw.perhaps_filter(draw.perhaps_aggregate(draw.add(join, draw.add(join, first, second), third)))


TEMPLATES: dict[Template, Callable[[Drawing], int]] = {"linear": _linear, "two_way": _two_way, "three_way": _three_way}


def drawn(chance: Chance) -> DrawnQuery:
    """A query of the training corpus. No two filters follow one another."""
    return of_template(chance.choice([template for template, percent in PERCENT.items() for _ in range(percent)]), chance)


def of_template(template: Template, chance: Chance) -> DrawnQuery:
    drawing = Drawing(template, chance)
    return drawing.done(TEMPLATES[template](drawing))


def chain_of_filters(count: int, chance: Chance) -> DrawnQuery:
    """A source, so many filters, no two alike, and a sink: a structure that training has not seen (experiment 5)."""
    drawing = Drawing("linear", chance)
    last = drawing.source()
    while sum(isinstance(operator, Filter) for operator in drawing.operators) < count:
        last = drawing.filter(last)
        if drawing.operators[-1] in drawing.operators[:-1]:
            drawing.operators.pop()
            drawing.edges.pop()
            last -= 1
    return drawing.done(last)


def structure(query: Query) -> str:
    """The tree of operators by their types alone, the same in whichever order a join's inputs come."""

    def below(number: int) -> str:
        inputs: Sequence[str] = sorted(below(sender) for sender in query.senders[number])
        return f"{type(query.operators[number]).__name__}({','.join(inputs)})"

    return below(len(query.operators) - 1)
