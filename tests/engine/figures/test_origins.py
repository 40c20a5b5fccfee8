"""Every cost has an origin, and a figure that rests on a cost fitted to it is calibrated without anybody having to say so.

What this catches: a constant that a protocol or a policy charges and that nobody knows the origin of; a figure that is called reproduced
because of a price that was chosen for it; a price list that was changed without a new version of the engine.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from engine.corpus.experiments import PRICES
from engine.figures import Here, reproduce
from engine.figures.origins import experiments_of, fitted_to, is_fitted
from engine.prices import PRICE_LISTS, version_of
from engine.prices.contents import CONTENTS
from engine.spec.base.origins import KEYWORD, Charge, constant
from engine.spec.base.version import ENGINE_VERSION
from engine.spec.experiment import registry
from engine.spec.experiment.checkpointing.store import Store
from engine.spec.experiment.document import read_document
from engine.spec.experiment.rescaling.base import SavepointStore
from engine.spec.figure.figure import CORPORA, study_at
from engine.spec.figure.files import FigureFiles
from engine.spec.study.study import load_study

ROOT = Path(__file__).parents[3]
FILES = FigureFiles(ROOT / "fixtures")
FAMILIES = (registry.CHECKPOINTINGS, registry.SCHEDULINGS, registry.SCALINGS, registry.RESCALINGS)
COSTS = re.compile(
    r"_(us|bytes|mb_per_s|mbit_per_s)$"
    r"|^(tax|.*_share|latency_ms|request_ms|restart_ms|capture_ms|open_log_ms|.*start_s|switch_s|takeover_s)$"
)
"""Names of fields that are charged: time of a processor, bytes, throughputs, and times until something is there."""
NO_COSTS = {
    "start_s": "when an autoscaler begins",
    "Flink.restart_s": "what the policy assumes of a restart, not what one takes",
}
CHARGING = ("checkpointing", "services", "scheduling", "rescaling", "relocation")
CONSTANTS = re.compile(r"_(NS|PS|US|BYTES)$")
UNITS = {"US_NS", "PS_PER_US", "SECOND_NS", "MINUTE_NS", "MODE_MAX_NS", "PIECE_BYTES"}
"""Units, bounds and sizes of pieces: nothing is charged for them."""


def models() -> Iterator[type[BaseModel]]:
    yield from (Store, SavepointStore)
    for family in FAMILIES:
        yield from family.kinds


def test_every_cost_that_documents_set_has_an_origin() -> None:
    found = 0
    for model in models():
        for name, field in model.model_fields.items():
            if not COSTS.search(name) or name in NO_COSTS or f"{model.__name__}.{name}" in NO_COSTS:
                continue
            extra = field.json_schema_extra
            assert isinstance(extra, dict), f"{model.__name__}.{name}"
            assert KEYWORD in extra, f"{model.__name__}.{name} is a cost without an origin; give it a Charge"
            assert "The default " in (field.description or "")
            found += 1
    assert found > 50


def test_every_cost_in_the_code_has_an_origin() -> None:
    found = []
    for package in CHARGING:
        for path in sorted((ROOT / "engine" / package).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                    continue
                name = node.targets[0].id
                if CONSTANTS.search(name) and name not in UNITS:
                    call = node.value
                    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "constant"
                    assert named, f"{path.relative_to(ROOT)}: {name} is a cost without an origin; give it one with constant()"
                    found.append(name)
    assert len(found) >= 8


def test_what_was_fitted_says_to_what() -> None:
    for origin, to in (("fitted", ()), ("assumed", ("checkmate/3.7",))):
        with pytest.raises(ValueError, match="fitted prices, and only they"):
            Charge(origin, fitted_to=to)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a field with a Charge"):
        constant(5, "fitted")


def test_what_is_fitted_to_exists() -> None:
    known = set(FILES.ids()) | {id.partition("/")[0] for id in FILES.ids()}
    charges: list[Any] = [field.json_schema_extra for model in models() for field in model.model_fields.values()]
    named = {to for extra in charges if isinstance(extra, dict) and KEYWORD in extra for to in extra[KEYWORD]["fitted_to"]}
    named |= {to for prices in PRICE_LISTS.values() for price in prices.prices.values() for to in price.fitted_to}
    for path in (ROOT / "fixtures" / "experiments").glob("*.yaml"):
        operators = read_document(path)["query"]["operators"]
        named |= {to for operator in operators for to in (operator.get("cost") or {}).get("fitted_to", ())}
    assert {to for to in named if " " not in to} <= known
    assert {"autoscalers", "checkmate/3.7", "klink/3.4a"} <= named


@pytest.mark.parametrize(
    ("id", "fitted"),
    [("checkmate/3.7", True), ("checkmate/3.11", True), ("checkmate/table-3.2", True), ("checkmate/3.8", False), ("autoscalers/4.3", True)],
)
def test_figures_that_rest_on_costs_fitted_to_them_are_found(id: str, fitted: bool) -> None:
    figure = FILES.figure(id)
    studies = [load_study(study_at(figure, name, "dev", FILES.experiment)) for name in figure.studies]
    assert not figure.calibrated
    assert is_fitted(figure, studies) is fitted


def test_a_cost_that_a_document_chooses_itself_was_fitted_to_nothing() -> None:
    figure = FILES.figure("checkmate/table-3.2")
    document = study_at(figure, "q1", "dev", FILES.experiment)
    document["experiment"]["policies"]["checkpointing"] = {"kind": "communication_induced", "piggyback_bytes": 10, "entry_bytes": 1}
    document["axes"] = [axis for axis in document["axes"] if axis["name"] != "protocol"]
    (fitted, *_) = (fitted_to(one) for one in experiments_of(load_study(document)))
    assert "checkmate/table-3.2" not in fitted
    assert "checkmate/3.7" in fitted


def test_a_version_holds_the_content_of_its_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {name: prices.digest for name, prices in PRICE_LISTS.items() if name in CONTENTS}
    assert ours == CONTENTS, "a price changed: raise ENGINE_VERSION, and write the digests anew"
    assert version_of(*PRICE_LISTS) == ENGINE_VERSION
    assert version_of("unknown") == ENGINE_VERSION
    reference = PRICE_LISTS["reference"]
    told = {**reference.prices, "sink": replace(reference.prices["sink"], note="in other words")}
    assert replace(reference, doc="in other words", prices=told).digest == reference.digest
    dear = {**reference.prices, "sink": replace(reference.prices["sink"], record_ps=12_000_000)}
    changed = replace(reference, prices=dear)
    monkeypatch.setitem(PRICE_LISTS, "reference", changed)
    assert version_of("reference", "klink_2020") == f"{ENGINE_VERSION}+reference.{changed.digest}"
    assert version_of("klink_2020") == ENGINE_VERSION
    assert reproduce(FILES.figure("benchmark/3.5"), "smoke", FILES.experiment, Here()).engine_version == version_of("reference")


def test_corpora_are_charged_by_the_list_that_figures_name() -> None:
    assert CORPORA == PRICES
