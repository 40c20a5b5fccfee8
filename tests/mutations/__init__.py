"""Lines of the engine, broken one at a time: `python -m benchmarks.mutants` tries whether the tests notice."""
