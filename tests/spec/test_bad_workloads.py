"""Every kind of bad workload gets a problem at the right place that names field and value and says what would be right.

What is wrong with the files that rates and delays come from is tested in tests/workloads.
"""

from __future__ import annotations

import math

import pytest

from .documents import assert_one_problem, changed, errors_in, q3, trips

PERSONS, TRIPS = "/workload/sources/persons", "/workload/sources/trips"


def rate(kind: str, **fields):
    return {f"{PERSONS}/rate": {"kind": kind, **fields}}


RATE = f"{PERSONS}/rate"

# document, changes, pointer, code, what the message or the hint must hold
CASES = {
    "fewer partitions than instances": (
        q3,
        {f"{PERSONS}/partitions": 3, "/query/operators/0/parallelism": 4},
        f"{PERSONS}/partitions",
        "wrong_partitions",
        ["partitions is 3", "'persons' has 4 instances", "at least 4"],
    ),
    "partitions of devices that say how far they are": (
        q3,
        {f"{PERSONS}/partitions": 300, f"{PERSONS}/watermarks": {"kind": "device"}},
        f"{PERSONS}/partitions",
        "wrong_partitions",
        ["partitions is 300", "devices' watermarks", "bounded"],
    ),
    "partitions of generators that wait": (
        q3,
        {f"{PERSONS}/partitions": 300, f"{PERSONS}/generation": {"kind": "coordinated"}},
        f"{PERSONS}/partitions",
        "wrong_partitions",
        ["partitions is 300", "one partition per instance", "open"],
    ),
    "no partitions": (q3, {f"{PERSONS}/partitions": 0}, f"{PERSONS}/partitions", "out_of_range", ["partitions", "0", "at least 1"]),
    "no steps": (q3, rate("steps", steps=[]), f"{RATE}/steps", "too_short", ["steps", "0", "at least 1"]),
    "step at NaN": (
        q3,
        rate("steps", steps=[{"at_s": math.nan, "per_s": 1}]),
        f"{RATE}/steps/0/at_s",
        "not_finite",
        ["at_s", "nan", "finite"],
    ),
    "ramp that goes back": (
        q3,
        rate("ramp", start_s=5, end_s=5),
        f"{RATE}/end_s",
        "not_ascending",
        ["end_s is 5", "after start_s (5)", "larger", "steps"],
    ),
    "ramp to below zero": (q3, rate("ramp", to_per_s=-3), f"{RATE}/to_per_s", "out_of_range", ["to_per_s", "-3", "at least 0 records/s"]),
    "noise on a smooth curve": (
        q3,
        rate("cosine", noise_per_s=5),
        f"{RATE}/noise_per_s",
        "noise_without_step",
        ["noise_per_s is 5", "step_s is 0", "set step_s"],
    ),
    "spike longer than its period": (
        q3,
        rate("spikes", every_s=2, duration_s=3),
        f"{RATE}/duration_s",
        "spike_too_long",
        ["duration_s is 3", "every_s (2)", "at most 2"],
    ),
    "spikes placed somehow": (
        q3,
        rate("spikes", placing="anywhere"),
        f"{RATE}/placing",
        "unknown_value",
        ["'anywhere'", "'regular' or 'random'"],
    ),
    "walk without room": (
        q3,
        rate("random_walk", start_per_s=5, min_per_s=9, max_per_s=3),
        f"{RATE}/max_per_s",
        "not_ascending",
        ["max_per_s is 3", "min_per_s (9)", "at least"],
    ),
    "walk from outside": (
        q3,
        rate("random_walk", start_per_s=11_000),
        f"{RATE}/start_per_s",
        "out_of_range",
        ["start_per_s is 11000", "at most max_per_s (10000)"],
    ),
    "walk in tiny steps": (
        q3,
        rate("random_walk", step_s=0.0001),
        f"{RATE}/step_s",
        "out_of_range",
        ["step_s", "0.0001", "at least 0.001"],
    ),
    "walk in too many steps": (
        q3,
        {**rate("random_walk", step_s=0.001), "/workload/horizon_s": 300},
        f"{RATE}/step_s",
        "too_many_steps",
        ["step_s is 0.001", "300,000 pieces", "at least 0.0015"],
    ),
    "increase to nothing": (q3, rate("increasing", top_per_s=0), f"{RATE}/top_per_s", "out_of_range", ["top_per_s", "0", "at least 1"]),
    "seed below zero": (q3, rate("decreasing", seed=-1), f"{RATE}/seed", "out_of_range", ["seed", "-1", "at least 0"]),
    "rates of an unknown file": (
        q3,
        rate("file", dataset="trip", time="pickup", rate="distance"),
        f"{RATE}/dataset",
        "unknown_dataset",
        ["dataset 'trip'", "upload it"],
    ),
    "rates of a file without its columns": (q3, rate("file", dataset="trips"), f"{RATE}/time", "missing", ["time", "add it", "timestamps"]),
    "unknown arrivals": (
        q3,
        {f"{PERSONS}/arrivals": {"kind": "poison"}},
        f"{PERSONS}/arrivals/kind",
        "unknown_kind",
        ["'poison'", "did you mean 'poisson'"],
    ),
    "gamma gaps without a shape": (
        q3,
        {f"{PERSONS}/arrivals": {"kind": "gamma", "shape": 0}},
        f"{PERSONS}/arrivals/shape",
        "out_of_range",
        ["shape", "0", "at least 1"],
    ),
    "gamma gaps with half a shape": (
        q3,
        {f"{PERSONS}/arrivals": {"kind": "gamma", "shape": 2.5}},
        f"{PERSONS}/arrivals/shape",
        "wrong_type",
        ["shape", "2.5", "whole number"],
    ),
    "bursts all the time": (
        q3,
        {f"{PERSONS}/arrivals": {"kind": "bursts", "every_ms": 0}},
        f"{PERSONS}/arrivals/every_ms",
        "out_of_range",
        ["every_ms", "0", "at least 0.001 ms"],
    ),
    "recorded times at random": (
        trips,
        {f"{TRIPS}/arrivals": {"kind": "poisson"}},
        f"{TRIPS}/arrivals/kind",
        "recorded_arrivals",
        ["'poisson'", "the file's own times", "another rate"],
    ),
    "unknown delay": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "exponentiel"}},
        f"{PERSONS}/disorder/kind",
        "unknown_kind",
        ["'exponentiel'", "did you mean 'exponential'"],
    ),
    "delay back in time": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "constant", "delay_ms": -5}},
        f"{PERSONS}/disorder/delay_ms",
        "out_of_range",
        ["delay_ms", "-5", "at least 0 ms"],
    ),
    "delay of NaN": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "exponential", "mean_ms": math.nan}},
        f"{PERSONS}/disorder/mean_ms",
        "not_finite",
        ["mean_ms", "nan"],
    ),
    "delays from more to less": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "uniform", "min_ms": 30, "max_ms": 20}},
        f"{PERSONS}/disorder/max_ms",
        "not_ascending",
        ["max_ms is 20", "min_ms (30)"],
    ),
    "Zipf without ranks": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "zipf", "ranks": 0}},
        f"{PERSONS}/disorder/ranks",
        "out_of_range",
        ["ranks", "0", "at least 1"],
    ),
    "gamma below one": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "gamma", "shape": 0.5}},
        f"{PERSONS}/disorder/shape",
        "out_of_range",
        ["shape", "0.5", "at least 1"],
    ),
    "delays of an unknown file": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "file", "dataset": "delais", "column": "ms"}},
        f"{PERSONS}/disorder/dataset",
        "unknown_dataset",
        ["dataset 'delais'", "upload it"],
    ),
    "log that keeps nothing": (
        q3,
        {f"{PERSONS}/retention": {"kind": "time", "keep_s": 0}},
        f"{PERSONS}/retention/keep_s",
        "out_of_range",
        ["keep_s", "0", "at least 0.001 s"],
    ),
    "log that looks all the time": (
        q3,
        {f"{PERSONS}/retention": {"kind": "time", "check_s": 0.001}, "/workload/horizon_s": 1000},
        f"{PERSONS}/retention/check_s",
        "budget",
        ["check_s is 0.001", "1,000,000 checks", "at least 0.005"],
    ),
    "scale below one": (q3, {"/workload/scale": 0}, "/workload/scale", "out_of_range", ["scale", "0", "at least 1"]),
    "half a scale": (q3, {"/workload/scale": 1.5}, "/workload/scale", "wrong_type", ["scale", "1.5", "whole number"]),
    "scale of recorded times": (
        trips,
        {"/workload/scale": 10},
        "/workload/scale",
        "recorded_scaled",
        ["scale is 10", "'trips'", "another rate"],
    ),
    "scale of a join": (
        q3,
        {"/workload/scale": 10},
        "/query/operators/3",
        "not_scaled",
        ["'join'", "scale is 10", "matches per record", "set scale to 1"],
    ),
    "too many steps of a drift": (
        q3,
        {"/workload/horizon_s": 1000, "/query/operators/2/cost": {"drift": {"kind": "ar1", "step_s": 0.001}}},
        "/query/operators/2/cost/drift/step_s",
        "budget",
        ["step_s is 0.001", "1,000,000 factors", "at least 0.005"],
    ),
    "a file made on demand": (
        trips,
        {f"{TRIPS}/generation": {"kind": "coordinated"}},
        f"{TRIPS}/generation/kind",
        "not_coordinated",
        ["generation", "'coordinated'", "a file", "choose open"],
    ),
    "devices that wait": (
        q3,
        {f"{PERSONS}/generation": {"kind": "coordinated"}, f"{PERSONS}/watermarks": {"kind": "device"}},
        f"{PERSONS}/generation/kind",
        "not_coordinated",
        ["'coordinated'", "devices", "bounded"],
    ),
    "nothing to drop": (
        q3,
        {f"{PERSONS}/generation": {"kind": "coordinated"}, f"{PERSONS}/retention": {"kind": "time"}},
        f"{PERSONS}/generation/kind",
        "not_coordinated",
        ["'coordinated'", "keep all"],
    ),
    "watermarks of a file's devices": (
        trips,
        {f"{TRIPS}/watermarks/kind": "device"},
        f"{TRIPS}/watermarks/kind",
        "device_of_file",
        ["'device'", "a file", "choose bounded"],
    ),
    "no ads": (
        q3,
        {f"{PERSONS}/stream": {"kind": "yahoo_event", "campaigns": 0}},
        f"{PERSONS}/stream/campaigns",
        "out_of_range",
        ["campaigns", "0", "at least 1"],
    ),
    "skew by an unknown law": (
        q3,
        {f"{PERSONS}/stream": {"kind": "purchase", "skew": {"kind": "zpif"}}},
        f"{PERSONS}/stream/skew/kind",
        "unknown_kind",
        ["'zpif'", "did you mean 'zipf'"],
    ),
    "more than all records are hot": (
        q3,
        {f"{PERSONS}/stream": {"kind": "purchase", "skew": {"kind": "hot", "share": 1.5}}},
        f"{PERSONS}/stream/skew/share",
        "out_of_range",
        ["share", "1.5", "at most 1"],
    ),
    "too few vehicles for accidents": (
        q3,
        {f"{PERSONS}/stream": {"kind": "linear_road_report", "vehicles": 5, "xways": 3}},
        f"{PERSONS}/stream/vehicles",
        "out_of_range",
        ["vehicles is 5", "at least 6", "3 xways"],
    ),
    "integers from more to less": (
        q3,
        {f"{PERSONS}/stream": {"kind": "synthetic", "integer_min": 5, "integer_max": 4}},
        f"{PERSONS}/stream/integer_max",
        "not_ascending",
        ["integer_max is 4", "integer_min (5)"],
    ),
    "vectors without dimensions": (
        q3,
        {f"{PERSONS}/stream": {"kind": "vectors", "dimensions": 0}},
        f"{PERSONS}/stream/dimensions",
        "out_of_range",
        ["dimensions", "0", "at least 1"],
    ),
    "record of negative size": (
        q3,
        {f"{PERSONS}/stream/record_bytes": -1},
        f"{PERSONS}/stream/record_bytes",
        "out_of_range",
        ["record_bytes", "-1", "at least 0 B"],
    ),
    "distances without spread": (
        q3,
        {f"{PERSONS}/stream": {"kind": "taxi_trip", "distance_cv": 0}},
        f"{PERSONS}/stream/distance_cv",
        "out_of_range",
        ["distance_cv", "0", "at least 0.01"],
    ),
    "no rate above zero": (
        q3,
        {f"/workload/sources/{id}/rate/per_s": 0 for id in ("persons", "auctions")},
        "/workload/sources",
        "no_records",
        ["no source has a record", "horizon_s (30)", "above 0"],
    ),
    "the only rate comes too late": (
        trips,
        {f"{TRIPS}/rate": {"kind": "steps", "steps": [{"at_s": 600, "per_s": 5}]}},
        f"{TRIPS}/rate",
        "no_records",
        ["no source has a record", "horizon_s (600)"],
    ),
    "a rate that grows beyond the budget": (
        q3,
        rate("ramp", from_per_s=0, to_per_s=4e6, end_s=20),
        "/workload/horizon_s",
        "budget",
        ["horizon_s is 30", "80,030,000 records", "at most 14.1"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_workload(name):
    make, changes, pointer, code, words = CASES[name]
    assert_one_problem(changed(make(), changes), pointer, code, words)


def test_one_silent_source_is_fine():
    assert errors_in(changed(q3(), {f"{PERSONS}/rate/per_s": 0})) == []


def test_the_advice_on_the_horizon_holds():
    changes = {**rate("ramp", from_per_s=0, to_per_s=4e6, end_s=20), "/workload/horizon_s": 14.1}
    assert errors_in(changed(q3(), changes)) == []
