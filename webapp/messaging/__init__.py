"""Messaging between the web process and the workers: queue, live frames, change hints, heartbeats."""

QUEUE = "runs"
"""Queue of all work except that of the analysis worker."""
