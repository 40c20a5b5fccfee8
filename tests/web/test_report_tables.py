"""Figures in reports: those that are tables are told as such."""

from __future__ import annotations

from engine.spec.base.pointers import changed
from engine.spec.figure.figure import load_figure
from tests.spec.figure_examples import experiment, figure
from webapp.lab.models import Run
from webapp.reports.report import drawing, moments

COLUMNS = [{"value": "out", "name": "records", "unit": "1"}, {"value": "out", "name": "records", "reported": True}]


def test_a_figure_that_is_a_table() -> None:
    table = {"kind": "table", "panels": [{"title": "Rates", "x": {"title": "rate"}, "series": COLUMNS}]}
    read = load_figure(changed(figure(), "/drawing", table), experiment)
    part = drawing(read, {"out": {"x": [200, 300], "y": [190.0, 280.0]}})
    (made,) = part.tables
    assert not part.charts
    assert (made.title, list(made.head)) == ("Rates", ["rate", "records, 1", "records, reported"])
    assert [list(row) for row in made.rows] == [["200", "190", "200"], ["300", "280", "–"], ["100", "–", "100"]]
    assert [list(row) for row in drawing(read, {}).tables[0].rows] == [["100", "–", "100"], ["200", "–", "200"]], "before it was run"


def test_columns_have_the_units_of_the_axes() -> None:
    axes = {"x": {"title": "rate", "unit": "records/s"}, "y": {"title": "latency", "unit": "ms"}}
    table = {"kind": "table", "panels": [{"title": "Rates", **axes, "series": COLUMNS}]}
    (made,) = drawing(load_figure(changed(figure(), "/drawing", table), experiment), {}).tables
    assert list(made.head) == ["rate, records/s", "records, 1", "records, reported, ms"], "a column's own unit comes first"


def test_a_figure_of_panels() -> None:
    part = drawing(load_figure(figure(), experiment), {"out": {"x": [200, 300], "y": [190.0, 280.0]}})
    assert [len(chart.series) for chart in part.charts] == [2]
    assert part.charts[0].svg()


def test_planned_rescales_and_moves_are_marked() -> None:
    for field, name in (("orders", "rescale"), ("moves", "move")):
        assert moments(Run(document={"policies": {"scaling": {"kind": "any", field: [{"at_s": 6}]}}})) == [(6.0, name)]
