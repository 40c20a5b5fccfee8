"""Which kernels are woven in is the engine's affair: no result depends on it."""

from __future__ import annotations

import ast
import builtins
import dis
import importlib
import itertools
import linecache
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import engine
from engine.core import fragments, weave
from engine.core import layout as L
from engine.core.kernels import event_loop
from engine.operators import OPERATORS
from tests.support.strategies import documents
from tests.support.tiers import only

from ...support.agreement import DATASETS, TEMPLATES, template, traced
from ...support.corner_cases import records_behind_the_firing_of_a_window_join
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
from ...support.scheduled_examples import contended
from ...support.stored import losing, mirrored, replayed, stored

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
    marker = {"name": "marker", "from": "ingest", "to": "marker"}
    document["measurement"] = {"also": [{"name": "oldest", "from": "append", "anchor": "oldest", "to": "emit"}, marker], "marker_ms": 5}
    return document


LOST = [loss("w2", 0.1303, 0.01)]
RUNS: dict[str, Callable[[], Document]] = {
    "plain": lambda: with_hosts(template("nexmark_q1", horizon_s=0.1), processor={"kind": "shared_fifo"}),
    "background": lambda: contended("fcfs", horizon_s=1),
    "epochs": lambda: contended("klink", horizon_s=2),
    "watching": lambda: contended("streambox", horizon_s=2),
    "heaps": lambda: with_hosts(template("nexmark_q3", horizon_s=0.1), processor={"kind": "dedicated"}, cores=32),
    "latencies": lambda: with_latency(template("nexmark_q12", horizon_s=0.1)),
    "memory": lambda: with_hosts(template("nexmark_q8", horizon_s=0.1), memory={"kind": "budget", "budget_mb": 1.0}),
    "pending": records_behind_the_firing_of_a_window_join,
    "serialising": lambda: template("nexmark_q1", horizon_s=0.1) | {"prices": "costream_2024"},
    "stolen": lambda: with_operators(template("nexmark_q2", horizon_s=0.1), attainable=0.5),
    "coordinated": lambda: with_generation(template("nexmark_q11", horizon_s=0.1)),
    "losses": lambda: with_losses(counting(), LOST) | {"policies": {}},
    "actors": lambda: counting(),
    "counting": lambda: with_losses(counting(protocol=coordinated_unaligned()), LOST),
    "logging": lambda: with_losses(counting(protocol=uncoordinated()), LOST),
    "forcing": lambda: with_losses(counting(protocol=communication_induced()), LOST),
    "regions": lambda: with_losses(joining(protocol=hybrid(("auctions", "pairs"))), LOST),
    "regions in place": lambda: in_place(running("aggregate", "dedicated", None), [order_of(0.04, kept=5)]),
    "moves": lambda: moving(),
    "changes": lambda: stored(horizon_s=2.5),
    "changes, sent again": lambda: losing(replayed(horizon_s=3.5, replay_max=50), 0.77),
    "holding": lambda: losing(mirrored(horizon_s=3.5), 0.77),
    "adapting": lambda: with_losses(counting(protocol=hybrid(("bids", "keys", "counts", "sink"), adapt={"intervals": 2})), LOST),
}
"""Runs by a feature of their loops; many have others, too."""
COMPILED_IN_CI = ("plain", "epochs", "heaps", "latencies", "memory", "coordinated", "counting", "forcing", "regions in place", "moves",
                  "changes", "adapting")  # fmt: skip
"""Of those with a loop in common with others, one. Compiling one takes two seconds."""


def moving() -> Document:
    """One instance of each operator; one of them moves."""
    made = running("aggregate", "dedicated", None)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 1
    scaling = {"kind": "move", "moves": [{"at_s": 0.04, "hosts": {"kept": "w3"}}], "rescaling": {"restart_s": 0.001}}
    return made | {"policies": {**made.get("policies", {}), "scaling": scaling}}


@pytest.mark.slow
@pytest.mark.parametrize("feature", only(list(RUNS), ci=COMPILED_IN_CI))
def test_a_loop_of_its_own_gives_what_a_shared_one_gives(feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Services, deliveries and state: so what tests find of shared loops is true of those that users run."""
    monkeypatch.setenv("MILLRACE_LOOPS", "shared")
    shared = traced(RUNS[feature](), kinds=())
    monkeypatch.setenv("MILLRACE_LOOPS", "own")
    own = traced(RUNS[feature](), kinds=())
    assert feature.split()[0].strip(",") in own._kernels.features or feature == "plain"
    assert set(own._kernels.features) < set(shared._kernels.features)
    assert set(own._kernels.kinds) < set(shared._kernels.kinds)
    assert len(own.service_trace()) > 500
    assert np.array_equal(own.service_trace(), shared.service_trace())
    for sink in own.sinks:
        assert own.sink_rows(sink).tolist() == shared.sink_rows(sink).tolist()
    assert own.digest() == shared.digest()


def test_every_feature_is_tried_in_a_loop_of_its_own() -> None:
    assert {run.split()[0].strip(",") for run in RUNS} == {"plain", *weave.FEATURES}


@pytest.mark.deep
@given(document=documents())
def test_random_experiments_give_the_same_in_loops_of_their_own(document: Document) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLRACE_LOOPS", "shared")
        shared = traced(document, kinds=())
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
            "line 4 of the template: '# WEAVE if actors' is inside",
        ),
        (["# WEAVE on_recrod"], "line 3 of the template: 'on_recrod' is not a point of the loop; it must be one of on_record, "),
        (["# WEAVE: memory"], "line 3 of the template: '# WEAVE: memory' is not a valid mark; write"),
        (["#WEAVE end"], "line 3 of the template: '#WEAVE end' is not a valid mark; write"),
    ],
)
@pytest.mark.parametrize("features", [(), ("memory",)], ids=["without the feature", "with it"])
def test_wrong_marks_are_refused(lines: list[str], says: str, features: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the lines would be woven in or left out: code that is left out by a slip of the pen is not missed by any test."""
    template = template_with(*lines)
    monkeypatch.setattr(weave.inspect, "getsource", lambda module: "".join(linecache.cache[module.__file__][2]))
    with pytest.raises(ValueError, match=re.escape(says)):
        weave.woven_text({}, template=template, features=features)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """A template as a package: the lines of its `advance`, and the text of its module `parts`."""
    names = (f"template_of_test_{n}" for n in itertools.count() if f"template_of_test_{n}" not in sys.modules)

    def made(lines: list[str], parts: str) -> ModuleType:
        name = next(names)
        folder = tmp_path / name
        folder.mkdir()
        text = "def advance(world, stop):\n    n = 0\n" + "".join(f"    {line}\n" for line in lines) + "    return n\n"
        (folder / "__init__.py").write_text(text)
        (folder / "parts.py").write_text(f"from engine.core.fragments import IN_LOOP\n\n\n{parts}")
        monkeypatch.syspath_prepend(str(tmp_path))
        return importlib.import_module(name)

    return made


WORKING = '''def count():
    """Ends the loop in which it is named."""
    while IN_LOOP:  # over anything
        # WEAVE if memory
        n += 10
        # WEAVE end
        if n > 2:
            break
        add()  # one


def add():
    n += ONE


ONE = 1
'''


@pytest.mark.usefixtures("own_loops")
def test_fragments_stand_where_they_are_named(package: Callable[..., ModuleType]) -> None:
    """With their indentation, and with the loop that their `break` means: as if they were written there."""
    template = package(["while True:", "    count()", "add()"], WORKING)
    text, _ = weave.woven_text({}, template=template)
    expected = "def advance(world, stop):\n n = 0\n while True:\n  if n > 2:\n   break\n  n += ONE\n n += ONE\n return n"
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(expected))
    assert weave.weave({}, template=template).advance.function(None, 0) == 4
    assert weave.weave({}, template=template, features=["memory"]).advance.function(None, 0) == 11


@pytest.mark.parametrize(
    ("lines", "parts", "says"),
    [
        (["cuont()"], WORKING, "line 3 of the template: there is no fragment 'cuont'; it must be one of add, count"),
        (["add()"], WORKING, "line 7 of parts.py: nothing names the fragment 'count'"),
        (["one()"], "def one():\n    one()\n", "line 5 of parts.py: the fragment 'one' contains itself"),
        (["one()"], "def one(n):\n    n = 1\n", "line 4 of parts.py: the fragment 'one' takes arguments"),
        (["one()"], "def one():\n    n = 1\n\n\ndef one():\n    n = 2\n", "another fragment is also named 'one'"),
        (
            ["one()"],
            "def one():\n    while IN_LOOP:\n        n = 1\n    n = 2\n",
            "line 7 of parts.py: 'while IN_LOOP' must contain",
        ),
        (["one()"], "def one():\n    # WEAVE if memory\n    n = 1\n", "line 5 of parts.py: '# WEAVE if memory' is not ended"),
        (["one()"], "def one():\n    n = 1\n    # WEAVE end\n", "line 6 of parts.py: '# WEAVE end' ends nothing"),
        (["one()"], "def one():\n    n = 1\n    # WEAVE on_recrod\n", "line 6 of parts.py: 'on_recrod' is not a point of the loop"),
        (
            ["# WEAVE if memory", "one()", "# WEAVE end"],
            "def one():\n    # WEAVE if actors\n    n = 1\n    # WEAVE end\n",
            "line 5 of parts.py: '# WEAVE if actors' is inside '# WEAVE if memory' of line 3 of the template",
        ),
        (
            ["# WEAVE if memory", "one()", "two()"],
            "def one():\n    n = 1\n    # WEAVE end\n\n\ndef two():\n    # WEAVE if memory\n    n = 1\n    # WEAVE end\n",
            "line 6 of parts.py: '# WEAVE end' ends nothing",
        ),
        (["one()"], "def one():\n    n = 1\n\n\nrandom = __import__('random')\n", ""),
    ],
)
def test_wrong_fragments_are_refused(package: Callable[..., ModuleType], lines: list[str], parts: str, says: str) -> None:
    """The last is right, and shows that the others are refused for their faults."""
    template = package(lines, parts)
    with pytest.raises(ValueError, match=re.escape(says)) if says else nullcontext():
        weave.woven_text({}, template=template)


def test_a_name_means_one_thing_in_all_fragments(package: Callable[..., ModuleType]) -> None:
    template = package(["one()", "n += LIMIT"], "def one():\n    n = LIMIT\n\n\nLIMIT = 1000\n")
    template.LIMIT = 2000
    with pytest.raises(ValueError, match="'LIMIT' means something else in template_of_test_"):
        weave.woven_text({}, template=template)


@pytest.mark.parametrize("file", sorted(Path(event_loop.__path__[0]).glob("*.py")), ids=lambda file: file.stem)
def test_each_fragment_of_the_loop_can_be_read_as_a_whole(file: Path) -> None:
    """Each says what it does, and none is longer than a screen."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            assert ast.get_docstring(node), node.name
            assert (node.end_lineno or 0) - node.lineno < 80, node.name


def test_all_that_the_loop_names_is_there() -> None:
    """Fragments share variables that no tool sees, so each has to be a variable of `advance`, or stand for something in a module."""
    text, kernels = weave.woven_text(OPERATORS, features=weave.FEATURES)
    advance = next(part for part in compile(text, "loop", "exec").co_consts if getattr(part, "co_name", "") == "advance")
    named = {step.argval for step in dis.get_instructions(advance) if step.opname == "LOAD_GLOBAL"}
    assert named - {*fragments.assembled(event_loop).space, *kernels, *dir(builtins)} == set()


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
