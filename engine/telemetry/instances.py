"""What the telemetry files say of single instances: the rows of a frame, and sums over a span of frames."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from engine.core.layout import NO_PRESSURE

from .recorded import NoFiles

Words = NDArray[np.int64]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]

SUMS = (
    "served", "emitted", "sent", "busy_ns", "blocked_ns", "stolen_ns", "late", "lost",
    "wait_ns", "alignment_ns", "service_ns", "held_ns", "network_ns",
)  # fmt: skip
"""Columns of the files that are sums over a frame."""

ENDS = ("queue", "queue_bytes", "state_bytes")
"""Columns of the files that hold at the end of a frame."""

LIVE_FRAMES_MAX = 40
"""Live frames of a span that are read: enough to see when a run stood still, whatever its length."""


class FrameAt(NamedTuple):
    number: int
    from_ns: int
    to_ns: int


@dataclass(frozen=True)
class Instances:
    """Measurements of instances over the span (from_ns, to_ns]; arrays have the shape (instances,).

    name: operator. index: within the operator. host: number of its host. active_ns: time of the frames in which it was active. sums: by
    column of `SUMS`. last: by column of `ENDS`. waiting: share of the frames at whose end records
    waited. turns: share of the frames in which no other instance of the operator was busier. busiest: by operator, how busy its busiest
    instance was in a frame, on average. watermark_ns: at the end, -1 if there is none.
    """

    from_ns: int
    to_ns: int
    frames: int
    name: Texts
    index: Words
    host: Words
    active_ns: Words
    sums: dict[str, Floats]
    last: dict[str, Floats]
    waiting: Floats
    turns: Floats
    busiest: dict[str, float]
    watermark_ns: Words

    def __len__(self) -> int:
        return len(self.index)

    def share(self, column: str) -> Floats:
        """Return a time as a share of the time that the instance was active."""
        return self.sums[column] / np.maximum(self.active_ns, 1)


@dataclass(frozen=True)
class Machines:
    """Measurements of the hosts, or of the trunks, over a span. busy_ns, egress_bytes: sums. slow_down: mean factor by which a full memory
    lengthens services."""

    name: list[str]
    busy_ns: Floats
    egress_bytes: Floats
    slow_down: Floats


@dataclass(frozen=True)
class Measured:
    """All measurements of a span. live: live frames at equal distances, the last one included. recoveries: those that began before its end,
    each as it was known then (docs/engine-api.md, recoveries)."""

    instances: Instances
    hosts: Machines
    trunks: Machines
    live: list[dict[str, Any]]
    recoveries: list[dict[str, Any]]


def frame_at(directory: Path, t_ns: int) -> FrameAt:
    """Return the stored frame that contains a moment, or the nearest. Raises NoFiles."""
    parts = _parts(directory)
    fitting = [part for part in parts if part.from_ns < t_ns] or parts[:1]
    times = _read(fitting[-1].path, ["frame", "t_ns"])
    numbers, first = np.unique(times.column("frame").to_numpy(), return_index=True)
    end_ns = times.column("t_ns").to_numpy()[first]
    at = min(int(np.searchsorted(end_ns, t_ns)), len(numbers) - 1)
    begin_ns = int(end_ns[at - 1]) if at else fitting[-1].from_ns
    return FrameAt(int(numbers[at]), begin_ns, int(end_ns[at]))


def measured(directory: Path, from_ns: int, to_ns: int, recovers: bool = False) -> Measured:
    """Return the measurements of the frames that end in the span (from_ns, to_ns]. recovers: whether the run may have recoveries. Raises
    NoFiles."""
    parts = [part for part in _parts(directory) if part.to_ns > from_ns and part.from_ns < to_ns]
    columns = ["frame", "t_ns", "scope", "name", "index", "host", *SUMS, *ENDS, "egress_bytes", "pressure", "watermark_ns"]
    tables = [_read(part.path, columns) for part in parts]
    if not tables:
        raise NoFiles("no frame was stored for this span")
    table = pa.concat_tables(tables)
    ends_ns = np.unique(table.column("t_ns").to_numpy())
    earlier_ns = ends_ns[ends_ns <= from_ns]
    within = (compute.field("t_ns") > from_ns) & (compute.field("t_ns") <= to_ns)
    chosen = table.filter(within)
    if not len(chosen):
        raise NoFiles("no frame ends in this span")
    begin_ns = int(earlier_ns[-1]) if len(earlier_ns) else parts[0].from_ns
    frames = np.unique(chosen.column("frame").to_numpy())
    return Measured(
        _instances(_of(chosen, "instance"), begin_ns),
        _machines(_of(chosen, "host")),
        _machines(_of(chosen, "trunk")),
        _live(directory, frames),
        _recoveries(directory, int(frames[-1])) if recovers else [],
    )


class _Part(NamedTuple):
    """A closed file. from_ns: end of the frame before its first one. to_ns: end of its last frame."""

    path: Path
    from_ns: int
    to_ns: int


def _parts(directory: Path) -> list[_Part]:
    """Return the closed files by time. Raises NoFiles if there is none."""
    found: list[_Part] = []
    for path in sorted((directory / "telemetry").glob("part-*.parquet")):
        try:
            status = path.stat()
            last_ns = _last_ns(path, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:  # a worker that resumed replaces it
            break
        found.append(_Part(path, found[-1].to_ns if found else 0, last_ns))
    if not found:
        raise NoFiles("no frames are stored yet, or they were removed")
    return found


@lru_cache(maxsize=4096)
def _last_ns(path: Path, modified_ns: int, size_bytes: int) -> int:
    """Return the end of the last frame of a file, from its footer."""
    metadata = parquet.read_metadata(path)
    column = metadata.schema.names.index("t_ns")
    return max(int(metadata.row_group(k).column(column).statistics.max) for k in range(metadata.num_row_groups))


def _read(path: Path, columns: list[str]) -> pa.Table:
    try:
        return parquet.read_table(path, columns=columns)
    except (OSError, pa.ArrowInvalid) as error:
        raise NoFiles(f"a file of its measurements cannot be read: {error}") from None


def _of(table: pa.Table, scope: str) -> pa.Table:
    return table.filter(compute.field("scope") == scope)


def _column(table: pa.Table, name: str) -> Floats:
    values: Floats = table.column(name).to_numpy().astype(np.float64)
    return values


def _codes(table: pa.Table) -> tuple[list[str], Words, Words]:
    """Return names in order of appearance, the place of each row's name among them, and each row's index."""
    names = table.column("name").combine_chunks().dictionary_encode()
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    codes = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return names.dictionary.to_pylist(), codes, table.column("index").to_numpy().astype(np.int64)


def _instances(rows: pa.Table, from_ns: int) -> Instances:
    names, code, index = _codes(rows)
    stride = int(index.max(initial=0)) + 1
    keys, last, group = np.unique((code * stride + index)[::-1], return_index=True, return_inverse=True)
    last, group = len(code) - 1 - last, group[::-1]
    t_ns = rows.column("t_ns").to_numpy().astype(np.int64)
    ends_ns = np.unique(t_ns)
    length_ns = np.diff(ends_ns, prepend=from_ns)
    size = len(keys)

    def total(values: Any) -> Floats:
        return np.bincount(group, values, minlength=size).astype(np.float64)

    frame = np.searchsorted(ends_ns, t_ns)
    active_ns = total(length_ns[frame]).astype(np.int64)
    cell = code * len(ends_ns) + frame  # an operator in a frame
    busy = _column(rows, "busy_ns") / length_ns[frame]
    most = np.zeros(len(names) * len(ends_ns))
    np.maximum.at(most, cell, busy)
    watermark = rows.column("watermark_ns").combine_chunks().fill_null(-1).to_numpy().astype(np.int64)
    return Instances(
        from_ns=from_ns,
        to_ns=int(ends_ns[-1]),
        frames=len(ends_ns),
        name=np.array(names, object)[code[last]],
        index=index[last],
        host=rows.column("host").to_numpy().astype(np.int64)[last],
        active_ns=active_ns,
        sums={column: total(_column(rows, column)) for column in SUMS},
        last={column: np.where(t_ns[last] == ends_ns[-1], _column(rows, column)[last], 0.0) for column in ENDS},
        waiting=total((_column(rows, "queue") > 0).astype(float)) / np.maximum(np.bincount(group, minlength=size), 1),
        turns=total((busy == most[cell]).astype(float)) / len(ends_ns),
        busiest=dict(zip(names, most.reshape(len(names), -1).mean(axis=1).tolist(), strict=True)),
        watermark_ns=watermark[last],
    )


def _machines(rows: pa.Table) -> Machines:
    names, code, _ = _codes(rows)
    size = len(names)
    count = np.maximum(np.bincount(code, minlength=size), 1)
    sums = [
        np.bincount(code, _column(rows, column), minlength=size).astype(np.float64) for column in ("busy_ns", "egress_bytes", "pressure")
    ]
    return Machines(names, sums[0], sums[1], sums[2] / count / NO_PRESSURE)


def _live(directory: Path, frames: NDArray[Any]) -> list[dict[str, Any]]:
    """Return some of these frames, the last one included, by number."""
    wanted = frames[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), LIVE_FRAMES_MAX)).round().astype(int))]
    return live_frames(directory, wanted.tolist())


def live_frames(directory: Path, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return the live frames of these numbers that are stored, by number. Raises NoFiles."""
    found: list[dict[str, Any]] = []
    for path in sorted((directory / "live").glob("part-*.parquet")):
        table = _read(path, ["n", "json"])
        chosen = table.filter(compute.is_in(table.column("n"), pa.array(numbers, pa.int32())))
        found += [json.loads(text) for text in chosen.column("json").to_pylist()]
    return found


def _recoveries(directory: Path, last_frame: int) -> list[dict[str, Any]]:
    """Return the recoveries in the frames up to this one. A frame holds a recovery only when something of it changed."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted((directory / "live").glob("part-*.parquet")):
        table = _read(path, ["n", "json"])
        until = table.filter(compute.less_equal(table.column("n"), last_frame)).column("json")
        changed = until.filter(compute.match_substring(until, '"recoveries":[{'))
        for text in changed.to_pylist():
            found |= {recovery["epoch"]: recovery for recovery in json.loads(text)["checkpoints"]["recoveries"]}
    return list(found.values())
