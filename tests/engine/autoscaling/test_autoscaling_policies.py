"""Policies of autoscaling against twins that are written from the specification's pseudocode, over random jobs.

What this catches: a sum over the wrong instances, edges in the wrong order or direction, a state that is lost in a snapshot, a policy that
answers otherwise when asked again.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.autoscaling.dhalion import Dhalion
from engine.autoscaling.ds2 import DS2
from engine.autoscaling.hpa_cpu import HPACpu
from engine.autoscaling.hpa_varga import HPAVarga
from engine.autoscaling.limits import Limit, fit, limited, workers
from engine.spec.experiment import scaling
from tests.support.tiers import tier

from ...support.policies import POLICIES, policy_of
from ...support.told_metrics import Told, metrics

EXAMPLES = settings(max_examples=tier(10, 100), deadline=None, derandomize=True)


def told(job: Told, operator: str, name: str) -> list[Fraction]:
    """What each instance of an operator reports."""
    return [Fraction(value) for value in job._readings[operator][name]]


def mean(job: Told, operator: str, name: str) -> Fraction:
    return sum(told(job, operator, name), Fraction(0)) / len(told(job, operator, name))


def slow_ones(job: Told, theta: int, name: str) -> list[str]:
    """Spec, 3.2."""
    graph = job.graph()
    found: list[str] = []
    for left, right in graph.edges:
        if 1 in told(job, left, "blocked"):
            if 1 not in told(job, right, "blocked") and right not in found:
                found.append(right)
        elif left in graph.sources and sum(told(job, left, name)) > theta and left not in found:
            found.append(left)
    return found


@EXAMPLES
@given(job=metrics(), signed=st.booleans(), first_only=st.booleans(), by_lag=st.booleans())
def test_dhalion(job: Told, signed: bool, first_only: bool, by_lag: bool) -> None:
    """Spec, 3.3, with the state that an earlier iteration has left."""
    name = "pending_growth" if signed else "pending_rate"
    modes: dict[str, Any] = {"pending_rate": "signed" if signed else "counter_reset", "source_empty": "lag" if by_lag else "rate"}
    policy = Dhalion(scaling.dhalion.Dhalion(first_only=first_only, **modes))
    policy.restore(dict.fromkeys(job.graph().operators, 17))
    wanted = dict.fromkeys(job.graph().operators, 17)
    slow = slow_ones(job, 1000, name)
    for operator in slow[:1] if first_only else slow:
        if operator in job.graph().sources:
            factor = max(Fraction(0), sum(told(job, operator, name)) / max(1, sum(told(job, operator, "records_in"))))
        else:
            beta = min(Fraction(9, 10), max(mean(job, left, "blocked_ms") / 1000 for left, right in job.graph().edges if right == operator))
            factor = beta / (1 - beta)
        wanted[operator] = ceil(job.parallelism()[operator] * (1 + factor))
    if not slow:
        for operator, p in job.parallelism().items():
            if operator in job.graph().sources:
                empty = sum(told(job, operator, "pending" if by_lag else name)) <= 10_000
            else:
                empty = mean(job, operator, "fill_ppm") <= 200_000
            if empty:
                wanted[operator] = max(1, floor(p * Fraction(4, 5)))
    advice = policy.advise(job)
    assert advice.parallelism == wanted
    assert list(advice.bottlenecks) == slow


@EXAMPLES
@given(job=metrics(), busy_max=st.sampled_from((1.0, 0.7)))
def test_ds2(job: Told, busy_max: float) -> None:
    """Spec, 3.4, by recursion from the sinks up."""
    graph, p = job.graph(), job.parallelism()

    def true_rate(operator: str, name: str) -> Fraction:
        busy = [ms / 1000 / Fraction(str(busy_max)) for ms in told(job, operator, "busy_ms")]
        return sum((rate / u for rate, u in zip(told(job, operator, name), busy, strict=True) if u), Fraction(0))

    def target(operator: str) -> Fraction:
        if operator in graph.sources:
            return Fraction(job._topics[operator])
        return sum((output(left) for left, right in graph.edges if right == operator), Fraction(0))

    def output(operator: str) -> Fraction:
        processing = true_rate(operator, "records_in")
        return true_rate(operator, "records_out_per_s") * target(operator) / processing if processing else Fraction(0)

    wanted = {}
    for operator in graph.operators:
        processing = true_rate(operator, "records_in")
        if processing:
            wanted[operator] = max(1, ceil(target(operator) * p[operator] / processing))
        else:
            wanted[operator] = 2**32 - 1 if target(operator) else 1
    assert DS2(scaling.ds2.DS2(busy_max=busy_max)).advise(job).parallelism == wanted


@EXAMPLES
@given(job=metrics(), target=st.sampled_from((0.7, 0.5, 1.0)))
def test_hpa_on_cpu(job: Told, target: float) -> None:
    """Spec, 3.5."""
    wanted = {
        operator: max(1, ceil(p * mean(job, operator, "cpu_ppm") / 10**6 / Fraction(str(target))))
        for operator, p in job.parallelism().items()
    }
    assert HPACpu(scaling.hpa_cpu.HPACpu(target=target)).advise(job).parallelism == wanted


@EXAMPLES
@given(job=metrics(), threshold=st.sampled_from((None, 20_000)))
def test_hpa_of_varga(job: Told, threshold: int | None) -> None:
    """Spec, 3.6."""
    graph = job.graph()

    def above(operator: str) -> set[str]:
        return {operator}.union(*(above(left) for left, right in graph.edges if right == operator))

    wanted = {}
    for operator, p in job.parallelism().items():
        util, rel = 1 - mean(job, operator, "idle_ms") / 1000, Fraction(-1)
        if operator in slow_ones(job, 10_000, "pending_rate"):
            sources = above(operator) & {*graph.sources}
            if threshold is None or sum(sum(told(job, source, "pending")) for source in sources) >= threshold:
                growth = sum(sum(told(job, source, "pending_slope")) for source in sources)
                rel = 1 + growth / max(1, sum(sum(told(job, source, "records_in")) for source in sources))
        wanted[operator] = max(1, ceil(p * max(util / Fraction(7, 10), rel)))
    assert HPAVarga(scaling.hpa_varga.HPAVarga(lag_threshold=threshold)).advise(job).parallelism == wanted


@EXAMPLES
@given(
    wishes=st.lists(st.integers(1, 200), min_size=1, max_size=6),
    workers_max=st.integers(6, 90),
)
def test_fitting(wishes: list[int], workers_max: int) -> None:
    """Spec, 3.0, FIT. Never more than there are, which its one correction does not promise for many vertices; else as it says."""
    assume(sum(wishes) > workers_max)
    wanted = dict(zip("abcdef", wishes, strict=False))
    n, total = len(wishes), sum(wishes)
    factor = Fraction(workers_max - n, total - n)
    expected = {vertex: 1 + round(factor * (p - 1)) for vertex, p in wanted.items()}
    largest = max(wanted, key=lambda vertex: wanted[vertex])
    over = sum(expected.values()) - workers_max
    if over > 0:
        expected[largest] -= 1
    elif over < 0:
        expected[largest] += 1
    fitted = fit(wanted, workers_max)
    assert sum(fitted.values()) <= workers_max
    assert all(1 <= p <= wanted[vertex] for vertex, p in fitted.items())
    if over <= 1 and expected[largest] >= 1:
        assert fitted == expected


@EXAMPLES
@given(data=st.data())
def test_limits_hold_whatever_is_wanted(data: st.DataObject) -> None:
    vertices = "abcde"[: data.draw(st.integers(1, 5))]
    bounds = {}
    for vertex in vertices:
        least = data.draw(st.integers(1, 4))
        bounds[vertex] = Limit(least, least + data.draw(st.sampled_from((0, 3, 100))), data.draw(st.integers(1, 3)))
    current = {vertex: data.draw(st.integers(bound.least, min(bound.most, 20))) for vertex, bound in bounds.items()}
    workers_max = data.draw(st.integers(workers(current, bounds), 150))
    wanted = {vertex: data.draw(st.one_of(st.integers(1, 80), st.just(2**32 - 1))) for vertex in vertices}
    step_max = data.draw(st.sampled_from((None, 1, 15)))
    found, steps = limited(current, wanted, Fraction(6, 5), step_max, bounds, workers_max)
    assert workers(found, bounds) <= workers_max
    for vertex, bound in bounds.items():
        assert bound.least <= found[vertex] <= bound.most
        assert step_max is None or found[vertex] <= max(current[vertex] + step_max, bound.least)
    replayed = dict(wanted)
    for step in steps:
        assert step.parallelism, "a rule that changed nothing is not told"
        replayed.update(step.parallelism)
    assert replayed == found


ABOUT = {
    "dhalion": scaling.dhalion.Dhalion(),
    "ds2": scaling.ds2.DS2(),
    "hpa_cpu": scaling.hpa_cpu.HPACpu(),
    "hpa_varga": scaling.hpa_varga.HPAVarga(),
    "flink": scaling.flink.Flink(preset="tuned", window_s=15, stabilization_s=0, scale_down_interval_s=30),
    "dhalion_heron": scaling.dhalion_heron.DhalionHeron(),
    "ds2_original": scaling.ds2_original.DS2Original(),
    "hpa_k8s": scaling.hpa_k8s.HPAK8s(),
    "varga_original": scaling.varga_original.VargaOriginal(),
}


@pytest.mark.parametrize("kind", POLICIES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(jobs=st.lists(metrics(), min_size=4, max_size=4))
def test_a_policy_goes_on_from_its_state(kind: str, jobs: list[Told]) -> None:
    """Asked every 15 s about one graph, it answers the same with its state written and read in between; what it wrote is JSON."""
    graph, policy = jobs[0].graph(), policy_of(ABOUT[kind])
    for k, job in enumerate(jobs):
        about = Told(
            graph, jobs[0].parallelism(), jobs[0]._readings if job.graph() != graph else job._readings, jobs[0]._topics, 1000 + 15 * k
        )
        copy = policy_of(ABOUT[kind])
        copy.restore(json.loads(json.dumps(policy.state())))
        assert asked(copy, about) == asked(policy, about)
        assert copy.state() == policy.state()
        if k == 2:
            before, after = about.parallelism(), {vertex: p + 1 for vertex, p in about.parallelism().items()}
            policy.acted(before, after, about.now_ns)
            copy.acted(before, after, about.now_ns)
            assert copy.state() == policy.state()


def asked(policy: Any, job: Told) -> Any:
    try:
        return policy.advise(job)
    except Exception as error:
        return str(error)


def test_every_policy_of_the_document_is_made_by_somebody() -> None:
    """And none but those that are asked again and again."""
    assert {*POLICIES} == {*ABOUT}
    assert not [kind for kind, about in ABOUT.items() if not hasattr(policy_of(about), "advise")]
