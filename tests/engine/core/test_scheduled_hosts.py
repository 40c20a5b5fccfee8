"""What a scheduler does to a host, against the oracle: ranks, holds, background work; and what it learns of sources, epoch by epoch."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.background import add_background_work, background_ns
from engine.core.control.links import send_beside
from engine.core.control.ranks import look_again, set_held, set_ranks, watch
from engine.core.world import World
from engine.lowering import processors
from engine.spec import Experiment

from ...oracle import simulate
from ...support.agreement import DATASETS, assert_agreement, epochs_of, fingerprint, simulated, traced
from ...support.query_examples import counting
from ...support.strategies import documents, named_queries

MS = 1_000_000
Order = tuple[int, str, int, int]
"""Time, what, which instance or host, and a rank or work in ps."""


class Orders:
    """Carries out orders at their times, as a scheduler would."""

    features = ("background", "epochs", "watching")

    def __init__(self, orders: list[Order], pools: list[int], epochs_kept: int = 3):
        self.left, self.pools, self.epochs_kept = sorted(orders), pools, epochs_kept
        self.chosen: Counter[int] = Counter()  # how often a host has chosen anew because a watched watermark had risen

    @property
    def next_ns(self) -> int:
        return self.left[0][0] if self.left else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        while self.left and self.left[0][0] == now_ns:
            _, what, which, value = self.left.pop(0)
            count = len(world.arrays.inst)
            if what == "rank":
                set_ranks(world, np.array([which % count]), np.array([value]), now_ns)
            elif what == "hold":
                set_held(world.arrays, [which % count], True)
                world.arrays.host[world.arrays.inst[which % count, L.I_HOST], L.H_RANKED] = 1
            elif what == "watch":
                watch(world, int(world.arrays.inst[which % count, L.I_HOST]), np.array([which % count]))
            elif what == "release":
                set_held(world.arrays, [which % count], False)
                look_again(world, [which % count], now_ns)
            elif what == "all":
                set_held(world.arrays, np.arange(count), False)
                set_ranks(world, np.arange(count), np.zeros(count, np.int64), now_ns)
            elif what == "tell":
                hosts = _machines(world)
                sender, receiver = hosts[which % len(hosts)], hosts[(which + 1) % len(hosts)]
                if sender != receiver and world.arrays.host[sender, L.H_BACK] == 0:
                    send_beside(world, sender, receiver, value, now_ns)
            elif self.pools:
                add_background_work(world, self.pools[which % len(self.pools)], value, now_ns)

    def choose(self, world: World, host: int, now_ns: int) -> None:
        """A rule that depends on how often it was asked."""
        self.chosen[host] += 1
        here = np.flatnonzero(world.arrays.inst[:, L.I_HOST] == host)
        set_ranks(world, here, ranks_of(here, self.chosen[host]), now_ns)
        if host in self.pools:
            add_background_work(world, host, CHOICE_PS, now_ns)

    def state(self) -> Any:
        return {"left": [list(order) for order in self.left], "chosen": sorted(self.chosen.items())}

    def restore(self, state: Any) -> None:
        self.left, self.chosen = [tuple(order) for order in state["left"]], Counter(dict(state["chosen"]))


CHOICE_PS = 300 * 10**6


def ranks_of(instances: Any, chosen: int) -> Any:
    return (3 * instances + chosen) % 4


class Choosing:
    """The same rule for the oracle."""

    def __init__(self, pools: list[int]):
        self.pools, self.chosen = pools, Counter[int]()

    def __call__(self, model: Any, host: int) -> None:
        self.chosen[host] += 1
        here = np.array([instance.number for instance in model.network.instances if instance.host.number == host])
        model.rank(dict(zip(here.tolist(), ranks_of(here, self.chosen[host]).tolist(), strict=True)))
        if host in self.pools:
            model.add_background_work(host, CHOICE_PS)


def _machines(world: World) -> list[int]:
    """Hosts that run something."""
    return sorted(set(world.arrays.inst[:, L.I_HOST].tolist()))


def for_oracle(orders: list[Order], pools: list[int]) -> list[tuple[int, Any]]:
    """The same orders as calls on the oracle's model."""

    def carried_out(model: Any, what: str, which: int, value: int) -> None:
        count = len(model.network.instances)
        if what == "rank":
            model.rank({which % count: value})
        elif what == "watch":
            model.watch(which % count)
        elif what in ("hold", "release"):
            model.hold(which % count, what == "hold")
        elif what == "all":
            for i in range(count):
                model.hold(i, False)
            model.rank(dict.fromkeys(range(count), 0))
        elif what == "tell":
            hosts = sorted({instance.host.number for instance in model.network.instances})
            sender, receiver = hosts[which % len(hosts)], hosts[(which + 1) % len(hosts)]
            if sender != receiver and not model.network.hosts[sender].down:
                model.tell(sender, receiver, value)
        elif pools:
            model.add_background_work(pools[which % len(pools)], value)

    return [(at_ns, lambda model, order=order: carried_out(model, *order)) for at_ns, *order in sorted(orders)]


def pools_of(document: dict[str, Any]) -> list[int]:
    hosts = Experiment.model_validate(document).expanded_hosts()
    return [h for h, host in enumerate(hosts) if host.processor.kind == "pool"]


@st.composite
def scheduled(draw: st.DrawFn) -> tuple[dict[str, Any], list[Order]]:
    """A random experiment, most hosts of which have pools, and what a scheduler orders; at the end everything may run."""
    document = draw(st.one_of(documents((60, 150)), named_queries()))
    for host in document["cluster"]["hosts"]:
        if host["processor"]["kind"] != "processor_sharing" and draw(st.integers(0, 3)):
            host |= {"processor": {"kind": "pool"}, "cores": draw(st.integers(1, 4))}
    horizon_ns = round(document["workload"]["horizon_s"] * 1e9)
    times = st.integers(1, horizon_ns - 1)
    kinds = st.one_of(
        st.tuples(times, st.just("rank"), st.integers(0, 40), st.sampled_from((-1, 0, 1, 2, 3, L.FAR))),
        st.tuples(times, st.just("background"), st.integers(0, 3), st.sampled_from((1, 999_999, 50_000_000, horizon_ns * 100))),
        st.tuples(times, st.sampled_from(("hold", "release")), st.integers(0, 40), st.just(0)),
        st.tuples(times, st.just("watch"), st.integers(0, 40), st.just(0)),
        st.tuples(times, st.just("tell"), st.integers(0, 3), st.sampled_from((1, 3_000, 1_000_000))),
    )
    return document, [*draw(st.lists(kinds, min_size=3, max_size=25)), (horizon_ns - 1, "all", 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("scanned", [0, 8], ids=["heaps", "mixed"])
@given(drawn=scheduled())
def test_a_scheduled_run_is_that_of_the_oracle(scanned: int, drawn: tuple[dict[str, Any], list[Order]]) -> None:
    document, orders = drawn
    pools = pools_of(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processors, "SCANNED_MAX", scanned)
        simulation = traced(document, controls=[Orders(orders, pools)])
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=for_oracle(orders, pools), chooser=Choosing(pools))
    assert_agreement(document, simulation, expected)


ORDERS: list[Order] = (
    [(100 * MS + 37 * MS * n, "background", 0, 20_000 * 10**6) for n in range(40)]
    + [(150 * MS + 61 * MS * n, "rank", n % 9, n % 4) for n in range(30)]
    + [(140 * MS, "watch", 5, 0), (1_700 * MS, "watch", 8, 0)]
)


def test_a_scheduled_run_is_the_same_however_it_is_cut_saved_or_forked() -> None:
    document = counting(copies=3)
    document["measurement"] = {"also": [{"name": "swept", "from": "ingest", "to": "watermark"}]}
    whole = traced(document, controls=[Orders(ORDERS, [0])])
    cut = simulated(document, controls=[Orders(ORDERS, [0])])
    for at_ns in range(130 * MS, 4000 * MS, 130 * MS):
        cut.run_until(at_ns)
    saved = simulated(document, controls=[Orders(ORDERS, [0])])
    saved.restore(cut.fork().snapshot())
    for simulation in (cut, saved):
        simulation.run_until(simulation.end_ns)
        assert simulation.digest() == whole.digest()
    assert fingerprint(cut) == fingerprint(whole)
    assert epochs_of(cut) == epochs_of(whole)


def test_a_host_chooses_anew_when_a_watched_watermark_has_risen() -> None:
    """Those of the first query's sink, every 200 ms until it is the second's turn; one that overtakes none rises nothing."""
    document = counting(copies=2, horizon_s=4)
    orders: list[Order] = [(100 * MS, "watch", 4, 0), (2_100 * MS, "watch", 5, 0)]
    simulation = traced(document, controls=[Orders(orders, [0])])
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=for_oracle(orders, [0]), chooser=Choosing([0]))
    assert_agreement(document, simulation, expected)
    (control,) = [control for control in simulation._controls if isinstance(control, Orders)]
    rises = {i: int(simulation._world.arrays.inst[i, L.I_WATERMARK]) for i in (4, 5)}
    assert min(rises.values()) > 0
    assert 18 <= control.chosen[0] <= 22


def test_background_work_takes_one_core_before_all_ranks() -> None:
    """A core of two is taken for 200 ms, in which the queries need 1.92 cores."""
    busy = traced(counting(horizon_s=1, per_s=2400, cores=2, copies=2), controls=[Orders([(400 * MS, "background", 0, 200 * 10**9)], [0])])
    free = traced(counting(horizon_s=1, per_s=2400, cores=2, copies=2))

    def served_ns(simulation: Any) -> int:
        rows = [row for row in simulation.service_trace().tolist() if 401 * MS < row[1] < 599 * MS]
        return sum(end_ns - start_ns for _, start_ns, end_ns, _ in rows)

    assert served_ns(busy) / served_ns(free) == pytest.approx(1 / 1.92, rel=0.02)
    assert background_ns(busy._world.arrays, 450 * MS)[0] == 200 * MS  # long over
    for sink in busy.sinks:
        assert sorted(map(repr, busy.outputs(sink).select(["auction", "n"]).to_pylist())) == sorted(
            map(repr, free.outputs(sink).select(["auction", "n"]).to_pylist())
        )


def test_background_work_is_refused_where_every_instance_has_a_processor() -> None:
    document = counting()
    document["cluster"]["hosts"][0] |= {"processor": {"kind": "dedicated"}, "cores": 8}
    with pytest.raises(ValueError, match="background work needs a pool"):
        traced(document, controls=[Orders(ORDERS, [0])])


# -- epochs --------------------------------------------------------------------------------------------------------------------------


def on_the_way(delays: dict[str, Any], marks: dict[str, Any], horizon_s: float = 30) -> dict[str, Any]:
    document = counting(horizon_s=horizon_s, per_s=100)
    document["workload"]["sources"]["bids"] |= {"disorder": delays, "watermarks": marks}
    return document


def test_the_watermark_that_arrives_first_beyond_a_window_sweeps_it() -> None:
    """Farhat 2020, Figure 2.2: a watermark that overtakes another one sweeps in its place, and the other is none."""
    delays = {"kind": "uniform", "min_ms": 0, "max_ms": 900}
    document = on_the_way(delays, {"kind": "device", "lag_ms": 900, "period_ms": 100})
    simulation = traced(document, controls=[Orders([], [0], epochs_kept=400)])
    (rows,) = epochs_of(simulation).values()
    marks = [row[3] for row in rows]
    assert marks == sorted(marks)
    assert all(before // 10**9 < after // 10**9 for before, after in pairwise(marks))
    assert any(mark % 10**9 for mark in marks)  # some that were sent first came later
    assert sum(row[0] for row in rows) > 2900  # records, and watermarks that swept nothing, all count as delays


def test_squares_of_delays_do_not_overflow() -> None:
    """20 minutes of delay are 1.2e9 us, and their squares 1.4e18: seven of them overflow a word."""
    document = on_the_way({"kind": "constant", "delay_ms": 1_200_000}, {"kind": "device", "lag_ms": 0, "period_ms": 1000}, 1300)
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = 10
    simulation = traced(document, controls=[Orders([], [0], epochs_kept=400)])
    (rows,) = epochs_of(simulation).values()
    assert len(rows) > 50
    assert max(squares for _, _, squares, *_ in rows) > 2 * L.SQUARES
    assert_agreement(document, simulation)


def test_a_watermark_of_a_device_is_made_when_its_time_and_lag_say() -> None:
    """On its way to the log it takes as long as its records: that is the difference of its latencies from event time and from the log."""
    document = counting(per_s=400)
    also = [{"name": clock, "from": clock, "to": "watermark"} for clock in ("event", "append")]
    document["measurement"] = {"also": also}
    document["workload"]["sources"]["bids"] |= {
        "watermarks": {"kind": "device", "period_ms": 200, "lag_ms": 40},
        "disorder": {"kind": "constant", "delay_ms": 15},
    }
    simulation = traced(document)
    waits = simulation.summary()["latencies_ms"]
    assert waits["event"]["count"] == waits["append"]["count"] >= 3
    assert waits["event"]["mean"] - waits["append"]["mean"] == pytest.approx(15, abs=1e-3)
    assert_agreement(document, simulation)


# -- faults --------------------------------------------------------------------------------------------------------------------------


def assert_agreement_with(faults: list[dict[str, Any]], orders: list[Order], **sink_cost: float) -> Any:
    document = counting(copies=2, per_s=400)
    document["measurement"] = {"also": [{"name": "swept", "from": "ingest", "to": "watermark"}]}
    document["query"]["operators"][2]["cost"] = sink_cost
    document["faults"] = faults
    simulation = traced(document, controls=[Orders(orders, [0])])
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=for_oracle(orders, [0]))
    assert_agreement(document, simulation, expected)
    return simulation


def at(kind: str, at_s: float, **fault: float) -> dict[str, Any]:
    return {"kind": kind, "host": "w", "when": {"kind": "at", "at_s": at_s}, **fault}


WORK: list[Order] = [(1_400 * MS, "background", 0, 200 * 10**9), (1_410 * MS, "background", 0, 100 * 10**9)]


def test_a_pause_delays_background_work() -> None:
    simulation = assert_agreement_with([at("pause", 1.5, for_ms=300)], WORK)
    w = simulation._world.arrays
    assert background_ns(w, simulation.now_ns)[0] == 300 * MS


def test_a_lost_host_loses_background_work_and_epochs() -> None:
    """100 of the first 200 ms are done, and nothing of what waits behind them."""
    simulation = assert_agreement_with([at("host_loss", 1.5, restart_after_s=0.3)], WORK)
    w = simulation._world.arrays
    assert 99 * MS < background_ns(w, simulation.now_ns)[0] <= 100 * MS  # it began when a core was idle
    made = [row[4] for rows in epochs_of(simulation).values() for row in rows]
    assert made
    assert min(made) > 1_500 * MS


def test_a_lost_watermark_at_a_sink_is_no_lost_record() -> None:
    """Each takes 300 ms at the sink, and the host is lost while it serves the first that closes a window."""
    simulation = assert_agreement_with([at("host_loss", 2.1, restart_after_s=0.1)], [], record_us=1, control_us=300_000)
    assert any(end_ns == 2_100 * MS and kind == 1 for *_, end_ns, kind in simulation.service_trace().tolist())
