"""Uploaded files that sources replay."""

from __future__ import annotations

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models

from .people import Lab


class Dataset(models.Model):
    """A table of records, stored as Parquet. Immutable, because documents refer to it by name and runs must be repeatable.

    The file of a deleted data set is kept under a name that no document can use.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=200)
    file = models.CharField(max_length=200)  # below settings.DATA_DIR
    rows = models.PositiveBigIntegerField()
    bytes = models.PositiveBigIntegerField()  # of the file as uploaded
    columns = models.JSONField()  # [{name, type, sample}]
    timestamps = models.JSONField()  # names of the columns that can be event time, best first
    reading = models.JSONField(null=True)  # how the file of text was read; None for Parquet, and for uploads before readings were kept
    counts = models.JSONField(null=True)  # what the reading did not simply take over; None before readings were kept
    hash = models.CharField(max_length=64, default="", db_default="")  # of the uploaded bytes and the reading; "" before readings were kept
    author = models.CharField(max_length=150, blank=True, default="", db_default="")  # name of the person who uploaded it, as it was then
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lab", "name"], condition=models.Q(deleted_at__isnull=True), name="one_dataset_of_a_name")
        ]

    @property
    def path(self) -> Path:
        return Path(settings.DATA_DIR) / self.file
