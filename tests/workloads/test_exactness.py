"""The pairs that a join has to find, against what runs find.

What this catches: windows or streams other than those of the run; a pair within one stream counted twice; a check that cannot fail.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import engine
from engine.spec import Experiment
from engine.spec.base.problems import Refusal
from engine.workloads import lookup
from engine.workloads.datasets import to_parquet
from engine.workloads.exactness import expected_pairs
from tests.support.tiers import spread

from ..support.agreement import with_params
from ..support.similarity_examples import brute_force, clusters, counted, self_join, texts, whole, worksets

SLIDING = {"kind": "sliding", "size_s": 0.02, "slide_s": 0.008}


def expected(document: dict[str, Any]) -> Any:
    return expected_pairs(Experiment.model_validate(document), "join", lambda name: None)


def found(document: dict[str, Any]) -> int:
    return int(engine.run(document).summary["operators"]["join"]["out"])


MAKERS = [
    worksets,
    self_join,
    brute_force,
    lambda **about: clusters("space", **about),
    lambda **about: whole(worksets(dimensions=5, distance="euclidean", **about | {"threshold": 0.6})),
    lambda **about: self_join(dimensions=3, **about),
    lambda **about: texts(worksets(**about | {"threshold": 2})),
    lambda **about: texts(self_join(**about | {"threshold": 2})),
]
WINDOWS: list[Any] = [None, SLIDING, {"kind": "tumbling", "size_s": 0.015, "origin_s": -0.004}, {"kind": "full_history"}]


@pytest.mark.parametrize(("make", "window"), spread([(make, window) for window in WINDOWS for make in MAKERS], ci=11))
def test_runs_find_what_comparing_all_finds(make: Any, window: dict[str, Any] | None) -> None:
    document = make(per_s=3000.0, threshold=0.11, window=window)
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 3.0}
        source["watermarks"]["lag_ms"] = 3.0
    about = expected(document)
    assert about.least == about.most == found(counted(document))
    assert about.least > 20


def test_the_last_record_of_a_file_counts(tmp_path: Path) -> None:
    """At its time the log closes."""
    vectors = np.random.default_rng(1).normal(size=(40, 60))
    times = np.datetime64("2026-01-01", "us") + (np.arange(40) * 1000).astype("timedelta64[us]")
    parquet.write_table(pa.table({"time": times, "id": np.arange(40), "embedding": list(vectors)}), tmp_path / "upload.parquet")
    to_parquet(tmp_path / "upload.parquet", tmp_path / "embeddings.parquet")
    document = whole(self_join(threshold=0.45, window={"kind": "full_history"}))
    for operator in document["query"]["operators"]:
        if "coordinates" in operator["params"]:
            operator["params"]["coordinates"] = ["embedding"]
    stream = {"kind": "file", "dataset": "embeddings", "timestamp": "time"}
    document["workload"]["sources"]["left"] |= {"stream": stream, "rate": {"kind": "recorded", "speed": 1}}
    datasets = lookup([tmp_path])
    about = expected_pairs(Experiment.model_validate(document), "join", datasets)
    assert about.records == {"in": 40}
    run = engine.run(document, datasets=datasets)
    assert about.least == about.most == run.summary["operators"]["join"]["out"] > 20


def test_a_join_that_finds_pairs_twice_is_told_from_an_exact_one() -> None:
    document = clusters("key", partitions=300, threshold=0.05)
    about = expected(document)
    assert found(document) > about.most


@pytest.mark.parametrize(("change", "says"), [
    (lambda d: d["query"]["operators"][2].update(kind="filter", params={"predicate": "x1 > 0"}), "'left-spaces' (filter) stands between"),
    (lambda d: d["query"]["operators"][5]["params"]["window"].update(size_s=1e-6), "there are 49,901 windows"),
    (lambda d: d["workload"]["sources"]["left"]["rate"].update(per_s=100_000_000.0), "'left' has 5,000,000 records; up to 2,000,000 such"),
])  # fmt: skip
def test_what_cannot_be_checked_is_said(change: Any, says: str) -> None:
    document = copy.deepcopy(worksets())
    change(document)
    with pytest.raises(Refusal) as refused:
        expected(document)
    assert says in str(refused.value)


def test_windows_by_the_clock_cannot_be_known_before() -> None:
    document = worksets(window={"kind": "tumbling", "size_s": 0.02, "clock": "processing"})
    with pytest.raises(Refusal, match="windows by event time alone"):
        expected(document)
    with pytest.raises(Refusal, match="'sink', which is no similarity join"):
        expected_pairs(Experiment.model_validate(with_params(document, "sink")), "sink", lambda name: None)
