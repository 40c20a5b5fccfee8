"""Thresholds of similarity joins by how many pairs shall match: records of both streams are compared with each other before a run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.distances import DISTANCES
from engine.core.distances.edit import edits
from engine.core.mathematics import arccos
from engine.spec.base.problems import Refusal
from engine.spec.experiment.experiment import Experiment
from engine.spec.rules.flow import Datasets

from .feed import Feed, build_feed
from .strings import Strings

Floats = NDArray[np.float64]
SAMPLE, SAMPLE_OF_TEXTS = 1500, 150
"""Records of each stream; texts take longer to compare."""
JOINS = ("similarity_join", "self_similarity_join", "cluster_join", "brute_force_join")
PAIRS_MIN = 10
"""So many pairs of the sample at least have to match, or chance decides."""


@dataclass(frozen=True)
class Sampled:
    """threshold: up to which about as many pairs match as asked for. share: of the sample's pairs that do. pairs: of the sample. sources:
    whose first records it has, by input."""

    threshold: float
    share: float
    pairs: int
    sources: dict[str, str]


def threshold_for(experiment: Experiment, join: str, selectivity: float, datasets: Datasets) -> Sampled:
    """The threshold of a similarity join at which this share of all pairs match. What is between sources and join is left out.

    selectivity: above 0, below 1. Raises Refusal for another operator, if the vectors are not those of sources, or if the share is too
    small for a sample.
    """
    params = join_params(experiment, join)
    sides = ("left", "right") if "left_coordinates" in type(params).model_fields else ("in",)
    sources, found = {}, []
    for side in sides:
        names = params.coordinates if side == "in" else getattr(params, f"{side}_coordinates")
        sources[side] = source_of(experiment, join, side)[-1]
        found.append(_records(experiment, sources[side], names, params.distance, datasets))
    apart = np.sort(_apart(params.distance, *found))
    count = round(selectivity * len(apart))
    if count < PAIRS_MIN:
        least = PAIRS_MIN / max(len(apart), 1)
        message = f"selectivity is {selectivity:g}, of which a sample has {count} of {len(apart):,} pairs; use at least {least:.2g}"
        raise Refusal(message, at=("selectivity",), code="too_small", value=selectivity)
    threshold = float(apart[count - 1] + apart[min(count, len(apart) - 1)]) / 2
    if threshold == 0.0:  # so many are equal
        threshold = float(apart[apart > 0].min(initial=1.0)) / 2
    threshold = float(f"{threshold:.6g}")
    return Sampled(threshold, float(np.mean(apart <= threshold)), len(apart), sources)


def join_params(experiment: Experiment, join: str) -> Any:
    """The parameters of a similarity join. Raises Refusal for another operator."""
    if join not in {spec.id for spec in experiment.query.operators if spec.kind in JOINS}:
        message = f"operator is '{join}', which is no similarity join; name one of the kinds {', '.join(JOINS)}"
        raise Refusal(message, at=("operator",), code="unknown", value=join)
    return experiment.operator(join).parameters


def source_of(experiment: Experiment, join: str, side: str) -> list[str]:
    """The way from a join back to the source whose records come to an input, both included."""
    at, port, edges, way = join, side, experiment.query.edges, [join]
    while experiment.operator(at).kind != "source":
        edge = next((edge for edge in edges if (edge.target, edge.target_port) == (at, port) and not edge.feedback), None)
        if edge is None:
            raise Refusal(f"the input '{port}' of '{at}' is not connected, so there are no records to compare", code="missing", value=at)
        at, same = edge.source, edge.source_port.removeprefix("out_")
        way.append(at)
        inputs = [before.target_port for before in edges if before.target == at]
        port = same if same in inputs else next(iter(inputs), "in")
    return way


def _records(experiment: Experiment, source: str, names: Any, distance: str, datasets: Datasets) -> Any:
    """The vectors of a source's first records (n, dimensions), or their texts."""
    strings = Strings()
    feed = build_feed(experiment, source, list(experiment.workload.sources).index(source), strings, datasets)
    missing = [name for name in names if name not in feed.fields]
    if missing:
        message = f"'{missing[0]}' is no field of '{source}', but made behind it, so its records tell nothing; choose the threshold itself"
        raise Refusal(message, code="unknown_field", value=missing[0])
    size = SAMPLE_OF_TEXTS if DISTANCES[distance].of_texts else SAMPLE
    before_ns = 1 + bisect_left(range(feed.closes_ns), min(size, feed.count), key=feed.count_before)
    chunk = feed.chunk(0, before_ns)
    words = chunk.words[chunk.trigger >= 0][:size]
    columns = [feed.fields.index(name) for name in names]
    if DISTANCES[distance].of_texts:
        return strings.texts(words[:, columns[0]])
    if feed.schema.type_of(names[0]) == "vector":
        return _whole(feed, words[:, columns[0]], before_ns)
    return np.ascontiguousarray(words[:, columns]).view(np.float64)


def _whole(feed: Feed, words: NDArray[np.int64], before_ns: int) -> Floats:
    number = int(words[0]) >> 40 if len(words) else 0
    vectors = feed.vectors(before_ns)[number]
    found: Floats = vectors[words & ((1 << 40) - 1)]
    return found


def _apart(distance: str, left: Any, right: Any = None) -> Floats:
    """The distances of all pairs, or of all within one sample. Shape (pairs,)."""
    of = between(distance, left, left if right is None else right)
    apart = of[np.triu_indices(len(left), 1)] if right is None else of.reshape(-1)
    return apart[~np.isnan(apart)]


def between(distance: str, left: Any, right: Any) -> Floats:
    """Shape (len(left), len(right)). By products, so the last digits are not those of a run."""
    if DISTANCES[distance].of_texts:
        return np.array([*_edits(left, right)], np.float64).reshape(len(left), len(right))
    squares = [np.einsum("ij,ij->i", side, side) for side in (left, right)]
    products = left @ right.T
    if distance == "euclidean":
        apart: Floats = np.sqrt(np.maximum(squares[0][:, None] + squares[1][None, :] - 2 * products, 0.0))
        return apart
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / np.sqrt(squares[0][:, None] * squares[1][None, :])
    found: Floats = np.where(np.isnan(cosines), np.nan, arccos(np.nan_to_num(cosines)) / np.pi)
    return found


def _edits(left: list[str], right: list[str]) -> Iterator[int]:
    scratch = [0] * (1 + max(map(len, right), default=0))
    for a in left:
        for b in right:
            yield edits([*a, *b], 0, len(a), len(a), len(b), len(a) + len(b), scratch)
