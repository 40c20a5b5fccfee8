"""Checkpointing protocols (docs/checkpointing.md). Each kind has a file of its name with a function `build`; all share the same parts.

`setup` builds the protocol of a run, `telemetry` reads it for frames and summaries.
"""
