"""Which kernels are woven in is the engine's affair: no result depends on it."""

from __future__ import annotations

import itertools
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import engine
from engine.core import layout as L
from engine.core import weave
from engine.operators import OPERATORS
from tests.support.strategies import documents

from ...support.agreement import DATASETS, TEMPLATES, template, traced
from ...support.recovery_examples import (
    communication_induced,
    coordinated_unaligned,
    counting,
    hybrid,
    joining,
    loss,
    uncoordinated,
    with_losses,
)
from ...support.rescaling_examples import in_place, order_of, running

Document = dict[str, Any]


@pytest.mark.usefixtures("own_loops")
@pytest.mark.parametrize("name", TEMPLATES[:1] + TEMPLATES[-1:])
def test_the_digest_does_not_depend_on_what_else_is_woven_in(name: str, tmp_path: Path) -> None:
    """Codes of kinds differ between the two loops; a run that was saved with one goes on with the other."""
    document = template(name, horizon_s=2.0 if name == "flights" else 0.1)
    few, all_kinds = (engine.Simulation(document, datasets=DATASETS, kinds=kinds) for kinds in ((), OPERATORS))
    assert set(few._kernels.kinds) < set(all_kinds._kernels.kinds)
    for simulation in (few, all_kinds):
        simulation.run_until(simulation.end_ns // 2)
    assert few.digest() == all_kinds.digest()
    for origin, kinds in ((few, OPERATORS), (all_kinds, ())):
        origin.save(tmp_path / "snapshot")
        resumed = engine.Simulation.resume(document, tmp_path / "snapshot", datasets=DATASETS, kinds=kinds)
        resumed.run_until(resumed.end_ns)
        origin.run_until(origin.end_ns)
        assert resumed.digest() == origin.digest()
    assert few.digest() == all_kinds.digest()


def with_operators(document: Document, **costs: Any) -> Document:
    for operator in document["query"]["operators"]:
        operator["cost"] = operator.get("cost", {}) | costs
    return document


def with_hosts(document: Document, **more: Any) -> Document:
    for host in document["cluster"]["hosts"]:
        host |= more
    return document


def with_generation(document: Document) -> Document:
    for source in document["workload"]["sources"].values():
        source["generation"] = {"kind": "coordinated"}
    return document


def with_latency(document: Document) -> Document:
    document["measurement"] = {"also": [{"name": "oldest", "from": "append", "anchor": "oldest", "to": "emit"}]}
    return document


LOST = [loss("w2", 0.1303, 0.01)]
RUNS: dict[str, Callable[[], Document]] = {
    "plain": lambda: with_hosts(template("nexmark_q1", horizon_s=0.1), processor={"kind": "shared_fifo"}),
    "heaps": lambda: with_hosts(template("nexmark_q3", horizon_s=0.1), processor={"kind": "dedicated"}, cores=32),
    "latencies": lambda: with_latency(template("nexmark_q12", horizon_s=0.1)),
    "memory": lambda: with_hosts(template("nexmark_q8", horizon_s=0.1), memory={"kind": "budget", "budget_mb": 1.0}),
    "stolen": lambda: with_operators(template("nexmark_q2", horizon_s=0.1), attainable=0.5),
    "coordinated": lambda: with_generation(template("nexmark_q11", horizon_s=0.1)),
    "losses": lambda: with_losses(counting(), LOST) | {"policies": {}},
    "actors": lambda: counting(),
    "counting": lambda: with_losses(counting(protocol=coordinated_unaligned()), LOST),
    "logging": lambda: with_losses(counting(protocol=uncoordinated()), LOST),
    "forcing": lambda: with_losses(counting(protocol=communication_induced()), LOST),
    "regions": lambda: with_losses(joining(protocol=hybrid(("auctions", "pairs"))), LOST),
    "regions in place": lambda: in_place(running("aggregate", "dedicated", None), [order_of(0.04, kept=5)]),
    "adapting": lambda: with_losses(counting(protocol=hybrid(("bids", "keys", "counts", "sink"), adapt={"intervals": 2})), LOST),
}
"""Runs by a feature of their loops; many have others, too."""


@pytest.mark.slow
@pytest.mark.parametrize("feature", RUNS)
def test_a_loop_of_its_own_gives_what_a_shared_one_gives(feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Services, deliveries and state: so what tests find of shared loops is true of those that users run."""
    shared = traced(RUNS[feature](), kinds=())
    monkeypatch.setenv("MILLRACE_LOOPS", "own")
    own = traced(RUNS[feature](), kinds=())
    assert feature.split()[0] in own._kernels.features or feature == "plain"
    assert set(own._kernels.features) < set(shared._kernels.features)
    assert set(own._kernels.kinds) < set(shared._kernels.kinds)
    assert len(own.service_trace()) > 500
    assert np.array_equal(own.service_trace(), shared.service_trace())
    for sink in own.sinks:
        assert own.sink_rows(sink).tolist() == shared.sink_rows(sink).tolist()
    assert own.digest() == shared.digest()


def test_every_feature_is_tried_in_a_loop_of_its_own() -> None:
    assert {run.split()[0] for run in RUNS} == {"plain", *weave.FEATURES}


@pytest.mark.deep
@given(document=documents())
def test_random_experiments_give_the_same_in_loops_of_their_own(document: Document) -> None:
    shared = traced(document, kinds=())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLRACE_LOOPS", "own")
        own = traced(document, kinds=())
    assert np.array_equal(own.service_trace(), shared.service_trace())
    assert own.digest() == shared.digest()


def test_shared_loops_come_before_those_that_have_more() -> None:
    sets = [set(features) for features in weave.SHARED]
    assert not [(one, other) for one, other in itertools.combinations(sets, 2) if one > other]
    assert sets[-1] == set(weave.FEATURES)


def test_codes_are_not_part_of_the_digest() -> None:
    simulation = engine.Simulation(template("nexmark_q3", horizon_s=0.1))
    simulation.run_until(simulation.end_ns)
    before = simulation.digest()
    simulation._world.arrays.op[:, L.O_CODE] += 7
    assert simulation.digest() == before


def test_only_kernels_of_the_given_kinds_are_woven_in() -> None:
    text, kernels = weave.woven_text({"filter": OPERATORS["filter"]})
    assert set(kernels.values()) == {OPERATORS["filter"].on_record}
    assert "# WEAVE on" not in text
    assert "n = on_record_0(" in text


def test_the_order_in_which_kinds_are_named_does_not_matter() -> None:
    names = ("join", "filter", "source", "sink")
    one, other = (weave.weave({kind: OPERATORS[kind] for kind in order}) for order in (names, names[::-1]))
    assert one is other
    assert one.kinds == ("filter", "join")
    assert (one.code("filter"), one.code("join"), one.code("sink")) == (0, 1, weave.NO_KERNEL)


def test_a_kernel_that_kinds_share_stands_once() -> None:
    twin = SimpleNamespace(on_record=OPERATORS["map"].on_record)
    text, kernels = weave.woven_text({"map": OPERATORS["map"], "twin": twin, "filter": OPERATORS["filter"]})
    assert len(kernels) == 2
    assert "if op[inst[i, I_OP], O_CODE] == 0 or op[inst[i, I_OP], O_CODE] == 1:" in text


def test_what_is_not_used_leaves_no_trace() -> None:
    plain, _ = weave.woven_text(OPERATORS)
    acting, _ = weave.woven_text(OPERATORS, features=["actors"])
    assert "CONTROL_MESSAGE" not in plain
    assert acting.count("CONTROL_MESSAGE") == 2


def template_with(*lines: str) -> Any:
    """A template whose `advance` has these lines besides."""
    text = "def advance(w, stop):\n    n = 0\n" + "".join(f"    {line}\n" for line in lines) + "    return n\n"
    module = ModuleType("template")
    name = f"<template {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), vars(module))
    module.__file__ = name
    return module


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            ["# WEAVE if memroy", "n = 1", "# WEAVE end"],
            "line 3 of the template: the loop has no feature 'memroy'; it must be one of actors, ",
        ),
        (["# WEAVE if memory", "n = 1"], "line 3 of the template: '# WEAVE if memory' is not ended"),
        (["n = 1", "# WEAVE end"], "line 4 of the template: '# WEAVE end' ends nothing"),
        (
            ["# WEAVE if memory", "# WEAVE if actors", "# WEAVE end", "# WEAVE end"],
            "line 4 of the template: '# WEAVE if actors' stands inside",
        ),
        (["# WEAVE on_recrod"], "line 3 of the template: 'on_recrod' is no point of the loop; it must be one of on_record, "),
        (["# WEAVE: memory"], "line 3 of the template: '# WEAVE: memory' is no mark; write"),
        (["#WEAVE end"], "line 3 of the template: '#WEAVE end' is no mark; write"),
    ],
)
@pytest.mark.parametrize("features", [(), ("memory",)], ids=["without the feature", "with it"])
def test_wrong_marks_are_refused(lines: list[str], says: str, features: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the lines would be woven in or left out: code that is left out by a slip of the pen is not missed by any test."""
    template = template_with(*lines)
    monkeypatch.setattr(weave.inspect, "getsource", lambda module: "".join(linecache.cache[module.__file__][2]))
    with pytest.raises(ValueError, match=re.escape(says)):
        weave.woven_text({}, template=template, features=features)


def test_unknown_features_points_and_hooks_are_refused() -> None:
    with pytest.raises(ValueError, match="the loop has no feature 'regoins'; it must be one of actors, "):
        weave.weave(OPERATORS, features=["regoins"])
    twin = SimpleNamespace(on_record=OPERATORS["map"].on_record, on_clsoe=OPERATORS["map"].on_record)
    with pytest.raises(
        ValueError, match="operator kind 'twin' has a function on_clsoe, which the loop never calls; it must be one of on_record, "
    ):
        weave.woven_text({"twin": twin})
    protocol = type("Protocol", (), {"on_recieve": staticmethod(OPERATORS["map"].on_record)})
    with pytest.raises(
        ValueError, match="protocol Protocol has a function on_recieve, which the loop never calls; it must be one of on_send, on_receive"
    ):
        weave.woven_text({}, protocol)
