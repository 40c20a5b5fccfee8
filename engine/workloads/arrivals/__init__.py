"""Arrival times of records: one file per kind, named after it, with a function `arrivals`.

Records are numbered 0, 1, 2, ... Every kind gives the time of any record at any moment, so that a run can be cut anywhere.
"""

from __future__ import annotations

from engine.spec.base.family import implementation
from engine.spec.base.problems import refusals_below
from engine.spec.experiment.workload import Workload
from engine.spec.rules.flow import Datasets

from ..rates import curve_of
from .base import Arrivals, SourceLoad

__all__ = ["Arrivals", "SourceLoad", "arrivals_of"]


def arrivals_of(workload: Workload, operator_id: str, datasets: Datasets) -> Arrivals:
    """Arrivals of a source that does not use a file's own times. Raises Refusal (path below the source's entry)."""
    source, horizon_ns = workload.sources[operator_id], workload.horizon_ns
    with refusals_below("rate"):
        curve = curve_of(source.rate, horizon_ns, datasets)
    load = SourceLoad(curve, workload.scale, horizon_ns, workload.seed, operator_id)
    arrivals: Arrivals = implementation(type(source.arrivals), __name__, "arrivals")(source.arrivals, load)
    return arrivals
