"""How a toy would cheat at checkpointing, and the test that stops each cheat (docs/checkpointing.md).

1. The newest checkpoints of each, or a formula, in place of a search: `test_recovery_line.py`, brute force over random histories.
2. Exactly once on good days only: `test_recovery.py`, `test_losses_on_purpose.py`, `test_consistency_after_losses.py`.
3. Nothing is really sent again: here.
4. Communication-induced as uncoordinated times a constant: `test_dependency_vectors.py` (useless checkpoints without the
   tests, vectors against the readable rules), `test_forced_checkpoints.py` (bits of oneself); a forced checkpoint that comes too late:
   here.
5. What messages grow by as a constant factor: here.
6. Barriers that overtake: `test_barriers.py`; barriers that do not wait behind a straggler's backlog, checkpoints of a round that do not
   fit together: here.
7. Channels with a bound that nobody asked for: here.
8. A straggler that shares its core with nobody: here.
9. One rate for all protocols: here (studies themselves: `test_studies.py`).
10. Channels within a worker left out: `test_recovery_line.py`; that a run goes back to such a line: here.
11. Useless and given up as one thing: `test_z_cycles.py`; in a whole run: here.
12. Checkpoints for nothing: here.
13. A loss that loses nothing: `test_host_loss.py`, `test_losses_on_purpose.py`; survivors that keep what they have, checkpoints of which
    the store has a part: here.
14. Counters that begin anew with each interval: `test_recovery_line.py`; in a whole run: here.
15. A second loss: `test_losses_on_purpose.py`; numbers in logs, what is forgotten of them, records of an epoch that is over: here.
16. Barriers that pass over a cycle's back edge: `test_barriers.py`, `test_recovery.py` (it stands still),
    `tests/spec/test_bad_checkpointing.py` (it is refused).
17. Windows by the processing clock that live on in a checkpoint: `test_checkmate.py` without losses; with one: here.
18. Chance without a seed: `test_determinism.py`, `test_recovery.py` without timers; timers: here.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import engine
from engine.checkpointing import messages as M
from engine.checkpointing.recovery_line import orphans, recovery_line
from engine.core import layout as L
from engine.core.control.instance_checkpoint import READ, Checkpoint
from engine.simulation.local_study import run_study
from engine.spec.study.study import load_study
from tests.support import corner_cases

from ...support.agreement import finished, simulated, template, traced, with_hot_items
from ...support.moments import coordinator_of
from ...support.recovery_examples import (
    PROTOCOLS,
    communication_induced,
    coordinated,
    coordinated_unaligned,
    counting,
    joining,
    loss,
    uncoordinated,
    useless,
    values,
    with_losses,
    with_protocol,
)
from ...support.study_examples import searched

Document = dict[str, Any]
MS, SECOND = 10**6, 10**9
RECORD, CONTROL_MESSAGE, BARRIER = 0, 4, 5  # kinds of services

with_replays = pytest.mark.parametrize(
    "protocol", [coordinated_unaligned, uncoordinated, communication_induced], ids=lambda protocol: protocol.__name__
)
without_rounds = pytest.mark.parametrize("protocol", [uncoordinated, communication_induced], ids=lambda protocol: protocol.__name__)
with_each = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)


def instances_of(simulation: engine.Simulation, operator: str) -> list[int]:
    w = simulation._world.arrays
    return np.flatnonzero(w.inst[:, L.I_OP] == simulation._plan.operators.index(operator)).tolist()


def stored(simulation: engine.Simulation) -> dict[tuple[int, int], Checkpoint]:
    """What the store has, whole checkpoints with their contents, by instance and number."""
    store = simulation._actors.actors[1]
    return {(M.of_key(key)[1], M.of_key(key)[0]): Checkpoint.from_bytes(content) for key, (_, content) in store.objects.items() if content}


def until_all_go_on(simulation: engine.Simulation, recoveries: int = 1) -> None:
    """To the first ms at which all machines do, behind so many recoveries."""
    worker = simulation._actors.agent
    about = coordinator_of(simulation)
    while len(about.recoveries) < recoveries or about.recovering or any(machine.line for machine in worker.machines.values()):
        assert simulation.now_ns < simulation.end_ns
        simulation.run_until(simulation.now_ns + MS)


def far_apart(protocol: Callable[..., Document], latency_ms: float, **parts: Any) -> Document:
    """The counting job on links so long that much is always under way."""
    made = counting(protocol=protocol(interval_s=0.4, detect_ms=1), **parts)
    made["cluster"]["hosts"][0]["egress_latency_ms"] = latency_ms
    return made


# -- 3: records that were in flight are really sent again ----------------------------------------------------------------------------------


@with_replays
def test_what_is_sent_again_is_what_the_checkpoints_say(protocol: Callable[..., Document]) -> None:
    """Stops: a count of replays without replays. Links of 1 s; on each channel between hosts the records p + 1 .. s of the two checkpoints
    are on their way again, each once, and no other."""
    made = with_losses(far_apart(protocol, 1000, horizon_s=7.0, per_s=300.0), [loss("w2", 6.1)])
    simulation = simulated(made, trace=False, keep_outputs=True)
    simulation.run_until(6_100_000_000)
    until_all_go_on(simulation)
    w, world = simulation._world.arrays, simulation._world
    line = coordinator_of(simulation).recoveries[-1].line
    kept = stored(simulation)
    sent, processed = np.zeros(len(w.chan), np.int64), np.zeros(len(w.chan), np.int64)
    for i, number in enumerate(line):
        if number:
            sent[world.leaving[i]], processed[world.entering[i]] = kept[i, number].sent, kept[i, number].processed
    assert min(line) > 0
    free = set(w.free[: w.g[L.G_FREE]].tolist())
    again: Counter[tuple[int, int]] = Counter()
    for slot, row in enumerate(w.msg[: len(w.free)].tolist()):
        if slot not in free and row[L.M_KIND] == L.RECORD and row[L.M_INCARNATION] % L.EPOCH == L.REPLAYED:
            again[row[L.M_CHANNEL], row[L.M_SEQUENCE]] += 1
    hosts = w.inst[w.chan[:, [L.C_SENDER, L.C_RECEIVER]], L.I_HOST]
    apart = np.flatnonzero(hosts[:, 0] != hosts[:, 1]).tolist()
    expected = {(c, number) for c in apart for number in range(processed[c], sent[c])}
    assert {name: count for name, count in again.items() if name[0] in apart} == dict.fromkeys(expected, 1)
    assert len(expected) > 100
    simulation.run_until(simulation.end_ns)
    assert values(simulation).keys() == values(finished(far_apart(protocol, 1000, horizon_s=7.0, per_s=300.0))).keys()


# -- 4: a forced checkpoint is taken before the record that forces it ----------------------------------------------------------------------


def test_what_forces_a_checkpoint_is_not_in_it() -> None:
    """Stops: forcing behind the state change. By the trace: a forced checkpoint has counted what its instance began to serve before, and a
    record's service begins at that moment."""
    simulation = finished_with_trace(counting(protocol=communication_induced()))
    columns = simulation.trace().columns()
    records = columns["kind"] == RECORD
    entering = simulation._world.entering
    forced = 0
    for own in coordinator_of(simulation).taken:
        for row, _, processed in own:
            if row[M.FORCED]:
                here = records & (columns["instance"] == row[M.INSTANCE])
                before = columns["channel"][here & (columns["start_ns"] < row[M.CAPTURED_NS])]
                assert processed.tolist() == [int((before == c).sum()) for c in entering[row[M.INSTANCE]]]
                assert (columns["start_ns"][here] == row[M.CAPTURED_NS]).sum() == 1
                forced += 1
    assert forced > 20


def finished_with_trace(document: Document) -> engine.Simulation:
    simulation = traced(document)
    return simulation


# -- 5: what records carry more is counted, and depends on the number of instances ---------------------------------------------------------


def bytes_per_record(document: Document) -> tuple[float, float, int]:
    """What records take on channels, with the watermarks between them; what of it the protocol adds; and how many instances there are."""
    simulation = finished(document)
    w = simulation._world.arrays
    records = int(w.carried[:, L.SEQ_SENT].sum())
    out_bytes, added_bytes = w.host[:, [L.H_OUT_BYTES, L.H_PIGGYBACK_BYTES]].sum(axis=0).tolist()
    return out_bytes / records, added_bytes / records, len(w.inst)


@pytest.mark.parametrize("hosts", [3, 4, 7])
def test_records_grow_by_what_the_vectors_take(hosts: int) -> None:
    """Stops: a factor. 300 bytes and two for each instance, with more instances and with another operator; on the links, too."""
    for widen in (False, True):
        plain, induced = (counting(protocol=protocol(), hosts=hosts) for protocol in (uncoordinated, communication_induced))
        for document in (plain, induced):
            if widen:
                document["query"]["operators"].append({"id": "aside", "kind": "sink", "parallelism": 2 * hosts})
                document["query"]["edges"].append({"source": "counts", "target": "aside", "partitioning": {"kind": "rebalance"}})
        without, nothing, instances = bytes_per_record(plain)
        carrying, added, same = bytes_per_record(induced)
        assert nothing == 0
        assert instances == same == hosts * (6 if widen else 4)
        assert carrying - without == pytest.approx(added)
        assert added == 300 + 2 * instances
        fewer = induced | {"policies": {"checkpointing": induced["policies"]["checkpointing"] | {"variant": "bcs"}}}
        assert bytes_per_record(fewer)[1] == 302  # one number


# -- 6: barriers wait in line, and a round is one cut --------------------------------------------------------------------------------------


def test_the_wait_for_a_barrier_is_the_delay_of_the_straggler() -> None:
    """Stops: barriers beside the streams, or for nothing. Two ways lead to the sink; on one there are 50 ms of work to be done first."""
    operators = [
        {"id": "left", "kind": "source"},
        {"id": "right", "kind": "source"},
        {"id": "slow", "kind": "map", "params": {"fields": [{"name": "bidder", "expression": "bidder"}]}, "cost": {"record_us": 200}},
        {"id": "quick", "kind": "map", "params": {"fields": [{"name": "bidder", "expression": "bidder"}]}, "cost": {"record_us": 1}},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 1}},
    ]
    edges = [{"source": a, "target": b} for a, b in (("left", "slow"), ("right", "quick"), ("slow", "sink"), ("quick", "sink"))]
    sources = {"left": corner_cases.bids(10_000), "right": corner_cases.bids(10_000)}
    hosts = [corner_cases.host(name) for name in ("a", "b", "c", "d", "e")]
    places = {"left": ["a"], "right": ["b"], "slow": ["c"], "quick": ["d"], "sink": ["e"]}
    made = corner_cases.document(
        operators, edges, hosts, sources, placement={"kind": "explicit", "hosts": places}, horizon_s=0.16,
    )  # fmt: skip
    simulation = finished_with_trace(with_protocol(made, coordinated(interval_s=0.1)))
    columns = simulation.trace().columns()

    def services(operator: str, kind: int) -> np.ndarray[Any, Any]:
        here = (columns["instance"] == instances_of(simulation, operator)[0]) & (columns["kind"] == kind)
        return np.stack([columns[name][here] for name in ("ready_ns", "start_ns", "end_ns")], axis=1)

    ((ready_ns, start_ns, _),) = services("slow", BARRIER).tolist()
    records = services("slow", RECORD)
    waiting = records[(records[:, 0] <= ready_ns) & (records[:, 2] > ready_ns)]
    assert start_ns == waiting[-1, 2], "what came before it is served before it ..."
    assert records[records[:, 1] >= start_ns, 0].min() > ready_ns, "... and what came behind it is not"
    assert start_ns - ready_ns == waiting[-1, 2] - ready_ns > 45 * MS
    first_ns, last_ns = services("sink", BARRIER)[:, 1].tolist()
    quick = services("quick", BARRIER)[0]
    assert last_ns - first_ns == pytest.approx((start_ns - ready_ns) - (quick[1] - quick[0]), abs=MS)
    row = next(row for row in simulation.checkpointing["rounds"][0]["taken"] if row[M.INSTANCE] == instances_of(simulation, "sink")[0])
    assert row[M.CAPTURED_NS] == last_ns


@with_each
def test_counters_and_state_of_a_checkpoint_are_of_one_moment(protocol: Callable[..., Document]) -> None:
    """Stops: state that is a record ahead of its counters, data from behind a barrier in a checkpoint, or data before it left out. The
    counts that are stored add up to the records served; those of an aligned round, to the records that the sources had read."""
    made = with_losses(counting(protocol=protocol(interval_s=0.02)), [loss("w1", 0.2999)])
    simulation = simulated(made, trace=False)
    counts, sources = instances_of(simulation, "counts"), instances_of(simulation, "bids")
    seen, rounds = set(), 0
    for now_ns in range(MS, 299 * MS, 2 * MS):
        simulation.run_until(now_ns)
        kept = stored(simulation)
        confirmed = getattr(coordinator_of(simulation), "_confirmed", [])
        if protocol is coordinated and confirmed and (number := confirmed[0][M.NUMBER]) > rounds:
            rounds = number
            assert sum(counted(kept[i, number]) for i in counts) == sum(int(kept[i, number].words[READ]) for i in sources) > 0
        if protocol is not coordinated:
            for (i, number), checkpoint in kept.items():
                if i in counts and (i, number) not in seen:
                    seen.add((i, number))
                    assert counted(checkpoint) == int(checkpoint.processed.sum())
    assert rounds > 10 or len(seen) > 30


def counted(checkpoint: Checkpoint) -> int:
    state = checkpoint.state
    return 0 if state is None else int(state.entries[:, L.S_COUNT].sum())


# -- 7: channels have no bound -------------------------------------------------------------------------------------------------------------


def skewed(kind: str, share: float = 0.3, horizon_s: float = 25.0, **policies: Any) -> Document:
    """CheckMate's Q12 at half of the load that it sustains without hot bidders."""
    document = with_hot_items(template("checkmate_q12", horizon_s=horizon_s, warmup_s=5.0), share)
    document["workload"]["sources"]["bids"] |= {"rate": {"kind": "constant", "per_s": 6250}, "arrivals": {"kind": "even"}}  # no bursts
    document["policies"] |= policies
    document["policies"]["checkpointing"] = {"kind": kind, "interval_s": 5.0}
    return document


def test_a_straggler_s_channels_take_whatever_comes() -> None:
    """Stops: a bound on channels, by which a straggler would hold all others up, whatever the protocol. It grows and grows, nobody is
    blocked, and only sources on its own worker wait; with credits the median explodes."""
    simulation = simulated(skewed("uncoordinated"), trace=False, keep_outputs=False)
    depths = []
    straggler = instances_of(simulation, "count")[1]
    for now_s in (5, 10, 15, 20):
        simulation.run_until(now_s * SECOND)
        depths.append(int(simulation._world.arrays.inst[straggler, L.I_QUEUE_COUNT]))
    assert all(later > before + 2000 for before, later in pairwise(depths)), depths
    simulation.run_until(simulation.end_ns)
    found = simulation.summary()
    assert {operator["blocked"] for operator in found["operators"].values()} == {0.0}
    unread = simulation._world.arrays.inst[:, L.I_LOG_END] - simulation._world.arrays.inst[:, L.I_LOG]
    behind = [int(unread[i]) for i in instances_of(simulation, "bids")]
    assert behind[1] > 10 * max(behind[:1] + behind[2:])
    bounded = finished(skewed("uncoordinated", flow_control={"kind": "credits", "per_channel": 8})).summary()
    assert bounded["operators"]["bids"]["blocked"] > 0.1
    assert bounded["latency_ms"]["p50"] > 100 * found["latency_ms"]["p50"]


# -- 8: the straggler shares its core with a source ----------------------------------------------------------------------------------------


def with_cores_for_sources(document: Document) -> Document:
    document = copy.deepcopy(document)
    workers = document["cluster"]["hosts"][0]
    document["cluster"]["hosts"].append(workers | {"name": "s"})
    names = {name: [f"{name}{n + 1}" for n in range(workers["count"])] for name in ("w", "s")}
    document["placement"] = {"kind": "explicit", "hosts": {"bids": names["s"], "count": names["w"], "sink": names["w"]}}
    return document


def test_barriers_are_late_because_a_source_shares_the_straggler_s_core() -> None:
    """Stops: workers that are no workers. With cores of their own the sources send their barriers at once, and most records wait for
    nothing; the rounds still take seconds, and without rounds nothing changes."""
    together, apart = (finished(made).summary() for made in (skewed("coordinated"), with_cores_for_sources(skewed("coordinated"))))
    assert together["latency_ms"]["p50"] > 5 * apart["latency_ms"]["p50"]
    assert apart["checkpointing"]["checkpointing_time_ms"] > 1000
    alone, own = (finished(made).summary() for made in (skewed("uncoordinated"), with_cores_for_sources(skewed("uncoordinated"))))
    assert alone["latency_ms"]["p50"] < 2 * own["latency_ms"]["p50"] < together["latency_ms"]["p50"] / 100


# -- 9: a rate for each --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_protocol_runs_at_four_fifths_of_what_it_sustains_itself() -> None:
    """Stops: one rate for all. Logging takes a tenth of the work, and what records carry more still more; the load of each run is kept."""
    kinds = ["none", "coordinated", "uncoordinated", "communication_induced"]
    fields = [{"name": "bidder", "expression": "bidder"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2, "cost": {"record_us": 1000}},
        {"id": "same", "kind": "map", "parallelism": 2, "params": {"fields": fields}, "cost": {"record_us": 1000}},
        {"id": "sink", "kind": "sink", "parallelism": 2, "cost": {"record_us": 500}},
    ]
    edges = [{"source": a, "target": b, "partitioning": {"kind": "rebalance"}} for a, b in (("bids", "same"), ("same", "sink"))]
    machine = corner_cases.host("w", count=2, cores=1, processor={"kind": "shared_fifo"})
    made = corner_cases.document(operators, edges, [machine], {"bids": corner_cases.bids(100)}, horizon_s=60.0)
    made = with_protocol(made, {"kind": "none"})
    made["workload"]["drain"] = False
    axes = [{"name": "protocol", "fields": ["/policies/checkpointing/kind"], "values": {"kind": "list", "of": kinds}}]
    answer = run_study(load_study(searched(made, 200, 1200, shares=[0.8]) | {"axes": axes}))
    own = [found.bracket.sustained or 0.0 for found in answer.found]
    assert own[0] >= own[1] > 1.04 * own[2] > 1.2 * own[3]
    assert [row.trial[2] for row in answer.rows] == pytest.approx([0.8 * each for each in own], rel=1e-6)
    taken = [row.metrics["throughput_in_per_s"] for row in answer.rows]
    assert taken == pytest.approx([0.8 * each for each in own], rel=0.01)


# -- 10 and 11: all channels count, and what is given up is not useless --------------------------------------------------------------------


def freely(**more: Any) -> Document:
    """Each instance by its own clock, and nothing forced: those on one worker are cut at different moments."""
    return communication_induced(clock_test=False, cycle_test=False, **more)


def test_nobody_goes_back_to_a_line_that_leaves_channels_out() -> None:
    """Stops: a line by channels between workers alone, as in the published figures. It would hold orphans."""
    worse = 0
    for n in range(6):
        at_s = 0.151 + 0.0137 * n
        made = with_losses(counting(protocol=freely()), [loss("w2", at_s)])
        detected_ns = coordinator_of(finished(made)).recoveries[0].detected_ns
        simulation = simulated(made, trace=False)
        simulation.run_until(detected_ns - 1)
        coordinator = coordinator_of(simulation)
        record, forgotten = coordinator.record(), list(coordinator.forgotten)
        strict, lax = recovery_line(record), recovery_line(record, "cross_worker_only")
        simulation.run_until(simulation.end_ns)
        assert not orphans(record, strict.checkpoints)
        assert [used - before for (_, used), before in zip(coordinator.lines[0], forgotten, strict=True)] == list(strict.checkpoints)
        worse += len(orphans(record, lax.checkpoints)) > 0
    assert worse > 0


def test_checkpoints_that_are_given_up_are_not_useless() -> None:
    """Stops: one number for both. Without a cycle of channels none is useless, and some are given up by a recovery."""
    for protocol in (uncoordinated, freely):
        count, taken = useless(counting(protocol=protocol()))
        assert count == 0 < taken
        about = coordinator_of(finished(with_losses(counting(protocol=protocol()), [loss("w2", 0.2)])))
        assert sum(newest - used for newest, used in about.lines[0]) > 0


# -- 12: checkpoints cost something --------------------------------------------------------------------------------------------------------


@with_each
def test_checkpoints_of_a_growing_state_grow_and_are_paid_for(protocol: Callable[..., Document]) -> None:
    """Stops: checkpoints for nothing. Q3 keeps all that it has seen; the service in which a checkpoint is taken takes 1 ms, and the time to
    write so many bytes."""
    document = with_protocol(template("checkmate_q3", horizon_s=8.0), {"kind": protocol()["kind"], "interval_s": 1.5})
    document["workload"]["drain"] = True
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] /= 2
    simulation = finished_with_trace(document)
    about = simulation.checkpointing
    rows = [row for one in about["rounds"] for row in one["taken"]] if "rounds" in about else [row for row, _ in about["stored"]]
    joins = instances_of(simulation, "join")
    for i in joins:
        sizes = [row[M.BYTES] for row in sorted(rows, key=lambda row: row[M.CAPTURED_NS]) if row[M.INSTANCE] == i]
        assert len(sizes) >= 3
        if protocol is not coordinated_unaligned:  # what is under way is part of it, and there is more of it now and then
            assert sizes == sorted(set(sizes))
        assert sizes[-1] > 2 * sizes[0] > 2000
    columns = simulation.trace().columns()
    took = dict(
        zip(zip(columns["instance"].tolist(), columns["start_ns"].tolist(), strict=True), columns["service_ns"].tolist(), strict=True)
    )
    for row in rows:
        cost_ns = MS + row[M.BYTES] * 1e9 / 30e6  # 30 MB/s
        under_way = protocol is coordinated_unaligned  # what came behind the first barrier is written with the last one
        service_ns = took[row[M.INSTANCE], row[M.CAPTURED_NS]]
        assert service_ns >= (MS if under_way else cost_ns - 1)
        if not row[M.FORCED]:
            assert service_ns <= cost_ns + 0.5 * MS


def test_rounds_stop_all_workers_and_a_timer_stops_one() -> None:
    """Stops: checkpoints by a clock for all. The instances of a worker are cut one right behind the other, and nothing is served between
    them; meanwhile others serve records. A round cuts all of them."""
    document = template("checkmate_q12", horizon_s=8.0)
    simulation = finished_with_trace(with_protocol(document, {"kind": "uncoordinated", "interval_s": 1.5}))
    columns = simulation.trace().columns()
    host_of = coordinator_of(simulation).host_of
    hosts = np.array(host_of)[columns["instance"]]
    moments: dict[tuple[int, int], list[int]] = {}
    for row, _ in simulation.checkpointing["stored"]:
        moments.setdefault((host_of[row[M.INSTANCE]], row[M.NUMBER]), []).append(row[M.CAPTURED_NS])
    served_elsewhere = 0
    for (host, _), captured in moments.items():
        first_ns, last_ns = min(captured), max(captured)
        assert len(captured) == 3
        meanwhile = (columns["start_ns"] >= first_ns) & (columns["start_ns"] <= last_ns)
        assert set(columns["kind"][meanwhile & (hosts == host)].tolist()) == {CONTROL_MESSAGE}
        served_elsewhere += int((meanwhile & (hosts != host) & (columns["kind"] == RECORD)).sum())
    assert len(moments) > 30
    assert served_elsewhere > 100
    about = finished(with_protocol(document, {"kind": "coordinated", "interval_s": 1.5})).checkpointing
    assert {len(one["taken"]) for one in about["rounds"] if one["ended"] == "confirmed"} == {30}


# -- 13: a loss loses something, on all hosts ----------------------------------------------------------------------------------------------


@with_each
def test_a_recovery_takes_from_survivors_what_they_had(protocol: Callable[..., Document]) -> None:
    """Stops: rolling back the lost host alone. Between the order and the going on no instance has state; then each has just what is in its
    checkpoint."""
    simulation = simulated(with_losses(counting(protocol=protocol()), [loss("w2", 0.1503)]), trace=False)
    simulation.run_until(150_300_000)
    counts = instances_of(simulation, "counts")

    def state() -> list[int]:
        return simulation._world.arrays.inst[counts, L.I_STATE_BYTES].tolist()

    before = state()
    assert [bool(size) for size in before] == [True, False, True, True]
    simulation.run_until(153 * MS)
    assert coordinator_of(simulation).recovering
    assert state() == [0, 0, 0, 0]
    while coordinator_of(simulation).recovering or sum(state()) == 0:
        simulation.run_until(simulation.now_ns + 10_000)
    line = coordinator_of(simulation).recoveries[0].line
    kept = stored(simulation)
    restored = [kept[i, line[i]].state for i in counts]
    assert state() == [0 if found is None else found.state_bytes for found in restored]
    assert sum(state()) > 0


def test_of_a_checkpoint_whose_last_piece_is_missing_nothing_is_made() -> None:
    """Stops: a checkpoint that counts when its upload begins, or with its first piece. Q3's joins have some MB each."""
    document = with_protocol(template("checkmate_q3", horizon_s=14.0), {"kind": "uncoordinated", "interval_s": 3.0})
    document = with_losses(document, [loss("w3", 13.9)])
    simulation = simulated(document, trace=False, keep_outputs=False)
    simulation.run_until(8 * SECOND)
    worker = simulation._actors.agent
    while not (cut := _half_stored(worker)):
        assert simulation.now_ns < 13 * SECOND
        simulation.run_until(simulation.now_ns + MS // 2)
    host, number, i = cut
    name = document["cluster"]["hosts"][0]["name"] + str(host + 1)
    made = with_losses(document | {"faults": []}, [loss(name, (simulation.now_ns + 1) / 1e9)])
    lost = simulated(made, trace=False, keep_outputs=False)
    lost.run_until(simulation.now_ns)
    assert _half_stored(lost._actors.agent) == cut
    lost.run_until(simulation.now_ns + SECOND)
    (recovery,) = coordinator_of(lost).recoveries
    assert not recovery.open
    assert M.key(number, i, 0) in lost._actors.actors[1].objects
    assert (i, number) not in stored(lost)
    assert number not in [row[M.NUMBER] for row, _ in coordinator_of(lost).stored if row[M.INSTANCE] == i]
    assert 0 < recovery.line[i] < number


def _half_stored(worker: Any) -> tuple[int, int, int] | None:
    """Host, number and instance of a checkpoint of which the store has a part."""
    for host, machine in sorted(worker.machines.items()):
        for (number, i), upload in sorted(machine.uploads.items()):
            if 0 < upload.stored < upload.pieces:
                return host, number, i
    return None


# -- 14: counters go on --------------------------------------------------------------------------------------------------------------------


@without_rounds
def test_a_channel_that_was_silent_for_long_is_replayed(protocol: Callable[..., Document]) -> None:
    """Stops: counters by interval. Auctions end at 50 ms, and joins take so long for each that some are unserved through several
    checkpoints of their senders, between which nothing is sent."""
    made = joining(protocol=protocol(interval_s=0.03), horizon_s=0.4, per_s=1500.0)
    steps = [{"at_s": 0, "per_s": 3000.0}, {"at_s": 0.05, "per_s": 0.0}]
    made["workload"]["sources"]["auctions"]["rate"] = {"kind": "steps", "steps": steps}
    made["query"]["operators"][3]["cost"] = {"record_us": 5000}
    simulation = simulated(with_losses(made, [loss("w2", 0.2)]), trace=False, keep_outputs=True)
    simulation.run_until(200 * MS)
    coordinator = coordinator_of(simulation)
    record = coordinator.record()
    line = recovery_line(record).checkpoints
    sent, processed = record.sent_at(line), record.processed_at(line)
    auctions = instances_of(simulation, "auctions")
    for i in auctions:
        assert sum(row[M.INSTANCE] == i and row[M.CAPTURED_NS] > 60 * MS for row, _ in coordinator.stored) >= 2
    silent = [c for c, channel in enumerate(record.channels) if channel.sender in auctions]
    assert sum(int(sent[c] - processed[c]) for c in silent) > 20
    simulation.run_until(simulation.end_ns)
    replays = {c: (first, end) for _, found in coordinator._orders.values() for c, first, end in found}
    assert all(replays[c] == (processed[c], sent[c]) for c in silent if sent[c] > processed[c])
    assert values(simulation).keys() == values(finished(made)).keys()


# -- 15: a second loss ---------------------------------------------------------------------------------------------------------------------


@with_replays
def test_logs_have_each_number_once_whatever_was_lost(protocol: Callable[..., Document]) -> None:
    """Stops: numbers that begin anew, logs that keep what was rolled back. After two losses each log holds its numbers without a gap, up to
    what was sent."""
    made = with_losses(counting(protocol=protocol()), [loss("w1", 0.12), loss("w3", 0.17), loss("w1", 0.23)])
    simulation = simulated(made, trace=False)
    for now_ns in range(10 * MS, 300 * MS, 7 * MS):
        simulation.run_until(now_ns)
        w = simulation._world.arrays
        if coordinator_of(simulation).recovering:
            continue  # senders have not gone back yet
        for c in range(len(w.chan)):
            numbers = []
            slot = int(w.gate[c, L.Q_KEPT])
            while slot >= 0:
                numbers.append(int(w.msg[slot, L.M_SEQUENCE]))
                slot = int(w.msg[slot, L.M_NEXT])
            assert numbers == list(range(int(w.carried[c, L.SEQ_SENT]) - len(numbers), int(w.carried[c, L.SEQ_SENT])))
    assert [recovery.open for recovery in coordinator_of(simulation).recoveries] == [False] * 3


@with_each
def test_what_an_epoch_that_is_over_has_sent_is_dropped(protocol: Callable[..., Document]) -> None:
    """Stops: two histories at once. Links are longer than recoveries, so after each of two what was sent before it still arrives."""
    calm = far_apart(protocol, 0.5, horizon_s=4.0, per_s=600.0)
    names = [f"w{n + 1}" for n in range(4)]
    calm["cluster"]["links"] = [{"source": a, "target": b, "latency_ms": 300} for a in names for b in names if a != b]
    made = with_losses(calm, [loss("w2", 2.9, 0.002), loss("w4", 3.7, 0.002)])
    simulation = simulated(made, trace=False, keep_outputs=True)
    for recoveries, lost_s in ((1, 2.9), (2, 3.7)):
        simulation.run_until(round(lost_s * SECOND))
        until_all_go_on(simulation, recoveries)
        w = simulation._world.arrays
        world, w = simulation._world, simulation._world.arrays
        unsent = {slot for i in range(len(w.inst)) for slot in world.outbox(i)}
        elsewhere = set(w.free[: w.g[L.G_FREE]].tolist()) | set(logged(w)) | unsent
        old = [
            slot
            for slot, row in enumerate(w.msg[: len(w.free)].tolist())
            if slot not in elsewhere and row[L.M_KIND] == L.RECORD and row[L.M_INCARNATION] // L.EPOCH < recoveries
        ]
        before = int(w.inst[:, L.I_LOST].sum())
        assert len(old) > 100
        simulation.run_until(simulation.now_ns + 301 * MS)
        assert int(simulation._world.arrays.inst[:, L.I_LOST].sum()) == before + len(old)
    simulation.run_until(simulation.end_ns)
    assert values(simulation).keys() == values(finished(calm)).keys()


def logged(w: Any) -> list[int]:
    """The messages that stand in logs of channels."""
    found = []
    for slot in w.gate[:, L.Q_KEPT].tolist():
        while slot >= 0:
            found.append(slot)
            slot = int(w.msg[slot, L.M_NEXT])
    return found


def test_logs_and_what_their_records_bring_do_not_grow_for_ever() -> None:
    """Stops: a run that takes ever more memory, since all that was ever sent is kept. What no line can ask for is forgotten whenever the
    logs of sources are loaded; to the model it is still there."""
    document = with_protocol(template("checkmate_q12", horizon_s=45.0), communication_induced(interval_s=1.0))
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = 4000
    simulation = simulated(with_losses(document, [loss("w2", 44.5)]), trace=False, keep_outputs=False)
    kept, rows, told = [], [], []
    for now_s in range(4, 45, 4):
        simulation.run_until(now_s * SECOND)
        w = simulation._world.arrays
        kept.append(len(logged(w)))
        rows.append(len(w.vectors))
        told.append(simulation.summary()["checkpointing"]["log_bytes"])
    sent = int(simulation._world.arrays.carried[:, L.SEQ_SENT].sum())
    assert max(kept) < sent / 2
    assert sum(later < before for before, later in pairwise(kept)) >= 2
    assert rows[-1] == rows[len(rows) // 2]
    assert all(later > before for before, later in pairwise(told))


# -- 17: windows by the processing clock ---------------------------------------------------------------------------------------------------


@with_each
def test_a_window_that_ended_meanwhile_ends_when_all_go_on(protocol: Callable[..., Document]) -> None:
    """Stops: counts of a window that live on by way of a checkpoint. Q12's ends at 5 s, in the middle of a recovery."""
    document = with_protocol(template("checkmate_q12", horizon_s=7.0), protocol(interval_s=0.9, restart_ms=150))
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = 6000
    simulation = simulated(with_losses(document, [loss("w2", 4.95)]), trace=False, keep_outputs=True)
    simulation.run_until(4_950_000_000)
    until_all_go_on(simulation)
    recovery = coordinator_of(simulation).recoveries[0]
    assert recovery.detected_ns < 5 * SECOND < recovery.go_ns
    counts, kept = instances_of(simulation, "count"), stored(simulation)
    stood = [kept[i, recovery.line[i]].state for i in counts]
    assert all(found is not None and len(found.entries) > 20 for found in stood)
    assert (simulation._world.arrays.inst[counts, L.I_ENTRIES] > 20).all(), "until its tick is served, which has its turn on the core"
    sent_again = {c: end - first for _, found in coordinator_of(simulation)._orders.values() for c, first, end in found}
    senders = simulation._world.arrays.chan[:, L.C_SENDER].tolist()
    simulation.run_until(simulation.end_ns)
    delivered = [row for row in simulation.sink_records("sink") if row["end_ns"] > recovery.go_ns]
    for sink, count in zip(instances_of(simulation, "sink"), counts, strict=True):  # forward: what the count's log holds comes first
        rows = [row for row in delivered if row["instance"] == sink][sum(n for c, n in sent_again.items() if senders[c] == count) :]
        numbers = Counter(row["values"][0] for row in rows)
        window = 5 * SECOND, 15 * SECOND
        assert {row["values"] for row in rows} == {(bidder, *window, n) for bidder, times in numbers.items() for n in range(1, times + 1)}
        assert len(rows) > 50


# -- 18: the same seed, the same run -------------------------------------------------------------------------------------------------------


@without_rounds
def test_timers_come_from_the_seed(protocol: Callable[..., Document]) -> None:
    """Stops: chance from elsewhere. Equal seeds give equal services and checkpoints, others give other timers."""
    made = with_losses(counting(protocol=protocol()), [loss("w2", 0.2)])
    one, same = finished_with_trace(made), finished_with_trace(made)
    assert one.digest() == same.digest()
    assert one.service_trace().tolist() == same.service_trace().tolist()
    other = finished(made | {"workload": made["workload"] | {"seed": 2}})

    def captured(simulation: engine.Simulation) -> list[int]:
        return [row[M.CAPTURED_NS] for row, _ in coordinator_of(simulation).stored]

    assert captured(one) == captured(same) != captured(other)
