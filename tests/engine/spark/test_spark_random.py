"""Random queries over records out of order: Spark gives the engine's records, or the export says at which field it cannot."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.export import NotExported, difference, write
from engine.spec.rules.validation import Context

from ...support.agreement import DATASETS, traced
from ...support.strategies import Document, Query, milliseconds, rates, seconds
from .test_spark_export import streamed

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.deep]

CASES = int(os.environ.get("MILLRACE_SPARK_CASES", "30"))


class SqlQuery(Query):
    """Mostly what Spark's SQL can say: windows by event time that end once, no counts of records, no cycles."""

    kinds = tuple(kind for kind in Query.kinds if kind != "count_window_aggregate")
    joins = ("join", "window_join", "interval_join")

    def window(self, kinds: tuple[str, ...]) -> Document:
        window = super().window(tuple(kind for kind in kinds if kind != "none"))
        return window | {"clock": "event"} if "clock" in window else window

    def emission(self, event_clock: bool) -> Document:
        return {"emit": "on_close"}

    def lateness(self) -> Document:
        return {}

    def aggregate_params(self, source: str) -> Document:
        return self.grouped(source) | {"window": self.window(("tumbling", "sliding"))} | self.emission(True)

    def session_aggregate_params(self, source: str) -> Document:
        return super().session_aggregate_params(source) | {"clock": "event"}

    def window_join_own_params(self, left: str, right: str) -> Document:
        return self.join_own_params(left, right, ("tumbling", "sliding"))

    def connect(
        self, source: str, target: str, port: str, parallelism: int, key: str | None, scheme: Document, may_broadcast: bool = False
    ) -> None:
        super().connect(source, target, port, parallelism, key, scheme, may_broadcast=False)

    def offered(self, ports: Sequence[str]) -> Sequence[str]:
        return super().offered([port for port in ports if not port.startswith("late")])

    def add_loop(self, source: str) -> None:
        """None: a query of Spark is a tree."""


@st.composite
def in_sql(draw: st.DrawFn) -> Document:
    """A small experiment whose watermarks wait for all records."""
    horizon_ns = draw(st.sampled_from((4, 50, 300))) * 1_000_000
    query = SqlQuery(draw, horizon_ns)
    query.grow()
    per_source = max(10, draw(st.sampled_from((300, 100))) // (query.records_factor * len(query.streams)))
    return {
        "format": 1,
        "name": "random",
        "query": {"operators": query.operators, "edges": query.edges},
        "cluster": {"hosts": [{"name": "host", "cores": 64}]},
        "workload": {
            "seed": draw(st.integers(0, 5)),
            "horizon_s": seconds(horizon_ns),
            "drain": True,
            "sources": {id: draw(patient(stream, per_source, horizon_ns)) for id, stream in query.streams.items()},
        },
    }


@st.composite
def patient(draw: st.DrawFn, stream: str, records: int, horizon_ns: int) -> Document:
    """A source whose lag is as long as its longest delay."""
    most_ms = milliseconds(horizon_ns // draw(st.sampled_from((10, 3, 20))))
    delays = (
        {"kind": "none"},
        {"kind": "uniform", "max_ms": most_ms},
        {"kind": "constant", "delay_ms": most_ms},
        {"kind": "gamma", "mean_ms": most_ms / 2, "shape": 2.0, "cap_ms": most_ms},
        {"kind": "zipf", "ranks": 10, "step_ms": most_ms / 10},
    )
    watermarks = {"kind": "bounded", "lag_ms": most_ms, "period_ms": milliseconds(max(1000, horizon_ns // draw(st.sampled_from((20, 3)))))}
    return {
        "stream": {"kind": stream, "hot_ratio": draw(st.sampled_from((0.0, 0.5)))},
        "rate": draw(rates(records, horizon_ns)),
        "disorder": draw(st.sampled_from(delays)),
        "watermarks": watermarks if draw(st.integers(0, 9)) else {"kind": "none"},
    }


def test_random_queries_give_the_same_records(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=CASES)
    @given(in_sql())
    def compare(document: Document) -> None:
        directory = tmp_path_factory.mktemp("random")
        try:
            seen[verdict(spark, directory, document)] += 1
        finally:
            shutil.rmtree(directory)

    compare()
    assert seen["equal"] >= seen.total() / 2, seen


def verdict(spark: Any, directory: Path, document: Document) -> str:
    run = traced(document)
    assert run.summary()["drained"]
    try:
        query = write(run.experiment, directory / "program", Context(datasets=DATASETS), batches=2, partitions=1)
    except NotExported as refused:
        for problem in refused.problems:
            assert problem.pointer.startswith(("/query/operators/", "/query/edges/"))
            assert problem.message
        return "refused"
    assert run.summary()["late"] == 0
    theirs = streamed(spark, directory / "program")
    for sink in query.sinks:
        ours = run.outputs(sink.name).select(list(sink.columns))
        floats = [field.name for field in ours.schema if pa.types.is_floating(field.type)]
        found = difference(ours, theirs[sink.name], floats)
        assert found.equal, (sink.name, found)
    return "equal"
