"""What must hold between the parts of an experiment, and what follows from them: validation, layout, limits."""
