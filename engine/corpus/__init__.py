"""Random queries on random hosts, from which placements are learned (Heinrich et al. 2024, sections VI and VII; docs/learned-placement.md).

A corpus is a pure function: a seed and an index give an experiment, and the engine's run of it gives a row.
"""
