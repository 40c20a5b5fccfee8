"""Where the time of a record went: the parts of a waterfall add up to its latency, the totals to what the trace says.

What this catches: a part that is missing, counted twice or put before the wrong clock, a path that leaves its record, totals that drift
from the services, waits for barriers that count as others do or the other way round, tracing that changes what it looks at.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.compiler import interpreted
from engine.core.kernels import service_trace
from engine.simulation import attribution
from engine.simulation.attribution import PARTS, Delivery, NotTraced, Waterfall
from tests.support.strategies import documents

from ...support.agreement import TEMPLATES, assert_agreement, finished, simulated, template, traced
from ...support.barrier_examples import cast, one_late_barrier

PERIODS_NS = st.sampled_from((None, 20_000, 150_000, 1_000_000))
"""Of rounds of barriers; None: there are none."""


def traced_with_barriers(document: dict[str, Any], period_ns: int | None) -> engine.Simulation:
    """On a cycle they never stop to wait, so the run ends with its logs."""
    if period_ns is None:
        return traced(document)
    return traced(document | {"workload": document["workload"] | {"drain": False}}, **cast(document, period_ns))


def waterfalls_of(simulation: engine.Simulation) -> list[Waterfall]:
    return simulation.trace().waterfalls(simulation.deliveries())


def assert_adds_up(waterfall: Waterfall) -> None:
    """The parts lie end to end from the measured clock to the delivery. An event time may lie after its record's append."""
    at_ns = waterfall.record.end_ns - waterfall.record.latency_ns
    for part in waterfall.parts:
        assert part.start_ns == at_ns, f"{part} does not follow {at_ns} in {waterfall}"
        assert part.duration_ns > 0 or part.part == "event_delay", part
        at_ns = part.end_ns
    assert at_ns == waterfall.record.end_ns
    assert sum(waterfall.sums_ns().values()) == waterfall.record.latency_ns
    assert waterfall.sums_ns().keys() == set(PARTS)


@pytest.mark.slow
@given(document=documents(), period_ns=PERIODS_NS)
def test_the_parts_of_every_record_add_up_to_its_latency(document: dict[str, Any], period_ns: int | None) -> None:
    simulation = traced_with_barriers(document, period_ns)
    for waterfall in waterfalls_of(simulation):
        assert_adds_up(waterfall)
        assert waterfall.parts[-1].part in ("service", "stolen")
        operators = [part.operator for part in waterfall.parts]
        assert simulation.experiment.operator(operators[0]).kind == "source"
        experiment = simulation.experiment
        if experiment.policies.flow_control.kind == "unbounded" and all(edge.capacity is None for edge in experiment.query.edges):
            assert waterfall.sums_ns()["blocked"] == 0
        if period_ns is None:
            assert waterfall.sums_ns()["alignment"] == 0


@pytest.mark.slow
@given(document=documents(), period_ns=PERIODS_NS)
def test_totals_are_sums_over_the_trace(document: dict[str, Any], period_ns: int | None) -> None:
    simulation = traced_with_barriers(document, period_ns)
    world, w, trace = simulation._world, simulation._world.arrays, simulation.trace().columns()
    operator_of = [simulation.experiment.query.operators[o] for o in w.inst[:, L.I_OP]]
    expected: dict[str, Counter[str]] = {operator.id: Counter() for operator in simulation.experiment.query.operators}
    sent: list[tuple[int, int, int]] = []  # sender, when it was sent, arrival
    columns = ("instance", "start_ns", "end_ns", "service_ns", "kind", "sender", "sent_ns", "ready_ns", "barred_ns", "released_ns")
    for i, start_ns, end_ns, service_ns, kind, sender, sent_ns, ready_ns, barred_ns, released_ns in zip(
        *(trace[name].tolist() for name in columns), strict=True
    ):
        sums = expected[operator_of[i].id]
        ahead_ns = max(end_ns - simulation.now_ns, 0)  # of a service in progress, whose work counts at once
        work_ahead_ns = -(-ahead_ns * int(w.op[w.inst[i, L.I_OP], L.O_ATTAINABLE]) // L.WHOLE)
        sums["stolen_ns"] += end_ns - start_ns - service_ns - (ahead_ns - work_ahead_ns)
        if kind == L.RECORD:
            sums["records"] += 1
            sums["service_ns"] += service_ns
            aligned_ns = released_ns - barred_ns
            sums["driver_queue_ns" if sender < 0 else "channel_wait_ns"] += start_ns - ready_ns - aligned_ns
            sums["alignment_ns"] += aligned_ns
            sent += [(sender, sent_ns, ready_ns)] if sender >= 0 else []
    under_way = [slot for i in range(len(w.inst)) for slot in (*world.queue(i), *world.aside(i))]
    under_way += [slot for r in range(2 * len(w.host)) for slot in world.ring(r).tolist()]
    held = [slot for slots in world.held() for slot in slots]
    for slot in [*under_way, *held]:
        if w.msg[slot, L.M_KIND] == L.RECORD:
            sender = int(w.chan[w.msg[slot, L.M_CHANNEL], L.C_SENDER])
            sent_ns = int(w.msg[slot, L.M_CLASS] if slot in held else w.notes[slot, L.N_SENT])
            sent.append((sender, sent_ns, sent_ns if slot in held else int(w.msg[slot, L.M_READY])))
    services = {i: np.flatnonzero(trace["instance"] == i) for i in range(len(w.inst))}
    for sender, sent_ns, ready_ns in sent:
        last = services[sender][np.searchsorted(trace["start_ns"][services[sender]], sent_ns) - 1]
        sums = expected[operator_of[sender].id]
        sums["sent"] += 1
        sums["blocked_ns"] += sent_ns - int(trace["end_ns"][last])
        sums["network_ns"] += ready_ns - sent_ns
    found = {id: operator["attribution"] for id, operator in simulation.summary()["operators"].items()}
    if (trace["end_ns"] == L.FAR).any() or (w.host[:, L.H_PAUSED] > simulation.now_ns).any():  # its end is not known, or in a pause
        for parts in (*found.values(), *expected.values()):
            parts.pop("stolen_ns", None)
    lost = int(w.inst[:, L.I_LOST].sum())  # they were sent, but nobody knows any more by whom
    assert sum(parts["sent"] for parts in found.values()) == sum(parts["sent"] for parts in expected.values()) + lost
    if lost:
        for parts in (*found.values(), *expected.values()):
            for name in ("sent", "blocked_ns", "network_ns"):
                parts.pop(name, None)
    assert {id: Counter(parts) for id, parts in found.items()} == expected


@pytest.mark.slow
@given(document=documents())
def test_tracing_changes_nothing(document: dict[str, Any]) -> None:
    plain = finished(document)
    observed = traced(document)
    assert plain.digest() == observed.digest()
    assert plain.deliveries() == observed.deliveries()


def busy(name: str, anchor: str, **workload: Any) -> dict[str, Any]:
    """A template whose hosts fall behind."""
    document = template(name, **({"horizon_s": 2.0 if name == "flights" else 0.04, "drain": True} | workload))
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.05
    document["measurement"]["latency"]["anchor"] = anchor
    return document


@pytest.mark.parametrize("anchor", ["trigger", "newest", "oldest"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_add_up_for_every_anchor(name: str, anchor: str) -> None:
    waterfalls = waterfalls_of(traced(busy(name, anchor)))
    assert len(waterfalls) > 100 or name == "nexmark_q2"  # which passes one record in 123
    for waterfall in waterfalls:
        assert_adds_up(waterfall)


def sums(waterfalls: list[Waterfall]) -> Counter[str]:
    total: Counter[str] = Counter()
    for waterfall in waterfalls:
        total.update(waterfall.sums_ns())
    return total


def test_a_pane_waits_for_its_watermark_only_where_the_anchor_came_before() -> None:
    """Rows of a window wait from their contributor's service to the firing; a join's only if the anchor is the stored side."""
    assert sums(waterfalls_of(traced(busy("flights", "trigger"))))["window_wait"] > 0
    assert sums(waterfalls_of(traced(busy("nexmark_q3", "trigger"))))["window_wait"] == 0
    assert sums(waterfalls_of(traced(busy("nexmark_q3", "oldest"))))["window_wait"] > 0


def test_one_pipeline_worked_by_hand() -> None:
    """Two records at 0 and 10 us; the source takes 10 us on a, the link 80 us for each and 500 us of latency, the sink on b 100 us."""
    document = {
        "format": 1,
        "query": {
            "operators": [
                {"id": "bids", "kind": "source", "cost": {"record_us": 10, "output_us": 0, "control_us": 5}},
                {"id": "sink", "kind": "sink", "cost": {"record_us": 100, "output_us": 0, "control_us": 5}},
            ],
            "edges": [{"source": "bids", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "a", "egress_mbit_per_s": 10, "egress_latency_ms": 0.5}, {"name": "b"}]},
        "placement": {"kind": "explicit", "hosts": {"bids": ["a"], "sink": ["b"]}},
        "workload": {
            "horizon_s": 0.001,
            "drain": True,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": {"kind": "steps", "steps": [{"at_s": 0, "per_s": 100_000}, {"at_s": 0.000015, "per_s": 0}]},
                }
            },
        },
        "measurement": {"latency": {"from": "append"}},
    }
    first, second = waterfalls_of(traced(document))
    assert [(part.part, part.operator, part.duration_ns) for part in first.parts] == [
        ("service", "bids", 10_000),
        ("transmission", "bids", 80_000),
        ("network_latency", "bids", 500_000),
        ("service", "sink", 100_000),
    ]
    assert [(part.part, part.operator, part.duration_ns) for part in second.parts] == [
        ("service", "bids", 10_000),
        ("network_wait", "bids", 70_000),  # the link is free at 90 us
        ("transmission", "bids", 80_000),
        ("network_latency", "bids", 500_000),
        ("queueing", "sink", 20_000),  # there at 670 us, behind the first, which is served until 690
        ("service", "sink", 100_000),
    ]


def test_waiting_for_others_on_a_core_is_scheduling_and_for_credits_is_blocked() -> None:
    shared = template("nexmark_q1", horizon_s=0.05, drain=True)
    for host in shared["cluster"]["hosts"]:
        host |= {"speed": 0.05, "processor": {"kind": "shared_fifo"}, "cores": 1}
    assert sums(waterfalls_of(traced(shared)))["scheduling"] > 0
    dedicated = copy.deepcopy(shared)
    dedicated["query"]["operators"][-1]["cost"] = {"record_us": 100.0}
    for host in dedicated["cluster"]["hosts"]:
        host |= {"processor": {"kind": "dedicated"}, "cores": 32}
    dedicated["policies"]["flow_control"] = {"kind": "credits", "per_channel": 1}
    alone = sums(waterfalls_of(traced(dedicated)))
    assert alone["scheduling"] == 0
    assert alone["blocked"] > 0


@pytest.mark.parametrize(
    ("latency_ms", "per_s", "record_us"),
    [(20.0, 2000.0, 10.0), (6000.0, 20.0, 10.0), (20.0, 2000.0, 400.0)],
    ids=["idle", "in no half word", "behind a backlog"],
)
def test_what_comes_behind_a_barrier_waits_for_the_other_one(latency_ms: float, per_s: float, record_us: float) -> None:
    """From when its channel was barred, or from its arrival if that was later, up to the last barrier. Where the union has nothing else to
    do meanwhile, neither does a processor lack nor are others before it; where it is behind, barriers wait, too."""
    document = one_late_barrier(latency_ms, per_s, record_us)
    simulation = traced(document, **cast(document, round(latency_ms * 1e5)))
    assert_agreement(document, simulation, **cast(document, round(latency_ms * 1e5)))
    trace, union = simulation.trace().columns(), 2
    barriers = [trace["start_ns"][(trace["kind"] == L.BARRIER) & (trace["instance"] == union) & (trace["sender"] == s)] for s in (0, 1)]
    spans = list(zip(*(starts.tolist() for starts in barriers), strict=False))
    assert len(spans) >= 2
    waited = waited_before = 0
    for waterfall in waterfalls_of(simulation):
        assert_adds_up(waterfall)
        parts = {part.part: part for part in waterfall.parts if part.operator == "both"}
        ready_ns = max(part.end_ns for part in waterfall.parts if part.part == "network_latency" and part.operator in ("near", "far"))
        span = next(((max(barred, ready_ns), until) for barred, until in spans if parts["service"].start_ns >= until > ready_ns), None)
        if waterfall.parts[0].operator == "near" and span is not None:
            aligned = parts["alignment"]
            assert (aligned.start_ns, aligned.end_ns) == span
            waited += 1
            waited_before += ready_ns < aligned.start_ns
        else:
            assert "alignment" not in parts
        assert "scheduling" not in parts
    assert waited > 50
    assert (waited_before > 10) == (record_us > 100)
    assert simulation.summary()["operators"]["both"]["attribution"]["alignment_ns"] > waited * latency_ms * 1e5
    simulation.drop_trace(int(np.median(trace["end_ns"])))
    rest = simulation.trace().columns()
    assert np.count_nonzero(rest["released_ns"] >= 0) > 20
    kept = {place: n for n, place in enumerate(zip(trace["start_ns"].tolist(), trace["instance"].tolist(), strict=True))}
    places = [kept[place] for place in zip(rest["start_ns"].tolist(), rest["instance"].tolist(), strict=True)]
    for name in ("barred_ns", "released_ns"):
        assert rest[name].tolist() == trace[name][places].tolist()


def test_who_has_no_credit_for_a_barred_channel_is_blocked() -> None:
    """So few records wait for barriers at the union, and the others for a credit at the source."""
    document = one_late_barrier(20.0, 2000.0, flow_control={"kind": "credits", "per_channel": 2})
    found = sums(waterfalls_of(traced(document, **cast(document, 2_000_000))))
    unbounded = one_late_barrier(20.0, 2000.0)
    freely = sums(waterfalls_of(traced(unbounded, **cast(unbounded, 2_000_000))))
    assert 0 < found["alignment"] < freely["alignment"] / 2
    assert found["blocked"] > 0 == freely["blocked"]


@pytest.mark.slow
@given(document=documents())
def test_the_trace_names_the_service_that_sent_each_item(document: dict[str, Any]) -> None:
    """It is the sender's last service that began before the sending, and it had ended by then."""
    trace = traced(document).trace().columns()
    services = {i: np.flatnonzero(trace["instance"] == i) for i in set(trace["instance"].tolist())}
    for sender, sent_ns, parent_ns in zip(*(trace[name].tolist() for name in ("sender", "sent_ns", "parent_ns")), strict=True):
        if sender >= 0:
            last = services[sender][np.searchsorted(trace["start_ns"][services[sender]], sent_ns) - 1]
            assert parent_ns == trace["start_ns"][last]
            assert trace["end_ns"][last] <= sent_ns


def test_what_is_not_in_the_trace_is_refused() -> None:
    document = busy("nexmark_q1", "trigger")
    whole = traced(document)
    record = whole.deliveries()[50]
    with pytest.raises(NotTraced, match="no delivery"):
        whole.trace().waterfalls([Delivery(record.sink, record.instance, record.trigger, record.end_ns + 1, 5)])
    late = simulated(document, trace=False)
    late.run_until(record.end_ns - record.latency_ns // 2)
    late.start_tracing()
    late.run_until(record.end_ns)
    with pytest.raises(NotTraced, match="begins too late"):
        late.trace().waterfalls([record])


HALF_WORD = 1 << 32


@pytest.mark.slow
@pytest.mark.parametrize("form", ["shared_fifo", "processor_sharing"])
def test_spans_of_any_length_are_kept(form: str) -> None:
    """A row holds spans of up to 4 s; longer ones are kept all the same, where hosts fall behind, and dropping rows leaves them whole."""
    document = busy("nexmark_q3", "oldest", horizon_s=0.1)
    for host in document["cluster"]["hosts"]:
        host |= {"speed": 0.001, "processor": {"kind": form}}
    simulation = traced(document)
    assert_agreement(document, simulation)
    columns = simulation.trace().columns()
    long = columns["start_ns"] - columns["ready_ns"] >= HALF_WORD
    assert 0.1 < long.mean() < 1
    assert len(long) + np.count_nonzero(long) <= len(simulation.trace().rows) <= 2 * len(long)
    for waterfall in waterfalls_of(simulation):
        assert_adds_up(waterfall)
    simulation.drop_trace(int(np.median(columns["end_ns"])))
    rest = simulation.trace().columns()
    assert 0.2 < len(rest["start_ns"]) / len(long) < 0.8
    place_of = {place: n for n, place in enumerate(zip(columns["start_ns"].tolist(), columns["instance"].tolist(), strict=True))}
    places = [place_of[place] for place in zip(rest["start_ns"].tolist(), rest["instance"].tolist(), strict=True)]
    parent_is_held = rest["parent_ns"] >= 0
    assert 0 < np.count_nonzero(parent_is_held) < len(places)
    for name, column in columns.items():
        alike = rest[name] == column[places]
        assert (alike | ~parent_is_held if name == "parent_ns" else alike).all(), name


def test_a_service_takes_a_second_row_where_its_numbers_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    document = template("nexmark_q3", horizon_s=0.004, drain=True)
    usual = traced(document)
    assert len(usual.trace().rows) == len(usual.trace())
    monkeypatch.setenv("MILLRACE_COMPILE", "0")
    monkeypatch.setattr(interpreted, "_known", WeakKeyDictionary())  # which kernels were made with the usual number
    monkeypatch.setattr(service_trace, "ITEM_NUMBERS", 7)
    wide = traced(document)
    assert len(wide.trace()) < len(wide.trace().rows) < 2 * len(wide.trace())
    for name, column in usual.trace().columns().items():
        assert np.array_equal(wide.trace().columns()[name], column), name
    assert waterfalls_of(wide) == waterfalls_of(usual)


@pytest.mark.parametrize("name", TEMPLATES)
def test_deliveries_are_found_wherever_their_rows_stand(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = traced(busy(name, "newest"))
    wanted = waterfalls_of(simulation)
    for near in (0, 1, 5):
        monkeypatch.setattr(attribution, "NEAR", near)
        assert waterfalls_of(simulation) == wanted
