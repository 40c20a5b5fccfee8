"""Corpora and cost models that people have the workers make. The results are files of the installation (`webapp.lab.cost_models`)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from .people import Lab
from .work import Work

DOING_MAX = 100


class LearningKind(models.TextChoices):
    CORPUS = "corpus"
    MODELS = "models"


class LearningJob(Work):
    """Measuring a corpus, or training the models of one. What was done before a stop is kept, and a further job goes on with it."""

    TASK: ClassVar[str] = "workers.learn"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    kind = models.CharField(max_length=10, choices=LearningKind)
    name = models.CharField(max_length=63)  # of what is made
    settings = models.JSONField()  # of a corpus: seed, traces; of models: corpus, models (engine.spec.figure.evaluations.Models)
    doing = models.CharField(max_length=DOING_MAX, blank=True)
    author = models.CharField(max_length=150, blank=True)  # name of the person who started it, as it was then

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]
