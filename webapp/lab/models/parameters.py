"""What a run's document says, value by value, so that runs can be found by it in SQL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.db import models
from django.db.models import Q

from webapp.lib.inserting import insert

from .fields import NAME_LENGTH_MAX, FieldName
from .runs import Run

TEXT_LENGTH_MAX = 200


class RunParameter(models.Model):
    """A value of a run's document; truth values are texts, "true" and "false". What is missing has no row."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="parameters", db_index=False)
    name = models.ForeignKey(FieldName, on_delete=models.CASCADE, db_index=False)
    number = models.FloatField(null=True)
    text = models.CharField(max_length=TEXT_LENGTH_MAX, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_value_of_a_parameter")]
        # As for metrics: with the run, so that conditions are answered from the index alone.
        indexes = [
            models.Index(fields=["name", "number"], include=["run"], condition=Q(number__isnull=False), name="runs_by_number"),
            models.Index(fields=["name", "text"], include=["run"], condition=Q(number__isnull=True), name="runs_by_text"),
        ]

    @classmethod
    def store(cls, run: Run, values: Mapping[str, Any]) -> None:
        """Keep a run's values. Names that are too long to be looked for are left out, long texts cut short."""
        kept = {name: value for name, value in values.items() if value is not None and len(name) <= NAME_LENGTH_MAX}
        ids = FieldName.ids(run.lab_id, kept)
        rows = []
        for name, value in kept.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            text = "" if is_number else str(value).lower() if isinstance(value, bool) else str(value)[:TEXT_LENGTH_MAX]
            rows.append((ids[name], float(value) if is_number else None, text))
        insert(cls, {"run": run.pk}, ("name", "number", "text"), rows)
