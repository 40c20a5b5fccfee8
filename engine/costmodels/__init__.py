"""Cost models: what a placement will cost, predicted before anything runs (Heinrich et al. 2024; docs/learned-placement.md).

They know descriptions of queries and hosts, never the engine: they could otherwise learn its constants, not its behaviour.
"""
