"""Rows of a corpus: what was drawn, what was estimated before the run, and what the run cost (specification 2.4, 2.5, 3.9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from engine.costmodels import description
from engine.costmodels.description import Operator, Window
from engine.costmodels.features import JointGraph, joint_graph

from .labels import Labels
from .queries import DrawnQuery
from .traces import DrawnHost, Trace

SCHEMA = pa.schema(
    [
        pa.field("index", pa.int64(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("trace", pa.string(), nullable=False),
        pa.field("selectivities", pa.list_(pa.float64()), nullable=False),
        pa.field("measured_selectivities", pa.list_(pa.float64()), nullable=False),
        pa.field("horizon_s", pa.float64(), nullable=False),
        pa.field("failure", pa.string(), nullable=False),
        pa.field("throughput_per_s", pa.float64()),
        pa.field("processing_ms", pa.float64()),
        pa.field("end_to_end_ms", pa.float64()),
        pa.field("backlog_per_s", pa.float64()),
        pa.field("backpressured", pa.bool_()),
        pa.field("mixed_ms", pa.float64()),
    ]
)
"""Columns of a corpus. Those of a trace that failed are empty from throughput_per_s on."""


@dataclass(frozen=True)
class Row:
    """selectivities: by operator, as estimated before the run. measured_selectivities: as counted in it."""

    index: int
    trace: Trace
    selectivities: tuple[float, ...]
    labels: Labels
    measured_selectivities: tuple[float, ...]

    @property
    def graph(self) -> JointGraph:
        """What a model is given of it. No label is part of it."""
        return joint_graph(self.trace.query, self.trace.hosts, self.trace.placed, self.selectivities)

    def as_record(self) -> dict[str, Any]:
        """Values by column."""
        text = json.dumps(as_json(self.trace), sort_keys=True, separators=(",", ":"))
        return {
            "index": self.index,
            "group": self.trace.group,
            "trace": text,
            "selectivities": list(self.selectivities),
            "measured_selectivities": list(self.measured_selectivities),
            **asdict(self.labels),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Row:
        drawn = from_json(json.loads(record["trace"]))
        labels = Labels(**{name: record[name] for name in Labels.__dataclass_fields__})
        return cls(record["index"], drawn, tuple(record["selectivities"]), labels, tuple(record["measured_selectivities"]))


def as_json(trace: Trace) -> dict[str, Any]:
    operators = [{"type": type(operator).__name__} | asdict(operator) for operator in trace.query.operators]
    return {
        "template": trace.query.template,
        "operators": operators,
        "edges": [list(edge) for edge in trace.query.edges],
        "hosts": [asdict(host) for host in trace.hosts],
        "placed": list(trace.placed),
    }


def from_json(value: Mapping[str, Any]) -> Trace:
    operators = tuple(_operator(dict(given)) for given in value["operators"])
    edges = tuple((sender, receiver) for sender, receiver in value["edges"])
    hosts = tuple(DrawnHost(**host) for host in value["hosts"])
    return Trace(DrawnQuery(operators, edges, value["template"]), hosts, tuple(value["placed"]))


def _operator(given: dict[str, Any]) -> Operator:
    kind = given.pop("type")
    if kind not in _KINDS:
        raise ValueError(f"operator type is '{kind}'; it must be one of {', '.join(_KINDS)}")
    if "window" in given:
        given["window"] = Window(**given["window"])
    made: Operator = getattr(description, kind)(**given)
    return made


_KINDS = ("Source", "Filter", "Join", "WindowedAggregate", "Aggregate", "Sink")
