"""A placement strategy from outside the package: offered, checked, obeyed, refused in words; and how a package brings its kinds along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal
from unittest import mock

import pytest

import engine
from engine.operators import OPERATORS
from engine.operators import register as register_operator
from engine.spec import Experiment, InvalidExperiment, catalogue, load, validate
from engine.spec.base.family import Family
from engine.spec.experiment import registry
from engine.spec.experiment.placement import PLACEMENTS, Placement
from tests.newcomers.band import Band
from tests.newcomers.placement import Weighted
from tests.support.plugins import KINDS, installed

from ..support.agreement import ROOT, template, traced


@pytest.fixture(autouse=True)
def newcomers() -> Iterator[None]:
    """Both, registered for the time of a test."""
    before = registry.members("placements")
    with mock.patch.dict(OPERATORS):
        PLACEMENTS.register(Weighted)
        register_operator(Band)
        yield
    PLACEMENTS.offer(before)


def on_edge_and_cloud(shares: dict[str, int], bounds: tuple[int, int] = (0, 10**12)) -> dict[str, Any]:
    """Bids within the bounds, on four hosts of which two are at the edge."""
    document = template("nexmark_q1", horizon_s=0.2, drain=True)
    host = document["cluster"]["hosts"][0] | {"count": 2}
    document["cluster"]["hosts"] = [host | {"name": "edge", "group": "edge"}, host | {"name": "cloud", "group": "cloud"}]
    document["placement"] = {"kind": "weighted", "shares": shares}
    operator = document["query"]["operators"][1]
    operator |= {"kind": "band", "params": {"field": "price", "bounds": list(bounds)}}
    return document


def served_by_host(run: Any) -> dict[str, bool]:
    """Whether a host was ever busy."""
    return {name: any(frame["hosts"][name]["busy"] for frame in run.frames) for name in run.frames[0]["hosts"]}


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["placements"] if entry["kind"] == "weighted")
    assert entry["schema"]["properties"]["shares"]["additionalProperties"] == {"type": "integer", "minimum": 1, "maximum": 1000}
    assert (entry["title"], entry["source"]) == ("Weighted groups", "Newcomer et al., section 3")
    assert "weighted" in registry.document_schema()["properties"]["placement"]["discriminator"]["mapping"]
    assert "weighted" in registry.kinds("placements")


@pytest.mark.slow
def test_it_decides_where_instances_stand_and_so_what_is_busy() -> None:
    assert served_by_host(engine.run(on_edge_and_cloud({"edge": 1}))) == {"edge1": True, "edge2": True, "cloud1": False, "cloud2": False}
    assert served_by_host(engine.run(on_edge_and_cloud({"cloud": 1}))) == {"edge1": False, "edge2": False, "cloud1": True, "cloud2": True}
    experiment = load(on_edge_and_cloud({"edge": 3, "cloud": 1}))
    assert engine.spec.placement_of(experiment)["sink"] == [0, 1, 0, 2]


@pytest.mark.slow
def test_the_band_is_what_brute_force_says() -> None:
    everything = traced(on_edge_and_cloud({"edge": 1}))
    price = everything.sink_schema("sink").index("price")
    prices = sorted(int(record["values"][price]) for record in everything.sink_records("sink"))
    low, high = prices[len(prices) // 4], prices[len(prices) // 2]
    within = traced(on_edge_and_cloud({"edge": 1}, (low, high)))
    assert sorted(int(record["values"][price]) for record in within.sink_records("sink")) == [one for one in prices if low <= one <= high]


@pytest.mark.parametrize(
    ("shares", "pointer", "words"),
    [
        ({"egde": 1}, "/placement/shares/egde", "did you mean 'edge'"),
        ({"edge": 0}, "/placement/shares/edge", "at least 1"),
        ({}, "/placement/shares", "at least 1"),
    ],
)
def test_what_is_wrong_with_its_parameters_is_said_where_it_stands(shares: dict[str, int], pointer: str, words: str) -> None:
    (problem,) = validate(on_edge_and_cloud(shares))
    assert problem.pointer == pointer
    assert words in problem.message


def test_its_parameters_count_for_the_hash() -> None:
    hashes = {load(on_edge_and_cloud(shares)).hash for shares in ({"edge": 1}, {"edge": 2}, {"cloud": 1})}
    assert len(hashes) == 3


def test_a_strategy_that_forgets_instances_is_refused() -> None:
    class Forgetful(Placement):
        """Places nothing."""

        title: ClassVar[str] = "Forgetful"
        kind: Literal["forgetful"] = "forgetful"

        def place(self, operators: Any, hosts: Any) -> dict[str, list[int]]:
            return {}

    PLACEMENTS.register(Forgetful)
    with pytest.raises(InvalidExperiment, match="must return for each an index from 0 to 3"):
        load(on_edge_and_cloud({"edge": 1}) | {"placement": {"kind": "forgetful"}})


class NoKind(Placement):
    """Has none."""

    title: ClassVar[str] = "No kind"


class Taken(Weighted):
    """Is taken."""

    kind: Literal["spread"] = "spread"  # type: ignore[assignment]


class NoPlace(Placement):
    """Does nothing."""

    title: ClassVar[str] = "No place"
    kind: Literal["no_place"] = "no_place"


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (int, "is not a subclass of"),
        (NoKind, "give it a field `kind"),
        (Taken, "which engine.spec.experiment"),
        (NoPlace, "no method"),
    ],
)
def test_what_is_wrong_with_a_strategy_is_said_when_it_is_registered(strategy: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLACEMENTS.register(strategy)


def test_without_it_the_document_is_refused() -> None:
    PLACEMENTS.offer(tuple(one for one in PLACEMENTS.kinds if one is not Weighted))
    (problem,) = validate(on_edge_and_cloud({"edge": 1}))
    assert problem.pointer == "/placement/kind"
    with pytest.raises(ValueError, match="weighted"):
        Experiment.model_validate(on_edge_and_cloud({"edge": 1}))


@pytest.mark.slow
def test_an_installed_package_brings_both_by_entry_points(tmp_path: Path) -> None:
    """Any process knows them then, here `manage.py run`; also one that imports the package before it imports the engine."""
    installed(tmp_path)
    (tmp_path / "experiment.json").write_text(json.dumps(on_edge_and_cloud({"edge": 1})))
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "DJANGO_SETTINGS_MODULE": "tests.web.settings"}
    command = [sys.executable, "manage.py", "run", str(tmp_path / "experiment.json"), "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["digest"] == engine.run(on_edge_and_cloud({"edge": 1})).digest
    first = "import newcomers_package.placement, engine.spec; print('weighted' in engine.spec.experiment.registry.kinds('placements'))"
    done = subprocess.run([sys.executable, "-c", first], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


def test_an_installed_package_brings_a_kind_to_every_open_family(tmp_path: Path) -> None:
    """Nothing else is told of them: no file of the tree names a kind of the package."""
    installed(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    program = (
        "import json\nfrom engine.spec.base.family import BROKEN\nfrom engine.spec.experiment import registry\n"
        "print(json.dumps([{family: registry.kinds(family) for family in ('operators', 'prices', *registry.FAMILIES)}, BROKEN]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    known, broken = json.loads(done.stdout)
    assert broken == {}
    for family, lines in KINDS.items():
        assert {line.partition(" = ")[0] for line in lines} <= set(known[family]), family
    open_families = {name for name, family in registry.FAMILIES.items() if isinstance(family, Family)}
    assert open_families - KINDS.keys() == {"rescalings", "states"}, "a family that has no newcomer yet"
