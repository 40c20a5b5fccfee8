"""Assertions: evaluation of their language, and the verdicts on a run (docs/assertions.md)."""
