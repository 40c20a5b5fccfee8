"""What Spark reports of a micro-batch, on the experiment's clock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from .query import SHIFT_NS


class MicroBatch(TypedDict):
    """sink: the query's sink; each sink is a query of its own in Spark. began_s: Unix time. took_ms: by operation, too: `addBatch` is the
    work on records. watermark_s: virtual time; null without one, and once all windows have ended. behind_ms: virtual time from the
    watermark to the newest event. dropped: records behind the watermark. lost: it was done, and Spark died before it said so; its other
    numbers are unknown, and 0 or null."""

    sink: str
    batch: int
    began_s: float
    records_in: int
    took_ms: float
    operations_ms: dict[str, float]
    watermark_s: float | None
    behind_ms: float | None
    state_rows: int
    state_bytes: int
    dropped: int
    lost: bool


def micro_batch(sink: str, told: Mapping[str, Any], latest_ns: int) -> MicroBatch:
    """told: a `StreamingQueryProgress` of Spark as JSON. latest_ns: event time of the last record, beyond which all windows have ended."""
    event, state = told.get("eventTime") or {}, told.get("stateOperators") or []
    watermark_ns, newest_ns = (_virtual_ns(event.get(name), latest_ns) for name in ("watermark", "max"))
    known = watermark_ns is not None and newest_ns is not None
    return {
        "sink": sink,
        "batch": int(told["batchId"]),
        "began_s": datetime.fromisoformat(told["timestamp"]).timestamp(),
        "records_in": sum(int(source["numInputRows"]) for source in told["sources"]),
        "took_ms": float(told["batchDuration"]),
        "operations_ms": {name: float(took) for name, took in told["durationMs"].items() if name != "triggerExecution"},
        "watermark_s": None if watermark_ns is None else watermark_ns / 1e9,
        "behind_ms": (newest_ns - watermark_ns) / 1e6 if known else None,  # type: ignore[operator]
        "state_rows": sum(int(one["numRowsTotal"]) for one in state),
        "state_bytes": sum(int(one["memoryUsedBytes"]) for one in state),
        "dropped": sum(int(one["numRowsDroppedByWatermark"]) for one in state),
        "lost": False,
    }


def lost_batches(checkpoints: Path, known: Iterable[MicroBatch]) -> list[MicroBatch]:
    """Those that Spark committed and that are not among the known ones. checkpoints: the directory with one of each sink."""
    told = {(batch["sink"], batch["batch"]) for batch in known}
    committed = [(path.parent.parent.name, int(path.name)) for path in checkpoints.glob("*/commits/*") if path.name.isdigit()]
    return [
        {
            "sink": sink, "batch": batch, "began_s": 0.0, "records_in": 0, "took_ms": 0.0, "operations_ms": {}, "watermark_s": None,
            "behind_ms": None, "state_rows": 0, "state_bytes": 0, "dropped": 0, "lost": True,
        }
        for sink, batch in sorted(committed)
        if (sink, batch) not in told
    ]  # fmt: skip


def batches_in(path: Path) -> list[MicroBatch]:
    """The micro-batches of a file, a line for each (`line_of`). One that was cut off is left out; none if there is no file."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def line_of(batch: MicroBatch) -> str:
    return json.dumps(batch, separators=(",", ":")) + "\n"


def _virtual_ns(time: str | None, latest_ns: int) -> int | None:
    """A time of Spark's stretched clock, whose microseconds are nanoseconds here; told to the millisecond, rounded down. None before the
    first watermark and behind the last record."""
    if time is None:
        return None
    ns = round(datetime.fromisoformat(time).timestamp() * 1e6) - SHIFT_NS
    return ns if -SHIFT_NS < ns <= latest_ns else None
