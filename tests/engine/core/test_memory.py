"""Memory of hosts: what is held, what it slows down, how hosts die of it, and how sources are held back (docs/event-core.md, 13).

What this catches: bytes that are counted twice or forgotten on one of the ways by which a record leaves a queue, an outbox or a state; a
pressure that is read an instant too early; a death that depends on how a run is cut; records that disappear without being counted.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.control.memory_accounting import held_bytes, recount
from engine.core.kernels.memory import pressure_at
from engine.spec.experiment.cluster import Host
from engine.spec.experiment.memory import Budget
from tests.support.strategies import documents

from ...support.agreement import MS, TINY, assert_agreement, simulated, template, traced
from ...support.worked_examples import line, with_memory

US = 1000
MARKS = (L.WATERMARK, L.MARKER)


def counted(simulation: engine.Simulation) -> list[list[int]]:
    """(held, state, items) of each host, counted anew over its queues, outboxes and states."""
    world = simulation._world
    w = world.arrays
    found = []
    for h in range(int(w.g[L.G_MACHINES])):
        law, held, items = int(w.memory[h, L.Z_LAW]), 0, 0
        here = np.flatnonzero(w.inst[:, L.I_HOST] == h)
        for i in here.tolist():
            o = int(w.inst[i, L.I_OP])
            queue = world.queue(i)
            items += len(queue) * int(w.op[o, L.O_WEIGHT])
            for slot in queue:
                kind, edge = w.msg[slot, [L.M_KIND, L.M_EDGE]].tolist()
                held += int(w.footprint[law, edge]) if kind == L.RECORD else L.CONTROL_BYTES if kind in MARKS else 0
            for slot in world.outbox(i):
                kind, port = w.msg[slot, [L.M_KIND, L.M_EDGE]].tolist()
                if kind in MARKS:
                    held += L.CONTROL_BYTES
                    continue
                port = port if w.op[o, L.O_PORTS] > 1 else 0
                leaving = [e for e in range(len(w.edge)) if w.edge[e, L.E_SOURCE] == o and w.edge[e, L.E_OUTPUT] == port]
                held += int(w.footprint[law, leaving[0]])
        found.append([held, int(w.inst[here, L.I_STATE_BYTES].sum()), items])
    return found


# What is held


@given(document=documents(records=(300, 100, 30), budgets=("some", "all")), chance=st.randoms(use_true_random=False), tiny=st.booleans())
def test_bytes_are_those_of_queues_outboxes_and_states_at_any_moment(document: dict[str, Any], chance: random.Random, tiny: bool) -> None:
    simulation = simulated(document, capacity=TINY) if tiny else simulated(document)
    assume(simulation._world.arrays.memory[:, L.Z_WATCHED].any())
    for moment in sorted(chance.randrange(2 * simulation.horizon_ns) for _ in range(6)):
        simulation.run_until(moment)
        memory = simulation._world.arrays.memory
        alive = [h for h in range(len(simulation._plan.hosts)) if memory[h, L.Z_DIED] < 0]
        held = memory[:, [L.Z_HELD, L.Z_STATE, L.Z_ITEMS]].tolist()
        anew = counted(simulation)
        before = memory.copy()
        for h in alive:
            recount(simulation._world.arrays, h)
        assert (memory == before).all()
        assert [held[h] for h in alive] == [anew[h] for h in alive]
        for h in alive:
            row = memory[h]
            if row[L.Z_MODELLED]:
                assert row[L.Z_USED] == row[L.Z_BASE] + row[L.Z_HELD] + row[L.Z_STATE] * row[L.Z_STATE_MILLI] // 1000
                assert row[L.Z_USED] <= row[L.Z_PEAK]


def test_a_queue_is_seen_in_frames_and_files_and_its_peak_in_the_summary() -> None:
    """11 records have come by 10 ms; the sink has begun 4, 3 ms each, the source is at the last one, 6 wait."""
    document = with_memory(line(), budget_mb=0.01, base_mb=0.001, per_record_bytes=50, on_full="nothing")
    simulation = engine.Simulation(document, datasets=None)
    frame = simulation.advance()
    assert frame is not None
    host = frame["hosts"]["h"]
    assert host["queue"] == 6
    assert (host["queue_bytes"], host["unsent_bytes"], host["state_bytes"]) == (600, 100, 0)
    assert host["memory"] == {"used_bytes": 1000 + 7 * 150, "peak_bytes": 1000 + 7 * 150, "slow_down": 1.0, "full": False}
    rows = simulation.telemetry._rows[0]
    at = rows["scope"].tolist().index("host")
    assert (rows["queue_bytes"][at], rows["memory_bytes"][at], rows["pressure"][at]) == (600, 2050, 1 << 16)
    while simulation.advance():
        pass
    assert simulation.summary()["memory"]["h"]["peak_bytes"] == simulation._world.arrays.memory[0, L.Z_PEAK] > 8000


def test_outputs_count_from_the_start_of_their_service_until_they_are_sent() -> None:
    """One credit: of three records that the source has read in 100 us one is served, one waits, one cannot be sent."""
    document = with_memory(line(per_s=100_000.0, horizon_s=0.001), budget_mb=1.0)
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1}}
    simulation = simulated(document)
    simulation.run_until(5 * US)  # the source is at its first record
    assert held_bytes(simulation._world.arrays).sum(axis=1).tolist() == [0, 100, 0]
    assert simulation._world.arrays.memory[0, L.Z_USED] == 100
    simulation.run_until(500 * US)
    assert held_bytes(simulation._world.arrays).sum(axis=1).tolist() == [100, 100, 0]
    assert simulation._world.arrays.memory[0, L.Z_USED] == 200
    assert_agreement(document)


def test_state_counts_by_its_own_factor() -> None:
    document = with_memory(template("nexmark_q3", horizon_s=0.2), budget_mb=100, state_factor=2.5, per_byte=0.0)
    simulation = traced(document)
    w = simulation._world.arrays
    assert w.memory[:, L.Z_STATE].sum() == w.inst[:, L.I_STATE_BYTES].sum() > 10_000
    simulation.run_until(simulation.end_ns)
    for h in range(4):
        held = sum(
            L.CONTROL_BYTES for i in np.flatnonzero(w.inst[:, L.I_HOST] == h) for s in simulation._world.queue(i) if w.msg[s, L.M_KIND]
        )
        assert w.memory[h, L.Z_USED] == int(2.5 * w.memory[h, L.Z_STATE]) + held


def test_bytes_count_times_the_weight() -> None:
    """At scale 10, a tenth of the records, each ten times as dear and as large: the same bytes but for less than one record."""
    used = {}
    for scale in (1, 10):
        document = with_memory(line(per_s=100_000.0, sink_us=30.0), budget_mb=10, per_record_bytes=28)
        document["workload"]["scale"] = scale
        simulation = traced(document)
        used[scale] = int(simulation._world.arrays.memory[0, L.Z_PEAK])
    assert used[1] > 500_000
    assert abs(used[10] - used[1]) <= 2 * 10 * 128


# What it slows down


def test_services_take_longer_by_the_pressure_of_the_last_instant() -> None:
    """A record of 100 bytes is a tenth of the budget, so each that waits adds 0.1 to the factor."""
    points = [{"share": 0.0, "factor": 1.0}, {"share": 10.0, "factor": 11.0}]
    document = with_memory(line(), budget_mb=0.001, on_full="nothing", slow_down={"kind": "points", "points": points})
    services = [row for row in traced(document).service_trace().tolist() if row[0] == 1]
    starts = [start for _, start, _, _ in services]
    took_us = [(end - start) / US for _, start, end, _ in services[:4]]
    # The first finds nothing; while it lasts three records come, and a fourth is read: at the end of the instant before it starts.
    assert starts[0] == 11 * US
    assert took_us[0] == 3000.0
    assert took_us[1] == pytest.approx(3000 * 1.3, abs=0.1)
    assert took_us[2] > took_us[1]
    assert_agreement(document)


@pytest.mark.parametrize(
    ("kind", "share", "factor"),
    [
        *(("klink", share, factor) for share, factor in ((0.1, 1.0), (0.6, 1.0), (0.8, 1.075), (1.0, 1.3), (1.2, 1.675), (9.0, 11.8))),
        *(("costream", share, factor) for share, factor in ((0.0, 1.0), (0.5, 1.08), (0.9, 1.72), (0.98, 4.92), (1.0, 4.92))),
        *(("costream", share, factor) for share, factor in ((1.1, 4.92 * 5), (2.0, 4.92 * 41), (9.0, 4.92 * 81))),
    ],
)
def test_published_curves(kind: str, share: float, factor: float) -> None:
    """1 + 0.30 max(0, (u - 0.6) / 0.4)^2 level from u = 3; 1 + 0.08 u / (1 - u) up to 0.98, then swap."""
    document = with_memory(line(), budget_mb=4096.0, on_full="nothing", slow_down={"kind": kind})
    w = engine.Simulation(document)._world.arrays
    assert pressure_at(w.memory, w.curve, 0, int(share * 4096e6)) / (1 << 16) == pytest.approx(factor, rel=3e-4)


def test_presets_have_the_published_laws() -> None:
    klink = Host.model_validate({"name": "h", "memory_mb": 32_000, "memory": {"kind": "klink_2020"}}).memory
    assert isinstance(klink, Budget)
    assert klink.budget_bytes(32 * 10**9) // 4096 == pytest.approx(5.77e6, rel=1e-2)  # events of 4 KiB in 22 GiB
    assert klink.limit_bytes(32 * 10**9) is None
    costream = Host.model_validate({"name": "h", "memory_mb": 8000, "memory": {"kind": "costream_2024"}}).memory
    assert isinstance(costream, Budget)
    assert (costream.budget_bytes(8 * 10**9), costream.limit_bytes(8 * 10**9)) == (8 * 10**9, 11 * 10**9)
    assert costream.budget_bytes(32 * 10**9) == 12_500 * 10**6
    assert (costream.per_record_bytes, costream.per_value_bytes, costream.per_byte_milli) == (180, 48, 0)


# How hosts die of it


def dying() -> dict[str, Any]:
    """Each record adds 100 bytes, one comes in a millisecond and a third of them is served: the limit of 1,000 is passed after 16 ms."""
    return with_memory(line(), budget_mb=0.001)


def test_a_host_that_holds_too_much_dies_and_the_run_ends() -> None:
    document = dying()
    simulation = traced(document)
    died_ns = int(simulation._world.arrays.memory[0, L.Z_DIED])
    assert 14 * MS < died_ns < 18 * MS
    assert simulation.finished
    assert not simulation.drained
    assert simulation.now_ns == 20 * MS  # the first frame's edge
    for part in ("out of memory: h at", f"{died_ns / 1e9:.9g} s", "1,100 bytes", "limit of 1,000", "policies.ingress"):
        assert part in simulation.exhaustion
    assert simulation.summary()["exhaustion"] == simulation.exhaustion
    assert (simulation.service_trace()[:, 1] <= died_ns).all()
    assert simulation.advance() is None
    assert_agreement(document)


def test_the_others_go_on_until_the_run_ends() -> None:
    document = template("nexmark_q1", horizon_s=2.0)
    document["cluster"]["hosts"][0]["count"] = 2
    first = document["cluster"]["hosts"][0]
    small = {**first, "name": "small", "speed": 0.01, "memory": {"kind": "budget", "budget_mb": 0.003}}
    document["cluster"]["hosts"] = [first, {key: value for key, value in small.items() if key != "count"}]
    document["measurement"]["frame_ms"] = 250
    simulation = traced(document)
    died_ns = int(simulation._world.arrays.memory[2, L.Z_DIED])
    assert died_ns > 0
    assert simulation.now_ns % (250 * MS) == 0
    assert simulation.now_ns - died_ns <= 250 * MS
    host_of = simulation._world.arrays.inst[:, L.I_HOST]
    trace = simulation.service_trace()
    last = [int(trace[host_of[trace[:, 0]] == h, 1].max()) for h in range(3)]
    assert last[2] <= died_ns < min(last[:2])


def test_a_death_comes_at_the_same_moment_however_the_run_is_cut(tmp_path: Path) -> None:
    document = dying()
    whole = engine.Simulation(document)
    whole.run_until(whole.end_ns)
    cut = engine.Simulation(document)
    for moment in (0, 7 * MS + 3, 15 * MS, 16 * MS, 17 * MS, 19 * MS + 999_999):
        cut.run_until(moment)
    cut.save(tmp_path / "snapshot")
    resumed = engine.Simulation.resume(document, tmp_path / "snapshot")
    for simulation in (cut, resumed):
        simulation.run_until(simulation.end_ns)
        assert simulation.digest() == whole.digest()
        assert simulation.exhaustion == whole.exhaustion


def test_nobody_dies_at_the_limit_itself() -> None:
    document = with_memory(line(per_s=1000.0, horizon_s=0.016), budget_mb=0.0011)
    assert traced(document).summary()["memory"]["h"]["peak_bytes"] <= 1100
    assert traced(document).exhaustion == ""


# How sources are held back


def guarded(kind: str, **marks: Any) -> dict[str, Any]:
    document = with_memory(line(horizon_s=0.3), budget_mb=0.001, on_full="nothing")
    document["policies"] = {"ingress": {"kind": kind, **marks}}
    return document


def test_a_throttled_source_leaves_the_records_in_the_log() -> None:
    document = guarded("throttle", queued_max=5)
    simulation = traced(document)
    summary = simulation.summary()
    assert 4 <= int(simulation._world.arrays.memory[0, L.Z_ITEMS]) <= 6
    assert summary["memory"]["h"]["peak_bytes"] <= 700  # queued 6, unsent 1
    assert summary["backlog"] > 150
    assert summary["shed"] == 0
    assert summary["operators"]["sink"]["busy"] > 0.95  # held back, not starved
    assert_agreement(document)


def test_a_throttled_run_has_not_drained_while_its_log_has_records() -> None:
    """State that is never freed keeps the host full for ever."""
    document = template("nexmark_q3", horizon_s=0.05, drain=True, drain_limit_s=1.0)
    document = with_memory(document, budget_mb=0.002, on_full="nothing")
    document["policies"]["ingress"] = {"kind": "throttle", "memory_max": 1.0}
    simulation = traced(document)
    assert not simulation.drained
    assert simulation.now_ns == simulation.end_ns
    assert simulation.summary()["backlog"] > 50
    assert_agreement(document, simulation)


def test_resume_makes_a_band_of_the_mark() -> None:
    """Between the mark and a quarter of it the source stays off: it goes on and off more rarely."""
    spells = {}
    for resume in (1.0, 0.25):
        document = guarded("throttle", queued_max=8, resume=resume)
        starts = [row[1] for row in traced(document).service_trace().tolist() if row[0] == 0]
        spells[resume] = sum(gap > 2 * MS for gap in np.diff(starts).tolist())
        assert_agreement(document)
    assert spells[0.25] < spells[1.0] / 3


@pytest.mark.parametrize("marks", [{"queued_max": 5}, {"memory_max": 0.5}, {"queued_max": 3, "memory_max": 0.9}])
def test_what_is_dropped_is_counted(marks: dict[str, Any]) -> None:
    document = guarded("drop", **marks)
    document["workload"]["drain"] = True
    simulation = traced(document)
    summary = simulation.summary()
    assert simulation.drained
    assert summary["shed"] == summary["operators"]["source"]["shed"] > 150
    assert summary["records_in"] == summary["records_out"] + summary["shed"] == 300
    assert summary["operators"]["source"]["out"] == summary["records_out"]
    assert sum(int(rows["shed"].sum()) for rows in framed(document).telemetry._rows) == summary["shed"]
    assert_agreement(document)


def framed(document: dict[str, Any]) -> engine.Simulation:
    simulation = engine.Simulation(document)
    while simulation.advance():
        pass
    return simulation


# Channels in bytes


@pytest.mark.parametrize(
    ("in_bytes", "records"),
    [
        ({"per_channel_bytes": 350}, 3),
        ({"per_instance_bytes": 799}, 7),
        ({"per_channel_bytes": 10**9}, 32),
        ({"per_instance_ms": 15.5}, 5),  # the sink takes 3 ms
        ({"per_instance_ms": 1.0}, 1),
    ],
)
def test_bytes_of_a_channel_are_as_many_records_as_fit(in_bytes: dict[str, float], records: int) -> None:
    traces = []
    for bound in ({"per_channel": 32, **in_bytes}, {"per_channel": records}):
        document = line(per_s=10_000.0)
        document["policies"] = {"flow_control": {"kind": "credits", **bound}}
        traces.append(traced(document).service_trace().tolist())
        assert_agreement(document)
    assert traces[0] == traces[1]


def test_the_bytes_of_an_instance_are_shared_by_its_channels() -> None:
    """Bids of 100 bytes over 4 channels to each instance."""
    documents = [template("nexmark_q1", horizon_s=0.05) for _ in range(2)]
    for document, bound in zip(documents, ({"per_channel": 1000, "per_instance_bytes": 8 * 100}, {"per_channel": 8}), strict=True):
        for host in document["cluster"]["hosts"]:
            host["speed"] = 0.05
        document["policies"]["flow_control"] = {"kind": "credits", **bound}
    assert traced(documents[0]).service_trace().tolist() == traced(documents[1]).service_trace().tolist()


@pytest.mark.parametrize(("scale", "bounds"), [(1, [15, 2]), (2, [7, 1]), (10, [1, 1])])
def test_the_time_of_an_instance_is_shared_by_its_channels(scale: int, bounds: list[int]) -> None:
    """A count serves a record as 5 panes of 1 ms, on a host of half the speed, in half of the time: 20 ms; two sources share its 100 ms."""
    document = line(per_s=100.0)
    source, sink = document["query"]["operators"]
    panes = {"kind": "sliding", "size_s": 5.0, "slide_s": 1.0, "clock": "event"}
    count = {"id": "count", "kind": "aggregate", "params": {"window": panes, "emit": "on_close"}}
    count["cost"] = {"record_us": 1000.0, "attainable": 0.5}
    between = {"id": "between", "kind": "map", "params": {"fields": [{"name": "time", "expression": "time"}]}}
    between["cost"] = {"record_us": 3250.0}
    document["query"] = {
        "operators": [source | {"parallelism": 2}, between | {"parallelism": 2}, count, sink],
        "edges": [
            {"source": "source", "target": "between"},
            {"source": "between", "target": "count", "partitioning": {"kind": "rebalance"}},
            {"source": "count", "target": "sink"},
        ],
    }
    fast = {"cores": 9, "processor": {"kind": "dedicated"}}
    document["cluster"]["hosts"] = [{"name": "fast", "speed": 4.0, **fast}, {"name": "slow", "speed": 0.5, **fast}]
    hosts = {"source": ["fast"], "between": ["fast", "slow"], "count": ["slow"], "sink": ["fast"]}
    document["placement"] = {"kind": "explicit", "hosts": hosts}
    document["workload"]["scale"] = scale
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1000, "per_instance_ms": 100.0}}
    edge = engine.Simulation(document)._world.arrays.edge
    assert edge[:2, L.E_BOUND].tolist() == bounds
    if scale == 1:
        assert_agreement(document)
