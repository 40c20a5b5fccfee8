"""Records made to measure: keys in turn, uniform fields, vectors (Karimov 2020, 4.4, 5.4; Heinrich et al. 2024, V; Siachamis 2024, 2.5)."""

from __future__ import annotations

import numpy as np
import pytest

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
