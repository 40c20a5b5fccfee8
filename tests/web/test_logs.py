"""Logs. Catches: a line of which nobody knows what it is about, and an error that cannot be found in the log."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from redis.exceptions import ConnectionError as Unreachable

from webapp.api import lab as lab_routes
from webapp.lab.models import Membership, Run
from webapp.lab.people import member
from webapp.lib.logs import JsonLines, Lines, bound
from webapp.lib.redis_outages import REDIS, NotOfAnOutageOfRedis
from workers import app, run_monitor

from .conftest import ROOT, new_experiment, new_run, process_environment, small_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What is logged, as JSON lines."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def told(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_for_people_and_for_programs() -> None:
    record = logging.LogRecord("webapp.messaging.queue", logging.WARNING, "", 0, "%s is\naway", ("Redis",), None)
    assert Lines().format(record).endswith("WARNING webapp.messaging.queue: Redis is\naway")
    with bound(request="r1"), bound(run="a", study=None):
        assert Lines().format(record).endswith("away [request=r1 run=a]")
        line = JsonLines().format(record)
    assert "\n" not in line
    about = json.loads(line)
    assert about.pop("at").endswith("+00:00")
    expected = {"level": "warning", "logger": "webapp.messaging.queue", "message": "Redis is\naway", "request": "r1", "run": "a"}
    assert about == expected


def test_an_outage_of_redis_is_two_lines(logged: io.StringIO) -> None:
    (handler,) = [one for one in logging.getLogger().handlers if getattr(one, "stream", None) is logged]
    handler.addFilter(NotOfAnOutageOfRedis())
    celery, refused = logging.getLogger("celery.worker.consumer.consumer"), ConnectionRefusedError("refused")
    celery.warning("%s (%r)", "Connection to broker lost", refused)
    celery.error("Cannot connect to %s: %s", "redis", Unreachable("nobody there"))
    try:
        try:
            raise refused
        except ConnectionRefusedError:
            raise AttributeError("no connection_errors")  # noqa: B904 as Celery does
    except AttributeError:
        celery.exception("Error on restarting Tasks")
    logging.getLogger("py.warnings").warning("... worker_cancel_long_running_tasks_on_connection_loss ...")
    celery.error("something else")
    logging.getLogger("celery.app.trace").error("Task raised %r", refused)
    logging.getLogger("workers.publisher").warning("live frames wait (%s)", refused)
    REDIS.over()
    REDIS.over()
    said = [line["message"] for line in told(logged)]
    others = ["something else", "Task raised ConnectionRefusedError('refused')", "live frames wait (refused)"]
    assert said == ["Redis cannot be reached (refused)", *others, "Redis is back after 0 s"]


def test_an_error_of_the_server_is_found_by_the_id_of_its_request(
    client: Client, owner: Membership, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> bool:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(lab_routes, "database_is_up", broken)
    answer = client.get("/api/health", headers={"X-Request-ID": "from-the-proxy:7"})
    assert (answer.status_code, answer.headers["X-Request-ID"]) == (500, "from-the-proxy:7")
    (line,) = [line for line in told(logged) if "exception" in line]
    assert (line["request"], "no such luck" in line["exception"]) == ("from-the-proxy:7", True)
    ids = {client.get("/api/me", headers={"X-Request-ID": given}).headers["X-Request-ID"] for given in ("", "a\tb", "x" * 65)}
    assert len(ids) == 3
    assert all(len(id) == 32 for id in ids), "what is no id is not taken for one"


@pytest.mark.django_db(transaction=True)
def test_what_a_worker_logs_names_the_run(working_here: None, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the thread beside the engine, too."""
    renew = run_monitor.Monitor._renew

    def talkative(self: run_monitor.Monitor) -> None:
        run_monitor.log.info("renewing")
        renew(self)

    monkeypatch.setattr(run_monitor.Monitor, "_renew", talkative)
    monkeypatch.setattr(run_monitor, "RENEW_S", 0.0)
    run = new_run(new_experiment(member("ada").lab, small_document(horizon_s=20.0, per_s=20_000)))
    Run.objects.filter(pk=run.pk).update(pace=20.0)  # long enough for the thread to have something to do
    app.execute_run(str(run.pk))
    about = {line["message"]: line.get("run") for line in told(logged)}
    assert about["renewing"] == str(run.pk)
    assert about[f"run {run.pk} (#1): succeeded"] == str(run.pk)


def test_the_format_is_chosen_by_the_environment() -> None:
    program = "import django; django.setup(); import logging; logging.getLogger('x').warning('hello')"
    for chosen, begins in (("json", '{"at": '), ("", "20"), ("xml", None)):
        environment = {**process_environment(), "MILLRACE_LOG_FORMAT": chosen}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=180
        )
        if begins is None:
            assert "MILLRACE_LOG_FORMAT is 'xml'; it must be 'lines' or 'json'" in done.stderr
        else:
            assert done.stderr.startswith(begins), done.stderr
