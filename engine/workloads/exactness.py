"""The pairs that a similarity join has to find, by comparing all records with all: what a run is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.distances import DISTANCES
from engine.spec.base.problems import Refusal
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.experiment import Experiment
from engine.spec.rules.flow import Datasets

from .feed import build_feed
from .selectivity import Floats, between, join_params, source_of
from .strings import Strings

RECORDS_MAX, TEXTS_MAX, DIRECTIONS_MAX = 10_000, 400, 2_000_000
"""Records of a stream that are compared: vectors, texts, and directions in the plane, which are sorted instead."""
WINDOWS_MAX = 5_000
MARGIN = 1e-9
"""Nearer to the threshold, rounding decides whether a pair matches."""
BLOCK = 1_000


@dataclass(frozen=True)
class Expected:
    """least: pairs that match. most: also those of which rounding decides. records: by input."""

    least: int
    most: int
    records: dict[str, int]


@dataclass
class Side:
    values: Any
    event_ns: NDArray[np.int64]

    def within(self, start_ns: int, end_ns: int) -> Any:
        here = (self.event_ns >= start_ns) & (self.event_ns < end_ns)
        return (
            [value for value, is_here in zip(self.values, here, strict=True) if is_here]
            if isinstance(self.values, list)
            else self.values[here]
        )


def expected_pairs(experiment: Experiment, join: str, datasets: Datasets) -> Expected:
    """The pairs of all windows. Raises Refusal where other operators than those of a similarity join come before it, windows are not of
    event time, or there are too many records."""
    params = join_params(experiment, join)
    if experiment.workload.scale > 1:
        message = f"scale is {experiment.workload.scale}, so a record stands for several; pairs of single records are compared"
        raise Refusal(message, code="scaled", value=experiment.workload.scale)
    sides: dict[str, Side] = {}
    for side in ("left", "right") if "left_coordinates" in type(params).model_fields else ("in",):
        names = params.coordinates if side == "in" else getattr(params, f"{side}_coordinates")
        sides[side] = _side(experiment, join, side, names, params, datasets)
    margin = 0.0 if DISTANCES[params.distance].of_texts else MARGIN  # edits are whole numbers
    windows = _windows(params.window, max(int(side.event_ns.max(initial=0)) for side in sides.values()))
    thresholds = params.threshold - margin, params.threshold + margin
    found = np.zeros(2, np.int64)
    for start_ns, end_ns in windows:
        found += _matches(params.distance, thresholds, *(side.within(start_ns, end_ns) for side in sides.values()))
    return Expected(int(found[0]), int(found[1]), {name: len(side.event_ns) for name, side in sides.items()})


BETWEEN = ("space_partitioner", "cluster_partitioner", "workset_formulation", "self_workset_formulation")
"""Operators that may stand between sources and a join: they leave records as they are."""


def _side(experiment: Experiment, join: str, side: str, names: Any, params: Any, datasets: Datasets) -> Side:
    way = source_of(experiment, join, side)
    for id in way[1:-1]:
        if (kind := experiment.operator(id).kind) not in BETWEEN:
            message = f"'{id}' ({kind}) stands between '{way[-1]}' and '{join}', so not all of its records are compared there"
            raise Refusal(message, code="not_compared", value=id)
    strings = Strings()
    feed = build_feed(experiment, way[-1], list(experiment.workload.sources).index(way[-1]), strings, datasets)
    of_texts, in_plane = DISTANCES[params.distance].of_texts, params.distance == "angular" and len(names) == 2
    records_max = TEXTS_MAX if of_texts else DIRECTIONS_MAX if in_plane else RECORDS_MAX
    if feed.count > records_max:
        message = f"'{way[-1]}' has {feed.count:,} records; up to {records_max:,} such ones are compared with all"
        raise Refusal(message, code="too_many", value=feed.count)
    chunk = feed.chunk(0, 1 << 62)  # a file's log closes with its last record
    chunk = chunk.chosen(chunk.trigger >= 0)
    words = chunk.words[:, [feed.fields.index(name) for name in names]]
    if of_texts:
        values: Any = strings.texts(words[:, 0])
    elif feed.schema.type_of(names[0]) == "vector" and len(words):
        values = feed.vectors()[int(words[0, 0]) >> 40][words[:, 0] & ((1 << 40) - 1)]
    else:
        values = np.ascontiguousarray(words).view(np.float64)
    return Side(values, chunk.event_ns)


def _windows(window: Any, last_ns: int) -> list[tuple[int, int]]:
    """Starts and ends, up to the last record."""
    if window.kind == "full_history":
        return [(0, last_ns + 1)]
    if window.kind not in ("tumbling", "sliding") or window.clock != "event":
        raise Refusal(f"window is {window.kind}, and records of windows by event time alone are known before a run", code="not_event_time")
    size_ns, origin_ns = seconds_ns(window.size_s), seconds_ns(window.origin_s)
    step_ns = seconds_ns(window.slide_s) if window.kind == "sliding" else size_ns
    first_ns = origin_ns + (1 - size_ns - origin_ns + step_ns - 1) // step_ns * step_ns  # the first that ends after 0
    starts_ns = range(first_ns, last_ns + 1, step_ns)
    if len(starts_ns) > WINDOWS_MAX:
        message = f"there are {len(starts_ns):,} windows up to the last record; up to {WINDOWS_MAX:,} are gone through"
        raise Refusal(message, code="too_many", value=len(starts_ns))
    return [(start_ns, start_ns + size_ns) for start_ns in starts_ns]


def _matches(distance: str, thresholds: tuple[float, float], left: Any, right: Any = None) -> NDArray[np.int64]:
    """Pairs within each threshold; right None: within one stream, each once. Shape (2,)."""
    is_self = right is None
    right = left if is_self else right
    found = np.zeros(2, np.int64)
    if not len(left) or not len(right):
        return found
    if distance == "angular" and not isinstance(left, list) and left.shape[1] == 2:
        found[:] = [_within_turns(left, right, threshold) for threshold in thresholds]
    else:
        for n in range(0, len(left), BLOCK):
            apart = between(distance, left[n : n + BLOCK], right)
            found += [np.count_nonzero(apart <= threshold) for threshold in thresholds]
    return (found - _alone(distance, left)) // 2 if is_self else found


def _alone(distance: str, values: Any) -> int:
    """Records that match themselves: all that have a direction, by angle."""
    return int(np.count_nonzero((values != 0).any(axis=1))) if distance == "angular" else len(values)


def _within_turns(left: Floats, right: Floats, threshold: float) -> int:
    """Pairs of vectors in the plane whose directions differ by at most the threshold, in half turns."""
    turns = [np.sort(np.arctan2(side[:, 1], side[:, 0])[(side != 0).any(axis=1)] / np.pi) for side in (left, right)]
    around = np.concatenate([turns[1] - 2.0, turns[1], turns[1] + 2.0])
    first = np.searchsorted(around, turns[0] - threshold, "left")
    last = np.searchsorted(around, turns[0] + threshold, "right")
    return int((last - first).sum())
