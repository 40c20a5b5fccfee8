"""Checkpoints and recovery (docs/checkpointing.md).

What this catches: a record that counts twice or not at all after a loss, wherever it was: in a queue, on its way, laid aside behind a
barrier, in a checkpoint that was not stored yet; a line from which something is missing; records of an epoch that is over; a source that
goes on at the wrong place; runs that look different when they are cut.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.checkpointing.recovery_line import in_flight, orphans
from engine.core import layout as L
from engine.spec import Experiment
from engine.workloads.datasets import lookup
from tests.support.corner_cases import a_cycle_drains_when_nothing_goes_round
from tests.support.strategies import documents
from tests.support.tiers import EXAMPLES, tier

from ...support.agreement import DATASETS, TINY, finished, simulated
from ...support.recovery_examples import (
    JOBS_AND_PROTOCOLS,
    PROTOCOLS,
    circling,
    coordinated,
    coordinated_unaligned,
    counted,
    counting,
    each_record_counts_just_once,
    joining,
    loss,
    random_losses,
    uncoordinated,
    values,
    with_losses,
    with_protocol,
    without_losses,
)

Document = dict[str, Any]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "protocol"),
    JOBS_AND_PROTOCOLS,
    ids=lambda part: part.__name__,
)
def test_each_record_counts_just_once_whenever_hosts_are_lost(job: Callable[..., Document], protocol: Callable[..., Document]) -> None:
    """Running counts and pairs are the same in every order, so what is delivered must be what a run without losses delivers."""
    each_record_counts_just_once(job, protocol, f"{job.__name__} {protocol.__name__}")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_records_may_come_to_a_machine_before_it_is_told_to_go_on(protocol: Callable[..., Document]) -> None:
    """It stands still just then, or links are shorter than the time that it takes to tell all."""
    far = counting(protocol=protocol())
    far["cluster"]["hosts"][0]["egress_latency_ms"] = 5.0
    far = with_losses(far, [loss("w2", 0.2)])
    whole = finished(far)
    going_s = whole.checkpointing["recoveries"][-1]["go_ns"] / 1e9
    pause = {"kind": "pause", "host": "w3", "when": {"kind": "at", "at_s": round(going_s - 1e-4, 6)}, "for_ms": 50}
    paused = far | {"faults": [*far["faults"], pause]}
    near = counting(protocol=protocol(), hosts=8, per_s=16_000.0)
    near["cluster"]["hosts"][0]["egress_latency_ms"] = 0.0002
    near["query"]["operators"][2]["cost"] = {"record_us": 200}  # records wait in queues
    for document in (paused, *(with_losses(near, [loss("w2", at_s)]) for at_s in (0.17, 0.1817))):
        assert values(finished(document)).keys() == values(finished(without_losses(document))).keys()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_watermarks_that_were_under_way_come_again(tmp_path: Path, protocol: Callable[..., Document]) -> None:
    """A file ends at 0.1 s, with the last watermark; links are long and counts slow, so that it is under way between most checkpoints that
    follow. Nobody would send it again."""
    times, numbers = pa.array([n * 125_000 for n in range(800)], pa.timestamp("ns")), pa.array(range(800), pa.int64())
    pq.write_table(pa.table({"time": times, "bidder": numbers, "price": numbers}), tmp_path / "short.parquet")
    made = counting(protocol=protocol(interval_s=0.02))
    made["cluster"]["hosts"][0]["egress_latency_ms"] = 15.0
    made["query"]["operators"][0]["parallelism"] = 1
    made["query"]["edges"][0]["partitioning"] = {"kind": "rebalance"}
    window = {"kind": "tumbling", "size_s": 0.02}
    params = {"key": "bidder", "aggregates": [{"name": "count"}], "window": window, "emit": "on_close"}
    made["query"]["operators"][2] |= {"params": params, "cost": {"record_us": 900}}
    made["workload"]["sources"]["bids"] = {
        "stream": {"kind": "file", "dataset": "short", "timestamp": "time"},
        "rate": {"kind": "constant", "per_s": 8000.0},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 5},
    }
    files = {"datasets": lookup([tmp_path])}
    expected = values(finished(made, **files))
    assert len(expected) > 15
    for n in range(8):
        lost = with_losses(made, [loss("w2", 0.12 + 0.02 * n)])
        assert values(finished(lost, **files)).keys() == expected.keys()


def test_without_a_protocol_records_are_lost() -> None:
    made = with_losses(counting(), [loss("w2", 0.17)])
    expected = values(finished(without_losses(made)))
    found = values(finished(made | {"policies": {}}))
    assert counted(found) < counted(expected)


@pytest.mark.slow
def test_each_rung_of_the_ladder_is_seen() -> None:
    """Without sending again what was under way, records are lost; with all that is logged and no filter, they count twice."""
    expected = counted(values(finished(counting(protocol=uncoordinated()))))
    seen: dict[str, list[int]] = {}
    for semantics in ("exactly_once", "at_least_once", "at_most_once"):
        for n in range(8):
            made = counting(protocol=uncoordinated(semantics=semantics, log=semantics != "at_most_once"))
            made["cluster"]["hosts"][0]["egress_latency_ms"] = 5.0  # much is under way
            seen.setdefault(semantics, []).append(counted(values(finished(with_losses(made, [loss("w2", 0.1 + 0.0173 * n)])))))
    assert set(seen["exactly_once"]) == {expected}
    assert min(seen["at_least_once"]) >= expected < max(seen["at_least_once"])
    assert max(seen["at_most_once"]) <= expected > min(seen["at_most_once"])


def test_what_is_sent_again_is_what_lies_between_the_checkpoints() -> None:
    """With links of 15 ms, records are under way on most channels between any two checkpoints."""
    made = counting(protocol=uncoordinated())
    made["cluster"]["hosts"][0]["egress_latency_ms"] = 15.0
    simulation = simulated(with_losses(made, [loss("w2", 0.2)]), trace=False, keep_outputs=True)
    simulation.run_until(219_000_000)
    coordinator = simulation._actors.actors[0]
    record = coordinator.record()
    line = tuple(len(own) for own in coordinator.taken)
    assert coordinator.recovering
    assert not orphans(record, line)
    ordered = [found for _, replays in coordinator._orders.values() for found in replays]
    expected = {c: numbers for c, numbers in in_flight(record, line).items() if numbers}
    assert {c: (first, end) for c, first, end in ordered} == {c: (n.start - 1, n.stop - 1) for c, n in expected.items()}
    assert sum(end - first for _, first, end in ordered) > 100


def test_the_line_is_the_last_round_that_was_confirmed_before() -> None:
    """A slow store: when the host is lost, two rounds are confirmed, and of the third some checkpoints are stored."""
    protocol = coordinated(store={"request_ms": 15.0})
    about = finished(with_losses(counting(protocol=protocol), [loss("w1", 0.1305)])).checkpointing
    assert about is not None
    ended = [(opened["number"], opened["ended"]) for opened in about["rounds"]]
    assert ended[:3] == [(1, "confirmed"), (2, "confirmed"), (3, "aborted")]
    (recovery,) = about["recoveries"]
    assert set(recovery["line"]) == {2}
    assert about["rounds"][3]["epoch"] == 1


def test_a_loss_before_the_first_round_leads_back_to_the_start() -> None:
    made = with_losses(counting(), [loss("w3", 0.031)])
    simulation = finished(made)
    about = simulation.checkpointing
    assert about is not None
    assert set(about["recoveries"][0]["line"]) == {0}
    assert values(simulation).keys() == values(finished(without_losses(made))).keys()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_a_spare_host_takes_the_place_of_one_that_is_lost_for_ever(protocol: Callable[..., Document]) -> None:
    made = with_losses(counting(protocol=protocol(spares=1, takeover_s=0.05)), [loss("w4", 0.1503, None)])
    simulation = finished(made)
    assert values(simulation).keys() == values(finished(without_losses(made))).keys()
    (recovery,) = simulation.checkpointing["recoveries"]
    assert 200_300_000 < dict(recovery["ordered"])[3] < 202_000_000
    assert simulation.drained


def test_unaligned_rounds_wait_for_nothing_and_pass_cycles() -> None:
    """The same query under load that makes aligned barriers wait: nothing is laid aside, and rounds of a cycle are complete."""
    simulation = simulated(circling(protocol=coordinated_unaligned()), trace=False)
    aside = 0
    for time_ns in range(40_000_000, 300_000_000, 500_000):
        simulation.run_until(time_ns)
        aside += any(simulation._world.aside(i) for i in range(len(simulation._world.arrays.inst)))
    assert aside == 0
    about = simulation.checkpointing
    assert [opened["ended"] for opened in about["rounds"][:5]] == ["confirmed"] * 5


def test_a_cycle_stands_still_when_it_is_run_anyway() -> None:
    """The round is never complete, and the instance on the cycle waits for a barrier that only it could send on."""
    document = a_cycle_drains_when_nothing_goes_round() | {
        "policies": {"checkpointing": coordinated(interval_s=0.001, on_cycle="run")},
    }
    simulation = finished(document)
    about = simulation.checkpointing
    assert [opened["ended"] for opened in about["rounds"]] == [""]
    assert about["skipped_ns"]
    align = simulation._world.arrays.align
    assert ((align[:, L.ALIGN_BARRED] > 0) & (align[:, L.ALIGN_BARRED] < align[:, L.ALIGN_INPUTS])).any()
    assert not simulation.drained


@pytest.mark.parametrize("at_s", [0.0625, 0.0635])
def test_what_is_stored_of_a_round_that_came_to_nothing_makes_room_for_the_next(at_s: float) -> None:
    protocol = coordinated(store={"request_ms": 1.0, "capacity_mb": 0.022}, interval_s=0.02)
    about = finished(with_losses(counting(protocol=protocol), [loss("w1", at_s, 0.002)])).checkpointing
    ended = [opened["ended"] for opened in about["rounds"]]
    assert ended[:3] == ["confirmed", "confirmed", "aborted"]
    assert ended[3:10] == ["confirmed"] * 7


def test_a_full_store_fails_the_round_and_the_last_one_stays() -> None:
    protocol = coordinated(store={"request_ms": 1.0, "capacity_mb": 0.02})  # two rounds of 16 checkpoints of 500 bytes and more, not three
    made = with_losses(counting(protocol=protocol | {"interval_s": 0.02}), [loss("w1", 0.25)])
    simulation = finished(made)
    about = simulation.checkpointing
    assert about is not None
    ended = Counter(opened["ended"] for opened in about["rounds"])
    assert ended["confirmed"] > 3
    assert values(simulation).keys() == values(finished(without_losses(made))).keys()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_any_cutting_saving_and_forking_gives_the_same(tmp_path: Path, protocol: Callable[..., Document]) -> None:
    made = with_losses(joining(protocol=protocol()), [loss("w1", 0.105, 0.01), loss("w2", 0.1125, 0.004), loss("w1", 0.2)])
    whole = finished(made)
    chance = random.Random("recovery")
    for n in range(tier(3, 6)):
        run = engine.Simulation(made, datasets=DATASETS, keep_outputs=True)
        moments = [chance.randrange(run.horizon_ns) for _ in range(6)] + [chance.randrange(105_000_000, 125_000_000) for _ in range(6)]
        for time_ns in sorted(moments)[: 3 + 2 * n]:
            run.run_until(time_ns)
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(made, tmp_path / f"{n}", datasets=DATASETS, keep_outputs=True)
        fork = run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        for copy in (run, resumed, fork):
            copy.run_until(copy.end_ns)
            assert copy.digest() == whole.digest()
            assert copy.sink_rows("sink").tolist() == whole.sink_rows("sink").tolist()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_the_way_of_a_record_that_was_sent_again_is_told_from_its_beginning(protocol: Callable[..., Document]) -> None:
    """Its parts add up, or the choice is refused; and observing changes nothing."""
    made = counting(protocol=protocol())
    made["cluster"]["hosts"][0]["egress_latency_ms"] = 5.0  # much is under way
    made = with_losses(made, [loss("w2", 0.17)])
    run = engine.run(made, datasets=DATASETS, trace=True, keep_outputs=True)
    assert run.digest == engine.run(made, datasets=DATASETS).digest
    slowest = run.waterfalls(slowest=30)
    assert all(sum(waterfall.sums_ns().values()) == waterfall.record.latency_ns for waterfall in slowest)
    assert max(waterfall.record.latency_ns for waterfall in slowest) > 30_000_000  # it waited for the recovery


@pytest.mark.slow
@settings(max_examples=tier(ci=20, all=EXAMPLES["all"]))
@given(made=documents(budgets=("none",)), seed=st.integers(0, 10**6), tiny=st.booleans())
def test_random_experiments_with_protocols_and_losses_do_not_depend_on_how_they_are_cut(made: Document, seed: int, tiny: bool) -> None:
    """Credits, processor sharing, trunks, cycles, late records: what no job above has. (A host that dies of its memory would do so again
    after each recovery.)"""
    chance = random.Random(seed)
    protocol = chance.choice(PROTOCOLS)(interval_s=chance.choice((0.001, 0.003, 0.01)), restart_ms=chance.choice((0, 1.0)))
    if protocol["kind"] == "coordinated":
        protocol["on_cycle"] = "run"
    document = without_losses(with_protocol(made, protocol))
    horizon_s = max(made["workload"]["horizon_s"], 0.012)
    sources = {
        id: {name: part for name, part in source.items() if name != "generation"} for id, source in made["workload"]["sources"].items()
    }
    document["workload"] = made["workload"] | {"horizon_s": horizon_s, "sources": sources}
    hosts = [host.name for host in Experiment.model_validate(document).expanded_hosts()]
    document = with_losses(document, random_losses(chance, hosts, horizon_s))
    options: dict[str, Any] = {"capacity": TINY} if tiny else {}
    whole = finished(document, keep_outputs=True, **options)
    often = simulated(document, trace=False, keep_outputs=True)
    for moment in sorted(chance.randrange(whole.now_ns + 1) for _ in range(5)):
        often.run_until(moment)
        if chance.random() < 0.3:
            often = often.fork()
    often.run_until(often.end_ns)
    assert often.digest() == whole.digest()
    w = whole._world.arrays
    assert (w.carried[:, L.SEQ_PROCESSED] <= w.carried[:, L.SEQ_SENT]).all() or protocol["kind"] == "coordinated"
