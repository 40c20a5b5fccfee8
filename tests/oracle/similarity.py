"""What the operators of similarity joins do with a record, one at a time (docs/event-core.md, section 7): plain lists, searched whole."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.mathematics import arccos
from engine.spec import RecordSchema

from .joins import PanePairing
from .operators import Behaviour, Panes
from .plan import milliseconds
from .records import Record

Vector = list[float] | str
INNER, OUTER, OUTLIER = 0, 1, 2


def distance(kind: str, a: Vector, b: Vector) -> float:
    """NaN if there is none. Sums run over the coordinates in order."""
    if kind == "edit":
        return edits(a, b)
    product = left = right = gap = 0.0
    for x, y in zip(a, b, strict=True):
        product, left, right, gap = product + x * y, left + x * x, right + y * y, gap + (x - y) * (x - y)
    if kind == "euclidean":
        return math.sqrt(gap)
    lengths = math.sqrt(left) * math.sqrt(right)
    return math.nan if lengths == 0 or math.isnan(lengths) else float(arccos(np.array([product / lengths]))[0]) / math.pi


@functools.lru_cache(maxsize=1 << 16)
def edits(a: str, b: str) -> float:
    """Row by row: the edits from the first letters of one text to the first letters of the other."""
    row = list(range(len(b) + 1))
    for m, letter in enumerate(a, 1):
        row, above = [m], row
        for n, other in enumerate(b, 1):
            row.append(min(above[n] + 1, row[-1] + 1, above[n - 1] + (letter != other)))
    return row[-1]


def vector_of(record: Record, names: Sequence[str]) -> Vector:
    """A single field may hold all coordinates, or a text."""
    first = record.values[names[0]]
    return first if isinstance(first, list | str) else [record.values[name] for name in names]


def java_doubles(seed: int) -> Iterator[float]:
    """java.util.Random.nextDouble: two draws of 48 bits give its 53."""
    state = seed ^ 0x5DEECE66D
    while True:
        high = state = (state * 0x5DEECE66D + 0xB) % 2**48
        low = state = (state * 0x5DEECE66D + 0xB) % 2**48
        yield ((high >> 22) * 2**27 + (low >> 21)) / 2**53


class SpacePartitioner(Behaviour):
    """texts: those of all streams, in the order of their codes."""

    def __init__(self, params: Any, inputs: Mapping[str, RecordSchema], texts: Sequence[str] = ()):
        super().__init__()
        self.texts = texts
        self.params = params
        draws = java_doubles(params.seed)
        dimensions = inputs["in"].field(params.coordinates[0]).dimensions or len(params.coordinates)
        if params.distance == "edit":
            self.centroids: list[Vector] = [*self.drawn_texts(draws)]
        else:
            self.centroids = [[2 * next(draws) - 1 for _ in range(dimensions)] for _ in range(params.spaces)]

    def drawn_texts(self, draws: Iterator[float]) -> Iterator[str]:
        """Each text of the streams once, then all once more, and so on."""
        left: list[str] = []
        for _ in range(self.params.spaces):
            left = left or [*self.texts]
            text = next(text for draw in draws if (text := self.texts[int(draw * len(self.texts))]) in left)
            left.remove(text)
            yield text

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        vector = vector_of(record, self.params.coordinates)
        far = [distance(self.params.distance, vector, centroid) for centroid in self.centroids]
        self.rows_read += len(far)
        if all(math.isnan(d) for d in far):
            self.errors += 1
            return 1, []
        home = min((d, j) for j, d in enumerate(far) if not math.isnan(d))[1]
        reach = far[home] + 2 * self.params.threshold
        others = [j for j, d in enumerate(far) if j != home and d <= reach and (home < j) ^ ((home + j) % 2 == 1)]
        return 1, [record.with_values(record.values | self.added(j, home)) for j in (home, *others)]

    def added(self, space: int, home: int) -> dict[str, Any]:
        return {"space": space, "inner": space == home}


class ClusterPartitioner(SpacePartitioner):
    def added(self, space: int, home: int) -> dict[str, Any]:
        key = (space * self.params.keys + self.params.spaces - 1) // self.params.spaces
        worker = min(key * self.params.workers // self.params.keys, self.params.workers - 1)
        return {"space": space, "inner": space == home, "key": key, "worker": worker}


@dataclass
class Workset:
    """owners: its workers, each with the start of the first window of which it is the worker."""

    number: int  # in its space, from 1 on
    centroid: Vector
    owners: list[tuple[float, int]]
    split: tuple[float, int] = (math.inf, 1)  # from which window on, into how many parts
    last_ns: int = 0  # end of the last window with a record at home here
    dropped: bool = False

    def worker(self, pane: int | None) -> int:
        return next(worker for start, worker in reversed(self.owners) if pane is None or start <= pane)


@dataclass
class Kept:
    """A copy from another space."""

    record: Record
    port: str
    space: int
    pane: int | None


class WorksetFormulation(PanePairing):
    def __init__(self, params: Any, inputs: Mapping[str, RecordSchema]):
        Behaviour.__init__(self)
        self.params = params
        self.bytes = {port: schema.bytes for port, schema in inputs.items()}
        self.panes = Panes.of(params.window)
        self.ends = {"left": None, "right": None}
        self.lateness_ns = milliseconds(params.lateness_ms)
        self.ticks_asked: set[int] = set()
        self.ends_asked: set[int] = set()
        self.worksets: dict[int, list[Workset]] = {}
        self.kept: list[Kept] = []

    def vector(self, record: Record, port: str) -> Vector:
        return vector_of(record, getattr(self.params, f"{port}_coordinates"))

    def measured(self, a: Vector, b: Vector) -> float:
        self.rows_read += 1
        return distance(self.params.distance, a, b)

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        panes = self.admit(record, port, now_ns)
        self.timers.clear()  # only what is kept has to end
        if not panes:
            return 1, self.too_late(record, port)
        space, vector, t = record.values["space"], self.vector(record, port), self.params.threshold
        worksets = self.worksets.get(space, [])
        self.drop_unused(worksets)
        far = [math.inf if workset.dropped else self.measured(vector, workset.centroid) for workset in worksets]
        if not record.values["inner"]:
            self.keep(Kept(record, port, space, panes[-1]))
            near = [workset for workset, d in zip(worksets, far, strict=True) if self.needs(d)]
            return 1, [copy for workset in near for copy in self.copies(record, port, panes[-1], workset, OUTER)]
        pane = panes[-1]
        home = min(range(len(far)), key=lambda n: (far[n], n), default=None)
        outputs = []
        if home is None or far[home] > t:
            made = Workset(len(worksets) + 1, vector, [(-math.inf, space % self.params.workers)])
            outputs.append(self.copy(record, port, pane, made, INNER))
            here = sorted((kept for kept in self.kept if kept.space == space), key=lambda kept: (kept.pane or 0, kept.port))
            near = [kept for kept in here if self.needs(self.measured(vector, self.vector(kept.record, kept.port)))]
            outputs += [self.released(kept, made, record) for kept in near]
            home = len(worksets)
            self.worksets.setdefault(space, []).append(made)
            worksets = self.worksets[space]
        else:
            outputs += self.copies(record, port, pane, worksets[home], INNER if far[home] <= t / 2 else OUTLIER)
        if self.params.centroid_ttl_windows:
            worksets[home].last_ns = max(worksets[home].last_ns, pane + self.panes.size_ns)
        older = [worksets[n] for n in range(home) if self.needs(far[n])]
        return 1, outputs + [copy for workset in older for copy in self.copies(record, port, pane, workset, OUTER)]

    def drop_unused(self, worksets: list[Workset]) -> None:
        if windows := self.params.centroid_ttl_windows:
            for workset in worksets:
                unused_ns = self.watermark_ns - self.lateness_ns - workset.last_ns
                workset.dropped |= unused_ns >= windows * self.panes.slide_ns

    def copies(self, record: Record, port: str, pane: int | None, workset: Workset, role: int) -> list[Record]:
        """To all parts of a workset, or, of a left record, to one of them."""
        start, parts = workset.split
        whole = self.copy(record, port, pane, workset, role)
        if pane is None or pane < start:
            return [whole]
        chosen = range(parts) if port == "right" else [record.trigger % parts]
        workers = [(whole.values["worker"] + part) % self.params.workers for part in chosen]
        return [whole.with_values(whole.values | {"worker": worker}).to_port(whole.port) for worker in workers]

    def needs(self, far: float) -> bool:
        """Whether a workset with its centroid so far away needs a copy."""
        return far <= 2 * self.params.threshold

    def keep(self, copy: Kept) -> None:
        self.kept.append(copy)
        if self.panes.processing_clock and copy.pane not in self.ends_asked:
            self.ends_asked.add(copy.pane)
            self.timers.append(copy.pane + self.panes.size_ns)

    def copy(self, record: Record, port: str, pane: int | None, workset: Workset, role: int) -> Record:
        number = record.values["space"] * 2**32 + workset.number
        return record.with_values(record.values | {"workset": number, "role": role, "worker": workset.worker(pane)}).to_port(f"out_{port}")

    def released(self, kept: Kept, workset: Workset, by: Record) -> Record:
        """A copy that came before its workset; the record that opens the workset triggers it."""
        made = replace(self.copy(kept.record, kept.port, kept.pane, workset, OUTER), trigger=by.trigger)
        if made.anchors is None or by.anchors is None:
            return made
        return replace(made, anchors=replace(made.anchors, trigger_ns=by.anchors.trigger_ns))

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        self.watermark_ns = watermark_ns
        if self.panes.size_ns is not None and not self.panes.processing_clock:
            self.kept = [k for k in self.kept if k.pane + self.panes.size_ns + self.lateness_ns > watermark_ns]
        return []

    def on_tick(self, tick_ns: int) -> list[Record]:
        self.kept = [k for k in self.kept if k.pane != tick_ns - self.panes.size_ns]
        return []

    def state_bytes(self) -> int:
        copies = sum(self.bytes[kept.port] for kept in self.kept) + 16 * len({(kept.space, kept.pane) for kept in self.kept})
        return copies + sum(16 + sum(map(self.centroid_bytes, of)) for of in self.worksets.values())

    def centroid_bytes(self, workset: Workset) -> int:
        if workset.dropped:
            return 0
        return 24 + (16 if isinstance(workset.centroid, str) else 8 * len(workset.centroid))


@dataclass
class Member:
    """A stored record of a join. where: its workset, key or partition; None where all meet."""

    record: Record
    port: str
    where: Any
    role: int
    pane: int | None


class SimilarityJoin(PanePairing):
    """Worksets."""

    def __init__(self, params: Any, inputs: Mapping[str, RecordSchema]):
        super().__init__(params, inputs["left"], inputs["right"])
        self.members: list[Member] = []
        self.compared: Counter[tuple[Any, int | None]] = Counter()  # by workset and window ...
        self.paired: Counter[tuple[Any, int | None]] = Counter()  # ... pairs, likewise
        self.clock = "event"  # of the measured latency

    def role(self, record: Record) -> int:
        return int(record.values["role"])

    def reports(self, one: Record, other: Record) -> bool:
        """Whether a match of these two counts here."""
        return True

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        panes = self.admit(record, port, now_ns)
        if not panes:
            return 1, self.too_late(record, port)
        where = record.values[self.keys[port]] if self.keys[port] else None
        mine = [Member(record, port, where, self.role(record), pane) for pane in panes]
        found = [[other.record for other in self.members if self.match(member, other)] for member in mine]
        self.members += mine
        for member, others in zip(mine, found, strict=True):
            self.paired[member.where, member.pane] += len(others)
        if self.params.pairs == "counted":
            return len(panes), [made for others in found for made in self.counted(record, port, others)]
        matches = [(member, other) for member, others in zip(mine, found, strict=True) for other in others]
        return len(panes), [self.pair(record, port, other, self.bounds(member.pane)) for member, other in matches]

    def counted(self, record: Record, port: str, others: list[Record]) -> list[Record]:
        """A record for all pairs with others that are no newer, then one for each other pair."""
        together: list[Record] = []
        newer: list[Record] = []
        for other in others:
            is_newer = other.anchors.newest_ns[self.clock] > record.anchors.newest_ns[self.clock]
            (newer if is_newer else together).append(self.pair(record, port, other))
        return [self.sum_of(pairs) for pairs in ([together] if together else []) + [[pair] for pair in newer]]

    def sum_of(self, pairs: list[Record]) -> Record:
        anchors = pairs[0].anchors
        for pair in pairs[1:]:
            anchors = anchors.with_contributors(pair.anchors)
        least_or_most = min if self.params.event_time == "oldest" else max
        event_ns = least_or_most(pair.event_ns for pair in pairs)
        return replace(pairs[0], values={"pairs": len(pairs)}, event_ns=event_ns, anchors=anchors, stands_for=len(pairs))

    def match(self, member: Member, other: Member) -> bool:
        if other.port == member.port or (other.where, other.pane) != (member.where, member.pane):
            return False
        roles = {member.role, other.role}
        if roles == {INNER}:
            return True
        if roles == {OUTER}:
            return False
        self.rows_read += 1
        self.compared[member.where, member.pane] += 1
        vectors = [vector_of(m.record, getattr(self.params, f"{m.port}_coordinates")) for m in (member, other)]
        return distance(self.params.distance, *vectors) <= self.params.threshold and self.reports(member.record, other.record)

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        self.watermark_ns = watermark_ns
        if self.panes.size_ns is not None and not self.panes.processing_clock:
            self.members = [m for m in self.members if m.pane + self.panes.size_ns + self.lateness_ns > watermark_ns]
        return []

    def on_tick(self, tick_ns: int) -> list[Record]:
        self.members = [m for m in self.members if m.pane != tick_ns - self.panes.size_ns]
        return []

    def state_bytes(self) -> int:
        return sum(self.bytes[m.port] for m in self.members) + 16 * len({(m.where, m.pane) for m in self.members})


class SelfWorksetFormulation(WorksetFormulation):
    """One stream: its records come, and leave, by one port."""

    def vector(self, record: Record, port: str) -> Vector:
        return vector_of(record, self.params.coordinates)

    def admit(self, record: Record, port: str, now_ns: int) -> list[int | None]:
        return super().admit(record, "left", now_ns)

    def too_late(self, record: Record, port: str) -> list[Record]:
        self.late += 1
        return [record.to_port("late")]

    def copy(self, record: Record, port: str, pane: int | None, workset: Workset, role: int) -> Record:
        return super().copy(record, port, pane, workset, role).to_port("out")


class SelfSimilarityJoin(SimilarityJoin):
    """One stream: each arrival is the left one of its pairs, and is stored as what may become a right one."""

    def __init__(self, params: Any, inputs: Mapping[str, RecordSchema]):
        super().__init__(params, {"left": inputs["in"], "right": inputs["in"]})

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        known = len(self.members)
        made = super().on_record(record, "left", now_ns)
        self.members[known:] = [replace(member, port="right") for member in self.members[known:]]
        return made

    def too_late(self, record: Record, port: str) -> list[Record]:
        self.late += 1
        return [record.to_port("late")]


class ClusterJoin(SimilarityJoin):
    def role(self, record: Record) -> int:
        return OUTLIER if record.values["inner"] else OUTER

    def reports(self, one: Record, other: Record) -> bool:
        return not self.params.dedupe_key or one.values["space"] == other.values["space"]


class BruteForceJoin(SimilarityJoin):
    def role(self, record: Record) -> int:
        return OUTLIER


SIMILARITY = {
    "space_partitioner": SpacePartitioner,
    "cluster_partitioner": ClusterPartitioner,
    "workset_formulation": WorksetFormulation,
    "similarity_join": SimilarityJoin,
    "self_workset_formulation": SelfWorksetFormulation,
    "self_similarity_join": SelfSimilarityJoin,
    "cluster_join": ClusterJoin,
    "brute_force_join": BruteForceJoin,
}
