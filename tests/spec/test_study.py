"""The study document: axes, designs, what is refused and how.

What this catches: a design that draws other points on another machine or misses a part of a range, a pointer that silently makes a new
field, a point that could not be run and would be noticed after hours.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.base.pointers import Misled, changed, found
from engine.spec.study.study import Study, examine_study, load_study
from tests.support.corner_cases import bids, document, host

RATE = "/workload/sources/bids/rate/per_s"
CORES = "/cluster/hosts/0/cores"


def experiment() -> dict[str, Any]:
    operators = [{"id": "bids", "kind": "source"}, {"id": "sink", "kind": "sink"}]
    return document(operators, [{"source": "bids", "target": "sink"}], [host("a"), host("b")], {"bids": bids(100.0)}, name="an experiment")


def axis(name: str, field: str, kind: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "fields": [field], "values": {"kind": kind, **values}}


RATES = axis("rate", RATE, "linear", **{"from": 100, "to": 300, "count": 3})
SIZES = axis("cores", CORES, "list", of=[2, 4])
ANY_RATE = axis("rate", RATE, "between", **{"from": 1, "to": 1000, "scale": "log"})
ANY_CORES = axis("cores", CORES, "between", **{"from": 1, "to": 64, "whole": True})


def study(*axes: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"experiment": experiment(), "axes": list(axes), **parts}


def points(*axes: dict[str, Any], **design: Any) -> list[dict[str, Any]]:
    return load_study(study(*axes, **({"design": design} if design else {}))).points()


def test_a_grid_has_each_with_each() -> None:
    assert points(RATES, SIZES) == [{"rate": rate, "cores": cores} for rate in (100, 200, 300) for cores in (2, 4)]
    assert points() == [{}]


def test_side_by_side() -> None:
    two = axis("rate", RATE, "log", **{"from": 1, "to": 1000, "count": 2})
    assert points(two, SIZES, kind="together") == [{"rate": 1, "cores": 2}, {"rate": 1000, "cores": 4}]


def test_numbers_by_equal_factors_have_no_dust() -> None:
    assert [point["rate"] for point in points(axis("rate", RATE, "log", **{"from": 1, "to": 1000, "count": 4}))] == [1, 10, 100, 1000]
    tenths = points(axis("rate", RATE, "linear", **{"from": 0.1, "to": 0.5, "count": 5}))
    assert [point["rate"] for point in tenths] == [0.1, 0.2, 0.3, 0.4, 0.5]


@given(count=st.integers(1, 60), seed=st.integers(0, 2**40))
def test_a_latin_hypercube_has_one_point_in_each_part(count: int, seed: int) -> None:
    drawn = Study.model_validate(study(ANY_RATE, ANY_CORES, design={"kind": "latin_hypercube", "points": count, "seed": seed})).points()
    parts = Counter(int(math.log(point["rate"], 1000) * count * (1 - 1e-9) + 1e-9) for point in drawn)
    assert parts == Counter(range(count))
    assert all(isinstance(point["cores"], int) and 1 <= point["cores"] <= 64 for point in drawn)


def test_draws_depend_on_seed_and_axis_alone() -> None:
    few = points(ANY_RATE, ANY_CORES, kind="random", points=5)
    assert few == points(ANY_RATE, ANY_CORES, kind="random", points=9)[:5]
    assert [point["cores"] for point in few] == [point["cores"] for point in points(ANY_CORES, kind="random", points=5)]
    assert few != points(ANY_RATE, ANY_CORES, kind="random", points=5, seed=2)
    assert few[0] == {"rate": 376.477478878, "cores": 31}  # on every machine


THREE = axis("size", CORES, "list", of=["a", "b", "c"])
DESIGNS: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    ([], {"kind": "grid"}),
    ([RATES, SIZES, THREE], {"kind": "grid"}),
    ([RATES, THREE], {"kind": "together"}),
    ([ANY_RATE, THREE], {"kind": "random", "points": 7}),
    ([ANY_RATE, THREE], {"kind": "latin_hypercube", "points": 7}),
    ([], {"kind": "random", "points": 7}),
]


@given(design=st.sampled_from(DESIGNS), first=st.integers(0, 20), count=st.integers(0, 20))
def test_some_points_are_those_of_all(design: tuple[list[dict[str, Any]], dict[str, Any]], first: int, count: int) -> None:
    axes, kind = design
    whole = Study.model_validate(study(*axes, design=kind))
    assert whole.points(first, count) == whole.points()[first : first + count]
    assert len(whole.points()) == whole.point_count


def test_an_axis_sets_or_multiplies_and_leaves_the_experiment_alone() -> None:
    made = study(
        {"name": "load", "fields": [RATE, CORES], "multiply": True, "values": {"kind": "list", "of": [1.5]}},
        axis("w", "/name", "list", of=["x"]),
    )
    before = copy.deepcopy(made)
    whole = load_study(made)
    (point,) = whole.points()
    varied = whole.document(point, seed=7)
    assert (found(varied, RATE), found(varied, CORES), varied["name"], varied["workload"]["seed"]) == (150, 24, "x", 7)
    assert made == before


WRONG = {
    "no such field": (axis("a", "/workload/sources/bid/rate", "list", of=[1]), "/axes/0/fields/0", ["has no 'bid'", "did you mean 'bids'"]),
    "a field that nobody knows": (axis("a", "/workload/horizont_s", "list", of=[1]), "/experiment/workload/horizont_s", ["horizont_s"]),
    "no pointer": (axis("a", "workload", "list", of=[1]), "/axes/0/fields/0", ["must begin with '/'"]),
    "no such position": (axis("a", "/cluster/hosts/7/cores", "list", of=[1]), "/axes/0/fields/0", ["list of 2", "'7'"]),
    "into a number": (axis("a", RATE + "/x", "list", of=[1]), "/axes/0/fields/0", ["is 100.0, which has no fields"]),
    "a wrong type": (axis("a", CORES, "list", of=[2, "many"]), "/experiment/cluster/hosts/0/cores", ["at a = 'many'", "number"]),
    "out of range": (axis("a", CORES, "list", of=[2, 0]), "/experiment/cluster/hosts/0/cores", ["at a = 0", "at least 0.001"]),
    "a text multiplied": ({**axis("a", "/name", "list", of=[2]), "multiply": True}, "/axes/0/fields/0", ["not a number"]),
    "a range in a grid": (ANY_RATE, "/axes/0/values", ["a range", "latin_hypercube"]),
    "logarithm of nothing": (axis("a", RATE, "log", **{"from": 0, "to": 1, "count": 3}), "/axes/0/values/from", ["must be above 0"]),
    "a name": (axis("A b", RATE, "list", of=[1]), "/axes/0/name", ["A b"]),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_an_axis(what: str) -> None:
    wrong, place, words = WRONG[what]
    valid, problems = examine_study(study(wrong))
    assert valid is None
    text = " | ".join(f"{problem.message} {problem.hint}" for problem in problems)
    assert place in [problem.pointer for problem in problems], problems
    assert all(word in text for word in words), text


def test_what_is_wrong_with_a_whole() -> None:
    many = [axis(f"a{n}", RATE, "linear", **{"from": 1, "to": 2, "count": 1000}) for n in range(3)]
    load = {"kind": "sustainable", "load": ANY_RATE}
    for wrong, place, word in (
        (study(*many), "/axes", "1,000,000,000 runs"),
        (study(SIZES, SIZES), "/axes", "'cores'"),
        (study(ANY_RATE, search=load, design={"kind": "random", "points": 2}), "/axes", "'rate'"),
        (study(RATES, SIZES, design={"kind": "together"}), "/axes", "[2, 3]"),
        (study(seeds=[1, 1]), "/seeds", "twice"),
        (study(search={**load, "load": RATES}), "/search/load/values", "between"),
        (study(search={**load, "shares": [0]}), "/search/shares", "above 0"),
        (study() | {"experiment": {}}, "/experiment/query", "missing"),
    ):
        valid, problems = examine_study(wrong)
        assert valid is None
        assert any(problem.pointer == place and word in problem.message for problem in problems), problems


def test_an_axis_sets_some_fields_and_multiplies_others() -> None:
    """As many cores, and as many records for each."""
    per_core = {**axis("cores", CORES, "list", of=[2, 3]), "also_multiplied": [RATE]}
    whole = load_study(study(per_core))
    made = [whole.document(point, seed=7) for point in whole.points()]
    assert [(found(one, CORES), found(one, RATE)) for one in made] == [(2, 200), (3, 300)]
    _, problems = examine_study(study({**per_core, "also_multiplied": ["/name"]}))
    assert [problem.pointer for problem in problems] == ["/axes/0/also_multiplied/0"]


def test_changes_at_shares_are_examined() -> None:
    def places(field: str, **more: Any) -> list[str]:
        changes = [{"fields": [field], "value": -1}]
        _, problems = examine_study(study(search={"kind": "sustainable", "load": ANY_RATE, "changes_at_shares": changes, **more}))
        return [problem.pointer for problem in problems]

    assert places("/workload/horizon_s", shares=[0.8]) == ["/experiment/workload/horizon_s"]
    assert places("/workload/horizont/s", shares=[0.8]) == ["/search/changes_at_shares/0/fields/0"]
    assert places("/workload/horizon_s") == ["/search/changes_at_shares"]


def test_both_ends_of_a_load_are_examined() -> None:
    high = axis("load", RATE, "between", **{"from": 1, "to": 1e15})
    _, problems = examine_study(study(search={"kind": "sustainable", "load": high}))
    assert any("at load = 1000000000000000.0" in problem.message for problem in problems), problems


@given(
    st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    st.data(),
)
def test_pointers(tree: Any, data: st.DataObject) -> None:
    whole = {"root": tree}
    node, way = tree, ["root"]
    while isinstance(node, list | dict) and node:
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        node, way = node[key], [*way, str(key)]
    place = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in way)
    before = copy.deepcopy(whole)
    assert found(whole, place) == node
    assert found(changed(whole, place, "new"), place) == "new"
    assert whole == before
    with pytest.raises(Misled):
        found(whole, place + "/x")
