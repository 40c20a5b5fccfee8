"""The experiment document: one object that names everything a run depends on."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import ADVANCED, Number, milliseconds_ns, quantity
from ..base.variant import Variant
from .assertion import Assertion
from .balancings import AnyBalancing
from .balancings.none import NoBalancing
from .checkpointing import AnyCheckpointing
from .checkpointing.none import NoCheckpoints
from .cluster import Cluster, ExpandedHost, expand
from .engines import AnyEngine
from .engines.none import NoEngine
from .faults import AnyFault
from .flow_control import AnyFlowControl
from .flow_control.unbounded import Unbounded
from .generation import Coordinated
from .ingress import AnyIngress
from .ingress.read import ReadOn
from .placement import AnyPlacement
from .placement.spread import Spread
from .query import OperatorSpec, Query
from .scaling import AnyScaling
from .scaling.none import NoScaling
from .scheduling import AnyScheduling
from .scheduling.none import NoScheduling
from .states import AnyState
from .states.memory import InMemory
from .workload import Workload

FORMAT = 1
"""The current format. Older documents are upgraded (`engine.spec.experiment.document.upgrade`)."""

NOT_IN_HASH = ("name", "description", "assertions", "ui")


class Policies(Model):
    """Policies of the run: engine, flow control, ingress, checkpointing, scaling, scheduling, balancing of similarity joins, state."""

    engine: AnyEngine = Field(
        default=NoEngine(), title="Engine", description="The streaming engine whose driver, channels and prices the run has."
    )

    flow_control: AnyFlowControl = Field(default=Unbounded(), title="Flow control", description="How a full channel holds its sender back.")
    ingress: AnyIngress = Field(default=ReadOn(), title="Ingress", description="What sources do while their host is full.")
    checkpointing: AnyCheckpointing = Field(
        default=NoCheckpoints(), title="Checkpointing", description="How the run recovers from the loss of hosts."
    )
    scaling: AnyScaling = Field(
        default=NoScaling(), title="Scaling", description="What changes the parallelism of operators while the query runs."
    )
    scheduling: AnyScheduling = Field(
        default=NoScheduling(), title="Scheduling", description="Which queries run next on the cores of a host with a pool."
    )
    balancing: AnyBalancing = Field(
        default=NoBalancing(),
        title="Balancing",
        description="Which worksets of similarity joins move to other workers.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda balancing: balancing.kind == "none",
    )
    state: AnyState = Field(
        default=InMemory(),
        title="State",
        description="Where operators keep their state.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda state: state.kind == "memory",
    )


class Latency(Model):
    """Latency measured at the sinks: the starting clock, and the contributing record used as the anchor."""

    model_config = ConfigDict(populate_by_name=True)

    clock: Literal["event", "append", "ingest"] = Field(
        default="append",
        alias="from",
        title="From",
        description="Starting clock: event time, append time, or start of the source's service.",
    )
    anchor: Literal["trigger", "newest", "oldest"] = Field(
        default="trigger", title="Anchor", description="Contributing record that the latency is measured from."
    )


MARKER_MS = 200.0
"""Time between two latency markers by default (Farhat 2020, 3.4)."""


class FurtherLatency(Model):
    """An additional latency: its end point, its starting clock, and the contributing record used as the anchor."""

    model_config = ConfigDict(populate_by_name=True)

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$", title="Name", description="Name in frames, files and the summary.")
    clock: Literal["event", "append", "ingest", "deadline"] = Field(
        default="event",
        alias="from",
        title="From",
        description="Starting clock: event time, append time, start of the source's service, or the delivered record's own event time.",
    )
    anchor: Literal["trigger", "newest", "oldest", "mixed"] = Field(
        default="newest",
        title="Anchor",
        description="Contributing record that the latency is measured from; mixed: joins pass on the older one of a pair, aggregates the "
        "newest one of a group. Ignored for deadline, and to read, watermark or marker.",
    )
    to: Literal["sink", "emit", "read", "watermark", "marker"] = Field(
        default="sink",
        title="To",
        description="End of the sink's service (sink), time it was sent to the sink (emit), time a source began to read it (read), or, of "
        "watermarks that close a window or of latency markers, the end of their service at the sink (watermark, marker).",
    )

    @model_validator(mode="after")
    def _point_has_this_clock(self) -> Self:
        if self.to == "read" and self.clock != "append":
            message = f"from is '{self.clock}', but a latency to read is the wait of records in the log; give append"
            raise Refusal(message, at=("from",), code="not_append", value=self.clock)
        if self.to in ("watermark", "marker") and self.clock == "deadline":
            message = f"from is 'deadline', which only records have; for {self.to}s give event, append or ingest"
            raise Refusal(message, at=("from",), code="no_deadline", value=self.clock)
        return self


class Measurement(Model):
    """What the run records, and how often."""

    frame_ms: Number = quantity(250, unit="ms", ge=1, le=1e8, title="Frame", description="Virtual time between two rows of telemetry.")
    latency: Latency = Field(default=Latency(), title="Latency", description="The primary latency.")

    also: tuple[FurtherLatency, ...] = Field(
        default=(), max_length=8, title="Also", description="Additional latencies. Waterfalls explain the primary one."
    )

    marker_ms: Number | None = quantity(
        None,
        unit="ms",
        ge=0.001,
        le=1e11,
        title="Latency markers",
        description="Virtual time between two latency markers of a source partition. Default: 200 if a latency leads to markers.",
        exclude_if=lambda period: period is None,  # documents without the field keep their hashes
    )

    @model_validator(mode="after")
    def _check(self) -> Measurement:
        names = [latency.name for latency in self.also]
        for n, name in enumerate(names):
            if name in names[:n]:
                raise Refusal(f"the name '{name}' is used twice; give every latency its own name", at=("also", n, "name"), value=name)
        return self

    @model_validator(mode="after")
    def _markers_are_measured(self) -> Measurement:
        if self.marker_ms is not None and not self._has_markers:
            message = f"marker_ms is {self.marker_ms:g}, but no latency leads to markers; add one with to: marker, or omit this"
            raise Refusal(message, at=("marker_ms",), code="no_marker", value=self.marker_ms)
        return self

    @property
    def _has_markers(self) -> bool:
        return any(latency.to == "marker" for latency in self.also)

    @property
    def frame_ns(self) -> int:
        return milliseconds_ns(self.frame_ms)

    @property
    def marker_ns(self) -> int | None:
        """Time between two latency markers; None without markers."""
        return milliseconds_ns(MARKER_MS if self.marker_ms is None else self.marker_ms) if self._has_markers else None


class Modelled(Variant):
    """Real operators on a modelled cluster, in virtual time."""

    title: ClassVar[str] = "Modelled cluster"
    kind: Literal["modelled"] = "modelled"


class Experiment(Model):
    """One experiment. See docs/experiment-document.md."""

    format: Literal[1] = Field(title="Format", description="Version of the document's format.")
    name: str = Field(default="", max_length=200, title="Name", description="Not part of the hash.")
    description: str = Field(
        default="",
        max_length=20_000,
        title="Description",
        description="The question that this experiment answers. Not part of the hash.",
        json_schema_extra={"x-editor": "prose"},
    )
    query: Query = Field(title="Query", description="Operators and edges.")
    cluster: Cluster = Field(title="Cluster", description="The modelled hardware.")
    placement: AnyPlacement = Field(default=Spread(), title="Placement", description="Which instance runs on which host.")
    workload: Workload = Field(title="Workload", description="The input, and the length of the run.")
    policies: Policies = Field(
        default=Policies(), title="Policies", description="Engine, flow control, ingress, checkpointing, scaling and scheduling."
    )
    faults: tuple[AnyFault, ...] = Field(
        default=(), max_length=1000, title="Faults", description="Failures and disturbances, and when they happen."
    )
    prices: str = Field(
        default="reference",
        min_length=1,
        max_length=100,
        title="Price list",
        description="Service costs of operators without costs of their own.",
        json_schema_extra={"x-editor": "kind", "x-family": "prices"},
    )
    measurement: Measurement = Field(default=Measurement(), title="Measurement", description="What the run records.")
    assertions: tuple[Assertion, ...] = Field(
        default=(),
        max_length=50,
        title="Assertions",
        description="Conditions on the results of a run, judged when it ends. Not part of the hash.",
    )
    backend: Modelled = Field(default=Modelled(), title="Backend", description="What executes the query.")
    ui: dict[str, Any] = Field(default_factory=dict, title="Canvas", description="State of the canvas. Not part of the hash.")

    @model_validator(mode="after")
    def _assertions_have_different_names(self) -> Self:
        names = [assertion.name for assertion in self.assertions]
        for n, name in enumerate(names):
            if name in names[:n]:
                message = f"two assertions have the name '{name}'; give each its own"
                raise Refusal(message, at=("assertions", n, "name"), code="duplicate", value=name)
        return self

    @model_validator(mode="after")
    def _markers_fit_their_sources(self) -> Self:
        for id, source in self.workload.sources.items():
            if self.measurement.marker_ns is not None and isinstance(source.generation, Coordinated):
                message = "generation is 'coordinated', but a latency leads to markers, which come at fixed times; choose open, or omit it"
                at = ("workload", "sources", id, "generation", "kind")
                raise Refusal(message, at=at, code="markers_at_fixed_times", value="coordinated")
        return self

    @property
    def canonical(self) -> dict[str, Any]:
        """The document with all defaults filled in, without the fields that are not hashed."""
        document = self.model_dump(mode="json", by_alias=True, exclude=set(NOT_IN_HASH))
        for operator, written in zip(self.query.operators, document["query"]["operators"], strict=True):
            del written["name"]
            written["params"] = operator.parameters.model_dump(mode="json", by_alias=True)
            if written["cost"] is not None:
                del written["cost"]["fitted_to"]
        for source in document["workload"]["sources"].values():
            if source["partitions"] is None:  # older documents without this field keep their hashes
                del source["partitions"]
        for policy in ("engine", "scaling", "scheduling"):  # likewise
            if document["policies"][policy] == {"kind": "none"}:
                del document["policies"][policy]
        for part, list_name in (("cluster", "region_links"), ("query", "queries")):  # likewise
            if not document[part][list_name]:
                del document[part][list_name]
        return document

    @property
    def hash(self) -> str:
        """blake2b-256, in hex, of the canonical JSON: sorted keys, no spaces, UTF-8."""
        return hashlib.blake2b(canonical_json(self.canonical), digest_size=32).hexdigest()

    @property
    def setup_hash(self) -> str:
        """Like `hash`, without the seed: equal for runs that differ by their seed alone."""
        document = self.canonical
        del document["workload"]["seed"]
        return hashlib.blake2b(canonical_json(document), digest_size=32).hexdigest()

    @property
    def price_list(self) -> str:
        """Name of the price list that it charges: the engine's own, or else `prices`."""
        return self.policies.engine.price_list or self.prices

    def expanded_hosts(self) -> list[ExpandedHost]:
        """Every machine of the cluster, in the engine's units and order."""
        return expand(self.cluster)

    def operator(self, id: str) -> OperatorSpec:
        """The operator with this id. Raises KeyError."""
        for operator in self.query.operators:
            if operator.id == id:
                return operator
        raise KeyError(id)


def canonical_json(value: Any) -> bytes:
    """Canonical encoding: sorted keys, no spaces, UTF-8, no NaN, and 0.0 for -0.0."""
    return json.dumps(_without_negative_zero(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _without_negative_zero(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_negative_zero(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_negative_zero(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0.0 else value
