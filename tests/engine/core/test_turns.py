"""Shared processors that take their turns from heaps find the same run as those that look at every instance, and as the oracle.

Small experiments would never need the heaps, so here all shared processors have them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.control.ranks import HELD, rank
from engine.lowering import processors
from tests.support.corner_cases import CORNER_CASES, bids, document, dozens_on_shared_cores, host
from tests.support.network_cases import NETWORK_CASES
from tests.support.strategies import documents
from tests.support.tiers import spread

from ...support.agreement import TINY, assert_agreement, fingerprint, simulated, traced


@contextmanager
def at_most_scanned(instances: int) -> Iterator[None]:
    before, processors.SCANNED_MAX = processors.SCANNED_MAX, instances
    try:
        yield
    finally:
        processors.SCANNED_MAX = before


def with_shared_processors(experiment: dict[str, Any], kind: str, cores: int) -> dict[str, Any]:
    for machine in experiment["cluster"]["hosts"]:
        if machine["processor"]["kind"] in ("dedicated", "processor_sharing"):
            machine |= {"processor": {"kind": kind}, "cores": cores}
    return experiment


KINDS = st.sampled_from(("pool", "shared_fifo"))


@pytest.mark.slow
@given(experiment=documents(), kind=KINDS, cores=st.integers(1, 3), tiny=st.booleans())
def test_random_experiments_agree(experiment: dict[str, Any], kind: str, cores: int, tiny: bool) -> None:
    with_shared_processors(experiment, kind, cores)
    with at_most_scanned(0):
        simulation = traced(experiment, **({"capacity": TINY} if tiny else {}))
    w = simulation._world.arrays
    assert (w.host[w.inst[:, L.I_HOST], L.H_DISPATCH] == L.DISPATCH_TURN_HEAP).all()
    assert_agreement(experiment, simulation)


@pytest.mark.slow
@pytest.mark.parametrize("case", spread(CORNER_CASES + NETWORK_CASES, ci=17, first=2), ids=lambda case: case.__name__)
def test_corner_cases_agree(case: Callable[[], dict[str, Any]]) -> None:
    with at_most_scanned(0):
        assert_agreement(with_shared_processors(case(), "pool", 2), traced(with_shared_processors(case(), "pool", 2), capacity=TINY))


class AtRandom:
    """Ranks some instances anew, or holds them back, at random times; drawn from what it was given, not from the run."""

    def __init__(self, seed: int, every_ns: int):
        self.draws, self.every_ns, self.next_ns = random.Random(seed), every_ns, 0

    def act(self, world: Any, now_ns: int) -> None:
        ranks = {}
        for i in range(len(world.arrays.inst)):
            drawn = self.draws.randrange(6)
            if drawn < 4:
                ranks[i] = HELD if drawn == 0 else drawn
        rank(world, ranks, now_ns)
        self.next_ns = now_ns + self.draws.randrange(1, 2 * self.every_ns)

    def state(self) -> Any:
        kind, words, gauss = self.draws.getstate()
        return [self.next_ns, [kind, list(words), gauss]]

    def restore(self, state: Any) -> None:
        self.next_ns, (kind, words, gauss) = state
        self.draws.setstate((kind, tuple(words), gauss))


@pytest.mark.slow
@given(experiment=documents(records=(300, 100)), kind=KINDS, cores=st.integers(1, 3), seed=st.integers(0, 9))
def test_ranks_and_holding_back_do_the_same_with_heaps(experiment: dict[str, Any], kind: str, cores: int, seed: int) -> None:
    with_shared_processors(experiment, kind, cores)
    horizon_ns = round(experiment["workload"]["horizon_s"] * 1e9)
    experiment["workload"]["drain_limit_s"] = experiment["workload"]["horizon_s"]  # what is held back for ever never drains
    traces = []
    for scanned in (0, 10**9):
        with at_most_scanned(scanned):
            simulation = traced(experiment, controls=[AtRandom(seed, max(1, horizon_ns // 20))])
        traces.append((simulation.service_trace(with_trigger=True).tolist(), simulation.summary()["backlog"], simulation.drained))
    assert traces[0] == traces[1]


@pytest.mark.slow
@given(experiment=documents(records=(100, 30)), cuts=st.lists(st.floats(0, 1), max_size=3))
def test_cut_saved_and_resumed_it_is_the_same_run(experiment: dict[str, Any], cuts: list[float]) -> None:
    with_shared_processors(experiment, "pool", 2)
    with at_most_scanned(0):
        controls = [AtRandom(1, 300_000)]
        whole = traced(experiment, controls=controls)
        cut = simulated(experiment, controls=[AtRandom(1, 300_000)], capacity=TINY)
        for share in sorted(cuts):
            cut.run_until(int(share * whole.end_ns))
            state = cut.snapshot()
            cut = simulated(experiment, controls=[AtRandom(1, 300_000)])
            cut.restore(state)
        cut.run_until(cut.end_ns)
        assert fingerprint(cut)["digest"] == fingerprint(whole)["digest"]


@pytest.mark.slow
@pytest.mark.parametrize("flow_control", [{"kind": "unbounded"}, {"kind": "credits", "per_channel": 2}], ids=lambda flow: flow["kind"])
@pytest.mark.parametrize("processor", ["pool", "shared_fifo"])
def test_dozens_of_instances_agree(processor: str, flow_control: dict[str, Any]) -> None:
    """Nothing is forced here."""
    experiment = dozens_on_shared_cores()
    experiment["cluster"]["hosts"][0]["processor"] = {"kind": processor}
    experiment["policies"]["flow_control"] = flow_control
    assert len(assert_agreement(experiment).services) > 1000


def test_what_a_log_drops_leaves_the_heap() -> None:
    """Sources that wait for a core lose the record with which they wait, and then come later, or not at all."""
    operators = [
        {"id": "source", "kind": "source", "parallelism": 5, "cost": {"record_us": 700.0}},
        {"id": "sink", "kind": "sink", "parallelism": 5, "cost": {"record_us": 100.0}},
    ]
    source = bids(5_000, retention={"kind": "time", "keep_s": 0.003, "check_s": 0.0013})
    experiment = document(operators, [{"source": "source", "target": "sink"}], [host("a")], {"source": source}, horizon_s=0.05)
    with_shared_processors(experiment, "pool", 2)
    found = []
    for scanned in (0, 10**9):
        with at_most_scanned(scanned):
            simulation: engine.Simulation = traced(experiment)
        found.append((simulation.service_trace(with_trigger=True).tolist(), simulation.summary()["dropped"]))
    assert found[0] == found[1]
    assert found[0][1] > 50
