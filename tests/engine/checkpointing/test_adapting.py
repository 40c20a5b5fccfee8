"""Regions that change between rounds and checkpoints of their instances' own while a run goes on (docs/checkpointing.md, *hybrid*).

What this catches: a record that is in no log when it has to be sent again, since its sender began to log too late or stopped too early; a
line that mixes checkpoints between which something was not logged, or that goes back behind what has been forgotten; a recovery in which
hosts do not agree whether a region has rounds; a region that never changes, or for no reason.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import engine
from engine.checkpointing import messages as M
from engine.checkpointing.reclamation import reclaim
from engine.checkpointing.recovery_line import in_flight, recovery_line
from engine.checkpointing.region_adaptation import JOINS, PARTS, STAYS, Mood, Rule
from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.lessons.recovery import explained_recovery
from engine.spec import validate
from engine.workloads.datasets import lookup
from tests.support import corner_cases
from tests.support.tiers import tier

from ...support.agreement import MS, TINY, finished, frames_of, simulated
from ...support.recovery_examples import (
    circling,
    coordinated,
    counting,
    hybrid,
    joining,
    loss,
    random_losses,
    uncoordinated,
    values,
    with_losses,
    with_protocol,
)

Document = dict[str, Any]
Regions = tuple[tuple[str, ...], ...]

WHOLE = ("bids", "keys", "counts", "sink")
RESTLESS = {"wait_share": 0, "rounds": 1, "load_ratio": 1e6, "intervals": 1}
"""Regions change as often as they can: any wait is too long, and any load is even."""

CASES: dict[str, tuple[Callable[..., Document], Regions]] = {
    "the whole query": (counting, (WHOLE,)),
    "two regions": (counting, (("bids", "keys"), ("counts", "sink"))),
    "two in the middle": (counting, (("keys", "counts"), ("sink",))),
    "two sources and a join": (joining, (("auctions", "bids", "some", "pairs"),)),
    "one side of a join": (joining, (("auctions", "pairs"),)),
    "a part of a cycle": (circling, (("step", "counts"),)),
}
each_case = pytest.mark.parametrize(("job", "regions"), CASES.values(), ids=CASES)


def restless(job: Callable[..., Document], regions: Regions, chance: random.Random) -> Document:
    """Slow links and stores, so that rounds last long and much is under way between checkpoints, and machines that stand still."""
    interval_s = chance.choice((0.005, 0.01, 0.02))
    protocol = hybrid(
        *regions,
        adapt=RESTLESS,
        interval_s=interval_s,
        jitter_s=chance.choice((0, interval_s / 4, interval_s * 0.9)),
        detect_ms=chance.choice((0, 0, 1.5)),
        store={"request_ms": chance.choice((0.5, 2.0, 8.0))},
    )
    made = job(protocol=protocol)
    names = [f"w{n + 1}" for n in range(made["cluster"]["hosts"][0]["count"])]
    made["cluster"]["hosts"] = [corner_cases.host(name, egress_latency_ms=chance.choice((0.5, 0.5, 3.0, 9.0))) for name in names]
    if chance.random() < 0.4:
        made["query"]["operators"][2]["cost"] = {"record_us": chance.choice((100, 250, 2000))}
    if chance.random() < 0.3:
        when = {"kind": "at", "at_s": round(chance.uniform(0.02, 0.28), 4)}
        made["faults"] = [{"kind": "pause", "host": chance.choice(names), "when": when, "for_ms": chance.choice((5, 30))}]
    return with_losses(made, random_losses(chance, names, made["workload"]["horizon_s"]))


def turns_of(simulation: engine.Simulation) -> list[int]:
    """Of the confirmed rounds that changed something."""
    return [one["turn"] for one in simulation.checkpointing["rounds"] if one["turn"] != STAYS and one["ended"] == "confirmed"]


def numbering_of(simulation: engine.Simulation) -> Any:
    return simulation._actors.actors[0].numbering


# -- exactly once --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_case
def test_each_record_counts_just_once_however_often_regions_change(job: Callable[..., Document], regions: Regions) -> None:
    expected = values(finished(job(protocol=hybrid(*regions))))
    chance = random.Random(f"{job.__name__} {regions}")
    changes = on_own = 0
    tried = tier(7, 50)
    for n in range(tried):
        made = restless(job, regions, chance)
        simulation = finished(made, **({"capacity": TINY} if n % 3 == 0 else {}))
        assert values(simulation).keys() == expected.keys(), made["faults"]
        assert simulation.drained
        changes += len(turns_of(simulation))
        inside = {i for region in simulation._actors.actors[0].regions for i in region.instances}
        for recovery in simulation.checkpointing["recoveries"]:
            on_own += any(not numbering_of(simulation).is_round(recovery["line"][i]) for i in inside)
    assert changes > 2 * tried
    assert on_own > tried // 3, "regions go back to what their instances took by themselves"


def test_a_region_that_is_apart_stays_so_when_all_go_back() -> None:
    """Timers go on, and so do logs, on hosts that were lost and on others."""
    document = counting(protocol=hybrid(WHOLE, interval_s=0.02, adapt=RESTLESS | {"intervals": 1000}))
    simulation = simulated(with_losses(document, [loss("w2", 0.15, 0.01)]), trace=False)
    simulation.run_until(149_000_000)
    (apart,) = simulation._actors.actors[0].apart
    simulation.run_until(300_000_000)
    about, w = simulation.checkpointing, simulation._world.arrays
    (recovery,) = about["recoveries"]
    assert max(recovery["line"]) % numbering_of(simulation).step > 0
    assert simulation._actors.actors[0].apart == [apart]
    assert {row[M.INSTANCE] for row, _ in about["stored"] if row[M.CAPTURED_NS] > recovery["go_ns"]} == set(range(16))
    assert (w.gate[: len(w.chan), L.Q_LOG] >= 0).all()


def test_nothing_is_logged_when_the_round_that_began_it_comes_to_nothing() -> None:
    document = counting(protocol=hybrid(WHOLE, adapt=RESTLESS, store={"request_ms": 8.0}))
    simulation = simulated(with_losses(document, [loss("w2", 0.09, 0.001)]), trace=False)
    simulation.run_until(89_000_000)
    opened, w = simulation._actors.actors[0].open(0), simulation._world.arrays
    assert opened.turn == PARTS
    assert (w.gate[: len(w.chan), L.Q_LOG] >= 0).any()
    simulation.run_until(119_000_000)
    (recovery,) = simulation.checkpointing["recoveries"]
    assert 0 < recovery["go_ns"] < 115_000_000
    assert simulation._actors.actors[0].open(0) is None
    assert (simulation._world.arrays.gate[: len(w.chan), L.Q_LOG] < 0).all()


def lines_found(simulation: engine.Simulation) -> Iterator[tuple[Any, Any, tuple[int, ...]]]:
    """Twice in each millisecond, when nobody goes back: the coordinator, what it knows, and the line that it would find."""
    for now_ns in range(0, 300_000_000, 500_000):
        simulation.run_until(now_ns)
        coordinator = simulation._actors.actors[0]
        if not coordinator.recovering:
            reclaim(simulation._actors.actors, simulation._world)
            record = coordinator.record()
            yield coordinator, record, recovery_line(record).checkpoints


def in_the_log(simulation: engine.Simulation, channel: int) -> set[int]:
    """Numbers from 1 on, as the search has them."""
    w = simulation._world.arrays
    found, slot = set(), int(w.gate[channel, L.Q_KEPT])
    while slot >= 0:
        found.add(int(w.msg[slot, L.M_SEQUENCE]) + 1)
        slot = int(w.msg[slot, L.M_NEXT])
    return found


@pytest.mark.slow
@each_case
def test_whenever_a_host_were_lost_all_that_is_needed_is_there(job: Callable[..., Document], regions: Regions) -> None:
    """The line never goes back, its checkpoints have not been forgotten, and what is in flight on it is in the logs."""
    chance = random.Random(f"{job.__name__} {regions}")
    inner_in_flight = apart_seen = 0
    for _ in range(4):
        simulation = simulated(restless(job, regions, chance), trace=False)
        before = [0] * len(simulation._world.arrays.inst)
        for coordinator, record, line in lines_found(simulation):
            w, store = simulation._world.arrays, simulation._actors.actors[1]
            if all(simulation.now_ns - recovery.go_ns > 50 * MS for recovery in coordinator.recoveries):  # all have heard of it
                apart = [n for n, _ in coordinator.apart]
                inside = [i for n in apart for i in coordinator.regions[n].instances]
                assert (w.gate[: len(w.chan), L.Q_LOG] >= 0)[np.isin(w.chan[:, L.C_SENDER], inside)].all(), "until it has rounds again"
                apart_seen += len(apart)
            for i, index in enumerate(line):
                row = coordinator.taken[i][index - 1][0] if index else None
                number = 0 if row is None else row[M.NUMBER]
                assert number >= before[i], "goes back"
                before[i] = number
                assert row is None or store.objects[M.key(number, i, row[M.PIECES] - 1)][1], "is forgotten"
            for c, numbers in in_flight(record, line).items():
                channel = coordinator.channel_numbers[c]
                assert set(numbers) <= in_the_log(simulation, channel)
                inner_in_flight += int(w.edge[w.chan[channel, L.C_EDGE], L.E_INNER])
        assert simulation.checkpointing["recoveries"]
    assert inner_in_flight > 100
    assert apart_seen > 100


@pytest.mark.slow
@pytest.mark.parametrize("regions", [(WHOLE,), (("bids", "keys"), ("counts", "sink"))])
def test_watermarks_within_a_region_come_again(tmp_path: Path, regions: Regions) -> None:
    """As in `test_recovery.py`: the last one, at 0.2 s, is under way between checkpoints of instances' own."""
    times, numbers = pa.array([n * 125_000 for n in range(1600)], pa.timestamp("ns")), pa.array(range(1600), pa.int64())
    pq.write_table(pa.table({"time": times, "bidder": numbers, "price": numbers}), tmp_path / "short.parquet")
    made = counting(protocol=hybrid(*regions, interval_s=0.02, adapt=RESTLESS | {"intervals": 1000}))
    made["cluster"]["hosts"][0]["egress_latency_ms"] = 15.0
    made["query"]["operators"][0]["parallelism"] = 1
    made["query"]["edges"][0]["partitioning"] = {"kind": "rebalance"}
    params = {
        "key": "bidder",
        "aggregates": [{"name": "count"}],
        "window": {"kind": "tumbling", "size_s": 0.02},
        "emit": "on_close",
    }
    made["query"]["operators"][2] |= {"params": params, "cost": {"record_us": 300}}
    made["workload"]["sources"]["bids"] = {
        "stream": {"kind": "file", "dataset": "short", "timestamp": "time"},
        "rate": {"kind": "constant", "per_s": 8000.0},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 5},
    }
    files = {"datasets": lookup([tmp_path])}
    expected = values(finished(made, **files))
    assert len(expected) > 15
    on_own = 0
    for n in range(24):
        simulation = finished(with_losses(made, [loss("w2", 0.2 + 0.004 * n)]), **files)
        assert values(simulation).keys() == expected.keys()
        (recovery,) = simulation.checkpointing["recoveries"]
        on_own += any(not numbering_of(simulation).is_round(number) for number in recovery["line"])
    assert on_own > 8


# -- when a region changes -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Five seconds of keys in turn; from 1 to 2.5 s every fifth record has the same one."""
    folder = tmp_path_factory.mktemp("skewed")
    count = 80_000
    times_ns = np.arange(count) * 62_500
    is_hot = (times_ns >= 1_000_000_000) & (times_ns < 2_500_000_000) & (np.arange(count) % 5 == 0)
    keys = np.where(is_hot, 1, np.arange(count) % 399)
    pq.write_table(pa.table({"time": pa.array(times_ns, pa.timestamp("ns")), "bidder": keys}), folder / "skewed.parquet")
    return lookup([folder])


def skewed_counts(protocol: Document) -> Document:
    """On eight machines of one core; with the hot key one of them has more to do than it can."""
    counts = {"key": "bidder", "aggregates": [{"name": "count"}]}
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 8},
        {"id": "counts", "kind": "aggregate", "parallelism": 8, "params": counts, "cost": {"record_us": 225}},
        {"id": "sink", "kind": "sink", "parallelism": 8},
    ]
    hashed = {"kind": "hash", "key": "bidder", "scheme": "modulo"}
    edges = [{"source": "bids", "target": "counts", "partitioning": hashed}, {"source": "counts", "target": "sink"}]
    hosts = [corner_cases.host("w", count=8, processor={"kind": "shared_fifo"}, cores=1)]
    stream = {"kind": "file", "dataset": "skewed", "timestamp": "time"}
    sources = {"bids": {"stream": stream, "rate": {"kind": "constant", "per_s": 16_000.0}}}
    return with_protocol(corner_cases.document(operators, edges, hosts, sources, horizon_s=5.0), protocol)


adaptive = partial(hybrid, ("bids", "counts", "sink"), interval_s=0.1, adapt={})


def p50_ns(simulation: engine.Simulation, from_s: float, to_s: float) -> float:
    rows = simulation.sink_rows("sink")
    ends_ns = rows[:, 1]
    return float(np.median(rows[(ends_ns >= from_s * 1e9) & (ends_ns < to_s * 1e9), 4]))


def test_under_skew_a_region_parts_and_joins_again_when_it_is_over(skewed: Any) -> None:
    """docs/checkpointing.md: the median under skew is that of uncoordinated checkpoints, and else that of coordinated ones."""
    its, parted, together = (
        finished(skewed_counts(protocol), datasets=skewed)
        for protocol in (adaptive(), uncoordinated(interval_s=0.1), coordinated(interval_s=0.1))
    )
    changes = [one for one in its.checkpointing["rounds"] if one["turn"] != STAYS]
    assert [(one["turn"], one["ended"]) for one in changes] == [(PARTS, "confirmed"), (JOINS, "confirmed")]
    apart, joined = changes
    assert apart["why"][0] in ("skipped", "wait")
    assert 1e9 < apart["triggered_ns"] < apart["ended_ns"] < 2.5e9 < joined["triggered_ns"]
    assert joined["why"][0] == "load"
    assert joined["why"][1] < 1.2
    assert p50_ns(its, 1.0, 2.5) <= 1.2 * p50_ns(parted, 1.0, 2.5)
    assert p50_ns(together, 1.0, 2.5) > 10 * p50_ns(its, 1.0, 2.5)
    assert p50_ns(its, 0.2, 1.0) <= 1.02 * p50_ns(together, 0.2, 1.0) < p50_ns(parted, 0.2, 1.0)
    own_ns = [row[M.CAPTURED_NS] for row, _ in its.checkpointing["stored"]]
    assert apart["ended_ns"] < min(own_ns) < max(own_ns) < joined["ended_ns"] + 1_000_000, "no timer is left"


@pytest.mark.slow
def test_losses_before_in_and_after_both_changes(skewed: Any) -> None:
    whole = finished(skewed_counts(adaptive()), datasets=skewed)
    expected = values(whole)
    apart, joined = (one for one in whole.checkpointing["rounds"] if one["turn"] != STAYS)
    chance = random.Random("losses around changes")
    moments_s = [one[name] / 1e9 for one in (apart, joined) for name in ("triggered_ns", "ended_ns")]
    ended = []
    for n in range(tier(8, 50)):
        at_s = round(min(max(chance.choice(moments_s) + chance.uniform(-0.03, 0.03), 0.01), 4.9), 6)
        lost = skewed_counts(adaptive()) | {"faults": [loss(f"w{chance.randrange(8) + 1}", at_s, 0.01)]}
        if n % 2:
            lost = with_losses(lost, [loss(f"w{chance.randrange(8) + 1}", round(at_s + chance.uniform(0.0, 0.05), 6), 0.01)])
        simulation = finished(lost, datasets=skewed)
        assert values(simulation).keys() == expected.keys(), lost["faults"]
        ended += [(one["turn"], one["ended"]) for one in simulation.checkpointing["rounds"]]
    assert {(PARTS, "aborted"), (JOINS, "aborted"), (PARTS, "confirmed"), (JOINS, "confirmed")} <= set(ended)


def test_the_rule() -> None:
    rule, operators = Rule(0.2, 3, 1.2, 2), [[0, 1], [2]]
    mood = Mood()
    mood.waits_ns += [300.0, 300.0]
    assert mood.next_turn(rule, 1000, operators) is None, "two rounds are not three"
    mood.waits_ns.append(0.0)
    assert mood.next_turn(rule, 1000, operators) is None, "just at the limit"
    mood.waits_ns += [301.0, 301.0]
    assert mood.next_turn(rule, 1000, operators) == ("wait", pytest.approx(0.2006667), 0.2)
    assert Mood(skipped=True).next_turn(rule, 1000, operators) == ("skipped", 1, 0)

    mood = Mood(apart=100)
    assert mood.next_turn(rule, 1000, operators) is None, "no load is known"
    for i, records in enumerate((100, 110, 7)):
        mood.see(i, 0, 0)
        mood.see(i, 1000, records)
    assert mood.load_ratio(operators) == pytest.approx(110 / 105)
    assert mood.next_turn(rule, 1000, operators) is None
    assert mood.next_turn(rule, 1000, operators) == ("load", pytest.approx(110 / 105), 1.2), "the second even interval"
    mood.see(1, 1500, 210)  # in half the time
    assert mood.load_ratio(operators) == pytest.approx(4 / 3)
    assert mood.next_turn(rule, 1000, operators) is None
    mood.see(1, 2500, 310)
    assert mood.next_turn(rule, 1000, operators) is None, "from the beginning"


def test_timers_of_an_earlier_time_apart_are_over() -> None:
    simulation = finished(counting(protocol=hybrid(WHOLE, interval_s=0.02, jitter_s=0, adapt=RESTLESS | {"intervals": 2})))
    asked_ns = [row[M.ASKED_NS] for row, _ in simulation.checkpointing["stored"]]
    parted_ns = [one["ended_ns"] for one in simulation.checkpointing["rounds"] if one["turn"] == PARTS]
    assert len(parted_ns) > 1
    assert all(min(at_ns for at_ns in asked_ns if at_ns > begun_ns) > begun_ns + 20 * MS for begun_ns in parted_ns[:2])


def test_instances_with_one_channel_wait_for_nobody() -> None:
    """So regions of forward edges stay what they are, whatever the limit."""
    simulation = finished(counting(protocol=hybrid(("bids", "keys"), ("counts", "sink"), adapt=RESTLESS)))
    rounds = simulation.checkpointing["rounds"]
    assert {one["turn"] for one in rounds if one["region"] == 0} == {STAYS}
    assert {one["turn"] for one in rounds if one["region"] == 1} == {STAYS, PARTS, JOINS}


# -- what it costs, and what is seen -------------------------------------------------------------------------------------------------


def test_logs_and_their_work_follow_what_is_logged() -> None:
    """Counted in runs in which nobody keeps a log, and in those in which hosts may be lost as it is kept."""
    document = counting(protocol=hybrid(WHOLE, adapt=RESTLESS, log_share=1.0))
    simulation = simulated(with_losses(document, [loss("w1", 0.1217, 0.01), loss("w2", 0.299)]), trace=False)
    seen = set()
    for now_ns in range(0, 290_000_000, 1_000_000):
        simulation.run_until(now_ns)
        w = simulation._world.arrays
        is_logged = w.gate[: len(w.chan), L.Q_LOG] >= 0
        senders = w.chan[:, L.C_SENDER]
        price = w.op[w.inst[senders, L.I_OP], L.O_INNER_PS]
        assert (w.align[senders, L.ALIGN_INNER_PS] == np.where(is_logged, price, 0)).all()
        kept = np.array([len(in_the_log(simulation, c)) for c in range(len(w.chan))])
        assert (kept == instance_checkpoint.logged(w)).all()
        seen |= {bool(flag) for flag in is_logged}
    assert seen == {False, True}
    assert price.all()
    assert simulation.checkpointing["recoveries"]
    busy = {}
    for name, adapt in (("apart", RESTLESS | {"intervals": 1000}), ("together", {"wait_share": 1000})):
        made = counting(protocol=hybrid(WHOLE, adapt=adapt, log_share=1.0, interval_s=0.02))
        summary = finished(made).summary()
        busy[name] = summary["operators"]["keys"]["busy"]
        assert (summary["checkpointing"]["log_bytes"] > 0) == (name == "apart")
    assert busy["apart"] > 1.3 * busy["together"]


def test_frames_tell_when_a_region_changes_and_why() -> None:
    document = with_losses(counting(protocol=hybrid(WHOLE, adapt=RESTLESS)), [loss("w1", 0.1305)])
    simulation = simulated(document | {"measurement": {"frame_ms": 7}}, trace=False)
    frames = frames_of(simulation)
    told = {one["number"]: one for frame in frames for one in frame["checkpoints"]["rounds"]}
    assert list(told) == [one["number"] for one in simulation.checkpointing["rounds"]]
    for one in simulation.checkpointing["rounds"]:
        expected = dict(zip(("why", "measured", "limit"), one["why"], strict=False))
        to = {PARTS: "uncoordinated", JOINS: "coordinated"}.get(one["turn"])
        assert told[one["number"]].get("turn") == ({"to": to, **expected} if to else None)
    modes = [frame["checkpoints"]["modes"]["bids"] for frame in frames]
    assert modes[0] == "coordinated"
    assert "uncoordinated" in modes
    kinds = {one["kind"] for frame in frames for one in frame["checkpoints"]["durable"]}
    assert kinds == {"coordinated", "basic"}


def test_how_a_line_was_found_tells_that_a_region_goes_back_together() -> None:
    """The round of the second region is confirmed while what it has served of the first one is in no checkpoint there yet."""
    front = {"name": "front", "operators": ["bids", "keys"], "interval_s": 0.09}
    document = counting(protocol=hybrid(regions=[front, {"name": "back", "operators": ["counts", "sink"]}]))
    simulation = simulated(with_losses(document, [loss("w2", 0.17)]) | {"measurement": {"frame_ms": 10}}, trace=False)
    frames = frames_of(simulation)
    (search,) = (one for frame in frames for one in frame["checkpoints"]["searches"])
    tied = [step for step in search["steps"] if step[6] is None]
    assert tied
    assert all(step[7] is None and step[0] in ("counts", "sink") and step[4] in ("counts", "sink") for step in tied)
    texts = [step.text for step in explained_recovery(frames, 1).steps]
    assert any("A region rolls back to one common round" in text and "belongs to another round" in text for text in texts)


# -- the same however it is cut ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regions", [(WHOLE,), (("bids", "keys"), ("counts", "sink"))])
def test_a_run_is_the_same_however_it_is_cut_saved_and_forked(regions: Regions) -> None:
    document = with_losses(
        counting(protocol=hybrid(*regions, adapt=RESTLESS, interval_s=0.02)), [loss("w2", 0.1303, 0.01), loss("w1", 0.2)]
    )
    whole = finished(document)
    assert {PARTS, JOINS} <= set(turns_of(whole))
    often, chance = simulated(document, trace=False), random.Random(4)
    is_apart = 0
    for moment_ns in sorted(chance.randrange(300_000_000) for _ in range(40)):
        often.run_until(moment_ns)
        is_apart += bool(often._actors.agent.apart)
        if chance.random() < 0.5:
            often = often.fork()
    often.run_until(often.end_ns)
    assert is_apart > 3
    assert often.digest() == whole.digest()
    assert often.checkpointing == whole.checkpointing


# -- what is refused -----------------------------------------------------------------------------------------------------------------


def test_what_cannot_adapt_is_refused() -> None:
    def problems(**more: Any) -> list[tuple[str, str]]:
        return [(problem.pointer, problem.code) for problem in validate(counting(protocol=hybrid(adapt={}, **more)))]

    assert problems() == []
    assert problems(semantics="at_least_once") == [("/policies/checkpointing/semantics", "invalid")]
    fast = [{"name": "all", "operators": list(WHOLE), "interval_s": 0.01}]
    assert problems(regions=fast) == [("/policies/checkpointing/regions/0/interval_s", "out_of_range")]
    assert problems(regions=fast, jitter_s=0.00999999) == [("/policies/checkpointing/interval_s", "out_of_range")]
