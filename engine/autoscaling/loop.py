"""The control loop that asks a policy and orders rescales: monitor, analyse, plan, execute (Siachamis 2024, 4.3, Figure 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol

from engine.core.layout import FAR
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import looped

from .limits import Limit, limited, workers
from .metrics import SECOND_NS, Metrics
from .policy import MICRO, UNBOUNDED, Advice, NoAdvice, Policy, exact

Verdict = Literal["order", "keep", "no_metrics", "busy"]


class Job(Protocol):
    """The rescaling job. parallelism: current parallelism by operator. open: the rescale in progress, or None."""

    parallelism: dict[str, int]

    @property
    def open(self) -> Any: ...

    def order(self, parallelism: Mapping[str, int], now_ns: int, who: str) -> None: ...


class Readings(Metrics, Protocol):
    """Metrics whose time the loop sets in each iteration, which need not be the time of a scrape."""

    now_ns: int


class Limits(NamedTuple):
    """Limits that the loop applies to requests. bounds: by vertex. vertices: operators of each vertex, by the id of the first.
    veto: ignore requests for too many instances instead of scaling them to fit."""

    over_provisioning: Fraction
    step_max: int | None
    bounds: Mapping[str, Limit]
    vertices: Mapping[str, tuple[str, ...]]
    workers_max: int
    veto: bool = False


class Times(NamedTuple):
    """Times of iterations. quiet_ns: after an order, nothing is read and the policy is not asked."""

    start_ns: int
    every_ns: int
    quiet_ns: int
    window_ns: int
    until_ns: int


def times_of(about: looped.Looped, until_ns: int) -> Times:
    quiet_ns = seconds_ns(about.call_s) + seconds_ns(about.cooldown_s)
    return Times(seconds_ns(about.start_s), seconds_ns(about.every_s), quiet_ns, seconds_ns(about.metrics.window_s), until_ns)


def limits_of(about: looped.Looped, bounds: Mapping[str, Limit], vertices: Mapping[str, tuple[str, ...]]) -> Limits:
    over = exact(about.wish_factor)
    return Limits(over, about.step_max, bounds, vertices, about.workers_max, about.vetoes_beyond_workers)


@dataclass
class Decision:
    """One iteration, as JSON values (docs/engine-api.md, `scaling`). read: metrics by vertex. advice: parallelism by vertex. steps: effect
    of each rule. why: in words, if applicable."""

    t_s: float
    verdict: Verdict = "keep"
    read: list[dict[str, Any]] = field(default_factory=list)
    bottlenecks: list[str] = field(default_factory=list)
    values: list[list[Any]] = field(default_factory=list)
    advice: dict[str, int] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""


class AutoscalingLoop:
    """A control (`engine.core.control.policy.Control`) that acts after the one that scrapes.

    The first iteration is every_ns after start_ns, each further one every_ns after the previous one, or after the quiet time that follows
    an order. During a rescale the policy is not asked.
    """

    def __init__(self, policy: Policy, metrics: Readings, job: Job, times: Times, limits: Limits):
        self._policy, self._metrics, self._job, self._times, self._limits = policy, metrics, job, times, limits
        self._next_ns = times.start_ns + times.every_ns
        self.quiet_until_ns = 0  # end of the last quiet time
        self.decisions: list[Decision] = []

    @property
    def next_ns(self) -> int:
        return self._next_ns if self._next_ns < self._times.until_ns else FAR

    def act(self, world: Any, now_ns: int) -> None:
        """One iteration."""
        self._metrics.now_ns = now_ns
        decision = Decision(now_ns / SECOND_NS)
        self.decisions.append(decision)
        if self._job.open is not None:
            decision.verdict, decision.why = "busy", "a rescale is in progress"
        else:
            self._decide(decision, now_ns)
        if decision.verdict == "order":
            self.quiet_until_ns = now_ns + self._times.quiet_ns
        self._next_ns = max(now_ns, self.quiet_until_ns) + self._times.every_ns

    def _decide(self, decision: Decision, now_ns: int) -> None:
        current = self._metrics.parallelism()
        decision.read = readings(self._metrics, self._times.window_ns)
        try:
            advice = self._policy.advise(self._metrics)
        except NoAdvice as nothing:
            decision.verdict, decision.why = "no_metrics", str(nothing)
            return
        self._note(decision, advice)
        limits = self._limits
        wanted, steps = limited(current, advice.parallelism, limits.over_provisioning, limits.step_max, limits.bounds, limits.workers_max)
        decision.steps = [step._asdict() for step in steps]
        if wanted == current:
            return
        if limits.veto and any(step.rule == "workers_max" for step in steps):
            unfitted = dict(advice.parallelism)
            for step in steps[:-1]:
                unfitted.update(step.parallelism)
            asked = workers(unfitted, limits.bounds)
            needs = f"needs {asked}" if asked < UNBOUNDED else "asks for an unlimited number of"
            decision.why = f"it {needs} instances, but there are only {limits.workers_max}"
            return
        decision.verdict = "order"
        by_operator = {operator: p for vertex, p in wanted.items() for operator in limits.vertices[vertex]}
        self._job.order(by_operator, now_ns, "policy")
        self._policy.acted(current, wanted, now_ns)

    @staticmethod
    def _note(decision: Decision, advice: Advice) -> None:
        decision.bottlenecks, decision.advice, decision.why = list(advice.bottlenecks), dict(advice.parallelism), advice.why
        decision.values = [[name, vertex, None if value is None else float(value)] for name, vertex, value in advice.values]

    # State

    def state(self) -> Any:
        return {
            "next_ns": self._next_ns,
            "quiet_until_ns": self.quiet_until_ns,
            "decisions": [asdict(decision) for decision in self.decisions],
            "policy": self._policy.state(),
        }

    def restore(self, state: Any) -> None:
        self._next_ns, self.quiet_until_ns = state["next_ns"], state["quiet_until_ns"]
        self.decisions = [Decision(**decision) for decision in state["decisions"]]
        self._policy.restore(state["policy"])


def readings(metrics: Metrics, window_ns: int) -> list[dict[str, Any]]:
    """Return the metrics of each vertex over the window, as JSON values: means over its instances, sums of rates."""
    found = []
    for operator, p in metrics.parallelism().items():
        instances = metrics.instances(operator)
        row: dict[str, Any] = {"operator": operator, "p": p}
        if instances:
            rates = [metrics.rate(each, "records_in", window_ns) for each in instances]
            for name, read, unit in MEANS:
                row[name] = float(sum((metrics.mean(each, read, window_ns) for each in instances), Fraction(0)) / len(instances) / unit)
            row["in_per_s"] = float(sum((rate for rate in rates if rate is not None), Fraction(0)))
            row["out_per_s"] = float(sum((metrics.mean(each, "out_micro_per_s", window_ns) for each in instances), Fraction(0)) / MICRO)
            row["pending"] = sum(metrics.last(each, "pending") for each in instances)
        found.append(row)
    return found


MEANS = (
    ("busy_ms", "busy_ns", 10**6),
    ("idle_ms", "idle_ns", 10**6),
    ("blocked_ms", "blocked_ns", 10**6),
    ("fill", "fill_ppm", MICRO),
    ("cpu", "cpu_ppm", MICRO),
)
"""Name in a decision, name of the reading, and its unit."""
