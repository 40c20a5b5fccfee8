"""An index that holds more columns than it sorts by, on every database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement


class CoveringIndex(models.Index):
    """An index whose `include` columns let queries read the index alone.

    Databases without INCLUDE (SQLite) get these columns behind those that it sorts by. Django leaves them out there.

    on_sqlite: further columns for SQLite only. It reads the index alone only if that holds every column of the query, also those of the
    index's own condition. Columns of the table cost more there: a row holds its large values, too.
    """

    def __init__(self, *expressions: Any, on_sqlite: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*expressions, **kwargs)
        self.on_sqlite = tuple(on_sqlite)

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        return path, args, kwargs | {"on_sqlite": self.on_sqlite} if self.on_sqlite else kwargs

    def create_sql(self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor, using: str = "", **kwargs: Any) -> Statement:
        if schema_editor.connection.features.supports_covering_indexes:
            return super().create_sql(model, schema_editor, using, **kwargs)
        fields = [*self.fields, *self.include, *self.on_sqlite]
        return models.Index(fields=fields, name=self.name, condition=self.condition).create_sql(model, schema_editor, using, **kwargs)
