"""Writes the query of an experiment for another engine: as a program of PySpark, with its input beside it (`docs/spark-execution.md`).

Knows documents and their input only. No Spark is needed to write the program.
"""

from .compare import Difference, difference
from .files import TooManyRecords, records_written, write
from .query import NotExported, SparkQuery, compiled

__all__ = ["Difference", "NotExported", "SparkQuery", "TooManyRecords", "compiled", "difference", "records_written", "write"]
