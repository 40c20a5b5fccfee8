"""The structural rules of the event core (docs/decisions/event-core-rules.md): what has to stay true whatever is built on it.

What this catches: a hand-back that does work twice, queue counts that drift from the queues, work that takes no time, a look-ahead longer
than a real path, a protocol's hook that is not called or costs something when absent, mathematics that differs between processors.
"""

from __future__ import annotations

import ast
import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core import weave
from engine.core.tables import FRESH, OBSERVED, VIEWS, row_of
from engine.operators import OPERATORS
from engine.simulation import source_logs
from engine.spec import InvalidExperiment

from ...support.actor_examples import Throttle
from ...support.agreement import DATASETS, ROOT, TEMPLATES, TINY, template, traced, with_params
from ...support.counting_protocol import MORE_BYTES, MORE_PS, PER_CHANNEL, Counting


def small(name: str, per_channel: int | None = 2, **workload: Any) -> dict[str, Any]:
    """A template under overload, with panes that close, small enough for a part of a second."""
    document = template(name, **({"horizon_s": 2.0 if name == "flights" else 0.04, "drain": True} | workload))
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.05
    if per_channel is not None:
        document["policies"]["flow_control"] = {"kind": "credits", "per_channel": per_channel}
    if name == "nexmark_q8":
        document = with_params(document, "join", window={"kind": "tumbling", "size_s": 0.01, "clock": "processing"})
    return document


# The loop can hand back anywhere (K1)


def test_every_reason_for_handing_back_occurs_and_changes_nothing() -> None:
    reasons: Counter[int] = Counter()
    for name in ("nexmark_q8", "nexmark_q3", "nexmark_q12"):
        document = small(name)
        simulation = engine.Simulation(document, datasets=DATASETS, trace=True, keep_outputs=True, capacity=TINY)
        kernels = simulation._kernels

        def counted(world: Any, stop: int, advance: Any = kernels.advance) -> int:
            reason = int(advance(world, stop))
            reasons[reason] += 1
            return reason

        simulation._kernels = SimpleNamespace(advance=counted)
        simulation.run_until(simulation.end_ns)
        whole = traced(document)
        assert np.array_equal(simulation.service_trace(with_trigger=True), whole.service_trace(with_trigger=True))
        assert simulation.digest() == whole.digest()
    missing = {L.NEED_MESSAGES, L.NEED_RING, L.NEED_ENTRIES, L.NEED_ROWS, L.NEED_PANES, L.NEED_TRACE, L.NEED_OUTPUTS} - reasons.keys()
    assert not missing


# What waits is known at any instant (K2)


def test_queues_hold_what_the_trace_implies_at_random_times() -> None:
    """Sources send to sinks on the same and on other hosts; arrivals are worked out here from the sources' services and the links alone."""
    document = {
        "format": 1,
        "query": {
            "operators": [
                {"id": "source", "kind": "source", "parallelism": 3},
                {"id": "sink", "kind": "sink", "parallelism": 3, "cost": {"record_us": 25.0}},
            ],
            "edges": [{"source": "source", "target": "sink", "partitioning": {"kind": "hash", "key": "bidder"}}],
        },
        "cluster": {"local_latency_ns": 700, "hosts": [{"name": "h", "count": 3, "egress_mbit_per_s": 100, "egress_latency_ms": 0.3}]},
        "workload": {
            "horizon_s": 0.05,
            "drain": True,
            "sources": {"source": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 100_000}}},
        },
    }
    whole = traced(document)
    record_bytes = whole.sink_schema("sink").bytes
    trace = whole.service_trace(with_trigger=True).tolist()
    started = {trigger: (instance, start) for instance, start, _, _, trigger in trace if instance >= 3}
    arrivals: list[tuple[int, int]] = []  # time, sink instance
    link_free_ns = [0, 0, 0]
    for instance, _, end_ns, _, trigger in sorted(trace, key=lambda service: service[2]):
        if instance < 3:  # source k and sink k are on host k
            sink, _ = started[trigger]
            if sink - 3 == instance:
                arrivals.append((end_ns + 700, sink))
            else:
                link_free_ns[instance] = max(end_ns, link_free_ns[instance]) + record_bytes * 8000 // 100
                arrivals.append((link_free_ns[instance] + 300_000, sink))
    chance = random.Random("queues")
    simulation = engine.Simulation(document)
    deepest = 0
    for time_ns in sorted(chance.randrange(60_000_000) for _ in range(60)):
        simulation.run_until(time_ns)
        w = simulation._world.arrays
        for sink in (3, 4, 5):
            arrived = sum(to == sink and at <= time_ns for at, to in arrivals)
            waiting = arrived - sum(to == sink and at <= time_ns for to, at in started.values())
            assert w.inst[sink, L.I_QUEUE_COUNT] == waiting
            assert w.inst[sink, L.I_QUEUE_BYTES] == waiting * record_bytes
            deepest = max(deepest, waiting)
    assert deepest > 100


@pytest.mark.parametrize("name", TEMPLATES)
def test_counts_equal_the_queues_themselves(name: str) -> None:
    document = small(name)
    simulation = engine.Simulation(document, datasets=DATASETS)
    chance = random.Random(name)
    waited = 0
    for time_ns in sorted(chance.randrange(simulation.horizon_ns) for _ in range(20)):
        simulation.run_until(time_ns)
        world = simulation._world
        for i, row in enumerate(world.arrays.inst):
            queue = world.queue(i)
            assert row[L.I_QUEUE_COUNT] == len(queue)
            messages = world.arrays.msg[queue]
            assert row[L.I_QUEUE_BYTES] == messages[messages[:, L.M_KIND] != L.TICK, L.M_BYTES].sum()
            waited += len(queue)
    assert waited > 0


# Nothing takes zero time (K3); control acts between instants (K4)


def test_free_work_on_the_fastest_hosts_takes_a_nanosecond() -> None:
    document = small("nexmark_q3", None)
    for operator in document["query"]["operators"]:
        operator["cost"] = {"record_us": 0.0, "output_us": 0.0, "control_us": 0.0}
    document["cluster"] |= {"local_latency_ns": 1}
    document["cluster"]["hosts"][0] |= {"speed": 1000, "egress_latency_ms": 0.000001, "egress_mbit_per_s": 10_000_000}
    trace = traced(document).service_trace()
    assert len(trace) > 100
    assert set((trace[:, 2] - trace[:, 1]).tolist()) == {1}


@pytest.mark.parametrize(("where", "what"), [(("cluster",), "local_latency_ns"), (("cluster", "hosts", 0), "egress_latency_ms")])
def test_a_hand_over_of_no_time_is_refused(where: tuple[Any, ...], what: str) -> None:
    document = small("nexmark_q1")
    at: Any = document
    for step in where:
        at = at[step]
    at[what] = 0
    with pytest.raises(InvalidExperiment, match=what):
        engine.Simulation(document)


def test_everything_at_the_time_of_a_stop_has_happened() -> None:
    document = small("nexmark_q3")
    trace = traced(document).service_trace()
    chance = random.Random("stops")
    simulation = engine.Simulation(document, trace=True)
    for time_ns in sorted(chance.sample(trace[:, 1].tolist(), 30)):
        simulation.run_until(time_ns)
        assert len(simulation.service_trace()) == np.count_nonzero(trace[:, 1] <= time_ns)
        assert simulation._world.arrays.next_ns.min() > time_ns


# The look-ahead is the least latency between machines that really send (K5)


def lookahead(hosts: dict[str, list[str]], credits: bool = False, links: tuple[tuple[str, str, float], ...] = ()) -> int:
    """Of source -> count -> sink, placed as given on hosts a (1 ms), b (2 ms), c (0.1 ms)."""
    document = template("nexmark_q12", horizon_s=0.001)
    for operator in document["query"]["operators"]:
        operator["parallelism"] = len(hosts[operator["id"]])
    document["query"]["edges"][1]["partitioning"] = {"kind": "rebalance"}
    document["placement"] = {"kind": "explicit", "hosts": hosts}
    document["cluster"] = {
        "hosts": [{"name": name, "egress_latency_ms": latency_ms} for name, latency_ms in (("a", 1.0), ("b", 2.0), ("c", 0.1))],
        "links": [{"source": source, "target": target, "latency_ms": latency_ms} for source, target, latency_ms in links],
    }
    if credits:
        document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 4}
    return int(engine.Simulation(document)._plan.arrays.g[L.G_LOOKAHEAD])


def test_look_ahead_follows_the_placement() -> None:
    assert lookahead({"bids": ["a"], "count": ["a"], "sink": ["a"]}) == L.FAR  # one machine: one window to the end
    assert lookahead({"bids": ["a"], "count": ["b"], "sink": ["b"]}) == 1_000_000
    assert lookahead({"bids": ["b"], "count": ["a"], "sink": ["a"]}) == 2_000_000
    assert lookahead({"bids": ["a", "b"], "count": ["b"], "sink": ["b"]}) == 1_000_000
    assert lookahead({"bids": ["a"], "count": ["b"], "sink": ["c"]}) == 1_000_000  # c is fast but sends nothing
    assert lookahead({"bids": ["c"], "count": ["b"], "sink": ["b"]}) == 100_000


def test_look_ahead_counts_links_and_the_way_back_of_credits() -> None:
    apart = {"bids": ["b"], "count": ["a"], "sink": ["a"]}
    assert lookahead(apart, links=(("b", "a", 0.25),)) == 250_000
    assert lookahead(apart, links=(("a", "b", 0.25),)) == 2_000_000  # nothing goes that way
    assert lookahead(apart, credits=True, links=(("a", "b", 0.25),)) == 250_000  # credits do
    assert lookahead(apart, credits=True) == 1_000_000


# The header of a message (K6)


def test_messages_carry_the_whole_header() -> None:
    columns = {name: value for name, value in vars(L).items() if name.startswith("M_")}
    needed = "READY CLASS KIND CHANNEL FIFO EVENT TRIGGER CLOCK NEWEST OLDEST BYTES HASH INCARNATION SEQUENCE"
    assert {f"M_{name}" for name in needed.split()} <= columns.keys()
    assert sorted(columns.values()) == list(range(len(columns)))  # each a word of its own, the payload last
    assert max(columns.values()) == L.M_PAYLOAD
    simulation = engine.Simulation(small("nexmark_q3", 32))
    checked = 0
    for time_ns in range(2_000_000, 40_000_000, 2_000_000):
        simulation.run_until(time_ns)
        world = simulation._world
        w = world.arrays
        for i in range(len(w.inst)):
            by_channel: dict[int, list[int]] = {}
            for slot in world.queue(i):
                message = w.msg[slot]
                assert message[L.M_KIND] == L.RECORD
                assert message[L.M_INCARNATION] == 0
                assert message[L.M_BYTES] == w.edge[message[L.M_EDGE], L.E_BYTES]
                assert message[L.M_RECEIVER] == i == w.chan[message[L.M_CHANNEL], L.C_RECEIVER]
                assert message[L.M_READY] <= time_ns
                by_channel.setdefault(int(message[L.M_CHANNEL]), []).append(int(message[L.M_SEQUENCE]))
            for channel, numbers in by_channel.items():
                first = int(w.chan[channel, L.C_CONSUMED])
                assert numbers == list(range(first, first + len(numbers)))
                checked += len(numbers)
    assert checked > 100


# Emission is a cursor (K7)


def test_emissions_stop_in_the_middle_and_go_on() -> None:
    """Each record goes to four receivers over channels of one credit: senders stand between two receivers, and their cores serve others."""
    document = small("nexmark_q1", 1)
    document["query"]["edges"][-1]["partitioning"] = {"kind": "broadcast"}
    document["query"]["operators"][-1]["cost"] = {"record_us": 30.0}
    simulation = engine.Simulation(document, keep_outputs=True)
    between = served_meanwhile = 0
    for time_ns in range(1_000_000, simulation.horizon_ns, 100_000):
        simulation.run_until(time_ns)
        w = simulation._world.arrays
        for i in np.flatnonzero(w.inst[:, L.I_STATUS] == L.BLOCKED):
            assert simulation._world.outbox(i)
            between += w.inst[i, L.I_RECEIVER] > 0
            on = w.proc[w.inst[i, L.I_PROCESSOR], L.P_INSTANCE]
            assert on != i
            served_meanwhile += on >= 0
    assert between > 20
    assert served_meanwhile > 20
    simulation.run_until(simulation.end_ns)
    rows = simulation.sink_records("sink")
    copies = Counter(row["trigger"] for row in rows)
    assert simulation.drained
    assert set(copies.values()) == {4}


# The world and what controls remember is all there is (K8)


@pytest.mark.slow
def test_controls_are_cut_saved_forked_and_hashed_with_the_world(tmp_path: Path) -> None:
    document = small("nexmark_q3", drain=False)
    calm = traced(document)
    whole = traced(document, controls=[Throttle()])
    assert whole.service_trace().tolist() != calm.service_trace().tolist()
    chance = random.Random("controls")
    for n in range(8):
        run = engine.Simulation(document, trace=True, controls=[Throttle()])
        for time_ns in sorted([*(chance.randrange(40_000_000) for _ in range(5)), 1_234_567 * chance.randrange(1, 30)]):
            run.run_until(time_ns)
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(document, tmp_path / f"{n}", trace=True, controls=[Throttle()])
        fork, other = run.fork(), run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        other._controls[0].seen.append(0)
        assert other.digest() != run.digest()
        for copy in (run, resumed, fork):
            copy.run_until(copy.end_ns)
            assert copy.digest() == whole.digest()
            assert np.array_equal(copy.service_trace(), whole.service_trace())


def test_a_restored_snapshot_is_the_world_to_the_byte() -> None:
    simulation = engine.Simulation(small("nexmark_q8"))
    simulation.run_until(simulation.horizon_ns // 2)
    state = simulation.snapshot()
    other = engine.Simulation(small("nexmark_q8"))
    other.restore(state)
    ours, theirs = simulation._world.arrays, other._world.arrays
    for name in ours._asdict().keys() - set(OBSERVED):
        array, restored = getattr(ours, name), getattr(theirs, name)
        taken = int(ours.g[FRESH[table]]) if (table := VIEWS.get(name, (name,))[0]) in FRESH else len(array)
        assert array.shape == restored.shape, name
        assert array[:taken].tobytes() == restored[:taken].tobytes(), name
    again = other.snapshot()
    assert again.keys() == state.keys()
    assert all(np.array_equal(again[name], state[name]) for name in state)


# Own mathematics (K9)

LIBRARY_FUNCTIONS = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "power", "float_power", "cbrt", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh"),
    *("gamma", "lgamma", "erf", "erfc"),
}
ALLOWED = {
    ("engine/spec/rules/resources.py", "log10"),  # the digits of a number in a message
    ("engine/workloads/exactness.py", "arctan2"),  # enters no run, and pairs near the threshold are told apart
}
PREDICTING = ("engine/costmodels/", "engine/learning/")
"""What is predicted enters no run, so it may differ in its last digit on another machine."""


def calls_of_libraries(path: Path) -> list[tuple[str, int]]:
    """Names (with lines) of mathematics from libm or NumPy's vector loops, and of random generators, that a file uses."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy", "cmath"):
            if node.attr in LIBRARY_FUNCTIONS or node.attr == "random":
                found.append((node.attr, node.lineno))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = [alias.name for alias in node.names]
            mathematics = module in ("math", "numpy") and LIBRARY_FUNCTIONS & set(names)
            if mathematics or "random" in (*names, module) or module in ("numpy.random", "secrets"):
                found.append((f"{module} {' '.join(names)}", node.lineno))
    return found


def _calls_outside_of_predictions(path: Path, file: str) -> list[tuple[str, int]]:
    if file.startswith(PREDICTING):
        return []
    return [(name, line) for name, line in calls_of_libraries(path) if (file, name) not in ALLOWED]


def test_the_engine_uses_no_mathematics_or_chance_of_a_library() -> None:
    found = []
    for path in sorted((ROOT / "engine").rglob("*.py")):
        file = str(path.relative_to(ROOT))
        found += [f"{file}:{line} {name}" for name, line in _calls_outside_of_predictions(path, file)]
    assert not found, found


# Hooks of per-message protocols


def counts_of(simulation: engine.Simulation) -> dict[str, Any]:
    w = simulation._world.arrays
    hook = w.hook.reshape(-1, PER_CHANNEL).tolist() if len(w.hook) > 1 else []
    return {
        "digest": simulation.digest(),
        "hook": hook,
        "sent": w.carried[:, L.SEQ_SENT].tolist(),
        "out_bytes": int(w.host[:, L.H_OUT_BYTES].sum()),
        "record_bytes": w.edge[w.chan[:, L.C_EDGE], L.E_BYTES].tolist(),
        "local": (w.inst[w.chan[:, L.C_SENDER], L.I_HOST] == w.inst[w.chan[:, L.C_RECEIVER], L.I_HOST]).tolist(),
        "link_bytes": int(w.host[:, L.H_SENT_BYTES].sum()),
        "record_ns": sum(end_ns - start_ns for _, start_ns, end_ns, kind in simulation.service_trace().tolist() if kind == L.RECORD),
        "served": {name: counts["in"] for name, counts in simulation.summary()["operators"].items()},
    }


def protocol_document() -> dict[str, Any]:
    document = small("nexmark_q12", 2, horizon_s=0.004)
    document["workload"]["sources"]["bids"]["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 1}
    return document


def test_a_protocol_sees_every_message_and_changes_bytes_and_cost() -> None:
    without, with_protocol = (counts_of(traced(protocol_document(), **options)) for options in ({}, {"protocol": Counting}))
    assert without["hook"] == []
    assert with_protocol["served"] == without["served"]
    hook = np.array(with_protocol["hook"])
    records = sum(count for name, count in with_protocol["served"].items() if name != "bids")
    assert hook[:, 0].tolist() == with_protocol["sent"]
    assert hook[:, 2].sum() == hook[:, 0].sum() == records > 0
    assert hook[:, 1].sum() > 0  # watermarks pass the hook, too
    record_bytes, remote = np.array(with_protocol["record_bytes"]), ~np.array(with_protocol["local"])
    channel_bytes = hook[:, 0] * (record_bytes + MORE_BYTES) + hook[:, 1] * L.CONTROL_BYTES
    assert channel_bytes.sum() == with_protocol["out_bytes"]
    assert channel_bytes[remote].sum() == with_protocol["link_bytes"]
    speed_milli = 50
    assert with_protocol["record_ns"] == without["record_ns"] + records * MORE_PS // speed_milli


def test_a_protocol_sees_every_record_once_even_when_the_loop_hands_back() -> None:
    roomy, tiny = (counts_of(traced(protocol_document(), protocol=Counting, capacity=capacity)) for capacity in (None, TINY))
    assert tiny["hook"] == roomy["hook"]
    assert tiny["digest"] == roomy["digest"]


def test_without_a_protocol_its_points_leave_no_trace() -> None:
    plain, _ = weave.woven_text(OPERATORS)
    assert "# WEAVE on" not in plain
    assert "more_bytes" not in plain
    assert "more_ps" not in plain

    class Silent:
        """A protocol that provides no kernel."""

    assert weave.woven_text(OPERATORS, Silent)[0] == plain
    assert "more_bytes" in weave.woven_text(OPERATORS, Counting)[0]


IN_PLAIN_PYTHON = """
import json, sys
from tests.support.agreement import traced
from tests.support.counting_protocol import Counting
from tests.engine.core.test_core_rules import counts_of
print(json.dumps(counts_of(traced(json.load(sys.stdin), protocol=Counting))))
"""


@pytest.mark.slow
def test_a_protocol_counts_the_same_without_the_compiler() -> None:
    document = protocol_document()
    done = subprocess.run(
        [sys.executable, "-c", IN_PLAIN_PYTHON],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "MILLRACE_COMPILE": "0"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == counts_of(traced(document, protocol=Counting))


def test_copies_of_the_tables_do_not_remember_where_others_stand() -> None:
    simulation = engine.Simulation(template("nexmark_q12"), datasets=DATASETS)
    simulation.run_until(10_000_000)
    before = simulation._world.arrays
    assert before.known
    for copy in (deepcopy(before), before._replace(g=before.g.copy()), pickle.loads(pickle.dumps(before))):
        assert not copy.known
    alone = simulation.fork()
    simulation.run_until(20_000_000)
    alone.run_until(20_000_000)
    assert alone.digest() == simulation.digest()


def test_a_long_backlog_is_loaded_in_longer_stretches_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources at twice what they can take: what is unread is copied at each load, so loads become rarer."""
    made = template("nexmark_q12")
    made["workload"] |= {"horizon_s": 0.2, "warmup_s": 0.0, "drain": False}
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 1
    for source in made["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 200_000}
    found = []
    for ahead in (1_000, 50_000):
        monkeypatch.setattr(source_logs, "RECORDS_AHEAD", ahead)
        simulation = engine.Simulation(made, datasets=DATASETS)
        loads: list[int] = []
        load = simulation._logs.load
        monkeypatch.setattr(simulation._logs, "load", lambda w, load=load, loads=loads: loads.append(1) or load(w))
        while simulation.advance() is not None:
            pass
        assert simulation.summary()["backlog"] > 10_000
        found.append(simulation.digest())
        assert len(loads) < 30
    assert found[0] == found[1]


def test_snapshots_keep_the_names_that_tables_had_when_they_were_written() -> None:
    simulation = engine.Simulation(template("nexmark_q1", horizon_s=0.1))
    snapshot = simulation.snapshot()
    assert "world.lore" in snapshot
    assert "world.vectors" not in snapshot
    assert np.array_equal(snapshot["world.lore"], simulation._world.arrays.vectors)
    simulation.restore(snapshot)


def test_a_row_needs_a_value_for_each_column() -> None:
    values = {L.Y_SHED: 5, L.Y_STATE: 7, L.Y_RANK: 3, L.Y_HELD: 1, L.Y_WATCHED: 2, L.Y_READ: 4}
    assert row_of("Y_", dict(reversed(values.items()))) == [5, 7, 3, 1, 2, 4]
    with pytest.raises(ValueError, match="the row has no value for Y_STATE"):
        row_of("Y_", {place: value for place, value in values.items() if place != L.Y_STATE})
    with pytest.raises(ValueError, match="the table of Y_COLUMNS has no column 6"):
        row_of("Y_", values | {L.Y_COLUMNS: 1})
