"""Operator kinds from outside the package: seen wherever kinds are seen, woven in, run like the engine's own, refused in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from pydantic import Field

import engine
from engine.core.kernels.state_table import add_entry, find_entry
from engine.core.layout import (
    BOX_FIRST,
    BOX_LAST,
    BOX_REUSED,
    G_ENTRIES_FREE,
    G_NEED,
    I_ENTRIES,
    I_STATE_BYTES,
    M_PAYLOAD,
    NEED_ENTRIES,
    S_VALUES,
)
from engine.operators import OPERATORS, register
from engine.spec import InvalidExperiment, catalogue, load, validate
from engine.spec.base.operator import Model, Operator
from engine.spec.base.records import RecordSchema
from engine.spec.rules.max_layout import greatest
from tests.newcomers.operator import KEY_BYTES, Distinct
from tests.support.contracts import assert_operator_contract, assert_the_same_without_the_compiler
from tests.support.corner_cases import bids, host
from tests.support.corner_cases import document as of_parts
from tests.support.plugins import installed

from ..support.agreement import ROOT, TINY, finished, rows_of, simulated, template, traced
from ..support.keyed_state_examples import in_and_out
from ..support.recovery_examples import EXAMPLES
from ..support.rescaling_examples import in_place, order_of, scaled


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


# Numbers as an author writes them


def third_on_record(slot, msg, par, at, inst, i, table, entry, g, box):  # type: ignore[no-untyped-def]
    """Pass the record on from the third with its key on. A key has an entry for each time that it came: the numbers are Python's own."""
    key = msg[slot, M_PAYLOAD + par[at]]
    if find_entry(table, entry, i, key, 2) < 0:
        if g[G_ENTRIES_FREE] < 1:
            g[G_NEED] = 1
            return -NEED_ENTRIES
        for time in range(1, 3):
            if find_entry(table, entry, i, key, time) < 0:
                add_entry(table, entry, g, i, key, time)
                inst[i, I_ENTRIES] += 1
                inst[i, I_STATE_BYTES] += 16
                return 0
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Third(Distinct):
    """Emits a record, unchanged, if at least two others had its key before.

    State: 16 bytes per key and time.
    Cost: record_ps per record.
    """

    kind, title = "third", "Third"
    on_record = staticmethod(third_on_record)


@pytest.mark.usefixtures("own_loops")
def test_plain_numbers_are_words_without_the_compiler_too() -> None:
    with mock.patch.dict(OPERATORS):
        assert_operator_contract(register(Third))
        document = first_bids(horizon_s=0.02)
        document["query"]["operators"][1]["kind"] = "third"
        assert_the_same_without_the_compiler(document)
        assert len(engine.run(document, keep_outputs=True).outputs("sink")) > 10


# Kinds with state that they do not keep


def nth_on_record(slot, par, at, table, entry, inst, i, g, box):  # type: ignore[no-untyped-def]
    """Pass on one record of so many, whatever is in it."""
    e = find_entry(table, entry, i, 0, 0)
    if e < 0:
        if g[G_ENTRIES_FREE] < 1:
            g[G_NEED] = 1
            return -NEED_ENTRIES
        e = add_entry(table, entry, g, i, 0, 0)
    entry[e, S_VALUES] += 1
    if entry[e, S_VALUES] % par[at] != 0:
        return 0
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Forgetful(Distinct):
    """Emits a record, unchanged, if it is the first with its key.

    State: 16 bytes per key.
    Cost: record_ps per record.
    """

    kind, title, group, keeping = "forgetful", "Forgetful", "Custom", None


class Nth(Operator):
    """Emits one record of so many, unchanged.

    State: a count per instance, for which no bytes are accounted.
    Cost: record_ps per record.
    """

    kind, title, group, icon = "nth", "Nth", "Stateless", "funnel"
    priced_as = "filter"
    on_record = staticmethod(nth_on_record)

    class Params(Model):
        n: int = Field(default=7, ge=1, description="of so many records one is passed on")

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        return {"out": inputs["in"]}

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return [params.n]


FORGETFUL: dict[type[Operator], dict[str, Any]] = {Forgetful: {"key": "auction"}, Nth: {}}


@pytest.fixture(params=FORGETFUL, ids=lambda kind: kind.kind)
def forgetful(request: pytest.FixtureRequest) -> Iterator[type[Operator]]:
    with mock.patch.dict(OPERATORS):
        yield register(request.param)


def through(kind: type[Operator]) -> dict[str, Any]:
    """Bids of 101 auctions through two instances of the kind."""
    keys = [{"name": "auction", "expression": "auction % 101"}]
    return of_parts(
        [
            {"id": "bids", "kind": "source"},
            {"id": "keys", "kind": "map", "params": {"fields": keys}},
            {"id": "kept", "kind": kind.kind, "parallelism": 2, "params": FORGETFUL[kind]},
            {"id": "sink", "kind": "sink"},
        ],
        [
            {"source": "bids", "target": "keys"},
            {"source": "keys", "target": "kept", "partitioning": {"kind": "hash", "key": "auction"}},
            {"source": "kept", "target": "sink", "partitioning": {"kind": "rebalance"}},
        ],
        [host("w", count=2, cores=32)],
        {"bids": bids(5000, partitions=6)},
        horizon_s=0.2,
    )


def test_the_contract_demands_that_state_is_kept(forgetful: type[Operator]) -> None:
    with pytest.raises(
        AssertionError, match=f"'{forgetful.kind}' has state and has to say by `keeping` how to keep it, whatever its group"
    ):
        assert_operator_contract(forgetful)
    for group in ("Stateful", "Stateless", "Custom", ""):
        assert type("Elsewhere", (forgetful,), {"group": group}).loses_state()
        assert not type("Elsewhere", (Distinct,), {"group": group}).loses_state()


@pytest.mark.usefixtures("own_loops")
def test_a_kind_that_would_lose_its_state_is_not_rescaled(forgetful: type[Operator], monkeypatch: pytest.MonkeyPatch) -> None:
    """In place its parallelism stays, and nothing is lost when others change."""
    monkeypatch.setenv("MILLRACE_COMPILE", "0")  # sooner done than two loops are compiled
    made = through(forgetful)
    [problem] = validate(in_place(made, [order_of(0.1, kept=3)]))
    assert (problem.pointer, problem.code) == ("/policies/scaling/orders/0/parallelism/kept", "not_scalable")
    assert problem.message == (
        f"'kept' stays at 2: 'kept' is of kind '{forgetful.kind}', which has state but does not declare how to keep it (keeping), so a "
        "rescale would lose it; remove it from the order"
    )
    rescaled = finished(in_place(made, [order_of(0.1, sink=3)]), kinds=())
    assert [action.outcome for action in rescaled.job.actions] == ["done"]  # type: ignore[union-attr]
    assert rows_of(rescaled) == rows_of(finished(made, kinds=()))
    policy = made | {"policies": {"scaling": {"kind": "ds2", "workers_max": 20, "rescaling": {"kind": "in_place"}}}}
    policy["workload"] = made["workload"] | {"horizon_s": 200}
    assert greatest(load(policy)).keys() == {"bids", "keys", "sink"}


@pytest.mark.parametrize("changed", ["kept", "sink"])
def test_a_restart_that_would_lose_state_is_refused(forgetful: type[Operator], changed: str) -> None:
    """Whichever operator changes: a restart begins all of them anew."""
    made = scaled(through(forgetful), [order_of(0.1, **{changed: 3})])
    problem = validate(made)[0]
    assert (problem.pointer, problem.code, problem.value) == ("/policies/scaling/rescaling/kind", "not_scalable", "stop_and_restart")
    for words in ("'kept'", f"'{forgetful.kind}'", "would restart empty", "choose in_place and keep the parallelism of 'kept'"):
        assert words in problem.message
    assert validate(scaled(through(forgetful), [])) == []


@pytest.mark.parametrize("protocol", EXAMPLES)
def test_checkpoints_that_would_lack_state_are_refused(forgetful: type[Operator], protocol: str) -> None:
    made = through(forgetful) | {"policies": {"checkpointing": EXAMPLES[protocol](interval_s=0.05)}}
    problems = [problem for problem in validate(made) if problem.code == "not_kept"]
    assert [problem.pointer for problem in problems] == ["/policies/checkpointing/kind"]
    for words in (f"checkpointing is '{protocol}'", "'kept'", f"'{forgetful.kind}'", "choose checkpointing none"):
        assert words in problems[0].message


def test_kinds_without_state_are_rescaled_as_ever() -> None:
    """Though they say nothing of keeping."""
    made = through(Forgetful)
    made["query"]["operators"][2] |= {"kind": "filter", "params": {"predicate": "auction % 3 == 0"}}
    for rescaling in (in_place, scaled):
        rescaled = finished(rescaling(made, [order_of(0.1, kept=3)]))
        assert [action.outcome for action in rescaled.job.actions] == ["done"]  # type: ignore[union-attr]
        assert rows_of(rescaled) == rows_of(finished(made))


@pytest.mark.parametrize("kind", OPERATORS)
def test_every_kind_keeps_the_contract(kind: str) -> None:
    assert_operator_contract(OPERATORS[kind])


def test_a_newcomer_keeps_the_contract(distinct: type[Operator]) -> None:
    assert_operator_contract(distinct)


def unknown_argument(slot, mesage):  # type: ignore[no-untyped-def]
    return 0


WRONG = {
    "no operator": (int, "is not a subclass of engine.spec.base.operator.Operator"),
    "no kind": ({"kind": ""}, "use at most 63 lower-case letters"),
    "a form that cannot be": ({"kind": "My Operator"}, "use at most 63 lower-case letters"),
    "a kind that is taken": ({"kind": "map"}, "which engine.operators.map already uses"),
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

    with mock.patch.dict(OPERATORS), pytest.raises(ValueError, match="at least on_record"):
        register(Idle)


@pytest.mark.deep
@pytest.mark.slow
def test_an_installed_package_brings_its_kind_by_an_entry_point(tmp_path: Path) -> None:
    """As pip would install it: a module and its metadata. Any process knows the kind then, here `manage.py run`."""
    installed(tmp_path)
    (tmp_path / "experiment.json").write_text(json.dumps(first_bids(horizon_s=0.02)))
    command = [sys.executable, "manage.py", "run", str(tmp_path / "experiment.json"), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.web.settings"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with mock.patch.dict(OPERATORS):
        register(Distinct)
        assert json.loads(done.stdout)["digest"] == traced(first_bids(horizon_s=0.02)).digest()
