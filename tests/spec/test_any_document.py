"""Validation of documents that chance has broken: it always answers, its pointers fit, and what it accepts can be used."""

from __future__ import annotations

import copy
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec import InvalidExperiment, examine, load, placement_of, schemas

from .documents import CONTEXT, q3, trips

KNOWN = [
    "source",
    "filter",
    "map",
    "join",
    "sink",
    "hash",
    "forward",
    "spread",
    "explicit",
    "id",
    "seller",
    "state",
    "w1",
    "out",
    "left",
    "none",
    "",
]
scalars = (
    st.none() | st.booleans() | st.integers(-3, 5) | st.integers() | st.floats() | st.sampled_from(KNOWN) | st.text(max_size=5)
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=3), inner, max_size=3)
)


def places(value, path=()):
    """Paths of everything in a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


@st.composite
def broken(draw):
    """A sound document after up to five random changes: a value replaced, removed, doubled, or taken from elsewhere in it."""
    document = copy.deepcopy(draw(st.sampled_from([q3(), trips()])))
    for _ in range(draw(st.integers(1, 5))):
        paths = [path for path in places(document) if path]
        if not paths:
            break
        *path, last = draw(st.sampled_from(paths))
        here = document
        for part in path:
            here = here[part]
        what = draw(st.sampled_from(["replace", "remove", "add", "copy"]))
        if what == "remove":
            del here[last]
        elif what == "replace":
            here[last] = draw(values)
        elif what == "copy":
            other = document
            for part in draw(st.sampled_from(paths)):
                other = other[part]
            here[last] = copy.deepcopy(other)
        elif isinstance(here, list):
            here.append(draw(values | st.just(here[last])))
        else:
            here[draw(st.sampled_from(KNOWN))] = draw(values)
    return document


def resolves(document, pointer):
    """The pointer leads to a value of the document, or to a field that its parent lacks."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for position, part in enumerate(parts):
        if isinstance(document, list):
            if not part.isdigit() or int(part) >= len(document):
                return False
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            # what is missing: a field, or a section with defaults and a field in it
            return isinstance(document, dict) and position >= len(parts) - 3
    return True


@given(broken())
@settings(max_examples=3 * settings.default.max_examples, deadline=None, derandomize=True)
def test_any_document_is_answered(document):
    before = copy.deepcopy(document)
    findings = examine(document, CONTEXT)
    assert repr(document) == repr(before), "the document is not changed"
    for problem in findings.problems:
        json.dumps(problem.as_dict(), allow_nan=False)
        assert problem.message
        assert problem.code
        assert len(problem.message) < 700
        assert resolves(document, problem.pointer), problem
    named = [(problem.pointer, problem.code, problem.message) for problem in findings.problems]
    assert len(named) == len(set(named)), named
    if findings.experiment is None:
        assert findings.problems
        with pytest.raises(InvalidExperiment) as raised:
            load(document, CONTEXT)
        assert [problem.message for problem in raised.value.problems] == [problem.message for problem in findings.problems]
        return
    experiment = findings.experiment
    assert len(experiment.hash) == 64
    again = load(json.dumps(experiment.model_dump(mode="json", by_alias=True)), CONTEXT)
    assert again == experiment
    assert again.hash == experiment.hash
    hosts = experiment.expanded_hosts()
    placed = placement_of(experiment)
    flow = schemas(experiment, CONTEXT)
    for operator in experiment.query.operators:
        assert len(placed[operator.id]) == operator.parallelism
        assert all(0 <= index < len(hosts) for index in placed[operator.id])
    for edge in experiment.query.edges:
        assert flow[f"{edge.source}.{edge.source_port}"].fields == flow[f"{edge.target}.{edge.target_port}"].fields
    assert all(math.isfinite(host.speed_milli) and host.speed_milli > 0 for host in hosts)


@given(values)
@settings(max_examples=settings.default.max_examples // 2, deadline=None, derandomize=True)
def test_any_value_is_answered(value):
    assert examine(value, CONTEXT).problems
