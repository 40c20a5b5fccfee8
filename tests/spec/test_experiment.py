"""The document's models: the hash, conversions to the engine's units, schemas, placement, registry, layers."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec import FORMAT, Experiment, catalogue, examine, load, placement_of, read_document, schemas, upgrade
from engine.spec.base.units import milliseconds_ns, scaled, seconds_ns
from engine.spec.experiment import document

from .documents import CONTEXT, changed, q3, trips

ROOT = Path(__file__).parents[2]


# The hash

Q3_HASH = "b0490232310d1b48ec47bb6e41b7b88aeb5d54d36f43c11dee9e15ee1c33b1cf"
"""Changes only when the document's meaning does: a new field, another default. Then stored hashes no longer find their runs; say so."""


def test_hash_is_pinned():
    assert load(q3(), CONTEXT).hash == Q3_HASH


@pytest.mark.slow
def test_hash_is_equal_in_other_processes():
    program = "from tests.spec.documents import *; from engine.spec import load; print(load(q3(), CONTEXT).hash)"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        printed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert printed.stdout.strip() == Q3_HASH


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


SAME = {
    "name": {"/name": "another"},
    "description": {"/description": "words"},
    "canvas": {"/ui": {"positions": {"join": {"x": 1.5}}}},
    "label of an operator": {"/query/operators/0/name": "People"},
    "a default written out": {"/measurement": {"frame_ms": 250, "latency": {"from": "append"}}, "/prices": "reference"},
    "a default of the params written out": {"/query/operators/3/params/window": {"kind": "full_history"}},
    "a default port written out": {"/query/edges/0/source_port": "out"},
    "a whole number as a fraction": {"/workload/horizon_s": 30, "/workload/sources/persons/rate/per_s": 1000.0},
    "minus zero": {"/workload/sources/persons/stream/hot_ratio": -0.0},
}
OTHER = {
    "seed": {"/workload/seed": 2},
    "horizon": {"/workload/horizon_s": 30.000000001},
    "predicate": {"/query/operators/2/params/predicate": "state in ('OR', 'ID')"},
    "host name": {"/cluster/hosts/0/name": "v"},
    "clock": {"/measurement/latency/from": "ingest"},
}


@pytest.mark.parametrize("name", SAME)
def test_hash_ignores(name):
    assert load(changed(q3(), SAME[name]), CONTEXT).hash == Q3_HASH


@pytest.mark.parametrize("name", OTHER)
def test_hash_notices(name):
    assert load(changed(q3(), OTHER[name]), CONTEXT).hash != Q3_HASH


def test_hash_ignores_the_order_of_keys():
    assert load(reversed_keys(q3()), CONTEXT).hash == Q3_HASH


def test_an_experiment_made_in_python_has_the_hash_of_its_document():
    assert Experiment.model_validate(q3()).hash == Q3_HASH


# Round trips and formats


@pytest.mark.parametrize("make", [q3, trips])
def test_round_trips(make):
    experiment = load(make(), CONTEXT)
    dumped = experiment.model_dump(mode="json", by_alias=True)
    for text in (json.dumps(dumped), yaml.safe_dump(dumped), yaml.safe_dump(dumped, default_flow_style=True) + "\n"):
        again = load(text, CONTEXT)
        assert again == experiment
        assert again.hash == experiment.hash


def test_the_example_of_the_documentation_is_sound():
    text = (ROOT / "docs" / "experiment-document.md").read_text().split("```yaml")[1].split("```")[0]
    assert examine(read_document(text)).problems == []


def test_older_formats_are_upgraded_step_by_step(monkeypatch):
    """The chain itself, with two made-up steps, since format 1 is the first."""
    steps = {
        1: lambda old: {**old, "format": 2, "workload": old["load"]},
        2: lambda old: {**{key: value for key, value in old.items() if key != "load"}, "format": 3},
    }
    monkeypatch.setattr(document, "FORMAT", 3)
    monkeypatch.setattr(document, "UPGRADES", steps)
    old = {"format": 1, "load": {"seed": 1}}
    assert upgrade(old) == {"format": 3, "workload": {"seed": 1}}
    assert old == {"format": 1, "load": {"seed": 1}}


def test_every_older_format_has_an_upgrade():
    assert set(document.UPGRADES) == set(range(1, FORMAT))


# Units


@pytest.mark.parametrize(
    ("convert", "value", "expected"),
    [
        (seconds_ns, 0.0015, 1_500_000),
        (seconds_ns, 4.1e-9, 4),
        (seconds_ns, 0.5e-9, 1),
        (seconds_ns, 2.5e-9, 3),
        (seconds_ns, -2.5e-9, -2),
        (seconds_ns, 1e8, 10**17),
        (seconds_ns, 3, 3_000_000_000),
        (milliseconds_ns, 0.1, 100_000),
    ],
)
def test_units_round_half_up_once(convert, value, expected):
    assert convert(value) == expected


@given(st.floats(-1e8, 1e8))
@settings(derandomize=True, deadline=None)
def test_scaling_is_within_half_a_unit(value):
    assert abs(scaled(value, 10**9) - value * 10**9) <= 0.5 + abs(value) * 1e-6


# Hosts, schemas, placement


def test_hosts_are_expanded():
    edge = {"name": "edge", "group": "edge", "processor": {"kind": "dedicated"}, "cores": 2, "speed": 0.25, "memory_mb": 512.5}
    cluster = {"/cluster/hosts": [{"name": "w", "count": 2}, {**edge, "egress_mbit_per_s": 10, "egress_latency_ms": 5.5}]}
    hosts = load(changed(q3(), {**cluster, "/cluster/hosts/1/cores": 30}), CONTEXT).expanded_hosts()
    assert [(host.name, host.index, host.template) for host in hosts] == [("w1", 0, 0), ("w2", 1, 0), ("edge", 2, 1)]
    assert (hosts[0].processor.kind, hosts[0].cores_milli) == ("shared_fifo", 1000)
    assert (hosts[0].speed_milli, hosts[0].memory_bytes) == (1000, 4_096_000_000)
    assert (hosts[2].group, hosts[2].speed_milli, hosts[2].memory_bytes) == ("edge", 250, 512_500_000)
    assert (hosts[2].egress_mbit_per_s, hosts[2].egress_latency_ns) == (10, 5_500_000)


def test_schemas_flow_along_the_edges():
    flow = schemas(load(q3(), CONTEXT), CONTEXT)
    assert flow["filter.out"] == flow["filter.in"] == flow["persons.out"]
    assert flow["sink.in"].names == ("name", "city", "state", "right_id")
    assert set(flow) == {
        *("persons.out", "auctions.out", "filter.in", "filter.out", "sink.in"),
        *("join.left", "join.right", "join.out", "join.late_left", "join.late_right"),
    }


def test_schemas_of_a_file():
    flow = schemas(load(trips(), CONTEXT), CONTEXT)
    assert flow["trips.out"].type_of("pickup") == "timestamp"
    assert flow["trips.out"].type_of("epoch") == "int"
    stream = {"kind": "file", "dataset": "trips", "timestamp": "epoch", "columns": ["zone", "epoch"]}
    flow = schemas(load(changed(trips(), {"/workload/sources/trips/stream": stream}), CONTEXT), CONTEXT)
    assert [(field.name, field.type) for field in flow["trips.out"].fields] == [("zone", "string"), ("epoch", "timestamp")]


def test_schemas_are_known_as_far_as_they_can_be():
    """Behind a broken operator nothing is known; before it everything is."""
    findings = examine(changed(q3(), {"/query/operators/2/params/predicate": "nothing"}), CONTEXT)
    assert "filter.in" in findings.schemas
    assert "filter.out" not in findings.schemas
    assert findings.experiment is None
    assert findings.placement["join"] == ["w1", "w2", "w3", "w4"]


PLACED = {
    "spread": ({"kind": "spread"}, 3, {"a": [0, 1, 2, 0], "b": [0, 1], "c": [0]}),
    "by operator, as many hosts as operators": ({"kind": "by_operator"}, 3, {"a": [0, 0, 0, 0], "b": [1, 1], "c": [2]}),
    "by operator, more hosts": ({"kind": "by_operator"}, 5, {"a": [0, 1, 2, 0], "b": [3, 3], "c": [4]}),
    "by operator, hosts to spare": ({"kind": "by_operator"}, 9, {"a": [0, 1, 2, 3], "b": [4, 5], "c": [6]}),
    "in stages": ({"kind": "staged"}, 2, {"a": [0, 1, 0, 1], "b": [0, 1], "c": [1]}),
    "in stages, more hosts": ({"kind": "staged"}, 5, {"a": [0, 1, 2, 3], "b": [1, 2], "c": [3]}),
    "explicit": (
        {"kind": "explicit", "hosts": {"a": ["w3", "w1"], "b": ["w2"], "c": ["w1"]}},
        3,
        {"a": [2, 0, 2, 0], "b": [1, 1], "c": [0]},
    ),
}


@pytest.mark.parametrize("name", PLACED)
def test_placement(name):
    placement, hosts, expected = PLACED[name]
    query = {
        "operators": [
            {"id": "a", "kind": "source", "parallelism": 4},
            {"id": "b", "kind": "filter", "parallelism": 2},
            {"id": "c", "kind": "sink"},
        ],
        "edges": [{"source": s, "target": t, "partitioning": {"kind": "rebalance"}} for s, t in ("ab", "bc")],
    }
    sources = {"a": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 10}}}
    changes = {"/query": query, "/workload/sources": sources, "/placement": placement, "/cluster/hosts/0/count": hosts}
    findings = examine(changed(q3(), changes), CONTEXT)
    assert placement_of(load(changed(q3(), changes), CONTEXT)) == expected
    assert findings.placement == {id: [f"w{index + 1}" for index in indices] for id, indices in expected.items()}


# Registry


def test_catalogue_is_complete_and_json():
    listing = json.loads(json.dumps(catalogue(), allow_nan=False))
    families = (
        "operators streams rates arrivals disorders watermarks retentions noises partitionings processors placements flow_controls prices"
    )
    others = {
        "drifts",
        "warmups",
        "generations",
        "snapshots",
        "faults",
        "occurrences",
        "functions",
        "ingresses",
        "memories",
        "slow_downs",
        "checkpointings",
        "scalings",
        "rescalings",
        "schedulings",
        "balancings",
        "states",
        "engines",
        "measurements",
        "assertion_functions",
    }
    assert set(listing) == {*families.split(), *others}
    for family, entries in listing.items():
        assert entries, family
        for entry in entries:
            assert entry["family"] == family
            assert all(entry[text] for text in ("kind", "title", "doc")), entry
            assert "kind" not in entry["schema"].get("properties", {})
            assert set(entry) >= {"group", "icon", "source", "schema", "inputs", "outputs"}
    assert {entry["kind"] for entry in listing["operators"]} >= {"source", "filter", "map", "aggregate", "join", "sink"}


def test_the_catalogue_has_what_pages_need_to_know_of_a_policy():
    listing = catalogue()
    protocols = {entry["kind"]: (entry["rescalable"], bool(entry["loss_text"])) for entry in listing["checkpointings"]}
    assert [kind for kind, (rescalable, _) in protocols.items() if rescalable] == ["none", "coordinated"]
    assert all(has_text for _, has_text in protocols.values())
    assert {entry["kind"] for entry in listing["scalings"] if not entry["decides_live"]} == {"none", "manual", "fixed", "oracle", "move"}


def test_every_field_of_the_document_is_described():
    """In words of its own, or in those of the model it refers to."""
    schema = Experiment.model_json_schema()
    for model in [schema, *schema["$defs"].values()]:
        for name, field in model["properties"].items():
            described = {**schema["$defs"].get(field.get("$ref", "").removeprefix("#/$defs/"), {}), **field}
            assert name == "kind" or described.get("description"), (model["title"], name)


def test_units_stand_in_the_schemas():
    rates = {entry["kind"]: entry["schema"]["properties"] for entry in catalogue()["rates"]}
    assert rates["constant"]["per_s"]["x-unit"] == "records/s"
    assert rates["constant"]["per_s"]["minimum"] == 0


# Layers


def test_the_document_knows_no_family():
    """`engine.spec` imports nothing of the engine but itself; the compiler of expressions, loaded on demand, knows the opcodes, and studies
    draw their points as everything is drawn."""
    needed = {"expression_compiler.py": {"engine.core.kernels"}, "study.py": {"engine.core.mathematics", "engine.core.random"}}
    for path in (ROOT / "engine" / "spec").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {module for module in modules if module.startswith("engine")} <= needed.get(path.name, set()), path.name


def test_no_form_calls_a_host_or_an_instance_a_worker() -> None:
    """A worker is a process of the lab that executes runs (docs/decisions/141): no title or description of the document speaks of it."""

    def texts(part: Any, path: str = "") -> Iterator[tuple[str, str]]:
        if isinstance(part, dict):
            for name, value in part.items():
                if name in ("title", "description") and isinstance(value, str):
                    yield path, value
                yield from texts(value, f"{path}/{name}")
        elif isinstance(part, list):
            for n, value in enumerate(part):
                yield from texts(value, f"{path}/{n}")

    found = dict(texts(Experiment.model_json_schema(by_alias=True)))
    assert len(found) > 500
    assert {path: text for path, text in found.items() if re.search(r"\bworkers?\b", text, re.IGNORECASE)} == {}
