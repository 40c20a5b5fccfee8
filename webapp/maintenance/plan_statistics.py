"""Statistics that SQLite chooses between indexes by. PostgreSQL gathers them by itself."""

from __future__ import annotations

from django.db import connection

ROWS_MAX = 1000
"""Number of entries of an index that are read for an estimate, so that a large lab takes as long as a small one: 10 ms."""


def refresh() -> None:
    """Estimate anew how many rows the values of each index have. Without estimates, SQLite reads all runs of a lab for those of a setup."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA analysis_limit={ROWS_MAX}")
        cursor.execute("ANALYZE")
