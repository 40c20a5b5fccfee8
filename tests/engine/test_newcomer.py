"""Operator kinds from outside the package: seen wherever kinds are seen, woven in, run like the engine's own, refused in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import engine
from engine.operators import OPERATORS, register
from engine.spec import InvalidExperiment, catalogue, load
from engine.spec.operator import Operator
from tests.contracts import assert_operator_contract
from tests.newcomer import KEY_BYTES, Distinct

from .agreement import ROOT, TINY, simulated, template, traced
from .keyed_state_examples import in_and_out


@pytest.fixture
def distinct() -> Iterator[type[Operator]]:
    """The kind, registered for the time of a test."""
    with mock.patch.dict(OPERATORS):
        yield register(Distinct)


def first_bids(**workload: Any) -> dict[str, Any]:
    """The first bid of each bidder."""
    document = template("nexmark_q12", **({"horizon_s": 0.2, "drain": True} | workload))
    for operator in document["query"]["operators"]:
        if operator["kind"] == "aggregate":
            operator |= {"kind": "distinct", "params": {"key": "bidder"}}
    return document


def test_an_unknown_kind_is_refused_and_a_registered_one_is_not() -> None:
    with pytest.raises(InvalidExperiment, match="distinct"):
        load(first_bids())
    with mock.patch.dict(OPERATORS):
        register(Distinct)
        assert load(first_bids()).query.operators[1].parameters.key == "bidder"


@pytest.mark.usefixtures("distinct")
def test_the_catalogue_shows_it() -> None:
    entry = next(entry for entry in catalogue()["operators"] if entry["kind"] == "distinct")
    assert entry["schema"]["properties"]["key"]["description"] == "field by which records count as equal"
    assert (entry["title"], entry["inputs"], entry["outputs"]) == ("Distinct", ["in"], ["out"])


@pytest.mark.usefixtures("distinct")
def test_its_refusals_point_into_the_document() -> None:
    document = first_bids()
    document["query"]["operators"][1]["params"] = {"key": "biddr"}
    with pytest.raises(InvalidExperiment) as caught:
        load(document)
    (problem,) = (problem for problem in caught.value.problems if problem.severity == "error")
    assert problem.pointer == "/query/operators/1/params/key"
    assert "did you mean 'bidder'" in problem.message


@pytest.mark.usefixtures("distinct")
def test_it_gives_what_brute_force_gives() -> None:
    simulation = traced(first_bids())
    whole = first_bids()
    whole["query"]["operators"].pop(1)
    whole["query"]["edges"] = [{"source": "bids", "target": "sink", "partitioning": {"kind": "rebalance"}}]
    log = traced(whole)
    bidder = log.sink_schema("sink").index("bidder")
    bidders = {record["values"][bidder] for record in log.sink_records("sink")}
    found = [record["values"][simulation.sink_schema("sink").index("bidder")] for record in simulation.sink_records("sink")]
    assert sorted(found) == sorted(bidders)
    assert 50 < len(found) < log.summary()["records_out"]
    states = [operator["state_bytes"] for operator in engine.run(first_bids()).frames[-1]["operators"].values()]
    assert sum(states) == KEY_BYTES * len(found)


@pytest.mark.usefixtures("distinct")
def test_its_state_can_be_moved() -> None:
    assert in_and_out(first_bids()) > 50


@pytest.mark.usefixtures("distinct")
@pytest.mark.usefixtures("own_loops")
def test_it_runs_the_same_however_it_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In tiny arrays, with its own kernel alone, cut and resumed, and without the compiler."""
    document = first_bids(horizon_s=0.02)
    whole = traced(document)
    assert len(whole.sink_records("sink")) > 10
    assert traced(document, capacity=TINY).digest() == whole.digest()
    alone = simulated(document, kinds=())
    alone.run_until(alone.end_ns // 300)
    alone.save(tmp_path / "snapshot")
    assert alone._kernels.kinds == ("distinct",)
    resumed = engine.Simulation.resume(document, tmp_path / "snapshot", trace=True, keep_outputs=True, kinds=OPERATORS)
    resumed.run_until(resumed.end_ns)
    assert resumed.digest() == whole.digest()
    monkeypatch.setenv("MILLRACE_COMPILE", "0")
    plain = traced(document)
    assert plain.digest() == whole.digest()
    assert np.array_equal(plain.service_trace(), whole.service_trace())


@pytest.mark.parametrize("kind", OPERATORS)
def test_every_kind_keeps_the_contract(kind: str) -> None:
    assert_operator_contract(OPERATORS[kind])


def test_a_newcomer_keeps_the_contract(distinct: type[Operator]) -> None:
    assert_operator_contract(distinct)


def unknown_argument(slot, mesage):  # type: ignore[no-untyped-def]
    return 0


WRONG = {
    "no operator": (int, "is no class below engine.spec.operator.Operator"),
    "no kind": ({"kind": ""}, "it must be lower-case letters"),
    "a form that cannot be": ({"kind": "My Operator"}, "it must be lower-case letters"),
    "a kind that is taken": ({"kind": "map"}, "which engine.operators.map has already"),
    "no title": ({"title": ""}, "needs a title and a docstring"),
    "no price": ({"priced_as": "aggregat"}, "it must be one of source, filter"),
    "an argument that the loop lacks": ({"on_record": staticmethod(unknown_argument)}, "asks for mesage; its arguments must be variables"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_kind_is_said_when_it_is_registered(what: str) -> None:
    changes, words = WRONG[what]
    operator = type("Changed", (Distinct,), changes | {"__doc__": "Something."}) if isinstance(changes, dict) else changes
    with mock.patch.dict(OPERATORS), pytest.raises(ValueError, match=words.replace(".", r"\.")):
        register(operator)


def test_a_kind_without_a_kernel_is_refused() -> None:
    class Idle(Operator):
        """Does nothing."""

        kind, title = "idle", "Idle"

    with mock.patch.dict(OPERATORS), pytest.raises(ValueError, match="on_record at least"):
        register(Idle)


@pytest.mark.slow
def test_an_installed_package_brings_its_kind_by_an_entry_point(tmp_path: Path) -> None:
    """As pip would install it: a module and its metadata. Any process knows the kind then, here `manage.py run`."""
    (tmp_path / "newcomer_package.py").write_text((ROOT / "tests" / "newcomer.py").read_text())
    about = tmp_path / "newcomer_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: newcomer-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[millrace.operators]\ndistinct = newcomer_package:Distinct\n")
    (tmp_path / "experiment.json").write_text(json.dumps(first_bids(horizon_s=0.02)))
    command = [sys.executable, "manage.py", "run", str(tmp_path / "experiment.json"), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.web.settings"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with mock.patch.dict(OPERATORS):
        register(Distinct)
        assert json.loads(done.stdout)["digest"] == traced(first_bids(horizon_s=0.02)).digest()
