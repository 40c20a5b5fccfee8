"""A figure of a paper: its claims, the measured values and which claims hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from . import plots
from .connection import Connection
from .errors import LabError
from .waiting import checked, wait

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Figure:
    """told: the API's response for the figure at a scale, or at the largest scale with a result."""

    def __init__(self, connection: Connection, id: str, scale: str | None = None) -> None:
        self.connection, self.id, self.asked = connection, id, scale
        self.paper, _, self.figure = id.partition("/")
        self.told: dict[str, Any] = {}
        self.refresh()

    @property
    def status(self) -> str:
        """reproduced, calibrated, partly, not reproduced, not evaluated (no assertion could be evaluated), or not run."""
        return str(self.told["status"])

    @property
    def scale(self) -> str | None:
        scale: str | None = self.told["scale"]
        return scale

    @property
    def values(self) -> dict[str, Any]:
        """Measured values by name: {value} or {x, y}, with intervals over seeds and keys of the runs; {reason} if there is no value."""
        return dict(self.told["values"])

    @property
    def assertions(self) -> pd.DataFrame:
        """The assertions and their states, one row each."""
        columns = ["id", "text", "check", "tolerance", "state", "reason"]
        return pd.DataFrame(self.told["assertions"], columns=columns).set_index("id")

    def refresh(self) -> Figure:
        """Reload the figure."""
        query = {"scale": self.asked}
        self.told = self.connection.call("GET", "/api/figures/{paper}/{figure}", query=query, paper=self.paper, figure=self.figure)
        return self

    def reproduce(self, scale: str = "smoke", timeout_s: float | None = None, *, progress: bool = True) -> Figure:
        """Reproduce the figure on the lab's workers, and wait. smoke takes seconds, dev takes minutes. Raises LabError if that fails."""
        names: dict[str, Any] = {"paper": self.paper, "figure": self.figure}
        begun = self.connection.call("POST", "/api/figures/{paper}/{figure}/reproductions", body={"scale": scale}, **names)

        def look() -> dict[str, Any]:
            rows = self.connection.call("GET", "/api/figures/{paper}/{figure}/reproductions", **names)
            found = [row for row in rows if row["id"] == begun["id"]]
            if not found:
                raise LabError(f"figure {self.id} has been reproduced so often since that this reproduction is no longer listed")
            return dict(found[0])

        checked(wait(look, f"Figure {self.id}", timeout_s, progress), f"figure {self.id}")
        self.asked = scale
        return self.refresh()

    def plot(self) -> go.Figure:
        """Plot its panels one below the other: measured values and those reported in the paper."""
        return plots.panels(self.told["document"], self.values)

    def __repr__(self) -> str:
        return f"<figure {self.id}: {self.status}{f' at {self.scale} scale' if self.scale else ''}>"
