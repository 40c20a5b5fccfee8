"""The query: operators and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from ..base.operator import Model
from ..base.operator_kinds import operator, operators
from ..base.problems import Refusal
from ..base.records import DeclaredType
from ..base.units import ADVANCED, Integer, Number, megabytes_bytes, microseconds_ps, quantity, scaled, seconds_ns
from .drifts import AnyDrift
from .drifts.none import NoDrift
from .noises import AnyNoise
from .noises.none import NoNoise
from .partitionings import AnyPartitioning
from .partitionings.forward import Forward
from .queries import NamedQuery
from .warmups import AnyWarmUp
from .warmups.none import NoWarmUp

OPERATOR_ID = r"^[a-z][a-z0-9_-]{0,62}$"
PARALLELISM_MAX = 10_000
QUERIES_MAX = 1_000
VARIABLE_PRICE_MAX_US = 1e6
"""Noise multiplies by less than 2^13, drift by less than 8, warm-up by at most 100: the product in ps still fits a 64-bit word."""
STATEFUL_PRICE_MAX_US = 1e4
"""State multiplies by up to 100 more (`engine.core.layout.STATE_MAX`)."""


class CpuReport(Model):
    """CPU load that the pod of an instance reports: min(1, base + busy x busy share of time + per_million x millions of records in and
    out per second). Autoscalers read it; it does not affect the run itself.
    """

    base: Number = Field(default=0.0, ge=0, le=1, title="Base", description="Load of an idle instance.")
    busy: Number = Field(default=1.0, ge=0, le=1, title="Busy", description="Extra load at full utilisation.")
    per_million: Number = Field(
        default=0.0,
        ge=0,
        le=1000,
        title="Per million",
        description="Extra load per million records per second, in and out together: network threads, garbage collection.",
    )


class Cost(Model):
    """Prices of this operator alone. Missing prices come from the price list."""

    record_us: Number | None = quantity(
        None, unit="us", ge=0, le=1e9, title="Per record", description="Time per record and unit of work at speed 1."
    )
    output_us: Number | None = quantity(None, unit="us", ge=0, le=1e9, title="Per output", description="Time per output record.")
    control_us: Number | None = quantity(
        None, unit="us", ge=0, le=1e9, title="Per control element", description="Time per watermark, tick or end of log."
    )
    fitted_to: tuple[str, ...] = Field(
        default=(),
        max_length=10,
        title="Fitted to",
        json_schema_extra=ADVANCED | {"x-items": "text"},
        description="What these prices were fitted to: a figure or a paper, which is then calibrated, or other data. Not part of the hash.",
    )
    noise: AnyNoise = Field(default=NoNoise(), title="Noise", description="Random variation of service times for equal work.")
    drift: AnyDrift = Field(default=NoDrift(), title="Drift", description="How all costs of the operator drift over time.")
    warmup: AnyWarmUp = Field(default=NoWarmUp(), title="Warm-up", description="How much slower a new instance is.")
    state_reference_mb: Number | None = quantity(
        None,
        unit="MB",
        ge=0.001,
        le=1e9,
        title="State reference",
        description="State size that doubles an instance's service costs; twice that size triples them. Default: state is free.",
    )
    cpu: CpuReport = Field(default=CpuReport(), title="CPU", description="Model of the CPU load that autoscalers read.")
    attainable: Number = Field(
        default=1.0,
        ge=0.05,
        le=1,
        title="Attainable",
        description="Largest share of a core's time available to services; other processes take the rest.",
    )

    @field_validator("warmup", mode="before")
    @classmethod
    def _warmup_without_a_kind(cls, given: Any) -> Any:
        """Null means none. A value without a kind counts records, the only kind in older documents."""
        if given is None:
            return NoWarmUp()
        return {"kind": "records", **given} if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _variable_costs_stay_countable(self) -> Self:
        what, most = "noise, drift or warm-up", VARIABLE_PRICE_MAX_US
        if self.state_reference_mb is not None:
            what, most = "state_reference_mb", STATEFUL_PRICE_MAX_US
        elif not self.varies:
            return self
        for name in ("record_us", "output_us", "control_us"):
            price = getattr(self, name)
            if price is not None and price > most:
                message = f"{name} is {price:g}; with {what} a price is at most {most:g}, so lower it"
                raise Refusal(message, at=(name,), code="too_large", value=price)
        return self

    @property
    def varies(self) -> bool:
        """Whether noise, drift or warm-up make services of equal work differ."""
        return self.noise.varies or self.drift.step_ns > 0 or self.warmup.varies

    @property
    def state_reference_bytes(self) -> int:
        """State size that doubles service costs; 0: state is free."""
        return 0 if self.state_reference_mb is None else megabytes_bytes(self.state_reference_mb)

    @property
    def attainable_share(self) -> int:
        """Attainable share of a core, in units of 2^-16."""
        return scaled(self.attainable, 1 << 16)

    @property
    def record_ps(self) -> int | None:
        return None if self.record_us is None else microseconds_ps(self.record_us)

    @property
    def output_ps(self) -> int | None:
        return None if self.output_us is None else microseconds_ps(self.output_us)

    @property
    def control_ps(self) -> int | None:
        return None if self.control_us is None else microseconds_ps(self.control_us)


class OperatorSpec(Model):
    """One operator of the query. Its kind defines `params`."""

    id: str = Field(
        pattern=OPERATOR_ID,
        title="Id",
        description="Lower-case letters, digits, '_', '-', a letter first; at most 63 characters.",
        json_schema_extra={"x-editor": "operator-id"},
    )
    kind: str = Field(min_length=1, max_length=100, title="Kind", description="Operator kind.")
    name: str = Field(default="", max_length=200, title="Name", description="Label on the canvas. Default: the id.")
    parallelism: Integer = Field(
        default=1,
        ge=1,
        le=PARALLELISM_MAX,
        title="Parallelism",
        description="Number of instances.",
        json_schema_extra={"x-editor": "count"},
    )
    params: dict[str, Any] = Field(default_factory=dict, title="Parameters", description="Parameters of the kind.")
    cost: Cost | None = Field(default=None, title="Cost", description="Overrides the price list for this operator.")

    @property
    def in_words(self) -> str:
        title = operators()[self.kind].title if self.kind in operators() else self.kind
        return f"{self.id} ({title})"

    @property
    def parameters(self) -> Any:
        """`params` as the kind's own model, with defaults filled in. Raises pydantic's error or `UnknownKind`."""
        return operator(self.kind).Params.model_validate(self.params)


class DeclaredField(Model):
    """One field of the records on a feedback edge."""

    name: str = Field(min_length=1, max_length=200, title="Name", description="Field name in the sending operator's output.")
    type: DeclaredType = Field(title="Type", description="Field type in the sending operator's output.")


class Edge(Model):
    """Records flow from an output port to an input port."""

    source: str = Field(min_length=1, title="From", description="Id of the sending operator.")
    source_port: str = Field(default="out", min_length=1, title="Output port", description="A port of the sending operator.")
    target: str = Field(min_length=1, title="To", description="Id of the receiving operator.", json_schema_extra={"x-editor": "input-port"})
    target_port: str = Field(default="in", min_length=1, title="Input port", description="A port of the receiving operator.")
    partitioning: AnyPartitioning = Field(default=Forward(), title="Partitioning", description="Which instance receives which record.")
    feedback: bool = Field(
        default=False,
        title="Feedback",
        description="Closes a cycle. The edge carries records back, but no watermarks. Every cycle needs one.",
    )
    fields: tuple[DeclaredField, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        title="Declared fields",
        description="Fields of the records, in order. Needed for a feedback edge into a port that no other edge leads to.",
    )

    capacity: Integer | None = quantity(
        None,
        unit="records",
        ge=1,
        le=1_000_000,
        title="Capacity",
        description="Records that each channel of the edge may hold. Default: as the flow control says.",
        advanced=True,
        exclude_if=lambda capacity: capacity is None,  # documents without the field keep their hashes
    )

    @property
    def in_words(self) -> str:
        source = self.source if self.source_port == "out" else f"{self.source}.{self.source_port}"
        target = self.target if self.target_port == "in" else f"{self.target}.{self.target_port}"
        return f"{source} → {target}"


class Query(Model):
    """Operators and edges. Their order matters: it numbers instances and channels."""

    operators: tuple[OperatorSpec, ...] = Field(title="Operators", description="Operators; their order numbers the instances.")
    edges: tuple[Edge, ...] = Field(default=(), title="Edges", description="Edges; their order numbers the channels.")
    queries: tuple[NamedQuery, ...] = Field(
        default=(),
        max_length=QUERIES_MAX,
        title="Queries",
        description="Names for parts of the graph that are queries of their own. Latency and throughput are then also measured by query.",
    )

    @property
    def copies(self) -> dict[str, int]:
        """Number of copies of each operator, by id."""
        return {spec.id: 1 for spec in self.operators} | {id: query.copy_count for query in self.queries for id in query.operators}

    @property
    def starts_ns(self) -> dict[str, int]:
        """When the query of each operator starts, by operator id; without operators whose query has no start of its own."""
        return {id: seconds_ns(query.start_s) for query in self.queries for id in query.operators if query.start_s}


def with_all_copies(operators: Sequence[OperatorSpec], copies: Mapping[str, int], more: int = 0) -> list[OperatorSpec]:
    """The operators with the instances of all their copies, those of the first copy first, and `more` behind them. copies: by id."""
    return [spec.model_copy(update={"parallelism": spec.parallelism * copies.get(spec.id, 1) + more}) for spec in operators]


def input_counts(operators: Sequence[OperatorSpec], edges: Sequence[Edge]) -> dict[str, int]:
    """Number of input channels per instance, by operator id."""
    parallelism = {operator.id: operator.parallelism for operator in operators}
    counts = dict.fromkeys(parallelism, 0)
    for edge in edges:
        if edge.source in parallelism and edge.target in parallelism:
            counts[edge.target] += 1 if edge.partitioning.one_to_one else parallelism[edge.source]
    return counts
