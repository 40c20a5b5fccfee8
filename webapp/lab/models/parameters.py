"""The parameters of run documents as rows, so that SQL can search runs by them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models
from django.db.models import Q

from webapp.lib.covering_index import CoveringIndex
from webapp.lib.inserting import insert

from .fields import NAME_LENGTH_MAX, FieldName
from .runs import Run

TEXT_LENGTH_MAX = 200
Row = tuple[int, float | None, str]
"""Id of the name, number, text."""


class RunParameter(models.Model):
    """One parameter of a run's document. Booleans are stored as the texts "true" and "false". Missing values have no row."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="parameters", db_index=False)
    name = models.ForeignKey(FieldName, on_delete=models.CASCADE, db_index=False)
    number = models.FloatField(null=True)
    text = models.CharField(max_length=TEXT_LENGTH_MAX, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_value_of_a_parameter")]
        # As for metrics: include the run, so that index-only scans can answer conditions.
        indexes = [
            CoveringIndex(fields=["name", "number"], include=["run"], condition=Q(number__isnull=False), name="runs_by_number"),
            CoveringIndex(
                fields=["name", "text"], include=["run"], on_sqlite=["number"], condition=Q(number__isnull=True), name="runs_by_text"
            ),
        ]

    @classmethod
    def rows(cls, lab_id: int, values: Mapping[str, Any]) -> list[Row]:
        """Return the rows of a run's parameters. Names too long to search for are left out; long texts are truncated."""
        kept = {name: value for name, value in values.items() if value is not None and len(name) <= NAME_LENGTH_MAX}
        ids = FieldName.ids(lab_id, kept)
        rows = []
        for name, value in kept.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            text = "" if is_number else str(value).lower() if isinstance(value, bool) else str(value)[:TEXT_LENGTH_MAX]
            rows.append((ids[name], float(value) if is_number else None, text))
        return rows

    @classmethod
    def store(cls, run: Run, rows: Sequence[Row]) -> None:
        insert(cls, {"run": run.pk}, ("name", "number", "text"), rows)
