"""A calibration of round numbers."""

from __future__ import annotations

from engine.export.calibration import Calibration

KINDS = (
    "source",
    "filter",
    "map",
    "project",
    "split",
    "union",
    "aggregate",
    "session_aggregate",
    "join",
    "window_join",
    "interval_join",
    "sink",
)
MACHINE = Calibration(
    made="2026-12-02",
    machine="2 cores",
    cores=2,
    spark="4.3.0",
    busy=0.0,
    overheads_ms={"plan_ms": 100, "stage_ms": 20, "task_ms": 0, "commit_ms": 80},
    prices_us={kind: {"record_us": 1.0, "output_us": 0.0, "control_us": 10_000.0 if "join" in kind else 0.0} for kind in KINDS},
)
