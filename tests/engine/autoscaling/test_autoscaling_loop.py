"""The loop that asks a policy: when, what it makes of an answer, and that it goes on from its state (docs/autoscaling.md, section 6).

What this catches: a policy that is asked while the job is down or while nothing may be read, actions that are closer than they may be, a
cooldown that begins at the wrong end, a decision that is told otherwise than it was made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from engine.autoscaling.hpa_cpu import HPACpu
from engine.autoscaling.limits import Limit
from engine.autoscaling.loop import AutoscalingLoop, limits_of, times_of
from engine.autoscaling.metrics import Metrics
from engine.autoscaling.policy import UNBOUNDED, Advice, NoAdvice
from engine.core.layout import FAR
from engine.spec.experiment import scaling

from ...support.told_metrics import LINE, Told

S = 10**9
HORIZON_S = 140 * 60
VERTICES = {"source": ("source", "parse"), "window": ("window",), "sink": ("sink",)}
BOUNDS = {"source": Limit(workers=2), "window": Limit(), "sink": Limit()}


class Job:
    """Carries orders out in a while."""

    def __init__(self, down_s: float = 40):
        self.parallelism = {"source": 2, "parse": 2, "window": 4, "sink": 1}
        self.down_s, self.open_until_s = down_s, 0.0
        self.now_s = 0.0
        self.orders: list[tuple[float, dict[str, int], str]] = []

    @property
    def open(self) -> Any:
        return "a rescale" if self.now_s < self.open_until_s else None

    def order(self, parallelism: Mapping[str, int], now_ns: int, who: str) -> None:
        assert self.open is None
        self.orders.append((now_ns / S, dict(parallelism), who))
        self.parallelism.update(parallelism)
        self.open_until_s = now_ns / S + self.down_s


class Watched(Told):
    """Metrics of the job as it runs."""

    def __init__(self, job: Job):
        super().__init__(LINE, {}, {})
        self.job = job

    def parallelism(self) -> dict[str, int]:
        return {vertex: self.job.parallelism[vertex] for vertex in LINE.operators}

    def instances(self, operator: str) -> list[Any]:
        self._parallelism = self.parallelism()
        return super().instances(operator)


class Wishes:
    """A policy that wants what a function of the number of the question says."""

    def __init__(self, wish: Callable[[int], dict[str, int]]):
        self.wish, self.asked, self.times_s, self.acts = wish, 0, [], []

    def advise(self, metrics: Metrics) -> Advice:
        self.asked += 1
        assert metrics.now_ns == round(metrics.job.now_s * S)
        self.times_s.append(metrics.job.now_s)
        return Advice(metrics.parallelism() | self.wish(self.asked), [("factor", "window", Fraction(1, 3))], ["window"], "so it wants")

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        self.acts.append((dict(before), dict(after), now_ns))

    def state(self) -> Any:
        return self.asked

    def restore(self, state: Any) -> None:
        self.asked = state


def looping(policy: Any, job: Job, about: scaling.looped.Looped | None = None) -> AutoscalingLoop:
    about = about or scaling.hpa_cpu.HPACpu()
    return AutoscalingLoop(policy, Watched(job), job, times_of(about, HORIZON_S * S), limits_of(about, BOUNDS, VERTICES))


def run(loop: AutoscalingLoop, job: Job, until_s: float = HORIZON_S) -> AutoscalingLoop:
    until_ns = FAR if until_s == HORIZON_S else until_s * S
    while loop.next_ns < until_ns:
        now_ns = loop.next_ns
        job.now_s = now_ns / S
        loop.act(None, now_ns)
        assert loop.next_ns > now_ns
    return loop


def restless(n: int) -> dict[str, int]:
    return {"window": 4 + n % 2}


def test_a_policy_that_always_wants_something_else_acts_26_times_in_140_minutes() -> None:
    policy, job = Wishes(restless), Job()
    loop = run(looping(policy, job), job)
    times_s = [at_s for at_s, _, _ in job.orders]
    assert times_s[:2] == [135, 135 + 8 + 300 + 15]
    assert len(times_s) == 26
    assert min(b - a for a, b in pairwise(times_s)) >= 315
    assert policy.times_s == times_s, "it was not asked in between"
    assert [decision.verdict for decision in loop.decisions] == ["order"] * 26
    assert [at_ns / S for _, _, at_ns in policy.acts] == times_s
    assert loop.next_ns == FAR


def test_a_policy_that_is_content_is_asked_every_iteration_until_the_horizon() -> None:
    policy, job = Wishes(lambda n: {}), Job()
    run(looping(policy, job), job)
    assert policy.times_s == [120.0 + 15 * k for k in range(1, (HORIZON_S - 120) // 15)]
    assert job.orders == []


def test_without_cooldown_it_is_asked_when_the_rescale_has_ended() -> None:
    policy, job = Wishes(restless), Job(down_s=40)
    loop = run(looping(policy, job, scaling.hpa_cpu.HPACpu(cooldown_s=0)), job, until_s=300)
    assert [decision.t_s for decision in loop.decisions][:4] == [135, 135 + 23, 135 + 38, 135 + 53]
    assert [decision.verdict for decision in loop.decisions][:4] == ["order", "busy", "busy", "order"]
    assert policy.times_s[:2] == [135, 188]


def test_a_scale_down_may_follow_directly_after_a_cooldown() -> None:
    """Kubernetes' window is empty then: nothing was noted in the silence."""
    job = Job()
    metrics = Watched(job)
    load = {vertex: {"cpu_ppm": 1_000_000} for vertex in LINE.operators}
    metrics._readings = load
    about = scaling.hpa_cpu.HPACpu()
    loop = AutoscalingLoop(HPACpu(about), metrics, job, times_of(about, HORIZON_S * S), limits_of(about, BOUNDS, VERTICES))
    run(loop, job, until_s=140)
    load.update({vertex: {"cpu_ppm": 200_000} for vertex in LINE.operators})
    run(loop, job, until_s=500)
    assert [at_s for at_s, _, _ in job.orders] == [135, 458]
    assert job.orders[0][1]["window"] == 6
    assert job.orders[1][1]["window"] == 2


def test_a_missing_metric_leaves_the_iteration_out() -> None:
    job = Job()

    def wish(n: int) -> dict[str, int]:
        if n < 3:
            raise NoAdvice("no instance of window has been scraped since it started")
        return {"window": 9}

    loop = run(looping(Wishes(wish), job), job, until_s=180)
    assert [decision.verdict for decision in loop.decisions] == ["no_metrics", "no_metrics", "order"]
    assert loop.decisions[0].why == "no instance of window has been scraped since it started"
    assert [at_s for at_s, _, _ in job.orders] == [165]


def test_a_decision_tells_what_led_to_it() -> None:
    job = Job()
    about = scaling.ds2.DS2(workers_max=30)
    loop = run(looping(Wishes(lambda n: {"source": 4, "window": 30}), job, about), job, until_s=140)
    (decision,) = loop.decisions
    assert decision.advice == {"source": 4, "window": 30, "sink": 1}
    assert decision.bottlenecks == ["window"]
    assert decision.values == [["factor", "window", 1 / 3]]
    assert decision.why == "so it wants"
    assert [row["operator"] for row in decision.read] == ["source", "window", "sink"]
    assert [step["rule"] for step in decision.steps] == ["over_provisioning", "step_max", "workers_max"]
    assert decision.steps[0]["parallelism"] == {"source": 5, "window": 36, "sink": 2}
    assert decision.steps[1]["parallelism"] == {"window": 19}
    ((at_s, ordered, who),) = job.orders
    assert (at_s, who) == (135, "policy")
    assert ordered["parse"] == ordered["source"], "what forward edges connect is scaled as one"
    assert sum(ordered.values()) == 30
    json.dumps(asdict(decision))


def test_a_wish_beyond_the_workers_may_be_refused_as_a_whole() -> None:
    job = Job()
    about = scaling.flink.Flink(beyond_workers="veto", workers_max=30)
    loop = run(looping(Wishes(lambda n: {"window": 30}), job, about), job, until_s=140)
    assert job.orders == []
    assert loop.decisions[0].verdict == "keep"
    assert loop.decisions[0].why == "it needs 35 instances, but there are only 30"
    loop = run(looping(Wishes(lambda n: {"window": UNBOUNDED}), job, about), job, until_s=140)
    assert loop.decisions[0].why == "it asks for an unlimited number of instances, but there are only 30"


@pytest.mark.parametrize("cooldown_s", [0, 300])
def test_it_goes_on_from_its_state(cooldown_s: int) -> None:
    """Saved and read anew before each iteration, everything that it does is the same."""
    about = scaling.hpa_cpu.HPACpu(cooldown_s=cooldown_s)
    straight, job = Wishes(lambda n: {"window": 1 + n * n % 7}), Job()
    loop = run(looping(straight, job, about), job, until_s=2000)
    cut_job = Job()
    cut = looping(Wishes(straight.wish), cut_job, about)
    while cut.next_ns < 2000 * S:
        state = json.loads(json.dumps(cut.state()))
        cut = looping(Wishes(straight.wish), cut_job, about)
        cut.restore(state)
        run(cut, cut_job, until_s=(cut.next_ns + 1) / S)
    assert cut.decisions == loop.decisions
    assert cut_job.orders == job.orders
    assert len(job.orders) > 3
