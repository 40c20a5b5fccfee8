"""Documents mean tomorrow what they mean today: schemas and hashes, held against files (`tests/spec/frozen/`).

What this catches: a default, a name or an order that changes by the way, which would give stored documents other hashes, and break the
clients of the API. A change that is meant is written with `python -m tests.spec.test_frozen`, and read in the diff.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.spec.experiment import registry
from engine.spec.experiment.document import read_document
from engine.spec.figure.figure import SCALES, identity
from engine.spec.figure.files import FigureFiles
from engine.spec.rules.validation import Context, load
from engine.spec.study.schema import study_schema
from engine.workloads import lookup
from tests.support.tiers import only

HERE = Path(__file__).parent / "frozen"
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def schemas() -> dict[str, Any]:
    return {"document": registry.document_schema(), "study": study_schema()["document"]}


def documents() -> dict[str, Any]:
    """Hashes of the examples: stored runs are found by them."""
    context = Context(datasets=lookup([FIXTURES / "data"]))
    return {path.stem: load(read_document(path), context).hash for path in sorted((FIXTURES / "experiments").glob("*.yaml"))}


def figures() -> dict[str, Any]:
    """Hashes of the figures at each scale: stored results are found by them."""
    files = FigureFiles(FIXTURES)
    return {id: {scale: identity(files.figure(id), scale, files.experiment) for scale in SCALES} for id in files.ids()}


def kinds() -> dict[str, Any]:
    """What forms are made of, by family and kind, without texts, which may be improved."""
    return {
        family: {entry["kind"]: {name: entry.get(name) for name in ("group", "icon", "inputs", "outputs", "fields")} for entry in entries}
        for family, entries in registry.catalogue().items()
    }


FROZEN = {"schemas": schemas, "documents": documents, "kinds": kinds, "figures": figures}
TEXTS = ("description", "title")


def without_texts(schema: Any) -> Any:
    """The schema without what people read. `properties` may have fields of these names."""
    if isinstance(schema, list):
        return [without_texts(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in TEXTS or not isinstance(value, str)}
    return {name: without_texts(value) for name, value in kept.items()}


def text_of(name: str) -> str:
    return json.dumps(without_texts(FROZEN[name]()), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", only(list(FROZEN), ci=[name for name in FROZEN if name != "figures"]))  # their studies take a while
def test_it_is_as_it_was(name: str) -> None:
    assert text_of(name) == (HERE / f"{name}.json").read_text(), "if the change is meant: python -m tests.spec.test_frozen"


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for each in FROZEN:
        (HERE / f"{each}.json").write_text(text_of(each))
