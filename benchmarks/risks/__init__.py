"""The ten riskiest points of the event core, each tried with a cheap test; see docs/decisions/event-core-measurements.md.

One module for each risk, with a function `measure() -> list[Finding]`. Where the engine has the part, the engine is measured; where it
has not yet, a small prototype answers the question. Gates were set before anything was measured and are never moved.
"""
