"""The audit log: who did what in the lab, and when."""

from __future__ import annotations

from django.db import models

from webapp.lab.models import Lab


class LogEntry(models.Model):
    """An entry, written once. It stores names as they were, so that it stays meaningful after people and objects are deleted."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    at = models.DateTimeField(auto_now_add=True)
    person = models.CharField(max_length=150)
    token = models.CharField(max_length=100, blank=True)  # the token that a program used
    action = models.CharField(max_length=50)  # kind of object and action: runs.cancel
    subject = models.CharField(max_length=200, blank=True)
    subject_id = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["lab", "-id"])]
