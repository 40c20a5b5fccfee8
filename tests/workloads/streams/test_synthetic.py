"""Records made to measure: keys in turn, uniform fields, vectors (Karimov 2020, 4.4, 5.4; Heinrich et al. 2024, V; Siachamis 2024, 2.5)."""

from __future__ import annotations

import numpy as np
import pytest

from engine.spec import validate
from tests.support.corner_cases import document, host

from ..made import columns, shares

COUNT = 60_000


def test_keys_in_turn_and_five_fields_below_a_hundred():
    made = columns({"kind": "synthetic"}, COUNT)
    assert list(made) == ["key", "number", "i1", "i2", "i3", "i4", "i5", "time"]
    assert (made["key"] == np.arange(COUNT) % 1000).all()
    assert (made["number"] == np.arange(COUNT)).all()
    for name in ("i1", "i5"):
        assert abs(np.bincount(made[name]) / COUNT * 100 - 1).max() < 0.15
    assert np.corrcoef(made["i1"], made["i2"])[0, 1] == pytest.approx(0, abs=0.02)


def test_keys_by_chance():
    made = columns({"kind": "synthetic", "keys": 4, "in_turn": False, "integers": 0}, COUNT)
    assert shares(made["key"]) == pytest.approx(dict.fromkeys(range(4), 0.25), abs=0.01)


def test_the_values_of_the_cost_model_experiments():
    """Integers from -10 to 10, fractions of two decimals of which the ends are half as frequent, one hexadecimal digit."""
    stream = {"kind": "synthetic", "integers": 1, "integer_min": -10, "integer_max": 10, "floats": 1, "strings": 1}
    made = columns(stream, COUNT)
    assert shares(made["i1"]) == pytest.approx(dict.fromkeys(range(-10, 11), 1 / 21), abs=0.005)
    fractions = shares(np.round(made["f1"] * 100).astype(int))
    expected = {cents: 0.05 if abs(cents) == 5 else 0.1 for cents in range(-5, 6)}
    assert fractions == pytest.approx(expected, abs=0.006)
    assert shares(made["s1"]) == pytest.approx(dict.fromkeys("0123456789abcdef", 1 / 16), abs=0.005)


def test_vectors():
    uniform = columns({"kind": "vectors"}, COUNT)
    assert list(uniform) == ["id", "x1", "x2", "time"]
    assert (uniform["x1"].min(), uniform["x1"].max()) == (pytest.approx(-1, abs=0.001), pytest.approx(1, abs=0.001))
    assert uniform["x1"].var() == pytest.approx(1 / 3, rel=0.02)
    assert np.corrcoef(uniform["x1"], uniform["x2"])[0, 1] == pytest.approx(0, abs=0.02)
    gaussian = columns({"kind": "vectors", "law": "gaussian"}, COUNT)["x2"]
    assert (gaussian.mean(), gaussian.std()) == (pytest.approx(-1, abs=0.03), pytest.approx(2, abs=0.03))
    pareto = columns({"kind": "vectors", "law": "pareto"}, COUNT)["x1"]
    assert (pareto.min(), pareto.mean()) == (pytest.approx(1, abs=0.001), pytest.approx(10 / 9, abs=0.003))


def test_skewed_vectors_lie_close_to_one():
    made = columns({"kind": "vectors", "law": "skewed"}, COUNT)
    expected = 2 * (np.exp(5) / (np.exp(5) + 1) - 0.5)
    assert np.median(made["x1"]) == pytest.approx(expected, abs=1e-4)
    assert made["x1"].std() == pytest.approx(2 * np.exp(-5) / 10, rel=0.05)


@pytest.mark.parametrize("dimensions", [2, 10, 50])
def test_clustered_vectors_lie_around_their_centres(dimensions):
    about = {"kind": "vectors", "law": "clustered", "dimensions": dimensions, "clusters": 3, "spread": 0.01}
    made = columns(about, 2000)
    vectors = np.stack([made[f"x{n + 1}"] for n in range(dimensions)], axis=1)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(2000))
    near = vectors @ vectors.T > 1 - 0.02 * dimensions * 0.05  # cosines of vectors around one centre
    labels = {tuple(row) for row in near}
    assert len(labels) == 3
    assert all(0.25 < np.mean(row) < 0.42 for row in labels)
    assert not np.allclose(vectors[0], columns(about | {"clusters": 4}, 1)["x1"])


def test_shares_of_vectors_lie_in_bands():
    bands = [{"turn": 0.2158, "width": 0.0005, "share": 0.05}, {"turn": -0.9999, "width": 0.001, "share": 0.2}]
    made = columns({"kind": "vectors", "law": "bands", "bands": bands}, COUNT)
    turns = np.arctan2(made["x2"], made["x1"]) / np.pi
    for band in bands:
        apart = np.abs((turns - band["turn"] + 1) % 2 - 1)
        assert np.mean(apart <= band["width"] / 2) == pytest.approx(band["share"], abs=0.01)
    first = columns({"kind": "vectors", "law": "bands", "bands": bands, "first": 20}, 40)
    assert np.hypot(first["x1"], first["x2"])[:20] == pytest.approx(np.ones(20))
    assert (np.abs(np.arctan2(first["x2"], first["x1"])[:20:2] / np.pi - 0.2158) < 0.001).all()
    rest = np.hypot(made["x1"], made["x2"]) < 0.999  # vectors in bands have length 1
    assert made["x1"][rest].mean() == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(
    ("fields", "place", "says"),
    [
        ({"dimensions": 3, "bands": [{}]}, "dimensions", "dimensions is 3, but bands are of directions in the plane; use 2"),
        ({}, "bands", "bands is empty; name at least one band"),
        ({"bands": [{"share": 0.6}, {"share": 0.5}]}, "bands", "the shares of the bands add up to 1.1; they may add up to 1"),
    ],
)
def test_bands_that_cannot_be_are_refused(fields, place, says):
    operators = [{"id": "vectors", "kind": "source"}, {"id": "sink", "kind": "sink"}]
    stream = {"kind": "vectors", "law": "bands", **fields}
    sources = {"vectors": {"stream": stream, "rate": {"kind": "constant", "per_s": 10}}}
    problems = validate(document(operators, [{"source": "vectors", "target": "sink"}], [host("w")], sources))
    assert [(problem.pointer.rpartition("/")[2], says in problem.message) for problem in problems] == [(place, True)]
