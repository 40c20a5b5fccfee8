"""Writes the query of an experiment for another engine: as a program of PySpark, with its input beside it (`docs/spark-execution.md`).

Knows documents and their input only. No Spark is needed to write the program.
"""

from .files import TooManyRecords, write
from .query import NotExported, SparkQuery, compiled

__all__ = ["NotExported", "SparkQuery", "TooManyRecords", "compiled", "write"]
