"""Tags of runs."""

from __future__ import annotations

from django.db import models

from .people import Lab
from .runs import Run


class Tag(models.Model):
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=50)
    runs = models.ManyToManyField(Run, related_name="tags")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="one_tag_of_a_name")]
