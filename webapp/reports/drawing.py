"""Charts as SVG for self-contained reports. The report's style sheet defines the colours (--s1 to --s7, ...)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal

Mark = Literal["line", "points", "steps", "steps_before", "bars", "area"]

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 26, 40
POINTS_MAX = 800
"""Maximum number of points of a line. Longer lines keep the minimum and maximum of each stretch, so that no peak is lost."""
DASHES = ("", "8 4", "8 3 2 3", "2 3", "5 3", "1 3", "12 2")
DOTS_MAX = 40
"""Longer lines have no dots."""
BAR_MAX = 48.0
ROUND = (1, 2, 2.5, 5, 10)
TINY = 1e-9
"""Values nearer to 0 are drawn as 0: axes cannot show them, and nothing is measured that finely."""


@dataclass(frozen=True)
class Series:
    """x: all numbers, or names (for bars and points). y: None where there is no value. low, high: intervals, as long as y or empty.
    reported: values that a paper reports, drawn hollow."""

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    mark: Mark = "line"
    at: int = 0
    reported: bool = False


@dataclass(frozen=True)
class Chart:
    """Areas are stacked in the given order. log, log_x: logarithmic axes. marks: vertical lines at x values, with names. format: number
    format of the y axis."""

    title: str
    series: Sequence[Series]
    x_title: str = ""
    y_title: str = ""
    log: bool = False
    log_x: bool = False
    marks: Sequence[tuple[float, str]] = ()
    format: Callable[[float], str] = field(default=lambda value: short(value))

    def svg(self) -> str:
        """Return the chart with a legend; empty if there is nothing to draw."""
        there = [settled(one) for one in self.series if any(value is not None for value in one.y)]
        series = [thinned(one) for one in stacked(there)]
        if not series:
            return ""
        across, ticks_x = self._across(series)
        up, ticks_y = self._up(series)
        parts = [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>' for y in (up(v) for v in ticks_y)]
        parts += [text(LEFT - 6, up(value) + 4, self.format(value), "end") for value in ticks_y]
        parts += [text(x, HEIGHT - BOTTOM + 16, label, "middle") for x, label in ticks_x]
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, self.x_title, "middle"))
        for at, name in self.marks:
            if LEFT <= (x := across(at)) <= WIDTH - RIGHT:
                parts.append(
                    f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>{text(x + 3, TOP - 4, name)}'
                )
        bars = [one for one in series if one.mark == "bars"]
        floor = up(min(ticks_y)) if self.log else up(0)
        for one in reversed(series) if series[0].mark == "area" else series:
            parts.append(self._drawn(one, across, up, floor, bars))
        label = escape(f"{self.title}: {', '.join(dict.fromkeys(one.name for one in series))}")
        body = "".join(parts)
        return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{body}</svg>{legend(series)}'

    def _across(self, series: Sequence[Series]) -> tuple[Callable[[float | str], float], list[tuple[float, str]]]:
        names = list(dict.fromkeys(x for one in series for x in one.x if isinstance(x, str)))
        if names:
            names = list(dict.fromkeys(str(x) for one in series for x in one.x))
            step = (WIDTH - LEFT - RIGHT) / len(names)
            place = {name: LEFT + (at + 0.5) * step for at, name in enumerate(names)}
            return (lambda x: place.get(str(x), math.inf)), [(place[name], name) for name in names]
        numbers = [float(x) for one in series for x in one.x]
        if self.log_x and any(x > 0 for x in numbers):
            ticks, share = in_decades(numbers)
            room = WIDTH - LEFT - RIGHT
            return (lambda x: LEFT + share(float(x)) * room), [(LEFT + share(tick) * room, short(tick)) for tick in ticks]
        low, high = min(numbers), max(numbers)
        pad = 0.03 * (high - low) if any(one.mark in ("points", "bars") for one in series) else 0.0
        alone = max(0.5, abs(low) * TINY)
        low, high = (low - pad, high + pad) if high > low else (low - alone, high + alone)
        scale = (WIDTH - LEFT - RIGHT) / (high - low)
        return (lambda x: LEFT + (float(x) - low) * scale), [(LEFT + (x - low) * scale, short(x)) for x in linear_ticks(low, high, 8)]

    def _up(self, series: Sequence[Series]) -> tuple[Callable[[float], float], list[float]]:
        known = [value for one in series for part in (one.y, one.low, one.high) for value in part if value is not None]
        room = HEIGHT - TOP - BOTTOM
        if self.log and any(value > 0 for value in known):
            ticks, share = in_decades(known)
            return (lambda y: HEIGHT - BOTTOM - share(y) * room), ticks
        low, high = min(0.0, *known), max(0.0, *known)
        ticks = linear_ticks(low, high if high > low else low + 1, 5)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        top = ticks[-1] if ticks[-1] >= high else ticks[-1] + step
        if top > ticks[-1]:
            ticks = [*ticks, top]
        bottom = ticks[0] if ticks[0] <= low else ticks[0] - step
        return (lambda y: HEIGHT - BOTTOM - (y - bottom) / (top - bottom) * room), ticks

    def _drawn(
        self, one: Series, across: Callable[[float | str], float], up: Callable[[float], float], floor: float, bars: Sequence[Series]
    ) -> str:
        colour = colour_of(one)
        spots = [
            Spot(across(x), up(y), f"{one.name}, {short_of(x)}: {short(y)}") for x, y in zip(one.x, one.y, strict=True) if y is not None
        ]
        whiskers = "".join(whisker(across(x), up(low), up(high), colour) for x, low, high in intervals(one))
        if one.mark == "bars":
            wide = min(BAR_MAX, 0.7 * (WIDTH - LEFT - RIGHT) / len({x for bar in bars for x in bar.x}) / len(bars))
            shift = (bars.index(one) - len(bars) / 2) * wide
            look = f'fill="none" stroke="{colour}" stroke-dasharray="3 2"' if one.reported else f'fill="{colour}"'
            return "".join(spot.bar(shift, wide, floor, look) for spot in spots) + whiskers
        if one.mark == "points" or len(spots) == 1:
            fill = "var(--surface)" if one.reported else colour
            return whiskers + "".join(spot.dot(4, f'fill="{fill}" stroke="{colour}" stroke-width="1.5"') for spot in spots)
        if one.mark == "area":
            corners = [(spot.x, spot.y) for spot in spots] + [(spots[-1].x, floor), (spots[0].x, floor)]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
            return f'<polygon points="{points}" fill="{colour}" stroke="var(--surface)" stroke-width="0.5"/>'
        line = f'<path d="{path_of(one, across, up)}" fill="none" stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dash_of(one)}"/>'
        dots = "".join(spot.dot(3, f'fill="{colour}"') for spot in spots) if len(spots) <= DOTS_MAX else ""
        return line + whiskers + dots


@dataclass(frozen=True)
class Spot:
    """A drawn value; said: its tooltip."""

    x: float
    y: float
    said: str

    def dot(self, radius: float, look: str) -> str:
        return f'<circle cx="{self.x:.1f}" cy="{self.y:.1f}" r="{radius}" {look}><title>{escape(self.said)}</title></circle>'

    def bar(self, shift: float, wide: float, floor: float, look: str) -> str:
        top, height = min(self.y, floor), abs(floor - self.y)
        place = f'x="{self.x + shift:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{height:.1f}"'
        return f"<rect {place} {look}><title>{escape(self.said)}</title></rect>"


def colour_of(one: Series) -> str:
    return f"var(--s{one.at % len(DASHES) + 1})"


def dash_of(one: Series) -> str:
    return "3 3" if one.reported else DASHES[one.at % len(DASHES)]


def path_of(one: Series, across: Callable[[float | str], float], up: Callable[[float], float]) -> str:
    """Return the SVG path of a line, interrupted where values are missing."""
    path, pen, before = [], "M", (0.0, 0.0)
    for x, y in zip(one.x, one.y, strict=True):
        if y is None:
            pen = "M"
            continue
        if one.mark == "steps" and pen == "L":
            path.append(f"L{across(x):.1f} {before[1]:.1f}")
        if one.mark == "steps_before" and pen == "L":
            path.append(f"L{before[0]:.1f} {up(y):.1f}")
        before = across(x), up(y)
        path.append(f"{pen}{before[0]:.1f} {before[1]:.1f}")
        pen = "L"
    return "".join(path)


def settled(one: Series) -> Series:
    """Replace numbers too small to draw with 0."""

    def of(value: Any) -> Any:
        return 0.0 if isinstance(value, float) and abs(value) < TINY else value

    return replace(one, **{part: [of(value) for value in getattr(one, part)] for part in ("x", "y", "low", "high")})


def stacked(series: Sequence[Series]) -> list[Series]:
    """Stack areas; leave other series as they are."""
    total: dict[float | str, float] = {}
    found = []
    for one in series:
        if one.mark == "area":
            for x, y in zip(one.x, one.y, strict=True):
                total[x] = total.get(x, 0.0) + (y or 0.0)
            one = Series(one.name, one.x, [total[x] for x in one.x], mark="area", at=one.at)
        found.append(one)
    return found


def thinned(one: Series) -> Series:
    """Thin a series to at most POINTS_MAX points."""
    count = len(one.x)
    if count <= POINTS_MAX or one.low:
        return one
    stretch = math.ceil(2 * count / POINTS_MAX)
    kept: list[int] = []
    for first in range(0, count, stretch):
        known = [at for at in range(first, min(first + stretch, count)) if one.y[at] is not None]
        ends = {min(known, key=lambda at: one.y[at] or 0.0), max(known, key=lambda at: one.y[at] or 0.0)} if known else {first}
        kept += sorted(ends)
    return Series(one.name, [one.x[at] for at in kept], [one.y[at] for at in kept], mark=one.mark, at=one.at, reported=one.reported)


def intervals(one: Series) -> list[tuple[float | str, float, float]]:
    return [
        (x, low, high)
        for x, low, high in zip(one.x, one.low, one.high, strict=False)
        if low is not None and high is not None and high > low
    ]


def whisker(x: float, low: float, high: float, colour: str) -> str:
    line = f"M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8M{x:.1f} {low:.1f}V{high:.1f}"
    return f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def legend(series: Sequence[Series]) -> str:
    if len(series) == 1 and not series[0].reported:
        return ""
    return f'<p class="legend">{"".join(map(key_of, series))}</p>'


def key_of(one: Series) -> str:
    colour = colour_of(one)
    fill = "none" if one.reported else colour
    sample = {
        "bars": f'<rect width="12" height="8" x="5" y="1" fill="{fill}" stroke="{colour}"/>',
        "area": f'<rect width="12" height="8" x="5" y="1" fill="{fill}"/>',
        "points": f'<circle cx="11" cy="5" r="3.5" fill="{fill}" stroke="{colour}"/>',
    }.get(one.mark, f'<path d="M0 5H22" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash_of(one)}"/>')
    name = escape(f"{one.name}, reported" if one.reported else one.name)
    return f'<span><svg width="22" height="10" aria-hidden="true">{sample}</svg>{name}</span>'


def text(x: float, y: float, said: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>' if said else ""


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about `count` round numbers within the bounds."""
    raw = (high - low) / count
    size = 10 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in ROUND if factor * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(at * step, 12) for at in range(first, math.floor(high / step + 1e-9) + 1)]


def in_decades(values: Sequence[float]) -> tuple[list[float], Callable[[float], float]]:
    """Return the ticks of a logarithmic axis for the positive ones of these values, and the share of the axis at which a value is."""
    positive = [value for value in values if value > 0]
    ticks = log_ticks(min(positive), max(positive))
    first, last = math.log10(min(ticks[0], *positive)), math.log10(max(ticks[-1], *positive))
    span = (last - first) or 1.0
    return ticks, lambda value: (math.log10(max(value, 10**first)) - first) / span


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten around the bounds; with multiples of 2 and 5 if there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [10.0**power for power in range(first, max(last, first + 1) + 1)]
    if len(decades) > 6:
        return decades[:: math.ceil(len(decades) / 6)]
    if len(decades) > 2:
        return decades
    return sorted({factor * decade for decade in decades for factor in (1, 2, 5) if factor * decade <= decades[-1]})


def short_of(x: float | str) -> str:
    return x if isinstance(x, str) else short(x)


def short(value: float) -> str:
    """Format a number with at most four digits: 4,425, 14.9k, 2.42, 0.071."""
    size = abs(value)
    for least, unit, name in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= least:
            return f"{value / unit:,.0f}{name}" if size >= 100 * unit else f"{value / unit:.3g}{name}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.3g}"
