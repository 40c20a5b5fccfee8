"""A figure of a paper: what it claims, what was measured, and what holds of it."""

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
    """told: what the API says of it at a scale, or at the largest at which it was carried out."""

    def __init__(self, connection: Connection, id: str, scale: str | None = None) -> None:
        self.connection, self.id, self.asked = connection, id, scale
        self.paper, _, self.figure = id.partition("/")
        self.told: dict[str, Any] = {}
        self.refresh()

    @property
    def status(self) -> str:
        """reproduced, calibrated, partly, not reproduced, not evaluated (nothing could be judged), or not run."""
        return str(self.told["status"])

    @property
    def scale(self) -> str | None:
        scale: str | None = self.told["scale"]
        return scale

    @property
    def values(self) -> dict[str, Any]:
        """What was measured, by name: {value} or {x, y}, with bounds over seeds and keys of the runs; {reason} where there is nothing."""
        return dict(self.told["values"])

    @property
    def assertions(self) -> pd.DataFrame:
        """What must hold, and whether it does, a row for each."""
        columns = ["id", "text", "check", "tolerance", "state", "reason"]
        return pd.DataFrame(self.told["assertions"], columns=columns).set_index("id")

    def refresh(self) -> Figure:
        """Look again."""
        query = {"scale": self.asked}
        self.told = self.connection.call("GET", "/api/figures/{paper}/{figure}", query=query, paper=self.paper, figure=self.figure)
        return self

    def reproduce(self, scale: str = "smoke", timeout_s: float | None = None, *, progress: bool = True) -> Figure:
        """Have it carried out by the lab's workers, and wait. smoke takes seconds, dev minutes. Raises LabError if it cannot be."""
        names: dict[str, Any] = {"paper": self.paper, "figure": self.figure}
        begun = self.connection.call("POST", "/api/figures/{paper}/{figure}/reproductions", body={"scale": scale}, **names)

        def look() -> dict[str, Any]:
            rows = self.connection.call("GET", "/api/figures/{paper}/{figure}/reproductions", **names)
            found = [row for row in rows if row["id"] == begun["id"]]
            if not found:
                raise LabError(f"figure {self.id} was carried out so often since that this time is not listed any more")
            return dict(found[0])

        checked(wait(look, f"Figure {self.id}", timeout_s, progress), f"figure {self.id}")
        self.asked = scale
        return self.refresh()

    def plot(self) -> go.Figure:
        """Its panels below each other: measured, and as the paper reports it."""
        return plots.panels(self.told["document"], self.values)

    def __repr__(self) -> str:
        return f"<figure {self.id}: {self.status}{f' at {self.scale} scale' if self.scale else ''}>"
