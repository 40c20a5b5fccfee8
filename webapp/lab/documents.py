"""Documents in the web process: validated by `engine.spec` with the lab's data sets. Nothing here runs the engine."""

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
from engine.workloads.selectivity import Sampled, threshold_for

from .models import Lab


def datasets_directory(lab: Lab) -> Path:
    """Directory of the lab's data sets, one `<name>.parquet` each."""
    return Path(settings.DATASETS_DIR) / str(lab.pk)


def datasets_of(lab: Lab) -> Callable[[str], DatasetInfo | None]:
    """Return a lookup of the lab's data sets by name."""
    return lookup([datasets_directory(lab)])


@dataclass(frozen=True)
class Checked:
    """The result of validating a document.

    experiment: None if the document has errors. schemas: by "operator id.port". placement: host names by operator id. Both contain only
    what is known.
    event_zero: calendar date of event time 0, in ISO format, if sources read data sets.
    """

    problems: list[dict[str, Any]]
    experiment: Experiment | None
    schemas: dict[str, dict[str, Any]]
    placement: dict[str, list[str]]
    event_zero: str | None

    @property
    def hash(self) -> str:
        """Hash of the experiment; empty for an invalid document."""
        return self.experiment.hash if self.experiment else ""


def check(document: dict[str, Any], lab: Lab) -> Checked:
    """Validate the whole document."""
    findings = examine(document, Context(datasets=datasets_of(lab)))
    return Checked(
        problems=[problem.as_dict() for problem in findings.problems],
        experiment=findings.experiment,
        schemas={port: schema_shape(schema) for port, schema in findings.schemas.items()},
        placement=findings.placement,
        event_zero=None if findings.event_zero_ns is None else calendar_text(findings.event_zero_ns),
    )


def preview(document: dict[str, Any], lab: Lab, points: int) -> dict[str, list[list[float]]]:
    """Return the source rates over the horizon, by source: (time in s, records per s), without random variation. Invalid sources are left
    out."""
    workload, sources = sound_sources(document)
    datasets, curves = datasets_of(lab), {}
    zero_ns = event_zero_ns(sources, datasets)
    for id, source in sources.items() if workload is not None else ():
        with suppress(Refusal):
            curves[id] = [list(point) for point in rates_preview(source, workload.horizon_ns, points, datasets, zero_ns)]
    return curves


def threshold(experiment: Experiment, operator: str, selectivity: float, lab: Lab) -> Sampled:
    """The threshold of a similarity join for a target selectivity. Raises Refusal."""
    return threshold_for(experiment, operator, selectivity, datasets_of(lab))


def schema_shape(schema: RecordSchema) -> dict[str, Any]:
    return {"fields": [{"name": field.name, "type": field.type} for field in schema.fields], "bytes": schema.bytes}
