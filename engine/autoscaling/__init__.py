"""Autoscaling policies (docs/autoscaling.md): each a file of the name of its kind that knows metrics alone, over one loop.

The module of a kind that decides live has `policy`, which makes the policy from the document's part. That of a kind that plans ahead has
`plan`, which gives the parallelism to begin with and the orders.
"""
