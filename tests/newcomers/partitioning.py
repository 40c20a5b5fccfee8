"""A partitioning from outside the package: its parameters, and the kernel that chooses receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from engine.core.kernels.hashing import group_of
from engine.core.layout import E_CHANNEL, E_ROUTE, M_PAYLOAD, SCHEME_KEY_GROUPS, SEQ_SENT
from engine.spec.base.records import RecordSchema
from engine.spec.experiment.partitionings import Partitioning


def less_used_candidate(msg, slot, k, e, edge, route, carried, parallel, stride):  # type: ignore[no-untyped-def]
    """The candidate of the record's key to which this sender has sent fewer records so far."""
    key = msg[slot, M_PAYLOAD + route[edge[e, E_ROUTE]]]
    first = group_of(key, SCHEME_KEY_GROUPS, parallel)
    second = group_of(~key, SCHEME_KEY_GROUPS, parallel)
    channel = edge[e, E_CHANNEL] + k * stride
    if carried[channel + second, SEQ_SENT] < carried[channel + first, SEQ_SENT]:
        return second
    return first


class TwoChoices(Partitioning):
    """Each key has two candidate instances; a record goes to the one that got fewer records from its sender. Balances skewed keys."""

    title: ClassVar[str] = "Partial key grouping"
    icon: ClassVar[str] = "split"
    source: ClassVar[str] = "Nasir et al. 2015, The power of both choices"
    features: ClassVar[tuple[str, ...]] = ("counting",)
    field_params: ClassVar[tuple[str, ...]] = ("key",)
    kind: Literal["two_choices"] = "two_choices"
    key: str = Field(min_length=1, title="Key", description="A field of the records on this edge.")

    choose_receiver = staticmethod(less_used_candidate)

    def words(self, schema: RecordSchema) -> Sequence[int]:
        return [schema.index(self.key)]
