"""Similarity joins find the pairs of Spark SQL's cross join of the same input (see `test_spark`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...support.beside_spark import Case, window_start
from ...support.similarity_examples import clusters, worksets

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Document = dict[str, Any]
SIZE_S = 0.02


def dot(a: str, b: str, dimensions: int) -> str:
    """SQL for the inner product of two vectors."""
    return "(" + " + ".join(f"{a}.x{n} * {b}.x{n}" for n in range(1, dimensions + 1)) + ")"


def s3j_with_moves() -> Document:
    document = worksets(5, 0.005, per_s=52_000.0, horizon_s=1.0)
    document["policies"] = {"balancing": {"kind": "s3j", "mechanism": "online", "every_s": 0.05}}
    return document


def s3j_in_space() -> Document:
    return worksets(5, 0.05, per_s=52_000.0, horizon_s=1.0, dimensions=3)


def cluster_join() -> Document:
    return clusters(key="space", workers=5, threshold=0.005, per_s=52_000.0, horizon_s=1.0)


@pytest.mark.deep
@pytest.mark.parametrize(("make", "t", "dimensions"), [(s3j_with_moves, 0.005, 2), (s3j_in_space, 0.05, 3), (cluster_join, 0.005, 2)])
def test_the_pairs_are_those_of_a_cross_join(spark: Any, tmp_path: Path, make: Any, t: float, dimensions: int) -> None:
    document = make()
    join = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")
    join["params"]["select"] = ["id", "right_id"]
    case = Case(spark, tmp_path, document)
    for name in ("left", "right"):
        case.view(name, case.inputs[name])
    lengths = f"SQRT({dot('l', 'l', dimensions)}) * SQRT({dot('r', 'r', dimensions)})"
    cosine = f"GREATEST(-1, LEAST(1, {dot('l', 'r', dimensions)} / ({lengths})))"
    same_window = f"{window_start('l.event_ns', SIZE_S, 0)} = {window_start('r.event_ns', SIZE_S, 0)}"
    case.assert_equal(f"SELECT l.id, r.id AS right_id FROM left l JOIN right r ON {same_window} WHERE ACOS({cosine}) / PI() <= {t}")
    if make is s3j_with_moves:
        assert case.simulation.summary()["balancing"]["moves"] > 30
