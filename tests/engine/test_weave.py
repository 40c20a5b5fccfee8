"""Which kernels are woven in is the engine's affair: no result depends on it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import engine
from engine.core import layout as L
from engine.core import weave
from engine.operators import OPERATORS

from .agreement import DATASETS, TEMPLATES, template


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
