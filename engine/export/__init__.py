"""Writes the query of an experiment for another engine: as a program of PySpark, with its input beside it (`docs/spark-execution.md`).

Knows documents and their input only. No Spark is needed to write the program.
"""

from .compare import Difference, difference
from .files import AHEAD_NS, TooManyRecords, records_written, write
from .progress import MicroBatch, batches_in, line_of, lost_batches, micro_batch
from .query import NotExported, SparkQuery, compiled

__all__ = [
    "AHEAD_NS",
    "Difference",
    "MicroBatch",
    "NotExported",
    "SparkQuery",
    "TooManyRecords",
    "batches_in",
    "compiled",
    "difference",
    "line_of",
    "lost_batches",
    "micro_batch",
    "records_written",
    "write",
]
