"""Parts of scripts/test: steps that run in parallel, their costs, and the report."""
