"""Moves of operators to other hosts while the query runs (docs/relocation.md). `engine.rescaling` carries them out."""
