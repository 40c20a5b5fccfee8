"""Reading documents: YAML and JSON, safely, with the limits, and what is refused before anything is built."""

from __future__ import annotations

import json
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec import InvalidExperiment, load, read_document

from .documents import CONTEXT, q3


def refused(text: str | bytes):
    with pytest.raises(InvalidExperiment) as raised:
        read_document(text)
    [problem] = raised.value.problems
    return problem


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

BAD_TEXTS = {
    "alias bomb": (BOMB, "alias", ["*a", "write the value itself", "line 2"]),
    "anchor of itself": ("a: &a [*a]\nb: 1", "alias", ["*a"]),
    "python tag": ("a: !!python/object/apply:os.system ['ls']\nb: 1", "tag", ["python/object", "plain values"]),
    "own tag": ("a: !thing 3\nb: 1", "tag", ["!thing"]),
    "duplicate key": ("query:\n  edges: []\n  edges: []\n", "duplicate_key", ["'edges'", "twice", "line 3"]),
    "duplicate key in JSON": ('{"format": 1, "format": 1}', "duplicate_key", ["'format'", "twice"]),
    "several documents": ("format: 1\n---\nformat: 1\n", "several_documents", ["more than one", "keep one"]),
    "list": ("- 1\n- 2\n", "wrong_type", ["a list", "mapping"]),
    "text": ("hello\nworld\n", "wrong_type", ["a string", "mapping"]),
    "empty": ("\n", "wrong_type", ["empty", "mapping"]),
    "list as a key": ("? [1, 2]\n: 3\n", "syntax", ["key", "scalar"]),
    "not YAML": ("a: [1, 2\nb: 3\n", "syntax", ["line 2", "correct the syntax"]),
    "not YAML either": ("a: b: c\n", "syntax", ["line 1", "correct the syntax"]),
    "control character": ("a: \x07\n", "syntax", ["not YAML"]),
    "not JSON": ('{"a": 1,, "b": 2}', "syntax", ["neither JSON nor YAML", "column"]),
    "deep YAML": ("a:\n" + "".join("  " * k + "- a:\n" for k in range(1, 60)), "too_deep", ["50 levels"]),
    "very deep YAML": ("a: " + "[" * 100_000 + "\n", "too_deep", ["50 levels"]),
    "very deep JSON": ('{"a": ' + "[" * 400_000 + "]" * 400_000 + "}", "too_deep", ["50 levels"]),
    "number of 5,000 digits": ("a: " + "9" * 5000 + "\n", "out_of_range", ["5000 digits"]),
    "not UTF-8": (b"name: Z\xfcrich\n", "wrong_encoding", ["0xfc", "position 7", "UTF-8"]),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_text(name):
    text, code, words = BAD_TEXTS[name]
    problem = refused(text)
    assert problem.code == code
    assert [word for word in words if word not in problem.message] == [], problem.message


def test_pointer_of_a_duplicate_key():
    assert refused("query:\n  a/b: 1\n  a/b: 2\n").pointer == "/query/a~1b"


def test_ten_megabytes_are_refused_before_they_are_parsed(tmp_path, monkeypatch):
    text = "format: 1\nui: [" + "x, " * 3_400_000 + "]\n"
    path = tmp_path / "large.yaml"
    path.write_text(text)
    parsed = []
    for parser in ("_from_yaml", "_from_json"):
        monkeypatch.setattr(f"engine.spec.experiment.document.{parser}", parsed.append)
    for source in (text, text.encode(), path):
        problem = refused(source)
        assert problem.code == "too_large"
        assert "at most 1,000,000" in problem.message
    assert parsed == []


def test_scalars_of_yaml():
    document = read_document(
        "whole: 1\nhex: 0x10\nrate: 1e6\nhalf: .5\nstate: no\nday: 2026-01-31\nyes: true\nnothing: ~\nempty:\n"
        "quoted: '1'\nfolded: >\n  a\n  b\n"
        "huge: .inf\nnone: .nan\ntime: 12:30:00\nlist: [1, a]\n1: one\non: [push]\n"
    )
    assert math.isnan(document.pop("none"))
    assert document == {
        "whole": 1, "hex": 16, "rate": 1e6, "half": 0.5, "state": "no", "day": "2026-01-31", "yes": True, "nothing": None, "empty": None,
        "quoted": "1", "folded": "a b\n", "huge": math.inf, "time": "12:30:00", "list": [1, "a"], "1": "one", "on": ["push"],
    }  # fmt: skip


def test_files_texts_and_mappings_are_the_same(tmp_path):
    document = q3()
    as_yaml, as_json = tmp_path / "q3.yaml", tmp_path / "q3.json"
    as_yaml.write_text(yaml.safe_dump(document))
    as_json.write_text("\ufeff" + json.dumps(document))
    flow = "{" + yaml.safe_dump(document, default_flow_style=True, width=10**6).strip()[1:]
    sources = [
        document,
        as_yaml,
        str(as_yaml),
        as_json,
        json.dumps(document),
        json.dumps(document).encode(),
        yaml.safe_dump(document),
        flow,
    ]
    assert len({load(source, CONTEXT).hash for source in sources}) == 1


def test_a_missing_file_is_missing():
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_document("nowhere.yaml")


texts = st.text(st.characters(codec="utf-8"), max_size=20).filter(lambda text: not text[-1:].isdigit())
"""PyYAML writes YAML 1.1, where 1e3 is a text that needs no quotes; such texts are left out."""
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(texts, plain, min_size=1, max_size=5))
def test_json_and_yaml_come_back_as_written(document):
    assert read_document(json.dumps(document)) == document
    assert read_document(yaml.safe_dump(document, allow_unicode=False) + "\n") == document


@given(
    st.text(max_size=60).map(lambda text: text + "\n")
    | st.text("{}[]:,-&*!|>'\"%@`#? \n\tabc01.", max_size=40).map(lambda text: text + "\n")
    | st.binary(max_size=60)
)
@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None, derandomize=True)
def test_any_text_is_a_mapping_or_refused(text):
    try:
        document = read_document(text)
    except InvalidExperiment:
        return
    assert isinstance(document, dict)
