"""What limits a run, from its measurements: a verdict with evidence, and changes of the document that would help.

A diagnosis reads telemetry files and the document. It runs nothing.
"""

from __future__ import annotations

from .diagnose import diagnose
from .limit import Evidence, Limit
from .remedies import Remedy, remedies

__all__ = ["Evidence", "Limit", "Remedy", "diagnose", "remedies"]
