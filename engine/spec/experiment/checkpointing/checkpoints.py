"""Parameters and validation rules shared by all protocols that store checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field

from ...base.family import kind_of
from ...base.origins import ASSUMED, Charge
from ...base.problems import Problem, pointer
from ...base.units import ADVANCED, Integer, Number, milliseconds_ns, quantity, seconds_ns
from ..generation import Coordinated
from ..retention import KeepFor
from ..snapshots import AnySnapshots, FullSnapshots
from .base import Checkpointing, Semantics
from .store import Store

AT = ("policies", "checkpointing")
"""Path of the protocol in a document."""


SNAPSHOT = Charge("fitted", "the peaks of Q3, and what it sustains", ("checkmate/3.7", "checkmate/3.9"))


class Checkpoints(Checkpointing):
    """A protocol that stores checkpoints. A protocol of another package derives from this class or from `LoggedCheckpoints`, and has a
    method `build(run)` (`engine.checkpointing.setup.build_protocol`).
    """

    loss_text: ClassVar[str] = "All instances roll back to a consistent line of checkpoints"

    interval_s: Number = quantity(5, unit="s", ge=0.001, le=1e6, title="Interval", description="Time between two checkpoints.")
    detect_ms: Number = quantity(
        0,
        unit="ms",
        ge=0,
        le=1e9,
        title="Detection",
        description="Time from the first sign of a broken connection until the host is declared lost.",
        advanced=True,
        charge=Charge("published", "0 in the authors' program"),
    )
    restart_ms: Number = quantity(
        150,
        unit="ms",
        ge=0,
        le=1e9,
        title="Restart",
        description="Time every host takes to restart in a recovery, before it fetches its checkpoints.",
        advanced=True,
        charge=Charge("fitted", fitted_to=("checkmate/3.11",)),
    )
    spares: Integer = Field(
        default=0,
        ge=0,
        le=10_000,
        title="Spare hosts",
        description="Number of spare machines that replace permanently lost hosts.",
        json_schema_extra=ADVANCED,
    )
    takeover_s: Number = quantity(
        1,
        unit="s",
        ge=0.000001,
        le=1e6,
        title="Takeover",
        description="Time from the loss of a host until a spare host has replaced it.",
        advanced=True,
        charge=ASSUMED,
    )
    capture_ms: Number = quantity(
        1,
        unit="ms",
        ge=0,
        le=1e6,
        title="Capture",
        description="CPU time per checkpoint of an instance.",
        advanced=True,
        charge=SNAPSHOT,
    )
    serialise_mb_per_s: Number = quantity(
        30,
        unit="MB/s",
        ge=0.001,
        le=1e6,
        title="Serialisation",
        description="State serialised or deserialised by a core of speed 1.",
        advanced=True,
        charge=SNAPSHOT,
    )
    snapshots: AnySnapshots = Field(
        default=FullSnapshots(),
        title="Snapshots",
        description="What each checkpoint stores.",
        exclude_if=lambda snapshots: snapshots == FullSnapshots(),
    )
    store: Store = Field(default=Store(), title="Store", description="Store that keeps the checkpoints.", json_schema_extra=ADVANCED)

    @property
    def promise(self) -> Semantics:
        return "exactly_once"

    @property
    def interval_ns(self) -> int:
        return seconds_ns(self.interval_s)

    @property
    def detect_ns(self) -> int:
        return milliseconds_ns(self.detect_ms)

    @property
    def restart_ns(self) -> int:
        return milliseconds_ns(self.restart_ms)

    @property
    def takeover_ns(self) -> int | None:
        return seconds_ns(self.takeover_s) if self.spares else None

    @property
    def open_log_ns(self) -> int:
        """Time to open the log of a channel in a recovery, ns."""
        return 0

    @property
    def replay_ns(self) -> int:
        """Time to replay a record in a recovery, ns."""
        return 0

    def problems(self, draft: Any) -> Iterator[Problem]:
        if draft.workload is not None and self.interval_ns >= draft.workload.horizon_ns:
            message = (
                f"interval_s is {self.interval_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so no checkpoint would be "
                "taken; choose a shorter interval or a longer run"
            )
            yield Problem(pointer(*AT, "interval_s"), "outside_run", message, self.interval_s)
        yield from self.own_problems(draft)
        for id, kind in draft.kinds.items():
            if kind.loses_state():
                message = (
                    f"checkpointing is '{kind_of(type(self))}', but '{id}' is of kind '{kind.kind}', which has state but does not declare "
                    "how to keep it (keeping), so no checkpoint would contain it and a recovery would lose it; choose checkpointing none, "
                    "or a kind that keeps its state"
                )
                yield Problem(pointer(*AT, "kind"), "not_kept", message, kind_of(type(self)))
        for id, source in draft.sources.items():
            if isinstance(source.generation, Coordinated):
                message = (
                    f"source '{id}' generates its records on demand, so they could not be replayed after a loss; "
                    "choose generation open, or no checkpointing"
                )
                yield Problem(pointer("workload", "sources", id, "generation"), "no_replay", message, source.generation.kind)
            if isinstance(source.retention, KeepFor):
                message = (
                    f"the log of source '{id}' drops records older than {source.retention.keep_s:g} s, so they could not be "
                    "replayed after a loss; choose retention all, or no checkpointing"
                )
                yield Problem(pointer("workload", "sources", id, "retention"), "no_replay", message, source.retention.kind)
        permanent = [(n, fault) for n, fault in draft.faults.items() if fault.loses_host and fault.span_ns is None]
        for n, fault in permanent[self.spares :]:
            message = (
                f"host '{fault.host}' is lost permanently, but the {self.spares} spare hosts are used up by then, so none could replace "
                f"it; choose {len(permanent)} or more spare hosts under Checkpointing, or give restart_after_s"
            )
            yield Problem(pointer("faults", n, "restart_after_s"), "no_spare", message, None)

    def own_problems(self, draft: Any) -> Iterator[Problem]:
        """Like `problems`, for this protocol alone."""
        yield from ()
