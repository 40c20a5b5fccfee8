"""Holds the fast engine against the oracle: every service, every delivered record, what was dropped and what still waits."""

from __future__ import annotations

import copy
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import engine
from engine.core import layout as L
from engine.core.control.background import background_ns
from engine.core.control.deadlock import standing_channels
from engine.core.layout import C_RECEIVER, C_SENDER, H_BACK, H_PAUSED, I_STATE_BYTES
from engine.core.tables import Capacity
from engine.operators import OPERATORS
from engine.profiles import under_engine
from engine.spec import Experiment
from engine.spec.rules.copies import copies_by_id
from engine.workloads import lookup
from tests.oracle import OracleResult, simulate
from tests.oracle.records import Kind

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "fixtures" / "experiments"
DATASETS = lookup([ROOT / "fixtures" / "data"])
TINY = Capacity(messages=2, messages_ahead=2, ring=2, entries=2, rows=2, panes=2, trace=8, outputs=4)
"""Arrays that must grow all the time: the loop hands back in the middle of everything."""

MS = 1_000_000
TEMPLATES = ("nexmark_q1", "nexmark_q2", "nexmark_q3", "nexmark_q3_ttl", "nexmark_q8", "nexmark_q12", "flights")


def template(name: str, **workload: Any) -> dict[str, Any]:
    """An example experiment with other values in its workload, and nothing left out as warm-up."""
    document = yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text())
    document["workload"] |= {"warmup_s": 0.0} | workload
    return document


def with_params(document: dict[str, Any], operator_id: str, **params: Any) -> dict[str, Any]:
    """A copy of the document in which an operator has other parameters."""
    changed = copy.deepcopy(document)
    operator = next(operator for operator in changed["query"]["operators"] if operator["id"] == operator_id)
    operator["params"] = operator.get("params", {}) | params
    return changed


def with_hot_items(document: dict[str, Any], share: float) -> dict[str, Any]:
    """A copy of the document in which this share of records goes to hot items."""
    changed = copy.deepcopy(document)
    for source in changed["workload"]["sources"].values():
        source["stream"]["hot_ratio"] = share
    return changed


def simulated(document: dict[str, Any], **options: Any) -> engine.Simulation:
    """The fast engine before its start, with its trace and outputs kept. All documents share one compiled loop."""
    defaults: dict[str, Any] = {"datasets": DATASETS, "trace": True, "keep_outputs": True, "kinds": OPERATORS}
    return engine.Simulation(document, **(defaults | options))


def traced(document: dict[str, Any], **options: Any) -> engine.Simulation:
    """The same, run to the end."""
    simulation = simulated(document, **options)
    simulation.run_until(simulation.end_ns)
    return simulation


def finished(document: dict[str, Any], **options: Any) -> engine.Simulation:
    """Run to the end without its trace; outputs are kept."""
    simulation = simulated(document, **({"trace": False} | options))
    simulation.run_until(simulation.end_ns)
    return simulation


def cut_saved_and_forked(document: dict[str, Any], every_ns: int) -> engine.Simulation:
    """Run to the end with stops; at each the run is saved and resumed, at every second one forked before."""
    cut = simulated(document)
    for n, at_ns in enumerate(range(every_ns, cut.horizon_ns, every_ns)):
        cut.run_until(at_ns)
        saved = (cut.fork() if n % 2 else cut).snapshot()
        cut = simulated(document)
        cut.restore(saved)
    cut.run_until(cut.end_ns)
    return cut


def frames_of(simulation: engine.Simulation) -> list[dict[str, Any]]:
    """All frames from here to the end."""
    frames = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
    return frames


def rows_of(simulation: engine.Simulation) -> Counter[str]:
    """How often each row was delivered at the sink, as text: there NaN is equal to itself."""
    return Counter(repr(record["values"]) for record in simulation.sink_records("sink"))


def assert_agreement(
    document: dict[str, Any], simulation: engine.Simulation | None = None, expected: OracleResult | None = None, **parts: Any
) -> OracleResult:
    """Run both and compare; returns the oracle's result. `simulation`, `expected`: what was made already. parts: actors and an agent for
    the oracle."""
    simulation = simulation or traced(document)
    expected = expected or simulate(Experiment.model_validate(document), DATASETS, **parts)
    assert_same("service (instance, start_ns, end_ns, kind)", expected.services, services_of(simulation))
    columns = "(class, ready_ns, sender, sent_ns, begun_ns, departed_ns, barred_ns, released_ns, idle_ns, service_ns)"
    assert_same(f"origin of the item served {columns}", expected.origins, origins_of(simulation))
    for sink_id, deliveries in expected.outputs.items():
        wanted = [(d.end_ns, d.instance, d.event_ns, d.trigger, d.latency_ns, d.further_ns, exact(d.values)) for d in deliveries]
        found = [
            (r["end_ns"], r["instance"], r["event_ns"], r["trigger"], r["latency_ns"], r["further_ns"], exact(r["values"]))
            for r in simulation.sink_records(sink_id)
        ]
        assert_same(f"record at {sink_id} (end_ns, instance, event_ns, trigger, latency_ns, further_ns, values)", wanted, found)
    summary = simulation.summary()
    operators = summary["operators"]
    query = under_engine(simulation.experiment).query
    copies = copies_by_id(query.operators, query.queries)

    def by_operator(counts: Mapping[str, int]) -> list[tuple[str, int]]:
        """Of all copies of each operator."""
        return [(id, sum(counts.get(copy, 0) for copy in copies[id])) for id in operators]

    assert_same("late records of operator", by_operator(expected.late), [(id, counts["late"]) for id, counts in operators.items()])
    for what in ("lost", "unsent"):
        per_operator = by_operator(getattr(expected, what))
        counted = [(id, counts["lost"] - counts["unsent"] if what == "lost" else counts["unsent"]) for id, counts in operators.items()]
        assert_same(f"{what} records of operator", per_operator, counted)
    assert_same("errors", [expected.errors], [summary["errors"]])
    assert_same("records served by operator", by_operator(expected.served), [(id, counts["in"]) for id, counts in operators.items()])
    also, sums = simulation.experiment.measurement.also, simulation._world.arrays.latency_sums
    read = [sums[(k + 1) * (len(sums) // (len(also) + 1))].tolist() for k, further in enumerate(also) if further.to == "read"]
    waits = expected.topic_waits_ns
    assert_same("waits in the log (count, sum, most)", [[len(waits), sum(waits), max(waits, default=0)]] * len(read), read)
    for point, waits_ns in (("watermark", expected.watermark_waits_ns), ("marker", expected.marker_waits_ns)):
        wanted = [sums_of(waits_ns, simulation.sinks, further) for further in also if further.to == point]
        rows = [sums[(k + 1) * (len(sums) // (len(also) + 1)) :] for k, further in enumerate(also) if further.to == point]
        assert_same(f"latencies of {point}s (count, sum, most)", wanted, [found[: len(simulation.sinks)].tolist() for found in rows])
    arrays = simulation._world.arrays
    if arrays.g[L.G_EPOCHS]:
        kept = -int(arrays.g[L.G_EPOCHS])
        wanted = [(i, epochs[kept:]) for i, epochs in sorted(expected.epochs.items())]
        assert_same("epochs of source instance", wanted, sorted(epochs_of(simulation).items()))
    spent_ns = background_ns(arrays, simulation.now_ns)
    # a run in which nothing else can happen goes on to the end of its frame; what it spent until then counts
    wanted_ns = [of.before_ns(simulation.now_ns) for of in expected.background]
    if simulation.drained:  # it may have ended before work that waits, or at the limit in the middle of it
        wanted_ns = [of.spent_ns + of.waiting_ns for of in expected.background]
        waits = arrays.host[:, L.H_BACKGROUND_PS]
        spent_ns = arrays.host[:, L.H_BACKGROUND_NS] + -(-waits // np.maximum(arrays.host[:, L.H_SPEED], 1))
    assert_same("background work of host, ns", wanted_ns, spent_ns[: len(wanted_ns)].tolist())
    state = simulation._world.arrays.inst[:, I_STATE_BYTES].tolist()
    assert_same("bytes of state by instance", expected.state_bytes, state)
    memory = simulation._world.arrays.memory
    watched = np.flatnonzero(memory[:, L.Z_WATCHED])
    columns = [L.Z_USED, L.Z_PEAK, L.Z_FULL, L.Z_DIED]
    held = [
        (int(h), used, peak, bool(full), died)
        for h, (used, peak, full, died) in zip(watched, memory[watched][:, columns].tolist(), strict=True)
    ]
    assert_same("memory of host (host, used, peak, full, died_ns)", expected.memory, held)
    died = [(round(death["at_s"] * 1e9), simulation._plan.hosts.index(death["host"]), death["used_bytes"]) for death in simulation.deaths]
    assert_same("death (at_ns, host, bytes)", expected.deaths, died)
    assert_same("records shed by operator", by_operator(expected.shed), [(id, counts["shed"]) for id, counts in operators.items()])
    waiting = sum(sum(queue.values()) - queue[Kind.END_OF_LOG] for queue in expected.queued) - expected.marks_in_logs
    assert expected.drained == simulation.drained
    host = simulation._world.arrays.host
    if ((host[:, H_PAUSED] <= simulation.now_ns) | (host[:, H_BACK] > 0)).all():  # what comes to a host that stands still is nowhere yet
        assert waiting == summary["backlog"]
    standing = standing_channels(simulation._world.arrays)
    channels = simulation._world.arrays.chan[standing][:, [C_SENDER, C_RECEIVER]].tolist() if simulation.deadlock else []
    assert sorted(expected.deadlock) == sorted(map(tuple, channels))
    return expected


def sums_of(waits_ns: Mapping[str, list[dict[str, int]]], sinks: Sequence[str], further: Any) -> list[list[int]]:
    """By sink count, sum and maximum of one latency of watermarks or markers."""
    waits = [[wait[further.clock] for wait in waits_ns.get(sink, [])] for sink in sinks]
    return [[len(found), sum(found), max([0, *found])] for found in waits]


def epochs_of(simulation: engine.Simulation) -> dict[int, list[tuple[int, ...]]]:
    """The last epochs of each source instance that are kept: entries, sum and sum of squares of delays in us, then the watermark."""
    w = simulation._world.arrays
    kept, found = int(w.g[L.G_EPOCHS]), {}
    for i in np.flatnonzero(w.inst[:, L.I_SOURCE]).tolist():
        ended, first = w.progress[i, [L.PROGRESS_EPOCHS, L.PROGRESS_FIRST]].tolist()
        rows = [w.epochs[first + n % kept].tolist() for n in range(max(0, ended - kept), ended)]
        found[i] = [(count, total, squares + high * L.SQUARES, *rest) for count, total, squares, high, *rest in rows]
    return found


def exact(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values with floats as texts, which tell the zeros apart and NaN alike."""
    return tuple(repr(float(value)) if isinstance(value, float) else value for value in values)


def services_of(simulation: engine.Simulation) -> list[tuple[int, ...]]:
    return [tuple(int(word) for word in row) for row in simulation.service_trace().tolist()]


def origins_of(simulation: engine.Simulation) -> list[tuple[int, ...]]:
    """Of each service what the trace says of its item's way and its wait for barriers, since when its instance had been idle, and its
    work."""
    columns = simulation.trace().columns()
    names = ("class", "ready_ns", "sender", "sent_ns", "begun_ns", "departed_ns", "barred_ns", "released_ns", "idle_ns", "service_ns")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def assert_same(what: str, expected: Sequence[Any], found: Sequence[Any]) -> None:
    """Equal sequences; says where they part, which a difference of two long lists does not."""
    for position, (a, b) in enumerate(zip_longest(expected, found)):
        if a != b:
            before = "".join(f"\n  both   {row}" for row in expected[max(0, position - 3) : position])
            raise AssertionError(f"{what} {position} of {len(expected)}/{len(found)} differs:{before}\n  oracle {a}\n  engine {b}")


def fingerprint(simulation: engine.Simulation) -> dict[str, Any]:
    """What has to be equal between two runs of one experiment: the digest, the summary, and all that was traced and delivered."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, column in simulation.trace().columns().items():
        hasher.update(name.encode() + column.tobytes())
    for sink in simulation.sinks:
        hasher.update(simulation.sink_rows(sink).tobytes())
    summary = {name: value for name, value in simulation.summary().items() if name != "wall_s"}
    return {"digest": simulation.digest(), "summary": summary, "services_and_outputs": hasher.hexdigest()}
