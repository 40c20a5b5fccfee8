"""Flink's profile (specification of the benchmark, B3 and section 9).

What this catches: a generator that feels the system that it measures, event times stamped at ingestion, a network that is not shared,
records that are not served by key, congestion that stops sources by a global flag in place of walking up the channels.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.profiles import under_engine
from engine.simulation.simulation import FIXTURES
from engine.spec import Experiment
from engine.spec.experiment.engines import price_list_in
from engine.spec.figure.figure import price_lists
from engine.spec.figure.files import FigureFiles

from ...support.agreement import assert_agreement, cut_saved_and_forked, fingerprint, traced
from ...support.engine_examples import windowed_sum
from ...support.strategies import documents

FLINK: dict[str, Any] = {"engine": {"kind": "flink"}}
TRUNK = 125_000_000 / 104  # records/s of 104 bytes that 1 Gbit/s carries


def run(document: dict[str, Any], keep_outputs: bool = False) -> engine.Simulation:
    simulation = engine.Simulation(document, keep_outputs=keep_outputs)
    simulation.run_until(simulation.end_ns)
    return simulation


def pulled_per_s(document: dict[str, Any]) -> float:
    """Records that left the driver's queues, per second, without the first quarter."""
    simulation = engine.Simulation(document)
    taken = []
    for at_ns in (simulation.end_ns // 4, simulation.end_ns):
        simulation.run_until(at_ns)
        taken.append(simulation.summary()["operators"]["purchases"]["in"])
    return (taken[1] - taken[0]) / (simulation.end_ns * 0.75e-9)


def sums(simulation: engine.Simulation) -> list[tuple[int, ...]]:
    """The rows of the windowed sum: key, start and end of the window, sum."""
    return sorted(record["values"] for record in simulation.sink_records("sink"))


def with_keys(document: dict[str, Any], gem_packs: int) -> dict[str, Any]:
    """The document with uniform keys of this number."""
    document["workload"]["sources"]["purchases"]["stream"] |= {"gem_packs": gem_packs, "skew": {"kind": "uniform"}}
    return document


def passed_on(document: dict[str, Any]) -> dict[str, Any]:
    """The document with a filter that passes everything, in place of the windowed sum."""
    _, total, sink = document["query"]["operators"]
    total |= {"kind": "filter", "params": {"predicate": "True"}}
    sink |= {"parallelism": total["parallelism"]}
    document["query"]["edges"] = [{"source": "purchases", "target": "sum"}, {"source": "sum", "target": "sink"}]
    return document


def test_sources_stand_on_hosts_of_the_driver_and_receivers_where_they_were_drawn() -> None:
    drawn = Experiment.model_validate(windowed_sum(1e6))
    executed = under_engine(drawn)
    assert [(spec.id, spec.parallelism) for spec in executed.query.operators][:2] == [("purchases", 8), ("purchases-receiver", 8)]
    assert [host.name for host in executed.expanded_hosts()] == ["w1", "w2", "driver1", "driver2"]
    assert executed.placement.hosts["purchases"] == ("driver1", "driver2") * 4
    assert executed.placement.hosts["purchases-receiver"] == ("w1", "w2") * 4
    assert {(edge.source, edge.target) for edge in executed.query.edges} == {
        ("purchases", "purchases-receiver"),
        ("purchases-receiver", "sum"),
        ("sum", "sink"),
    }
    assert executed.prices == "flink_2020"
    assert under_engine(drawn.model_copy(update={"policies": Experiment.model_fields["policies"].default})).query is drawn.query


@pytest.mark.slow
@given(document=documents(), hosts=st.sampled_from((None, 1, 3)), trunk=st.sampled_from((None, 1, 1000)))
def test_random_experiments_under_flink_agree_with_the_oracle(document: dict[str, Any], hosts: int | None, trunk: int | None) -> None:
    document = copy.deepcopy(document)
    document.pop("prices", None)
    flow = document.get("policies", {}).get("flow_control", {"kind": "unbounded"})
    driver = {"hosts": hosts, "trunk_mbit_per_s": trunk}
    document["policies"] = {"flow_control": flow, "engine": {"kind": "flink", "driver": driver}}
    assert_agreement(document)


def test_sums_of_windows_are_those_of_the_prices() -> None:
    """No latency by formula: the rows come from records that travelled (section 9, point 1)."""
    document = windowed_sum(200_000, horizon_s=24)
    rows, expected = (
        [row for row in sums(run(each, keep_outputs=True)) if row[2] <= 20 * 10**9]
        for each in (document, document | {"policies": {}, "prices": "flink_2020"})
    )
    assert len(rows) > 200
    assert rows == expected


@pytest.mark.parametrize("hosts", [2, 4])
def test_the_trunk_limits_any_cluster_alike(hosts: int) -> None:
    """Tables 3.1 and 3.3: 1.2 million records/s on 2, 4 and 8 workers."""
    assert pulled_per_s(windowed_sum(1.4e6, hosts, sources=32)) == pytest.approx(TRUNK, rel=0.01)


def test_without_a_trunk_cores_limit() -> None:
    """23 us of core time for each record: 32 cores serve 1.39 million/s."""
    document = windowed_sum(1.6e6, sources=32, slots=32)
    document["policies"]["engine"]["driver"] = {"trunk_mbit_per_s": None, "egress_mbit_per_s": 10_000}
    assert pulled_per_s(document) == pytest.approx(32 / 23e-6, rel=0.03)


def test_generators_do_not_feel_the_system() -> None:
    """A system that stands still for 5 s, and one that is overloaded: records enter the queues on time (points 3 and 4)."""
    document = passed_on(windowed_sum(600_000, sources=16, slots=16, horizon_s=24))
    document["faults"] = [{"kind": "pause", "host": f"w{n}", "when": {"kind": "at", "at_s": 9.0}, "for_ms": 5000} for n in (1, 2)]
    simulation, undisturbed = engine.Simulation(document, keep_outputs=True), engine.Simulation(document | {"faults": []})
    while (frame := simulation.advance()) is not None:
        assert frame["offered_per_s"] == undisturbed.advance()["offered_per_s"] == pytest.approx(600_000, rel=0.01)
    waited = [record for record in simulation.sink_records("sink") if 9.2e9 < record["event_ns"] < 9.5e9]
    assert len(waited) > 100
    assert min(record["latency_ns"] for record in waited) > 4.5e9, "from event time, the wait in the driver counts"
    assert max(record["further_ns"][0] for record in waited) < 0.5e9, "from ingestion, it does not"


def test_one_key_has_one_slot() -> None:
    """0.48 million records/s whatever the cluster; two keys in two slots give twice that (3.6.2.5, and point 10)."""
    one = [pulled_per_s(with_keys(windowed_sum(700_000, hosts, sources=16), 1)) for hosts in (2, 4)]
    assert one == pytest.approx([1 / 2.08e-6] * 2, rel=0.03)
    two = with_keys(windowed_sum(1.15e6, sources=32), 2)
    two["query"]["edges"][0]["partitioning"]["scheme"] = "modulo"
    assert pulled_per_s(two) == pytest.approx(2 / 2.08e-6, rel=0.03)
    two["query"]["operators"][1]["parallelism"] = 1  # both keys in one slot
    assert pulled_per_s(two) == pytest.approx(1 / 2.08e-6, rel=0.03)


def test_overlapping_windows_share_nothing() -> None:
    """A record costs its slot as much in each of its windows (point 11)."""
    for windows in (2, 8):
        document = with_keys(windowed_sum(700_000, sources=16, size_s=8.0, slide_s=8.0 / windows, horizon_s=20), 1)
        assert pulled_per_s(document) == pytest.approx(1 / (windows * 1.04e-6), rel=0.03)


def test_congestion_walks_up_channel_by_channel() -> None:
    """A sink that becomes slow: its own queue fills first, then that of the operator before it, then the receiver's, then the log; no
    record is lost or overtaken (point 8)."""
    document = windowed_sum(20_000, hosts=1, sources=1, slots=1, horizon_s=12)
    document["workload"]["scale"] = 1
    document = passed_on(document)
    document["query"]["operators"][2]["cost"] = {"record_us": 200}
    simulation = engine.Simulation(document, keep_outputs=True)
    w, full = simulation._world.arrays, {}
    bound = 2 * 32_768 // 104
    for at_ms in range(1, 2000):
        simulation.run_until(at_ms * 10**6)
        for instance, name in ((3, "sink"), (2, "sum"), (1, "receiver")):
            if w.inst[instance, L.I_QUEUE_COUNT] >= bound - 25:
                full.setdefault(name, at_ms)
        if w.inst[0, L.I_BLOCKED_SINCE] >= 0:
            full.setdefault("driver", at_ms)
    assert list(full) == ["sink", "sum", "receiver", "driver"]
    assert full["sink"] + 30 < full["sum"] < full["receiver"] - 30, full
    simulation.run_until(simulation.end_ns)
    triggers = [record["trigger"] for record in simulation.sink_records("sink")]
    assert triggers == list(range(triggers[0], triggers[0] + len(triggers)))


def test_figures_under_engines_rest_on_their_prices() -> None:
    files = FigureFiles(FIXTURES.parent)
    assert price_lists(files.outline("benchmark/table-3.1"), files.experiment) == {"flink_2020", "storm_2020", "spark_2020"}
    assert price_list_in({"policies": {"engine": {"kind": "flink"}}, "prices": "reference"}, "reference") == "flink_2020"
    assert price_list_in({"policies": {"engine": None}, "prices": "klink_2020"}, "reference") == "klink_2020"


def test_runs_are_the_same_however_they_are_cut() -> None:
    document = windowed_sum(900_000, horizon_s=6, size_s=2.0, slide_s=1.0)
    assert fingerprint(cut_saved_and_forked(document, 1_300_000_000)) == fingerprint(traced(document))


def test_checkpoints_of_a_run_under_flink_lose_nothing() -> None:
    """A worker is lost and comes back: coordinated checkpoints give the windows of the run without a fault."""
    document = windowed_sum(100_000, sources=2, slots=4, horizon_s=30)
    document["workload"]["drain"] = True
    document["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 3}

    def rows(faults: list[dict[str, Any]]) -> list[tuple[int, ...]]:
        return sorted({*sums(run(document | {"faults": faults}, keep_outputs=True))})

    lost = {"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 13.0}, "restart_after_s": 2.0}
    assert rows([lost]) == rows([])
