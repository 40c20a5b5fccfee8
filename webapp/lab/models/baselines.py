"""Pinned baselines."""

from __future__ import annotations

from django.db import models

from .experiments import Experiment
from .runs import Run


class Baseline(models.Model):
    """The run that an experiment's other runs are compared with, visible to the whole lab. At most one per experiment."""

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, primary_key=True)
    run = models.OneToOneField(Run, on_delete=models.CASCADE)
