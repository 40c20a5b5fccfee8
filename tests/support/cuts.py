"""Runs that are cut into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.core.tables import Capacity
from engine.simulation.simulation import Simulation
from tests.support.agreement import TINY
from tests.support.stored import SECOND


def ended(document: dict[str, Any], **options: Any) -> Simulation:
    """The run, at its end, with its results."""
    simulation = Simulation(document, keep_outputs=True, **options)
    while simulation.advance():
        pass
    return simulation


def assert_cuts_leave_no_trace(document: dict[str, Any], at_s: Sequence[float], folder: Path, told: str) -> None:
    """A run in tiny arrays that stops at these times, and then goes on, is resumed from a file, or is forked, ends as one in a single
    piece. told: the part of the summary that is compared, too."""
    whole = ended(document)
    tiny = Simulation(document, capacity=Capacity(**{**vars(TINY), "changes": 1}), keep_outputs=True)
    for stop_s in at_s:
        tiny.run_until(round(stop_s * SECOND))
        tiny.digest()
    tiny.save(folder / "run")
    for one in (tiny, Simulation.resume(document, folder / "run", keep_outputs=True), tiny.fork()):
        while one.advance():
            pass
        assert one.digest() == whole.digest()
        assert one.summary()[told] == whole.summary()[told]
