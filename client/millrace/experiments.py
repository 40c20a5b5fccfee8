"""An experiment of the lab: a versioned document that can be run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .documents import Document, read_document
from .handle import Handle
from .runs import Run

PAGE = 200  # versions in an answer


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

    def versions(self) -> pd.DataFrame:
        """Return the kept versions by number, newest first: who saved them and when."""
        items: list[dict[str, Any]] = []
        while True:
            query = {"limit": PAGE, "offset": len(items)}
            page = self.connection.call("GET", "/api/experiments/{experiment_id}/versions", query=query, experiment_id=self.id)
            items += page["items"]
            if not page["items"] or len(items) >= page["count"]:
                break
        return pd.DataFrame(items, columns=["number", "author", "token", "saved_at", "saves", "restored", "bytes"]).set_index("number")

    def version(self, number: int) -> dict[str, Any]:
        """Return the document of a kept version."""
        told = self.connection.call("GET", "/api/experiments/{experiment_id}/versions/{number}", experiment_id=self.id, number=number)
        return dict(told["document"])

    def restore(self, number: int) -> Experiment:
        """Save the document of a kept version again, as a new version. Raises LabError if someone else saved in between (status 409)."""
        self.told = self.connection.call(
            "POST",
            "/api/experiments/{experiment_id}/versions/{number}/restore",
            body={"version": self.told["version"]},
            experiment_id=self.id,
            number=number,
        )
        return self

    def run(self, seed: int | None = None, pace: float | None = None) -> Run:
        """Start a run. seed: replaces the document's seed. pace: maximum virtual seconds per second, None for as fast as possible."""
        body = {"version": self.told["version"], "seed": seed, "pace": pace}
        return Run(self.connection, self.connection.call("POST", "/api/experiments/{experiment_id}/runs", body=body, experiment_id=self.id))

    def __repr__(self) -> str:
        return f"<experiment '{self.told['document'].get('name', '')}', version {self.told['version']}>"
