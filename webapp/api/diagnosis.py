"""What limits a run, what would help, and the measurements of single instances."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field, Strict

from engine.diagnosis import CannotTell, HotKeys, Limit, Remedy, diagnose, hot_keys, remedies
from engine.diagnosis.limit import LimitKind
from engine.profiles import under_engine
from engine.spec import Experiment, examine
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.rules.validation import Context
from engine.telemetry.instances import ENDS, FrameAt, Measured, frame_at, live_frames, measured
from engine.telemetry.recorded import NoFiles
from webapp.lab import submission
from webapp.lab.documents import datasets_of
from webapp.lab.models import Lab, Run, RunState
from webapp.lab.reuse import why_not_the_same
from webapp.lab.schemas import RunDetail

from .errors import Problem404, Problem409, Problem422
from .parsing import Body
from .runs import run_of

router = Router()

Moment = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Index = Annotated[int, Field(ge=0, le=10**9)]


class DiagnosedSpan(Schema):
    """A span of virtual time. Default: from the end of the warm-up to the last frame that is stored."""

    from_s: Moment | None = None
    to_s: Moment | None = None


class EvidenceShape(Schema):
    label: str
    value: str


class EffectShape(Schema):
    """A metric of a run and of the run of a remedy. unit: empty for counts."""

    label: str
    unit: str
    before: float | None
    after: float | None


class RemedyRun(Schema):
    """The run of a remedy: the newest of its document in this lab. effects: empty until it has ended."""

    id: uuid.UUID
    number: int
    state: str
    effects: list[EffectShape]


class RemedyShape(Schema):
    """A change that would help. run: null until it has been run."""

    name: str
    text: str
    run: RemedyRun | None


class DiagnosisShape(Schema):
    """What limits the run from `from_s` to `to_s`. operator, instances, host, link: what is at its limit."""

    kind: LimitKind
    sentence: str
    evidence: list[EvidenceShape]
    operator: str | None
    instances: list[int]
    host: str | None
    link: list[str]
    also: list[str]
    from_s: float
    to_s: float
    frames: int
    remedies: list[RemedyShape]


class InstanceRow(Schema):
    """An instance in one frame. share: of the operator's input. Times are shares of the frame. watermark_lag_ms: null before the first
    watermark and after the last."""

    operator: str
    index: int
    host: str
    in_per_s: float
    out_per_s: float
    share: float | None
    busy: float
    blocked: float
    stolen: float
    queue: int
    queue_bytes: int
    state_bytes: int
    watermark_lag_ms: float | None
    late: int
    lost: int


class InstancesShape(Schema):
    """The instances in the frame from `from_s` to `to_s`: the stored one that contains the moment, or the nearest."""

    frame: int
    from_s: float
    to_s: float
    rows: list[InstanceRow]


class KeyShape(Schema):
    """A key. records: of it that went to the instance; share: of the instance's records."""

    key: str
    records: int
    share: float


class KeysShape(Schema):
    """The keys with the most records among those that the sources read in a frame and that went to one instance.

    field: by whose value records are assigned to instances. records: number that went to the instance; of_operator: to all instances.
    distinct: number of keys of the instance. keys: at most ten. reason: null, or why the keys cannot be told; the others are then empty.
    """

    frame: int
    from_s: float
    to_s: float
    field: str
    records: int
    of_operator: int
    distinct: int
    keys: list[KeyShape]
    reason: str | None


class ChosenRemedy(Body):
    """The remedy to run, of the diagnosis of this span."""

    name: str
    from_s: Annotated[Moment, Strict()] | None = None
    to_s: Annotated[Moment, Strict()] | None = None


@router.get("/{uuid:run_id}/diagnosis", response=DiagnosisShape, summary="What limits a run in a span of time, and what would help")
def diagnosis(request: HttpRequest, run_id: uuid.UUID, span: Query[DiagnosedSpan]) -> DiagnosisShape:
    """While a run is in progress, the span ends at the last frame that is stored, a few seconds ago at most."""
    lab = request.auth.lab
    run = run_of(lab, run_id)
    experiment = submission.checked_valid(run.document, lab)
    found = _measured(run, experiment, span.from_s, span.to_s)
    limit = diagnose(under_engine(experiment), found)
    offered = remedies(experiment, run.document, limit, _context(lab))
    return DiagnosisShape(
        kind=limit.kind,
        sentence=limit.sentence,
        evidence=[EvidenceShape(label=one.label, value=one.value) for one in limit.evidence],
        operator=limit.operator,
        instances=list(limit.instances),
        host=limit.host,
        link=list(limit.link),
        also=list(limit.also),
        from_s=found.instances.from_ns / 1e9,
        to_s=found.instances.to_ns / 1e9,
        frames=found.instances.frames,
        remedies=[RemedyShape(name=one.name, text=one.text, run=_run_of(run, one)) for one in offered],
    )


@router.post("/{uuid:run_id}/remedies", response={201: RunDetail}, summary="Run a remedy: the document of the run with this change")
def remedy(request: HttpRequest, run_id: uuid.UUID, body: ChosenRemedy) -> Status:
    lab = request.auth.lab
    run = run_of(lab, run_id)
    experiment = submission.checked_valid(run.document, lab)
    limit: Limit = diagnose(under_engine(experiment), _measured(run, experiment, body.from_s, body.to_s))
    offered = {one.name: one for one in remedies(experiment, run.document, limit, _context(lab))}
    chosen = offered.get(body.name)
    if chosen is None:
        known = f"the remedies for it are {', '.join(offered)}" if offered else "no change is known to help"
        raise Problem404(f"'{body.name}' is no remedy for what limits run {run.number} in this span; {known}")
    author = request.auth.user.get_username()
    made, note = submission.start(run.experiment, chosen.document, chosen.experiment, lab, author=author, parent=run, fork_at_ns=0)
    return Status(201, RunDetail.of_new(made, note))


@router.get("/{uuid:run_id}/instances", response=InstancesShape, summary="The instances of a run in one frame")
def instances(
    request: HttpRequest, run_id: uuid.UUID, at_s: Query[Moment | None] = None, operator: Query[str | None] = None
) -> InstancesShape:
    """at_s: default the last frame that is stored. operator: default all operators."""
    run = run_of(request.auth.lab, run_id)
    if operator is not None:
        _check_operator(run, operator)
    try:
        frame = _frame(run, at_s)
        found = measured(run.directory, frame.from_ns, frame.to_ns)
    except NoFiles as missing:
        raise Problem409(f"run {run.number} is {run.state}: {missing}") from None
    rows = _rows(found, operator)
    return InstancesShape(frame=frame.number, from_s=frame.from_ns / 1e9, to_s=frame.to_ns / 1e9, rows=rows)


@router.get("/{uuid:run_id}/keys", response=KeysShape, summary="The keys with the most records of an instance in one frame")
def keys(request: HttpRequest, run_id: uuid.UUID, operator: str, index: Query[Index], at_s: Query[Moment | None] = None) -> KeysShape:
    """at_s: default the last frame that is stored. The records are made again from the document and the seed."""
    lab = request.auth.lab
    run = run_of(lab, run_id)
    _check_operator(run, operator)
    try:
        frame = _frame(run, at_s)
        live = _live(run, [number for number in (frame.number, frame.number - 1) if number >= 0])
    except NoFiles as missing:
        raise Problem409(f"run {run.number} is {run.state}: {missing}") from None
    found, reason = HotKeys("", 0, 0, 0, ()), None
    try:
        found = _hot_keys(run, operator, index, *live)
    except CannotTell as why:
        reason = str(why)
    return KeysShape(
        frame=frame.number,
        from_s=frame.from_ns / 1e9,
        to_s=frame.to_ns / 1e9,
        field=found.field,
        records=found.records,
        of_operator=found.of_operator,
        distinct=found.distinct,
        keys=[KeyShape(key=one.key, records=one.records, share=one.share) for one in found.keys],
        reason=reason,
    )


def _live(run: Run, numbers: list[int]) -> list[dict[str, Any]]:
    """Return these live frames. Raises NoFiles also for one of which other files are stored already."""
    live = {one["n"]: one for one in live_frames(run.directory, numbers)}
    if len(live) < len(numbers):
        raise NoFiles("the frame is being stored")
    return [live[number] for number in numbers]


def _hot_keys(run: Run, operator: str, index: int, frame: dict[str, Any], before: dict[str, Any] | None = None) -> HotKeys:
    """Raises CannotTell."""
    if reason := why_not_the_same(run):
        raise CannotTell(f"The run's records cannot be made again: {reason}. Run it again.")
    context = _context(run.lab)
    findings = examine(run.document, context)
    if findings.experiment is None:
        problem = next(one for one in findings.problems if one.severity == "error")
        raise CannotTell(f"The run's records cannot be made again: {problem.pointer}: {problem.message}.")
    return hot_keys(findings.experiment, findings.schemas, context.datasets, operator, index, frame, before)


def _check_operator(run: Run, operator: str) -> None:
    known = [one["id"] for one in run.document["query"]["operators"]]
    if operator not in known:
        raise Problem404(f"run {run.number} has no operator '{operator}'; it has {', '.join(known)}")


def _frame(run: Run, at_s: float | None) -> FrameAt:
    """Return the stored frame that contains the moment, or the nearest; by default the last one. Raises NoFiles."""
    return frame_at(run.directory, run.horizon_ns * 1000 if at_s is None else round(at_s * 1e9))


def _context(lab: Lab) -> Context:
    return Context(datasets=datasets_of(lab))


def _measured(run: Run, experiment: Experiment, from_s: float | None, to_s: float | None) -> Measured:
    from_ns = experiment.workload.warmup_ns if from_s is None else round(from_s * 1e9)
    to_ns = 1 << 62 if to_s is None else round(to_s * 1e9)
    if from_ns >= to_ns:
        raise Problem422(f"from_s is {from_ns / 1e9:g}, not before to_s ({to_ns / 1e9:g}); choose a span", [])
    recovers = isinstance(experiment.policies.checkpointing, Checkpoints)
    try:
        return measured(run.directory, from_ns, to_ns, recovers)
    except NoFiles as missing:
        raise Problem409(f"run {run.number} is {run.state}: {missing}") from None


def _rows(found: Measured, operator: str | None) -> list[InstanceRow]:
    these = found.instances
    chosen = np.flatnonzero(these.name == operator) if operator is not None else np.arange(len(these))
    length_s = (these.to_ns - these.from_ns) / 1e9
    names, place = np.unique(these.name.astype(str), return_inverse=True)
    totals = np.bincount(place, these.sums["served"], minlength=len(names))[place]
    lag_ms = np.round((these.to_ns - these.watermark_ns) / 1e6, 3)
    columns: Sequence[Any] = (
        these.name[chosen],
        these.index[chosen].tolist(),
        [found.hosts.name[host] for host in these.host[chosen].tolist()],
        np.round(these.sums["served"][chosen] / length_s, 6).tolist(),
        np.round(these.sums["emitted"][chosen] / length_s, 6).tolist(),
        [served / total if total else None for served, total in zip(these.sums["served"][chosen], totals[chosen], strict=True)],
        *(np.round(these.share(f"{part}_ns")[chosen], 6).tolist() for part in ("busy", "blocked", "stolen")),
        *(these.last[column][chosen].astype(np.int64).tolist() for column in ENDS),
        [None if mark < 0 else lag for mark, lag in zip(these.watermark_ns[chosen].tolist(), lag_ms[chosen].tolist(), strict=True)],
        *(these.sums[column][chosen].astype(np.int64).tolist() for column in ("late", "lost")),
    )
    fields = list(InstanceRow.model_fields)
    return [InstanceRow.model_construct(**dict(zip(fields, values, strict=True))) for values in zip(*columns, strict=True)]


def _run_of(run: Run, remedy: Remedy) -> RemedyRun | None:
    """Return the newest run of the remedy's document, with its effects."""
    found = Run.objects.filter(lab=run.lab, hash=remedy.experiment.hash, deleted_at__isnull=True).order_by("-number").first()
    if found is None:
        return None
    return RemedyRun(id=found.pk, number=found.number, state=found.state, effects=_effects(run, found))


def _effects(before: Run, after: Run) -> list[EffectShape]:
    if after.state != RunState.SUCCEEDED or not (before.summary and after.summary):
        return []
    return [
        EffectShape(label=label, unit=unit, before=_metric(before.summary, path), after=_metric(after.summary, path))
        for label, unit, path in (
            ("p99 latency", "ms", ("latency_ms", "p99")),
            ("records in", "/s", ("throughput_in_per_s",)),
            ("backlog", "", ("backlog",)),
        )
    ]


def _metric(summary: dict[str, Any], path: Sequence[str]) -> float | None:
    value: Any = summary
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
