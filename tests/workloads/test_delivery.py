"""Records that are delayed on their way, against a twin that makes all of them and sorts; and the laws of the delays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from engine.core.layout import LOG_WATERMARK
from engine.spec.base.problems import Refusal
from engine.spec.experiment.delays import AnyDelay
from engine.spec.experiment.delays.constant import ConstantDelay
from engine.spec.experiment.delays.exponential import ExponentialDelay
from engine.spec.experiment.delays.fetch import FetchDelay
from engine.spec.experiment.delays.file import FileDelay
from engine.spec.experiment.delays.gamma import GammaDelay
from engine.spec.experiment.delays.lognormal import LognormalDelay
from engine.spec.experiment.delays.none import NoDelay
from engine.spec.experiment.delays.switched import SwitchedDelay
from engine.spec.experiment.delays.uniform import UniformDelay
from engine.spec.experiment.delays.zipf import ZipfDelay
from engine.workloads import lookup
from engine.workloads.arrivals.even import Even
from engine.workloads.arrivals.gamma import Gamma
from engine.workloads.curves import Curve
from engine.workloads.delays import delays_of
from engine.workloads.delivery import Late

from .documents import DATA, feed

MS = 1_000_000
SECOND = 1000 * MS

LAWS = {
    "constant": ConstantDelay(delay_ms=150),
    "uniform": UniformDelay(min_ms=20, max_ms=300),
    "exponential": ExponentialDelay(mean_ms=240),
    "capped": ExponentialDelay(mean_ms=240, cap_ms=400),
    "gamma": GammaDelay(mean_ms=240, shape=60),
    "lognormal": LognormalDelay(median_ms=100, sigma=1),
    "zipf": ZipfDelay(),
    "switched": SwitchedDelay(before=UniformDelay(max_ms=300), at_s=0.7, after=ConstantDelay(delay_ms=40)),
    "fetch": FetchDelay(round_trip_ms=7.3),
}


def of(law, count: int = 100_000, seed: int = 1) -> np.ndarray:
    delays = delays_of(law, seed, "source", {}.get)
    values = delays.of(np.arange(count), np.arange(count))
    assert values.dtype == np.int64
    assert values.min() >= 0
    assert values.max() <= delays.longest_ns
    return values / MS


def test_a_switched_law_changes_with_the_time_of_making():
    law = SwitchedDelay(
        before=ConstantDelay(delay_ms=5), at_s=1, after=SwitchedDelay(before=NoDelay(), at_s=2, after=ConstantDelay(delay_ms=9))
    )
    delays = delays_of(law, 1, "source", {}.get)
    made_ns = np.array([0, SECOND - 1, SECOND, 2 * SECOND - 1, 2 * SECOND])
    assert delays.of(np.arange(5), made_ns).tolist() == [5 * MS, 5 * MS, 0, 0, 9 * MS]
    assert delays.longest_ns == 9 * MS


def test_fetches_bring_what_was_there_when_they_reached_the_broker():
    """A request reaches it every 10 ms, at a phase of its own, and is back 5 ms later."""
    made_ns = np.arange(0, SECOND, 777_777)
    phases = set()
    for seed in range(3):
        arrival_ns = made_ns + delays_of(FetchDelay(round_trip_ms=10), seed, "source", {}.get).of(np.arange(len(made_ns)), made_ns)
        returns = np.unique(arrival_ns)
        assert set(np.diff(returns).tolist()) == {10 * MS}
        at_broker_ns = arrival_ns - 5 * MS
        assert ((at_broker_ns >= made_ns) & (at_broker_ns < made_ns + 10 * MS)).all(), "the first request from then on"
        phases.add(int(returns[0] % (10 * MS)))
    assert len(phases) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LAWS))
@settings(max_examples=25, deadline=None)
@given(
    per_s=st.sampled_from([20, 3000, 40_000]), at_random=st.booleans(), asked=st.lists(st.integers(0, 2 * SECOND), min_size=1, max_size=12)
)
def test_however_it_is_asked_it_answers_like_the_twin(name, per_s, at_random, asked):
    curve = Curve([0, SECOND, SECOND + SECOND // 2], [per_s * 10**6, 0, 2 * per_s * 10**6])
    arrivals = Gamma(curve, 1, 1, "source", 2 * SECOND) if at_random else Even(curve)
    delays = delays_of(LAWS[name], 1, "source", {}.get)
    made = arrivals.times_ns(0, arrivals.count_before(2 * SECOND))
    arrival = made + delays.of(np.arange(len(made)), made)
    order = np.lexsort((np.arange(len(made)), arrival))
    late = Late(arrivals, delays)
    for from_ns, to_ns in pairwise([0, *asked]):  # forwards, backwards and in leaps
        inside = order[(arrival[order] >= from_ns) & (arrival[order] < to_ns)]
        delivered = late.between(from_ns, to_ns)
        assert delivered.numbers.tolist() == inside.tolist()
        assert delivered.made_ns.tolist() == made[inside].tolist()
        assert delivered.arrival_ns.tolist() == arrival[inside].tolist()
        assert late.count_before(to_ns) == int((arrival < to_ns).sum())


def test_a_constant_delay_keeps_the_order():
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 1000.0},
        "disorder": {"kind": "constant", "delay_ms": 150.0},
    }
    made = feed(source)
    chunk = made.chunk(0, SECOND)
    assert (chunk.append_ns - chunk.event_ns == 150 * MS).all()
    assert chunk.trigger.tolist() == list(range(850))  # the others are on their way when the log closes
    assert (made.count, made.closes_ns, made.count_before(200 * MS)) == (850, SECOND, 50)


def test_the_rate_is_that_at_which_records_are_made():
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 1000.0},
        "disorder": {"kind": "exponential", "mean_ms": 50.0},
    }
    chunk = feed(source, horizon_s=10.0).chunk(0, 10 * SECOND)
    assert (np.diff(chunk.append_ns) >= 0).all()
    assert (np.diff(chunk.event_ns) < 0).any()
    assert sorted(chunk.trigger.tolist())[:9000] == list(range(9000))
    assert (chunk.event_ns == chunk.trigger * MS).all()
    assert (chunk.words[:, 3] == chunk.event_ns).all()


def test_no_delay_is_no_delay():
    assert delays_of(NoDelay(), 1, "source", {}.get) is None
    assert delays_of(UniformDelay(max_ms=0), 1, "source", {}.get) is None
    assert delays_of(ConstantDelay(delay_ms=0), 1, "source", {}.get) is None


# Laws


def test_uniform_includes_both_ends():
    values = of(UniformDelay(min_ms=1e-6, max_ms=3e-6)) * MS
    assert set(values.tolist()) == {1, 2, 3}
    wide = of(LAWS["uniform"])
    assert (wide.min(), wide.max(), wide.mean()) == (pytest.approx(20, abs=0.1), pytest.approx(300, abs=0.1), pytest.approx(160, rel=0.01))


def test_the_delays_of_the_sampling_experiments():
    """Constant 150 ms; gamma of shape 60 and scale 4 ms: mean 240, sd 31; exponential of mean 240, with a cap at 1500."""
    assert (of(LAWS["constant"]) == 150).all()
    gamma = of(LAWS["gamma"])
    assert (gamma.mean(), gamma.std()) == (pytest.approx(240, rel=0.005), pytest.approx(31, rel=0.01))
    exponential = of(LAWS["exponential"])
    assert (exponential.mean(), exponential.std()) == (pytest.approx(240, rel=0.02), pytest.approx(240, rel=0.02))
    capped = of(ExponentialDelay(mean_ms=240, cap_ms=1500))
    assert capped.max() == 1500
    assert ((capped < 1500) <= (capped == exponential)).all()
    assert (capped == 1500).mean() == pytest.approx(np.exp(-1500 / 240), rel=0.2)


def test_the_delays_of_the_scheduling_experiments():
    """Uniform from 0 to 300 ms; Zipf with exponent 0.99 over 1 to 1000 ms: mean 137, sd 224."""
    uniform = of(UniformDelay(max_ms=300))
    assert uniform.mean() == pytest.approx(150, rel=0.01)
    zipf = of(LAWS["zipf"])
    assert set((zipf % 1).tolist()) == {0.0}
    assert (zipf.min(), zipf.max()) == (1, 1000)
    assert (zipf.mean(), zipf.std()) == (pytest.approx(137, rel=0.02), pytest.approx(224, rel=0.02))


def test_lognormal():
    values = of(LAWS["lognormal"])
    assert np.median(values) == pytest.approx(100, rel=0.01)
    assert np.log(values).std() == pytest.approx(1, rel=0.01)


def test_delays_from_a_file(tmp_path):
    parquet.write_table(pa.table({"ms": [5.5, 0.0, 2.25]}), tmp_path / "trace.parquet")
    law = FileDelay(dataset="trace", column="ms")
    delays = delays_of(law, 1, "source", lookup([tmp_path]))
    assert delays.of(np.arange(7), np.arange(7)).tolist() == [5_500_000, 0, 2_250_000, 5_500_000, 0, 2_250_000, 5_500_000]
    drawn = delays_of(law.model_copy(update={"order": "drawn"}), 1, "source", lookup([tmp_path])).of(np.arange(30_000), np.arange(30_000))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0, 2_250_000, 5_500_000]
    assert (abs(counts - 10_000) < 400).all()


WRONG_TRACES = {
    "unknown data set": ({"dataset": "trade"}, [1.0], "dataset", "dataset 'trade' is unknown"),
    "unknown column": ({"column": "s"}, [1.0], "column", "no column 's'"),
    "texts": ({}, ["a"], "column", "of type string; choose a column of numbers"),
    "negative": ({}, [1.0, -0.5], "column", "has -0.5 in row 2; delays must be from 0"),
    "endless": ({}, [1.0, 1e12], "column", "has 1000000000000.0 in row 2; delays must be from 0 to 1e+11 ms"),
}


@pytest.mark.parametrize("case", sorted(WRONG_TRACES))
def test_what_is_no_trace_of_delays_is_refused(tmp_path, case):
    changes, values, field, message = WRONG_TRACES[case]
    parquet.write_table(pa.table({"t": pa.array([0] * len(values), pa.timestamp("s")), "ms": values}), tmp_path / "trace.parquet")
    law = FileDelay(dataset="trace", column="ms").model_copy(update=changes)
    with pytest.raises(Refusal) as raised:
        delays_of(law, 1, "source", lookup([tmp_path]))
    assert message in str(raised.value)
    assert raised.value.at == (field,)


@pytest.mark.parametrize("disorder", [{"kind": "exponential", "mean_ms": 600_000.0}, {"kind": "zipf", "step_ms": 60_000.0}])
def test_every_law_delays_the_rows_of_a_file_on_its_own_clock(disorder):
    stream = {"kind": "file", "dataset": "flights", "timestamp": "time"}
    made = feed({"stream": stream, "rate": {"kind": "recorded", "speed": 1000.0}, "disorder": disorder}, horizon_s=1e4, data=DATA)
    chunk = made.chunk(0, 10**13)
    delays = chunk.append_ns * 1000 - chunk.event_ns
    assert delays.min() > -1000  # rounded down to a nanosecond of virtual time
    assert delays.max() > 5 * delays.mean() > 0


# Watermarks from the devices


@settings(max_examples=40, deadline=None)
@given(
    disorder=st.sampled_from([{"kind": "none"}, {"kind": "uniform", "max_ms": 120.0}, {"kind": "exponential", "mean_ms": 50.0}]),
    period_ms=st.sampled_from([7.0, 50.0, 499.0]),
    cuts=st.lists(st.integers(0, SECOND), max_size=8),
)
def test_watermarks_travel_like_records_and_may_overtake_them(disorder, period_ms, cuts):
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 2000.0},
        "disorder": disorder,
        "watermarks": {"kind": "device", "lag_ms": 100.0, "period_ms": period_ms},
    }
    made = feed(source, parallelism=3)
    chunks = [made.chunk(start, end) for start, end in pairwise([0, *sorted(cuts), SECOND])]
    rows = {name: np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("append_ns", "event_ns", "trigger", "partition")}
    marks = rows["trigger"] == LOG_WATERMARK
    assert (np.diff(rows["append_ns"]) >= 0).all()
    alone = feed({**source, "watermarks": {"kind": "none"}}, parallelism=3).chunk(0, SECOND)
    assert rows["trigger"][~marks].tolist() == alone.trigger.tolist()
    assert made.count == len(alone)
    delays = delays_of(TypeAdapter(AnyDelay).validate_python(disorder), 1, "source", {}.get, "disorder of watermarks")
    expected = []
    for number in range(3 * int(1000 / period_ms)):
        time_ns = (number // 3 + 1) * round(period_ms * MS)
        arrival_ns = time_ns + (0 if delays is None else int(delays.of(np.array([number]), np.array([time_ns]))[0]))
        if arrival_ns < SECOND:
            expected.append((arrival_ns, number, time_ns - 100 * MS, number % 3))
    found = zip(*(rows[name][marks].tolist() for name in ("append_ns", "event_ns", "partition")), strict=True)
    assert list(found) == [(arrival_ns, mark, partition) for arrival_ns, _, mark, partition in sorted(expected)]


def test_a_lag_as_long_as_the_longest_delay_makes_watermarks_right():
    source = {
        "stream": {"kind": "nexmark_bid"},
        "rate": {"kind": "constant", "per_s": 5000.0},
        "disorder": {"kind": "uniform", "max_ms": 300.0},
        "watermarks": {"kind": "device", "lag_ms": 300.0, "period_ms": 20.0},
    }
    chunk = feed(source, parallelism=1, horizon_s=5.0).chunk(0, 5 * SECOND)
    marks = chunk.trigger == LOG_WATERMARK
    promised = np.maximum.accumulate(np.where(marks, chunk.event_ns, -SECOND))
    assert (chunk.event_ns[~marks] >= promised[~marks]).all()
    assert (np.diff(chunk.event_ns[marks]) < 0).any(), "some overtake others"
