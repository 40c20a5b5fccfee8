"""What limits a run, from its measurements: a verdict with evidence, and changes of the document that would help.

A diagnosis reads telemetry files and the document. It runs nothing; for the keys of an instance it makes records of the sources again.
"""

from __future__ import annotations

from .diagnose import diagnose
from .hot_keys import CannotTell, HotKey, HotKeys, hot_keys
from .limit import Evidence, Limit
from .remedies import Remedy, remedies

__all__ = ["CannotTell", "Evidence", "HotKey", "HotKeys", "Limit", "Remedy", "diagnose", "hot_keys", "remedies"]
