"""Spark's reports of micro-batches on the experiment's clock, and their file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.export import batches_in, line_of, lost_batches, micro_batch
from engine.export.query import SHIFT_NS

SECOND_NS = 10**9
LATEST_NS = 12 * SECOND_NS


def stretched(ns: int) -> str:
    """A virtual time as Spark tells it: a nanosecond is a microsecond there, and text has milliseconds."""
    return datetime.fromtimestamp((ns + SHIFT_NS) / 1e6, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def told(**changes: Any) -> dict[str, Any]:
    return {
        "batchId": 3,
        "timestamp": "2026-01-02T03:04:05.500Z",
        "batchDuration": 250,
        "durationMs": {"addBatch": 200, "queryPlanning": 40, "triggerExecution": 250},
        "eventTime": {"watermark": stretched(2 * SECOND_NS), "max": stretched(2 * SECOND_NS + 700_000_000)},
        "stateOperators": [{"numRowsTotal": 5, "memoryUsedBytes": 100, "numRowsDroppedByWatermark": 1}] * 2,
        "sources": [{"numInputRows": 10}, {"numInputRows": 20}],
    } | changes


def test_a_micro_batch_on_the_experiments_clock() -> None:
    found = micro_batch("sink", told(), LATEST_NS)
    began_s = datetime(2026, 1, 2, 3, 4, 5, 500_000, UTC).timestamp()
    assert (found["batch"], found["began_s"], found["records_in"], found["took_ms"]) == (3, began_s, 30, 250)
    assert (found["watermark_s"], found["behind_ms"]) == (2.0, 700.0)
    assert found["operations_ms"] == {"addBatch": 200.0, "queryPlanning": 40.0}
    assert (found["state_rows"], found["state_bytes"], found["dropped"]) == (10, 200, 2)


def test_before_the_first_watermark_and_behind_the_last_record_there_is_none() -> None:
    first = micro_batch("sink", told(eventTime={"watermark": "1970-01-01T00:00:00.000Z", "max": stretched(SECOND_NS)}), LATEST_NS)
    end = micro_batch("sink", told(eventTime={"watermark": stretched(SECOND_NS), "max": stretched(10**15)}), LATEST_NS)
    without = micro_batch("sink", told(eventTime={}, stateOperators=[]), LATEST_NS)
    assert [(one["watermark_s"], one["behind_ms"]) for one in (first, end, without)] == [(None, None), (1.0, None), (None, None)]
    assert without["state_rows"] == 0


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "batches.jsonl"
    assert batches_in(file) == []
    whole = micro_batch("sink", told(), LATEST_NS)
    file.write_text(line_of(whole) + line_of(whole)[:-5])
    assert batches_in(file) == [whole]


def test_what_spark_committed_and_did_not_report_is_known_by_its_checkpoints(tmp_path: Path) -> None:
    for sink, batch in (("sink", 2), ("sink", 3), ("other", 3)):
        commits = tmp_path / sink / "commits"
        commits.mkdir(parents=True, exist_ok=True)
        (commits / str(batch)).touch()
        (commits / f".{batch}.crc").touch()
    found = lost_batches(tmp_path, [micro_batch("sink", told(), LATEST_NS)])
    assert [(one["sink"], one["batch"], one["lost"]) for one in found] == [("other", 3, True), ("sink", 2, True)]
    assert lost_batches(tmp_path / "none", []) == []
