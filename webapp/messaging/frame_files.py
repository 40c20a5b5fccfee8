"""The stored live frames of a run: `live/part-*.parquet` with the columns n and json, parts in ascending order of n."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pyarrow.compute as compute
import pyarrow.parquet as parquet

from .stream import Entry, pack


def frames_after(directory: Path, frame: int, limit: int) -> list[str]:
    """Return up to `limit` consecutive frames after `frame` (-1: from the first) as JSON; empty if frame + 1 is not stored (yet)."""
    found: list[str] = []
    wanted = frame + 1
    for path in sorted((directory / "live").glob("part-*.parquet")):
        try:
            status = path.stat()
            first, last = number_range(path, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:  # replaced by a worker that resumed
            break
        if last < wanted:
            continue
        if first > wanted:
            break
        table = parquet.read_table(path, columns=["n", "json"])
        table = table.filter(compute.field("n") >= wanted).slice(0, limit - len(found))
        found += table.column("json").to_pylist()
        wanted = frame + 1 + len(found)
        if len(found) >= limit:
            break
    return found


def entries_after(directory: Path, frame: int, limit: int) -> list[Entry]:
    """Like `frames_after`, as entries of the live stream."""
    return list(pack(frame + 1, frames_after(directory, frame, limit)))


@lru_cache(maxsize=4096)
def number_range(path: Path, modified_ns: int, size_bytes: int) -> tuple[int, int]:
    """Return first and last frame number of a part, from its footer; (0, -1) for an empty part."""
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(index).column(0).statistics for index in range(metadata.num_row_groups)]
    if not groups:
        return 0, -1
    return min(group.min for group in groups), max(group.max for group in groups)
