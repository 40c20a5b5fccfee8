"""Analysis with Spark: one session, with its own process and queue (docs/spark.md)."""
