"""Routes records to several output ports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import Field

from engine.core.kernels.expression_machine import evaluate
from engine.core.kernels.messages import new_output
from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, BOX_WORK, G_FREE, G_NEED, I_ERRORS, M_EDGE, M_PAYLOAD, NEED_MESSAGES
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordSchema
from engine.spec.expressions.parser import parse

ROUTES_MAX = 4
REST = 4  # number of port `rest`

# parameters, in order; then of each route: first and last row of its program, 1 if an edge leaves its port
SPLIT_COPY, SPLIT_REST, SPLIT_COUNT, SPLIT_ROUTES = range(4)


def split_on_record(slot, msg, par, at, code, constants, stack, stack_f, inst, i, g, free, box, stamps):
    """Evaluate the predicates in order; forward the message itself to the first one that holds, or a copy to each."""
    if par[at + SPLIT_COPY] == 1 and g[G_FREE] < par[at + SPLIT_COUNT]:
        g[G_NEED] = par[at + SPLIT_COUNT]
        return -NEED_MESSAGES
    outputs = 0
    tried = 0
    to = REST
    listened = par[at + SPLIT_REST]
    for k in range(par[at + SPLIT_COUNT]):
        route = at + SPLIT_ROUTES + 3 * k
        errors = evaluate(code, par[route], par[route + 1], constants, msg, slot, M_PAYLOAD, stack, stack_f)
        inst[i, I_ERRORS] += errors
        tried += 1
        if stack[0] == 1:
            to = k
            listened = par[route + 2]
            if par[at + SPLIT_COPY] == 0:
                break
            if listened == 1:
                made = new_output(msg, free, g, box, slot, stamps)
                for c in range(M_PAYLOAD, msg.shape[1]):
                    msg[made, c] = msg[slot, c]
                msg[made, M_EDGE] = k
                outputs += 1
    box[BOX_WORK] = tried
    if listened == 1 and (to == REST or par[at + SPLIT_COPY] == 0):
        msg[slot, M_EDGE] = to
        box[BOX_FIRST] = slot
        box[BOX_LAST] = slot
        box[BOX_REUSED] = 1
        outputs = 1
    return outputs


class Route(Model):
    predicate: str = Field(
        max_length=2000,
        description="condition on the record's fields",
        json_schema_extra={"x-editor": "expression", "x-result": "bool"},
    )


class Split(Operator):
    """Sends each record, unchanged, to the port of the first route whose predicate holds (`out1` for the first route), otherwise to `rest`.

    With mode copy, every route whose predicate holds gets a copy. Records for an unconnected port are dropped. For more routes, chain
    another split to `rest`. Stateless.
    Cost: record_ps per predicate evaluated, output_ps per record forwarded.
    """

    kind, title, group, icon = "split", "Split", "Stateless", "fork"
    position = 4
    outputs = ("out1", "out2", "out3", "out4", "rest")
    on_record = staticmethod(split_on_record)

    class Params(Model):
        routes: tuple[Route, ...] = Field(min_length=1, max_length=ROUTES_MAX, description="one per port out1, out2, ...")
        mode: Literal["first", "copy"] = Field("first", description="first: to the first route that holds; copy: to every one that holds")

    @classmethod
    def output_ports(cls, params: Params) -> tuple[str, ...]:
        return (*cls.outputs[: len(params.routes)], "rest")

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        for n, route in enumerate(params.routes):
            predicate = parse(route.predicate, inputs["in"], at=("routes", n, "predicate"))
            if predicate.type != "bool":
                raise Refusal(
                    f"predicate '{route.predicate}' has the type {predicate.type}; a route needs a condition (bool), such as a comparison",
                    at=("routes", n, "predicate"),
                    code="type_mismatch",
                    value=route.predicate,
                )
        return dict.fromkeys(cls.outputs, inputs["in"])

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {"in": {name for route in params.routes for name in parse(route.predicate, inputs["in"]).fields}}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        words = [int(params.mode == "copy"), int("rest" in lowering.connected), len(params.routes)]
        for port, route in zip(cls.outputs, params.routes, strict=False):
            words += [*lowering.program(route.predicate, inputs["in"]), int(port in lowering.connected)]
        return words
