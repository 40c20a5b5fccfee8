"""Runs in which one record stands for several: exact where they have to be, near where they can be, refused elsewhere."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from engine import Simulation
from engine.core import layout as L
from engine.spec.base.operator import Operator
from engine.spec.base.problems import InvalidExperiment
from engine.spec.rules.validation import load

SCALE = 10
Document = dict[str, Any]


def document(rate: Document, scale: int, **parts: Any) -> Document:
    """A source, a map, a count by key and a sink on two hosts; the map needs 100 us for a record, one after the other."""
    window = {"kind": "tumbling", "size_s": 0.5, "clock": "event"}
    free = {"record_us": 1.0, "output_us": 1.0, "control_us": 1.0}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "source", "kind": "source", "cost": free},
                {
                    "id": "map",
                    "kind": "map",
                    "params": {"fields": [{"name": "auction", "expression": "auction % 7"}]},
                    "cost": free | {"record_us": 100.0},
                },
                {"id": "count", "kind": "aggregate", "params": {"key": "auction", "window": window, "emit": "on_close"}, "cost": free},
                {"id": "sink", "kind": "sink", "cost": free},
                {"id": "rows", "kind": "sink", "cost": free},
            ],
            "edges": [
                {"source": "source", "target": "map"},
                {"source": "map", "target": "count"},
                {"source": "map", "target": "sink"},
                {"source": "count", "target": "rows"},
            ],
        },
        "cluster": {
            "hosts": [
                {"name": "near", "processor": {"kind": "dedicated"}, "cores": 2},
                {"name": "far", "processor": {"kind": "dedicated"}, "cores": 3, "egress_latency_ms": 5.0},
            ]
        },
        "placement": {
            "kind": "explicit",
            "hosts": {"source": ["near"], "map": ["near"], "count": ["far"], "sink": ["far"], "rows": ["far"]},
        },
        "workload": {
            "scale": scale,
            "horizon_s": 20.0,
            "drain": True,
            "sources": {
                "source": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": rate,
                    "watermarks": {"kind": "bounded", "lag_ms": 0.0, "period_ms": 100.0},
                    **parts,
                }
            },
        },
        "measurement": {"frame_ms": 250},
    }


CONSTANT = {"kind": "constant", "per_s": 7000}
SPIKES = {"kind": "spikes", "base_per_s": 3000, "peak_per_s": 16_000, "every_s": 5.0, "duration_s": 1.0}
WATERMARKS = {"kind": "bounded", "lag_ms": 0.0, "period_ms": 100.0}
OVERLOAD = {"kind": "constant", "per_s": 12_000}


@functools.cache
def _finished(rate: str, scale: int, arrivals: str = "even") -> Simulation:
    simulation = Simulation(document(globals()[rate], scale, arrivals={"kind": arrivals}))
    simulation.run_until(simulation.end_ns)
    return simulation


def summaries(rate: str, arrivals: str = "even") -> tuple[dict[str, Any], dict[str, Any]]:
    return _finished(rate, 1, arrivals).summary(), _finished(rate, SCALE, arrivals).summary()


@pytest.mark.parametrize("rate", ["CONSTANT", "SPIKES", "OVERLOAD"])
def test_counts_and_utilisation_are_those_of_the_real_records(rate: str) -> None:
    real, scaled = summaries(rate)
    assert scaled["hops"] < real["hops"] / (SCALE - 2)
    for name in ("records_in", "throughput_in_per_s"):
        assert scaled[name] == pytest.approx(real[name], rel=0.001), name
    for id, counts in real["operators"].items():
        other = scaled["operators"][id]
        assert other["in"] == pytest.approx(counts["in"], rel=0.001), id
        assert other["busy"] == pytest.approx(counts["busy"], rel=0.02, abs=0.001), id
    hosts = [_finished(rate, scale)._world.arrays.host[:, L.H_SENT_BYTES].sum() for scale in (1, SCALE)]
    assert hosts[1] == pytest.approx(hosts[0], rel=0.001)


@pytest.mark.parametrize("rate", ["SPIKES", "OVERLOAD"])
def test_latency_under_overload_is_that_of_the_real_records(rate: str) -> None:
    """What has piled up flows off at the same speed, in larger drops."""
    real, scaled = summaries(rate)
    for name in ("p50", "p95"):
        assert scaled["latency_ms"][name] == pytest.approx(real["latency_ms"][name], rel=0.03), name


def test_one_service_lasts_as_long_as_those_of_the_real_records_together() -> None:
    """So latency without overload is longer by up to a service of all, and waits at random arrivals are longer by the scale."""
    (real, scaled), (real_poisson, scaled_poisson) = summaries("CONSTANT"), summaries("CONSTANT", "poisson")
    lengthened_ms = scaled["latency_ms"]["mean"] - real["latency_ms"]["mean"]
    assert lengthened_ms == pytest.approx((SCALE - 1) * 0.104, rel=0.1)
    waits = [
        s["operators"]["map"]["attribution"]["channel_wait_ns"] / s["operators"]["map"]["attribution"]["records"]
        for s in (real_poisson, scaled_poisson)
    ]
    assert waits[1] == pytest.approx(SCALE * waits[0], rel=0.15)


def test_rows_of_panes_stand_for_themselves() -> None:
    real, scaled = summaries("CONSTANT")
    assert scaled["operators"]["rows"]["in"] == real["operators"]["rows"]["in"]
    assert scaled["operators"]["rows"]["busy"] == real["operators"]["rows"]["busy"]


def test_credits_shrink_with_the_scale() -> None:
    made = document(CONSTANT, SCALE)
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 35}}
    edge = Simulation(made)._world.arrays.edge
    assert edge[:, L.E_BOUND].tolist() == [3, 3, 3, 35]


def refused(made: Document) -> list[tuple[str, str]]:
    with pytest.raises(InvalidExperiment) as problems:
        load(made)
    return [(problem.pointer, problem.code) for problem in problems.value.problems]


def test_what_does_not_scale_is_refused() -> None:
    few = document(CONSTANT, SCALE)
    few["policies"] = {"flow_control": {"kind": "credits", "per_channel": 9}}
    assert refused(few) == [("/policies/flow_control/per_channel", "too_small")]
    noisy = document(CONSTANT, SCALE)
    noisy["query"]["operators"][1]["cost"]["noise"] = {"kind": "exponential"}
    assert refused(noisy) == [("/query/operators/1/cost/noise", "not_scaled")]
    mixed = document(CONSTANT, SCALE)
    mixed["query"]["operators"][1]["params"] = {"fields": [{"name": name, "expression": "auction"} for name in ("auction", "count")]}
    mixed["query"]["operators"][2]["params"] |= {"window": {"kind": "tumbling", "size_s": 0.5, "clock": "processing"}}
    mixed["query"]["operators"] += [{"id": f"only-{n}", "kind": "project", "params": {"fields": [{"field": "auction"}]}} for n in (1, 2)]
    mixed["query"]["operators"].append({"id": "both", "kind": "sink"})
    mixed["query"]["edges"] += [
        {"source": "map", "target": "only-1"},
        {"source": "count", "target": "only-2"},
        {"source": "only-1", "target": "both"},
        {"source": "only-2", "target": "both"},
    ]
    mixed["placement"] = {"kind": "spread"}
    mixed["cluster"]["hosts"] = [{"name": "all", "processor": {"kind": "dedicated"}, "cores": 8}]
    assert refused(mixed) == [("/query/operators/7", "mixed_weights")]


def test_a_kind_that_says_nothing_does_not_scale() -> None:
    assert Operator.unscaled(None)


EACH = {
    "join": {},
    "expiring_join": {"ttl_s": 2.0, "keep_right": "unmatched"},
    "window_join": {"window": {"kind": "tumbling", "size_s": 4.0, "clock": "event"}},
    "interval_join": {"lower_s": -2.0, "upper_s": 2.0},
}


@pytest.mark.parametrize("kind", EACH)
def test_a_join_whose_keys_grow_with_the_records_scales(kind: str) -> None:
    """Persons are joined with their auctions; ten times as many of both have ten times as many pairs. Work, results and state are those of
    the real records, as far as chance in the few that are left allows."""

    def joined(scale: int) -> Simulation:
        free = {"record_us": 1.0, "output_us": 1.0, "control_us": 1.0}
        operators = [
            {"id": "persons", "kind": "source", "cost": free},
            {"id": "auctions", "kind": "source", "cost": free},
            {
                "id": "join",
                "kind": kind,
                "params": {"left_key": "id", "right_key": "seller", "keys_grow": True} | EACH[kind],
                "cost": free | {"record_us": 60.0, "output_us": 30.0},
            },
            {"id": "sink", "kind": "sink", "cost": free},
        ]
        edges = [
            {"source": "persons", "target": "join", "target_port": "left"},
            {"source": "auctions", "target": "join", "target_port": "right"},
            {"source": "join", "target": "sink"},
        ]
        people = {"active_people": 1000 if kind == "join" else 50}  # who lives longer than a record is kept finds fewer partners
        streams = {"persons": ({"kind": "nexmark_person"}, 1250.0), "auctions": ({"kind": "nexmark_auction"} | people, 3750.0)}
        sources = {
            name: {"stream": stream, "rate": {"kind": "constant", "per_s": per_s}, "watermarks": WATERMARKS}
            for name, (stream, per_s) in streams.items()
        }
        workload = {"scale": scale, "horizon_s": 20.0, "drain": False, "sources": sources}
        hosts = [{"name": "w", "processor": {"kind": "dedicated"}, "cores": 4}]
        made = {"format": 1, "query": {"operators": operators, "edges": edges}, "cluster": {"hosts": hosts}, "workload": workload}
        simulation = Simulation(made)
        simulation.run_until(simulation.end_ns)
        return simulation

    real, scaled = joined(1), joined(SCALE)
    told, summary = real.summary(), scaled.summary()
    for metric in ("in", "out", "busy"):
        assert summary["operators"]["join"][metric] == pytest.approx(told["operators"]["join"][metric], rel=0.05)
    held = [int(simulation._world.arrays.inst[:, L.I_STATE_BYTES].sum()) for simulation in (real, scaled)]
    assert held[1] == pytest.approx(held[0], rel=0.05)


SAME_KEYS = {
    "join": {"window": {"kind": "tumbling", "size_s": 2.0, "clock": "event"}},
    "expiring_join": {"ttl_s": 2.0},
    "window_join": {"window": {"kind": "sliding", "size_s": 2.0, "slide_s": 1.0, "clock": "event"}},
    "interval_join": {"lower_s": -1.0, "upper_s": 1.0},
}


def of_same_keys(kind: str, scale: int) -> Document:
    """Bids joined with bids by one of 20 keys; their pairs are counted by key."""
    free = {"record_us": 1.0, "output_us": 1.0, "control_us": 1.0}
    fields = {"params": {"fields": [{"name": "auction", "expression": "auction % 20"}]}}
    operators = [
        *({"id": side, "kind": "source", "cost": free} for side in ("left", "right")),
        *({"id": f"{side}_key", "kind": "map", "cost": free} | fields for side in ("left", "right")),
        {
            "id": "join",
            "kind": kind,
            "params": {"left_key": "auction", "right_key": "auction", "keys_grow": False} | SAME_KEYS[kind],
            "cost": free | {"record_us": 100.0, "output_us": 5.0},
        },
        {"id": "sink", "kind": "sink", "cost": free},
    ]
    edges = [
        *({"source": side, "target": f"{side}_key"} for side in ("left", "right")),
        *({"source": f"{side}_key", "target": "join", "target_port": side} for side in ("left", "right")),
        {"source": "join", "target": "sink"},
    ]
    source = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 800}, "watermarks": WATERMARKS}
    hosts = [{"name": "w", "processor": {"kind": "dedicated"}, "cores": 6}]
    workload = {
        "scale": scale,
        "horizon_s": 20.0,
        "drain": True,
        "sources": {"left": source, "right": source | {"rate": {"kind": "constant", "per_s": 400}}},
    }
    return {"format": 1, "query": {"operators": operators, "edges": edges}, "cluster": {"hosts": hosts}, "workload": workload}


@pytest.mark.parametrize("kind", SAME_KEYS)
def test_pairs_of_the_same_keys_grow_by_the_square(kind: str) -> None:
    """A quarter of the records on both sides has a sixteenth of the pairs, so a pair stands for 16."""
    real, scaled = (Simulation(of_same_keys(kind, scale)) for scale in (1, 4))
    for simulation in (real, scaled):
        simulation.run_until(simulation.end_ns)
    assert scaled._world.arrays.op[4, L.O_WEIGHT_OUT] == 16
    told, summary = real.summary(), scaled.summary()
    assert told["operators"]["join"]["out"] > 100_000
    for metric in ("in", "out", "busy"):
        assert summary["operators"]["join"][metric] == pytest.approx(told["operators"]["join"][metric], rel=0.05), metric
    assert summary["operators"]["sink"]["in"] == pytest.approx(told["operators"]["sink"]["in"], rel=0.05)
    assert summary["hops"] < told["hops"] / 4


def test_a_scaled_join_says_whether_its_keys_grow() -> None:
    made = of_same_keys("expiring_join", 4)
    params = made["query"]["operators"][4]["params"]
    params["keep_right"] = "unmatched"
    assert refused(made) == [("/query/operators/4", "not_scaled")]
    params["keep_right"] = "latest"
    assert refused(made) == [("/query/operators/4", "not_scaled")]
    del params["keep_right"], params["keys_grow"]
    assert refused(made) == [("/query/operators/4", "not_scaled")]
    params["keys_grow"] = False
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 15}}
    assert refused(made) == [("/policies/flow_control/per_channel", "too_small")]
    made["policies"]["flow_control"]["per_channel"] = 16
    load(made)
    made["workload"]["scale"] = 1001
    assert ("/query/operators/4", "too_large") in refused(made)
    made["query"]["operators"][4] |= {"kind": "window_join", "params": {**params, "window": {"kind": "count", "size": 5}}}
    del made["query"]["operators"][4]["params"]["ttl_s"]
    assert ("/query/operators/4", "not_scaled") in refused(made)


def test_a_hash_stays_where_nothing_is_said() -> None:
    for kind in SAME_KEYS:
        made = of_same_keys(kind, 1)
        said = load(made).hash
        del made["query"]["operators"][4]["params"]["keys_grow"]
        silent = load(made)
        written = silent.canonical["query"]["operators"][4]["params"]
        assert written.get("keys_grow", "absent") == (False if kind in ("join", "expiring_join") else "absent")
        assert (silent.hash == said) == (kind in ("join", "expiring_join"))


PANES = {"kind": "sliding", "size_s": 4.0, "slide_s": 2.0, "clock": "event"}
GROWING = {
    "aggregate": ("aggregate", {"window": PANES, "emit": "on_close"}),
    "aggregate on update": ("aggregate", {"window": PANES, "every": 3}),
    "aggregate at firing": ("aggregate", {"window": PANES, "emit": "on_close", "evaluation": "at_firing"}),
    "session": ("session_aggregate", {"gap_s": 1.0, "emit": "on_close"}),
    "session with early rows": ("session_aggregate", {"gap_s": 1.0, "emit": "on_close", "every": 2}),
    "session at firing": ("session_aggregate", {"gap_s": 1.0, "emit": "on_close", "evaluation": "at_firing"}),
}


@pytest.mark.parametrize("name", GROWING)
def test_an_aggregate_whose_keys_grow_with_the_records_scales(name: str) -> None:
    """Five records for each key, whatever their number: rows stand for as many keys as records for records; what they say does not grow."""
    kind, params = GROWING[name]
    aggregates = [{"name": "n"}, {"name": "values", "function": "count_distinct", "field": "price"}]

    def counted(scale: int) -> Simulation:
        made = document({"kind": "constant", "per_s": 2000}, scale)
        operators = {operator["id"]: operator for operator in made["query"]["operators"]}
        fields = [{"name": "auction", "expression": "id // 5"}, {"name": "price", "expression": "id"}]
        operators["map"] |= {"params": {"fields": fields}}
        params_grown = params | {"key": "auction", "aggregates": aggregates, "keys_grow": True}
        operators["count"] |= {"kind": kind, "params": params_grown}
        operators["count"]["cost"] |= {"record_us": 20.0, "output_us": 50.0}
        made["workload"] |= {"drain": False, "horizon_s": 19.9}
        made["workload"]["sources"]["source"]["stream"]["kind"] = "nexmark_auction"
        simulation = Simulation(made, keep_outputs=True)
        simulation.run_until(simulation.end_ns)
        return simulation

    real, scaled = counted(1), counted(SCALE)
    told, summary = real.summary()["operators"], scaled.summary()["operators"]
    for metric in ("in", "out", "busy"):
        assert summary["count"][metric] == pytest.approx(told["count"][metric], rel=0.05), metric
    assert summary["rows"]["in"] == pytest.approx(told["rows"]["in"], rel=0.05)
    assert scaled.summary()["hops"] < real.summary()["hops"] / (SCALE - 2)
    held = [int(simulation._world.arrays.inst[:, L.I_STATE_BYTES].sum()) for simulation in (real, scaled)]
    assert held[0] > 0
    assert held[1] == pytest.approx(held[0], rel=0.05)
    for run in (real, scaled):
        counts = [row["values"][-2:] for row in run.sink_records("rows")]
        assert {n for n, _ in counts} <= set(range(1, 6))
        assert all(n == values for n, values in counts)
        assert sum(n == 5 for n, _ in counts) > 0.8 * len(counts) or "every" in params


def test_an_aggregate_at_firing_of_the_same_keys_scales() -> None:
    """Its groups do not grow, but the records that it keeps and reads do."""

    def counted(scale: int) -> Simulation:
        made = document({"kind": "constant", "per_s": 2000}, scale)
        operators = {operator["id"]: operator for operator in made["query"]["operators"]}
        operators["map"] |= {"params": {"fields": [{"name": "auction", "expression": "id % 4"}]}}
        operators["count"] |= {"kind": "aggregate", "cost": {"output_us": 50.0}}
        operators["count"]["params"] = {"key": "auction", "window": PANES, "emit": "on_close", "evaluation": "at_firing"}
        made["prices"] = "storm_2020"
        made["workload"] |= {"drain": False, "horizon_s": 19.9}
        made["workload"]["sources"]["source"]["stream"]["kind"] = "nexmark_auction"
        simulation = Simulation(made)
        simulation.run_until(simulation.end_ns)
        return simulation

    real, scaled = counted(1), counted(SCALE)
    told, found = real.summary()["operators"]["count"], scaled.summary()["operators"]["count"]
    assert (found["in"], found["out"], found["busy"]) == pytest.approx((told["in"], told["out"], told["busy"]), rel=0.05)
    held = [int(simulation._world.arrays.inst[:, L.I_STATE_BYTES].sum()) for simulation in (real, scaled)]
    assert held[1] == pytest.approx(held[0], rel=0.05)
    assert held[0] > 50_000


def test_without_growing_keys_sessions_and_expiry_are_refused() -> None:
    for kind, params in (
        ("session_aggregate", {"key": "auction", "gap_s": 1.0}),
        ("aggregate", {"key": "auction", "window": PANES, "emit": "on_close", "every": 3}),
        ("aggregate", {"key": "auction", "window": PANES, "emit": "on_update", "evaluation": "at_firing"}),
    ):
        made = document(CONSTANT, SCALE)
        made["query"]["operators"][2] |= {"kind": kind, "params": params}
        assert refused(made) == [("/query/operators/2", "not_scaled")]
        made["query"]["operators"][2]["params"] |= {"keys_grow": True}
        load(made)
        del made["query"]["operators"][2]["params"]["key"]
        assert ("/query/operators/2/params/keys_grow", "no_key") in refused(made)
