"""Random queries of three templates (Heinrich et al. 2024, Figure 6): linear ones, and joins of two and of three streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

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
SHARES: dict[Template, float] = {"linear": 0.35, "two_way": 0.34, "three_way": 0.31}


@dataclass(frozen=True)
class DrawnQuery(Query):
    template: Template


class Drawing:
    """One query under construction. coin: whether something that half of the queries have is drawn."""

    def __init__(self, template: Template, chance: random.Random):
        self.template: Template = template
        self.chance = chance
        self.operators: list[Operator] = []
        self.edges: list[tuple[int, int]] = []

    def coin(self) -> bool:
        return self.chance.random() < 0.5

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
        dtype = self.chance.choice(grid.DTYPES)
        function = self.chance.choice(grid.FUNCTIONS[dtype])
        return self.add(Filter(function, dtype, literal(dtype, self.chance)), sender)

    def perhaps_filter(self, sender: int) -> int:
        return self.filter(sender) if self.coin() else sender

    def window(self) -> Window:
        kind: Literal["tumbling", "sliding"] = "sliding" if self.coin() else "tumbling"
        policy: Literal["count", "time"] = "time" if self.coin() else "count"
        size = self.chance.choice(grid.TIMES_MS if policy == "time" else grid.COUNTS)
        slide = max(1, int(self.chance.choice(grid.SLIDES) * size)) if kind == "sliding" else size
        return Window(kind, policy, size, slide)

    def group_by(self) -> Dtype | None:
        return self.chance.choice(grid.DTYPES) if self.coin() else None

    def perhaps_aggregate(self, sender: int) -> int:
        """Of the results of a join."""
        if not self.coin():
            return sender
        function, dtype = self.chance.choice(grid.AGGREGATES), self.chance.choice(grid.AGGREGATED)
        return self.add(Aggregate(function, dtype, self.group_by()), sender)

    def done(self, last: int) -> DrawnQuery:
        self.add(Sink(), last)
        return DrawnQuery(tuple(self.operators), tuple(self.edges), self.template)


def literal(dtype: Dtype, chance: random.Random) -> int | float | str:
    """A value that records of synthetic streams have, too."""
    if dtype == "int":
        return chance.randint(-10, 10)
    return round(chance.uniform(-0.05, 0.05), 2) if dtype == "double" else chance.choice("0123456789abcdef")


def _linear(draw: Drawing) -> int:
    last = draw.filter(draw.source())
    if not draw.coin():
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


def drawn(chance: random.Random) -> DrawnQuery:
    """A query of the training corpus. No two filters follow one another."""
    (template,) = chance.choices(list(SHARES), list(SHARES.values()))
    return of_template(template, chance)


def of_template(template: Template, chance: random.Random) -> DrawnQuery:
    drawing = Drawing(template, chance)
    return drawing.done(TEMPLATES[template](drawing))


def chain_of_filters(count: int, chance: random.Random) -> DrawnQuery:
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
