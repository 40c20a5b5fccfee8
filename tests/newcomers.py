"""A placement strategy and an operator kind from outside the package, in one file, with parameters of types that no other kind has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, M_PAYLOAD
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import RecordSchema
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.placement import Placement
from engine.spec.experiment.query import OperatorSpec


class Weighted(Placement):
    """Instances over the groups of hosts in the given shares, round robin within a group. Groups without a share stay empty."""

    title: ClassVar[str] = "Weighted groups"
    icon: ClassVar[str] = "grid"
    source: ClassVar[str] = "Newcomer et al., section 3"
    kind: Literal["weighted"] = "weighted"
    shares: dict[str, Annotated[int, Field(ge=1, le=1000)]] = Field(
        min_length=1, title="Shares", description="How many of the instances each group of hosts gets, in turn."
    )

    def place(self, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
        members: dict[str, list[int]] = {}
        for host in hosts:
            members.setdefault(host.group, []).append(host.index)
        for group in self.shares:
            if group not in members:
                message = f"shares names the group '{group}', which no host belongs to; {suggestion(group, members)}"
                raise Refusal(message, at=("shares", group), code="unknown_group", value=group)
        turns = [group for group, share in self.shares.items() for _ in range(share)]
        placed: dict[str, list[int]] = {}
        for operator in operators:
            taken = dict.fromkeys(members, 0)
            placed[operator.id] = []
            for k in range(operator.parallelism):
                group = turns[k % len(turns)]
                placed[operator.id].append(members[group][taken[group] % len(members[group])])
                taken[group] += 1
        return placed


def band_on_record(slot, msg, par, at, box):  # type: ignore[no-untyped-def]
    """Pass the record on if its value lies in the band."""
    value = msg[slot, M_PAYLOAD + par[at]]
    if value < par[at + 1] or value > par[at + 2]:
        return 0
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Band(Operator):
    """Emits a record, unchanged, if a whole number in it lies between two bounds. Stateless.

    Cost: record_ps per record.
    """

    kind, title, group, icon = "band", "Band", "Stateless", "funnel"
    priced_as = "filter"
    on_record = staticmethod(band_on_record)

    class Params(Model):
        field: str = Field(description="field that is looked at", json_schema_extra={"x-editor": "field"})
        bounds: tuple[int, int] = Field(default=(0, 1000), description="least and greatest value that passes")

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if params.field not in inputs["in"]:
            message = f"field '{params.field}' is not a field of the input; {suggestion(params.field, inputs['in'].names)}"
            raise Refusal(message, at=("field",), code="unknown_field", value=params.field)
        return {"out": inputs["in"]}

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return [inputs["in"].index(params.field), *params.bounds]
