"""Risk 7: the same bytes anywhere. Digest of one run with the compiler and without, and compiled for a processor without vector units.

A restricted target is a stand-in for another processor model: what it cannot show is a difference in how two models execute the same
instruction, which IEEE arithmetic excludes for +, -, *, / and square root. The run has everything that computes with floats or draws
chance in this version: a cosine rate, skewed keys, disorder, float expressions, averages. Noise on costs, gamma delays and angles are
not built.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.engine.agreement import template, with_params

from .finding import Finding

ROOT = Path(__file__).resolve().parents[2]
NUMPY_OFF = "SSE42 AVX2 FMA3 AVX512F AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V3 X86_V4"
TARGETS = {
    "compiled for this processor": {},
    "not compiled": {"MILLRACE_COMPILE": "0"},
    "compiled for a generic processor": {"MILLRACE_CPU": "generic"},
    "compiled for nehalem, NumPy without its vector units": {
        "MILLRACE_CPU": "nehalem",
        "NPY_DISABLE_CPU_FEATURES": NUMPY_OFF,
    },
}
CHILD = """
import json, sys
import engine
simulation = engine.Simulation(json.load(sys.stdin), keep_outputs=True)
simulation.run_until(simulation.end_ns)
print(json.dumps([simulation.digest(), simulation.summary()["hops"], [r["values"] for r in simulation.sink_records("sink")][-3:]]))
"""


def document() -> dict[str, Any]:
    made = template("nexmark_q12", horizon_s=0.2, drain=True)
    window = {"kind": "sliding", "size_s": 0.04, "slide_s": 0.013, "clock": "event"}
    aggregates = [
        {"name": "n"},
        {"name": "mean", "function": "avg", "field": "euros"},
        {"name": "most", "function": "max", "field": "root"},
    ]
    made = with_params(made, "count", window=window, aggregates=aggregates, emit="on_close")
    fields = [
        {"name": "bidder", "expression": "bidder"},
        {"name": "euros", "expression": "price * 0.908 / 3.7"},
        {"name": "root", "expression": "price / 7 - abs(price * 0.1 - bidder) * 1.0e-3"},
    ]
    made["query"]["operators"].insert(1, {"id": "convert", "kind": "map", "parallelism": 4, "params": {"fields": fields}})
    made["query"]["edges"][0] |= {"source": "convert"}
    made["query"]["edges"].insert(0, {"source": "bids", "target": "convert", "partitioning": {"kind": "forward"}})
    made["workload"]["sources"]["bids"] |= {
        "stream": {"kind": "nexmark_bid", "hot_ratio": 0.3},
        "rate": {"kind": "cosine", "mean_per_s": 20_000, "amplitude_per_s": 9_000, "period_s": 0.07},
        "disorder": {"kind": "uniform", "max_ms": 5},
        "watermarks": {"kind": "bounded", "lag_ms": 4, "period_ms": 3},
    }
    return made


def measure() -> list[Finding]:
    text = json.dumps(document())
    answers = {}
    for name, environment in TARGETS.items():
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CHILD],
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, **environment},
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr}")
        answers[name] = json.loads(done.stdout.splitlines()[-1])
    digests = {name: answer[0][:16] for name, answer in answers.items()}
    equal = len({json.dumps(answer) for answer in answers.values()}) == 1
    hops = answers["not compiled"][1]
    flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return [
        Finding(
            7,
            f"digest of {hops:,} hops on four targets",
            "equal",
            equal,
            {**digests, "this processor has": [f for f in ("avx2", "fma", "avx512f") if f in flags]},
        )
    ]
