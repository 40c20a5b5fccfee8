"""Faults, a file each: what goes wrong during a run, and when. What a fault of a host does stands in `engine.faults`; faults of links
say here what they do to a link, and `engine.lowering.network` does it.

A kind of another package derives from `LinkFault`, or from `HostFault` and has `control` as an attribute of the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from ...base.variant import Variant
from .base import Fault
from .host_fault import HostFault


class Faults(Family):
    """All faults: those of links say what they do by their parameters, those of hosts need something that acts."""

    def register(self, kind: type[Variant]) -> type[Variant]:
        if isinstance(kind, type) and issubclass(kind, HostFault) and not hasattr(kind, "control"):
            raise ValueError(
                f"{kind.__module__}.{kind.__qualname__} has no `control`; it is the class of what acts when the fault begins and ends "
                "(`engine.faults.fault_control.FaultControl`)"
            )
        return super().register(kind)


FAULTS = Faults("faults", __name__, Fault, {})

if TYPE_CHECKING:
    AnyFault = Fault
else:
    AnyFault = FAULTS.union
