"""Jobs with similarity joins, and the pairs that they have to find."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.spec.experiment.experiment import Experiment
from engine.workloads import Strings, build_feed

from .corner_cases import document as of_parts
from .corner_cases import host, watermarks

Document = dict[str, Any]
TUMBLING = {"kind": "tumbling", "size_s": 0.02}
BY_WORKER = {"kind": "hash", "key": "worker", "scheme": "modulo"}


def vectors(per_s: float, dimensions: int, **more: Any) -> Document:
    stream = {"kind": "vectors", "dimensions": dimensions, "law": more.pop("law", "uniform")}
    return {"stream": stream, "rate": {"kind": "constant", "per_s": per_s}, "watermarks": watermarks(1.0), **more}


def worksets(
    workers: int = 3,
    threshold: float = 0.05,
    per_s: float = 10_000.0,
    dimensions: int = 2,
    window: Document | None = None,
    distance: str = "angular",
    horizon_s: float = 0.05,
    seed: int = 42,
    spaces: int = 0,
    **parts: Any,
) -> Document:
    """S3J: a space for each worker unless `spaces` says how many, worksets in it, a join of them. Records that are late go to a sink of
    their own."""
    window = window or TUMBLING
    late = window["kind"] in ("tumbling", "sliding") and window.get("clock") != "processing"
    names = [f"x{n + 1}" for n in range(dimensions)]
    metric = {"distance": distance, "threshold": threshold}
    both = {"left_coordinates": names, "right_coordinates": names, **metric, "window": window}
    space = {"coordinates": names, **metric, "spaces": spaces or workers, "seed": seed}
    kinds: dict[str, tuple[str, int, Document]] = {
        "left": ("source", 1, {}),
        "right": ("source", 1, {}),
        "left-spaces": ("space_partitioner", workers, space),
        "right-spaces": ("space_partitioner", workers, space),
        "worksets": ("workset_formulation", workers, {**both, "workers": workers}),
        "join": ("similarity_join", workers, {**both, "select": ["id", "right_id", "workset"]}),
        "sink": ("sink", 1, {}),
    }
    edges: list[Document] = []
    for side in ("left", "right"):
        by_space = {"kind": "hash", "key": "space", "scheme": "modulo"}
        edges += [
            {"source": side, "target": f"{side}-spaces", "partitioning": {"kind": "rebalance"}},
            {"source": f"{side}-spaces", "target": "worksets", "target_port": side, "partitioning": by_space},
            {"source": "worksets", "source_port": f"out_{side}", "target": "join", "target_port": side, "partitioning": BY_WORKER},
        ]
    edges.append({"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}})
    if late:
        kinds["late"] = ("sink", 1, {})
        edges += [
            {"source": "worksets", "source_port": f"late_{side}", "target": "late", "partitioning": {"kind": "rebalance"}}
            for side in ("left", "right")
        ]
    operators = [{"id": id, "kind": kind, "parallelism": p, "params": params} for id, (kind, p, params) in kinds.items()]
    sources = {side: vectors(per_s, dimensions) for side in ("left", "right")}
    hosts = [host("w", count=2, cores=max(16, 6 * workers))]
    return of_parts(operators, edges, parts.pop("hosts", hosts), sources, horizon_s=horizon_s, **parts)


def clusters(key: str = "key", dedupe: bool = False, partitions: int = 40, **about: Any) -> Document:
    """ClusterJoin in place of the spaces and worksets of `worksets`."""
    document = worksets(**about)
    query = document["query"]
    operators = {operator["id"]: operator for operator in query["operators"]}
    workers = operators["join"]["parallelism"]
    for side in ("left", "right"):
        operators[f"{side}-spaces"]["kind"] = "cluster_partitioner"
        operators[f"{side}-spaces"]["params"] |= {"spaces": partitions, "workers": workers}
    operators["join"]["kind"] = "cluster_join"
    operators["join"]["params"] |= {"left_key": key, "right_key": key, "dedupe_key": dedupe, "select": ["id", "right_id"]}
    query["operators"] = [operator for operator in query["operators"] if operator["id"] not in ("worksets", "late")]
    query["edges"] = [edge for edge in query["edges"] if "worksets" not in (edge["source"], edge["target"])]
    for side in ("left", "right"):
        query["edges"].append({"source": f"{side}-spaces", "target": "join", "target_port": side, "partitioning": BY_WORKER})
    return document


def self_join(**about: Any) -> Document:
    """The left stream of `worksets`, with itself."""
    document = worksets(**about)
    query = document["query"]
    operators = {operator["id"]: operator for operator in query["operators"]}
    for id, kind in (("worksets", "self_workset_formulation"), ("join", "self_similarity_join")):
        params = operators[id]["params"]
        params["coordinates"] = params.pop("left_coordinates")
        del params["right_coordinates"]
        operators[id]["kind"] = kind
    query["operators"] = [operator for operator in query["operators"] if operator["id"] not in ("right", "right-spaces")]
    query["edges"] = [
        edge for edge in query["edges"] if "right" not in str([edge.get("source"), edge.get("source_port"), edge.get("target_port")])
    ]
    for edge in query["edges"]:
        edge.pop("target_port", None)
        if "source_port" in edge:
            edge["source_port"] = edge["source_port"].removeprefix("out_").replace("late_left", "late").replace("left", "out")
    del document["workload"]["sources"]["right"]
    return document


def brute_force(**about: Any) -> Document:
    """All against all, on one instance."""
    document = worksets(**about)
    query = document["query"]
    join = next(operator for operator in query["operators"] if operator["id"] == "join")
    join |= {"kind": "brute_force_join", "parallelism": 1}
    join["params"]["select"] = ["id", "right_id"]
    query["operators"] = [operator for operator in query["operators"] if operator["id"] in ("left", "right", "join", "sink")]
    query["edges"] = [{"source": side, "target": "join", "target_port": side} for side in ("left", "right")]
    query["edges"].append({"source": "join", "target": "sink"})
    return document


def whole(document: Document) -> Document:
    """The same job, with each vector as one field."""
    document = copy.deepcopy(document)
    for source in document["workload"]["sources"].values():
        source["stream"]["fields"] = "vector"
    for operator in document["query"]["operators"]:
        for name in operator["params"].keys() & {"coordinates", "left_coordinates", "right_coordinates"}:
            operator["params"][name] = ["v"]
    return document


def texts(document: Document) -> Document:
    """The same job, with names of persons in place of vectors: few differ by a letter or two."""
    document = copy.deepcopy(document)
    for source in document["workload"]["sources"].values():
        source["stream"] = {"kind": "nexmark_person"}
    for operator in document["query"]["operators"]:
        for name in operator["params"].keys() & {"coordinates", "left_coordinates", "right_coordinates"}:
            operator["params"] |= {name: ["name"], "distance": "edit"}
    return document


def counted(document: Document) -> Document:
    """The same job, with pairs that are counted and not made."""
    document = copy.deepcopy(document)
    for operator in document["query"]["operators"]:
        if operator["kind"] in ("similarity_join", "self_similarity_join", "cluster_join", "brute_force_join"):
            operator["params"] = {name: value for name, value in operator["params"].items() if name != "select"} | {"pairs": "counted"}
        if operator["id"] == "sink":
            operator["params"] = {"counted_by": "pairs"}
    return document


def points(document: Document, source: str) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Numbers, vectors and event times of a source's records. Shapes (n,), (n, dimensions), (n,)."""
    experiment = Experiment.model_validate(document)
    feed = build_feed(experiment, source, list(experiment.workload.sources).index(source), Strings(), {})
    chunk = feed.chunk(0, feed.closes_ns)
    columns = {name: chunk.words[:, n] for n, name in enumerate(feed.fields)}
    if "v" in columns:
        [drawn] = feed.vectors().values()
        return columns["id"], drawn[columns["id"]], columns["time"]
    coordinates = np.stack([words for name, words in columns.items() if name.startswith("x")], axis=1)
    return columns["id"], np.ascontiguousarray(coordinates).view(np.float64), columns["time"]


def true_self_pairs(document: Document, threshold: float, window_s: float | None, distance: str = "angular") -> Counter[tuple[int, int]]:
    """The pairs of the left stream with itself, the larger number first."""
    pairs = _pairs([points(document, "left")] * 2, threshold, window_s, distance)
    return Counter(pair for pair in pairs if pair[0] > pair[1])


def true_pairs(document: Document, threshold: float, window_s: float | None, distance: str = "angular") -> Counter[tuple[int, int]]:
    """The pairs of a tumbling window by event time (None: of all records) by comparing all, with NumPy's functions."""
    return _pairs([points(document, side) for side in ("left", "right")], threshold, window_s, distance)


def _pairs(sides: list[Any], threshold: float, window_s: float | None, distance: str) -> Counter[tuple[int, int]]:
    (left_ids, left, left_ns), (right_ids, right, right_ns) = sides
    if distance == "angular":
        units = [vectors / np.linalg.norm(vectors, axis=1)[:, None] for vectors in (left, right)]
        apart = np.arccos(np.clip(units[0] @ units[1].T, -1, 1)) / np.pi
    else:
        apart = np.linalg.norm(left[:, None, :] - right[None, :, :], axis=2)
    assert np.abs(apart - threshold).min() > 1e-9  # so rounding does not matter
    match = apart <= threshold
    if window_s is not None:
        size_ns = round(window_s * 1e9)
        match &= left_ns[:, None] // size_ns == right_ns[None, :] // size_ns
    rows, columns = np.nonzero(match)
    return Counter(zip(left_ids[rows].tolist(), right_ids[columns].tolist(), strict=True))
