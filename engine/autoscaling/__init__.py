"""Autoscaling policies (docs/autoscaling.md). Each kind has a file of its name; policies see only metrics, and share one loop.

The module of a kind that decides during the run has `policy`, which constructs the policy from its part of the document. The module of a
kind that plans ahead has `plan`, which returns the initial parallelism and the orders.
"""
