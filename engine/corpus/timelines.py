"""What a run was like by second, for comparisons over time."""

from __future__ import annotations

from typing import Any

from engine.simulation import Simulation

from .experiments import Document


def timeline(document: Document) -> dict[str, Any]:
    """Of a run with frames of a second, as JSON values. mean_ms, count: by second, the mean latency and the number of records that arrived.
    moves: when each was ordered and ended, in s, and the bytes of its savepoint."""
    simulation = Simulation(document)
    found: dict[str, Any] = {"mean_ms": [], "count": []}
    moves: dict[int, list[float]] = {}
    while (frame := simulation.advance()) is not None:
        found["mean_ms"].append(frame["latency_ms"]["mean"])
        found["count"].append(frame["latency_ms"]["count"])
        for action in frame.get("scaling", {}).get("actions", ()):
            if action["outcome"] == "done":
                moves[action["number"]] = [action["ordered_s"], action["ended_s"], action["state_bytes"]]
    return found | {"moves": list(moves.values())}
