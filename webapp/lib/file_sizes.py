"""Sizes of files. Partial files do not count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = (".tmp", ".part")
"""Extensions of partial files, which are renamed once complete. They do not count as storage and are not backed up."""


def bytes_below(directory: Path) -> int:
    """Return the size of all complete files. Files that disappear in the meantime do not count."""
    return sum(size_of(path) for path in finished_files(directory))


def finished_files(directory: Path) -> Iterator[Path]:
    """Yield all files at any depth, except partial ones."""
    for place, _, names in os.walk(directory):
        yield from (Path(place) / name for name in sorted(names) if not name.endswith(UNFINISHED))


def size_of(file: Path) -> int:
    """Return the size in bytes; 0 if there is no such file."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def in_words(count: int) -> str:
    """Format a number of bytes with three digits and a unit."""
    value, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.3g} {units[0]}" if value < 100 else f"{value:.0f} {units[0]}"
