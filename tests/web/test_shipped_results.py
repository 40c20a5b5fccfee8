"""Results that come with Millrace: whole, of figures as they are now, and the same when they are made again.

A figure whose studies, values or checks changed is measured again, or its result is deleted:
`manage.py reproduce WHICH --scale SCALE --ship`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.figures import Here, reproduce
from engine.figures.shipped import prices_of, shipped
from engine.spec.figure.figure import identity
from engine.spec.figure.results import ResultFiles, ShippedResult, text_of
from engine.spec.rules.validation import Context
from engine.workloads import lookup
from webapp.lab.figures import FILES
from webapp.reports import results_page

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES_OF_RESULTS = ResultFiles(FIXTURES)
MADE_AGAIN = ("benchmark/3.5", "benchmark/3.6")
"""Of seconds."""


def results() -> list[ShippedResult]:
    return [FILES_OF_RESULTS.read_file(path) for path in FILES_OF_RESULTS.paths()]


def test_each_is_of_a_figure_as_it_is_now() -> None:
    known = FILES.ids()
    for result in results():
        assert result.figure in known
        figure = FILES.outline(result.figure)
        assert result.hash == identity(figure, result.scale, FILES.experiment), result.figure
        assert result.prices == prices_of(figure, FILES.experiment), f"{result.figure}: prices have changed"
        assert [one.id for one in result.assertions] == [one.id for one in figure.assertions]
        assert text_of(result) == FILES_OF_RESULTS.path(result.figure, result.scale).read_text()


def test_their_page_says_what_they_say() -> None:
    assert results_page.page().read_text() == results_page.text(), "write it with: manage.py reproduce --list --ship"


@pytest.mark.slow
@pytest.mark.parametrize("id", MADE_AGAIN)
def test_made_again_they_are_the_same(id: str) -> None:
    kept = FILES_OF_RESULTS.read(id, "dev")
    assert kept is not None
    context = Context(datasets=lookup([FIXTURES / "data"]))
    with Here([FIXTURES / "data"]) as executor:
        made = reproduce(FILES.figure(id, context), "dev", FILES.experiment, executor, context)
    again = shipped(FILES.outline(id), "dev", FILES.experiment, made, 0.0)
    assert json.loads(again.model_dump_json(include={"values", "assertions", "status", "seeds", "runs"})) == json.loads(
        kept.model_dump_json(include={"values", "assertions", "status", "seeds", "runs"})
    )
