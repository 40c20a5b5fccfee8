"""Documents as Python code, and back. Catches: code that builds another document than it was written from, or code that is executed."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engine.spec import Experiment, read_document
from tests.support.network_cases import regions_far_apart
from tests.support.tiers import spread
from webapp.lab.models import Lab, Run
from webapp.reports.python_code import WIDTH, NotOurs, read, write
from workers import execution

from .conftest import ROOT, new_experiment, new_run, small_document
from .test_client import openapi, remote, transport  # noqa: F401

EXAMPLES = sorted((ROOT / "fixtures" / "experiments").glob("*.yaml"))
SHORT = ["checkmate_q3.yaml", "nexmark_q8_windows.yaml", "yahoo.yaml"]


def code_of(document: dict[str, Any]) -> str:
    return write(document, Experiment.model_validate(document))


def executed(code: str) -> Any:
    """The document that the code hands to the client package when a notebook executes it."""
    lab = mock.Mock()
    with mock.patch.dict("sys.modules", {"millrace": types.SimpleNamespace(connect=lambda: lab)}):
        exec(code, {})
    return lab.submit.call_args.args[0]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_code_of_every_example_builds_the_same_experiment(path: Path) -> None:
    document = read_document(path)
    hash = Experiment.model_validate(document).hash
    code = code_of(document)
    built = executed(code)
    assert Experiment.model_validate(built).hash == hash
    assert read(code) == built, "read without being executed"
    assert (built["name"], built.get("ui")) == (document["name"], document.get("ui"))
    assert max(map(len, code.splitlines())) <= WIDTH + 40, "lines can be read; one value alone may be long"


def test_code_looks_as_people_would_write_it() -> None:
    code = code_of(yaml.safe_load((ROOT / "fixtures" / "experiments" / "advertisement.yaml").read_text()))
    lines = code.splitlines()
    assert lines[:3] == ["import millrace", "", 'name = "Advertisement clicks"']
    assert {"seed = 1", "horizon_s = 30.0"} <= set(lines), "the default, too: it is what people change"
    assert '    dict(id="clicks", kind="source", parallelism=2),' in lines
    assert '    dict(source="clicks", target="urls"),' in lines, "forward is the default"
    assert '    dict(name="w", count=4, cores=2),' in lines
    assert "    query=dict(operators=operators, edges=edges)," in lines
    assert lines[-3:] == ["lab = millrace.connect()", "run = lab.submit(document).wait()", "run.digest"]


def test_links_between_regions_stand_beside_the_hosts() -> None:
    document = regions_far_apart()
    code = code_of(document)
    assert '    dict(source="far", target="east", latency_ms=0.3),' in code.splitlines(), "both ways is the default"
    assert Experiment.model_validate(read(code)).hash == Experiment.model_validate(document).hash


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", spread(SHORT, ci=1))
def test_the_code_runs_to_the_same_digest(name: str, remote: Any, client: Client) -> None:  # noqa: F811
    document = yaml.safe_load((ROOT / "fixtures" / "experiments" / name).read_text())
    document["workload"].update(horizon_s=2.0, warmup_s=0.0)
    run = new_run(new_experiment(Lab.objects.get(), document))
    execution.execute(str(run.pk))
    code = client.get(f"/api/runs/{run.pk}/export", {"format": "py"}).content.decode()
    with mock.patch("millrace.connect", return_value=remote):
        notebook: dict[str, Any] = {}
        exec(code, notebook)
    assert notebook["run"].digest == Run.objects.get(pk=run.pk).digest != ""


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)
keys = texts | st.sampled_from(["from", "class", "None", "name", "kind", "id", "sources"])
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(keys | st.sampled_from(["workload", "query", "ui", "description"]), trees, max_size=6))
def test_whatever_a_draft_holds_comes_back(draft: dict[str, Any]) -> None:
    code = write(draft, None)
    assert json.dumps(read(code), sort_keys=True) == json.dumps(draft, sort_keys=True) == json.dumps(executed(code), sort_keys=True)


def test_strange_texts_are_seen_and_come_back() -> None:
    name = 'ab\u202ecd "quoted" it\'s \N{PARTY POPPER} \u05e9\u05dc\u05d5\u05dd \\ \t' + "x" * 500
    code = write({"name": name, "description": "word " * 300 + "\n\n  end "}, None)
    assert read(code) == {"name": name, "description": "word " * 300 + "\n\n  end "}
    assert "\u202e" not in code, "what turns the reading direction is written as an escape"
    assert "\N{PARTY POPPER} \u05e9\u05dc\u05d5\u05dd" in code


def test_what_people_edit_is_read() -> None:
    code = code_of(small_document()).replace("seed = 1", "seed = -7  # mine").replace("import millrace", "import millrace\nrate = 5_000")
    code = code.replace("per_s=2000", "per_s=rate").replace("\n", "\r\n")
    document = read(code)
    assert (document["workload"]["seed"], document["workload"]["sources"]["bids"]["rate"]["per_s"]) == (-7, 5000)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ('import millrace\n\nx = open("/etc/passwd")\ndocument = {}', r"line 3 calls open\(\)"),
        ("import os", "line 1 imports os"),
        ("from os import system", "line 1 imports from os"),
        ('import millrace\n__import__("os").system("true")', r"line 2 calls system\(\)"),
        ("import millrace; document = {}", "line 1 imports millrace"),
        ("def f(): pass", "line 1 defines f"),
        ("x = dict(**{})", "line 1 has a mapping with a key that is not a text"),
        ("x = dict([1])", r"line 1 calls dict\(\)"),
        ("x = {1: 2}", "line 1 has a mapping with a key that is not a text"),
        ("x = dict(a=1, a=2)", "line 1 gives 'a' twice"),
        ("x = {'a': 1, 'a': 2}", "line 1 gives 'a' twice"),
        ("x = 3 * 4", "line 1 calculates a value"),
        ("x = [i for i in 3]", "line 1 has a loop"),
        ("x = f'{x}'", "line 1 has an f-string"),
        ("x = b'bytes'", "line 1 has a value that no document has"),
        ("x = 1j", "line 1 has a value that no document has"),
        ("x = y", "line 1 uses y, which no line above it assigns"),
        ("x = (lambda: 1)()", r"line 1 calls a function\(\)"),
        ("x[0] = 1", "line 1 has assign"),
        ("document = dict(workload=dict(horizon_s=1e400))", "line 1 has a number that is too large"),
        ("document = dict(seed=" + "9" * 400 + ")", "whole numbers must fit 64 bits"),
        ("document = " + "9" * 5000, "line 1 is not Python"),
        ("document = [1]", "does not assign a mapping to the variable 'document'"),
        ("name = 'x'", "does not assign a mapping to the variable 'document'"),
        ("", "does not assign a mapping"),
        ("document = {", "line 1 is not Python"),
        ("document = {'a': '\x00'}", "cannot be parsed|not Python"),
        ("x = " + "[" * 100_000, "not Python|cannot be parsed"),
        ("x = " + "-" * 100_000 + "1", "not Python|cannot be parsed|calculates"),
        ("x = " + "a." * 50_000 + "b()", "not Python|cannot be parsed|calls"),
        ("x = " + "1+" * 50_000 + "1", "not Python|cannot be parsed|calculates"),
        ("#" * 300_001, "300,001 characters; at most 300,000 are read as Python"),
        (
            "a = [0, 0]\n" + "".join("a = [a, a]\n" for _ in range(60)) + "document = dict(a=a)",
            "nested more than|more than 1,000,000 bytes",
        ),
        (
            "a = dict(" + ", ".join(f"k{n}=0" for n in range(3000)) + ")\nb = [" + "a, " * 3000 + "]\ndocument = dict(b=b)",
            "1,000,000 bytes",
        ),
    ],
)
def test_other_code_is_refused_with_its_line(code: str, why: str) -> None:
    with pytest.raises(NotOurs, match=why):
        read(code)


@pytest.mark.django_db
def test_the_api_writes_and_reads(client: Client) -> None:
    def post(path: str, body: dict[str, Any]) -> Any:
        return client.post(path, body, content_type="application/json")

    document = small_document()
    code = post("/api/python", {"document": document}).json()["code"]
    assert code == code_of(document)
    assert (
        Experiment.model_validate(post("/api/python/read", {"code": code}).json()["document"]).hash
        == Experiment.model_validate(document).hash
    )
    refused = post("/api/python/read", {"code": 'import millrace\n\ndocument = open("x")'})
    assert refused.status_code == 422
    assert refused.json()["detail"] == "line 3 calls open(): only documents as Millrace writes them can be pasted"
    zero = post("/api/python/read", {"code": 'document = dict(name="\\x00")'})
    assert (zero.status_code, zero.json()["problems"][0]["pointer"]) == (422, "/name")
    draft = {"query": 3, "name": ["odd"]}
    assert post("/api/python/read", {"code": post("/api/python", {"document": draft}).json()["code"]}).json()["document"] == draft
