"""What people say about runs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .people import Lab
from .runs import Run


class Tag(models.Model):
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=50)
    runs = models.ManyToManyField(Run, related_name="tags")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="one_tag_of_a_name")]


class Note(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    text = models.TextField(max_length=20_000)
    created_at = models.DateTimeField(auto_now_add=True)
