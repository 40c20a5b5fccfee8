"""Stored summaries of runs, so that a later job reads the files of new runs only.

`analysis/summaries/<lab>/<question>/<batch>.parquet`: a question is a span with its parameters, a batch the runs summarised together. Files
are written atomically and never changed; many small files are merged into one. A row is valid while its stamp equals that of its run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from django.conf import settings

from engine.spec import canonical_json
from engine.spec.experiment.spans import Span

FORMAT = 1
"""Incremented when the meaning of summaries changes."""
FILES_MAX = 32

_WORDS = pa.list_(pa.int64())
SCHEMA = pa.schema(
    [("run", pa.string()), ("stamp", pa.string()), ("failure", pa.string()), ("numbers", pa.string())]
    + [(name, _WORDS) for name in ("buckets", "whole", "cut", "inside")]
)
"""numbers: the results of `engine.telemetry.summaries.summarise` except the histogram, as JSON. failure: why there are none, or empty."""
COLUMNS = ("buckets", "whole", "cut", "inside")


class Store:
    def __init__(self, root: Path, lab_id: int, span: Span) -> None:
        question = {"format": FORMAT, **span.model_dump(mode="json")}
        self.directory = root / str(lab_id) / hashlib.blake2b(canonical_json(question), digest_size=16).hexdigest()

    @classmethod
    def of(cls, lab_id: int, span: Span) -> Store:
        """The store of this installation for a lab and a span."""
        return cls(Path(settings.ANALYSIS_DIR) / "summaries", lab_id, span)

    def known(self, stamps: Mapping[str, str]) -> set[str]:
        """Return those of these runs (stamps by id) that have a stored row, without reading the rows."""
        tables, _ = self._tables(["run", "stamp"])
        pairs = (zip(table.column("run").to_pylist(), table.column("stamp").to_pylist(), strict=True) for table in tables)
        return {run for table in pairs for run, stamp in table if stamps.get(run) == stamp}

    def read(self, stamps: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Return the stored rows of these runs (stamps by id), by run."""
        found: dict[str, dict[str, Any]] = {}
        tables, paths = self._tables()
        for table in tables:
            runs, marks = table.column("run").to_pylist(), table.column("stamp").to_pylist()
            wanted = [n for n, (run, stamp) in enumerate(zip(runs, marks, strict=True)) if stamps.get(run) == stamp]
            for row in table.take(pa.array(wanted, pa.int64())).to_pylist():
                found[row["run"]] = unpacked(row)
        if len(paths) > FILES_MAX:
            self._put_together(tables, paths)
        return found

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store rows, each with its run and stamp. Raises OSError."""
        self._write(pa.Table.from_pylist([packed(row) for row in rows], schema=SCHEMA))

    def _tables(self, columns: list[str] | None = None) -> tuple[list[pa.Table], list[Path]]:
        while True:
            paths = sorted(self.directory.glob("*.parquet"))
            try:
                return [parquet.read_table(path, columns=columns) for path in paths], paths
            except FileNotFoundError:
                continue  # another worker has just merged files

    def _put_together(self, tables: list[pa.Table], paths: list[Path]) -> None:
        """Merge files. Concurrent merges leave duplicate rows, which is harmless."""
        self._write(pa.concat_tables(tables))
        for path in paths:
            path.unlink(missing_ok=True)

    def _write(self, table: pa.Table) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / f"{uuid.uuid4().hex}.parquet"
        part = path.with_suffix(".part")
        try:
            parquet.write_table(table, part, compression="zstd")
            os.replace(part, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                part.unlink()


def packed(row: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("run", "stamp", "failure")
    numbers = {name: value for name, value in row.items() if name not in (*keys, *COLUMNS)}
    return {**{name: row.get(name, "") for name in keys}, **{name: row.get(name, []) for name in COLUMNS}, "numbers": json.dumps(numbers)}


def unpacked(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: row[name] for name in ("run", "stamp", "failure", *COLUMNS)}, **json.loads(row["numbers"])}
