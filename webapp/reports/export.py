"""Exports of a run: its frames as a table, its document, its citation."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import yaml

from engine.spec.experiment.metrics import flat
from webapp.lab.documents import check
from webapp.lab.models import Run
from webapp.lab.verdicts import verdicts_of
from webapp.messaging import frame_history as history

from . import python_code
from .citation import run_bibtex
from .report import of_run


class FramesGone(Exception):
    """The run's frames were removed; the message says how to get them back."""


def frames_of(run: Run) -> list[dict[str, Any]]:
    """Raises FramesGone."""
    if run.frames_removed_at is not None:
        raise FramesGone(
            f"the frames of run #{run.number} were removed on {run.frames_removed_at:%Y-%m-%d}; run it again to get them back: the same "
            "document and seed on the same engine version give the same frames"
        )
    return history.all_frames(run.pk, run.directory)


def table(run: Run) -> pa.Table:
    """Return a table with one row per frame, in order, and columns by dotted name, as in the frames (`latency_ms.p99`,
    `operators.join.busy`). Null where a frame lacks the number; lists are left out. Raises FramesGone."""
    rows = [dict(flat(frame)) for frame in frames_of(run)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: pa.array([row.get(name) for row in rows], pa.float64()) for name in names}
    about = {"millrace": json.dumps(citation(run))}
    return pa.table(columns).replace_schema_metadata(about)


def as_csv(run: Run) -> bytes:
    sink = io.BytesIO()
    csv.write_csv(table(run), sink)
    return sink.getvalue()


def as_parquet(run: Run) -> bytes:
    """Return a Parquet file with the citation in its metadata."""
    sink = io.BytesIO()
    parquet.write_table(table(run), sink, compression="zstd")
    return sink.getvalue()


def as_json(run: Run) -> bytes:
    """Return everything: identity, document, summary, verdicts on its assertions, and frames."""
    everything = {"document": run.document, "summary": run.summary, "verdicts": verdicts_of(run), "frames": frames_of(run)}
    return json.dumps({"run": citation(run), **everything}).encode()


def as_yaml(run: Run) -> bytes:
    """Return the document with its seed, which reproduces the run."""
    return yaml.safe_dump(run.document, sort_keys=False, allow_unicode=True).encode()


def as_python(run: Run) -> bytes:
    """Return code for a notebook that runs the document again, with its seed."""
    return python_code.write(run.document, check(run.document, run.lab).experiment).encode()


def as_citation(run: Run) -> bytes:
    """BibTeX."""
    return run_bibtex(run).encode()


def citation(run: Run) -> dict[str, Any]:
    """Identity of a run: the same document and seed on the same engine version give the same digest anywhere."""
    return {
        "name": run.name,
        "number": run.number,
        "hash": run.hash,
        "seed": run.seed,
        "engine_version": run.engine_version,
        "digest": run.digest,
        "created_at": run.created_at.isoformat(),
    }


FORMATS: dict[str, tuple[Callable[[Run], bytes], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
    "json": (as_json, "application/json"),
    "yaml": (as_yaml, "application/yaml"),
    "py": (as_python, "text/x-python; charset=utf-8"),
    "html": (of_run, "text/html; charset=utf-8"),
    "bib": (as_citation, "text/plain; charset=utf-8"),
}
"""By file extension."""
