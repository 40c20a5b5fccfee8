"""Types of the API (docs/web-api.md): frames of real runs are what their types say, and no two types have one name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from testing import api_types

import engine
from engine.operators import OPERATORS
from engine.spec import read_document
from engine.spec.experiment import registry
from engine.spec.study.schema import study_schema
from engine.workloads import lookup
from tests.support.autoscaling_examples import made as autoscaled
from tests.support.death_cases import deaths_among_losses
from tests.support.policies import POLICIES
from tests.support.recovery_examples import PROTOCOLS, counting, hybrid, loss, with_losses
from tests.support.rescaling_examples import in_place, order_of, scaled
from webapp.api import api
from webapp.api.documents import Catalogue
from webapp.api.openapi import Document
from webapp.api.studies import StudyCatalogue
from webapp.live.frames import Frame
from webapp.live.messages import NewsMessage, RunMessage

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
EXAMPLES = sorted((FIXTURES / "experiments").glob("*.yaml"))
FRAME = TypeAdapter(Frame)
FRAMES_OF_EXAMPLE = 2
RESTLESS = {"wait_share": 0, "rounds": 1, "load_ratio": 1e6, "intervals": 2}


def frames_of(document: Any, count: int | None = None) -> Iterator[dict[str, Any]]:
    """The first frames of a run, all without a count."""
    simulation = engine.Simulation(document, kinds=OPERATORS, datasets=lookup([FIXTURES / "data"]))
    while count is None or simulation.frame_number < count:
        frame = simulation.advance()
        if frame is None:
            return
        yield frame


def checked(frame: dict[str, Any]) -> dict[str, Any]:
    """Raises ValidationError if the frame has a field that its type does not know, or one of another type. 1 is a float, 1.0 no integer."""
    FRAME.validate_json(json.dumps(frame), strict=True)
    return frame


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_frames_of_examples_have_their_type(path: Path) -> None:
    frames = [checked(frame) for frame in frames_of(read_document(path), FRAMES_OF_EXAMPLE)]
    assert len(frames) == FRAMES_OF_EXAMPLE


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_frames_of_recoveries_have_their_type(protocol: Callable[..., Any]) -> None:
    document = with_losses(counting(protocol=protocol()), [loss("w2", 0.12)])
    news = [checked(frame)["checkpoints"] for frame in frames_of(document)]
    assert any(each["durable"] for each in news)
    assert any(each["recoveries"] for each in news)


def test_frames_of_regions_that_change_have_their_type() -> None:
    protocol = hybrid(("bids", "keys", "counts", "sink"), interval_s=0.02, adapt=RESTLESS)
    news = [checked(frame)["checkpoints"] for frame in frames_of(counting(protocol=protocol))]
    assert any("turn" in each for one in news for each in one["rounds"])
    assert all(one["modes"] for one in news)


def test_frames_of_deaths_have_their_type() -> None:
    deaths = [checked(frame)["deaths"] for frame in frames_of(deaths_among_losses())]
    assert any(deaths)


@pytest.mark.parametrize("way", [scaled, in_place])
def test_frames_of_rescales_have_their_type(way: Callable[..., Any]) -> None:
    frames = [checked(frame)["scaling"] for frame in frames_of(way(counting(hosts=6), [order_of(0.1, keys=3)]))]
    assert any(action["outcome"] == "done" for news in frames for action in news["actions"])


@pytest.mark.parametrize("kind", POLICIES)
def test_frames_of_policies_have_their_type(kind: str) -> None:
    frames = [checked(frame)["scaling"] for frame in frames_of(autoscaled({"kind": kind}, minutes=5))]
    assert any(news["decisions"] for news in frames)


def test_the_registry_has_its_type() -> None:
    TypeAdapter(Catalogue).validate_python(registry.catalogue())
    TypeAdapter(StudyCatalogue).validate_python(study_schema())


def test_messages_of_the_sockets_have_their_type() -> None:
    frame = json.dumps(next(frames_of(counting())))
    run: TypeAdapter[Any] = TypeAdapter(RunMessage)
    for message in (f'{{"type":"frames","at_s":1.5,"frames":[{frame}]}}', f'{{"type":"frames","frames":[{frame}]}}', '{"type":"end"}'):
        run.validate_json(message)
    news: TypeAdapter[Any] = TypeAdapter(NewsMessage)
    for message in ('{"type":"ready"}', '{"type":"lists"}', '{"type":"pong"}', '{"type":"runs","runs":[]}'):
        news.validate_json(message)


def test_no_two_types_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a type that takes the place of another in the document, without a word."""
    seen: dict[tuple[bool, str], Any] = {}

    def note(of_answers: bool, definitions: dict[str, Any]) -> None:
        for name, schema in definitions.items():
            assert seen.setdefault((of_answers, name), schema) == schema, f"two types are called {name}"

    class Noting(dict[str, Any]):
        def update(self, definitions: Any) -> None:  # type: ignore[override]
            note(True, definitions)
            super().update(definitions)

    monkeypatch.setattr(Document, "answers", property(lambda self: self.__dict__.setdefault("noting", Noting())))
    monkeypatch.setattr(Document, "add_schema_definitions", lambda self, definitions: note(False, definitions))
    api.get_openapi_schema()
    assert len(seen) > 100


def test_titles_that_repeat_a_name_are_left_out() -> None:
    schema = {"title": "A", "properties": {"title": {"title": "Title", "type": "string"}}, "anyOf": [{"title": "B"}]}
    assert api_types.untitled(schema) == {"properties": {"title": {"type": "string"}}, "anyOf": [{}]}
