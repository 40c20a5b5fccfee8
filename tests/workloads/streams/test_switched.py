"""A stream that changes at a moment: which records are whose, whatever is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.spec import validate

from ..documents import experiment, feed

BEFORE: dict[str, Any] = {"kind": "vectors", "dimensions": 2}
AFTER: dict[str, Any] = {"kind": "vectors", "dimensions": 2, "law": "pareto"}
RATE = {"kind": "constant", "per_s": 1000.0}


def source(stream: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"stream": stream, "rate": RATE, **more}


@pytest.mark.parametrize("disorder", [{"kind": "none"}, {"kind": "uniform", "max_ms": 100.0}])
def test_event_times_say_whose_a_record_is(disorder: dict[str, Any]) -> None:
    """Also of records that come late. Numbers, times and each half's values are those of the stream alone."""
    switched = {"kind": "switched", "before": BEFORE, "at_s": 0.5, "after": AFTER}
    found, before, after = (feed(source(stream, disorder=disorder)).chunk(0, 2**62) for stream in (switched, BEFORE, AFTER))
    early = found.event_ns < 500_000_000
    assert 0 < early.sum() < len(found)
    assert (found.trigger == before.trigger).all()
    assert (found.event_ns == after.event_ns).all()
    assert (found.words == np.where(early[:, None], before.words, after.words)).all()


@pytest.mark.parametrize("disorder", [{"kind": "none"}, {"kind": "uniform", "max_ms": 100.0}])
def test_event_times_say_whose_a_whole_vector_is(disorder: dict[str, Any]) -> None:
    one, other = ({**stream, "fields": "vector", "dimensions": 60} for stream in (BEFORE, AFTER))
    switched = feed(source({"kind": "switched", "before": one, "at_s": 0.5, "after": other}, disorder=disorder))
    [(number, found)] = switched.vectors().items()
    before, after = (feed(source(stream, disorder=disorder)).vectors()[number] for stream in (one, other))
    chunk = switched.chunk(0, 2**62)
    records = chunk.words[:, switched.fields.index("v")] & (2**40 - 1)
    early = chunk.event_ns < 500_000_000
    assert (found[records] == np.where(early[:, None], before[records], after[records])).all()
    assert not (before == after).all()


def test_a_part_of_the_fields_is_what_the_whole_has() -> None:
    about = source({"kind": "switched", "before": BEFORE, "at_s": 0.3, "after": AFTER})
    whole, parts = feed(about).chunk(0, 2**62), [feed(about).chunk(at, at + 10**8) for at in range(0, 10**9, 10**8)]
    assert (whole.words == np.concatenate([part.words for part in parts])).all()


def test_a_switch_may_follow_another() -> None:
    inner = {"kind": "switched", "before": BEFORE, "at_s": 0.2, "after": AFTER}
    twice = feed(source({"kind": "switched", "before": inner, "at_s": 0.6, "after": BEFORE})).chunk(0, 2**62)
    alone = feed(source(BEFORE)).chunk(0, 2**62)
    same = (twice.words == alone.words).all(axis=1)
    assert same.tolist() == [not 200_000_000 <= event_ns < 600_000_000 for event_ns in twice.event_ns.tolist()]


@pytest.mark.parametrize(
    ("after", "at", "says"),
    [
        ({"kind": "synthetic"}, "after", "give both the same"),
        ({"kind": "vectors", "dimensions": 3}, "after", "x3 float"),
        ({"kind": "file", "dataset": "flights", "timestamp": "departure"}, "after/kind", "use a generated stream"),
    ],
)
def test_other_fields_are_refused(after: dict[str, Any], at: str, says: str) -> None:
    document = experiment(source(BEFORE)).model_dump(mode="json", by_alias=True)
    document["workload"]["sources"]["source"]["stream"] = {"kind": "switched", "before": BEFORE, "at_s": 1, "after": after}
    place = f"/workload/sources/source/stream/{at}"
    assert any(problem.pointer == place and says in problem.message for problem in validate(document)), validate(document)
