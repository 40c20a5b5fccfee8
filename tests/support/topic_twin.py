"""The twin of engine/services/topics.py: a log as lists of records, and a dict of what is newest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.services.topics import LogSettings

Entry = tuple[int, int, int, int, bool]
"""Offset, key, bytes, value, whether it is a tombstone."""


@dataclass
class Part:
    entries: list[Entry] = field(default_factory=list)
    first_ns: int = 0
    modified_ns: int = 0

    @property
    def bytes(self) -> int:
        return sum(entry[2] for entry in self.entries)


class Twin:
    def __init__(self, settings: LogSettings):
        self.settings = settings
        self.clean: list[Part] = []
        self.dirty: list[Part] = []
        self.active = Part()
        self.end = 0
        self.horizons_ns: dict[int, int] = {}  # of tombstones, by offset

    def append(self, time_ns: int, key: int, size: int, value: int, is_tombstone: bool) -> None:
        active, settings = self.active, self.settings
        if active.entries and (time_ns - active.first_ns > settings.segment_ns or active.bytes + size > settings.segment_bytes):
            self.dirty.append(active)
            self.active = active = Part()
        if not active.entries:
            active.first_ns = time_ns
        active.entries.append((self.end, key, size, value, is_tombstone))
        active.modified_ns = time_ns
        self.end += 1

    def entries(self) -> list[Entry]:
        return [entry for part in (*self.clean, *self.dirty, self.active) for entry in part.entries]

    def cleaning(self, now_ns: int) -> tuple[int, list[Part]]:
        newest: dict[int, int] = {}
        taken = 0
        for part in self.dirty:
            if len(newest) + len({entry[1] for entry in part.entries} - newest.keys()) > self.settings.keys_max:
                break
            newest |= {key: offset for offset, key, *_ in part.entries}
            taken += 1
        horizon_ns = self.clean[-1].modified_ns - self.settings.delete_retention_ns if self.clean else None
        made: list[Part] = []
        groups: list[list[Part]] = []
        for part in [*self.clean, *self.dirty[:taken]]:
            if groups and sum(one.bytes for one in groups[-1]) + part.bytes <= self.settings.segment_bytes:
                groups[-1].append(part)
            else:
                groups.append([part])
        for group in groups:
            kept = [entry for part in group for entry in part.entries if self.stays(entry, part, newest, horizon_ns, now_ns)]
            if kept:
                made.append(Part(kept, 0, group[-1].modified_ns))
        return taken, made

    def stays(self, entry: Entry, part: Part, newest: dict[int, int], horizon_ns: int | None, now_ns: int) -> bool:
        offset, key, _, _, is_tombstone = entry
        if newest.get(key, -1) > offset:
            return False
        if not is_tombstone:
            return True
        if self.settings.tombstone_rule == "merged_segment_mtime":
            return horizon_ns is None or part.modified_ns > horizon_ns
        if offset in self.horizons_ns:
            return self.horizons_ns[offset] >= now_ns
        self.horizons_ns[offset] = now_ns + self.settings.delete_retention_ns
        return True

    def swap(self, pass_: tuple[int, list[Part]]) -> None:
        taken, self.clean = pass_
        del self.dirty[:taken]


def contents(entries: list[Any]) -> dict[int, int]:
    """What a reader from the beginning ends with."""
    found: dict[int, int] = {}
    for _, key, _, value, is_tombstone in entries:
        if is_tombstone:
            found.pop(key, None)
        else:
            found[key] = value
    return found
