"""Analysis by Spark: one session, in a process and a queue of its own (docs/spark.md)."""
