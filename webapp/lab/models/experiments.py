"""Experiments: documents with versions. What a document means is `engine.spec`'s business."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.utils import timezone

from .people import Lab

NAME_LENGTH_MAX = 200
UNNAMED = "Untitled experiment"
FIGURE = "figure "
"""Prefix of `fixture` for experiments of figures."""


def name_of(document: dict[str, Any]) -> str:
    """Return the display name; drafts may have no name, or one of the wrong type."""
    name = document.get("name")
    return name.strip()[:NAME_LENGTH_MAX] or UNNAMED if isinstance(name, str) else UNNAMED


class Experiment(models.Model):
    """A document that people edit. Drafts may be invalid; a run takes a copy of a valid one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    document = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    hash = models.CharField(max_length=64, blank=True, db_index=True)  # of the document as saved; empty while it is invalid
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL)  # the experiment it was forked from
    fixture = models.CharField(max_length=100, blank=True)  # name of the example it came from
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["lab", "-updated_at"])]

    def save_version(self, version: int, document: dict[str, Any], hash: str) -> bool:
        """Store the document if `version` is still the newest. Returns False, and changes nothing, if someone else saved first."""
        saved = Experiment.objects.filter(pk=self.pk, version=version, deleted_at__isnull=True).update(
            version=version + 1, document=document, name=name_of(document), hash=hash, updated_at=timezone.now()
        )
        self.refresh_from_db()
        return saved == 1
