"""What frames show of the spaces and worksets of similarity joins: where they lie, who owns them, what they compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters
from engine.core.tables import Arrays, Words
from engine.operators.pairs import JOIN_EXTRA
from engine.operators.similarity_join import S_COMPARED
from engine.operators.space_partitioner import SPACE_CENTROIDS, SPACE_DIMENSIONS, SPACE_SPACES
from engine.operators.workset_formulation import FORM_ROW_VECTOR, FORM_ROW_WORKER, R_DROPPED, WORKSETS_MAX
from engine.spec import Experiment

from .stored import stored_records
from .worksets import COORDINATES_SHOWN, ShownJoin, centroid_rows, shown_joins, vector_at


class Spaces:
    """A view of the world: frames depend on nothing but the time since the last one."""

    def __init__(self, joins: list[ShownJoin]):
        self._joins = joins

    def frame(self, w: Arrays, since_ns: int, now_ns: int) -> dict[str, Any]:
        """By join. centroids: of spaces, in the first frame, with the number of their dimensions. worksets: those opened in (since_ns,
        now_ns], as [space, number, worker, coordinates]. dropped: those dropped then, as [space, number]. A few times in each window,
        loads: comparisons and records of the newest window, as [space, number, comparisons, records]; and stored: some of its records,
        unless they are too many."""
        found: dict[str, Any] = {}
        for join in self._joins:
            about: dict[str, Any] = {"worksets": list(_opened(w, join, since_ns, now_ns))}
            if join.drops:
                about["dropped"] = list(_dropped(w, join, since_ns, now_ns))
            if since_ns < 0:
                about["dimensions"], about["centroids"] = _centroids(w, join.partitioner)
            if since_ns < 0 or now_ns // join.every_ns > since_ns // join.every_ns:
                entries = _newest_entries(w, join)
                about["loads"] = _loads(w, entries)
                if (stored := stored_records(w, join, entries)) is not None:
                    about["stored"] = stored
            found[join.name] = about
        return found


def _centroids(w: Arrays, i: int) -> tuple[int, list[list[float]]]:
    """Number of dimensions, and the first coordinates of the centroids of spaces, from an instance of their partitioner."""
    at = parameters(w, i)
    dimensions, spaces, first = w.par[[at + SPACE_DIMENSIONS, at + SPACE_SPACES, at + SPACE_CENTROIDS]].tolist()
    points = w.par_f[first : first + spaces * dimensions].reshape(spaces, dimensions)
    return dimensions, points[:, :COORDINATES_SHOWN].round(6).tolist()


def _opened(w: Arrays, join: ShownJoin, since_ns: int, now_ns: int) -> Iterator[list[float]]:
    for i in range(join.formulation[0], sum(join.formulation)):
        extra = int(w.par[parameters(w, i) + JOIN_EXTRA])
        for space, rows in centroid_rows(w, i):
            opened_ns = w.row[rows, L.R_EVENT]
            for n in np.flatnonzero((opened_ns > since_ns) & (opened_ns <= now_ns)).tolist():
                shown = vector_at(w, join, rows[n], extra + FORM_ROW_VECTOR)[:COORDINATES_SHOWN].round(6)
                yield [space, n + 1, int(w.row[rows[n], extra + FORM_ROW_WORKER]) % join.join[1], *shown.tolist()]


def _dropped(w: Arrays, join: ShownJoin, since_ns: int, now_ns: int) -> Iterator[list[int]]:
    for i in range(join.formulation[0], sum(join.formulation)):
        for space, rows in centroid_rows(w, i):
            dropped_ns = w.row[rows, R_DROPPED]
            yield from ([space, n + 1] for n in np.flatnonzero((dropped_ns > max(since_ns, 0)) & (dropped_ns <= now_ns)).tolist())


def _newest_entries(w: Arrays, join: ShownJoin) -> Words:
    """The entries of a join's newest window, by worker and workset."""
    entries = np.concatenate([entries_by_key(w, i) for i in range(join.join[0], sum(join.join))])
    panes = w.entry[entries, L.S_PANE]
    newest: Words = entries[panes == panes.max(initial=0)]
    return newest


def _loads(w: Arrays, entries: Words) -> list[list[int]]:
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
    joins = shown_joins(experiment)
    return Spaces(joins) if joins else None
