"""Millrace's engine: real records through real operators, state and protocols on a modelled cluster, in virtual time.

import engine
run = engine.run("fixtures/experiments/nexmark_q3.yaml")
run.summary["latency_ms"]["p99"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.simulation import ENGINE_VERSION, Run, Simulation, run, warm_up

__all__ = ["ENGINE_VERSION", "Run", "Simulation", "run", "warm_up"]


def __getattr__(name: str) -> Any:
    # on first use: who only reads documents (`engine.spec`) should not load the compiler
    if name in __all__:
        from engine import simulation

        return getattr(simulation, name)
    raise AttributeError(f"module 'engine' has no attribute '{name}'")
