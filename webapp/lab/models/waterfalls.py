"""Waterfalls: the latency breakdown of selected records of a finished run. A worker finds it by repeating the run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.db import models

from engine.spec import canonical_json

from .runs import Run
from .work import Work


class Waterfalls(Work):
    """One request for waterfalls of a run; the answer is a file."""

    TASK = "workers.make_waterfalls"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="waterfalls")
    selection = models.JSONField()  # engine.spec.experiment.selection
    selection_hash = models.CharField(max_length=64)
    progress = models.FloatField(default=0.0)  # fraction of the work done, 0 to 1
    records = models.PositiveIntegerField(null=True)  # number of records found

    class Meta:
        indexes = [models.Index(fields=["run", "selection_hash"])]

    @property
    def file(self) -> Path:
        """File of the answer once it has succeeded: a JSON array."""
        return self.run.directory / "waterfalls" / f"{self.pk}.json"


def hash_of(selection: dict[str, Any]) -> str:
    return hashlib.blake2b(canonical_json(selection), digest_size=32).hexdigest()
