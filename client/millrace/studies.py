"""A study of the lab: many runs for one question."""

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
        """Names of the metrics that its runs measured so far."""
        return list(self.refresh().told["metrics"])

    def refresh(self) -> Self:
        self.told = self.connection.call("GET", "/api/studies/{study_id}", study_id=self.id)
        return self

    def points(self, *metrics: str) -> pd.DataFrame:
        """Return one row per run: point, a column per axis, share (of the load that a search found), seed, run, state, failure, and the
        metrics (at most 20), named as in the run summaries (`latency_ms.p99`)."""
        rows = [
            {"point": point["point"], **run["values"], "share": point["share"], "seed": run["seed"], "run": run["number"],
             "state": run["state"], "failure": run["failure"], **{name: run["metrics"].get(name) for name in metrics}}
            for page in self._pages(metrics) for point in page["points"] for run in point["runs"]
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def over_seeds(self, metric: str) -> pd.DataFrame:
        """Return one row per point: its values, and the metric's mean over the seeds with a bootstrap interval (low, high) and their
        count."""
        rows = [
            {"point": point["point"], **point["values"], "share": point["share"], **point["over_seeds"].get(metric, {})}
            for page in self._pages((metric,))
            for point in page["points"]
        ]
        return pd.DataFrame(rows)

    def assertions(self) -> pd.DataFrame:
        """Return one row per point and assertion: the numbers of runs in which it holds, fails and cannot be judged."""
        rows = [
            {
                "point": point["point"],
                **point["values"],
                "share": point["share"],
                **{"assertion" if k == "name" else k: v for k, v in one.items()},
            }
            for page in self._pages(())
            for point in page["points"]
            for one in point["assertions"]
        ]
        return pd.DataFrame(rows)

    def found(self) -> pd.DataFrame:
        """Return the results of a search, one row per point and seed: the largest sustained load and the smallest one not sustained."""
        fields = ("seed", "sustained", "failed", "over", "failure")
        return pd.DataFrame(
            {"point": one["point"], **one["values"], **{field: one[field] for field in fields}}
            for page in self._pages(())
            for one in page["found"]
        )

    def plot(self, metric: str, over: str | None = None) -> go.Figure:
        """Plot a metric over an axis (default: the first), one line per combination of the others; error bars are bootstrap intervals over
        seeds."""
        return plots.over_axis(self.over_seeds(metric), metric, over, self.name)

    def cancel(self) -> Study:
        """Cancel the study and its runs; results so far stay."""
        self.told = self.connection.call("POST", "/api/studies/{study_id}/cancel", study_id=self.id)
        return self

    def retry(self) -> Study:
        """Repeat failed runs, or resume a cancelled study."""
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
