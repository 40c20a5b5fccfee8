"""Durable services outside the hosts of a run, as actors (docs/event-core.md, section 14)."""

from .append_logs import AppendLogs
from .disk import Disk
from .object_store import ObjectStore

__all__ = ["AppendLogs", "Disk", "ObjectStore"]
