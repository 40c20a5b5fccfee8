"""Scheduling of queries on the cores of hosts (docs/scheduling.md). Each policy has a file of its name; policies see only statistics, and
share one cycle.

The module of a kind has `policy`, which constructs the policy (`engine.scheduling.policy.Policy`) from its part of the document.
"""
