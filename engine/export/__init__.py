"""Writes the query of an experiment for another engine: as a program of PySpark, with its input beside it (`docs/spark-execution.md`).

Knows documents and their input only. No Spark is needed to write the program.
"""

from .compare import Difference, difference
from .files import AHEAD_NS, TooManyRecords, write
from .latencies import ResultLatency, began_and_committed, files_read, latency_of, records_by_batch
from .progress import MicroBatch, batches_in, line_of, lost_batches, micro_batch
from .query import NotExported, SparkQuery, compiled

__all__ = [
    "AHEAD_NS",
    "Difference",
    "MicroBatch",
    "NotExported",
    "ResultLatency",
    "SparkQuery",
    "TooManyRecords",
    "batches_in",
    "began_and_committed",
    "compiled",
    "difference",
    "files_read",
    "latency_of",
    "line_of",
    "lost_batches",
    "micro_batch",
    "records_by_batch",
    "write",
]
