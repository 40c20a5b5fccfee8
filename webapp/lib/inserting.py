"""Bulk inserts without model objects, whose creation would take longer than the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import connections, models, router


def insert(model: type[models.Model], same: Mapping[str, Any], names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows that have no defaults except their key. same: values common to all rows, by field. names: the other fields; their values
    in `rows` must not need preparation: numbers, texts, None."""
    connection = connections[router.db_for_write(model)]
    fields = [model._meta.get_field(name) for name in [*same, *names]]
    prepared = tuple(field.get_db_prep_save(value, connection) for field, value in zip(fields, same.values(), strict=False))
    table, *columns = (connection.ops.quote_name(name) for name in [model._meta.db_table, *(field.column for field in fields)])
    places = f"({', '.join(['%s'] * len(fields))})"
    at_once = max(1, connection.ops.bulk_batch_size(fields, rows))  # PostgreSQL returns 0 for no rows
    with connection.cursor() as cursor:
        for first in range(0, len(rows), at_once):
            part = rows[first : first + at_once]
            values = list(chain.from_iterable(prepared + row for row in part))
            cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([places] * len(part))}", values)
