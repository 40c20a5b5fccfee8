"""Rules across the parts of an experiment: validation, layout, limits."""
