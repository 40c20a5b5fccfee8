"""A placement strategy from outside the package, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from engine.spec.base.problems import Refusal, suggestion
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
