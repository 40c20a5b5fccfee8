"""Waiting times of the whole engine against the formulas of queueing theory: random arrivals, one server, constant service."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine import Simulation

SERVICE_US, SINK_US, HOP_NS, RECORDS = 80.0, 1.0, 1000, 150_000


def waiting_us(per_s: float, arrivals: dict[str, object]) -> np.ndarray:
    """How long each record waited in the log of a source that takes SERVICE_US for each."""
    document = {
        "format": 1,
        "query": {
            "operators": [
                {"id": "server", "kind": "source", "cost": {"record_us": SERVICE_US, "output_us": 0.0, "control_us": 0.0}},
                {"id": "sink", "kind": "sink", "cost": {"record_us": SINK_US, "output_us": 0.0, "control_us": 0.0}},
            ],
            "edges": [{"source": "server", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "w", "processor": {"kind": "dedicated"}, "cores": 2}], "local_latency_ns": HOP_NS},
        "workload": {
            "horizon_s": RECORDS / per_s,
            "drain": True,
            "sources": {
                "server": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": per_s}, "arrivals": arrivals},
            },
        },
        "measurement": {"frame_ms": 1000, "latency": {"from": "append", "anchor": "trigger"}},
    }
    simulation = Simulation(document, keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    return (simulation.sink_rows("sink")[:, 4] - HOP_NS) / 1000 - SERVICE_US - SINK_US


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waiting_at_random_arrivals_is_that_of_m_d_1(load):
    """Pollaczek and Khinchine: mean wait = load x service / (2 (1 - load)), share that waits = load."""
    waits = waiting_us(load / SERVICE_US * 1e6, {"kind": "poisson"})
    assert len(waits) == pytest.approx(RECORDS, abs=4 * math.sqrt(RECORDS))
    assert waits.mean() == pytest.approx(load * SERVICE_US / (2 * (1 - load)), rel=0.04)
    assert (waits > 0).mean() == pytest.approx(load, abs=0.01)


def test_more_regular_arrivals_wait_less_and_even_ones_not_at_all():
    per_s = 0.8 / SERVICE_US * 1e6
    poisson, gamma, even = (
        waiting_us(per_s, arrivals).mean() for arrivals in ({"kind": "poisson"}, {"kind": "gamma", "shape": 4}, {"kind": "even"})
    )
    assert even == 0
    assert 0 < gamma < poisson / 3
