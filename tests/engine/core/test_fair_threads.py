"""A pool whose instances become threads in mid-run (docs/event-core.md, section 3.1), against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.background import add_background_work, background_ns
from engine.core.control.fair_threads import share_cores
from engine.core.world import World
from engine.lowering import processors
from engine.spec import Experiment
from engine.spec.experiment.cluster import ProcessorSharing
from tests.support.tiers import spread

from ...oracle import simulate
from ...support.agreement import DATASETS, assert_agreement, fingerprint, simulated, traced
from ...support.query_examples import counting
from ...support.strategies import documents, named_queries
from .test_scheduled_hosts import MS, Order, Orders, at, for_oracle, pools_of

KINDS = ("rank", "hold", "release")


def switching(document: dict[str, Any], at_ns: int, tax: float = 0.05, before: str = "none") -> dict[str, Any]:
    """The document on pools alone, whose instances become threads at that time."""
    for host in document["cluster"]["hosts"]:
        host |= {"processor": {"kind": "pool"}, "cores": max(1, int(host.get("cores", 1)))}
    for operator in document["query"]["operators"]:
        operator.get("cost", {}).pop("attainable", None)
    after = {"kind": "default", "tax": tax}
    document.setdefault("policies", {})["scheduling"] = {
        "kind": "switched",
        "before": {"kind": before},
        "at_s": at_ns / 1e9,
        "after": after,
    }
    return document


def shared_from(document: dict[str, Any], at_ns: int, tax: float = 0.05) -> list[tuple[int, Any]]:
    """The switch as calls on the oracle's model."""
    threads = ProcessorSharing(tax=tax)
    return [(at_ns, lambda model, h=h: model.share_cores(h, threads)) for h in pools_of(document)]


@st.composite
def switched(draw: st.DrawFn) -> tuple[dict[str, Any], int, float, list[Order]]:
    """A random experiment, when its instances become threads, the tax, and what a scheduler orders besides."""
    document = draw(st.one_of(documents((60, 150)), named_queries()))
    horizon_ns = round(document["workload"]["horizon_s"] * 1e9)
    times = st.integers(1, horizon_ns - 2)
    at_ns, tax = draw(times), draw(st.sampled_from((0, 0.05, 0.5)))
    orders = draw(st.lists(st.tuples(times, st.sampled_from(KINDS), st.integers(0, 40), st.sampled_from((0, 1, 2, L.FAR))), max_size=9))
    return switching(document, at_ns, tax), at_ns, tax, [*orders, (horizon_ns - 1, "all", 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("scanned", [0, 8], ids=["heaps", "mixed"])
@given(drawn=switched())
def test_a_run_that_switches_to_threads_is_that_of_the_oracle(scanned: int, drawn: tuple[dict[str, Any], int, float, list[Order]]) -> None:
    document, at_ns, tax, orders = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processors, "SCANNED_MAX", scanned)
        simulation = traced(document, controls=[Orders(orders, [])])
    of_oracle = for_oracle(orders, []) + shared_from(document, at_ns, tax)
    assert_agreement(document, simulation, simulate(Experiment.model_validate(document), DATASETS, orders=of_oracle))


SWITCH_NS = 1_503 * MS


@pytest.mark.parametrize(
    "faults",
    spread(
        [
            [],
            [at("pause", 1.5, for_ms=300)],
            [at("pause", 1.6, for_ms=300)],
            [at("host_loss", 1.5, restart_after_s=0.3)],
            [at("host_loss", 1.6, restart_after_s=0.3)],
            [at("slow_host", 1.4, for_ms=400, factor=0.5)],
        ],
        ci=3,
        first=1,
    ),
    ids=["no fault", "switch in a pause", "pause after", "switch while down", "loss after", "slow host"],
)
def test_the_switch_agrees_under_faults(faults: list[dict[str, Any]]) -> None:
    document = switching(counting(copies=3, per_s=1500), SWITCH_NS)
    document["faults"] = faults
    orders = shared_from(document, SWITCH_NS)
    simulation = traced(document)
    assert_agreement(document, simulation, simulate(Experiment.model_validate(document), DATASETS, orders=orders))
    assert simulation._world.arrays.host[0, L.H_SHARING] == 1


def test_more_operators_than_cores_are_in_service_after_the_switch_only() -> None:
    document = switching(counting(copies=3, per_s=1500), SWITCH_NS)
    rows = traced(document).service_trace()

    def in_service(t_ns: int) -> int:
        return int(np.count_nonzero((rows[:, 1] <= t_ns) & (t_ns < rows[:, 2])))

    assert max(in_service(t_ns) for t_ns in range(0, SWITCH_NS, MS)) == 2
    assert max(in_service(t_ns) for t_ns in range(SWITCH_NS, 3_000 * MS, MS)) > 2


def test_a_switched_run_is_the_same_however_it_is_cut_saved_or_forked() -> None:
    document = switching(counting(copies=3, per_s=1500), SWITCH_NS, before="klink")
    whole = traced(document)
    cut = simulated(document)
    for at_ns in range(130 * MS, 4000 * MS, 130 * MS):
        cut.run_until(at_ns)
    saved = simulated(document)
    saved.restore(cut.fork().snapshot())
    early = simulated(document)
    early.run_until(SWITCH_NS - MS)
    resumed = simulated(document)
    resumed.restore(early.snapshot())
    for simulation in (cut, saved, resumed):
        simulation.run_until(simulation.end_ns)
        assert simulation.digest() == whole.digest()
    assert fingerprint(cut) == fingerprint(whole)


def test_before_the_switch_the_run_is_that_without_it() -> None:
    ranked = counting(copies=3, per_s=1500)
    ranked["policies"] = {"scheduling": {"kind": "klink"}}
    without = traced(ranked).service_trace()
    with_switch = traced(switching(counting(copies=3, per_s=1500), SWITCH_NS, before="klink")).service_trace()
    before = [rows[rows[:, 2] < SWITCH_NS] for rows in (without, with_switch)]
    assert len(before[0]) > 1000
    assert np.array_equal(*before)


class Busy:
    """Gives the host so much work of its own just before the switch."""

    features = ("background",)

    def __init__(self, work_ms: int):
        self.next_ns, self._work_ms = SWITCH_NS - MS, work_ms

    def act(self, world: World, now_ns: int) -> None:
        add_background_work(world, 0, self._work_ms * 10**9, now_ns)
        self.next_ns = L.FAR

    def state(self) -> Any:
        return self.next_ns

    def restore(self, state: Any) -> None:
        self.next_ns = state


def test_work_of_the_last_cycle_is_done_before_the_switch() -> None:
    document = switching(counting(copies=3, per_s=1500), SWITCH_NS)
    simulation = simulated(document, controls=[Busy(50)])
    simulation.run_until(SWITCH_NS + 40 * MS)
    assert simulation._world.arrays.host[0, L.H_SHARING] == 0
    simulation.run_until(SWITCH_NS + 60 * MS)
    assert simulation._world.arrays.host[0, L.H_SHARING] == 1
    simulation.run_until(simulation.end_ns)
    assert background_ns(simulation._world.arrays, simulation.now_ns)[0] == 50 * MS


def test_cores_of_a_host_at_work_of_its_own_cannot_be_shared() -> None:
    simulation = simulated(switching(counting(copies=3, per_s=1500), SWITCH_NS), controls=[Busy(50)])
    simulation.run_until(SWITCH_NS + MS)
    with pytest.raises(ValueError, match="share its cores when that is done"):
        share_cores(simulation._world, 0, SWITCH_NS + MS)
