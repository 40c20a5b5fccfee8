"""What a run has recorded: its live frames and the histograms of its latencies, from memory or from its files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet


class NoFiles(Exception):
    """Files of the run are missing; the message says which."""


@dataclass(frozen=True)
class Recorded:
    """live: all live frames, in order; at least one. latency: the non-empty buckets of all latencies, by frame, sink and latency
    (`engine.telemetry.files`)."""

    live: Sequence[Mapping[str, Any]]
    latency: pa.Table

    @classmethod
    def read(cls, directory: Path) -> Recorded:
        """Read the files of a run. Raises NoFiles."""
        live = [json.loads(text) for text in _table(directory, "live", ["n", "json"]).column("json").to_pylist()]
        if not live:
            raise NoFiles("no frames were written")
        return cls(live, _table(directory, "latency", ["frame", "sink", "latency", "bucket", "count"]))


def _table(directory: Path, folder: str, columns: list[str]) -> pa.Table:
    paths = sorted((directory / folder).glob("part-*.parquet"))
    if not paths:
        raise NoFiles(f"files of its {'frames' if folder == 'live' else 'latencies'} are missing")
    try:
        return pa.concat_tables([parquet.read_table(path, columns=columns) for path in paths])
    except (OSError, pa.ArrowInvalid) as error:
        raise NoFiles(f"one of its files cannot be read: {error}") from None
