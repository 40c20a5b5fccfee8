"""Types of run frames for the OpenAPI document and the pages; docs/engine-api.md explains the fields.

They do not parse frames: live streams and files are served as the worker wrote them. tests/web/test_frame_types.py checks frames of real
runs against them; an unknown field fails there.

Rates are per virtual second, null without a sample. Optional fields are absent if the run has nothing of the kind, or if an earlier
engine version wrote the frame.
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
    """Latency attribution: sums over the records whose service began in the frame, and over the records sent (docs/event-core.md, section
    11)."""

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
class Most(TypedDict):
    """The largest values of a single instance of an operator in the frame. busiest, most_blocked, fullest: the index of that instance."""

    busy: float
    busiest: int
    blocked: float
    most_blocked: int
    queue: int
    fullest: int


@EXACT
class OperatorSample(TypedDict):
    """An operator: means over its active instances, sums of rates. lost, in runs that lose hosts: records sent to it and never served, or
    taken in and not sent. shed: records that its sources on full hosts discarded. lag, of sources: records in the logs that are neither
    read nor dropped. most: of operators with several instances. latency_by_instance: by number of the instance, of sinks that measure
    it."""

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
    lag: NotRequired[int]
    attribution: NotRequired[Attribution]
    most: NotRequired[Most]
    latency_by_instance: NotRequired[dict[str, Latency]]


@EXACT
class CopySample(TypedDict):
    """A copy of a query. mean_ms: mean latency; null without samples. queue: items in the queues of its operators."""

    mean_ms: float | None
    out_per_s: float
    queue: int


@EXACT
class QuerySample(TypedDict):
    """A query of the document, over all its copies. served_per_s: records served by its operators, by each of them counted. queue: items in
    their queues. copies: by name, of queries with copies."""

    latency_ms: Latency
    latencies_ms: dict[str, Latency]
    in_per_s: float
    out_per_s: float
    served_per_s: float
    late: int
    queue: int
    copies: NotRequired[dict[str, CopySample]]


@EXACT
class HostMemory(TypedDict):
    """State of a host's memory model."""

    used_bytes: int
    peak_bytes: int
    slow_down: float
    full: bool


@EXACT
class Busiest(TypedDict):
    """The instance of a host that was busiest in the frame."""

    operator: str
    index: int
    busy: float


@EXACT
class HostSample(TypedDict):
    """A host at the end of the frame. egress_wait_ms: how long a message sent then waits until the outgoing link is free. busiest: of hosts
    with several instances. memory: null without a memory model."""

    busy: float | None
    queue: int | None
    egress_mbit_per_s: float | None
    egress_wait_ms: NotRequired[float]
    busiest: NotRequired[Busiest]
    queue_bytes: NotRequired[int]
    unsent_bytes: NotRequired[int]
    state_bytes: NotRequired[int]
    memory: NotRequired[HostMemory | None]


@EXACT
class TrunkSample(TypedDict):
    """wait_ms: how long a message that enters the trunk at the end of the frame waits until it is free."""

    mbit_per_s: float
    wait_ms: NotRequired[float]


@EXACT
class LinkSample(TypedDict):
    """A link in use with a bandwidth of its own. source, target: hosts. wait_ms: how long a message sent at the end of the frame waits."""

    source: str
    target: str
    wait_ms: float


@EXACT
class ActorSample(TypedDict):
    egress_mbit_per_s: float


@EXACT
class Death(TypedDict):
    """A host that ran out of memory and died. restart_at_s: null if it never restarts."""

    host: str
    at_s: float
    used_bytes: int
    limit_bytes: int
    restart_at_s: float | None


Mode = Literal["coordinated", "uncoordinated"]


@EXACT
class RegionTurn(TypedDict):
    """The mode that a region switches to when this round is confirmed. why: the reason, with the measured value and the limit
    (docs/engine-api.md)."""

    to: Mode
    why: Literal["skipped", "wait", "load"]
    measured: float
    limit: float


@EXACT
class CheckpointRound(TypedDict):
    """A checkpoint round, as known to the coordinator at the end of a frame. region, operators: the participants, if not all operators take
    part. turn: the mode its region switches to when the round is confirmed. savepoint: the round belongs to a rescale."""

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
    """kind: the protocol's name for it. reason: the rule that forced it. base: number of the checkpoint of the instance since which it
    stores what has changed; absent if it stores all state."""

    durable_s: float
    bytes: int
    kind: str
    base: NotRequired[int]
    reason: NotRequired[Literal["clock", "cycle", "clock and cycle", "index"]]


@EXACT
class Recovery(TypedDict):
    """A rollback to a recovery line. Times in virtual seconds, some by host. found_s: when the line was found, null during the search.
    line: checkpoint numbers by operator and index, 0 for the initial state."""

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
    """How a recovery line was found. newest: checkpoint numbers by operator and index. steps: operator, index, number before and after;
    operator and index of the sender, records sent and processed. GET /runs/{id}/recoveries/{epoch} explains them."""

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
    """Instances aligning barriers at the end of the frame. barred_channels: number of blocked channels by edge."""

    operators: dict[str, AligningOperator]
    barred_channels: dict[str, int | None]


@EXACT
class CheckpointNews(TypedDict):
    """Checkpointing activity since the last frame, and alignment at the end of this one. useless: checkpoints known to be on no recovery
    line.
    logs: bytes in the channel logs of each edge at the end of the frame. modes: checkpointing mode of each region at the end of the frame,
    if modes can change."""

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
    """Metrics read for a vertex: means over its instances in ms per second, and total rates. Only its parallelism if there is no sample.
    cores, host: of an operator that may move, the CPU that it takes, in cores of speed 1, and where it is."""

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
    cores: NotRequired[float]
    host: NotRequired[str]


@EXACT
class ScalingStep(TypedDict):
    """The requested parallelism after one rule was applied."""

    rule: str
    parallelism: dict[str, int]


@EXACT
class ScalingDecision(TypedDict):
    """One iteration of a policy: the metrics it read, the values it computed, the parallelism it requested, the effect of each rule, and
    the outcome. values: name, vertex, number; null: infinite or not applicable. advice: requested parallelism by vertex."""

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
    """A rescale. Times in virtual seconds, null until known. moves: host before and after, by operator that moves; frames of older versions
    lack it."""

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
    moves: NotRequired[dict[str, tuple[str, str]]]
    state_bytes: int | None
    moved_bytes: int | None
    lag_before: int | None
    lag_after: int | None
    outcome: Literal["", "done", "aborted"]
    why: str


@EXACT
class ScalingNews(TypedDict):
    """Parallelism by operator at the end of a frame, and the decisions and rescales in it. workers: active instances. state: "starting"
    before the first iteration, "stopping" to "restoring" during a rescale, "cooldown" while the policy is not asked after a rescale.
    until_s: when that ends, if known. next_s: next iteration of the policy. lag: records waiting in the topic of each source. actions:
    rescales, repeated in full whenever they change. hosts: of operators that may move; frames of older versions lack it."""

    workers: int
    parallelism: dict[str, int]
    wanted: dict[str, int]
    hosts: NotRequired[dict[str, str]]
    state: Literal["running", "starting", "stopping", "restarting", "restoring", "cooldown"]
    until_s: float | None
    next_s: float | None
    lag: dict[str, int]
    topic_wait_ms: float | None
    oldest_wait_s: float | None
    decisions: list[ScalingDecision]
    actions: list[RescaleAction]


@EXACT
class ScheduledInput(TypedDict):
    """Progress of the watermarks of a source instance. epochs: ended so far. Over the kept ones: period_ms, mean time between two sweeping
    watermarks; delay_ms, delay_sd_ms, of entries on their way to the source. taken_s: when the last watermark that was predicted came;
    low_s, high_s: the interval predicted when its epoch began."""

    epochs: int
    period_ms: float
    delay_ms: float | None
    delay_sd_ms: float | None
    taken_s: float | None
    low_s: float | None
    high_s: float | None


@EXACT
class ScheduledQuery(TypedDict):
    """A query in the last cycle of its host's scheduler. rank: its place in the policy's order, from 1. runs: it had work, and the queries
    before it left cores. waiting: items in its queues. why: values on which the policy decided. busy_s: CPU time of its operators on the
    host since the start of the run. inputs: its source instances on the host. Frames of older versions lack the last two."""

    rank: int
    runs: bool
    waiting: int
    why: dict[str, float]
    busy_s: NotRequired[float]
    inputs: NotRequired[dict[str, ScheduledInput]]


@EXACT
class ScheduledHost(TypedDict):
    """The last cycle of a host's scheduler, at t_s. frees_memory: it serves first what frees the most memory. heard_ms: by other host, how
    old what it said last is. memory_mode_s: since the start of the run. Frames of older versions lack memory."""

    t_s: float
    frees_memory: bool
    memory_budget_bytes: NotRequired[int | None]
    memory_mode_s: NotRequired[float]
    queries: dict[str, ScheduledQuery]
    heard_ms: dict[str, float]


@EXACT
class JobNews(TypedDict):
    """A job on the batch that ended at due_s. start_s: null while it waits. ends_s: of its stages. records: received in the batch."""

    due_s: float
    start_s: float | None
    ends_s: list[float]
    records: int


class EngineNews(TypedDict):
    """What the engine did in the frame. stopped_s: times from when to when it held all receivers. jobs: those that waited, worked or ended,
    of so many stages. scheduling_delay_s: of the last one that began; null: none has. limit_per_s: of all sources together, in records;
    null: none."""

    stopped_s: NotRequired[list[list[float]]]
    jobs: NotRequired[list[JobNews]]
    stages: NotRequired[int]
    scheduling_delay_s: NotRequired[float | None]
    limit_per_s: NotRequired[int | None]


@EXACT
class SchedulingNews(TypedDict):
    """The last cycles, by host, and counts since the start of the run. messages, message_bytes: between the schedulers of hosts.
    overhead: the scheduler's share of the CPU time of its hosts. hit_rate, width_ms: of predicted intervals of watermarks. memory_mode_s:
    time in which memory was freed first."""

    policy: str
    hosts: dict[str, ScheduledHost]
    cycles: int
    switches: int
    messages: int
    message_bytes: int
    overhead: float
    hit_rate: float | None
    width_ms: float | None
    memory_mode_s: float


class BalancingAction(TypedDict):
    """What a balancer planned at t_s for a join from from_s on. loads, planned: by worker since the plan before, and as they would have
    been with the moves, in comparisons or us. imbalance: sum of their deviations from the mean; imbalance_share: over the mean. moves:
    [space, number, from, to, load, bytes, benefit]. pending: worksets whose last move is still under way. hand_over: number of the
    hand-over in which records move; absent if none do. unknown: worksets of an order that did not exist, as [space, number]. splits: of
    worksets that are divided [space, number, first worker, parts]; absent without."""

    t_s: float
    from_s: float
    join: str
    worksets: int
    loads: list[float]
    planned: list[float]
    imbalance: float
    imbalance_planned: float
    imbalance_share: float
    hand_over: NotRequired[int]
    unknown: NotRequired[list[tuple[int, int]]]
    splits: NotRequired[list[tuple[int, int, int, int]]]
    moves: list[tuple[int, int, int, int, float, int, float]]
    pending: int


class WorksetHandOver(TypedDict):
    """Worksets that went to other workers with their records. Times when it was ordered, when the last worker concerned had its barrier,
    and when the last one had its records. bytes: of these."""

    number: int
    bytes: int
    ordered_s: float
    aligned_s: float
    ended_s: float


class BalancingNews(TypedDict):
    """Since the last frame. Of the last action, over the mean load of a worker: the imbalance, the least and the largest load; null without
    one. hand_overs: those that ended; only in runs in which records move."""

    actions: list[BalancingAction]
    hand_overs: NotRequired[list[WorksetHandOver]]
    imbalance_share: NotRequired[float | None]
    least_share: NotRequired[float | None]
    most_share: NotRequired[float | None]


class StoredRecord(TypedDict):
    """A record that a similarity join stores, with its copies. side: 0 for the left stream, 1 for the right. at: two coordinates at most.
    copies: each as [space, number, worker, role, distance, inner, outer, outlier]: its role (0 inner, 1 outer, 2 outlier) and its distance
    to the centroid (null: none) in a workset, and how many records of the other stream are stored there in each role."""

    side: int
    event_s: float
    at: list[float]
    copies: list[tuple[int, int, int, int, float | None, int, int, int]]


class SpacesNews(TypedDict):
    """Of a similarity join. centroids: of its spaces, two coordinates at most, in the first frame, with the dimensions of vectors.
    worksets: new ones, as [space, number, worker, coordinates]. dropped: as [space, number]; only where unused ones are. Of the newest
    window, some times in it: loads, as [space, number, comparisons, records], and some of the records that are stored."""

    worksets: list[list[float]]
    dropped: NotRequired[list[tuple[int, int]]]
    centroids: NotRequired[list[list[float]]]
    dimensions: NotRequired[int]
    loads: NotRequired[list[tuple[int, int, int, int]]]
    stored: NotRequired[list[StoredRecord]]


class CleanerSample(TypedDict):
    """A thread of the broker: the number of the store whose changelog it cleans, null asleep; until when; the bytes that its pass reads."""

    log: int | None
    until_s: float
    bytes: int


class StoreLimits(TypedDict):
    """dirty: entries of a cache that leave together. buffer_bytes: of a full buffer, null without a disk. dirty_ratio: above which a log is
    cleaned, null if none is."""

    dirty: int
    buffer_bytes: int | None
    dirty_ratio: float | None


class StoreSettings(TypedDict):
    """Those that may change while the query runs. backoff_s, threads: of cleaners, null without any. tuning_step: of the agent, null
    without one."""

    commit_s: float
    segment_ms: float
    backoff_s: float | None
    threads: int | None
    tuning_step: int | None


class StoreSample(TypedDict):
    """The store of an instance, from its cache down to its log. cached, dirty: entries of the cache. runs: on disk. behind: records
    of the log that a restore would read if the disk is left; records: if it is not."""

    cached: int
    dirty: int
    buffer_bytes: int
    full_buffers: int
    runs: int
    disk_bytes: int
    write_amplification: float
    read_amplification: int
    log_bytes: int
    clean_bytes: int
    dirty_bytes: int
    dirty_ratio: float
    segments: int
    end: int
    behind: int
    records: int


class Restore(TypedDict):
    """Of one instance after a crash: by its local store, from its changelog or its output log, and why not locally; the records of the log
    that were read."""

    store: str
    way: Literal["local", "changelog", "output_log"]
    reason: str
    records: int
    bytes: int
    took_ms: float


class Outage(TypedDict):
    """A loss of a host with stores. started_s: its processes are up; ready_s: its stores are filled; null before that is known.
    lost_changes: those that were in no changelog. results_again: of windows, which come twice. again: records that its sources read again,
    null before it goes on."""

    host: str
    lost_s: float
    disk_lost: bool
    started_s: float | None
    ready_s: float | None
    lost_changes: int
    results_again: int
    again: int | None
    restores: list[Restore]


@EXACT
class StateNews(TypedDict):
    """Local stores. written_bytes to disks, appended records, requests to the broker, passes of cleaners, commits: in the frame. Bytes of
    all changelogs at its end, and the largest dirty_ratio of one. since_commit_s: since the last commit began, or since the start.
    broker_busy, worker_busy: of the cores, in the frame. cleaners: by number, from 1 on.
    stores: by instance, in the order of their numbers. Only where hosts may be lost: read_again, records that sources would read again if
    their hosts crashed now, and outages of which something has happened in the frame."""

    written_bytes: int
    appended: int
    requests: int
    passes: int
    commits: int
    since_commit_s: float
    changelog_bytes: int
    clean_bytes: int
    dirty_bytes: int
    active_bytes: int
    dirty_ratio: float
    broker_busy: float
    worker_busy: float
    limits: StoreLimits
    settings: StoreSettings
    cleaners: dict[str, CleanerSample]
    stores: dict[str, StoreSample]
    read_again: NotRequired[int]
    outages: NotRequired[list[Outage]]


class OutputLogLimits(TypedDict):
    """Of an instance: records that a recovery may read, and those of its input that it may process again; null: any number."""

    records: int | None
    replay: int | None


class OutputLogSample(TypedDict):
    """The output log of an instance. end: records that were ever written. kept: those that are still there. extent: those that a recovery
    would read; replay: records of the input that it would process again. oldest_s: start of the window with which the extent begins, null
    if none is open."""

    end: int
    kept: int
    extent: int
    open_windows: int
    replay: int
    checkpoints: int
    oldest_s: float | None


@EXACT
class OutputLogNews(TypedDict):
    """Output logs. written records, those about windows, checkpoints and bytes: in the frame. The others at its end, of all instances
    together; infeasible: of how many the bound on records cannot hold. outages: as of stores."""

    written: int
    about: int
    checkpoints: int
    bytes: int
    open_windows: int
    extent: int
    replay: int
    infeasible: int
    limits: OutputLogLimits
    logs: dict[str, OutputLogSample]
    outages: list[Outage]


class StandbyPair(TypedDict):
    """An instance and its standby. names and hosts: its own, the standby's."""

    names: list[str]
    hosts: list[str]


class StandbySample(TypedDict):
    """active: whose results are sent: 0 the operator's, 1 the standby's. lost: which of the two is lost, -1 if neither is. held: results of
    the standby that its sinks have not had from the operator. behind: records that it has still to process and the operator has processed,
    negative if it is ahead."""

    active: int
    lost: int
    held: int
    behind: int


class Takeover(TypedDict):
    """host: that was lost. at_s: when its standbys send their results. again: how many of them they had held back, absent before."""

    host: str
    lost_s: float
    at_s: float
    again: NotRequired[int]


@EXACT
class StandbyNews(TypedDict):
    """Standbys at the end of the frame; held and behind: of all together. ready: pairs of which neither is lost. pairs: by instance.
    takeovers: that began in the frame, or were not over when it began."""

    held: int
    behind: int
    ready: int
    pairs: dict[str, StandbySample]
    instances: list[StandbyPair]
    takeovers: list[Takeover]


@EXACT
class Frame(TypedDict):
    """One frame of virtual time. latencies_ms: additional latency measures by name. deaths: since the last frame. checkpoints: only in runs
    with a checkpointing protocol. scaling: only in runs that can rescale. scheduling: only in runs with a scheduler. balancing: only in
    runs that balance worksets. spaces: of similarity joins, by join. state: only in runs with local stores. output_logs and standbys: only
    in runs whose operators have them. queries: only of documents that name queries."""

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
    queries: NotRequired[dict[str, QuerySample]]
    operators: dict[str, OperatorSample]
    hosts: dict[str, HostSample]
    trunks: NotRequired[dict[str, TrunkSample]]
    links: NotRequired[list[LinkSample]]
    actors: NotRequired[dict[str, ActorSample]]
    checkpoints: NotRequired[CheckpointNews]
    scaling: NotRequired[ScalingNews]
    scheduling: NotRequired[SchedulingNews]
    engine: NotRequired[EngineNews]
    balancing: NotRequired[BalancingNews]
    spaces: NotRequired[dict[str, SpacesNews]]
    state: NotRequired[StateNews]
    output_logs: NotRequired[OutputLogNews]
    standbys: NotRequired[StandbyNews]


class FramePage(TypedDict):
    """next: the `after` of the next call, or null once the run has ended and no frames are left."""

    frames: list[Frame]
    next: int | None
