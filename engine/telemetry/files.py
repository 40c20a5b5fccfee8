"""Telemetry on disk: Parquet parts, closed at snapshots and renamed into place, so that readers never see a partial file."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import to_json

from engine.core.layout import FAR
from engine.core.tables import Words

from .frames import SPENT
from .free_space import note_free_space
from .histogram import sparse
from .recorded import Recorded

FOLDERS = ("telemetry", "latency", "live")

_LATENCY = pa.schema(
    [("frame", pa.int32()), ("sink", pa.string()), ("latency", pa.string()), ("bucket", pa.int32()), ("count", pa.int64())]
)
_LIVE = pa.schema([("n", pa.int32()), ("json", pa.string())])
_WITH_DICTIONARY = ["scope", "name", "query", "sink", "latency"]  # without a dictionary, numbers are faster to write and hardly larger


class Live:
    """A live frame and its JSON, which is encoded once, on first use, for both viewers and files. The frame is not changed afterwards, so
    any thread may read it."""

    def __init__(self, frame: dict[str, Any]) -> None:
        self.frame = frame

    @cached_property
    def text(self) -> str:
        return to_json(self.frame, inf_nan_mode="null").decode()


class Telemetry:
    """Frames since the last part. `write` closes a part; `parts` counts the closed ones and is part of a snapshot."""

    def __init__(self) -> None:
        self.parts = 0
        self._rows: list[dict[str, Words]] = []
        self._latency: list[tuple[int, str, str, Words, Words]] = []
        self._live: list[Live] = []

    @property
    def latest(self) -> Live:
        """The last frame. Raises IndexError if it is already in a closed part."""
        return self._live[-1]

    def add(self, live: dict[str, Any], rows: dict[str, Words], sinks: list[str], latencies: list[str], histogram: Words) -> None:
        """Add a frame. histogram: (sinks by latency, buckets), this frame's samples. latencies: names of the additional latencies; the name
        of the main one is empty."""
        self._live.append(Live(live))
        self._rows.append(rows)
        for row, (latency, sink) in zip(histogram, product(["", *latencies], sinks), strict=False):  # a run may have no sink
            buckets, counts = sparse(row)
            self._latency.append((live["n"], sink, latency, buckets, counts))

    def write(self, directory: str | os.PathLike[str]) -> int:
        """Close a part with the frames since the last one, if there are any. Returns the number of closed parts.

        Raises OSError (no space, no permission); then no part was closed and the frames are kept.
        """
        if not self._live:
            return self.parts
        names = list(self._rows[0])
        rows = pa.table({name: _column(name, np.concatenate([part[name] for part in self._rows])) for name in names})
        latency = self._latency_table()
        live = pa.table([[one.frame["n"] for one in self._live], [one.text for one in self._live]], schema=_LIVE)
        written: list[tuple[Path, Path]] = []
        try:
            for folder, table in zip(FOLDERS, (rows, latency, live), strict=True):
                target = Path(directory) / folder / f"part-{self.parts:05d}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                temporary = target.with_suffix(".tmp")
                written.append((temporary, target))
                pq.write_table(table, temporary, compression="zstd", use_dictionary=_WITH_DICTIONARY)
        except BaseException as error:
            note_free_space(error, directory)
            for temporary, _ in written:
                temporary.unlink(missing_ok=True)
            raise
        for temporary, target in written:
            os.replace(temporary, target)
        self.parts += 1
        self._rows, self._latency, self._live = [], [], []
        return self.parts

    def recorded(self) -> Recorded:
        """Return what is recorded since the last part."""
        return Recorded([live.frame for live in self._live], self._latency_table())

    def _latency_table(self) -> pa.Table:
        columns = zip(*self._latency, strict=True) if self._latency else ((),) * len(_LATENCY)  # a run may have no sink
        frames, sinks, latencies, buckets, counts = columns
        lengths = [len(part) for part in buckets]
        of_frame = [np.repeat(np.array(values, object), lengths) for values in (frames, sinks, latencies)]
        return pa.table([*of_frame, *(np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (buckets, counts))], schema=_LATENCY)

    def truncate(self, directory: str | os.PathLike[str]) -> None:
        """Delete parts that are newer than this snapshot; they will be rewritten with the same content."""
        for folder in FOLDERS:
            for path in sorted((Path(directory) / folder).glob("part-*")):
                if path.suffix == ".tmp" or int(path.stem.split("-")[1]) >= self.parts:
                    path.unlink()

    def state(self) -> dict[str, Any]:
        """Return the state for a snapshot: the frames not yet in a part."""
        return {
            "parts": self.parts,
            "rows": [{name: values.tolist() for name, values in part.items()} for part in self._rows],
            "latency": [(n, sink, latency, b.tolist(), c.tolist()) for n, sink, latency, b, c in self._latency],
            "live": [live.frame for live in self._live],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Telemetry:
        telemetry = cls()
        telemetry.parts = state["parts"]
        telemetry._rows = [{k: _typed(k, v) for k, v in part.items()} for part in state["rows"]]
        telemetry._latency = [
            (n, sink, latency, np.array(b, np.int64), np.array(c, np.int64)) for n, sink, latency, b, c in state["latency"]
        ]
        telemetry._live = [Live(frame) for frame in state["live"]]
        return telemetry


_TEXTS = ("scope", "name", "query")
_NARROW = ("frame", "index", "host")


def _typed(name: str, values: list[Any]) -> Any:
    kinds = dict.fromkeys(_TEXTS, object) | dict.fromkeys(_NARROW, np.int32) | dict.fromkeys(SPENT, np.float64)
    return np.array(values, kinds.get(name, np.int64))


def _column(name: str, values: Any) -> pa.Array:
    if name == "watermark_ns":
        return pa.array(values, mask=np.abs(values) >= FAR)
    return pa.array(values, pa.string() if name in _TEXTS else None)
