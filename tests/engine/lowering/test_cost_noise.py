"""Costs that vary: warm-up, drift and state by hand, and what runs make of them. The laws of noise: `test_noises.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.core.layout import I_STATE_BYTES
from engine.lowering import cost_noise
from engine.spec import Experiment
from engine.spec.base.problems import InvalidExperiment
from engine.spec.experiment.drifts.ar1 import AutoregressiveDrift
from engine.spec.rules.validation import load
from tests.oracle.noise import drift_factors

from ...support.agreement import assert_agreement, traced
from ...support.varied_costs import document, services_ns


def test_the_first_services_cost_more() -> None:
    """Five times as much, then a quarter of the difference less each time."""
    made = document({"record_us": 10.0, "warmup": {"factor": 5, "records": 4}})
    assert services_ns(made)[:6].tolist() == [50_000, 40_000, 30_000, 20_000, 10_000, 10_000]


def test_services_cost_more_for_a_time() -> None:
    """Three times as much at 0, and 1/1000 of the difference less with each millisecond: 1.0 ms then, a hundredth of a second apart."""
    made = document({"record_us": 1000.0, "warmup": {"kind": "time", "factor": 3, "over_s": 1.0}})
    simulation = traced(made)
    assert_agreement(made, simulation)
    rows = simulation.service_trace()
    rows = rows[rows[:, 0] == 0]
    for start, end in rows[rows[:, 3] == 0][:, 1:3].tolist():
        assert end - start == pytest.approx(1e6 * (1 + 2 * max(0, 1 - start / 1e9)), abs=1e6 / (1 << 16) + 1)


def test_a_warm_up_without_a_kind_goes_by_records() -> None:
    made = [document({"record_us": 10.0, "warmup": warmup}) for warmup in ({"records": 7}, {"kind": "records", "records": 7})]
    assert Experiment.model_validate(made[0]) == Experiment.model_validate(made[1])
    made = [document({"record_us": 10.0} | more) for more in ({}, {"warmup": None}, {"warmup": {"kind": "none"}})]
    assert Experiment.model_validate(made[0]) == Experiment.model_validate(made[1]) == Experiment.model_validate(made[2])


def test_every_instance_warms_up_by_itself_and_draws_its_own_factors() -> None:
    made = document({"record_us": 10.0, "noise": {"kind": "exponential"}, "warmup": {"factor": 5, "records": 4}}, parallelism=2)
    simulation = traced(made)
    assert_agreement(made, simulation)
    rows = simulation.service_trace()
    first, second = ((rows[:, 2] - rows[:, 1])[rows[:, 0] == instance] for instance in (0, 1))
    n = min(len(first), len(second))
    assert (first[:n] == second[:n]).mean() < 0.05


def test_noise_depends_on_the_seed_alone() -> None:
    made = document({"record_us": 10.0, "noise": {"kind": "lognormal", "cv": 0.5}})
    first = services_ns(made)
    made["workload"]["sources"]["server"]["rate"] = {"kind": "constant", "per_s": 500}
    assert services_ns(made).tolist() == first[:500].tolist()
    made["workload"]["seed"] = 2
    assert services_ns(made).tolist() != first[:500].tolist()


def test_no_noise_draws_nothing() -> None:
    assert len(set(services_ns(document({"record_us": 10.0, "noise": {"kind": "none"}})).tolist())) == 1


DRIFT = {"kind": "ar1", "sigma": 0.06, "time_constant_s": 30.0, "step_s": 1.0}
"""Siachamis 2024, as the reproduction of its autoscalers calibrates it: e^z, z an AR(1) series, one for each operator."""


@pytest.mark.parametrize(("sigma", "time_constant_s", "step_s"), [(0.06, 30.0, 1.0), (0.25, 0.5, 0.1), (0.1, 2.0, 7.0)])
def test_drift_keeps_its_spread_and_forgets_at_its_rate(sigma: float, time_constant_s: float, step_s: float) -> None:
    law = AutoregressiveDrift(sigma=sigma, time_constant_s=time_constant_s, step_s=step_s)
    logarithms = np.log(np.array(cost_noise.drift_factors(law, 1, "server", 199_999 * law.step_ns)) / cost_noise.FACTOR_UNIT)
    effective = len(logarithms) * step_s / (2 * time_constant_s)  # independent values, roughly
    assert len(logarithms) == 200_000
    assert logarithms.mean() == pytest.approx(0, abs=5 * sigma / math.sqrt(effective))
    assert logarithms.std() == pytest.approx(sigma, rel=5 / math.sqrt(effective))
    for steps in (1, 3, max(1, round(time_constant_s / step_s))):
        correlation = np.corrcoef(logarithms[:-steps], logarithms[steps:])[0, 1]
        assert correlation == pytest.approx(math.exp(-steps * step_s / time_constant_s), abs=5 / math.sqrt(effective))


@pytest.mark.parametrize("seed", range(3))
def test_drift_is_that_of_the_definition(seed: int) -> None:
    """The same words from the functions of libm, one step after the other."""
    law = AutoregressiveDrift.model_validate(DRIFT)
    assert cost_noise.drift_factors(law, seed, "server", 4095 * law.step_ns) == drift_factors((seed, "server", "drift"), law, 4096)


def test_drift_is_shared_by_instances_and_holds_for_a_step() -> None:
    made = document({"record_us": 100.0, "drift": DRIFT | {"sigma": 0.25, "time_constant_s": 0.3, "step_s": 0.01}}, parallelism=2)
    simulation = traced(made)
    assert_agreement(made, simulation)
    rows = simulation.service_trace()
    rows = rows[(rows[:, 0] < 2) & (rows[:, 3] == 0)]
    factors = cost_noise.drift_factors(simulation.experiment.operator("server").cost.drift, 1, "server", simulation.end_ns)
    expected = [-(-(100_000_000 * factors[start // 10_000_000] >> 16) // 1000) for start in rows[:, 1].tolist()]
    assert (rows[:, 2] - rows[:, 1]).tolist() == expected
    assert len(set(expected)) > 90


def test_drift_warmup_and_noise_together_agree_at_another_scale() -> None:
    cost = {"record_us": 100.0, "control_us": 33.3, "drift": DRIFT | {"step_s": 0.01}, "warmup": {"factor": 3, "records": 50}}
    made = document(cost | {"noise": {"kind": "lognormal", "cv": 0.1}}, parallelism=2)
    made["workload"]["sources"]["server"]["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 7}
    assert_agreement(made)
    made = document(cost)
    made["workload"]["scale"] = 10
    assert traced(made).summary()["records_in"] == 1000


def growing(cost: dict[str, Any]) -> dict[str, Any]:
    """A source, and counts whose every record is a group of its own: 32 bytes of state more with each."""
    made = document({}, records=1000)
    counts = {"id": "counts", "kind": "aggregate", "params": {"key": "time"}, "cost": {"record_us": 10.0, "output_us": 0.0} | cost}
    made["query"]["operators"].insert(1, counts)
    made["query"]["edges"] = [{"source": "server", "target": "counts"}, {"source": "counts", "target": "sink"}]
    made["cluster"]["hosts"][0]["cores"] = 3
    made["workload"]["sources"]["server"]["stream"]["kind"] = "nexmark_bid"
    return made


def test_services_cost_more_with_the_state_of_their_instance() -> None:
    """Twice as much at the reference, three times as much at twice that."""
    made = growing({"state_reference_mb": 0.016})
    simulation = traced(made)
    assert_agreement(made, simulation)
    served = services_ns(made, instance=1)
    held = 32 * np.arange(1, len(served) + 1)
    assert held[-1] == 32_000 == simulation._world.arrays.inst[1, I_STATE_BYTES]
    expected = [-(-(10_000_000 + (10_000_000 * (bytes * 65536 // 16_000) >> 16)) // 1000) for bytes in held.tolist()]
    assert served.tolist() == expected
    assert (expected[499], expected[999]) == (20_000, 30_000)


def test_state_costs_a_hundred_times_as_much_at_most() -> None:
    served = services_ns(growing({"record_us": 0.1, "state_reference_mb": 0.001, "noise": {"kind": "none"}}), instance=1)
    assert served[-1] == 100 + 3200
    made = growing({"record_us": 0.1, "state_reference_mb": 0.001})
    made["query"]["operators"][1]["params"]["aggregates"] = [{"name": f"n{n}"} for n in range(16)]  # 24 + 8 x 16 bytes for each
    assert services_ns(made, instance=1)[-1] == 100 * 100


@pytest.mark.parametrize(
    ("cost", "place", "says"),
    [
        ({"record_us": 2e6, "noise": {"kind": "exponential"}}, "/record_us", "at most 1e+06"),
        ({"output_us": 2e6, "warmup": {}}, "/output_us", "at most 1e+06"),
        ({"noise": {"kind": "uniform", "cv": 0.6}}, "/noise", "0.577"),
        ({"noise": {"kind": "normal"}}, "/noise", "exponential"),
        ({"warmup": {"factor": 0.5}}, "/warmup/factor", "1"),
        ({"output_us": 2e6, "warmup": {"kind": "time"}}, "/output_us", "at most 1e+06"),
        ({"warmup": {"kind": "time", "over_s": 0}}, "/warmup/over_s", "1e-09"),
        ({"warmup": {"kind": "time", "over_s": 2000}}, "/warmup/over_s", "1,000"),
        ({"warmup": {"kind": "time", "records": 7}}, "/warmup/records", "records"),
        ({"warmup": {"kind": "jit"}}, "/warmup", "time"),
        ({"record_us": 2e6, "drift": DRIFT}, "/record_us", "at most 1e+06"),
        ({"drift": DRIFT | {"sigma": 0.3}}, "/drift/sigma", "0.25"),
        ({"drift": DRIFT | {"time_constant_s": 0}}, "/drift/time_constant_s", "0.001"),
        ({"drift": {"kind": "ar2"}}, "/drift", "ar1"),
        ({"cpu": {"base": 1.5}}, "/cpu/base", "1"),
        ({"cpu": {"per_million": -1}}, "/cpu/per_million", "0"),
        ({"cpu": {"load": 1}}, "/cpu/load", "load"),
        ({"state_reference_mb": 0}, "/state_reference_mb", "0.001"),
        ({"control_us": 2e4, "state_reference_mb": 1}, "/control_us", "at most 10000"),
    ],
)
def test_refusals_name_the_field(cost: dict[str, Any], place: str, says: str) -> None:
    with pytest.raises(InvalidExperiment) as refused:
        load(document(cost))
    [problem] = refused.value.problems
    assert problem.pointer.startswith(f"/query/operators/0/cost{place}")
    assert says in problem.message


def test_what_the_load_is_made_of_changes_no_run() -> None:
    made = [document({"record_us": 10.0} | more) for more in ({}, {"cpu": {"base": 0.05, "busy": 0.9, "per_million": 0.4}})]
    plain, told = (traced(document) for document in made)
    assert plain.service_trace().tolist() == told.service_trace().tolist()
    assert plain.summary() | {"wall_s": 0} == told.summary() | {"wall_s": 0}
    assert Experiment.model_validate(made[1]).query.operators[0].cost.cpu.per_million == 0.4
