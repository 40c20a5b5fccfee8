"""Risk 2: does knowing at any instant what waits (admission, K2) undo the gain of merging sorted streams without a queue?

First in the small core, where the FIFO is a merge of three streams: with a second cursor per stream (the test asked for), and with
arrivals that join a queue. Then in the engine, whose arrivals join their instance's queue: without the counts and bytes, and with every
store of the arrival phase twice, which bounds from both sides what the pass costs.
"""

from __future__ import annotations

from tests.engine.agreement import template

from .finding import Finding, cpu_seconds, interleaved
from .shuffle import COUNTED, NO_ADMISSION, QUEUED, Load, Make, million_hops_per_s
from .variants import loop_with, simulation_on

LOSS_MAX = 0.30
HORIZON_NS = 3_000_000_000

COUNTS = {
    "                        inst[i, I_QUEUE_COUNT] += 1\n                        inst[i, I_QUEUE_BYTES] += msg[slot, M_BYTES]\n": "",
    "                        inst[i, I_QUEUE_COUNT] -= 1\n                        inst[i, I_QUEUE_BYTES] -= msg[slot, M_BYTES]\n": "",
}
TWICE = {
    "                        inst[i, I_QUEUE_BYTES] += msg[slot, M_BYTES]\n                    if ring": (
        "                        inst[i, I_QUEUE_BYTES] += msg[slot, M_BYTES]\n"
        "                        if inst[i, 36] < 0:\n                            inst[i, 37] = slot\n"
        "                        else:\n                            box[4] = slot\n"
        "                        inst[i, 36] = slot\n                        inst[i, 38] += 1\n"
        "                        inst[i, 39] += msg[slot, M_BYTES]\n"
        "                    if ring"
    )
}


def in_the_small_core() -> list[Finding]:
    findings = []
    for hosts, per_s in ((100, 1200), (10, 10_000)):
        load = Load(hosts=hosts, per_s=per_s)
        makes = (Make(NO_ADMISSION), Make(COUNTED), Make(QUEUED))
        bare, counted, queued = interleaved(5, *(lambda make=make, load=load: million_hops_per_s(make, load, HORIZON_NS) for make in makes))
        for what, value in (("a second cursor on each stream", counted), ("arrivals join a queue", queued)):
            loss = 1 - value / bare
            findings.append(
                Finding(
                    2,
                    f"small core, W={hosts} at {hosts * per_s:,} rec/s: {what}",
                    f"loss at most {LOSS_MAX:.0%}",
                    loss <= LOSS_MAX,
                    {"M hops/s without": round(bare, 1), "with": round(value, 1), "loss": f"{loss:.0%}"},
                )
            )
    return findings


def in_the_engine() -> list[Finding]:
    kernels = [loop_with(change, name) for change, name in (({}, "as_it_is"), (COUNTS, "no_counts"), (TWICE, "twice"))]
    findings = []
    for name in ("nexmark_q3", "nexmark_q12"):

        def speed(kernel: object, name: str = name) -> float:
            simulation = simulation_on(kernel, template(name, horizon_s=3.0))
            seconds = cpu_seconds(lambda: simulation.run_until(simulation.end_ns))
            return simulation.summary()["hops"] / seconds / 1e6

        for kernel in kernels:
            speed(kernel)
        as_it_is, bare, twice = interleaved(5, *(lambda kernel=kernel: speed(kernel) for kernel in kernels))
        findings.append(
            Finding(
                2,
                f"engine, {name}: counts and bytes of what waits",
                f"loss at most {LOSS_MAX:.0%}",
                1 - as_it_is / bare <= LOSS_MAX,
                {
                    "M hops/s without": round(bare, 2),
                    "with": round(as_it_is, 2),
                    "loss": f"{1 - as_it_is / bare:.0%}",
                    "all stores of the arrival phase twice": f"{1 - twice / as_it_is:.0%} slower",
                },
            )
        )
    return findings


def measure() -> list[Finding]:
    return [*in_the_small_core(), *in_the_engine()]
