"""Picture of a run's query and hosts for its report: how busy each operator and each host was, on average and at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

HOT_FROM, BLOCKED_FROM = 0.8, 0.5
"""As the page of a run marks them."""
WIDTH, MARGIN = 720, 8
BOX_HEIGHT, ROW, BOX_LEAST, BOX_MOST, GAP = 46, 62, 112, 150, 22
HOST_HEIGHT, HOST_WIDTH, HOST_GAP = 46, 132, 8
HOSTS_MAX = 40
"""More hosts are told as one box."""
LOOP = 16
"""Room above the query for its feedback edges."""
CHARACTER = 5.9
"""Width of a character, at the size of the texts."""

NODE_WIDTH, NODE_HEIGHT, PITCH_X, PITCH_Y = 132, 75, 192, 128
"""Of the canvas, on which documents place operators."""


@dataclass(frozen=True)
class Use:
    """Shares of time. mean, blocked: means; None if unknown. most: the highest of any frame, and of any instance; None without frames."""

    mean: float | None
    most: float | None
    blocked: float = 0.0

    @property
    def said(self) -> str:
        parts = [f"{name} {100 * value:.0f} %" for name, value in (("mean", self.mean), ("max", self.most)) if value is not None]
        return ", ".join(parts) or "not measured"


@dataclass(frozen=True)
class Box:
    """An operator or a host in the picture. more: its tooltip beside the numbers. Lengths are units of the picture."""

    x: float
    y: float
    width: float
    height: float
    name: str
    mark: str
    more: str
    use: Use

    def svg(self) -> str:
        tone = tone_of(self.use)
        title = ": ".join(part for part in (self.name, f"{self.use.said} busy", self.more) if part)
        room = self.width - 14 - (CHARACTER * len(self.mark) + 6 if self.mark else 0)
        line = self.y + self.height - 8
        return (
            f'<g class="box {tone}"><title>{escape(title)}</title>'
            f'<rect x="{self.x:.1f}" y="{self.y:.1f}" width="{self.width:.1f}" height="{self.height}" rx="4"/>'
            f'<text class="name" x="{self.x + 7:.1f}" y="{self.y + 15:.1f}">{escape(fitted(self.name, room))}</text>'
            f'<text x="{self.x + self.width - 7:.1f}" y="{self.y + 15:.1f}" text-anchor="end">{escape(self.mark)}</text>'
            f'<text x="{self.x + 7:.1f}" y="{self.y + 30:.1f}">{escape(fitted(self.use.said, self.width - 14))}</text>'
            f"{bar(self.x + 7, line, self.width - 14, self.use)}</g>"
        )


@dataclass(frozen=True)
class Topology:
    """document: of the run. placement: host names of each operator's instances at the start. frames: of the run, may be empty."""

    document: Mapping[str, Any]
    placement: Mapping[str, Sequence[str]]
    frames: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]
    title: str = "Query and hosts"
    y_title: str = "share of time busy after warm-up: bar mean, line the highest of any frame and instance; grey is blocked"
    log: bool = False

    def svg(self) -> str:
        """Return the picture; empty for a document without operators."""
        boxes = self._operators()
        if not boxes:
            return ""
        width = max(WIDTH, *(box.x + box.width + MARGIN for box in boxes.values()))
        below = max(box.y + box.height for box in boxes.values()) + 20
        hosts = self._hosts(width, below)
        height = max((box.y + box.height for box in hosts), default=below - 20) + MARGIN
        edges = "".join(
            path(boxes[edge["source"]], boxes[edge["target"]], bool(edge.get("feedback")))
            for edge in self.document["query"].get("edges") or ()
            if edge.get("source") in boxes and edge.get("target") in boxes
        )
        drawn = edges + "".join(box.svg() for box in (*boxes.values(), *hosts))
        label = escape(f"{self.title}: {', '.join(f'{name} {box.use.said}' for name, box in boxes.items())}")
        return f'<svg class="topology" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}">{drawn}</svg>'

    def _operators(self) -> dict[str, Box]:
        query = self.document.get("query") or {}
        operators = {one["id"]: one for one in query.get("operators") or ()}
        grid = grid_of(self.document)
        columns = 1 + max((column for column, _ in grid.values()), default=0)
        box = max(BOX_LEAST, min(BOX_MOST, (WIDTH - 2 * MARGIN - (columns - 1) * GAP) / columns))
        top = MARGIN + (LOOP if any(edge.get("feedback") for edge in query.get("edges") or ()) else 0)
        found = {}
        for id, (column, row) in grid.items():
            count = len(self.placement.get(id, ())) or operators[id].get("parallelism") or 1
            found[id] = Box(
                MARGIN + column * (box + GAP), top + row * ROW, box, BOX_HEIGHT, id, f"×{count}", str(operators[id].get("kind") or ""),
                self._use("operators", id),
            )  # fmt: skip
        return found

    def _hosts(self, width: float, top: float) -> list[Box]:
        held: dict[str, Counter[str]] = {name: Counter() for frame in self.frames[:1] for name in frame.get("hosts") or ()}
        for operator, names in self.placement.items():
            for name in names:
                held.setdefault(name, Counter())[operator] += 1
        each = int((width - 2 * MARGIN + HOST_GAP) // (HOST_WIDTH + HOST_GAP))
        shown = list(held)[: HOSTS_MAX if len(held) <= HOSTS_MAX else HOSTS_MAX - 1]
        uses = {name: self._use("hosts", name) for name in held}
        said = [(name, plural(sum(held[name].values())), placed(held[name]), uses[name]) for name in shown]
        if rest := list(held)[len(shown) :]:
            means = [mean for name in rest if (mean := uses[name].mean) is not None]
            most = max((most for name in rest if (most := uses[name].most) is not None), default=None)
            said.append((f"{len(rest)} more hosts", "", "", Use(sum(means) / len(means) if means else None, most)))
        return [
            Box(
                MARGIN + (at % each) * (HOST_WIDTH + HOST_GAP), top + (at // each) * (HOST_HEIGHT + HOST_GAP), HOST_WIDTH, HOST_HEIGHT,
                name, count, more, use,
            )
            for at, (name, count, more, use) in enumerate(said)
        ]  # fmt: skip

    def _use(self, kind: str, name: str) -> Use:
        """Return how busy an operator or a host was after warm-up."""
        warmup_s = float((self.document.get("workload") or {}).get("warmup_s") or 0.0)
        after = [frame for frame in self.frames if frame["t_s"] > warmup_s] or self.frames
        samples = [frame[kind][name] for frame in after if name in (frame.get(kind) or {})]
        busy = [float(sample["busy"] or 0.0) for sample in samples]
        most = [max(mean, float((sample.get("most") or {}).get("busy") or 0.0)) for mean, sample in zip(busy, samples, strict=True)]
        blocked = [float(sample.get("blocked") or 0.0) for sample in samples]
        known = (self.summary.get(kind) or {}).get(name) or {}
        if not samples:
            return Use(known.get("busy"), None, known.get("blocked") or 0.0)
        return Use(known.get("busy", sum(busy) / len(busy)), max(most), known.get("blocked", sum(blocked) / len(blocked)))


def tone_of(use: Use) -> str:
    if use.blocked >= BLOCKED_FROM:
        return "blocked"
    return "hot" if max(use.mean or 0.0, use.most or 0.0) >= HOT_FROM else ""


def plural(instances: int) -> str:
    return f"{instances} instance{'' if instances == 1 else 's'}"


def placed(held: Counter[str]) -> str:
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in held.items())


def fitted(said: str, room: float) -> str:
    """Shorten a text to the room for it."""
    count = max(2, int(room / CHARACTER))
    return said if len(said) <= count else f"{said[: count - 1]}…"


def bar(x: float, y: float, width: float, use: Use) -> str:
    busy = min(1.0, use.mean or 0.0)
    blocked = min(1.0 - busy, use.blocked)
    parts = [f'<rect class="room" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="4"/>']
    for name, at, share in (("busy", 0.0, busy), ("held", busy, blocked)):
        if share > 0:
            parts.append(f'<rect class="{name}" x="{x + at * width:.1f}" y="{y:.1f}" width="{share * width:.1f}" height="4"/>')
    if use.most is not None:
        at = x + min(1.0, use.most) * width
        parts.append(f'<line class="most" x1="{at:.1f}" x2="{at:.1f}" y1="{y - 2:.1f}" y2="{y + 6:.1f}"/>')
    return "".join(parts)


def path(source: Box, target: Box, feedback: bool) -> str:
    """Draw an edge from the right of its source to the left of its target. Feedback edges pass above the query."""
    x1, y1 = source.x + source.width, source.y + source.height / 2
    x2, y2 = target.x, target.y + target.height / 2
    reach = max(GAP / 2, abs(x2 - x1) / 2)
    if feedback or x2 <= x1:
        reach = GAP
        over = MARGIN / 2 if feedback else (y1 + y2) / 2
        curve = (
            f"M{x1:.1f} {y1:.1f}C{x1 + reach:.1f} {y1:.1f} {x1 + reach:.1f} {over:.1f} {x1:.1f} {over:.1f}"
            f"H{x2:.1f}C{x2 - reach:.1f} {over:.1f} {x2 - reach:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        )
    else:
        curve = f"M{x1:.1f} {y1:.1f}C{x1 + reach:.1f} {y1:.1f} {x2 - reach:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return f'<path class="edge{" feedback" if feedback else ""}" d="{curve}"/>'


# --- where operators stand, as on the page ------------------------------------------------------------------------------------------------


def grid_of(document: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the column and the row of each operator: the document's positions drawn closer together, with half rows kept."""
    places = positions_of(document)
    columns = steps([x for x, _ in places.values()], NODE_WIDTH, None)
    rows = steps([y for _, y in places.values()], NODE_HEIGHT, PITCH_Y / 2)
    return {id: (columns[x], rows[y]) for id, (x, y) in places.items()}


def positions_of(document: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the document's positions. Operators without one stand in columns by their distance from a source."""
    query = document.get("query") or {}
    ids = [one["id"] for one in query.get("operators") or ()]
    edges = [
        (edge["source"], edge["target"])
        for edge in query.get("edges") or ()
        if not edge.get("feedback") and edge.get("source") in ids and edge.get("target") in ids
    ]
    given = (document.get("ui") or {}).get("positions") or {}
    layers = depths(ids, edges)
    bottom: dict[int, float] = {}
    found: dict[str, tuple[float, float]] = {}
    for id in sorted(ids, key=lambda id: layers[id]):
        at, layer = given.get(id), layers[id]
        feeding = [found[source][1] for source, target in edges if target == id and source in found]
        middle = round(sum(feeding) / len(feeding) / 8) * 8 if feeding else 0
        if isinstance(at, Mapping) and all(isinstance(at.get(axis), int | float) for axis in "xy"):
            found[id] = (float(at["x"]), float(at["y"]))
        else:
            found[id] = (float(layer * PITCH_X), float(max(middle, bottom.get(layer, 0))))
        bottom[layer] = max(bottom.get(layer, 0), found[id][1] + PITCH_Y)
    return {id: found[id] for id in ids}


def depths(ids: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the longest path from a source to each operator, in edges."""
    depth = dict.fromkeys(ids, 0)
    for _ in ids:
        moved = False
        for source, target in edges:
            if depth[target] < depth[source] + 1:
                depth[target], moved = depth[source] + 1, True
        if not moved:
            break
    return depth


def steps(values: Iterable[float], size: float, half: float | None) -> dict[float, float]:
    """Return for each value how many lie before it, one behind the other at a distance of `size`; a half step for two that are `half`
    apart."""
    found: dict[float, float] = {}
    ordered = sorted(set(values))
    for at, value in enumerate(ordered):
        before = [other for other in ordered[:at] if other <= value - size]
        whole = found[before[-1]] + 1 if before else 0.0
        partly = 0.0
        if at:
            last = ordered[at - 1]
            partly = found[last] + (min(0.5 * ((value - last) // half), 1.0) if half else 0.0)
        found[value] = max(whole, partly)
    return found
