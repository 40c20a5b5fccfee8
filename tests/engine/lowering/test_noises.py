"""What every noise, drift and warm-up promises; our noises against their laws; and one of each from outside the package.

What this catches: factors that change the mean cost or do not fit the loop; a table that does not follow its law; and a kind of another
package that the engine does not treat as one of ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from engine.core.random import RandomStream
from engine.lowering import cost_noise, drifts, noises
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.drifts import DRIFTS
from engine.spec.experiment.drifts.base import FACTOR_BELOW as DRIFT_BELOW
from engine.spec.experiment.drifts.base import Drift
from engine.spec.experiment.noises import NOISES
from engine.spec.experiment.noises.base import FACTOR_BELOW as NOISE_BELOW
from engine.spec.experiment.noises.base import Noise
from engine.spec.experiment.noises.exponential import ExponentialNoise
from engine.spec.experiment.noises.lognormal import LognormalNoise
from engine.spec.experiment.noises.none import NoNoise
from engine.spec.experiment.noises.uniform import UniformNoise
from engine.spec.experiment.warmups import WARMUPS
from engine.spec.experiment.warmups.base import WarmUp
from tests.newcomers.drift import CompactionDrift
from tests.newcomers.noise import TriangularNoise
from tests.newcomers.warmup import WarmUpByBatches
from tests.oracle.noise import noise_word, table

from ...support.family_contracts import assert_is_shown, offered, samples
from ...support.varied_costs import document, services_ns

UNIT = cost_noise.FACTOR_UNIT


@pytest.fixture
def newcomers() -> Iterator[None]:
    with offered(NOISES, TriangularNoise), offered(DRIFTS, CompactionDrift), offered(WARMUPS, WarmUpByBatches):
        yield


def halves(noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    """The factors below and above the median, by rising share beyond them."""
    factors = cost_noise.factors(noise) / UNIT
    return factors[: cost_noise.EDGES], factors[cost_noise.EDGES :]


def moments(noise: Noise) -> tuple[float, float]:
    """Mean and mean square of the factors, which are linear between the edges."""
    steps, pairs = np.diff(cost_noise.shares()), [(half[:-1], half[1:]) for half in halves(noise)]
    mean = sum((steps * (a + b) / 2).sum() for a, b in pairs)
    square = sum((steps * (a * a + a * b + b * b) / 3).sum() for a, b in pairs)
    return mean, square


@pytest.mark.parametrize("kind", [*NOISES.kinds, TriangularNoise], ids=kind_of)
def test_factors_of_every_noise_rise_with_the_share_and_have_mean_one(kind: type[Noise]) -> None:
    for noise in samples(kind):
        below, above = halves(noise)
        assert len(below) == len(above) == cost_noise.EDGES
        factors = np.concatenate([below, above[::-1]])
        assert (np.diff(factors) >= 0).all(), noise
        assert factors[0] >= 0
        assert factors[-1] < NOISE_BELOW
        assert below[-1] == pytest.approx(above[-1], abs=1 / UNIT), "both halves end at the median"
        assert moments(noise)[0] == pytest.approx(1, abs=2**-15), noise
        assert noise.varies or (factors == 1).all()


@pytest.mark.parametrize("kind", [*DRIFTS.kinds, CompactionDrift], ids=kind_of)
def test_factors_of_every_drift_fit_and_do_not_depend_on_the_end_of_the_run(kind: type[Drift]) -> None:
    for drift in samples(kind):
        end_ns = 300 * drift.step_ns
        whole = cost_noise.drift_factors(drift, 1, "server", end_ns)
        assert len(whole) == (301 if drift.step_ns else 0)
        assert all(0 <= factor < DRIFT_BELOW * UNIT for factor in whole)
        for until_ns in (0, drift.step_ns - 1, drift.step_ns, 100 * drift.step_ns):
            part = cost_noise.drift_factors(drift, 1, "server", until_ns)
            assert part == whole[: len(part)]
        if drift.step_ns:
            assert getattr(drift, drift.step_field) * 1e9 == pytest.approx(drift.step_ns, abs=1)


@pytest.mark.parametrize("kind", [*WARMUPS.kinds, WarmUpByBatches], ids=kind_of)
def test_every_warm_up_fits_and_takes_as_many_real_records_at_any_scale(kind: type[WarmUp]) -> None:
    for warmup in samples(kind):
        assert 0 <= warmup.extra <= 99 * UNIT
        assert warmup.extra * max(warmup.records_of(1), warmup.span_ns) < 1 << 63
        assert warmup.varies == (max(warmup.records_of(1), warmup.span_ns) > 0)
        for weight in (1, 7, 1000):
            assert 0 <= weight * warmup.records_of(weight) - warmup.records_of(1) < weight


def test_no_noise_changes_nothing() -> None:
    assert cost_noise.factors(NoNoise()).tolist() == [UNIT] * (2 * cost_noise.EDGES)


# Our laws

LAWS = [ExponentialNoise(), *(LognormalNoise(cv=cv) for cv in (0.05, 0.3, 1.0, 3.0)), *(UniformNoise(cv=cv) for cv in (0.1, 0.577))]


def beyond(law: Noise, x: float, upper: bool) -> float:
    """The share of the law above x, or below it."""
    match law:
        case ExponentialNoise():
            return math.exp(-x) if upper else -math.expm1(-x)
        case LognormalNoise(cv=cv):
            square = math.log(1 + cv * cv)
            z = (math.log(x) + square / 2) / math.sqrt(square)
            return NormalDist().cdf(-z if upper else z)
        case UniformNoise(cv=cv):
            share = 0.5 + (x - 1) / (2 * math.sqrt(3) * cv)
            return 1 - share if upper else share
    raise AssertionError(law)


def test_each_of_our_noises_is_compared_with_its_law() -> None:
    assert {type(law) for law in LAWS} == {kind for kind in NOISES.kinds if kind.varies}


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_factors_follow_their_law_up_to_the_tails(law: Noise) -> None:
    """Between the edges, too: the share beyond a factor is met to 1e-4 of itself, but for the grid of 2^-16 near 0."""
    shares = cost_noise.shares()
    for upper, half in zip((False, True), halves(law), strict=True):
        for at in range(0, cost_noise.EDGES - 1, 7):
            for step in (0.0, 0.5):
                x = half[at] + step * (half[at + 1] - half[at])
                share = shares[at] + step * (shares[at + 1] - shares[at])
                grid = max(abs(beyond(law, max(x + d, 1e-300), upper) - beyond(law, x, upper)) for d in (-(2**-16), 2**-16))
                assert abs(beyond(law, x, upper) - share) <= 1e-4 * share + grid


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_factors_have_the_variation_asked_for(law: Noise) -> None:
    mean, square = moments(law)
    assert math.sqrt(square - mean * mean) == pytest.approx(getattr(law, "cv", 1.0), rel=1e-3)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_tables_are_those_of_the_definition(law: Noise) -> None:
    """The same words from the functions of libm."""
    below, above = table(law)
    assert cost_noise.factors(law).tolist() == below + above


# Newcomers


@pytest.mark.usefixtures("newcomers")
def test_newcomers_are_shown() -> None:
    assert_is_shown(NOISES, TriangularNoise)
    assert_is_shown(DRIFTS, CompactionDrift)
    assert_is_shown(WARMUPS, WarmUpByBatches)


@pytest.mark.usefixtures("newcomers")
def test_services_cost_what_a_newcomers_noise_says() -> None:
    """The word of each service says which share p of the law lies beyond its factor: 1 -+ reach x (1 - sqrt(2 p))."""
    served = services_ns(document({"record_us": 10.0, "noise": {"kind": "triangular", "reach": 0.6}}))[:200].tolist()
    for service, took_ns in enumerate(served):
        word = noise_word((1, "server", "noise", 0), service)
        beyond = 0.6 * (1 - math.sqrt(2 * (word % 2**63) / 2**64))
        factor = 1 + beyond if word >> 63 else 1 - beyond
        assert took_ns == pytest.approx(10_000 * factor, abs=2)
    assert min(served) < 6000 < 14_000 < max(served)


@pytest.mark.usefixtures("newcomers")
def test_every_fourth_step_costs_three_times_as_much_with_a_newcomers_drift() -> None:
    """A record each ms, steps of 10 ms: records 30 to 39 of every 40 cost 30 us."""
    drift = {"kind": "compaction", "step_s": 0.01, "every": 4, "factor": 3}
    served = services_ns(document({"record_us": 10.0, "drift": drift}))[:1000]
    assert served.tolist() == [30_000 if record % 40 >= 30 else 10_000 for record in range(1000)]


@pytest.mark.usefixtures("newcomers")
def test_a_newcomers_warm_up_counts_batches() -> None:
    """Two batches of two: five times as much, then a quarter of the difference less each time."""
    made = document({"record_us": 10.0, "warmup": {"kind": "batches", "factor": 5, "batches": 2, "batch": 2}})
    assert services_ns(made)[:6].tolist() == [50_000, 40_000, 30_000, 20_000, 10_000, 10_000]


@pytest.mark.usefixtures("newcomers")
def test_newcomers_obey_the_rules_of_the_document() -> None:
    cost = "/query/operators/0/cost"
    price = {"record_us": 2e6}
    for name, kind in (("noise", "triangular"), ("drift", "compaction"), ("warmup", "batches")):
        (problem,) = validate(document(price | {name: {"kind": kind}}))
        assert (problem.pointer, problem.code) == (f"{cost}/record_us", "too_large")
    made = document({"noise": {"kind": "triangular"}})
    made["workload"]["scale"] = 10
    assert ("not_scaled", f"{cost}/noise") in {(problem.code, problem.pointer) for problem in validate(made)}
    made = document({"drift": {"kind": "compaction", "step_s": 0.001}})
    made["workload"]["horizon_s"] = 1000.0
    assert ("budget", f"{cost}/drift/step_s") in {(problem.code, problem.pointer) for problem in validate(made)}


class NegativeNoise(Noise):
    """Gives time back."""

    title: ClassVar[str] = "Negative"
    kind: Literal["negative"] = "negative"
    factor: ClassVar[float] = -1.0

    def quantiles(self, share: Any) -> tuple[Any, Any]:
        return np.full_like(share, self.factor), np.full_like(share, self.factor)


class HugeNoise(NegativeNoise):
    """Takes more than a word holds."""

    factor: ClassVar[float] = float(NOISE_BELOW)


class UnknownNoise(NegativeNoise):
    """Gives no number."""

    factor: ClassVar[float] = math.nan


@pytest.mark.parametrize("noise", [NegativeNoise(), HugeNoise(), UnknownNoise()])
def test_factors_that_the_loop_cannot_take_are_refused(noise: Noise) -> None:
    with pytest.raises(ValueError, match="'negative' has factors from"):
        cost_noise.factors(noise)


def test_what_a_kind_does_is_found_by_its_name() -> None:
    share, random = np.array([0.25, 0.5]), RandomStream(1, "server", "drift")
    assert noises.quantiles(TriangularNoise(reach=1), share)[1].tolist() == [2 - math.sqrt(0.5), 1]
    assert drifts.factors(CompactionDrift(every=2), random, 4).tolist() == [1, 2, 1, 2]
