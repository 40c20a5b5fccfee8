"""Frames of runs, as docs/engine-api.md explains them. These types describe frames for the OpenAPI document and the pages.

No frame is read through them: live streams and files are served as the worker wrote them. tests/web/test_frame_types.py holds frames of
real runs against them, and an unknown field fails there.

Rates are per virtual second, null where there is no sample. A field that is not required is absent where the run has nothing of its kind,
or where an earlier version of the engine wrote the frame.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from webapp.lib.described import EXACT


@EXACT
class Latency(TypedDict):
    """Percentiles in ms of the records delivered in the frame."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    mean: NotRequired[float | None]


@EXACT
class Attribution(TypedDict):
    """Sums over the records whose service began in the frame, and over the records sent (docs/event-core.md, section 11)."""

    records: int
    driver_queue_ns: int
    channel_wait_ns: int
    alignment_ns: int
    service_ns: int
    stolen_ns: int
    sent: int
    blocked_ns: int
    network_ns: int


@EXACT
class OperatorSample(TypedDict):
    """An operator: means over its active instances, sums of rates. lost: records sent to it and never served, or taken in and not sent, of
    runs that lose hosts. shed: records that its sources on full hosts threw away."""

    in_per_s: float | None
    out_per_s: float | None
    busy: float | None
    blocked: float | None
    stolen: NotRequired[float | None]
    queue: int | None
    state_bytes: int | None
    watermark_lag_ms: float | None
    late: int | None
    shed: NotRequired[int]
    lost: NotRequired[int]
    attribution: NotRequired[Attribution]


@EXACT
class HostMemory(TypedDict):
    """What a host's memory model says."""

    used_bytes: int
    peak_bytes: int
    slow_down: float
    full: bool


@EXACT
class HostSample(TypedDict):
    """A host. memory: null without a memory model."""

    busy: float | None
    queue: int | None
    egress_mbit_per_s: float | None
    queue_bytes: NotRequired[int]
    unsent_bytes: NotRequired[int]
    state_bytes: NotRequired[int]
    memory: NotRequired[HostMemory | None]


@EXACT
class TrunkSample(TypedDict):
    mbit_per_s: float


@EXACT
class ActorSample(TypedDict):
    egress_mbit_per_s: float


@EXACT
class Death(TypedDict):
    """A host that died of what it held. restart_at_s: null: never."""

    host: str
    at_s: float
    used_bytes: int
    limit_bytes: int
    restart_at_s: float | None


Mode = Literal["coordinated", "uncoordinated"]


@EXACT
class RegionTurn(TypedDict):
    """What a region's rounds turn into when this one is confirmed, and why: as measured, and the limit (docs/engine-api.md)."""

    to: Mode
    why: Literal["skipped", "wait", "load"]
    measured: float
    limit: float


@EXACT
class CheckpointRound(TypedDict):
    """A round of checkpoints, as the coordinator knows it at the end of a frame. region, operators: whose round it is, where not all
    operators take part. turn: what its region changes to when it is confirmed. savepoint: it belongs to a rescale."""

    number: int
    epoch: int
    triggered_s: float
    ended: Literal["confirmed", "failed", "aborted"] | None
    ended_s: float | None
    hosts_done: int
    checkpoints: int
    bytes: int
    savepoint: NotRequired[Literal[True]]
    region: NotRequired[str]
    operators: NotRequired[list[str]]
    turn: NotRequired[RegionTurn]


@EXACT
class NumberedCheckpoint(TypedDict):
    operator: str
    index: int
    number: int


@EXACT
class CapturedCheckpoint(NumberedCheckpoint):
    captured_s: float


@EXACT
class DurableCheckpoint(CapturedCheckpoint):
    """kind: what the protocol calls it. reason: which rule asked for a forced one."""

    durable_s: float
    bytes: int
    kind: str
    reason: NotRequired[Literal["clock", "cycle", "clock and cycle", "index"]]


@EXACT
class Recovery(TypedDict):
    """All go back to a line of checkpoints. Times by host, in virtual seconds. found_s: when the line was found, null while it is searched.
    line: numbers by operator and index, 0 for the start."""

    epoch: int
    hosts: list[str]
    detected_s: float
    found_s: NotRequired[float | None]
    ordered_s: dict[str, float]
    restored_s: dict[str, float]
    go_s: float | None
    line: dict[str, list[int]]


@EXACT
class LineSearch(TypedDict):
    """How a line was found. newest: numbers by operator and index. steps: operator, index, number before and after; operator and index of
    the sender, records sent and processed. GET /runs/{id}/recoveries/{epoch} explains them."""

    epoch: int
    newest: dict[str, list[int]]
    steps: list[tuple[str, int, int, int, str, int, int | None, int | None]]
    in_flight: int


@EXACT
class AligningOperator(TypedDict):
    instances: int | None
    passed_over: int | None


@EXACT
class Aligning(TypedDict):
    """What waits for barriers at the end of the frame. barred_channels: by edge."""

    operators: dict[str, AligningOperator]
    barred_channels: dict[str, int | None]


@EXACT
class CheckpointNews(TypedDict):
    """What a checkpointing protocol has done since the last frame, and what waits for barriers at the end of this one. useless: checkpoints
    of which it is known that no line can hold them. logs: bytes in the logs of each edge's channels, at the end of the frame. modes: how
    each region takes checkpoints at the end of the frame, where that changes."""

    rounds: list[CheckpointRound]
    skipped_s: list[float]
    captured: list[CapturedCheckpoint]
    durable: list[DurableCheckpoint]
    recoveries: list[Recovery]
    searches: NotRequired[list[LineSearch]]
    modes: NotRequired[dict[str, Mode]]
    aligning: Aligning
    logs: NotRequired[dict[str, int]]
    useless: NotRequired[list[NumberedCheckpoint]]


@EXACT
class ScalingReading(TypedDict):
    """What was read of a vertex: means over its instances, ms of each second; rates of all together. Without a sample only its
    parallelism."""

    operator: str
    p: int
    busy_ms: NotRequired[float]
    idle_ms: NotRequired[float]
    blocked_ms: NotRequired[float]
    fill: NotRequired[float]
    cpu: NotRequired[float]
    in_per_s: NotRequired[float]
    out_per_s: NotRequired[float]
    pending: NotRequired[int]


@EXACT
class ScalingStep(TypedDict):
    """What one rule made of the wish."""

    rule: str
    parallelism: dict[str, int]


@EXACT
class ScalingDecision(TypedDict):
    """One iteration of a policy: what it read, computed of that, and wished for, what each rule made of the wish, and what was done.
    values: name, vertex, number; null: infinite, or it does not count. advice: by vertex."""

    t_s: float
    verdict: Literal["order", "keep", "no_metrics", "busy"]
    read: list[ScalingReading]
    bottlenecks: list[str]
    values: list[tuple[str, str, float | None]]
    advice: dict[str, int]
    steps: list[ScalingStep]
    why: str


@EXACT
class RescaleAction(TypedDict):
    """The carrying out of an order. Times in virtual seconds, null while they are not known."""

    number: int
    kind: Literal["stop_and_restart", "in_place"]
    who: str
    ordered_s: float
    stopped_s: float | None
    drained_s: float | None
    stored_s: float | None
    arranged_s: float | None
    restored_s: float | None
    ended_s: float | None
    before: dict[str, int]
    after: dict[str, int]
    state_bytes: int | None
    moved_bytes: int | None
    lag_before: int | None
    lag_after: int | None
    outcome: Literal["", "done", "aborted"]
    why: str


@EXACT
class ScalingNews(TypedDict):
    """How the parallelism stands at the end of a frame, and what was decided and carried out in it. By operator; workers: active instances.
    state: "starting" before the first iteration, "stopping" to "restoring" during a rescale, "cooldown" while nobody is asked after an
    order; until_s: when it ends, as far as that is known. next_s: when the policy is asked next. lag: records that wait in the topic of
    each source. actions: in full whenever something of them changes."""

    workers: int
    parallelism: dict[str, int]
    wanted: dict[str, int]
    state: Literal["running", "starting", "stopping", "restarting", "restoring", "cooldown"]
    until_s: float | None
    next_s: float | None
    lag: dict[str, int]
    topic_wait_ms: float | None
    oldest_wait_s: float | None
    decisions: list[ScalingDecision]
    actions: list[RescaleAction]


@EXACT
class Frame(TypedDict):
    """One frame of virtual time. latencies_ms: by name, those that are measured beside it. deaths: since the last frame. checkpoints: of
    runs with a checkpointing protocol. scaling: of runs whose parallelism may change."""

    n: int
    t_s: float
    latency_ms: Latency
    latencies_ms: NotRequired[dict[str, Latency]]
    offered_per_s: float | None
    in_per_s: float | None
    out_per_s: float | None
    backlog: int | None
    dropped: NotRequired[int]
    lost: NotRequired[int]
    deaths: NotRequired[list[Death]]
    operators: dict[str, OperatorSample]
    hosts: dict[str, HostSample]
    trunks: NotRequired[dict[str, TrunkSample]]
    actors: NotRequired[dict[str, ActorSample]]
    checkpoints: NotRequired[CheckpointNews]
    scaling: NotRequired[ScalingNews]


class FramePage(TypedDict):
    """next: the `after` of the next call, or null when the run has ended and nothing is left."""

    frames: list[Frame]
    next: int | None
