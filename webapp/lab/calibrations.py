"""Where the calibration of the installation is, and how it is asked for."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from .models import CalibrationJob, Lab
from .waiting_work import enqueue


def file() -> Path:
    """What was measured last, by the workbench or by `manage.py calibrate` (`engine.export.calibration`)."""
    return Path(settings.DATA_DIR) / "calibration.json"


def newest(lab: Lab) -> CalibrationJob | None:
    """The measurement that the lab asked for last."""
    return CalibrationJob.objects.filter(lab=lab, deleted_at__isnull=True).order_by("-created_at").first()


def start(lab: Lab, though_busy: bool, author: str) -> tuple[CalibrationJob, bool]:
    """Store a measurement and enqueue it for the analysis worker. Also returns whether it was enqueued; if not, it waits for the queue."""
    job = CalibrationJob.objects.create(lab=lab, though_busy=though_busy, author=author)
    queued = enqueue(job.pk, CalibrationJob)
    job.refresh_from_db()
    return job, queued
