"""What scripts/test is made of: steps that run side by side, what they cost, and the report."""
