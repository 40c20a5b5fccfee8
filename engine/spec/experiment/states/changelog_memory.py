"""Parameters of the state `changelog_memory`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Changelog


class MemoryWithChangelog(Changelog):
    """Operators keep their state in memory, and each change also goes to a changelog at a broker, through a cache. Nothing is on the disk
    of the worker, so a restore reads the changelog from its start."""

    title: ClassVar[str] = "In memory, with a changelog"
    source: ClassVar[str] = "Chronarakis 2019, 2.2"
    position: ClassVar[int] = 2
    has_tree: ClassVar[bool] = False
    kind: Literal["changelog_memory"] = "changelog_memory"
