"""Where the worksets of similarity joins are kept: the instances of each join and its formulation, the rows of centroids, vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters, rows_of
from engine.core.distances import DISTANCES
from engine.core.tables import Arrays, Words
from engine.operators.similarity import place_of
from engine.operators.space_partitioner import SPACE_COLUMNS, SPACE_DIMENSIONS
from engine.operators.workset_formulation import CENTROIDS
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns
from engine.spec.rules.similarity import FORMULATIONS

COORDINATES_SHOWN = 2
"""Coordinates of a vector that frames show: the first ones."""
LOADS_PER_WINDOW = 12
"""So often at most in a window frames have loads: there are a thousand worksets."""


class Place(NamedTuple):
    """A similarity join and the operator in front of it, with the first instance and the parallelism of each."""

    join: Any
    formulation: Any
    join_at: tuple[int, int]
    formulation_at: tuple[int, int]


def places(experiment: Experiment) -> Iterator[Place]:
    """The similarity joins of a query."""
    query = experiment.query
    firsts = np.cumsum([0, *(spec.parallelism for spec in query.operators)]).tolist()
    at = {spec.id: (first, spec.parallelism) for spec, first in zip(query.operators, firsts, strict=False)}
    for spec in query.operators:
        if spec.kind in FORMULATIONS:
            before = experiment.operator(next(edge.source for edge in query.edges if edge.target == spec.id))
            yield Place(spec, before, at[spec.id], at[before.id])


def centroid_rows(w: Arrays, i: int) -> Iterator[tuple[int, Words]]:
    """Each space that instance `i` of a formulation knows, with the rows of its centroids by number of the workset, from 1 on."""
    entries = entries_by_key(w, i)
    entries = entries[w.entry[entries, L.S_PANE] == CENTROIDS]
    rows, counts = rows_of(w, i, entries)
    ends = np.cumsum(counts[:, 0])
    for space, begin, end in zip(w.entry[entries, L.S_KEY].tolist(), (ends - counts[:, 0]).tolist(), ends.tolist(), strict=True):
        yield space, rows[begin:end]


@dataclass(frozen=True)
class ShownJoin:
    """A join with its formulation and what partitions its space. partitioner: first instance. formulation, join: first instances and
    parallelisms. every_ns: between two frames with loads. drops: whether worksets are dropped."""

    name: str
    partitioner: int
    formulation: tuple[int, int]
    join: tuple[int, int]
    every_ns: int
    drops: bool


def shown_joins(experiment: Experiment) -> list[ShownJoin]:
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
            drops = place.formulation.parameters.centroid_ttl_windows is not None
            found.append(ShownJoin(place.join.id, first, place.formulation_at, place.join_at, max(every_ns, 1), drops))
    return found


def vector_at(w: Arrays, join: ShownJoin, r: int, column: int) -> NDArray[np.float64]:
    """The vector of a stored row, from this column on."""
    at = parameters(w, join.partitioner)
    dimensions, columns = w.par[[at + SPACE_DIMENSIONS, at + SPACE_COLUMNS]].tolist()
    if w.par[columns] < 0:  # kept beside the log; the row has its number
        first = place_of(w.point_first, int(w.row[r, column]), dimensions)
        return w.points_f[first : first + dimensions]
    return w.row_f[r, column : column + dimensions]
