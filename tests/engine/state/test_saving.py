"""Objects as JSON values and bytes, and back.

What this catches: an object that occurs twice and becomes two; a class that a file names and nobody allowed; a type that is lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.core.control.actors import packed, unpacked
from engine.state.saving import named, plain, revived


@dataclass
class Part:
    words: np.ndarray
    name: str = ""


@dataclass
class Whole:
    parts: list[Part]
    first: Part
    by_key: dict[tuple[int, int], Part]
    ask: object = field(default=None)


CLASSES = named([Part, Whole])


def through_a_file(value: object) -> object:
    """As snapshots do it."""
    state, contents = packed(plain(value, CLASSES, ("ask",)))
    return revived(unpacked(json.loads(json.dumps(state)), contents), CLASSES)


def test_it_comes_back_with_what_it_shares() -> None:
    one, two = Part(np.arange(6).reshape(2, 3), "one"), Part(np.array([True, False]), "two")
    back = through_a_file(Whole([one, two, one], one, {(1, 2): two}, ask=print))
    assert isinstance(back, Whole)
    assert back.parts[0] is back.parts[2] is back.first
    assert back.by_key[1, 2] is back.parts[1]
    assert back.first.words.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert back.parts[1].words.dtype == bool
    assert not hasattr(back, "ask") or back.ask is None
    back.first.words[0, 0] = 7  # it may be changed


def test_what_is_none_of_its_classes_is_refused() -> None:
    with pytest.raises(TypeError, match="a set is no part of a snapshot; known are Part, Whole"):
        plain({1: {2}}, CLASSES)
    state = plain(Part(np.zeros(1)), CLASSES)
    with pytest.raises(KeyError):
        revived(state | {"class": "Popen"}, CLASSES)
