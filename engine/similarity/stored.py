"""Some of the records that a similarity join stores, each with all of its copies: where they went, and with how many others they meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.keyed_state import parameters, rows_of
from engine.core.distances import ANGULAR, distance
from engine.core.random import mix64
from engine.core.tables import Arrays, Words
from engine.operators.pairs import JOIN_EXTRA
from engine.operators.similarity_join import SIM_DISTANCE, SIM_ONE_STREAM, SIM_ROW_ROLE, SIM_ROW_VECTOR
from engine.operators.workset_formulation import FORM_ROW_VECTOR, WORKSETS_MAX

from .worksets import COORDINATES_SHOWN, ShownJoin, centroid_rows, vector_at

ROWS_MAX = 40_000
"""Of more stored copies nothing is told: they would all have to be gone through."""
COPIES_TOLD = 200
"""Copies that are told of at most, on average: of records drawn by a hash of their event time, so of each record all or none."""
ROLES = 3


def stored_records(w: Arrays, join: ShownJoin, entries: Words) -> list[dict[str, Any]] | None:
    """Records stored in these entries of the join, by side and event time, as `StoredRecord` of webapp/live/frames.py describes them. None:
    there are more than ROWS_MAX copies.

    A larger state draws a part of the records of a smaller one, so a record stays until its window ends or the state doubles.
    """
    at = parameters(w, join.join[0])
    extra = int(w.par[at + JOIN_EXTRA])
    if w.entry[entries][:, [L.S_LEFT, L.S_LEFT + L.S_SIDE]].sum() > ROWS_MAX:
        return None
    rows, counts = rows_of(w, join.join[0], entries)
    lists = np.repeat(np.arange(counts.size), counts.ravel())  # entry x 2 + side
    drawn = np.flatnonzero(_drawn(w.row[rows, L.R_EVENT]))
    met = _roles_by_list(w, rows, lists, lists[drawn] // 2, len(entries), extra)
    centroids = {space: found for i in range(join.formulation[0], sum(join.formulation)) for space, found in centroid_rows(w, i)}
    form_vector = int(w.par[parameters(w, join.formulation[0]) + JOIN_EXTRA]) + FORM_ROW_VECTOR
    code, one_stream = int(w.par[at + SIM_DISTANCE]), w.par[at + SIM_ONE_STREAM] == 1
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for n in drawn.tolist():
        r, (e, side) = rows[n], divmod(int(lists[n]), 2)
        vector = vector_at(w, join, r, extra + SIM_ROW_VECTOR)
        event_ns, role = int(w.row[r, L.R_EVENT]), int(w.row[r, extra + SIM_ROW_ROLE])
        space, number = divmod(int(w.entry[entries[e], L.S_KEY]), WORKSETS_MAX)
        far = _apart(code, vector, vector_at(w, join, centroids[space][number - 1], form_vector))
        others = met[e, side if one_stream else 1 - side].copy()
        if one_stream:
            others[role] -= 1  # itself
        worker = int(w.entry[entries[e], L.S_OWNER]) - join.join[0]
        shown = vector[:COORDINATES_SHOWN].round(6).tolist()
        record = {"side": side, "event_s": event_ns / 1e9, "at": shown, "copies": []}
        copies = found.setdefault((side, event_ns, *shown), record)["copies"]
        copies.append([space, number, worker, role, far, *others.tolist()])
    return [found[key] for key in sorted(found)]


def _drawn(event_ns: Words) -> NDArray[np.bool_]:
    """Which rows are told of. Twice as many rows draw each record half as often."""
    halvings = ((len(event_ns) - 1) // COPIES_TOLD).bit_length() if len(event_ns) else 0
    drawn: NDArray[np.bool_] = mix64(event_ns.astype(np.uint64)) & np.uint64((1 << halvings) - 1) == 0
    return drawn


def _roles_by_list(w: Arrays, rows: Words, lists: Words, wanted: Words, entries: int, extra: int) -> Words:
    """Records by role in the wanted entries. Shape (entries, 2 sides, ROLES)."""
    is_wanted = np.zeros(entries, bool)
    is_wanted[wanted] = True
    here = is_wanted[lists // 2]
    roles = w.row[rows[here], extra + SIM_ROW_ROLE]
    return np.bincount(lists[here] * ROLES + roles, minlength=entries * 2 * ROLES).reshape(entries, 2, ROLES)


def _apart(code: int, left: NDArray[np.float64], right: NDArray[np.float64]) -> float | None:
    """The distance; None if there is none: a vector has no direction, or is too long."""
    gap = left - right
    if code == ANGULAR and not (left.any() and right.any()):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        far = float(distance(code, left @ right, left @ left, right @ right, gap @ gap))  # type: ignore[no-untyped-call]
    return round(far, 6) if np.isfinite(far) else None
