"""What frames show of the spaces and worksets of similarity joins: where they lie, who owns them, what they compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters
from engine.core.distances import DISTANCES
from engine.core.tables import Arrays, Words
from engine.operators.pairs import JOIN_EXTRA
from engine.operators.similarity import place_of
from engine.operators.similarity_join import S_COMPARED
from engine.operators.space_partitioner import SPACE_CENTROIDS, SPACE_COLUMNS, SPACE_DIMENSIONS, SPACE_SPACES
from engine.operators.workset_formulation import FORM_ROW_VECTOR, FORM_ROW_WORKER, WORKSETS_MAX
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns

from .worksets import centroid_rows, places

SHOWN = 2
"""Coordinates of a centroid that are shown: the first ones."""
LOADS_PER_WINDOW = 12
"""So often at most in a window frames have loads: there are a thousand worksets."""


@dataclass(frozen=True)
class Shown:
    """A join with its formulation and what partitions its space. partitioner: first instance. formulation, join: first instances and
    parallelisms. every_ns: between two frames with loads."""

    name: str
    partitioner: int
    formulation: tuple[int, int]
    join: tuple[int, int]
    every_ns: int


def shown(experiment: Experiment) -> list[Shown]:
    """The similarity joins of vectors whose records come from a formulation behind a space partitioner. Behind another operator it is not
    known where the centroids of spaces lie. Texts have no coordinates."""
    found = []
    for place in places(experiment):
        before = next(edge.source for edge in experiment.query.edges if edge.target == place.formulation.id)
        partitioner = experiment.operator(before)
        if partitioner.kind == "space_partitioner" and not DISTANCES[partitioner.parameters.distance].of_texts:
            ids = [spec.id for spec in experiment.query.operators]
            first = sum(spec.parallelism for spec in experiment.query.operators[: ids.index(before)])
            every_ns = seconds_ns(getattr(place.join.parameters.window, "size_s", 0)) // LOADS_PER_WINDOW
            found.append(Shown(place.join.id, first, place.formulation_at, place.join_at, max(every_ns, 1)))
    return found


class Spaces:
    """A view of the world: frames depend on nothing but the time since the last one."""

    def __init__(self, joins: list[Shown]):
        self._joins = joins

    def frame(self, w: Arrays, since_ns: int, now_ns: int) -> dict[str, Any]:
        """By join. centroids: of spaces, in the first frame, with the number of their dimensions. worksets: those opened in (since_ns,
        now_ns], as [space, number, worker, coordinates]. loads: comparisons and records of the newest window, as [space, number,
        comparisons, records], a few times in each window."""
        found: dict[str, Any] = {}
        for join in self._joins:
            about: dict[str, Any] = {"worksets": list(_opened(w, join, since_ns, now_ns))}
            if since_ns < 0:
                about["dimensions"], about["centroids"] = _centroids(w, join.partitioner)
            if since_ns < 0 or now_ns // join.every_ns > since_ns // join.every_ns:
                about["loads"] = _loads(w, join)
            found[join.name] = about
        return found


def _centroids(w: Arrays, i: int) -> tuple[int, list[list[float]]]:
    """Number of dimensions, and the first coordinates of the centroids of spaces, from an instance of their partitioner."""
    at = parameters(w, i)
    dimensions, spaces, first = w.par[[at + SPACE_DIMENSIONS, at + SPACE_SPACES, at + SPACE_CENTROIDS]].tolist()
    points = w.par_f[first : first + spaces * dimensions].reshape(spaces, dimensions)
    return dimensions, points[:, :SHOWN].round(6).tolist()


def _opened(w: Arrays, join: Shown, since_ns: int, now_ns: int) -> Iterator[list[float]]:
    at = parameters(w, join.partitioner)
    dimensions, columns = w.par[[at + SPACE_DIMENSIONS, at + SPACE_COLUMNS]].tolist()
    for i in range(join.formulation[0], sum(join.formulation)):
        extra = int(w.par[parameters(w, i) + JOIN_EXTRA])
        for space, rows in centroid_rows(w, i):
            opened_ns = w.row[rows, L.R_EVENT]
            for n in np.flatnonzero((opened_ns > since_ns) & (opened_ns <= now_ns)).tolist():
                vector = w.row_f[rows[n], extra + FORM_ROW_VECTOR :]
                if w.par[columns] < 0:
                    vector = w.points_f[place_of(w.point_first, int(w.row[rows[n], extra + FORM_ROW_VECTOR]), dimensions) :]
                vector = vector[: min(dimensions, SHOWN)]
                yield [space, n + 1, int(w.row[rows[n], extra + FORM_ROW_WORKER]) % join.join[1], *vector.round(6).tolist()]


def _loads(w: Arrays, join: Shown) -> list[list[int]]:
    entries = np.concatenate([entries_by_key(w, i) for i in range(join.join[0], sum(join.join))])
    if not len(entries):
        return []
    entries = entries[w.entry[entries, L.S_PANE] == w.entry[entries, L.S_PANE].max()]
    words: Words = w.entry[entries]
    keys = words[:, L.S_KEY]
    records = words[:, L.S_LEFT] + words[:, L.S_LEFT + L.S_SIDE]
    known, which = np.unique(keys, return_inverse=True)  # a split workset has an entry at each of its workers
    sums = np.zeros((len(known), 2), np.int64)
    np.add.at(sums, which, np.stack([words[:, S_COMPARED], records], axis=1))
    found: list[list[int]] = np.column_stack([known // WORKSETS_MAX, known % WORKSETS_MAX, sums]).tolist()
    return found


def spaces_of(experiment: Experiment) -> Spaces | None:
    """None for a query without a similarity join."""
    joins = shown(experiment)
    return Spaces(joins) if joins else None
