"""A lab: find, start and upload things."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pandas as pd

from .analyses import Analysis
from .connection import Connection, encoded
from .documents import Document, read_document
from .errors import LabError
from .experiments import Experiment
from .figures import Figure
from .preview import PREVIEW_BYTES, Preview
from .runs import Run
from .studies import Study

HERE = "http://127.0.0.1:8000"
PAGE = 200
GROUPS = 500
POINTS = 20_000
MEASURED, OVER_SEEDS = ("count", "median", "min", "max"), ("mean", "low", "high")
FIRST_COLUMNS = ("id", "name", "state", "seed", "tags", "created_at", "took_s", "hash", "digest", "engine_version", "error")


def connect(url: str | None = None, token: str | None = None, *, transport: httpx.BaseTransport | None = None) -> Lab:
    """Return the lab at an address. Raises LabError if it does not respond, or does not know the token.

    url, token: default to MILLRACE_URL and MILLRACE_TOKEN in the environment. transport: httpx transport, for tests.
    """
    given = token or os.environ.get("MILLRACE_TOKEN", "")
    if not given.strip():
        raise LabError("no token given; issue one on the page Lab, and pass it as token= or set MILLRACE_TOKEN")
    return Lab(Connection(url or os.environ.get("MILLRACE_URL") or HERE, given, transport))


class Lab:
    """A lab, as returned by `millrace.connect`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.me: dict[str, Any] = connection.call("GET", "/api/me")

    # --- experiments and runs ---------------------------------------------------------------------------------------------------------

    def check(self, document: Document) -> dict[str, Any]:
        """Return an experiment's problems, hash (None if it has errors), schemas and placement; stores nothing."""
        return dict(self.connection.call("POST", "/api/validate", body={"document": read_document(document)}))

    def submit(self, document: Document, seed: int | None = None, pace: float | None = None) -> Run:
        """Store an experiment and run it. Raises LabError, with nothing stored, if it has errors.

        document: a mapping, or YAML or JSON as a file or text. seed: replaces the document's seed. pace: maximum virtual seconds per
        second, None for as fast as possible.
        """
        return self.experiment(document).run(seed, pace)

    def experiment(self, document: Document) -> Experiment:
        """Store an experiment, to be run later. Raises LabError, with nothing stored, if it has errors."""
        read = read_document(document)
        problems = [problem for problem in self.check(read)["problems"] if problem["severity"] == "error"]
        if problems:
            raise LabError("the experiment has errors and cannot run", 422, problems)
        return Experiment(self.connection, self.connection.call("POST", "/api/experiments", body={"document": read}))

    def experiments(self) -> pd.DataFrame:
        """Return the experiments by id, last changed first."""
        return by_id(self.connection.call("GET", "/api/experiments"), ("name", "description", "updated_at", "runs", "example"))

    def open(self, id: str) -> Experiment:
        """Return a stored experiment."""
        return Experiment(self.connection, self.connection.call("GET", "/api/experiments/{experiment_id}", experiment_id=id))

    def templates(self) -> dict[str, dict[str, Any]]:
        """Return template documents by name."""
        return {template["id"]: template["document"] for template in self.connection.call("GET", "/api/templates")}

    def run(self, which: str | int) -> Run:
        """Return a run by its number or id."""
        if isinstance(which, int):
            found = self._rows({"search": f"number={which}", "of_studies": True}, 1)
            if not found:
                raise LabError(f"there is no run {which} in this lab; it may have been deleted", 404)
            which = str(found[0]["id"])
        return Run(self.connection, self.connection.call("GET", "/api/runs/{run_id}", run_id=which))

    def runs(
        self,
        search: str = "",
        *,
        state: str | None = None,
        tag: str | None = None,
        experiment: str | None = None,
        study: str | None = None,
        of_studies: bool = False,
        sort: str = "-number",
        limit: int | None = PAGE,
        values: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Return runs by number, with their summary metrics as columns by dotted name (`latency_ms.p99`).

        search: words and conditions as on the page, combined with AND: `p99>500ms parallelism=4 join`. sort: number, state, experiment,
        seed, p50, p99, out or took; a leading minus reverses it. Runs of studies are left out unless of_studies is set, or study, the id
        of one.
        limit: None for all. values: further fields as columns, such as parameters of the document, as in `fields`.
        """
        query = {"search": search, "state": state, "tag": tag, "experiment": experiment, "study": study, "sort": sort}
        rows = self._rows({**query, "of_studies": of_studies, "value": list(values)}, limit)
        table = pd.DataFrame(rows, columns=None if rows else ["number", *FIRST_COLUMNS, *values])
        return table.set_index("number")

    def groups(
        self,
        by: str | Sequence[str],
        measures: Sequence[str] = ("p99",),
        search: str = "",
        *,
        state: str | None = None,
        tag: str | None = None,
        experiment: str | None = None,
        study: str | None = None,
        of_studies: bool = False,
        sort: str = "group",
        limit: int | None = GROUPS,
    ) -> pd.DataFrame:
        """Group the runs found by one or two fields: one row per group, by its values.

        by: experiment, author, state, tag, or a parameter of the document by its pointer or an end of it (`parallelism`). measures: metrics
        of the summary, or took. state to of_studies: as in `runs`. sort: group, runs, or a statistic and a measure (`median:p99`); a
        leading minus reverses it. limit: None for all.

        Columns: runs, search (which finds exactly the group's runs, with the same state to of_studies), and for each measure its count,
        median, min and max, and for runs that differ only in the seed the mean over the seeds with Student's interval (mean, low, high).
        """
        names = [by] if isinstance(by, str) else list(by)
        which = {"state": state, "tag": tag, "experiment": experiment, "study": study, "of_studies": of_studies}
        query = {**which, "search": search, "by": names, "measure": list(measures), "sort": sort}
        rows = []
        for item in pages(
            lambda part: self.connection.call("GET", "/api/runs/groups", query={**query, **part}), lambda page: page["items"], limit, GROUPS
        ):
            row = {**dict(zip(names, item["values"], strict=True)), "runs": item["runs"], "search": item["search"]}
            for name, measured in zip(measures, item["measures"], strict=True):
                over = measured["over_seeds"] or {}
                row |= {f"{name}.{one}": measured[one] for one in MEASURED}
                row |= {f"{name}.{one}": over.get(one) for one in OVER_SEEDS}
            rows.append(row)
        columns = [*names, "runs", "search", *(f"{name}.{one}" for name in measures for one in (*MEASURED, *OVER_SEEDS))]
        return pd.DataFrame(rows, columns=columns).set_index(names)

    def points(
        self,
        fields: Sequence[str],
        search: str = "",
        *,
        state: str | None = None,
        tag: str | None = None,
        experiment: str | None = None,
        study: str | None = None,
        of_studies: bool = False,
        limit: int | None = POINTS,
    ) -> pd.DataFrame:
        """Return the values of fields of the runs found by number, newest first, with the id of each run. Faster than `runs` for many.

        fields: metrics, parameters, took, seed, state, experiment, author. state to of_studies: as in `runs`. limit: None for all.
        """
        which = {"state": state, "tag": tag, "experiment": experiment, "study": study, "of_studies": of_studies}
        query = {**which, "search": search, "field": list(fields)}
        rows = pages(
            lambda part: self.connection.call("GET", "/api/runs/points", query={**query, **part}),
            lambda page: list(zip(page["numbers"], page["ids"], *page["columns"], strict=True)),
            limit,
            POINTS,
        )
        return pd.DataFrame(rows, columns=["number", "id", *fields]).set_index("number")

    def fields(self, search: str = "", *, varying: bool = False) -> dict[str, list[str]]:
        """Return the searchable fields whose names contain a text: short names, metrics and document parameters. varying: of the parameters
        only those that differ between runs."""
        return dict(self.connection.call("GET", "/api/runs/fields", query={"search": search, "varying": varying}))

    def restore(self, runs: Iterable[str]) -> None:
        """Restore deleted runs. runs: their ids."""
        self.connection.call("POST", "/api/runs/bulk", body={"action": "restore", "ids": list(runs)})

    def _rows(self, query: dict[str, Any], limit: int | None) -> list[dict[str, Any]]:
        names = query.get("value", [])

        def rows_of(page: dict[str, Any]) -> list[dict[str, Any]]:
            columns = page["values"]
            return [
                {**row_of(told), **{name: column[at] for name, column in zip(names, columns, strict=True)}}
                for at, told in enumerate(page["items"])
            ]

        return pages(lambda part: self.connection.call("GET", "/api/runs", query={**query, **part}), rows_of, limit, PAGE)

    # --- studies, figures, data sets --------------------------------------------------------------------------------------------------

    def study(self, document: Document, experiment: Experiment | None = None) -> Study:
        """Start a study (docs/studies.md). experiment: owner of its runs, None for a new one. Raises LabError if it has errors."""
        body = {"document": read_document(document), "experiment": experiment.id if experiment else None}
        return Study(self.connection, self.connection.call("POST", "/api/studies", body=body))

    def open_study(self, id: str) -> Study:
        """Return a stored study."""
        return Study(self.connection, self.connection.call("GET", "/api/studies/{study_id}", study_id=id))

    def studies(self, limit: int = PAGE) -> pd.DataFrame:
        """Return the studies by id, newest first."""
        items = self.connection.call("GET", "/api/studies", query={"limit": limit})["items"]
        return by_id(items, ("name", "state", "progress", "trials_done", "trials_failed", "created_at", "finished_at", "error"))

    def would_read(
        self, runs: dict[str, Any] | None = None, against: dict[str, Any] | None = None, span: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what a question would read: how many runs of which experiments, when they ended, how many are new and their size.

        runs, against, span: as for `ask`. Stores nothing.
        """
        body = {"runs": runs or {}, "span": span or {}, **({"against": against} if against is not None else {})}
        return dict(self.connection.call("POST", "/api/spark/selection", body=body))

    def ask(self, kind: str, runs: dict[str, Any] | None = None, **question: Any) -> Analysis:
        """Ask about many runs at once (docs/spark.md). Raises LabError if it cannot be answered.

        kind: summaries, comparison, surface or statistics. runs: which ones, by ids, search, state, experiment, study, of_studies and tag;
        default all that succeeded. question: against, metrics, metric, x, y or by, as the kind has them, and span.
        """
        body = {"kind": kind, "runs": runs or {}, **question}
        return Analysis(self.connection, self.connection.call("POST", "/api/spark/jobs", body=body))

    def figures(self, prefix: str = "") -> pd.DataFrame:
        """Return the figures of papers by id, with their status."""
        items = self.connection.call("GET", "/api/figures", query={"prefix": prefix})
        return by_id(items, ("title", "status", "scale", "lacking", "engine_version", "runs", "created_at"))

    def figure(self, id: str, scale: str | None = None) -> Figure:
        """Return a figure such as `benchmark/3.7` with its result at a scale, or at the largest scale with a result."""
        return Figure(self.connection, id, scale)

    def datasets(self) -> pd.DataFrame:
        """Return the uploaded data sets by name."""
        items = self.connection.call("GET", "/api/datasets")
        return pd.DataFrame(items, columns=["name", "id", "rows", "bytes", "timestamps", "created_at"]).set_index("name")

    def preview(self, file: str | Path, reading: dict[str, Any] | None = None) -> Preview:
        """Return what a reading makes of the first rows of a CSV file; stores nothing (docs/data-sets.md).

        reading: how the file is read; what it leaves out is detected. Raises LabError if the file is not text or the reading not usable.
        """
        path = Path(file)
        try:
            whole = path.stat().st_size <= PREVIEW_BYTES
        except OSError as error:
            raise LabError(f"{path} cannot be read: {error.strerror or error}") from None
        fields = {"whole": "true" if whole else "false", **_form(reading)}
        return Preview(self.connection.upload("POST", "/api/datasets/preview", path, fields, PREVIEW_BYTES))

    def upload(self, file: str | Path, name: str | None = None, reading: dict[str, Any] | None = None) -> dict[str, Any]:
        """Upload a CSV or Parquet file. name: the name documents use for it. Default: the file name without its extension.

        reading: how a CSV file is read, as `preview` returns it or a part of it; what it leaves out is detected from all rows.
        """
        fields = {**({"name": name} if name else {}), **_form(reading)}
        return dict(self.connection.upload("POST", "/api/datasets", Path(file), fields))

    def dataset(self, id: str) -> dict[str, Any]:
        """Return an uploaded data set with its reading, hash and first rows. id: its id, as `datasets` and `upload` return it."""
        return dict(self.connection.call("GET", "/api/datasets/{dataset_id}", dataset_id=id))

    def __repr__(self) -> str:
        return f"<lab '{self.me['lab']}' at {self.connection.url}, as {self.me['name']} ({', '.join(self.me['scopes'])})>"


def _form(reading: dict[str, Any] | None) -> dict[str, str]:
    return {} if reading is None else {"reading": encoded(reading).decode()}


def pages(
    ask: Callable[[dict[str, int]], dict[str, Any]], rows_of: Callable[[dict[str, Any]], list[Any]], limit: int | None, most: int
) -> list[Any]:
    """Return the rows of a list that comes in pages. ask: returns the page at a limit and an offset. limit: maximum number of rows, None
    for all. most: maximum number of rows of a page."""
    found: list[Any] = []
    while limit is None or len(found) < limit:
        page = ask({"limit": most if limit is None else min(most, limit - len(found)), "offset": len(found)})
        rows = rows_of(page)
        found += rows
        if not rows or len(found) >= page["count"]:
            break
    return found


def row_of(told: dict[str, Any]) -> dict[str, Any]:
    """Return a run as a row: its identity, then its summary metrics."""
    first = {"number": told["number"], **{name: told.get(name) for name in FIRST_COLUMNS}, "name": told["experiment"]["name"]}
    if told["started_at"] and told["finished_at"]:
        first["took_s"] = (pd.Timestamp(told["finished_at"]) - pd.Timestamp(told["started_at"])).total_seconds()
    return {**first, **numbers(told["summary"] or {})}


def numbers(tree: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Return the numbers in a tree by dotted name."""
    found: dict[str, float] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[f"{prefix}{name}"] = value
    return found


def by_id(items: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(items, columns=["id", *columns]).set_index("id")
