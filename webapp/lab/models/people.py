"""Labs and their members."""

from __future__ import annotations

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models


def new_folder() -> str:
    return f"labs/{uuid.uuid4().hex}"


class Lab(models.Model):
    """People who share experiments, data sets, runs and models. Nobody else sees any of it."""

    name = models.CharField(max_length=100, unique=True)
    folder = models.CharField(max_length=60, default=new_folder)  # of corpora and models, below the data directory; the first lab's is ""
    runs_numbered = models.PositiveIntegerField(default=0)  # the number of the newest run
    storage_limit_bytes = models.BigIntegerField(null=True)  # above it no new work starts; null: no limit
    person_limits = models.JSONField(default=dict)  # see person_limits
    created_at = models.DateTimeField(auto_now_add=True)

    @property
    def home(self) -> Path:
        """Where the lab's corpora and models are."""
        return Path(settings.DATA_DIR) / self.folder


class Role(models.TextChoices):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"  # read only


class Membership(models.Model):
    """A person's membership in a lab."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "user"], name="one_membership")]
