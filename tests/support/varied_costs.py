"""Small documents in which only the cost of one operator's services varies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .agreement import traced


def document(cost: dict[str, Any], parallelism: int = 1, records: int = 1000) -> dict[str, Any]:
    """A source that gets so many records a second for a second, and whose services alone take time; and a sink."""
    free = {"record_us": 0.001, "output_us": 0.0, "control_us": 0.0}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "server", "kind": "source", "parallelism": parallelism, "cost": free | cost},
                {"id": "sink", "kind": "sink", "parallelism": parallelism, "cost": free},
            ],
            "edges": [{"source": "server", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "h", "processor": {"kind": "dedicated"}, "cores": 2 * parallelism}]},
        "workload": {
            "horizon_s": 1.0,
            "drain": True,
            "sources": {"server": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": records}}},
        },
    }


def services_ns(made: dict[str, Any], instance: int = 0) -> np.ndarray:
    """How long the services of an instance took, one after the other."""
    rows = traced(made).service_trace()
    rows = rows[rows[:, 0] == instance]
    return rows[:, 2] - rows[:, 1]
