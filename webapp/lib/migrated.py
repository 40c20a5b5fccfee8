"""Whether the database has the tables and columns of this version."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.loader import MigrationLoader


def is_migrated() -> bool:
    """Reads the database, and all migrations. Raises django.db.DatabaseError if the database is away."""
    known = MigrationLoader(connection)
    return set(known.disk_migrations) <= set(known.applied_migrations)
