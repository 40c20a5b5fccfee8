"""Risk 5: operators that put out many records per input, over channels with few credits (K7).

A self-join of auctions by category puts out 0 to 1000 and more records per input; its sink is slow, so the join stands blocked within
most of its emissions. The engine runs in random chunks; all services, deliveries and queues have to equal the oracle's.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import engine
from tests.engine.agreement import DATASETS, assert_agreement

from .finding import Finding

CREDITS = (1, 3, 32)
BURST_MIN = 1000
BLOCKED_MIN = 1000
"""How often a sender has to have been blocked in each run for the test to say something."""


def document(per_channel: int) -> dict[str, Any]:
    """Two hosts, six instances; thousands of left records and a few right ones, all in one pane."""

    def source(*steps: tuple[float, float]) -> dict[str, Any]:
        rate = {"kind": "steps", "steps": [{"at_s": at_s, "per_s": per_s} for at_s, per_s in steps]}
        return {"stream": {"kind": "nexmark_auction"}, "rate": rate}

    key = {"kind": "hash", "key": "category"}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "many", "kind": "source", "parallelism": 2, "cost": {"record_us": 0.5}},
                {"id": "few", "kind": "source", "cost": {"record_us": 1.0}},
                {
                    "id": "join",
                    "kind": "join",
                    "parallelism": 2,
                    "cost": {"record_us": 1.0, "output_us": 0.01},
                    "params": {
                        "left_key": "category",
                        "right_key": "category",
                        "window": {"kind": "full_history"},
                        "select": ["id", "category", "right_id"],
                    },
                },
                {"id": "sink", "kind": "sink", "parallelism": 2, "cost": {"record_us": 0.4}},
            ],
            "edges": [
                {"source": "many", "target": "join", "target_port": "left", "partitioning": key},
                {"source": "few", "target": "join", "target_port": "right", "partitioning": key},
                {"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {
            "local_latency_ns": 700,
            "hosts": [
                {"name": "a", "processor": {"kind": "shared_fifo"}, "cores": 2, "egress_latency_ms": 0.002, "egress_mbit_per_s": 10_000},
                {"name": "b", "processor": {"kind": "dedicated"}, "cores": 8, "egress_latency_ms": 0.003, "egress_mbit_per_s": 10_000},
            ],
        },
        "workload": {
            "horizon_s": 0.07,
            "warmup_s": 0.0,
            "drain": True,
            "sources": {"many": source((0.0, 600_000.0), (0.01, 1.0)), "few": source((0.0, 200.0), (0.06, 3_000.0))},
        },
        "policies": {"flow_control": {"kind": "credits", "per_channel": per_channel}},
    }


def measure() -> list[Finding]:
    findings = []
    for credits in CREDITS:
        experiment = document(credits)
        started = time.perf_counter()
        simulation = engine.Simulation(experiment, datasets=DATASETS, trace=True, keep_outputs=True)
        chance = random.Random(credits)
        for cut_ns in sorted(chance.randrange(60_000_000) for _ in range(300)):
            simulation.run_until(cut_ns)
        simulation.run_until(simulation.end_ns)
        expected = assert_agreement(experiment, simulation)  # raises where they differ
        bursts = Counter(record["trigger"] for record in simulation.sink_records("sink"))
        largest = max(bursts.values())
        summary = simulation.summary()
        findings.append(
            Finding(
                5,
                f"B = {credits}: bursts over credits, in 300 random chunks, equal the oracle",
                f"equal, bursts of {BURST_MIN}, blocked {BLOCKED_MIN} times",
                largest >= BURST_MIN and expected.blocked_count >= BLOCKED_MIN,
                {
                    "services": len(expected.services),
                    "largest burst": largest,
                    "outputs": summary["records_out"],
                    "times blocked": expected.blocked_count,
                    "drained": expected.drained,
                    "s": round(time.perf_counter() - started, 1),
                },
            )
        )
    return findings
