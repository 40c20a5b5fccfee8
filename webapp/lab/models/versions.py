"""Saved versions of experiments."""

from __future__ import annotations

from django.db import models

from .experiments import Experiment

EDITOR_LENGTH_MAX = 64


class ExperimentVersion(models.Model):
    """A state of an experiment's document that somebody saved; `webapp.lab.versions` says which states are kept.

    The newest one has the number and the document of the experiment itself. Names are stored as they were, as in the audit log.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()  # of the experiment's version when it was last saved
    document = models.JSONField()
    bytes = models.PositiveIntegerField()  # of the document as JSON
    author = models.CharField(max_length=150, blank=True)  # empty: saved before versions were kept, or shipped with Millrace
    token = models.CharField(max_length=100, blank=True)  # the token that a program used
    editor = models.CharField(max_length=EDITOR_LENGTH_MAX, blank=True)  # the open page in which it was edited
    began_at = models.DateTimeField()  # the first save that is in it
    saved_at = models.DateTimeField()
    saves = models.PositiveIntegerField(default=1)
    restored = models.PositiveIntegerField(null=True)  # number of the version that it restored

    class Meta:
        constraints = [models.UniqueConstraint(fields=["experiment", "number"], name="one_version_of_a_number")]
