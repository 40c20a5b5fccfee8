"""How much files take. Unfinished files do not count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = (".tmp", ".part")
"""Endings of files that are still being written: each is renamed once it is whole. Such a file is nobody's storage and in no backup."""


def bytes_below(directory: Path) -> int:
    """Of all files but unfinished ones; what vanishes meanwhile does not count."""
    return sum(size_of(path) for path in finished_files(directory))


def finished_files(directory: Path) -> Iterator[Path]:
    """All files at any depth, without those that are still being written, or whose writer was killed."""
    for place, _, names in os.walk(directory):
        yield from (Path(place) / name for name in sorted(names) if not name.endswith(UNFINISHED))


def size_of(file: Path) -> int:
    """In bytes; 0 if there is no such file."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def in_words(count: int) -> str:
    """A number of bytes for people: three digits and a unit."""
    value, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.3g} {units[0]}" if value < 100 else f"{value:.0f} {units[0]}"
