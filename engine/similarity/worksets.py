"""Where the worksets of similarity joins are kept: the instances of each join and its formulation, and the rows of centroids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, rows_of
from engine.core.tables import Arrays, Words
from engine.operators.workset_formulation import CENTROIDS
from engine.spec import Experiment
from engine.spec.rules.similarity import FORMULATIONS


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
