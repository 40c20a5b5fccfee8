"""One attempt at the waterfalls of a finished run: repeat the run twice and write the answer to a file.

A worker that dies in between has written nothing; the next attempt restarts from the beginning.
"""

from __future__ import annotations

import json
import logging
import os
from typing import Any

import engine
from engine.simulation import record_paths
from engine.spec import InvalidExperiment, Refusal
from engine.spec.experiment.selection import Selection
from engine.spec.rules.validation import Context, load
from webapp.lab.documents import datasets_of
from webapp.lab.models import RunState, Waterfalls
from webapp.lib import outages
from webapp.maintenance.retention import measure

from .artifacts import is_disk_full
from .attempts import attempt
from .execution import failed
from .run_monitor import Cancelled, LeaseLost, Monitor, ShuttingDown
from .time_slices import TimeSlices

log = logging.getLogger(__name__)


def make(id: str) -> None:
    """Answer a queued request. No effect if another worker holds it, or if it is no longer queued."""
    if waterfalls := attempt(Waterfalls.objects.select_related("run__lab"), id, "question", _outcome):
        measure([waterfalls.run])


def _outcome(waterfalls: Waterfalls, monitor: Monitor) -> dict[str, Any]:
    """Compute the answer. Returns the outcome as changes of the row. Raises LeaseLost and ShuttingDown."""
    try:
        return _make(waterfalls, monitor)
    except (LeaseLost, ShuttingDown):
        raise
    except Cancelled:
        return {"state": RunState.CANCELLED}
    except (Refusal, record_paths.AnotherRun) as error:
        return failed(str(error))
    except InvalidExperiment as error:
        return failed(f"the experiment has become invalid: {error}")
    except MemoryError:
        return failed("the worker ran out of memory; select fewer records, or records with lower latency")
    except Exception as error:
        outages.pass_on(error)
        if is_disk_full(error):
            return failed(f"the disk is full: the answer could not be written to {waterfalls.file.parent}; free some space and ask again")
        log.exception("waterfalls %s failed", waterfalls.pk)
        return failed(f"the engine failed: {type(error).__name__}: {error}; the worker's log has the details")


def _make(waterfalls: Waterfalls, monitor: Monitor) -> dict[str, Any]:
    run, slices = waterfalls.run, TimeSlices()
    datasets = datasets_of(run.lab)
    experiment = load(run.document, Context(datasets=datasets))
    found = record_paths.waterfalls(
        lambda keep_outputs: engine.Simulation(experiment, datasets=datasets, keep_outputs=keep_outputs),
        Selection.model_validate(waterfalls.selection),
        go=lambda simulation, t_ns: slices.run_until(simulation, t_ns, monitor.check),
        progress=monitor.reached_share,
        digest=run.digest,
    )
    file = waterfalls.file
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(json.dumps([waterfall.as_dict() for waterfall in found], separators=(",", ":")))
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)
    return {"state": RunState.SUCCEEDED, "records": len(found), "progress": 1.0}
