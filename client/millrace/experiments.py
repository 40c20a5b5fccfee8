"""An experiment of the lab: a versioned document that can be run."""

from __future__ import annotations

from typing import Any

from .documents import Document, read_document
from .handle import Handle
from .runs import Run


class Experiment(Handle):
    @property
    def document(self) -> dict[str, Any]:
        return dict(self.told["document"])

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Problems of the document."""
        return list(self.told["problems"])

    def save(self, document: Document) -> Experiment:
        """Save a new version. Raises LabError if someone else saved since this one was read (status 409)."""
        body = {"version": self.told["version"], "document": read_document(document)}
        self.told = self.connection.call("PUT", "/api/experiments/{experiment_id}", body=body, experiment_id=self.id)
        return self

    def run(self, seed: int | None = None, pace: float | None = None) -> Run:
        """Start a run. seed: replaces the document's seed. pace: maximum virtual seconds per second, None for as fast as possible."""
        body = {"version": self.told["version"], "seed": seed, "pace": pace}
        return Run(self.connection, self.connection.call("POST", "/api/experiments/{experiment_id}/runs", body=body, experiment_id=self.id))

    def __repr__(self) -> str:
        return f"<experiment '{self.told['document'].get('name', '')}', version {self.told['version']}>"
