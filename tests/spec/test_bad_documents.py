"""Every kind of bad document gets a problem at the right place that names field and value and says what would be right."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import reduce

import pytest

from engine.spec import Budgets, Context, InvalidExperiment, load, validate
from engine.spec.experiment.cluster import Cluster, links_between

from .documents import CONTEXT, REMOVED, changed, errors_in, looped, q3, steps_of, trips

OPERATORS, EDGES, PERSONS = "/query/operators", "/query/edges", "/workload/sources/persons"
TRIPS = "/workload/sources/trips"

# document, changes, pointer, code, what the message or the hint must hold
CASES = {
    # shape
    "missing section": (q3, {"/cluster": REMOVED}, "/cluster", "missing", ["cluster", "add it"]),
    "missing format": (q3, {"/format": REMOVED}, "/format", "missing", ["format", "add it"]),
    "misspelt field": (q3, {"/workload/horizont_s": 3}, "/workload/horizont_s", "unexpected", ["horizont_s", "did you mean 'horizon_s'"]),
    "misspelt field in a union": (q3, {f"{PERSONS}/rate/pers_s": 3}, f"{PERSONS}/rate/pers_s", "unexpected", ["did you mean 'per_s'"]),
    "text for a number": (q3, {"/workload/horizon_s": "30"}, "/workload/horizon_s", "wrong_type", ["horizon_s", "'30'", "a number"]),
    "fraction for a count": (q3, {f"{OPERATORS}/0/parallelism": 1.5}, f"{OPERATORS}/0/parallelism", "wrong_type", ["1.5", "whole number"]),
    "true for a count": (q3, {"/cluster/hosts/0/count": True}, "/cluster/hosts/0/count", "wrong_type", ["count", "true", "whole number"]),
    "true for cores": (q3, {"/cluster/hosts/0/cores": True}, "/cluster/hosts/0/cores", "wrong_type", ["cores", "true", "number"]),
    "half a core without sharing": (q3, {"/cluster/hosts/0/cores": 1.5}, "/cluster/hosts/0/cores", "invalid", ["cores", "1.5", "whole"]),
    "zero cores": (q3, {"/cluster/hosts/0/cores": 0}, "/cluster/hosts/0/cores", "out_of_range", ["cores", "0", "at least"]),
    "negative cores": (q3, {"/cluster/hosts/0/cores": -1}, "/cluster/hosts/0/cores", "out_of_range", ["cores", "-1", "at least"]),
    "a quota above the host": (
        q3,
        {"/cluster/hosts/0/processor": {"kind": "processor_sharing", "quota_cores": 3}},
        "/cluster/hosts/0/processor/quota_cores",
        "invalid",
        ["quota_cores", "3", "at most"],
    ),
    "a number for a list": (q3, {"/cluster/hosts": 4}, "/cluster/hosts", "wrong_type", ["hosts", "4", "a list"]),
    "a list for a mapping": (q3, {"/workload": []}, "/workload", "wrong_type", ["workload", "mapping"]),
    "no hosts": (q3, {"/cluster/hosts": []}, "/cluster/hosts", "too_short", ["hosts", "0", "at least 1"]),
    "bad id": (q3, {f"{OPERATORS}/0/id": "My Source"}, f"{OPERATORS}/0/id", "wrong_form", ["id", "'My Source'", "Lower-case"]),
    "zero parallelism": (
        q3,
        {f"{OPERATORS}/0/parallelism": 0},
        f"{OPERATORS}/0/parallelism",
        "out_of_range",
        ["parallelism", "0", "at least 1"],
    ),
    "unknown clock": (
        q3,
        {"/measurement/latency/from": "arrival"},
        "/measurement/latency/from",
        "unknown_value",
        ["'arrival'", "'append'"],
    ),
    "unknown rate": (
        q3,
        {f"{PERSONS}/rate/kind": "constnat"},
        f"{PERSONS}/rate/kind",
        "unknown_kind",
        ["constnat", "did you mean 'constant'"],
    ),
    "rate without kind": (q3, {f"{PERSONS}/rate": {"per_s": 3}}, f"{PERSONS}/rate/kind", "missing", ["rate", "kind", "add one"]),
    "rate as a number": (q3, {f"{PERSONS}/rate": 3}, f"{PERSONS}/rate", "wrong_type", ["rate", "3", "mapping"]),
    "unknown backend": (q3, {"/backend": {"kind": "spork"}}, "/backend/kind", "unknown_kind", ["'spork'", "'modelled'"]),
    "unknown prices": (q3, {"/prices": "referense"}, "/prices", "unknown_prices", ["referense", "did you mean 'reference'"]),
    "seed beyond a browser's numbers": (q3, {"/workload/seed": 2**60}, "/workload/seed", "out_of_range", ["seed", "at most"]),
    # numbers
    "negative rate": (q3, {f"{PERSONS}/rate/per_s": -1}, f"{PERSONS}/rate/per_s", "out_of_range", ["per_s", "-1", "at least 0 records/s"]),
    "NaN": (q3, {f"{PERSONS}/rate/per_s": math.nan}, f"{PERSONS}/rate/per_s", "not_finite", ["per_s", "nan", "finite"]),
    "infinity": (q3, {"/workload/horizon_s": math.inf}, "/workload/horizon_s", "not_finite", ["horizon_s", "inf", "finite"]),
    "NaN in params": (q3, {f"{OPERATORS}/2/params/x": math.nan}, f"{OPERATORS}/2/params/x", "not_finite", ["x", "nan", "finite"]),
    "NaN for the canvas": (q3, {"/ui/positions/x": math.nan}, "/ui/positions/x", "not_finite", ["x", "nan", "finite"]),
    "huge number": (q3, {"/ui/x": 10**30}, "/ui/x", "out_of_range", ["x", "1.000000e+30", "64 bits"]),
    "a set": (q3, {"/ui/x": {1, 2}}, "/ui/x", "wrong_type", ["x", "{1, 2}", "a string"]),
    "cosine below zero": (
        q3,
        {f"{PERSONS}/rate": {"kind": "cosine", "mean_per_s": 10, "amplitude_per_s": 11, "period_s": 5}},
        f"{PERSONS}/rate/amplitude_per_s",
        "negative_rate",
        ["amplitude_per_s", "11", "at most 10"],
    ),
    "delays that switch after the end": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "switched", "at_s": 30}},
        f"{PERSONS}/disorder/at_s",
        "outside_run",
        ["at_s is 30", "30 s", "lower it"],
    ),
    "delays that switch twice, the second time after the end": (
        q3,
        {f"{PERSONS}/disorder": {"kind": "switched", "at_s": 5, "after": {"kind": "switched", "at_s": 31}}},
        f"{PERSONS}/disorder/after/at_s",
        "outside_run",
        ["at_s is 31"],
    ),
    "steps out of order": (
        q3,
        {f"{PERSONS}/rate": {"kind": "steps", "steps": [{"at_s": 5, "per_s": 1}, {"at_s": 5, "per_s": 2}]}},
        f"{PERSONS}/rate/steps/1/at_s",
        "not_ascending",
        ["at_s", "5", "ascending"],
    ),
    "negative step": (
        q3,
        {f"{PERSONS}/rate": {"kind": "steps", "steps": [{"at_s": 0, "per_s": -2}]}},
        f"{PERSONS}/rate/steps/0/per_s",
        "out_of_range",
        ["per_s", "-2", "at least 0"],
    ),
    "hot ratio above one": (
        q3,
        {f"{PERSONS}/stream/hot_ratio": 1.5},
        f"{PERSONS}/stream/hot_ratio",
        "out_of_range",
        ["hot_ratio", "1.5", "at most 1"],
    ),
    "warm-up eats the run": (q3, {"/workload/warmup_s": 30}, "/workload/warmup_s", "warmup_too_long", ["warmup_s", "30", "smaller"]),
    "window of 0": (
        trips,
        {f"{OPERATORS}/1/params/window/size_s": 0},
        f"{OPERATORS}/1/params/window/size_s",
        "out_of_range",
        ["size_s", "0", "above 0"],
    ),
    "slide above size": (
        trips,
        {f"{OPERATORS}/1/params/window/slide_s": 61},
        f"{OPERATORS}/1/params/window/slide_s",
        "slide_too_long",
        ["slide_s", "61", "at most 60"],
    ),
    "window until a distance": (
        trips,
        {f"{OPERATORS}/1/params/window": {"kind": "until", "field": "distance"}},
        f"{OPERATORS}/1/params/window/field",
        "type_mismatch",
        ["'distance'", "float", "timestamp"],
    ),
    "unknown window": (
        trips,
        {f"{OPERATORS}/1/params/window": {"kind": "tumblin", "size_s": 3}},
        f"{OPERATORS}/1/params/window/kind",
        "unknown_kind",
        ["tumblin", "did you mean 'tumbling'"],
    ),
    # graph
    "unknown kind": (q3, {f"{OPERATORS}/2/kind": "filtre"}, f"{OPERATORS}/2/kind", "unknown_kind", ["filtre", "did you mean 'filter'"]),
    "duplicate id": (q3, {f"{OPERATORS}/1/id": "persons"}, f"{OPERATORS}/1/id", "duplicate_id", ["id", "'persons'", "choose another"]),
    "unknown operator": (q3, {f"{EDGES}/0/target": "filtre"}, f"{EDGES}/0/target", "unknown_operator", ["filtre", "did you mean 'filter'"]),
    "unknown input port": (
        q3,
        {f"{EDGES}/1/target_port": "lift"},
        f"{EDGES}/1/target_port",
        "unknown_port",
        ["lift", "did you mean 'left'"],
    ),
    "unknown output port": (q3, {f"{EDGES}/0/source_port": "oot"}, f"{EDGES}/0/source_port", "unknown_port", ["oot", "did you mean 'out'"]),
    "edge into a source": (
        q3,
        {f"{EDGES}/-": {"source": "filter", "target": "auctions"}},
        f"{EDGES}/4/target_port",
        "unknown_port",
        ["auctions", "no input ports"],
    ),
    "port without an edge": (q3, {f"{EDGES}/1": REMOVED}, f"{OPERATORS}/3", "missing_edge", ["'left'", "'join'", "connect"]),
    "duplicate edge": (
        q3,
        {f"{EDGES}/-": {"source": "join", "target": "sink"}},
        f"{EDGES}/4",
        "duplicate_edge",
        ["'join'", "'sink'", "edge 4", "remove one"],
    ),
    "unequal forward": (
        q3,
        {f"{OPERATORS}/4/parallelism": 2},
        f"{EDGES}/3/partitioning/kind",
        "unequal_parallelism",
        ["forward", "'join' to 'sink'", "4 instances", "receiver has 2", "choose hash or rebalance"],
    ),
    "too few key groups": (
        q3,
        {f"{EDGES}/0/partitioning": {"kind": "hash", "key": "id", "key_groups": 3}},
        f"{EDGES}/0/partitioning/key_groups",
        "out_of_range",
        ["key_groups", "3", "at least 4"],
    ),
    "cycle": (
        q3,
        {f"{EDGES}/-": {"source": "join", "target": "filter"}},
        f"{EDGES}/4",
        "cycle",
        ["filter -> join -> filter", "remove", "feedback: true"],
    ),
    "self loop": (q3, {f"{EDGES}/-": {"source": "filter", "target": "filter"}}, f"{EDGES}/4", "cycle", ["filter -> filter", "remove"]),
    "feedback that closes no cycle": (
        q3,
        {f"{EDGES}/3/feedback": True},
        f"{EDGES}/3/feedback",
        "no_cycle",
        ["feedback", "true", "from 'sink' back to 'join'", "remove it"],
    ),
    "feedback marked on the way there": (
        looped,
        {
            f"{EDGES}/2/feedback": True,
            f"{EDGES}/2/fields": [
                *({"name": name, "type": "string"} for name in ("name", "city", "state")),
                {"name": "right_id", "type": "int"},
            ],
            f"{EDGES}/4/feedback": REMOVED,
            f"{EDGES}/4/fields": REMOVED,
        },
        f"{EDGES}/2/feedback",
        "only_feedback",
        ["feedback", "'back'", "watermark", "mark instead the edge that leads back"],
    ),
    "feedback of other fields": (
        q3,
        {
            f"{EDGES}/-": {
                "source": "join",
                "target": "join",
                "target_port": "left",
                "partitioning": {"kind": "hash", "key": "id"},
                "feedback": True,
            }
        },
        f"{EDGES}/4",
        "type_mismatch",
        ["'left'", "'join'", "id int", "carries (name string", "must agree"],
    ),
    "feedback into a port without a declaration": (
        looped,
        {f"{EDGES}/4/fields": REMOVED},
        f"{EDGES}/4/fields",
        "missing",
        ["'right'", "'join'", "declare its fields", "add them"],
    ),
    "feedback declared as other fields": (
        looped,
        {f"{EDGES}/4/fields/-": {"name": "more", "type": "float"}},
        f"{EDGES}/4",
        "type_mismatch",
        ["'right'", "more float", "from 'back' carries", "must agree"],
    ),
    "declared fields without feedback": (
        q3,
        {f"{EDGES}/3/fields": [{"name": "id", "type": "int"}]},
        f"{EDGES}/3/fields",
        "unexpected",
        ["fields", "only feedback edges declare", "remove them"],
    ),
    "no way to a sink": (
        q3,
        {
            f"{OPERATORS}/-": {"id": "lost", "kind": "filter"},
            f"{EDGES}/-": {"source": "persons", "target": "lost", "partitioning": {"kind": "rebalance"}},
        },
        f"{OPERATORS}/5",
        "disconnected",
        ["'lost'", "from it to a sink", "connect it"],
    ),
    "no way from a source": (
        q3,
        {
            f"{OPERATORS}/-": {"id": "island", "kind": "filter"},
            f"{EDGES}/-": {"source": "shore", "target": "island"},
            f"{OPERATORS}/0/params": {},
        },
        f"{OPERATORS}/5",
        "disconnected",
        ["'island'", "to it from a source", "connect it"],
    ),
    "no sink": (
        q3,
        {f"{OPERATORS}/4": REMOVED, f"{EDGES}/3": REMOVED},
        OPERATORS,
        "no_sink",
        ["sink", "add an operator of kind sink"],
    ),
    "no operators": (q3, {OPERATORS: []}, OPERATORS, "no_source", ["source", "add an operator of kind source"]),
    # flow
    "unknown key": (
        q3,
        {f"{EDGES}/0/partitioning/key": "idd"},
        f"{EDGES}/0/partitioning/key",
        "unknown_field",
        ["key", "'idd'", "did you mean 'id'"],
    ),
    "float key": (
        trips,
        {f"{EDGES}/0/partitioning": {"kind": "hash", "key": "distance"}},
        f"{EDGES}/0/partitioning/key",
        "type_mismatch",
        ["key", "'distance'", "float", "string"],
    ),
    "type mismatch of the join's keys": (
        q3,
        {f"{OPERATORS}/3/params/right_key": "item"},
        f"{OPERATORS}/3/params/right_key",
        "type_mismatch",
        ["right_key", "'item'", "string", "the same type"],
    ),
    "type mismatch on an edge": (
        q3,
        {f"{EDGES}/-": {"source": "auctions", "target": "filter", "partitioning": {"kind": "rebalance"}}},
        f"{EDGES}/4",
        "type_mismatch",
        ["'in'", "'filter'", "'auctions'", "the same fields"],
    ),
    "keyed operator behind rebalance": (
        q3,
        {f"{EDGES}/2/partitioning": {"kind": "rebalance"}},
        f"{EDGES}/2/partitioning/kind",
        "wrong_key",
        ["rebalance", "'join'", "hash by 'seller'"],
    ),
    "keyed operator behind another key": (
        q3,
        {f"{EDGES}/2/partitioning/key": "id"},
        f"{EDGES}/2/partitioning/key",
        "wrong_key",
        ["hash by 'id'", "'join'", "hash by 'seller'"],
    ),
    "forward that keeps no key": (
        q3,
        {f"{EDGES}/0/partitioning": {"kind": "rebalance"}},
        f"{EDGES}/1/partitioning/kind",
        "wrong_key",
        ["forward", "'join'", "hash by 'id'"],
    ),
    "inputs hashed in two ways": (
        q3,
        {f"{EDGES}/2/partitioning/scheme": "key_groups"},
        f"{OPERATORS}/3",
        "wrong_key",
        ["'join'", "hashed differently", "same scheme"],
    ),
    "inputs put into key groups in two ways": (
        q3,
        {f"{EDGES}/0/partitioning/scheme": "key_groups", f"{EDGES}/2/partitioning": {"kind": "hash", "key": "seller", "mixed": False}},
        f"{OPERATORS}/3",
        "wrong_key",
        ["'join'", "hashed differently", "key_groups and mixed"],
    ),
    "keys mixed by a number": (
        q3,
        {f"{EDGES}/0/partitioning/mixed": 1},
        f"{EDGES}/0/partitioning/mixed",
        "wrong_type",
        ["true or false"],
    ),
    "global aggregate in parallel": (
        trips,
        {
            f"{OPERATORS}/1/params/key": None,
            f"{OPERATORS}/1/parallelism": 2,
            f"{OPERATORS}/2/parallelism": 2,
            "/cluster/hosts/0/cores": 9,
        },
        f"{OPERATORS}/1/parallelism",
        "out_of_range",
        ["parallelism", "2", "at most 1"],
    ),
    "unknown field in an expression": (
        q3,
        {f"{OPERATORS}/2/params/predicate": "stat == 'OR'"},
        f"{OPERATORS}/2/params/predicate",
        "unknown_field",
        ["'stat'", "column 1", "did you mean 'state'"],
    ),
    "call that is not allowed": (
        q3,
        {f"{OPERATORS}/2/params/predicate": "open('/etc/passwd') == 1"},
        f"{OPERATORS}/2/params/predicate",
        "not_allowed",
        ["open()", "not a function"],
    ),
    "expression of the wrong type": (
        q3,
        {f"{OPERATORS}/2/params/predicate": "id + 1"},
        f"{OPERATORS}/2/params/predicate",
        "type_mismatch",
        ["'id + 1'", "int", "condition"],
    ),
    "unknown parameter": (
        q3,
        {f"{OPERATORS}/2/params/predikate": "True"},
        f"{OPERATORS}/2/params/predikate",
        "unexpected",
        ["predikate", "did you mean 'predicate'"],
    ),
    "missing parameter": (
        q3,
        {f"{OPERATORS}/3/params/left_key": REMOVED},
        f"{OPERATORS}/3/params/left_key",
        "missing",
        ["left_key", "add it"],
    ),
    # hosts and placement
    "unknown host in a placement": (
        q3,
        {
            "/placement": {
                "kind": "explicit",
                "hosts": {name: ["w1"] for name in ("persons", "auctions", "filter", "join")} | {"sink": ["w1", "w9"]},
            }
        },
        "/placement/hosts/sink/1",
        "unknown_host",
        ["'w9'", "'sink'", "name one of its hosts", "w1, w2"],
    ),
    "operator without hosts": (
        q3,
        {"/placement": {"kind": "explicit", "hosts": {name: ["w1"] for name in ("persons", "auctions", "filter", "join")}}},
        "/placement/hosts/sink",
        "missing",
        ["'sink'", "list at least one", "w1"],
    ),
    "hosts for an unknown operator": (
        q3,
        {"/placement": {"kind": "explicit", "hosts": {"sinc": ["w1"]}}},
        "/placement/hosts/sinc",
        "unknown_operator",
        ["'sinc'", "did you mean 'sink'"],
    ),
    "too few hosts for the strategy": (
        q3,
        {"/placement/kind": "by_operator"},
        "/placement/kind",
        "too_few_hosts",
        ["by_operator", "4 hosts", "add 1"],
    ),
    "too few dedicated cores": (
        trips,
        {"/cluster/hosts/0/cores": 2},
        "/cluster/hosts/0/cores",
        "too_few_cores",
        ["cores", "2", "at least 3"],
    ),
    "host name twice": (q3, {"/cluster/hosts/-": {"name": "w3"}}, "/cluster/hosts/1/name", "duplicate_name", ["'w3'", "rename"]),
    "link to an unknown host": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w", "latency_ms": 1}]},
        "/cluster/links/0/target",
        "unknown_host",
        ["target", "'w'", "did you mean"],
    ),
    "link to itself": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w1", "latency_ms": 1}]},
        "/cluster/links/0/target",
        "same_host",
        ["target", "'w1'", "another host"],
    ),
    "link twice": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w2", "latency_ms": 1}] * 2},
        "/cluster/links/1",
        "duplicate_link",
        ["'w1'", "'w2'", "keep one"],
    ),
    "link that changes nothing": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w2"}]},
        "/cluster/links/0",
        "missing",
        ["'w1'", "'w2'", "latency_ms", "mbit_per_s"],
    ),
    "region link to a region without hosts": (
        q3,
        {"/cluster/region_links": [{"source": "cloud", "target": "clouds", "latency_ms": 40}]},
        "/cluster/region_links/0/target",
        "unknown_region",
        ["target", "'clouds'", "name one of cloud", "put a host in it", "did you mean"],
    ),
    "region link given twice": (
        q3,
        {
            "/cluster/hosts/-": {"name": "edge", "group": "edge"},
            "/cluster/region_links": [
                {"source": "cloud", "target": "edge", "latency_ms": 40},
                {"source": "cloud", "target": "cloud", "latency_ms": 0.1},
                {"source": "edge", "target": "cloud", "mbit_per_s": 10, "both_ways": False},
            ],
        },
        "/cluster/region_links/2",
        "duplicate_link",
        ["'edge'", "'cloud'", "entries 1 and 3", "keep one"],
    ),
    "region link within a single host": (
        q3,
        {
            "/cluster/hosts/-": {"name": "edge", "group": "edge"},
            "/cluster/region_links": [{"source": "edge", "target": "edge", "latency_ms": 40}],
        },
        "/cluster/region_links/0/target",
        "no_link",
        ["target", "'edge'", "single host", "another region"],
    ),
    "region link that changes nothing": (
        q3,
        {"/cluster/region_links": [{"source": "cloud", "target": "cloud"}]},
        "/cluster/region_links/0",
        "missing",
        ["'cloud'", "latency_ms", "mbit_per_s"],
    ),
    "negative latency of a link": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w2", "latency_ms": -1}]},
        "/cluster/links/0/latency_ms",
        "out_of_range",
        ["latency_ms", "-1", "at least 1e-06 ms"],
    ),
    "bandwidth of zero of a link": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w2", "mbit_per_s": 0}]},
        "/cluster/links/0/mbit_per_s",
        "out_of_range",
        ["mbit_per_s", "0", "at least 1 Mbit/s"],
    ),
    "bandwidth of zero of a host": (
        q3,
        {"/cluster/hosts/0/egress_mbit_per_s": 0},
        "/cluster/hosts/0/egress_mbit_per_s",
        "out_of_range",
        ["egress_mbit_per_s", "0", "at least 1 Mbit/s"],
    ),
    "bandwidth of zero of a trunk": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 0, "sources": ["w1"]}]},
        "/cluster/trunks/0/mbit_per_s",
        "out_of_range",
        ["mbit_per_s", "0", "at least 1 Mbit/s"],
    ),
    "trunk of an unknown host": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": ["w1", "w9"]}]},
        "/cluster/trunks/0/sources/1",
        "unknown_host",
        ["sources", "'w9'", "did you mean"],
    ),
    "trunk to an unknown host": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": ["w"], "targets": ["z"]}]},
        "/cluster/trunks/0/targets/0",
        "unknown_host",
        ["targets", "'z'", "w1, w2"],
    ),
    "trunk without a source": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": []}]},
        "/cluster/trunks/0/sources",
        "too_short",
        ["sources", "at least 1"],
    ),
    "trunk between a host and itself": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": ["w1"], "targets": ["w1"]}]},
        "/cluster/trunks/0/targets",
        "no_link",
        ["targets", "w1", "another host"],
    ),
    "trunk from all hosts": (
        q3,
        {"/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": ["w"]}]},
        "/cluster/trunks/0/sources",
        "no_link",
        ["sources", "all hosts", "targets"],
    ),
    "trunk twice": (
        q3,
        {
            "/cluster/trunks": [
                {"name": "uplink", "mbit_per_s": 100, "sources": ["w1"], "targets": ["w2"]},
                {"name": "uplink", "mbit_per_s": 100, "sources": ["w2"], "targets": ["w1"]},
            ]
        },
        "/cluster/trunks/1/name",
        "duplicate_name",
        ["'uplink'", "rename"],
    ),
    "link in two trunks": (
        q3,
        {
            "/cluster/trunks": [
                {"name": "uplink", "mbit_per_s": 100, "sources": ["w1"], "targets": ["w2"]},
                {"name": "second", "mbit_per_s": 100, "sources": ["w"], "targets": ["w2", "w3"]},
            ]
        },
        "/cluster/trunks/1",
        "two_trunks",
        ["w1 -> w2", "'uplink'", "'second'", "keep it in one"],
    ),
    # faults
    "unknown fault": (
        q3,
        {"/faults": [{"kind": "partitoin", "sources": ["w1"], "from_s": 1}]},
        "/faults/0/kind",
        "unknown_kind",
        ["'partitoin'", "partition, delay"],
    ),
    "partition of an unknown host": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w5"], "from_s": 1}]},
        "/faults/0/sources/0",
        "unknown_host",
        ["sources", "'w5'", "did you mean"],
    ),
    "partition of a host from itself": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w2"], "targets": ["w2"], "from_s": 1}]},
        "/faults/0/targets",
        "no_link",
        ["targets", "w2", "another host"],
    ),
    "partition that ends before it begins": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w1"], "from_s": 2, "to_s": 1}]},
        "/faults/0/to_s",
        "out_of_range",
        ["to_s", "1", "from_s 2", "later"],
    ),
    "partition of no time": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w1"], "from_s": 2, "to_s": 2.0000000001}]},
        "/faults/0/to_s",
        "out_of_range",
        ["to_s", "from_s 2", "later"],
    ),
    "partition outside the run": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w1"], "from_s": 30}]},
        "/faults/0/from_s",
        "outside_the_run",
        ["from_s", "30", "earlier"],
    ),
    "partition before the run": (
        q3,
        {"/faults": [{"kind": "partition", "sources": ["w1"], "from_s": -1}]},
        "/faults/0/from_s",
        "out_of_range",
        ["from_s", "-1", "at least 0 s"],
    ),
    "pause outside the run": (
        q3,
        {"/faults": [{"kind": "pause", "host": "w1", "when": {"kind": "at", "at_s": 30}, "for_ms": 1}]},
        "/faults/0/when/at_s",
        "outside_run",
        ["at_s is 30", "the horizon is 30 s", "an earlier time"],
    ),
    "delay of nothing": (
        q3,
        {"/faults": [{"kind": "delay", "sources": ["w1"], "from_s": 1, "added_ms": 0}]},
        "/faults/0/added_ms",
        "out_of_range",
        ["added_ms", "0", "at least 1e-06 ms"],
    ),
    "latency of zero": (
        q3,
        {"/cluster/hosts/0/egress_latency_ms": 0},
        "/cluster/hosts/0/egress_latency_ms",
        "out_of_range",
        ["egress_latency_ms is 0", "at least 1e-06 ms", "every hand-over takes", "the slower the run", "on one host"],
    ),
    "latency of zero of a link": (
        q3,
        {"/cluster/links": [{"source": "w1", "target": "w2", "latency_ms": 0}]},
        "/cluster/links/0/latency_ms",
        "out_of_range",
        ["latency_ms is 0", "at least 1e-06 ms", "every hand-over takes"],
    ),
    "hand-over in no time": (
        q3,
        {"/cluster/local_latency_ns": 0},
        "/cluster/local_latency_ns",
        "out_of_range",
        ["local_latency_ns is 0", "at least 1 ns", "every hand-over takes"],
    ),
    "window of a join shorter than a nanosecond": (
        q3,
        {f"{OPERATORS}/3/params/window": {"kind": "tumbling", "size_s": 1e-10, "clock": "event"}},
        f"{OPERATORS}/3/params/window/size_s",
        "out_of_range",
        ["size_s", "1e-10", "at least 1e-9"],
    ),
    # workload
    "source without workload": (
        q3,
        {PERSONS: REMOVED},
        f"{OPERATORS}/0",
        "missing_workload",
        ["'persons'", "add an entry", "workload.sources"],
    ),
    "workload for no source": (
        q3,
        {"/workload/sources/filter": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1}}},
        "/workload/sources/filter",
        "not_a_source",
        ["'filter'", "not a source", "remove it"],
    ),
    "workload for nobody": (
        q3,
        {"/workload/sources/person": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1}}},
        "/workload/sources/person",
        "unknown_operator",
        ["'person'", "did you mean 'persons'"],
    ),
    "unknown data set": (
        trips,
        {f"{TRIPS}/stream/dataset": "trip"},
        f"{TRIPS}/stream/dataset",
        "unknown_dataset",
        ["dataset 'trip'", "upload it"],
    ),
    "unknown timestamp column": (
        trips,
        {f"{TRIPS}/stream/timestamp": "zone"},
        f"{TRIPS}/stream/timestamp",
        "unknown_timestamp",
        ["'zone'", "choose", "pickup"],
    ),
    "unknown column": (
        trips,
        {f"{TRIPS}/stream/columns": ["zone", "distanz"]},
        f"{TRIPS}/stream/columns/1",
        "unknown_field",
        ["'distanz'", "did you mean 'distance'"],
    ),
    "recorded times of a generator": (
        q3,
        {f"{PERSONS}/rate": {"kind": "recorded", "speed": 1}},
        f"{PERSONS}/rate/kind",
        "recorded_without_file",
        ["recorded", "nexmark_person", "choose constant"],
    ),
    # budgets
    "too many records": (
        q3,
        {f"{PERSONS}/rate/per_s": 1_000_000},
        "/workload/horizon_s",
        "budget",
        ["horizon_s", "30,030,000 records", "10,030,000 above", "at most 19.9"],
    ),
    "too many frames": (
        q3,
        {"/measurement/frame_ms": 1, "/workload/horizon_s": 1000},
        "/measurement/frame_ms",
        "budget",
        ["frame_ms", "1,000,000 frames", "at least 5"],
    ),
    "too many watermarks": (
        q3,
        {f"{PERSONS}/watermarks": {"kind": "bounded", "period_ms": 0.001}},
        f"{PERSONS}/watermarks/period_ms",
        "budget",
        ["period_ms", "0.001", "at least 0.006"],
    ),
    "too many instances": (
        q3,
        {f"{OPERATORS}/{k}/parallelism": 5000 for k in range(5)},
        OPERATORS,
        "budget",
        ["25,000 instances", "5,000 above", "at most 20,000"],
    ),
    "too many channels": (
        q3,
        {f"{OPERATORS}/{k}/parallelism": 4000 for k in range(5)},
        EDGES,
        "budget",
        ["channels", "at most 4,000,000"],
    ),
    "too many links in trunks": (
        q3,
        {
            "/cluster/hosts": [{"name": "w", "count": 500}, {"name": "x", "count": 500}],
            "/cluster/trunks": [{"name": "uplink", "mbit_per_s": 100, "sources": ["w"]}],
        },
        "/cluster/trunks",
        "budget",
        ["250,000 links", "150,000 above", "at most 100,000"],
    ),
    "too many links with the bandwidth of a region": (
        q3,
        {
            "/cluster/hosts": [{"name": "w", "count": 200}, {"name": "x", "count": 600, "group": "edge"}],
            "/cluster/region_links": [{"source": "cloud", "target": "edge", "mbit_per_s": 100, "both_ways": False}],
        },
        "/cluster/region_links",
        "budget",
        ["bandwidths of regions", "120,000 links", "20,000 above", "at most 100,000"],
    ),
    "too many hosts": (q3, {"/cluster/hosts/0/count": 1001}, "/cluster/hosts", "budget", ["1,001 machines", "1 above", "at most 1,000"]),
    # documents that are not looked at closer
    "newer format": (q3, {"/format": 2}, "/format", "newer_format", ["format", "2", "up to 1", "update"]),
    "no format number": (q3, {"/format": "one"}, "/format", "unknown_format", ["format", "'one'", "whole number"]),
    "nested too deep": (q3, {"/ui/x": reduce(lambda inner, _: [inner], range(60), 0)}, None, "too_deep", ["50 levels", "flatten"]),
    "over a megabyte": (q3, {"/description": "x" * 1_000_001}, "", "too_large", ["1,000,000 bytes", "data sets"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_document(name):
    make, changes, pointer, code, words = CASES[name]
    document = changed(make(), changes)
    problems = validate(document, CONTEXT)
    found = [p for p in problems if p.code == code and (pointer is None or p.pointer == pointer)]
    assert found, problems
    text = f"{found[0].message} {found[0].hint}"
    assert [word for word in words if word not in text] == [], text
    assert found[0].message.rstrip(".")
    assert found[0].severity == "error"
    with pytest.raises(InvalidExperiment) as raised:
        load(document, CONTEXT)
    assert raised.value.problems == problems
    named = [p.pointer + p.code for p in problems]
    assert len(named) == len(set(named)), "no finding is reported twice"


SEVERAL = {"bad id", "duplicate id", "no operators", "hosts for an unknown operator"}
"""Changes that rightly break more than one thing."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in SEVERAL])
def test_consequences_are_not_reported(name):
    """One mistake gives few problems: what cannot be judged because of it is left out."""
    make, changes, *_ = CASES[name]
    problems = validate(changed(make(), changes), CONTEXT)
    assert len(problems) <= 3, problems


def test_all_problems_at_once():
    """A document with mistakes in every section gets them all, in one answer."""
    together = [
        "negative rate",
        "unknown kind",
        "unknown prices",
        "link to itself",
        "misspelt field",
        "unequal forward",
        "NaN for the canvas",
    ]
    document = q3()
    for name in together:
        document = changed(document, CASES[name][1])
    found = {(problem.pointer, problem.code) for problem in validate(document, CONTEXT)}
    assert found >= {CASES[name][2:4] for name in together}


def test_a_fault_that_outlasts_the_run_is_a_warning():
    fault = {"kind": "partition", "sources": ["w1"], "from_s": 29, "to_s": 31}
    problem = validate(changed(q3(), {"/faults": [fault]}), CONTEXT)[0]
    assert (problem.pointer, problem.code, problem.severity) == ("/faults/0/to_s", "outside_the_run", "warning")
    longer = {"/faults": [fault | {"from_s": 30.5}], "/workload/drain": True}
    assert errors_in(changed(q3(), longer)) == []


def test_a_machines_name_goes_before_that_of_an_entry():
    cluster = Cluster.model_validate({"hosts": [{"name": "a", "count": 2}, {"name": "a"}, {"name": "b", "count": 2}]})
    assert links_between(cluster, ["a"], ["b"]) == [(2, 3), (2, 4)]
    assert links_between(cluster, ["b", "b1", "a1"], None) == [(0, 1), (0, 2), (3, 1), (3, 2), (4, 1), (4, 2)]


@pytest.mark.parametrize("document", [q3(), trips()])
def test_sound_documents_have_no_problem(document):
    assert errors_in(document) == []


@pytest.mark.parametrize(("value", "is_what"), [([1], "a list"), ("text", "a string"), (None, "empty"), (3, "a number")])
def test_no_mapping(value, is_what):
    [problem] = validate(value)
    assert problem.pointer == ""
    assert is_what in problem.message
    assert "mapping" in problem.message


def with_filters(count: int) -> dict:
    """Q3 beside filters that nothing leads to."""
    document = q3()
    document["query"]["operators"] += [{"id": f"o{k}", "kind": "filter"} for k in range(count)]
    return document


def with_a_chain(count: int) -> dict:
    """Q3 whose persons go through a chain of filters."""
    document = q3()
    chain = [{"id": f"o{k}", "kind": "filter", "parallelism": 4} for k in range(count)]
    ids = ["persons", *(operator["id"] for operator in chain), "filter"]
    document["query"]["operators"] += chain
    document["query"]["edges"][0:1] = [
        {
            "source": a,
            "target": b,
            "partitioning": {
                "kind": "forward" if a != "persons" else "hash",
                **({"key": "id", "scheme": "modulo"} if a == "persons" else {}),
            },
        }
        for a, b in itertools.pairwise(ids)
    ]
    return document


def with_cycles(count: int) -> dict:
    """Q3 beside filters each of which leads to itself."""
    document = with_filters(count)
    document["query"]["edges"] += [{"source": f"o{k}", "target": f"o{k}"} for k in range(count)]
    return document


def with_feedback(count: int) -> dict:
    """Q3 beside filters in a ring, with feedback edges all over it."""
    document = with_filters(count)
    edges = [{"source": f"o{k}", "target": f"o{(k + 1) % count}", "feedback": k % 2 == 0} for k in range(count)]
    edges += [{"source": f"o{k}", "target": f"o{k // 2}", "feedback": True} for k in range(1, count)]
    document["query"]["edges"] += edges
    return document


def growth(made: Callable[[int], dict], count: int) -> float:
    """How many times the work of an answer that one for twice as many operators takes."""
    small, large = made(count), made(2 * count)
    validate(small, CONTEXT)  # what is made once
    return steps_of(lambda: validate(large, CONTEXT)) / steps_of(lambda: validate(small, CONTEXT))


def test_five_thousand_operators_are_answered_at_once():
    [problem] = validate(with_filters(5000), CONTEXT)
    assert problem.pointer == OPERATORS
    assert "5,005 entries" in problem.message
    assert "at most 1,000" in problem.message
    assert growth(with_filters, 2500) < 1.5, "nobody looks at them"


def test_a_thousand_operators_are_answered_within_a_second():
    assert errors_in(with_a_chain(990)) == []
    assert growth(with_a_chain, 495) < 2.5, "twice the operators, twice the work"


def test_a_thousand_cycles_are_answered_within_seconds():
    problems = validate(with_cycles(990), CONTEXT)
    assert sum(problem.code == "cycle" for problem in problems) == 990
    assert growth(with_cycles, 495) < 5, "the work grows with the square of their number, not faster"


def test_a_thousand_feedback_edges_are_answered_within_seconds():
    assert {problem.code for problem in validate(with_feedback(990), CONTEXT)} >= {"disconnected"}
    assert growth(with_feedback, 495) < 2.5, "twice the edges, twice the work"


def test_many_problems_are_cut():
    document = q3()
    document["ui"] = {"x": [math.nan] * 5000}
    problems = validate(document, CONTEXT)
    assert len(problems) == 1001
    assert "4,000 more" in problems[-1].message


def test_long_values_are_shortened():
    document = changed(q3(), {f"{EDGES}/0/target": "x" * 100_000, f"{PERSONS}/rate/kind": ["constant"] * 1000})
    problems = validate(document, CONTEXT)
    assert {problem.code for problem in problems} >= {"unknown_operator", "unknown_kind"}
    assert all(len(problem.message) <= 600 and len(str(problem.value)) <= 80 for problem in problems)
    assert any(problem.message.endswith("name an operator's id") for problem in problems)


def test_budgets_are_the_callers():
    [problem] = validate(q3(), Context(budgets=Budgets(records_max=50_000)))
    assert problem.code == "budget"
    assert "10,000 above" in problem.message
