"""What the web process and the workers tell each other: the queue, live frames, hints of changes, signs of life."""

QUEUE = "runs"
"""Of all work but that of the analysis worker."""
