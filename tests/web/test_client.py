"""The Python client. Catches: a call that the API does not have, a table that differs from what the API said, an unclear refusal."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client
from launcher.environment import PYTHON
from launcher.services import Service, free_port

from webapp.accounts.models import ApiToken
from webapp.lab.models import Run, RunState, Study
from webapp.lab.people import member
from workers import execution, studies
from workers.spark import jobs
from workers.spark.session import SESSION

from .conftest import ROOT, RedisProcess, long_document, process_environment, small_document, wait_for

sys.path.insert(0, str(ROOT / "client"))
import millrace
from millrace import waiting
from millrace.connection import Connection
from millrace.errors import LabError

from tests.support.patience import PATIENCE_S

from .executing import SparkHere
from .study_examples import sweep

pytestmark = pytest.mark.django_db(transaction=True)  # runs are attended by a thread with a connection of its own
SOURCES = sorted((ROOT / "client" / "millrace").glob("*.py"))
METHODS = ("GET", "POST", "PUT", "DELETE")


@functools.cache
def served_openapi() -> dict[str, Any]:
    document: dict[str, Any] = Client(HTTP_HOST="127.0.0.1").get("/api/openapi.json").json()
    return document


@pytest.fixture
def openapi() -> dict[str, Any]:
    """The API's document. It is made once: it takes half a second, and no test changes it."""
    return served_openapi()


def calls() -> set[tuple[str, str]]:
    """Method and address of every call in the client's source."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                first = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
                if len(first) == 2 and first[0] in METHODS:
                    found.add((str(first[0]), str(first[1])))
    return found


class Checking(httpx.BaseTransport):
    """The application in this process. Each request is held against the OpenAPI document; workers work between two requests."""

    def __init__(self, openapi: dict[str, Any]) -> None:
        self.inner = httpx.WSGITransport(app=get_wsgi_application())
        self.openapi, self.made = openapi, set[tuple[str, str]]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path, operation = self.operation(request)
        self.made.add((request.method, path))
        named = {parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"}
        assert set(request.url.params) <= named, f"{request.method} {path} has no such parameters"
        if request.read() and request.headers["Content-Type"] == "application/json":
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            accepted = [self.openapi["components"]["schemas"][ref] for ref in re.findall(r"schemas/(\w+)", json.dumps(schema))]
            body = json.loads(request.content)
            assert any(set(body) <= set(one["properties"]) and set(one.get("required", [])) <= set(body) for one in accepted), (path, body)
        response = self.inner.handle_request(request)
        response.read()
        documented = {int(status) for status in operation["responses"] if status.isdecimal()}
        assert response.status_code in documented or response.status_code >= 400, f"{request.method} {path} answers {response.status_code}"
        work()
        return response

    def operation(self, request: httpx.Request) -> tuple[str, dict[str, Any]]:
        for path, methods in self.openapi["paths"].items():
            if request.method.lower() in methods and re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), request.url.path):
                return path, methods[request.method.lower()]
        raise AssertionError(f"the API has no {request.method} {request.url.path}")


def work() -> None:
    """What one worker would do now."""
    for study in Study.objects.filter(state=RunState.QUEUED):
        studies.advance(study.pk)
    for run in Run.objects.filter(state=RunState.QUEUED):
        execution.execute(str(run.pk))
        studies.after(run.pk)


@pytest.fixture
def transport(openapi: dict[str, Any], working_here: None, monkeypatch: pytest.MonkeyPatch) -> Checking:
    monkeypatch.setattr(waiting, "LOOK_S", 0.0)
    return Checking(openapi)


@pytest.fixture
def remote(transactional_db: None, transport: Checking) -> millrace.Lab:
    """The lab as a program of its owner sees it."""
    _, token = ApiToken.issue(member("ada"), "notebook")
    return millrace.connect("http://127.0.0.1", token, transport=transport)


def test_groups_of_no_run_have_the_columns_of_their_measures(remote: millrace.Lab) -> None:
    none = remote.groups(["state"], ["took"], search="seed=-1")
    assert none["took.median"].empty
    assert (none.index.names, list(none)[:2], list(none)[-3:]) == (["state"], ["runs", "search"], ["took.mean", "took.low", "took.high"])


def test_a_filter_of_runs_that_does_not_exist_is_refused(remote: millrace.Lab) -> None:
    for find in (remote.runs, lambda **which: remote.groups("state", ["took"], **which), lambda **which: remote.points(["took"], **which)):
        assert find(state="failed", of_studies=True).empty
        with pytest.raises(TypeError, match="tags"):
            find(tags="good")


def test_every_call_is_in_the_openapi_document(openapi: dict[str, Any]) -> None:
    known = {(method.upper(), path) for path, methods in openapi["paths"].items() for method in methods}
    assert len(calls()) > 25
    assert calls() - known == set()


@pytest.mark.slow
@pytest.mark.one_database
def test_everything_that_the_client_can_do(
    remote: millrace.Lab, transport: Checking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one go, at the end of which every call of its source was made."""
    monkeypatch.setattr(SESSION, "get", SparkHere)
    assert repr(remote) == "<lab 'Lab' at http://127.0.0.1, as ada (metrics, read, write)>"
    assert remote.check(small_document())["hash"]

    run = remote.submit(small_document(), seed=3).wait(progress=False)
    assert (run.state, run.seed, run.document["workload"]["seed"]) == ("succeeded", 3, 3)
    frames = run.frames()
    assert (len(frames), frames.index.name, frames.index[-1]) == (8, "t_s", 2.0)
    stored = Run.objects.get(pk=run.id)
    assert run.summary == stored.summary
    assert set(run.attribution().index) == {operator["id"] for operator in run.document["query"]["operators"]}
    assert stored.hash in run.citation()
    with pytest.raises(millrace.LabError, match=r"the keys of bids\[0\] cannot be told: 'bids' is a source"):
        run.keys("bids", 0)
    assert len(run.plot().data) == 3
    with pytest.raises(millrace.LabError, match=r"no column 'latency_ms\.p42'; choose from"):
        run.plot("latency_ms.p42")

    assert (run.judged, run.verdicts.empty) == (None, True)
    claimed = remote.submit({**small_document(), "assertions": [{"name": "in time", "check": "latency_ms.p99 < 1000"}]}).wait(
        progress=False
    )
    assert claimed.judged == "holds"
    assert claimed.verdicts.loc[0, ["name", "state"]].to_list() == ["in time", "holds"]
    claimed.delete()

    again = run.rerun().wait(progress=False)
    assert again.digest == run.digest
    fork = run.fork(1.0, load=2.0).wait(progress=False)
    assert list(run.differences(fork)["text"]) == ["Load × 2 from 1 s"]
    assert fork.summary["records_in"] > run.summary["records_in"]
    order = {"at_s": 1.2, "parallelism": {"sink": 2}}
    rescaled = run.fork(1.0, rescales=[order]).wait(progress=False)
    assert rescaled.document["policies"]["scaling"]["orders"] == [order]
    assert rescaled.summary["scaling"]["actions"] == 1
    with pytest.raises(millrace.LabError, match="nobody"):
        run.fork(1.0, rescales=[{"at_s": 1.2, "parallelism": {"nobody": 2}}])
    rescaled.delete()
    assert run.tag("kept").told["tags"] == ["kept"]
    assert list(remote.runs(tag="kept").index) == [run.number]
    assert run.untag("kept").told["tags"] == []
    table = remote.runs("seed=3", sort="number")
    assert list(table.index) == [run.number, again.number, fork.number]
    assert table.loc[run.number, "latency_ms.p99"] == run.summary["latency_ms"]["p99"]
    assert remote.runs("seed=4").empty
    assert "latency_ms.p99" in remote.fields("p99")["metrics"]
    assert remote.runs("seed=3", values=["horizon_s"])["horizon_s"].tolist() == [2.0, 2.0, 2.0]
    groups = remote.groups("author", ["p99"], f"number={run.number}")
    assert (groups.loc["ada", "runs"], groups.loc["ada", "p99.median"]) == (1, run.summary["latency_ms"]["p99"])
    assert list(remote.runs(groups.loc["ada", "search"]).index) == [run.number]
    assert remote.groups(["state", "rate/kind"], search="seed=4").empty
    points = remote.points(["p99", "state"], "seed=3")
    assert points.loc[run.number].tolist() == [run.id, run.summary["latency_ms"]["p99"], "succeeded"]
    assert remote.run(run.number).id == remote.run(run.id).id == run.id
    fork.delete()
    assert fork.number not in remote.runs().index
    remote.restore([fork.id])
    assert fork.cancel().state == "succeeded"

    experiment = remote.experiment(small_document(1.0))
    stale = remote.open(experiment.id)
    assert experiment.save(small_document(1.5)).problems == []
    assert remote.open(experiment.id).document["workload"]["horizon_s"] == 1.5
    kept = experiment.versions()
    assert kept[["author", "token", "saves"]].to_numpy().tolist() == [["ada", "notebook", 1], ["ada", "notebook", 1]]
    assert [experiment.version(number)["workload"]["horizon_s"] for number in kept.index] == [1.5, 1.0]
    with pytest.raises(millrace.LabError, match=r"version 1 is out of date: .* saved by ada at"):
        stale.restore(1)
    assert experiment.restore(1).document["workload"]["horizon_s"] == 1.0
    assert experiment.restore(2).told["version"] == 4
    assert experiment.run().wait(progress=False).told["horizon_s"] == 1.5
    assert "Small Q1" in set(remote.experiments()["name"])
    assert "nexmark_q1" in remote.templates()

    study = remote.study(sweep([500.0, 1000.0], [1, 2]), experiment).wait(progress=False)
    points = study.points("records_in", "latency_ms.p99")
    assert points[["rate", "seed"]].to_numpy().tolist() == [[500, 1], [500, 2], [1000, 1], [1000, 2]]
    means = points.groupby("rate")["records_in"].mean()
    assert study.over_seeds("records_in").set_index("rate")["mean"].to_dict() == means.to_dict()
    assert study.found().empty
    assert "records_in" in study.metrics
    assert len(study.plot("records_in").data) == 1
    assert study.assertions().empty
    assert remote.open_study(study.id).cancel().state == "succeeded"
    with pytest.raises(millrace.LabError, match="this study has nothing to retry"):
        study.retry()
    assert list(remote.studies().index) == [study.id]

    reads = remote.would_read({"study": study.id}, against={"search": "seed=3"}, span={"from_s": 0.5})
    assert (reads["runs"]["all"]["runs"], reads["against"]["new"]["runs"], reads["common"]) == (4, 3, 0)
    assert remote.ask("summaries", {"study": study.id}).cancel().state == "cancelled"
    asked = remote.ask("comparison", {"study": study.id}, against={"search": "seed=3"}, metrics=["records_in"])
    jobs.make(asked.id)
    answer = asked.wait(progress=False)
    assert (answer.kind, answer.runs, answer.read, len(answer.rows())) == ("comparison", 7, 7, 1)
    assert list(answer.pooled()["runs"]) == [3, 4]

    (tmp_path / "taps.csv").write_text("at,key\n2024-01-01T00:00:00Z,1\n2024-01-01T00:00:01Z,2\n")
    assert remote.preview(tmp_path / "taps.csv").problems == []
    made = remote.upload(tmp_path / "taps.csv")
    assert made["rows"] == 2
    assert remote.dataset(made["id"])["reading"]["columns"][0]["time_format"] == "iso"
    assert remote.datasets().loc["taps", "rows"] == 2

    assert remote.figures("benchmark").loc["benchmark/3.7", "status"] == "reproduced", "it comes with Millrace"
    figure = remote.figure("benchmark/3.7", "smoke")
    assert set(figure.assertions["state"]) == {"not run"}
    assert len(figure.plot().data) == 0
    with pytest.raises(millrace.LabError, match="has not ended"):
        figure.reproduce(timeout_s=0.0, progress=False)
    assert calls() - transport.made == set()


def test_a_file_is_previewed_and_uploaded_with_a_changed_reading(remote: millrace.Lab, tmp_path: Path) -> None:
    file = tmp_path / "abroad.csv"
    file.write_text("Zeit;class;Preis\n31.01.2026 12:00:00;a;1,5\n31.01.2026 12:00:01;b;-\n")
    shown = remote.preview(file)
    assert shown.columns["type"].to_dict() == {"Zeit": "timestamp", "class": "string", "Preis": "string"}
    shown = remote.preview(
        file, {"nulls": ["-"], "missing": "skip_row", "decimal": ",", "columns": [{"written": "Preis", "name": "price"}]}
    )
    assert (shown.read["price"].tolist(), shown.written["Preis"].tolist()) == ([1.5, None], ["1,5", "-"])
    assert shown.reasons["/columns/2/type"] == "1 of 2 rows hold '-'"
    assert "these rows are skipped" in repr(shown)
    shown.reading["columns"][1]["keep"] = False
    assert list(remote.preview(file, shown.reading).read.columns) == ["Zeit", "price"]
    made = remote.upload(file, reading=shown.reading)
    assert (made["rows"], [column["name"] for column in made["columns"]]) == (1, ["Zeit", "price"])
    with pytest.raises(millrace.LabError, match="decimal is 'x'; it must be"):
        remote.preview(file, {"decimal": "x"})
    with pytest.raises(millrace.LabError, match="cannot be read"):
        remote.preview(tmp_path / "none.csv")


def test_numbers_of_tables_are_those_of_the_frames(remote: millrace.Lab) -> None:
    """To the last bit, though they come as text."""
    run = remote.submit(small_document()).wait(progress=False)
    told = remote.connection.call("GET", "/api/runs/{run_id}/frames", run_id=run.id)["frames"]
    table = run.frames()
    assert table["latency_ms.mean"].tolist() == [frame["latency_ms"]["mean"] for frame in told]
    assert table["in_per_s"].tolist() == [frame["in_per_s"] for frame in told]


def test_refusals_say_field_value_and_what_would_be_right(remote: millrace.Lab, transport: Checking, tmp_path: Path) -> None:
    wrong = small_document()
    wrong["workload"]["horizon_s"] = -1
    wrong["query"]["operators"][0]["kind"] = "nexmark.bidz"
    with pytest.raises(millrace.LabError) as refused:
        remote.submit(wrong)
    assert {"/workload/horizon_s", "/query/operators/0/kind"} <= {problem["pointer"] for problem in refused.value.problems}
    text = str(refused.value)
    assert "/workload/horizon_s" in text
    assert "-1" in text
    assert refused.value._render_traceback_() == [text]
    assert remote.experiments().empty, "nothing was stored"

    (tmp_path / "list.yaml").write_text("- 1\n")
    for source, says in {
        str(tmp_path / "none.yaml"): "cannot be read: No such file",
        str(tmp_path / "list.yaml"): "is not a mapping",
        "a: [1\n": "neither YAML nor JSON",
    }.items():
        with pytest.raises(millrace.LabError, match=says):
            remote.submit(source)
    with pytest.raises(millrace.LabError, match="cannot convert to JSON"):
        remote.check({"workload": {"horizon_s": float("nan")}})
    with pytest.raises(millrace.LabError, match="no run 99"):
        remote.run(99)
    with pytest.raises(millrace.LabError, match="no run has a metric or parameter 'p98'"):
        remote.runs("p98>1")
    with pytest.raises(millrace.LabError, match="unknown token"):
        millrace.connect("http://127.0.0.1", "millrace_none", transport=transport)
    with pytest.raises(millrace.LabError, match=r"http://127\.0\.0\.1:9 does not respond"):
        millrace.connect("http://127.0.0.1:9", "millrace_none")
    with pytest.raises(millrace.LabError, match="no token given"):
        millrace.connect("http://127.0.0.1", " ")


def test_what_failed_says_why_and_a_server_that_is_away_is_waited_for(remote: millrace.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    run = remote.submit(small_document()).wait(progress=False)
    Run.objects.update(state=RunState.FAILED, error="the disk is full")
    with pytest.raises(millrace.LabError, match="run 1 failed: the disk is full"):
        run.wait(progress=False)
    assert run.wait(progress=False, check=False).state == "failed"
    asked = iter([httpx.ConnectError("refused"), httpx.ReadTimeout("late")])
    request = remote.connection.http.request

    def now_and_then(*arguments: Any, **named: Any) -> httpx.Response:
        if (error := next(asked, None)) is not None:
            raise error
        return request(*arguments, **named)

    monkeypatch.setattr(remote.connection.http, "request", now_and_then)
    assert run.wait(progress=False, check=False).state == "failed"


def test_every_public_name_says_what_it_is() -> None:
    for name in millrace.__all__:
        assert inspect.getdoc(getattr(millrace, name)), name


def snippet() -> str:
    """The example that the README gives."""
    blocks = re.findall(r"```python\n(import millrace.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.fixture
def server(transactional_db: None, redis: RedisProcess, tmp_path: Path) -> Iterator[str]:
    """A real web server on the test's database."""
    port = free_port(tmp_path / "port")
    command = [str(PYTHON), "-m", "uvicorn", "webapp.asgi:application", "--host", "127.0.0.1", "--port", str(port), "--lifespan", "off"]
    web = Service("web", command, process_environment(), tmp_path / "web.log")
    web.start()
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/api/health", timeout=PATIENCE_S).status_code in (200, 503)
        except httpx.TransportError:
            return False

    try:
        wait_for(answers, "the server to answer", 60)
        yield url
    finally:
        web.ask_to_stop()
        web.stop(time.monotonic() + 5)


@pytest.mark.slow
@pytest.mark.one_database
def test_the_example_of_the_readme(
    server: str, start_worker: Callable[[], Service], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against a real server and a real worker; then a run is watched while it goes on, and stopped."""
    start_worker()
    _, token = ApiToken.issue(member("ada"), "notebook")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MILLRACE_URL", server)
    monkeypatch.setenv("MILLRACE_TOKEN", f"  {token[:20]}\n{token[20:]} ")
    names: dict[str, Any] = {}
    exec(compile(snippet(), "README.md", "exec"), names)
    assert "succeeded" in capsys.readouterr().err, "the bar says how it went"
    assert isinstance(names["run"].frames(), pd.DataFrame)
    assert names["run"].state == "succeeded"
    lab = names["lab"]
    long = lab.submit(long_document())
    with pytest.raises(millrace.LabError, match="it keeps running"):
        long.wait(timeout_s=0.5, progress=False)
    assert long.cancel().wait(check=False, progress=False).state == "cancelled"
    assert os.environ["MILLRACE_URL"] in repr(lab)


def repeating(monkeypatch: pytest.MonkeyPatch, *answers: httpx.Response | Exception) -> tuple[Connection, list[httpx.Request]]:
    """A connection that gets these answers, and the requests so far."""
    monkeypatch.setattr("millrace.connection.PAUSES_S", (0.0, 0.0, 0.0))
    left, asked = list(answers), []

    def answer(request: httpx.Request) -> httpx.Response:
        request.read()
        asked.append(request)
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return Connection("http://lab.test", "token", httpx.MockTransport(answer)), asked


def test_what_got_no_answer_is_sent_again_with_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    away, made = httpx.Response(503, headers={"Retry-After": "0"}, json={"detail": "away"}), httpx.Response(201, json={"id": 1})
    connection, asked = repeating(monkeypatch, httpx.ReadError("cut"), away, made)
    assert connection.call("POST", "/api/studies", body={"a": 1}) == {"id": 1}
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    assert [request.content for request in asked] == [b'{"a": 1}'] * 3
    file = tmp_path / "x.csv"
    file.write_text("a,b")
    connection, asked = repeating(monkeypatch, httpx.ReadError("cut"), made)
    assert connection.upload("POST", "/api/datasets", file, {}) == {"id": 1}
    assert all(b"a,b" in request.content for request in asked)


def test_requests_that_are_refused_or_cannot_be_repeated_are_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = httpx.Response(409, json={"detail": "the name is taken"})
    connection, asked = repeating(monkeypatch, taken)
    with pytest.raises(LabError, match="the name is taken"):
        connection.call("POST", "/api/studies", body={})
    connection, changes = repeating(monkeypatch, httpx.ReadError("cut"))
    with pytest.raises(LabError, match="does not respond"):
        connection.call("PUT", "/api/storage", body={})
    assert (len(asked), len(changes)) == (1, 1)


def test_a_server_that_stays_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, asked = repeating(monkeypatch, *[httpx.ConnectError("refused")] * 4)
    with pytest.raises(LabError, match=r"http://lab.test does not respond \(refused\); is Millrace running there\?"):
        connection.call("GET", "/api/runs")
    assert len(asked) == 4


def test_what_makes_nothing_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, asked = repeating(monkeypatch, httpx.Response(200, json={}), httpx.Response(200, json={}))
    connection.call("POST", "/api/validate", body={})
    connection.call("GET", "/api/runs")
    assert ["Idempotency-Key" in request.headers for request in asked] == [False, False]
