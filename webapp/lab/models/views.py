"""Views: saved run lists."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from .people import Lab


class View(models.Model):
    """A named search of the run list with its order and columns, visible to the whole lab."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)
    query = models.JSONField()  # the page's URL parameters, by name
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lab", "name"], condition=models.Q(deleted_at__isnull=True), name="one_view_of_a_name")
        ]
