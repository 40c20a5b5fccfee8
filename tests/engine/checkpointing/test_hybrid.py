"""Hybrid checkpoints (docs/checkpointing.md).

What this catches: a border that loses or repeats what crosses it; a region that goes back in parts; barriers that leave their region, or
wait for a channel that brings none; a protocol that is not the one of which a region is the whole query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import engine
from engine.checkpointing import messages as M
from engine.checkpointing.checkpoint_graph import checkpoint_graph, rollback_propagation
from engine.checkpointing.reclamation import reclaim
from engine.checkpointing.recovery_line import orphans, recovery_line
from engine.core import layout as L
from engine.core.control.instance_checkpoint import Checkpoint
from engine.spec import Experiment, validate
from tests.support import corner_cases
from tests.support.tiers import spread

from ...support.agreement import DATASETS, MS, finished, simulated, template
from ...support.moments import expected, in_a_round, lost_then, slow
from ...support.recovery_examples import (
    circling,
    coordinated,
    counting,
    each_record_counts_just_once,
    hybrid,
    joining,
    loss,
    uncoordinated,
    values,
    with_losses,
)

Document = dict[str, Any]
Regions = tuple[tuple[str, ...], ...]

PARTITIONS: dict[str, tuple[Callable[..., Document], Regions]] = {
    "all in one": (counting, (("bids", "keys", "counts", "sink"),)),
    "sources outside": (counting, (("keys", "counts", "sink"),)),
    "two in a row": (counting, (("bids", "keys"), ("counts", "sink"))),
    "a middle that is no entry of the query": (counting, (("keys", "counts"),)),
    "each by itself": (counting, (("bids",), ("keys",), ("counts",), ("sink",))),
    "both ends of one way": (counting, (("bids", "sink"),)),
    "two sources and a join": (joining, (("auctions", "bids", "some", "pairs"),)),
    "one side of a join": (joining, (("auctions", "pairs"),)),
    "a way leaves and comes back": (joining, (("bids", "pairs", "sink"),)),
    "before a cycle": (circling, (("bids", "enter"),)),
    "before and behind a cycle": (circling, (("bids", "enter"), ("counts", "sink"))),
    "a part of a cycle": (circling, (("step", "counts"),)),
    "around a cycle": (circling, (("bids", "enter", "counts", "sink"),)),
}
WHOLE = ("bids", "keys", "counts", "sink")
LOSSES = ([], [loss("w2", 0.1303, 0.01), loss("w1", 0.2)])


@pytest.mark.slow
@pytest.mark.parametrize("name", spread(list(PARTITIONS), ci=5))
def test_each_record_counts_just_once_however_operators_are_parted(name: str) -> None:
    job, regions = PARTITIONS[name]
    each_record_counts_just_once(job, partial(hybrid, *regions), name)


@pytest.mark.parametrize("losses", LOSSES, ids=("without losses", "with losses"))
def test_one_region_of_the_whole_query_is_coordinated(losses: list[Document]) -> None:
    its, other = (finished(with_losses(counting(protocol=protocol), losses)) for protocol in (hybrid(WHOLE), coordinated()))
    assert its.sink_rows("sink").tolist() == other.sink_rows("sink").tolist()
    names = ("number", "epoch", "triggered_ns", "done", "taken", "failed", "ended", "ended_ns")
    assert [[one[name] for name in names] for one in its.checkpointing["rounds"]] == [
        [one[name] for name in names] for one in other.checkpointing["rounds"]
    ]
    assert its.checkpointing["recoveries"] == other.checkpointing["recoveries"]
    assert its.checkpointing["skipped_ns"] == other.checkpointing["skipped_ns"]
    assert len(its.checkpointing["rounds"]) >= 7


@pytest.mark.parametrize("losses", LOSSES, ids=("without losses", "with losses"))
@pytest.mark.parametrize("semantics", ["exactly_once", "at_least_once", "at_most_once"])
def test_without_coordinated_regions_it_is_uncoordinated(losses: list[Document], semantics: str) -> None:
    ladder = {"semantics": semantics, "log": semantics != "at_most_once"}
    apart = [{"name": "all", "operators": list(WHOLE), "mode": "uncoordinated"}]
    protocols = (hybrid(regions=apart, **ladder), hybrid(regions=[], **ladder), uncoordinated(**ladder))
    its, listed, other = (finished(with_losses(counting(protocol=protocol), losses)) for protocol in protocols)
    assert its.sink_rows("sink").tolist() == listed.sink_rows("sink").tolist() == other.sink_rows("sink").tolist()
    for name in ("stored", "recoveries", "lines", "forgotten"):
        assert its.checkpointing[name] == listed.checkpointing[name] == other.checkpointing[name]
    assert len(its.checkpointing["stored"]) > 50


def test_barriers_and_logs_stay_on_their_sides_of_the_border() -> None:
    """Looked at often: only channels within the region are ever barred, and only others are in a log."""
    document = with_losses(counting(protocol=hybrid(("keys", "counts"), interval_s=0.02)), [loss("w1", 0.29)])
    document["query"]["operators"][2]["cost"] = {"record_us": 300}
    simulation = simulated(document, trace=False)
    barred, logged = set(), set()
    for time_ns in range(1_000_000, 290_000_000, 500_000):
        simulation.run_until(time_ns)
        w = simulation._world.arrays
        receivers = w.chan[:, L.C_RECEIVER]
        shut = (w.align[receivers, L.ALIGN_BARRED] > 0) & (w.gate[:, L.Q_GENERATION] == w.align[receivers, L.ALIGN_GENERATION])
        barred |= set(w.chan[shut, L.C_EDGE].tolist())
        logged |= set(w.chan[w.gate[:, L.Q_KEPT] >= 0, L.C_EDGE].tolist())
    assert barred == {1}
    assert logged == {0, 2}
    assert (w.align[w.inst[:, L.I_OP] == 2, L.ALIGN_INPUTS] == 4).all()
    about = simulation.checkpointing
    assert {one["ended"] for one in about["rounds"]} == {"confirmed"}
    assert {row[M.INSTANCE] for one in about["rounds"] for row in one["taken"]} == set(range(4, 12))
    assert {row[M.INSTANCE] for row, _ in about["stored"]} == {*range(4), *range(12, 16)}


def test_alignment_waits_for_channels_of_the_region_alone() -> None:
    """Pairs are fed from inside and from outside. Rounds complete, and what comes from outside is never barred."""
    simulation = simulated(joining(protocol=hybrid(("auctions", "pairs"))), trace=False)
    w = simulation._world.arrays
    pairs = np.flatnonzero(w.inst[:, L.I_OP] == 3)
    inside = w.chan[:, L.C_EDGE] == 1
    assert (w.align[pairs, L.ALIGN_INPUTS] == 3).all()
    simulation.run_until(simulation.end_ns)
    w = simulation._world.arrays
    assert [one["ended"] for one in simulation.checkpointing["rounds"]] == ["confirmed"] * 7
    assert (w.gate[: len(w.chan), L.Q_GENERATION] == -1)[~inside].all()
    assert (w.gate[: len(w.chan), L.Q_GENERATION] > 0)[inside].any()


@pytest.mark.parametrize(("job", "regions"), PARTITIONS.values(), ids=PARTITIONS)
def test_the_counters_of_a_round_are_those_of_all_its_instances(job: Callable[..., Document], regions: Regions) -> None:
    """As the coordinator has put them together, against what the store has of each instance."""
    simulation = simulated(with_losses(job(protocol=hybrid(*regions)), [loss("w1", 0.29)]), trace=False)
    simulation.run_until(100_000_000)
    coordinator, store = simulation._actors.actors
    leaving, entering = simulation._world.leaving, simulation._world.entering
    record = coordinator.record()
    seen = 0
    for one in coordinator.rounds:
        instances = coordinator.regions[one.region].instances
        index_of = {i: n for i in instances for n, own in enumerate(coordinator.taken[i], 1) if own[0][M.NUMBER] == one.number}
        if len(index_of) < len(instances) or not all(store.objects[M.key(one.number, row[M.INSTANCE])][1] for row in one.taken):
            continue  # not confirmed, or forgotten
        sent, processed = {}, {}
        for row in one.taken:
            content = Checkpoint.from_bytes(store.objects[M.key(one.number, row[M.INSTANCE])][1])
            sent |= dict(zip(leaving[row[M.INSTANCE]].tolist(), content.sent.tolist(), strict=True))
            processed |= dict(zip(entering[row[M.INSTANCE]].tolist(), content.processed.tolist(), strict=True))
        inside = {c for c in sent if c in processed}
        assert all(sent[c] == processed[c] for c in inside), "within a region nothing is under way"
        for c, channel in enumerate(record.channels):
            is_tie = c >= len(coordinator.channel_numbers)
            number = -1 if is_tie else coordinator.channel_numbers[c]
            assert number not in inside
            assert not is_tie or (channel.sender in index_of) == (channel.receiver in index_of), "ties lead to nobody outside"
            if channel.sender in index_of:
                assert record.sent_on(c)[index_of[channel.sender]] == (one.number if is_tie else sent[number])
            if channel.receiver in index_of:
                assert record.processed_on(c)[index_of[channel.receiver]] == (one.number if is_tie else processed[number])
        seen += 1
    assert seen


def test_logs_forget_what_no_line_asks_for_and_nothing_else() -> None:
    simulation = simulated(with_losses(counting(protocol=hybrid(("bids", "keys"), ("counts",))), [loss("w1", 0.29)]), trace=False)
    simulation.run_until(250_000_000)
    coordinator, w = simulation._actors.actors[0], simulation._world.arrays
    reclaim(simulation._actors.actors, simulation._world)
    record = coordinator.record()
    needed = record.processed_at(recovery_line(record).checkpoints)[: len(coordinator.channel_numbers)]
    kept = w.gate[coordinator.channel_numbers, L.Q_KEPT]
    first = np.where(kept >= 0, w.msg[kept, L.M_SEQUENCE], w.carried[coordinator.channel_numbers, L.SEQ_SENT])
    assert (first <= needed).all()
    crossing = w.chan[coordinator.channel_numbers, L.C_EDGE]
    assert all((first[crossing == edge] > 0).any() for edge in (1, 2))


def test_a_report_that_comes_too_late_confirms_no_round() -> None:
    """It is the last one, and under way when its round is aborted."""

    def in_the_last_report(simulation: engine.Simulation) -> set[int]:
        opened, machines = simulation._actors.actors[0].open(0), simulation._actors.agent.machines
        waits_for_one = opened is not None and set(opened.done) == {1, 2, 3}
        return {1} if waits_for_one and not machines[0].uploads and opened.number not in machines[0].taken else set()

    parted = partial(hybrid, ("keys", "counts", "sink"))
    simulation, lost_ns, host = lost_then(slow(counting, parted), in_the_last_report, 50 * MS, 200 * MS, False)
    opened = simulation._actors.actors[0].open(0)
    simulation.run_until(lost_ns + 20 * MS)
    about = simulation.checkpointing
    assert host == 1
    assert len(about["recoveries"]) == 1
    assert about["rounds"][opened.number - 1]["ended"] == "aborted"
    assert opened.number not in {row[M.NUMBER] for row, _, _ in about["taken"][4]}


@pytest.mark.parametrize("other", [False, True], ids=["there", "elsewhere"])
def test_a_loss_in_a_round_of_one_region(other: bool) -> None:
    """While instances wait for barriers: that round comes to nothing; its region goes back to an earlier one, the other to its own."""
    parted = partial(hybrid, ("bids",), ("keys", "counts"))
    simulation, lost_ns, host = lost_then(slow(counting, parted), in_a_round, 100 * MS, 200 * MS, other)
    opened = simulation._actors.actors[0].open(1)
    simulation.run_until(simulation.end_ns)
    about = simulation.checkpointing
    (recovery,) = about["recoveries"]
    assert recovery["hosts"] == [host]
    cut = about["rounds"][opened.number - 1]
    assert (cut["region"], cut["ended"]) == (1, "aborted")
    assert cut["triggered_ns"] < lost_ns < cut["ended_ns"]
    sources, region = set(recovery["line"][:4]), set(recovery["line"][4:12])
    assert len(sources) == len(region) == 1
    assert max(region) < opened.number
    assert values(simulation).keys() == expected(counting, parted)


def test_the_line_is_that_of_the_graph_with_ties() -> None:
    """All instances of a region go back to one round; rollback propagation on the graph of all checkpoints finds the same."""
    document = with_losses(counting(protocol=hybrid(("bids", "keys"), ("counts", "sink"))), [loss("w2", 0.2)])
    document["cluster"]["hosts"][0]["egress_latency_ms"] = 5.0
    simulation = simulated(document, trace=False)
    simulation.run_until(199_000_000)
    coordinator = simulation._actors.actors[0]
    record = coordinator.record()
    found = recovery_line(record)
    (*_, last) = rollback_propagation(record.newest, checkpoint_graph(record))
    assert last.root == found.checkpoints
    numbers = [own[index - 1][0][M.NUMBER] if index else 0 for own, index in zip(coordinator.taken, found.checkpoints, strict=True)]
    assert not orphans(record, found.checkpoints)
    simulation.run_until(simulation.end_ns)
    (recovery,) = simulation.checkpointing["recoveries"]
    assert recovery["line"] == [numbers[0]] * 8 + [numbers[8]] * 8
    assert numbers[0] > 0 < numbers[8] != numbers[0]


def test_regions_and_what_is_in_none_have_intervals_of_their_own() -> None:
    regions = [
        {"name": "in", "operators": ["bids", "keys"], "interval_s": 0.02},
        {"name": "counts", "operators": ["counts"], "mode": "uncoordinated", "interval_s": 0.1},
    ]
    about = finished(counting(protocol=hybrid(regions=regions, jitter_s=0))).checkpointing
    assert [one["triggered_ns"] for one in about["rounds"]][:3] == [20_000_000, 40_000_000, 60_000_000]
    asked = {i: [row[M.CAPTURED_NS] // 10_000_000 for row, _ in about["stored"] if row[M.INSTANCE] == i] for i in range(16)}
    assert not any(asked[i] for i in range(8))
    assert all(asked[i] == [10, 20, 30] for i in range(8, 12))
    assert all(asked[i] == [4, 8, 12, 16, 20, 24, 28] for i in range(12, 16))


def test_by_default_chains_of_forward_edges_are_regions() -> None:
    def chains(job: Callable[..., Document]) -> list[list[str]]:
        simulation = simulated(job(protocol=hybrid()), trace=False)
        return [region.operators for region in simulation._actors.actors[0].regions]

    assert chains(counting) == [["bids", "keys"]]
    assert chains(joining) == []
    assert chains(circling) == [["bids", "enter"]]  # what is forward on the cycle is left out


def test_only_what_crosses_a_border_is_logged_and_charged() -> None:
    """Logging is work of who sends; within a region there is none."""

    def busy(*regions: Any, **more: Any) -> dict[str, float]:
        about = finished(counting(protocol=hybrid(*regions, log_share=1.0, interval_s=0.2, **more))).summary()["operators"]
        return {name: of_one["busy"] for name, of_one in about.items()}

    apart, together = busy(regions=[]), busy(("keys", "counts"))
    assert together["bids"] == pytest.approx(apart["bids"], rel=0.05)
    assert together["keys"] < 0.6 * apart["keys"]
    assert together["counts"] == pytest.approx(apart["counts"], rel=0.05)


@pytest.mark.parametrize("regions", [(("bids", "keys"),), (("keys", "counts"), ("sink",))])
def test_frames_tell_rounds_with_their_region(regions: Regions) -> None:
    document = with_losses(counting(protocol=hybrid(*regions)), [loss("w1", 0.1305)])
    simulation = simulated(document | {"measurement": {"frame_ms": 7}}, trace=False)
    frames = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame["checkpoints"])
    about = simulation.checkpointing
    told = {one["number"]: one for frame in frames for one in frame["rounds"]}
    assert [(n, one["ended"], one["region"], tuple(one["operators"])) for n, one in sorted(told.items())] == [
        (one["number"], one["ended"] or None, regions[one["region"]][0], regions[one["region"]]) for one in about["rounds"]
    ]
    durable = [one for frame in frames for one in frame["durable"]]
    kinds = {name: {one["kind"] for one in durable if one["operator"] == name} for name in WHOLE}
    inside = {operator for region in regions for operator in region}
    assert kinds == {name: {"coordinated"} if name in inside else {"basic"} for name in WHOLE}
    assert len(durable) == len(about["stored"]) + sum(len(one["taken"]) for one in about["rounds"])


def around(region: tuple[str, ...]) -> Document:
    """Eight senders, and two ways from them to one instance: straight, and by way of a slow one. Channels hold two records."""
    mapping = {"kind": "map", "params": {"fields": [{"name": "bidder", "expression": "bidder"}]}}
    operators: list[Document] = [
        {"id": "bids", "kind": "source", "parallelism": 8},
        {"id": "senders", "parallelism": 8, **mapping},
        *({"id": id, **mapping} for id in ("slow", "behind", "both")),
        {"id": "sink", "kind": "sink"},
    ]
    operators[2]["cost"] = {"record_us": 400}
    ways = [("senders", "slow"), ("slow", "behind"), ("behind", "both"), ("senders", "both")]
    hashed = [{"source": a, "target": b, "partitioning": {"kind": "hash", "key": "bidder"}} for a, b in ways]
    edges = [{"source": "bids", "target": "senders"}, *hashed, {"source": "both", "target": "sink"}]
    sources = {"bids": corner_cases.bids(8000.0)}
    made = corner_cases.document(operators, edges, [corner_cases.host("w", count=2)], sources, horizon_s=0.5)
    made["policies"] = {"checkpointing": hybrid(region), "flow_control": {"kind": "credits", "per_channel": 2}}
    made["workload"] |= {"drain": True}
    return made


def test_with_credits_a_way_around_a_region_would_stand_still() -> None:
    """So it is refused. The barrier of one way bars a channel at the end, which stops that way back to its beginning: the barrier of the
    other way is never sent."""
    refused, accepted = around(("senders", "behind", "both")), around(("senders", "slow", "behind", "both"))
    assert [problem.pointer for problem in validate(refused)] == ["/policies/checkpointing/regions"]
    stopped = engine.Simulation(Experiment.model_validate(refused), datasets=DATASETS)  # as if it were not
    stopped.run_until(stopped.end_ns)
    assert not stopped.drained
    assert [one["ended"] for one in stopped.checkpointing["rounds"]] == [""]
    assert validate(accepted) == []
    assert finished(accepted).drained


def test_by_default_a_hot_key_delays_no_others() -> None:
    """Half the load, one item in five a hot one: the median is that of uncoordinated checkpoints, where aligned rounds stop everybody."""
    document = template("checkmate_q12", horizon_s=60.0, warmup_s=20.0)
    document["workload"]["sources"]["bids"]["rate"]["per_s"] *= 0.625
    document["workload"]["sources"]["bids"]["arrivals"] = {"kind": "even"}  # a burst alone would make a median of half its length
    document["workload"]["sources"]["bids"]["stream"]["hot_ratio"] = 0.2
    p50_ms = {}
    for kind in ("coordinated", "uncoordinated", "hybrid"):
        simulation = finished(document | {"policies": {**document["policies"], "checkpointing": {"kind": kind}}})
        p50_ms[kind] = simulation.summary()["latency_ms"]["p50"]
    assert p50_ms["hybrid"] <= 1.2 * p50_ms["uncoordinated"]  # docs/checkpointing.md
    assert p50_ms["coordinated"] > 10 * p50_ms["hybrid"]
