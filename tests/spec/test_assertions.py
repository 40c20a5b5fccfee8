"""Assertions of documents: every name is known or the nearest one is told, and every refusal says where and what would be right.

What this catches: an assertion that is accepted and can never be judged, names that cannot be written, a slow or incomprehensible refusal,
and a hash that changes because somebody asserts something.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.base.problems import Problem
from engine.spec.experiment.metrics import quantities
from engine.spec.expressions.assertions import Type, parse_of_run
from engine.spec.rules.validation import examine, load
from tests.support.corner_cases import host
from tests.support.study_examples import queue, sink

DOCUMENT = queue(sink(10), machine=host("a-1.x"), horizon_s=1.0)


def asserted(*assertions: dict[str, Any]) -> dict[str, Any]:
    return {**DOCUMENT, "assertions": list(assertions)}


def problems(check: str, name: str = "it holds", **more: Any) -> list[Problem]:
    return examine(asserted({"name": name, "check": check, **more})).problems


def test_assertions_are_not_part_of_the_hash() -> None:
    plain, with_one = load(DOCUMENT), load(asserted({"name": "fast", "check": "latency_ms.p99 < 1"}))
    assert (with_one.hash, with_one.setup_hash) == (plain.hash, plain.setup_hash)
    assert with_one.assertions[0].name == "fast"


REFUSED: dict[str, tuple[str, int | None, str]] = {
    "latency_ms.p98 < 1": ("unknown_name", 1, "did you mean 'latency_ms.p99'?"),
    "lost == 0 and p99 < 1000": ("unknown_name", 15, "did you mean 'latency_ms.p99'?"),
    "operators.snik.in > 1": ("unknown_name", 1, "did you mean 'operators.sink.in'?"),
    "latency_ms.p99.high < 1": ("unknown_name", 1, "did you mean 'latency_ms.p99'?"),
    "memory.a-1.used_bytes < 1": ("unknown_name", 1, "did you mean 'memory.a-1.x.used_bytes'?"),
    "latency_ms.p99 < 1,5": ("not_allowed", 20, "decimals with a point"),
    "latency_ms.p99 < 1e400": ("out_of_range", 18, "at most 1e+300"),
    "latency_ms.p99": ("wrong_type", None, "must be a comparison"),
    "frames.latency_ms.p99 < 1": ("wrong_type", None, "write all(...) or any(...)"),
    "frames.latency_ms.p99": ("wrong_type", None, "is a series"),
    "1 < 2": ("not_measured", None, "no measured value"),
    "lost = 0": ("syntax", 6, "write == to compare"),
    "lost / 0 < 1": ("division_by_zero", 8, "divides by zero"),
    "latency_ms.p99 < '1'": ("wrong_type", 18, "not a number"),
    "lost < tolerance": ("unknown_name", 8, "no value 'tolerance'"),
    "lost < reported(lost)": ("unknown_function", 8, "no function 'reported'"),
    "__import__('os').system('x') == 0": ("not_allowed", 1, "by its name"),
    "lost < 1 \u202e": ("syntax", 10, "U+202E"),
    "lost \u2264 1": ("syntax", 6, "U+2264"),
    "\u05e9\u05dc\u05d5\u05dd == 0": ("unknown_name", 1, "no value"),
    "lost < \U0001f600": ("syntax", 8, "U+1F600"),
    "lost < 1" + " and lost < 1" * 700: ("too_long", None, "at most 1000"),
    "not " * 200 + "lost < 1": ("too_deep", None, "nested too deeply"),
    "": ("too_short", None, "at least 1"),
}


@pytest.mark.parametrize("check", REFUSED)
def test_bad_checks_are_refused(check: str) -> None:
    code, column, words = REFUSED[check]
    (problem,) = problems(check)
    assert (problem.pointer, problem.code, problem.severity) == ("/assertions/0/check", code, "error")
    assert words in f"{problem.message} {problem.hint}"
    if column is not None:
        assert f"(column {column})" in problem.message
        assert problem.message.startswith("'it holds': ")


@pytest.mark.parametrize(
    "name", ["p99 < 1 s", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\U0001f600\u200d\U0001f680", "x" * 100]
)
def test_names_are_texts_of_any_script(name: str) -> None:
    assert problems("lost == 0", name=name) == []


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("", "too_short", "at least 1"), ("x" * 500, "too_long", "at most 100"), (" x", "wrong_form", "space"),
        ("a\nb", "wrong_form", "U+000A"),
        ("\u202eholds", "wrong_form", "U+202E"), ("a\x00", "wrong_form", "U+0000"),
    ],
)  # fmt: skip
def test_bad_names_are_refused(name: str, code: str, words: str) -> None:
    (problem,) = problems("lost == 0", name=name)
    assert (problem.pointer, problem.code) == ("/assertions/0/name", code)
    assert words in problem.message


def test_two_assertions_have_two_names() -> None:
    same = {"name": "fast", "check": "lost == 0"}
    (problem,) = examine(asserted(same, same)).problems
    assert (problem.pointer, problem.code) == ("/assertions/1/name", "duplicate")


@pytest.mark.parametrize(
    "document", [{"assertions": 3}, {"assertions": [{"name": "x"}]}, {"assertions": [{"name": 1, "check": 2, "by": 3}]}]
)
def test_other_shapes_are_refused(document: dict[str, Any]) -> None:
    found = examine({**DOCUMENT, **document}).problems
    assert found
    assert all(problem.pointer.startswith("/assertions") for problem in found)


def test_what_a_run_will_not_measure_is_a_warning() -> None:
    (problem,) = problems("scaling.down_s < 1 or lost == 0")
    assert (problem.severity, problem.code) == ("warning", "not_measured")
    assert "scaling is 'none'" in problem.message


def test_every_name_can_be_written() -> None:
    """Words of Python, hyphens and dots inside names included; what follows a name is not taken for a part of it."""
    known = quantities(load(DOCUMENT))
    assert {"operators.sink.in", "memory.a-1.x.used_bytes", "frames.hosts.a-1.x.busy"} <= known.keys()
    types: dict[str, Type] = {name: quantity.type for name, quantity in known.items()}
    for name, type in types.items():
        for check in (f"{name}-1 > 2", f"2 >{name}", f"({name})<-{name}"):
            expression = parse_of_run(check, types)
            assert expression.names == {name}
            assert expression.type == ("truth" if type == "number" else "truths")


def test_the_longest_known_name_is_read() -> None:
    types: dict[str, Type] = {"o.a.in": "number", "o.a-b.in": "number", "b": "number"}
    assert parse_of_run("o.a-b.in > 0", types).names == {"o.a-b.in"}
    assert parse_of_run("o.a.in-b > 0", types).names == {"o.a.in", "b"}
