"""What a placement strategy of another package derives from."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.variant import Variant
from ..cluster import ExpandedHost
from ..query import OperatorSpec


class Placement(Variant):
    """A strategy from outside the package: its parameters, and what it does (`PLACEMENTS.register`)."""

    def place(self, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
        """Host indices by operator id, one per instance. Raises `Refusal` (path below the placement) when the hosts do not suffice."""
        raise NotImplementedError
