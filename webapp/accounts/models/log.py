"""The log of who did what in the lab, and when."""

from __future__ import annotations

from django.db import models

from webapp.lab.models import Lab


class LogEntry(models.Model):
    """Written once. Names are kept as they were then, so that an entry tells the same when people and things are gone."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    at = models.DateTimeField(auto_now_add=True)
    person = models.CharField(max_length=150)
    token = models.CharField(max_length=100, blank=True)  # by which a program acted for the person
    action = models.CharField(max_length=50)  # what kind of thing, and what was done to it: runs.cancel
    subject = models.CharField(max_length=200, blank=True)
    subject_id = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["lab", "-id"])]
