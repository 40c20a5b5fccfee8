"""Faults, one file each. `engine.faults` implements host faults. Link faults declare their effect on a link here, and
`engine.lowering.network` applies it.

A kind of another package derives from `LinkFault`, or from `HostFault` with a class attribute `control`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...base.family import Family
from ...base.variant import Variant
from .base import Fault
from .host_fault import HostFault


class Faults(Family):
    """All faults. Link faults are described by their parameters alone; host faults need a `control` class."""

    def register(self, kind: type[Variant]) -> type[Variant]:
        if isinstance(kind, type) and issubclass(kind, HostFault) and not hasattr(kind, "control"):
            raise ValueError(
                f"{kind.__module__}.{kind.__qualname__} has no `control`, the class that acts when the fault begins and ends "
                "(`engine.faults.fault_control.FaultControl`)"
            )
        return super().register(kind)

    def begins_ns(self, fault: Mapping[str, Any]) -> int | None:
        """Start time of a fault of a stored document. None if it is random, or if the package of its kind is not installed."""
        try:
            begins_ns: int | None = self.adapter.validate_python(fault).begins_ns
        except ValidationError:
            return None
        return begins_ns


FAULTS = Faults("faults", __name__, Fault, {})

if TYPE_CHECKING:
    AnyFault = Fault
else:
    AnyFault = FAULTS.union
