"""Charts of reports. Catches: a drawing that is no XML, numbers that no browser can place, peaks that are lost."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.reports.drawing import POINTS_MAX, Chart, Series, linear_ticks, log_ticks, path_of, short, thinned

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False) | st.integers(-5, 5).map(float)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=8)


@st.composite
def series(draw: st.DrawFn) -> Series:
    count = draw(st.integers(0, 8))
    x = draw(st.lists(NUMBERS, min_size=count, max_size=count, unique=True).map(sorted) | st.lists(NAMES, min_size=count, max_size=count))
    y = draw(st.lists(st.none() | NUMBERS, min_size=count, max_size=count))
    bounds = draw(st.booleans())
    low = [None if value is None else value - 1 for value in y] if bounds else ()
    high = [None if value is None else value + 1 for value in y] if bounds else ()
    mark = draw(st.sampled_from(["line", "points", "steps", "steps_before", "bars", "area"]))
    return Series(draw(NAMES), x, y, low, high, mark=mark, at=draw(st.integers(0, 20)), reported=draw(st.booleans()))


@given(st.lists(series(), max_size=4), st.booleans(), st.booleans(), NAMES)
def test_whatever_is_drawn_is_a_picture(drawn: list[Series], log: bool, log_x: bool, name: str) -> None:
    svg = Chart(name, drawn, x_title=name, y_title="<&>", log=log, log_x=log_x, marks=[(0.5, name)]).svg()
    if not any(value is not None for one in drawn for value in one.y):
        assert svg == ""
        return
    ElementTree.fromstring(f"<all>{svg}</all>")
    assert not {"nan", "inf", "-inf"} & set(svg.replace('"', " ").replace(",", " ").split())


def test_steps_hold_from_their_x_on_or_up_to_it() -> None:
    x, y = [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, None, 3.0]
    corners = {
        "line": "M0.0 1.0L1.0 2.0M3.0 3.0",
        "steps": "M0.0 1.0L1.0 1.0L1.0 2.0M3.0 3.0",
        "steps_before": "M0.0 1.0L0.0 2.0L1.0 2.0M3.0 3.0",
    }
    for mark, path in corners.items():
        assert path_of(Series("s", x, y, mark=mark), float, float) == path


def test_a_long_line_keeps_its_peaks() -> None:
    y: list[float | None] = [0.0] * 10_000
    y[4321], y[8765] = 99.0, -7.0
    kept = thinned(Series("a", [float(x) for x in range(10_000)], y))
    assert len(kept.x) <= POINTS_MAX
    assert (4321.0, 99.0) in zip(kept.x, kept.y, strict=True)
    assert (8765.0, -7.0) in zip(kept.x, kept.y, strict=True)


def test_decades_are_equally_long_on_either_axis() -> None:
    chart = Chart("c", [Series("s", [1.0, 10.0, 1000.0], [2.0, 20.0, 2000.0])], log=True, log_x=True)
    across, _ = chart._across(chart.series)
    up, _ = chart._up(chart.series)
    for place, values in ((across, (1.0, 10.0, 1000.0)), (up, (2.0, 20.0, 2000.0))):
        first, second, third = map(place, values)
        assert third - second == pytest.approx(2 * (second - first))


def test_axes_have_round_numbers() -> None:
    assert linear_ticks(0, 1, 5) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert log_ticks(0.3, 20) == [0.1, 1.0, 10.0, 100.0]
    assert log_ticks(2, 4) == [1.0, 2.0, 5.0, 10.0]
    assert [short(one) for one in (0, 0.0714, 4425, 14_912, 1.2e6, 5.6e9, -3.25)] == [
        "0",
        "0.0714",
        "4,425",
        "14.9k",
        "1.2M",
        "5.6G",
        "-3.25",
    ]
