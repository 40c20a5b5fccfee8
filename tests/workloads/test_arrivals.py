"""What every law of arrivals promises; records at random: the law of the gaps and of the counts; and a law from outside the package.

What this catches: a law that loses or adds records, or whose times depend on how the run is cut; gaps of another distribution; and a law of
another package that the engine does not treat as one of ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.spec import validate
from engine.spec.base.family import implementation, kind_of
from engine.spec.experiment.arrivals import ARRIVALS
from engine.spec.experiment.arrivals.base import ArrivalLaw
from engine.spec.experiment.arrivals.gamma import GammaArrivals
from engine.spec.experiment.arrivals.poisson import PoissonArrivals
from engine.spec.experiment.rates.constant import ConstantRate
from engine.spec.experiment.rates.cosine import CosineRate
from engine.spec.experiment.rates.steps import StepsRate
from engine.workloads.arrivals import Arrivals, SourceLoad
from engine.workloads.arrivals.bursts import Bursts
from engine.workloads.arrivals.even import Even
from engine.workloads.arrivals.gamma import Gamma, poisson_table
from engine.workloads.curves import Curve
from engine.workloads.rates import curve_of
from tests.newcomers.arrivals import BatchArrivals

from ..support.agreement import template
from ..support.family_contracts import assert_is_shown, offered, samples
from .documents import feed

SECOND = 10**9
HORIZON = 100 * SECOND
KINDS = [*ARRIVALS.kinds, BatchArrivals]
PER_MS = ConstantRate(per_s=1000.0)
LAWS = [law for kind in KINDS for law in samples(kind)]


@pytest.fixture(autouse=True, scope="module")
def newcomer() -> Iterator[None]:
    with offered(ARRIVALS, BatchArrivals):
        yield


def of(law: ArrivalLaw, rate: Any = PER_MS, horizon_ns: int = HORIZON, seed: int = 1, scale: int = 1) -> Arrivals:
    """The arrivals of a law, as a run makes them."""
    load = SourceLoad(curve_of(rate, horizon_ns, {}.get), scale, horizon_ns, seed, "source")
    return implementation(type(law), "engine.workloads.arrivals", "arrivals")(law, load)


def gamma(shape: int = 1, per_s: float = 1000.0, horizon_ns: int = HORIZON, seed: int = 1, scale: int = 1) -> Gamma:
    return Gamma(curve_of(ConstantRate(per_s=per_s), horizon_ns, {}.get), shape, seed, "source", horizon_ns, scale)


def all_times(made: Arrivals, horizon_ns: int = HORIZON) -> np.ndarray:
    return made.times_ns(0, made.count_before(horizon_ns))


def test_the_table_is_the_poisson_distribution():
    mean, table = 5, [int(threshold) for threshold in poisson_table(5)]
    terms = [Fraction(mean**number, math.factorial(number)) for number in range(120)]
    below, total = Fraction(0), sum(terms)  # e^5 but for 1e-100
    for number, threshold in enumerate(table):
        below += terms[number] / total
        assert threshold == math.floor(below * 2**64)
    assert 2**64 - table[-1] < 2000


@pytest.mark.parametrize("shape", [1, 2, 5])
def test_gaps_have_the_gamma_distribution(shape):
    times = all_times(gamma(shape))
    gaps = np.diff(times, prepend=0) / 1e6
    assert len(gaps) == pytest.approx(100_000, abs=4 * math.sqrt(100_000 / shape))
    assert gaps.mean() == pytest.approx(1.0, abs=4 / math.sqrt(100_000 * shape))
    assert gaps.std() / gaps.mean() == pytest.approx(1 / math.sqrt(shape), rel=0.02)
    # Kolmogorov and Smirnov's distance from 1 - exp(-k x) (1 + k x + ... + (k x)^(k-1) / (k-1)!)
    x = np.sort(gaps)
    exact = 1 - np.exp(-shape * x) * sum((shape * x) ** order / math.factorial(order) for order in range(shape))
    assert abs(exact - np.arange(len(x)) / len(x)).max() < 1.95 / math.sqrt(len(x))  # of one sample in a thousand


def test_gaps_do_not_depend_on_one_another():
    gaps = np.diff(all_times(gamma())).astype(float)
    for lag in (1, 2, 63, 64, 65):
        assert abs(np.corrcoef(gaps[lag:], gaps[:-lag])[0, 1]) < 4 / math.sqrt(len(gaps))


@pytest.mark.parametrize("width_ms", [10, 64, 250])
def test_counts_have_the_poisson_variance(width_ms):
    counts = np.bincount(all_times(gamma()) // (width_ms * 1_000_000))[:-1]
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=4 * math.sqrt(2 / len(counts)))


def test_a_changing_rate_stretches_the_process():
    rate = StepsRate(steps=({"at_s": 0, "per_s": 1000}, {"at_s": 10, "per_s": 0}, {"at_s": 20, "per_s": 4000}))
    made = Gamma(curve_of(rate, HORIZON, {}.get), 1, 1, "source", HORIZON)
    counts = [made.count_before(second * SECOND) for second in (0, 10, 20, 100)]
    assert counts[0] == 0
    assert counts[1] == counts[2] == pytest.approx(10_000, abs=400)
    assert counts[3] - counts[2] == pytest.approx(320_000, abs=2300)
    times = all_times(made)
    assert times[counts[1]] >= 20 * SECOND
    assert np.diff(times[counts[2] :]).std() == pytest.approx(250_000, rel=0.02)


CURVES = st.sampled_from(
    [
        ConstantRate(per_s=777.7),
        ConstantRate(per_s=3.0),
        ConstantRate(per_s=0.0),
        StepsRate(steps=({"at_s": 0.2, "per_s": 5000}, {"at_s": 0.3, "per_s": 0}, {"at_s": 0.5, "per_s": 1e5})),
        CosineRate(mean_per_s=2000, amplitude_per_s=2000, period_s=0.31),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    law=st.sampled_from(LAWS),
    rate=CURVES,
    scale=st.sampled_from([1, 1, 10]),
    seed=st.integers(0, 5),
    cuts=st.lists(st.integers(0, SECOND), max_size=8),
)
def test_any_stretch_alone_has_the_times_of_the_whole(law, rate, scale, seed, cuts):
    made = of(law, rate, SECOND, seed, scale)
    whole = all_times(made, SECOND)
    assert (np.diff(whole) >= 0).all()
    assert ((whole >= 0) & (whole < SECOND)).all()
    edges = [0, *sorted(cuts), SECOND]
    numbers = [made.count_before(edge) for edge in edges]
    assert numbers == np.searchsorted(whole, edges).tolist()
    parts = [made.times_ns(first, last) for first, last in pairwise(numbers)]
    assert np.concatenate(parts).tolist() == whole.tolist()


@pytest.mark.parametrize("kind", KINDS, ids=kind_of)
def test_every_law_makes_as_many_records_as_are_due(kind):
    """At any time, but for chance: as far off as Poisson's are once in a million times at most."""
    made, even = of(kind()), Even(curve_of(PER_MS, HORIZON, {}.get))
    for time_ns in range(0, HORIZON + 1, HORIZON // 50):
        due = even.count_before(time_ns)
        assert abs(made.count_before(time_ns) - due) <= 5 * math.sqrt(due), time_ns


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_longer_horizon_changes_nothing_before_the_shorter_one(law):
    short, longer = all_times(of(law, horizon_ns=SECOND), SECOND), of(law, horizon_ns=2 * SECOND)
    assert longer.count_before(SECOND) == len(short)
    assert longer.times_ns(0, len(short)).tolist() == short.tolist()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_scaled_records_are_a_process_of_the_lower_rate(law):
    scaled, lower = of(law, ConstantRate(per_s=50_000.0), SECOND, scale=50), of(law, PER_MS, SECOND)
    assert all_times(scaled, SECOND).tolist() == all_times(lower, SECOND).tolist()


@pytest.mark.parametrize("kind", KINDS, ids=kind_of)
def test_a_scaled_feed_has_fewer_records_of_more_weight(kind):
    arrivals = {"kind": kind_of(kind)}
    source = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 50_000.0}, "arrivals": arrivals}
    scaled, lower = feed(source, scale=50), feed({**source, "rate": {"kind": "constant", "per_s": 1000.0}})
    assert (scaled.weight, lower.weight) == (50, 1)
    assert scaled.count == lower.count
    assert scaled.chunk(0, SECOND).words.tolist() == lower.chunk(0, SECOND).words.tolist()


def test_seeds_and_operators_draw_their_own():
    curve = Curve([0], [10**9])
    one, other, elsewhere = (Gamma(curve, 1, seed, id, SECOND) for seed, id in ((1, "a"), (2, "a"), (1, "b")))
    assert len({made.times_ns(0, 3).tobytes() for made in (one, other, elsewhere)}) == 3


def test_the_first_times_are_the_same_on_every_machine():
    assert of(PoissonArrivals()).times_ns(0, 4).tolist() == [1_970_220, 2_997_998, 3_369_251, 3_488_497]
    assert of(GammaArrivals(shape=3)).times_ns(0, 4).tolist() == [1_123_083, 1_974_159, 2_425_568, 2_582_680]


def test_bursts_come_at_the_ends_of_their_intervals():
    curve = Curve([0], [1000 * 10**6])
    made = Bursts(curve, SECOND // 100)
    times = made.times_ns(0, 1000)
    assert times.tolist() == [(number // 10 + 1) * SECOND // 100 for number in range(1000)]
    for edge in (0, 1, SECOND // 100, SECOND // 100 + 1, SECOND // 2, SECOND // 2 + 1):
        assert made.count_before(edge) == int((times < edge).sum())
    assert Even(curve).count_before(SECOND) == 1000
    assert made.count_before(SECOND) == 990  # the last burst comes at the very end


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_document_chooses(law):
    made = of(law, horizon_ns=SECOND)
    source = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000.0}, "arrivals": law.model_dump()}
    chunk = feed(source).chunk(0, SECOND)
    assert chunk.append_ns.tolist() == all_times(made, SECOND).tolist()
    assert (chunk.event_ns == chunk.append_ns).all()


def test_a_newcomer_is_shown():
    assert_is_shown(ARRIVALS, BatchArrivals)


def test_records_of_a_newcomer_come_in_its_batches():
    """A record is due each 100 ms. Four come with the last of them: at 300 and at 700 ms; the third batch is never complete."""
    document = template("nexmark_q1", horizon_s=1, drain=True)
    for source in document["workload"]["sources"].values():
        source |= {"rate": {"kind": "constant", "per_s": 10}, "arrivals": {"kind": "batches", "size": 4}}
    simulation = engine.Simulation(document)
    simulation.run_until(simulation.end_ns)
    assert simulation.summary()["records_in"] == 8
    chunk = feed({"stream": {"kind": "nexmark_bid"}, **source}).chunk(0, SECOND)
    assert chunk.append_ns.tolist() == [300_000_000] * 4 + [700_000_000] * 4


def test_a_recorded_rate_takes_no_law_that_moves_records():
    source = {"stream": {"kind": "file", "dataset": "trips", "timestamp": "time"}, "rate": {"kind": "recorded"}}
    for kind in KINDS:
        document = template("nexmark_q1", horizon_s=1)
        document["workload"]["sources"] = {id: source | {"arrivals": {"kind": kind_of(kind)}} for id in document["workload"]["sources"]}
        refused = "recorded_arrivals" in {problem.code for problem in validate(document)}
        assert refused == kind.moves_records


def test_what_is_wrong_with_a_newcomers_parameters_is_said_where_it_stands():
    document = template("nexmark_q1", horizon_s=1)
    for source in document["workload"]["sources"].values():
        source["arrivals"] = {"kind": "batches", "size": 0}
    (problem,) = validate(document)
    assert (problem.pointer.rpartition("/")[2], problem.code) == ("size", "out_of_range")
