"""Plotly figures. Plotly is needed only for plotting: pip install 'millrace[plots]'."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import pandas as pd

from .errors import LabError

if TYPE_CHECKING:
    import plotly.graph_objects as go

NOT_AXES = {"point", "share", "mean", "low", "high", "count"}
MODES = {"line": "lines+markers", "points": "markers", "steps": "lines"}
UNITS = {"_per_s": "1/s", "_ms": "ms", "_ns": "ns", "_s": "s", "_bytes": "bytes"}


def plotly() -> Any:
    try:
        import plotly.graph_objects
        import plotly.subplots
    except ImportError:
        raise LabError("Plotly is missing: pip install 'millrace[plots]'") from None
    return plotly


def over_time(frames: pd.DataFrame, columns: tuple[str, ...], title: str) -> go.Figure:
    """Plot columns of a run's frames. Raises LabError for unknown columns."""
    graphs = plotly().graph_objects
    for column in columns:
        if column not in frames:
            near = get_close_matches(column, frames.columns, n=5) or list(frames.columns[:8])
            raise LabError(f"the frames have no column '{column}'; choose from {', '.join(near)}")
    figure = graphs.Figure([graphs.Scatter(x=frames.index, y=frames[column], name=column, mode="lines") for column in columns])
    return figure.update_layout(title=title, xaxis_title="Virtual time, s", yaxis_title=unit_of(columns), showlegend=True)


def unit_of(columns: tuple[str, ...]) -> str:
    """Return the unit that all names share; empty if they differ or have none."""
    units = {next((unit for end, unit in UNITS.items() if column.split(".")[0].endswith(end)), "") for column in columns}
    return units.pop() if len(units) == 1 else ""


def over_axis(points: pd.DataFrame, metric: str, over: str | None, title: str) -> go.Figure:
    """Plot a study's metric with its intervals. Raises LabError if there is nothing to draw."""
    graphs = plotly().graph_objects
    axes = [name for name in points.columns if name not in NOT_AXES]
    x = over or (axes[0] if axes else "point")
    if x not in points or "mean" not in points:
        known = ", ".join(axes) or "none"
        raise LabError(f"no values of '{metric}' over '{x}' yet; axes of the study: {known}; measured metrics: see .metrics")
    lines = [name for name in [*axes, "share"] if name != x and points[name].map(str).nunique() > 1]
    figure = graphs.Figure()
    groups = points.groupby([points[name].map(str) for name in lines], sort=False) if lines else [((), points)]
    for choice, rows in groups:
        name = ", ".join(f"{line} {value}" for line, value in zip(lines, choice, strict=True))
        bars = None
        if {"low", "high"} <= set(rows.columns):
            bars = {"array": rows["high"] - rows["mean"], "arrayminus": rows["mean"] - rows["low"], "symmetric": False}
        values = rows[x] if pd.api.types.is_numeric_dtype(rows[x]) else rows[x].map(str)
        figure.add_trace(graphs.Scatter(x=values, y=rows["mean"], error_y=bars, name=name, mode="lines+markers"))
    return figure.update_layout(title=title, xaxis_title=x, yaxis_title=metric, showlegend=bool(lines))


def panels(document: dict[str, Any], values: dict[str, Any]) -> go.Figure:
    """Plot a figure: measured lines solid, the paper's dashed. Values without measurements are left out."""
    drawn = document["drawing"]["panels"]
    figure = plotly().subplots.make_subplots(rows=len(drawn), cols=1, subplot_titles=[panel.get("title", "") for panel in drawn])
    for row, panel in enumerate(drawn, start=1):
        for series in panel["series"]:
            given = document.get("reported", {}) if series.get("reported") else values
            if trace := trace_of(series, given.get(series["value"])):
                figure.add_trace(trace, row=row, col=1)
        for mark in panel.get("marks", []):
            at = values.get(mark["at"], {})
            if "value" in at:
                figure.add_vline(x=at["value"], line_dash="dot", annotation_text=mark.get("name", ""), row=row, col=1)
        for update, axis in ((figure.update_xaxes, panel.get("x", {})), (figure.update_yaxes, panel.get("y", {}))):
            text = ", ".join(part for part in (axis.get("title"), axis.get("unit")) if part)
            update(title_text=text, type="log" if axis.get("log") else None, row=row, col=1)
    return figure.update_layout(title=document["title"], height=360 * len(drawn), barmode="group")


def trace_of(series: dict[str, Any], given: Any) -> Any:
    """Return the Plotly trace of a series, or None without values."""
    graphs = plotly().graph_objects
    name, mark = series.get("name") or series["value"], series.get("mark", "line")
    if isinstance(given, int | float):
        given = {"value": given}
    if not given or "reason" in given:
        return None
    single = "value" in given
    x, y = ([name], [given["value"]]) if single else (given["x"], given["y"])
    low, high = ([given.get(end)] if single else given.get(end) for end in ("low", "high"))
    bars = None
    if low and high and None not in (*low, *high):
        above, below = [end - value for end, value in zip(high, y, strict=True)], [value - end for end, value in zip(low, y, strict=True)]
        bars = {"array": above, "arrayminus": below, "symmetric": False}
    reported = bool(series.get("reported"))
    label = f"{name}, reported" if reported else name
    if mark == "bars":
        return graphs.Bar(x=x, y=y, name=label, error_y=bars, opacity=0.5 if reported else 1.0)
    line = {"dash": "dash" if reported else "solid", "shape": "hv" if mark == "steps" else "linear"}
    return graphs.Scatter(x=x, y=y, name=label, error_y=bars, mode="markers" if single else MODES[mark], line=line)
