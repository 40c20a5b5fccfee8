"""Faults, a file each: what goes wrong during a run, and when. What a fault of a host does stands in `engine.faults`; faults of links
say here what they do to a link, and `engine.lowering.network` does it.

A kind of another package derives from `HostFault`, and has `control` as an attribute of the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Fault
from .host_fault import HostFault

CONTROL = "it is the class of what acts when the fault begins and ends (`engine.faults.occurrences.FaultControl`)"
FAULTS = Family("faults", __name__, HostFault, {"control": CONTROL})

if TYPE_CHECKING:
    AnyFault = Fault
else:
    AnyFault = FAULTS.union
