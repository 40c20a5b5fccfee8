"""Rules for what a lab removes by itself, and what they have removed."""

from __future__ import annotations

from django.db import models

from .datasets import Dataset
from .people import Lab
from .runs import Run


class Removable(models.TextChoices):
    """Frames are telemetry, histograms and live frames of a run. A run that is removed takes them along."""

    FRAMES = "frames"
    RUNS = "runs"
    DATASETS = "datasets"


class RetentionRule(models.Model):
    """Removes things that are older than some days, or the oldest ones while they take more than some bytes together: one of the two."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="retention_rules")
    what = models.CharField(max_length=10, choices=Removable)
    days = models.PositiveIntegerField(null=True)
    bytes = models.BigIntegerField(null=True)
    kept_tags = models.JSONField(null=True)  # names of tags whose runs stay; null: any tag keeps
    paused = models.BooleanField(default=False)  # after its removals were undone
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(days__isnull=True) ^ models.Q(bytes__isnull=True), name="days_or_bytes_of_a_rule")
        ]


class Removal(models.Model):
    """What a rule has removed on one day. It can be undone until it is final: frames are there until then, runs and data sets are deleted
    as if by a person."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="removals")
    rule = models.ForeignKey(RetentionRule, null=True, on_delete=models.SET_NULL, related_name="removals")
    what = models.CharField(max_length=10, choices=Removable)
    day = models.DateField()
    at = models.DateTimeField()  # of the first that it took
    runs = models.ManyToManyField(Run, related_name="removals")
    datasets = models.ManyToManyField(Dataset, related_name="removals")
    count = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    undone_at = models.DateTimeField(null=True)
    final_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "day"], condition=models.Q(undone_at=None), name="one_removal_a_day")]
        indexes = [models.Index(fields=["lab", "-at"], name="removals_of_a_lab")]
