"""Reports: a run, a study or a figure as one self-contained HTML file, without scripts or requests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from django.template.loader import render_to_string

from engine.spec.experiment.faults import FAULTS
from engine.spec.figure.figure import Figure, Panel, PanelAxis
from engine.studies import Interval
from engine.studies import interval as seed_interval
from webapp.lab import figures, studies
from webapp.lab.documents import check
from webapp.lab.models import FigureResult, Run, Study
from webapp.lab.verdicts import verdicts_of
from webapp.lib.version import VERSION
from webapp.messaging import frame_history as history

from .citation import figure_bibtex, run_bibtex, study_bibtex
from .drawing import Chart, Series, short
from .topology import Topology

ROWS_MAX = 500
DECADE = 10.0


@dataclass(frozen=True)
class Table:
    """words: cells contain text, aligned left."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    words: bool = False


@dataclass(frozen=True)
class Part:
    """text: preformatted. folded: the text is shown on request, so that a long document does not fill the report."""

    title: str
    words: str = ""
    charts: Sequence[Chart | Topology] = ()
    tables: Sequence[Table] = ()
    text: str = ""
    folded: bool = False


def rendered(kind: str, title: str, about: str, parts: Iterable[Part]) -> bytes:
    there = [part for part in parts if part.words or part.text or part.charts or any(table.rows for table in part.tables)]
    return render_to_string("report.html", {"kind": kind, "title": title, "about": about, "parts": there, "version": VERSION}).encode()


# --- a run --------------------------------------------------------------------------------------------------------------------------------

PERCENTILES = ("p50", "p95", "p99")
NUMBERS = {
    "Records in": "records_in", "Throughput in, records/s": "throughput_in_per_s", "Records out": "records_out",
    "Throughput out, records/s": "throughput_out_per_s", "Late records": "late", "Backlog at the end": "backlog",
    "Dropped by logs": "dropped", "Lost with hosts": "lost", "Shed at ingress": "shed", "Record hops": "hops",
}  # fmt: skip
PARTS = {
    "driver queue": ("driver_queue_ns", 5), "channel wait": ("channel_wait_ns", 0), "alignment": ("alignment_ns", 1),
    "service": ("service_ns", 2), "stolen": ("stolen_ns", 3), "blocked": ("blocked_ns", 6), "network": ("network_ns", 4),
}  # fmt: skip
"""Parts of the latency: attribution fields and colour numbers. Service time includes stolen time."""
PER_SENT = ("blocked", "network")
TOPOLOGY = "The query above its hosts. Each host has the number of instances that were placed on it at the start; point at a box for more."


def of_run(run: Run) -> bytes:
    frames = history.all_frames(run.pk, run.directory)
    summary = run.summary or {}
    about = str(run.document.get("description") or "")
    return rendered(
        f"Run {run.number}, seed {run.seed}: {run.state}{f' ({run.error})' if run.error else ''}",
        run.name,
        about,
        [
            Part("Notes", words=run.notes),
            Part(
                "Summary",
                words="After warm-up.",
                tables=[table(summary) for table in (latencies, numbers, queries, operators)] if summary else (),
            ),
            Part("Assertions", tables=[verdicts(run)]),
            Part("Topology", words=TOPOLOGY, charts=[Topology(run.document, check(run.document, run.lab).placement, frames, summary)]),
            Part("Over virtual time", words=removed(run), charts=run_charts(frames, moments(run))),
            Part("Latency breakdown", words="Mean per record at each operator, in ms.", tables=[times(summary)] if summary else ()),
            Part("Document", words="With its seed, it reproduces the run.", text=as_yaml(run.document), folded=True),
            Part("Identity", tables=[identity_of_run(run)], text=run_bibtex(run)),
        ],
    )


def removed(run: Run) -> str:
    if run.frames_removed_at is None:
        return ""
    return f"The frames were removed on {run.frames_removed_at:%Y-%m-%d}. Running the document again gives the same frames."


def run_charts(frames: Sequence[Mapping[str, Any]], marks: Sequence[tuple[float, str]]) -> list[Chart]:
    t_s = [frame["t_s"] for frame in frames]

    def series(name: str, at: int, read: Callable[[Mapping[str, Any]], float | None], mark: Any = "line") -> Series:
        return Series(name, t_s, [read(frame) for frame in frames], mark=mark, at=at)

    latency = [series(name, at, lambda frame, name=name: frame["latency_ms"].get(name)) for at, name in enumerate(PERCENTILES)]
    known = [value for one in latency for value in one.y if value]
    common: dict[str, Any] = {"x_title": "virtual time, s", "marks": marks}
    vertices = list(next((frame["scaling"]["parallelism"] for frame in frames if frame.get("scaling")), {}))
    instances = [series(name, at, lambda frame, name=name: scaled(frame, name), "steps") for at, name in enumerate(vertices)]
    return [
        Chart("Latency", latency, log=bool(known) and max(known) > DECADE * min(known), format=milliseconds, **common),
        Chart(
            "Throughput",
            [
                series("offered", 5, lambda frame: frame["offered_per_s"]),
                series("in, at sources", 0, lambda frame: frame["in_per_s"]),
                series("out, at sinks", 2, lambda frame: frame["out_per_s"]),
            ],
            y_title="records per virtual second",
            **common,
        ),
        Chart(
            "Waiting records",
            [
                series("backlog", 0, lambda frame: frame["backlog"]),
                series("in queues", 1, lambda frame: sum(one["queue"] or 0 for one in frame["operators"].values())),
            ],
            y_title="records in logs and queues",
            **common,
        ),
        Chart(
            "Attribution",
            [series(name, at, lambda frame, name=name: shares(frame).get(name), "area") for name, (_, at) in PARTS.items()],
            y_title="share of total record time, %",
            **common,
        ),
        Chart("Autoscaling", instances, y_title="instances by vertex", **common),
    ]


def scaled(frame: Mapping[str, Any], vertex: str) -> float | None:
    """Return the parallelism of a vertex; None in a frame without scaling."""
    found = (frame.get("scaling") or {}).get("parallelism", {}).get(vertex)
    return None if found is None else float(found)


def shares(frame: Mapping[str, Any]) -> dict[str, float]:
    sums = dict.fromkeys(PARTS, 0.0)
    for operator in frame["operators"].values():
        for name, value in split(operator.get("attribution") or {}).items():
            sums[name] += value
    total = sum(sums.values())
    return {name: 100 * value / total for name, value in sums.items()} if total else {}


def split(attribution: Mapping[str, Any]) -> dict[str, float]:
    """Return its parts in ns without overlap: stolen time is separate from service time."""
    parts = {name: float(attribution.get(field) or 0) for name, (field, _) in PARTS.items()}
    parts["stolen"] = min(parts["service"], parts["stolen"])
    parts["service"] -= parts["stolen"]
    return parts


def moments(run: Run) -> list[tuple[float, str]]:
    """Return the planned events with known times."""
    workload = run.document.get("workload") or {}
    found = [(float(workload["warmup_s"]), "warm-up ends")] if workload.get("warmup_s") else []
    if run.fork_at_ns is not None:
        found.append((run.fork_at_ns / 1e9, "fork"))
    faults = [(FAULTS.begins_ns(fault), fault) for fault in run.document.get("faults") or ()]
    found += [
        (begins_ns / 1e9, f"{fault.get('kind')} {fault.get('host', '')}".strip().replace("_", " "))
        for begins_ns, fault in faults
        if begins_ns is not None
    ]
    scaling = (run.document.get("policies") or {}).get("scaling") or {}
    found += [(float(order["at_s"]), "rescale") for order in scaling.get("orders") or ()]
    return found + [(float(move["at_s"]), "move") for move in scaling.get("moves") or ()]


def latencies(summary: Mapping[str, Any]) -> Table:
    names = ("mean", *PERCENTILES, "max")
    all = {"Latency": summary.get("latency_ms") or {}, **(summary.get("latencies_ms") or {})}
    return Table(["", *names], [[name, *(milliseconds(one.get(each)) for each in names)] for name, one in all.items()])


def numbers(summary: Mapping[str, Any]) -> Table:
    return Table([], [[label, number(summary[name])] for label, name in NUMBERS.items() if isinstance(summary.get(name), int | float)])


def queries(summary: Mapping[str, Any]) -> Table:
    """Return no rows where the document names no queries."""
    rows = [
        [
            name,
            *(milliseconds(one["latency_ms"].get(each)) for each in ("mean", "p99")),
            *(milliseconds(one.get(each)) for each in ("fastest_copy_ms", "slowest_copy_ms")),
            *(number(one.get(each)) for each in ("throughput_in_per_s", "throughput_out_per_s", "late")),
        ]
        for name, one in (summary.get("queries") or {}).items()
    ]
    return Table(["Query", "Mean", "p99", "Fastest copy", "Slowest copy", "In /s", "Out /s", "Late"], rows)


def operators(summary: Mapping[str, Any]) -> Table:
    rows = [
        [id, number(one.get("in")), number(one.get("out")), *(number(one.get(name), 100) for name in ("busy", "blocked"))]
        for id, one in (summary.get("operators") or {}).items()
    ]
    return Table(["Operator", "In", "Out", "Busy, %", "Blocked, %"], rows)


def times(summary: Mapping[str, Any]) -> Table:
    rows = []
    for id, one in (summary.get("operators") or {}).items():
        attribution = one.get("attribution") or {}
        counts = {name: attribution.get("sent" if name in PER_SENT else "records") or 0 for name in PARTS}
        means = {name: value / counts[name] / 1e6 if counts[name] else 0.0 for name, value in split(attribution).items()}
        rows.append([id, number(attribution.get("records")), *(number(means[name]) for name in PARTS), number(sum(means.values()))])
    return Table(["Operator", "Records", *PARTS, "total"], rows)


def verdicts(run: Run) -> Table:
    rows = []
    for one in verdicts_of(run):
        sides = "; ".join(f"{side['text']} = {range_of(side['least'], side['most'])} {side['unit']}".rstrip() for side in one["measured"])
        rows.append([one["name"], one["state"], one["check"], "; ".join(part for part in (sides, one["reason"], one["note"]) if part)])
    return Table(["Assertion", "Verdict", "Checked as", "Measured"], rows, words=True)


def identity_of_run(run: Run) -> Table:
    facts = {
        "Document": run.hash, "Seed": run.seed, "Engine version": run.engine_version or "none yet", "Result": run.digest or "none",
        "Made": f"{run.created_at:%Y-%m-%d %H:%M} UTC", "Tags": ", ".join(sorted(tag.name for tag in run.tags.all())),
    }  # fmt: skip
    return Table([], [[name, str(value)] for name, value in facts.items() if value != ""], words=True)


# --- a study ------------------------------------------------------------------------------------------------------------------------------

SHOWN = ("latency_ms.p99", "latency_ms.p50", "throughput_out_per_s")


def of_study(study: Study) -> bytes:
    document = studies.document_of(study.pk)
    known = studies.metric_names(study)
    metrics = [name for name in SHOWN if name in known] or known[:3]
    found = studies.results(study, metrics, 0, ROWS_MAX)
    axes = list(dict.fromkeys(name for point in found.points for name in point.values))
    more = document.point_count - ROWS_MAX
    return rendered(
        f"Study: {study.state}, {study.trials_done} runs",
        study.name,
        study.error,
        [
            Part(
                "Results",
                words=f"Means over {len(document.seeds)} seeds with 95 % intervals." if len(document.seeds) > 1 else "",
                charts=[study_chart(found.points, axes, metric) for metric in metrics] if axes else (),
                tables=[points_table(found.points, axes, metrics), searches_table(found.found)],
            ),
            Part("Not shown", words=f"{more:,} more points; see the page or its CSV." if more > 0 else ""),
            Part("Document", words="It reproduces the study.", text=as_yaml(study.document), folded=True),
            Part("Identity", text=study_bibtex(study)),
        ],
    )


def over_seeds(point: studies.PointResult, metric: str) -> Interval | None:
    values = point.over_seeds(metric)
    return seed_interval(values) if values else None


def study_chart(points: Sequence[studies.PointResult], axes: Sequence[str], metric: str) -> Chart:
    """Chart a metric over the axis with the most values, with one line per combination of the others."""
    across = max(axes, key=lambda axis: len({str(point.values.get(axis)) for point in points}))
    lines: dict[str, list[tuple[float | str, Any]]] = {}
    for point in points:
        if (mean := over_seeds(point, metric)) is not None:
            others = [f"{axis} {value(point.values[axis])}" for axis in axes if axis != across and axis in point.values]
            others += [f"at {100 * point.share:.0f} % of the load found"] if point.share is not None else []
            x = point.values.get(across)
            lines.setdefault(", ".join(others), []).append((float(x) if is_number(x) else value(x), mean))
    numeric = all(not isinstance(x, str) for line in lines.values() for x, _ in line)
    series = [
        Series(
            name or metric,
            [x if numeric else str(x) for x, _ in ordered],
            [mean.mean for _, mean in ordered],
            [mean.low for _, mean in ordered],
            [mean.high for _, mean in ordered],
            mark="line" if numeric else "points",
            at=at,
        )
        for at, (name, line) in enumerate(itertools.islice(lines.items(), 12))
        for ordered in [sorted(line, key=lambda spot: spot[0]) if numeric else line]
    ]
    return Chart(metric, series, x_title=across)


def points_table(points: Sequence[studies.PointResult], axes: Sequence[str], metrics: Sequence[str]) -> Table:
    shared = any(point.share is not None for point in points)
    rows = []
    for point in points:
        means = [over_seeds(point, metric) for metric in metrics]
        told = ["–" if mean is None else interval(mean.mean, mean.low, mean.high) for mean in means]
        share = [number(point.share)] if shared else []
        rows.append([str(point.point + 1), *(value(point.values.get(axis)) for axis in axes), *share, str(len(point.rows)), *told])
    return Table(["Point", *axes, *(["Share of load"] if shared else []), "Runs", *metrics], rows)


def searches_table(found: Sequence[Any]) -> Table:
    rows = [
        [
            ", ".join(f"{axis} {value(one)}" for axis, one in search.values.items()) or str(search.point + 1),
            str(search.seed),
            number(search.bracket.sustained),
            number(search.bracket.failed),
            str(len(search.tried)),
            search.failure,
        ]
        for search in found
    ]
    return Table(["Point", "Seed", "Sustained", "Not sustained", "Tried", "Failure"], rows, title="Largest sustained load")


# --- a figure -----------------------------------------------------------------------------------------------------------------------------


def of_figure(known: figures.Known) -> bytes:
    """Report of a figure and its result."""
    figure, result = known.figure, known.result
    values = result.values if result else {}
    source = [f"{kind} {where}" for kind in ("figure", "section", "page") if (where := getattr(figure.source, kind))]
    return rendered(
        f"Figure {figure.id}: {known.status}{f', {result.scale} scale' if result else ''}",
        figure.title,
        ", ".join([figure.source.paper, *source]),
        [
            Part("The paper's claim", words=figure.claim),
            Part("Differences from the paper", words=figure.differs),
            drawing(figure, values),
            Part("Assertions", tables=[assertions_table(known)]),
            Part("Numbers", tables=[numbers_table(values)]),
            Part("Document", text=as_yaml(figures.FILES.document(figure.id)), folded=True),
            Part("Identity", tables=[identity_of_result(result)] if result else (), text=figure_bibtex(known)),
        ],
    )


def drawing(figure: Figure, values: Mapping[str, Any]) -> Part:
    panels = figure.drawing.panels
    if figure.drawing.kind == "table":
        return Part("Reported and measured", tables=[panel_table(figure, panel, values) for panel in panels])
    return Part("Reported and measured", charts=[panel_chart(figure, panel, values) for panel in panels])


def panel_table(figure: Figure, panel: Panel, values: Mapping[str, Any]) -> Table:
    """Return a table with one row per x, in order of first occurrence."""
    head, columns = [axis_text(panel.x) or "Point"], []
    for one in panel.series:
        name = f"{one.name or one.value}{', reported' if one.reported else ''}"
        unit = one.unit or panel.y.unit
        head.append(f"{name}, {unit}" if unit else name)
        given = plain(figure.reported.get(one.value)) if one.reported else values.get(one.value, {})
        columns.append(dict(zip(given.get("x", ()), given.get("y", ()), strict=True)))
    rows = list(dict.fromkeys(x for column in columns for x in column))
    return Table(head, [[value(x), *(value(column.get(x)) for column in columns)] for x in rows], title=panel.title)


def panel_chart(figure: Figure, panel: Panel, values: Mapping[str, Any]) -> Chart:
    names = list(dict.fromkeys(one.name or one.value for one in panel.series))
    series = []
    for one in panel.series:
        name = one.name or one.value
        given = plain(figure.reported.get(one.value)) if one.reported else values.get(one.value, {})
        common: dict[str, Any] = {"at": names.index(name), "reported": one.reported}
        if "value" in given:
            mark = "points" if one.mark == "line" else one.mark
            series.append(Series(name, [name], [given["value"]], [given.get("low")], [given.get("high")], mark=mark, **common))
        elif "x" in given:
            series.append(Series(name, given["x"], given["y"], given.get("low") or (), given.get("high") or (), mark=one.mark, **common))
    marks = [(values[mark.at]["value"], mark.name) for mark in panel.marks if "value" in values.get(mark.at, {})]
    x, y = panel.x, panel.y
    return Chart(panel.title or names[0], series, x_title=axis_text(x), y_title=axis_text(y), log=y.log, log_x=x.log, marks=marks)


def axis_text(axis: PanelAxis) -> str:
    return ", ".join(part for part in (axis.title, axis.unit) if part)


def plain(reported: Any) -> dict[str, Any]:
    if reported is None:
        return {}
    return {"value": float(reported)} if isinstance(reported, int | float) else dict(reported)


def assertions_table(known: figures.Known) -> Table:
    rows = []
    for one in known.assertions:
        sides = "; ".join(f"{side['text']} = {range_of(side['least'], side['most'])}" for side in one["sides"])
        why = one["unmet"]["why"] if one["unmet"] else ""
        kind = " (a consistency check, not counted)" if one["consistency"] else ""
        rows.append(
            [one["id"], one["state"], one["text"] + kind, one["check"], "; ".join(part for part in (sides, one["reason"], why) if part)]
        )
    return Table(["Id", "State", "What must hold", "Checked as", "Measured"], rows, words=True)


def numbers_table(values: Mapping[str, Any]) -> Table:
    rows = []
    for name, given in values.items():
        if "value" in given:
            more = " or more" if given.get("at_least") else ""
            rows.append([name, interval(given["value"], given.get("low"), given.get("high")) + more])
        else:
            rows.append([name, given.get("reason") or f"a series of {len(given.get('x', ()))} values"])
    return Table(["Value", "Measured"], rows, words=True)


def identity_of_result(result: FigureResult) -> Table:
    day = f"{result.created_at:%Y-%m-%d}"
    made = f"{day} {result.created_at:%H:%M} UTC" if result.pk else f"{day}; comes with Millrace"
    facts = {
        "Scale": result.scale, "Engine version": result.engine_version, "Seeds": ", ".join(map(str, result.seeds)), "Runs": result.runs,
        "Studies, values and assertions": result.hash, "Made": made,
    }  # fmt: skip
    return Table([], [[name, str(one)] for name, one in facts.items()], words=True)


# --- words --------------------------------------------------------------------------------------------------------------------------------


def is_number(one: Any) -> bool:
    return isinstance(one, int | float) and not isinstance(one, bool)


def number(one: Any, factor: float = 1) -> str:
    return short(factor * one) if is_number(one) else "–"


def milliseconds(one: float | None) -> str:
    if one is None:
        return "–"
    return f"{short(one / 1000)} s" if one >= 1000 else f"{short(one)} ms" if one >= 0.1 or one == 0 else f"{short(one * 1000)} µs"


def range_of(least: float, most: float | None) -> str:
    """most: None if the value was still growing."""
    if most is None:
        return f"{short(least)} or more"
    return short(least) if least == most else f"{short(least)} to {short(most)}"


def interval(mean: float, low: float | None, high: float | None) -> str:
    return short(mean) + (f" ({short(low)} to {short(high)})" if low is not None and high is not None and high > low else "")


def value(one: Any) -> str:
    return "–" if one is None else short(one) if is_number(one) else str(one)


def as_yaml(document: Any) -> str:
    written: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return written
