"""Base class of placement strategies from other packages."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.variant import Variant
from ..cluster import ExpandedHost
from ..query import OperatorSpec


class Placement(Variant):
    """A placement strategy of another package: its parameters and its implementation (`PLACEMENTS.register`)."""

    def place(self, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
        """Return host indices by operator id, one per instance. Raises `Refusal` (path below the placement) if there are too few hosts."""
        raise NotImplementedError
