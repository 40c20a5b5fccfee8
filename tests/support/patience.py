"""How long tests wait for what must come. How soon it comes is a matter of benchmarks: a slow or busy machine fails no test."""

PATIENCE_S = 600.0
