"""Studies: an experiment, and how it is varied and judged."""
