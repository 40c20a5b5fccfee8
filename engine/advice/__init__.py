"""Advice on where operators should run: from an experiment to ranked placements with predicted costs (docs/learned-placement.md)."""
