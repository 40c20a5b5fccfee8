"""Flow control, one file each: how many records a channel may hold, and thus when its sender waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import FlowControl

FLOW_CONTROLS = Family("flow_controls", __name__, FlowControl, {"records": "it returns how many records a channel may hold"})

if TYPE_CHECKING:
    AnyFlowControl = FlowControl
else:
    AnyFlowControl = FLOW_CONTROLS.union
