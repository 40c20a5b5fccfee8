"""A run of the lab: wait for it, read it, repeat it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from . import plots
from .errors import LabError
from .handle import Work

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Run(Work):
    @property
    def called(self) -> str:
        return f"run {self.number}"

    @property
    def number(self) -> int:
        return int(self.told["number"])

    @property
    def seed(self) -> int:
        return int(self.told["seed"])

    @property
    def digest(self) -> str | None:
        """Digest of the result: equal for the same document, seed and engine version, on any machine."""
        digest: str | None = self.told["digest"]
        return digest

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary; None until the run has ended."""
        summary: dict[str, Any] | None = self.told["summary"]
        return summary

    @property
    def judged(self) -> str | None:
        """Outcome of all assertions together: "holds", "fails" or "cannot be judged"; None until the run has ended, and without any."""
        judged: str | None = self.told["judged"]
        return judged

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row per assertion: name, check, state, reason, note, and what was measured (a list of sides, each with text, least, most and
        unit)."""
        return pd.DataFrame(self.told["verdicts"], columns=["name", "check", "state", "reason", "measured", "note"])

    @property
    def document(self) -> dict[str, Any]:
        return dict((self.told if "document" in self.told else self.refresh().told)["document"])

    def refresh(self) -> Self:
        self.told = self.connection.call("GET", "/api/runs/{run_id}", run_id=self.id)
        return self

    def frames(self) -> pd.DataFrame:
        """Return one row per frame, indexed by the virtual time of its end in seconds; columns by dotted name: latency_ms.p99,
        operators.join.queue."""
        text = self.connection.text("GET", "/api/runs/{run_id}/export", query={"format": "csv"}, run_id=self.id)
        table = pd.read_csv(io.StringIO(text)) if text.strip() else pd.DataFrame()
        return table.set_index("t_s") if "t_s" in table else table

    def attribution(self) -> pd.DataFrame:
        """Return the latency breakdown of all records after warm-up, one row per operator."""
        told = self.connection.call("GET", "/api/runs/{run_id}/attribution", run_id=self.id)
        return pd.DataFrame.from_dict(told["operators"], orient="index")

    def keys(self, operator: str, index: int, at_s: float | None = None) -> pd.DataFrame:
        """Return the ten keys with the most records of an instance in the frame that contains a moment, by key: records, share.

        at_s: default the last frame. Raises LabError with the reason if the keys cannot be told (docs/diagnosis.md).
        """
        query = {"operator": operator, "index": index, "at_s": at_s}
        told = self.connection.call("GET", "/api/runs/{run_id}/keys", query=query, run_id=self.id)
        if told["reason"]:
            raise LabError(f"the keys of {operator}[{index}] cannot be told: {told['reason']}")
        return pd.DataFrame(told["keys"], columns=["key", "records", "share"]).set_index("key")

    def citation(self) -> str:
        """BibTeX."""
        return self.connection.text("GET", "/api/runs/{run_id}/export", query={"format": "bib"}, run_id=self.id)

    def plot(self, *columns: str) -> go.Figure:
        """Plot columns of the frames over virtual time. Default: latency percentiles."""
        return plots.over_time(self.frames(), columns or ("latency_ms.p50", "latency_ms.p95", "latency_ms.p99"), f"Run {self.number}")

    def rerun(self, seed: int | None = None, pace: float | None = None) -> Run:
        """Run the same document again, or with another seed."""
        return self._made("POST", "/api/runs/{run_id}/rerun", {"seed": seed, "pace": pace})

    def fork(
        self,
        at_s: float,
        *,
        load: float | None = None,
        rates: dict[str, Any] | None = None,
        faults: list[dict[str, Any]] | None = None,
        rescales: list[dict[str, Any]] | None = None,
        moves: list[dict[str, Any]] | None = None,
        pace: float | None = None,
    ) -> Run:
        """Fork: start a run that is identical to this one up to at_s and then differs. load: factor on the load. rates: new rates by
        source. faults: additional faults. rescales: additional rescales, each {"at_s": .., "parallelism": {operator: n}}. moves: operators
        that move, each {"at_s": .., "hosts": {operator: host}}."""
        changes = {"at_s": at_s, "load": load, "rates": rates, "faults": faults, "rescales": rescales, "moves": moves, "pace": pace}
        return self._made("POST", "/api/runs/{run_id}/fork", {name: value for name, value in changes.items() if value is not None})

    def differences(self, other: Run) -> pd.DataFrame:
        """Return how the other run's document differs from this one's, in words: columns where, label, before, after and text, by path."""
        told = self.connection.call("GET", "/api/compare", query={"run": [self.id, other.id]})["sides"]
        columns = ["path", "where", "label", "before", "after", "text"]
        return pd.DataFrame(told[1]["differs"] if len(told) > 1 else [], columns=columns).set_index("path")

    def cancel(self) -> Run:
        """Cancel the run; takes effect within a second and keeps the measurements so far."""
        self.told = self.connection.call("POST", "/api/runs/{run_id}/cancel", run_id=self.id)
        return self

    def tag(self, name: str) -> Run:
        self.connection.call("POST", "/api/runs/bulk", body={"action": "tag", "ids": [self.id], "tag": name})
        return self.refresh()

    def untag(self, name: str) -> Run:
        self.connection.call("POST", "/api/runs/bulk", body={"action": "untag", "ids": [self.id], "tag": name})
        return self.refresh()

    def delete(self) -> None:
        """Delete the run; an active run is cancelled. `lab.restore` undoes it."""
        self.connection.call("DELETE", "/api/runs/{run_id}", run_id=self.id)

    def _made(self, method: str, path: str, body: dict[str, Any]) -> Run:
        return Run(self.connection, self.connection.call(method, path, body=body, run_id=self.id))

    def __repr__(self) -> str:
        return f"<run {self.number} of '{self.told['experiment']['name']}', seed {self.seed}: {self.state}>"
