"""The version of the engine, which the web process compares with that of runs, although it runs no engine."""

ENGINE_VERSION = "17"
"""Part of a run's identity. Increase it when the same document gives other bytes, or when the layout of snapshots changes."""
