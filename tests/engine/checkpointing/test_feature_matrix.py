"""What protocols have and do not have (Siachamis 2024, Table 3.1), found from what runs of them count.

What this catches: a protocol that does in a run what the table says it does not, or that no longer does what it is known for; a table that
is told from the protocol's name.

What is read, by column. *Blocking*: instances that wait for barriers, in frames; no counter adds up for how long, so the number of frames
in which they wait, times their length, is a sample. *Log*: bytes in logs of channels. *Filter*: whether the loop drops what was served
already; what it drops is counted among what is lost, not by itself. *Overhead*: bytes that records carried more, between hosts.
*Independent*: numbers of checkpoints in the line of a recovery that are not all the same; nothing counts independence itself. *Stalls*:
how much longer instances wait for barriers under skew than without. *Unused*, *forced*: the summary's counts.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest

from engine.core import layout as L

from ...support.agreement import simulated, template, with_hot_items
from ...support.recovery_examples import loss, with_losses

FRAME_MS = 50.0
COLUMNS = ("blocking", "log", "filter", "overhead", "independent", "stalls", "unused", "forced")
TABLE = {
    "none": "--------",
    "coordinated": "*----*--",
    "uncoordinated": "-**-*-*-",
    "communication_induced": "-****-**",
}
"""Table 3.1 of the thesis, * for what a protocol has, and a run without one."""


class Counted(NamedTuple):
    """Of one run. waited_s: instance-seconds for barriers."""

    waited_s: float
    log_bytes: int
    filters: bool
    added_bytes: int
    numbers_in_line: int
    discarded: int
    forced: int


@cache
def counted(kind: str, hot: float) -> Counted:
    """CheckMate's Q12 on ten workers, half loaded; one is lost after 11 s."""
    document = with_hot_items(template("checkmate_q12", horizon_s=14.0), hot)
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = 6250
    document["measurement"] |= {"frame_ms": FRAME_MS}
    if kind != "none":
        document["policies"]["checkpointing"] = {"kind": kind, "interval_s": 2.5, "jitter_s": 0.5}
        if kind == "coordinated":
            del document["policies"]["checkpointing"]["jitter_s"]
    simulation = simulated(with_losses(document, [loss("w5", 11.0, 0.2)]), trace=False, keep_outputs=False)
    waited_s = 0.0
    lines: list[dict[str, list[int]]] = []
    while (frame := simulation.advance()) is not None:
        told = frame.get("checkpoints", {"aligning": {"operators": {}}, "recoveries": []})
        waited_s += FRAME_MS / 1000 * sum(operator["instances"] for operator in told["aligning"]["operators"].values())
        lines += [recovery["line"] for recovery in told["recoveries"]]
    w = simulation._world.arrays
    found: dict[str, Any] = simulation.summary().get("checkpointing", {})
    return Counted(
        waited_s,
        found.get("log_bytes", 0),
        bool(w.g[L.G_FILTER]),
        int(w.host[:, L.H_PIGGYBACK_BYTES].sum()),
        len({number for numbers in lines[-1].values() for number in numbers}) if lines else 0,
        found.get("discarded") or 0,
        found.get("forced", 0),
    )


@pytest.mark.parametrize("kind", TABLE)
def test_runs_show_what_the_table_says(kind: str) -> None:
    uniform, skewed = counted(kind, 0.0), counted(kind, 0.3)
    found = {
        "blocking": uniform.waited_s > 0,
        "log": uniform.log_bytes > 0,
        "filter": uniform.filters,
        "overhead": uniform.added_bytes > 0,
        "independent": uniform.numbers_in_line > 1,
        "stalls": skewed.waited_s > 5 * uniform.waited_s,
        "unused": uniform.discarded > 0,
        "forced": uniform.forced > 0,
    }
    assert tuple(found) == COLUMNS
    assert "".join("*" if has else "-" for has in found.values()) == TABLE[kind], (uniform, skewed)
