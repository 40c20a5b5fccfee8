"""A study of the lab: many runs that answer one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from . import plots
from .handle import Work

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS_TOGETHER = 500


class Study(Work):
    @property
    def called(self) -> str:
        return f"study '{self.name}'"

    @property
    def name(self) -> str:
        return str(self.told["name"])

    @property
    def metrics(self) -> list[str]:
        """Names of what its runs measured so far."""
        return list(self.refresh().told["metrics"])

    def refresh(self) -> Self:
        self.told = self.connection.call("GET", "/api/studies/{study_id}", study_id=self.id)
        return self

    def points(self, *metrics: str) -> pd.DataFrame:
        """A row for each run: point, a column for each axis, share (of the load that a search found), seed, run, state, failure, and the
        metrics, at most 20, named as in the runs' summaries (`latency_ms.p99`)."""
        rows = [
            {"point": point["point"], **run["values"], "share": point["share"], "seed": run["seed"], "run": run["number"],
             "state": run["state"], "failure": run["failure"], **{name: run["metrics"].get(name) for name in metrics}}
            for page in self._pages(metrics) for point in page["points"] for run in point["runs"]
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def over_seeds(self, metric: str) -> pd.DataFrame:
        """A row for each point: its values, and the metric's mean over the seeds, with a bootstrap interval (low, high) and their count."""
        rows = [
            {"point": point["point"], **point["values"], "share": point["share"], **point["over_seeds"].get(metric, {})}
            for page in self._pages((metric,))
            for point in page["points"]
        ]
        return pd.DataFrame(rows)

    def found(self) -> pd.DataFrame:
        """What a search found, a row for each point and seed: the largest load that was sustained, the smallest that was not."""
        fields = ("seed", "sustained", "failed", "over", "failure")
        return pd.DataFrame(
            {"point": one["point"], **one["values"], **{field: one[field] for field in fields}}
            for page in self._pages(())
            for one in page["found"]
        )

    def plot(self, metric: str, over: str | None = None) -> go.Figure:
        """A metric over an axis (the first one), with a line for each choice of the others; bars are bootstrap intervals over the seeds."""
        return plots.over_axis(self.over_seeds(metric), metric, over, self.name)

    def cancel(self) -> Study:
        """Stop it and its runs; what was found stays."""
        self.told = self.connection.call("POST", "/api/studies/{study_id}/cancel", study_id=self.id)
        return self

    def retry(self) -> Study:
        """Make failed runs again; go on after it was cancelled."""
        self.told = self.connection.call("POST", "/api/studies/{study_id}/retry", study_id=self.id)
        return self

    def _pages(self, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
        pages: list[dict[str, Any]] = []
        offset = 0
        while offset is not None:
            query = {"metric": list(metrics), "limit": POINTS_TOGETHER, "offset": offset}
            pages.append(self.connection.call("GET", "/api/studies/{study_id}/results", query=query, study_id=self.id))
            offset = pages[-1]["next"]
        return pages

    def __repr__(self) -> str:
        return f"<study '{self.name}': {self.state}, {self.told['trials_done']} runs done>"
