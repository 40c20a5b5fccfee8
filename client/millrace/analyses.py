"""A question about many runs, and its answer."""

from __future__ import annotations

from typing import Any, Self

import pandas as pd

from .handle import Work

ROWS_TOGETHER = 5000


class Analysis(Work):
    @property
    def called(self) -> str:
        return f"the question '{self.kind}'"

    @property
    def kind(self) -> str:
        return str(self.told["kind"])

    @property
    def runs(self) -> int | None:
        """Number of runs that it covers; None until the lab has selected them."""
        runs: int | None = self.told["runs"]
        return runs

    @property
    def read(self) -> int | None:
        """Number of runs whose files it reads; those of the others were read for an earlier question."""
        read: int | None = self.told["read"]
        return read

    def refresh(self) -> Self:
        self.told = self._page(1, 0)
        return self

    def rows(self) -> pd.DataFrame:
        """Return the rows of the answer (docs/spark.md): one per run, metric, cell or group. Empty until it has succeeded."""
        found: list[dict[str, Any]] = []
        while True:
            page = self._page(ROWS_TOGETHER, len(found))
            found += page["answer"]["rows"] if page["answer"] else []
            if not page["answer"] or not page["answer"]["rows"] or len(found) >= page["count"]:
                return pd.DataFrame(found)

    def pooled(self) -> pd.DataFrame:
        """Return the latency percentiles of all samples together in ms, one row per side or group, with the bounds of the raw samples."""
        answer = self._page(1, 0)["answer"]
        rows = []
        for group in answer["pooled"] if answer else ():
            row = {name: group[name] for name in ("group", "runs", "samples")}
            for name in ("p50", "p95", "p99", "max"):
                bounds = group[name] or {"ms": None, "low_ms": None, "high_ms": None}
                row |= {f"{name}_ms": bounds["ms"], f"{name}_low_ms": bounds["low_ms"], f"{name}_high_ms": bounds["high_ms"]}
            rows.append(row)
        return pd.DataFrame(rows).set_index("group") if rows else pd.DataFrame()

    def cancel(self) -> Self:
        """Cancel it; the runs read so far need not be read again."""
        self.told = self.connection.call("POST", "/api/spark/jobs/{job_id}/cancel", job_id=self.id)
        return self

    def _page(self, limit: int, offset: int) -> dict[str, Any]:
        return dict(self.connection.call("GET", "/api/spark/jobs/{job_id}", query={"limit": limit, "offset": offset}, job_id=self.id))
