"""Weights: the number of real records per simulated one, by operator (docs/event-core.md, section 8.1), and the limits of scaling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.family import kind_of
from ..base.operator import Operator
from ..base.problems import Problem, Refusal
from ..experiment.query import Edge, OperatorSpec
from .draft import Draft
from .graph import at_operator

WEIGHT_MAX = 1_000_000
"""Costs are words of 64 bits: a million outputs of 10 us each, 100,000 times in one service, still fit."""


def weights(
    scale: int, operators: Sequence[OperatorSpec], kinds: Mapping[str, type[Operator]], edges: Sequence[Edge]
) -> dict[str, tuple[int, int]]:
    """By operator: the weight of the records it serves and of those it emits. Operators without input are left out.

    Raises `Refusal` where records of different weights would meet.
    """
    specs = {spec.id: spec for spec in operators}
    ports: dict[str, set[str]] = {spec.id: set() for spec in operators}
    for edge in edges:
        ports.get(edge.source, set()).add(edge.source_port)

    def both(id: str, weight: int) -> tuple[int, int]:
        out = {kinds[id].weight_out(specs[id].parameters, weight, port) for port in ports[id]} or {weight}
        if len(out) > 1:
            raise Refusal(
                f"operator '{id}' emits records that stand for {max(out)} real ones and rows that stand for {min(out)}; with a scale "
                "above 1, connect ports of only one of the two",
                code="mixed_weights",
                value=id,
            )
        if max(out) > WEIGHT_MAX:
            raise Refusal(
                f"scale is {scale}, so a record from operator '{id}' stands for {max(out):,} real ones, above {WEIGHT_MAX:,}; lower it",
                code="too_large",
                value=id,
            )
        return weight, out.pop()

    known = {spec.id: both(spec.id, scale) for spec in operators if not kinds[spec.id].inputs}
    grown = True
    while grown:
        grown = False
        for edge in edges:
            if edge.source not in known or edge.target not in specs:
                continue
            weight, met = known[edge.source][1], known.get(edge.target)
            if met is None:
                known[edge.target] = both(edge.target, weight)
                grown = True
            elif met[0] != weight:
                raise Refusal(
                    f"operator '{edge.target}' receives records that stand for {met[0]} real ones and for {weight}; with a scale above 1, "
                    "an operator cannot mix records of different weights, so separate them or set scale to 1",
                    code="mixed_weights",
                    value=edge.target,
                )
    return known


def scale_problems(draft: Draft) -> Iterator[Problem]:
    """Refuse everything that does not declare how it scales, rather than give silently wrong results."""
    if draft.workload is None or draft.workload.scale == 1:
        return
    scale = draft.workload.scale
    sound = True
    for id, kind in draft.kinds.items():
        spec = draft.by_id[id]
        try:
            unscaled = kind.unscaled(spec.parameters)
        except ValueError:  # invalid parameters are reported separately
            sound = False
            continue
        if unscaled:
            message = f"'{id}' is a {kind.kind}, and scale is {scale}, but {unscaled}; set scale to 1, or choose another operator"
            yield Problem(at_operator(draft, id), "not_scaled", message, kind.kind)
            sound = False
        if spec.cost is not None and spec.cost.noise.varies:
            message = f"noise is drawn per service, but at scale {scale} one service stands for {scale} real ones; omit noise"
            yield Problem(f"{at_operator(draft, id)}/cost/noise", "not_scaled", message, kind_of(type(spec.cost.noise)))
    heaviest = scale
    if sound and len(draft.kinds) == len(draft.ids):
        try:
            found = weights(scale, list(draft.by_id.values()), draft.kinds, list(draft.edges.values()))
            heaviest = max([scale, *(weight_out for _, weight_out in found.values())])
        except Refusal as refusal:
            yield Problem(at_operator(draft, str(refusal.value)), refusal.code, str(refusal), refusal.value)
    if draft.flow_control is not None:
        yield from draft.flow_control.scale_problems(scale, heaviest)
