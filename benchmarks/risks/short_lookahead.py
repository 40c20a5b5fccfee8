"""Risk 6: small latency, many hosts, few records: most of the work is to find the next window and the hosts that are due in it.

In the engine, which scans all hosts for every window, and in the small core with a scan and with a tree of minima over the hosts.
"""

from __future__ import annotations

from typing import Any

import engine
from engine.core import layout as L
from tests.engine.agreement import template

from .finding import Finding, cpu_seconds, interleaved
from .shuffle import SCAN, TREE, Load, Make, million_hops_per_s

HOSTS = 100
PER_S = 100  # and host
GATE = 3.0
LATENCIES_MS = (0.05, 0.5)


def document(latency_ms: float) -> dict[str, Any]:
    made = template("nexmark_q12", horizon_s=20.0)
    made["cluster"]["hosts"][0] |= {"count": HOSTS, "egress_latency_ms": latency_ms}
    for operator in made["query"]["operators"]:
        operator["parallelism"] = HOSTS
    made["workload"]["sources"]["bids"]["rate"]["per_s"] = HOSTS * PER_S
    return made


def in_the_engine() -> list[Finding]:
    findings = []
    for latency_ms in LATENCIES_MS:
        last: list[engine.Simulation] = []

        def speed(latency_ms: float = latency_ms, last: list[engine.Simulation] = last) -> float:
            simulation = engine.Simulation(document(latency_ms))
            seconds = cpu_seconds(lambda: simulation.run_until(simulation.end_ns))
            last[:] = [simulation]
            return simulation.summary()["hops"] / seconds / 1e6

        (value,) = interleaved(3, speed)
        windows, hops = int(last[0]._world.arrays.g[L.G_WINDOWS]), last[0].summary()["hops"]
        findings.append(
            Finding(
                6,
                f"engine, Q12, W={HOSTS}, {PER_S} rec/s per host, latency {latency_ms:g} ms",
                f"at least {GATE:g} M hops/s",
                value >= GATE,
                {"M hops/s": round(value, 2), "hops": hops, "windows": windows, "ns per window": round(hops / value * 1000 / windows)},
            )
        )
    return findings


def in_the_small_core() -> list[Finding]:
    findings = []
    for latency_ms in LATENCIES_MS:
        load = Load(hosts=HOSTS, per_s=PER_S, latency_ns=int(latency_ms * 1e6))
        scan, tree = interleaved(
            5, *(lambda s=s, load=load: million_hops_per_s(Make(search=s), load, 30_000_000_000) for s in (SCAN, TREE))
        )
        findings.append(
            Finding(
                6,
                f"small core, latency {latency_ms:g} ms, M hops/s",
                "none: compare",
                None,
                {"scan of all hosts": round(scan, 2), "tree of minima": round(tree, 2)},
            )
        )
    return findings


def measure() -> list[Finding]:
    return [*in_the_engine(), *in_the_small_core()]
