"""What the web process knows of documents: it asks `engine.spec`, with the lab's data sets at hand. Nothing here runs an engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from engine.spec import Experiment, RecordSchema, Refusal
from engine.spec.rules.event_time import calendar_text, event_zero_ns
from engine.spec.rules.validation import Context, examine, sound_sources
from engine.workloads import DatasetInfo, lookup
from engine.workloads import preview as rates_preview

from .models import Lab


def datasets_directory(lab: Lab) -> Path:
    """Where the lab's data sets are, each as `<name>.parquet`."""
    return Path(settings.DATASETS_DIR) / str(lab.pk)


def datasets_of(lab: Lab) -> Callable[[str], DatasetInfo | None]:
    """Finds the lab's data sets by name."""
    return lookup([datasets_directory(lab)])


@dataclass(frozen=True)
class Checked:
    """A document and what is to be said about it.

    experiment: None if it has errors. schemas: by "operator id.port"; placement: host names by operator id; both as far as they are known.
    event_zero: what 0 of event time is on the calendar, as an ISO text, where sources read data sets.
    """

    problems: list[dict[str, Any]]
    experiment: Experiment | None
    schemas: dict[str, dict[str, Any]]
    placement: dict[str, list[str]]
    event_zero: str | None

    @property
    def hash(self) -> str:
        """Empty for an invalid document."""
        return self.experiment.hash if self.experiment else ""


def check(document: dict[str, Any], lab: Lab) -> Checked:
    """Validate completely."""
    findings = examine(document, Context(datasets=datasets_of(lab)))
    return Checked(
        problems=[problem.as_dict() for problem in findings.problems],
        experiment=findings.experiment,
        schemas={port: schema_shape(schema) for port, schema in findings.schemas.items()},
        placement=findings.placement,
        event_zero=None if findings.event_zero_ns is None else calendar_text(findings.event_zero_ns),
    )


def preview(document: dict[str, Any], lab: Lab, points: int) -> dict[str, list[list[float]]]:
    """Records per second over the horizon, by source: (time in s, rate), as the rates say, without chance. Broken sources are left out."""
    workload, sources = sound_sources(document)
    datasets, curves = datasets_of(lab), {}
    zero_ns = event_zero_ns(sources, datasets)
    for id, source in sources.items() if workload is not None else ():
        with suppress(Refusal):
            curves[id] = [list(point) for point in rates_preview(source, workload.horizon_ns, points, datasets, zero_ns)]
    return curves


def schema_shape(schema: RecordSchema) -> dict[str, Any]:
    return {"fields": [{"name": field.name, "type": field.type} for field in schema.fields], "bytes": schema.bytes}
