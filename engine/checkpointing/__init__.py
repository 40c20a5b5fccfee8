"""Checkpointing protocols (docs/checkpointing.md): each a file of the name of its kind, with a function `build`, over the same parts.

`setup` gives a run its protocol, `telemetry` reads it for frames and summaries.
"""
