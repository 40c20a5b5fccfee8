"""What frames and the summary of a run say of its output logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.world import World

from .output_logs import LoggedInstance, OutputLogs
from .telemetry import outages_between, recovered, told


class OutputLogWatch:
    """Reads the logs, at the moment at which they were sampled (`OutputLogs.samples`)."""

    name = "output_logs"

    def __init__(self, logs: OutputLogs, hosts: Sequence[str]):
        """hosts: names of all."""
        self._logs, self._hosts = logs, hosts

    def frame(self, from_ns: int, to_ns: int) -> dict[str, Any]:
        """written, about, checkpoints, bytes: in the frame; about: records about windows, results are the others. extent, replay: what a
        recovery of all instances would read, and process again, at its end. infeasible: instances with more open windows than a recovery
        may read records. outages: as of stores."""
        before, now = self._logs.samples
        tasks = self._logs.tasks
        records_max, replay_max = self._logs.about.bounds
        return {
            **{name: now[name] - before[name] for name in now},
            "open_windows": sum(task.output.log.open_windows for task in tasks),
            "extent": sum(task.output.log.extent for task in tasks),
            "replay": sum(task.output.replay for task in tasks),
            "infeasible": sum(records_max is not None and task.output.log.open_windows > records_max for task in tasks),
            "limits": {"records": records_max, "replay": replay_max},
            "logs": {task.name: _log(task) for task in tasks},
            "outages": [told(one, self._hosts, to_ns) for one in outages_between(self._logs.outages, from_ns, to_ns)],
        }

    def summary(self, world: World, to_ns: int) -> dict[str, Any]:
        """Since the start of the run. infeasible: how often a bound could not hold, since more windows were open."""
        self._logs.catch_up(world, to_ns)
        now = self._logs.counts()
        return {
            "written": now["written"],
            "about_windows": now["about"],
            "checkpoints": now["checkpoints"],
            "written_bytes": now["bytes"],
            "infeasible": sum(task.output.infeasible for task in self._logs.tasks),
            **(recovered(self._logs.outages, to_ns) if self._logs.losses else {}),
        }


def _log(task: LoggedInstance) -> dict[str, Any]:
    """Of one instance. end: records that were ever written. kept: those that the log still has. oldest_s: start of the window with which
    the extent begins, None if none is open."""
    log = task.output.log
    oldest = log.oldest_window
    return {
        "end": log.end,
        "kept": len(log.records),
        "extent": log.extent,
        "open_windows": log.open_windows,
        "replay": task.output.replay,
        "checkpoints": log.checkpoints,
        "oldest_s": None if oldest is None else oldest[1] / 1e9,
    }
