"""Answers to requests with an `Idempotency-Key`, kept so that a request that comes again does nothing again."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models

KEPT = timedelta(days=3)


class KeptAnswer(models.Model):
    """request: digest of what was asked. status: None while it is in progress. body: empty if the answer holds a secret."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True)
    is_secret = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key")]
