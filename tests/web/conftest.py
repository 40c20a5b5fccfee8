"""A real Redis, a lab with a signed-in person, small experiments, and real worker processes."""

from __future__ import annotations

import copy
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from django.test import Client
from django.utils import timezone
from launcher.environment import PYTHON
from launcher.services import Service, redis_server

from tests.support.patience import PATIENCE_S
from webapp.accounts.models import ApiToken, Invitation
from webapp.lab.models import (
    CalibrationJob,
    Dataset,
    Experiment,
    Lab,
    Membership,
    Removal,
    RetentionRule,
    Run,
    SparkJob,
    SparkRun,
    Study,
    View,
    Waterfalls,
)
from webapp.lab.models.waterfalls import hash_of
from webapp.lab.people import member
from webapp.lab.versions import Author, record_creation
from workers import execution

ROOT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what touches the database: scripts/test runs these on PostgreSQL too."""
    for item in items:
        if item.get_closest_marker("django_db") or {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("database")


# --- Redis --------------------------------------------------------------------------------------------------------------------------------


class RedisProcess:
    """The Redis of this test session, which a test may stop and start. It keeps nothing over a stop."""

    def __init__(self) -> None:
        socket = Path(settings.DATA_DIR) / "redis.sock"
        command = [str(redis_server()), "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(settings.DATA_DIR)]
        self.service = Service("redis", command, dict(os.environ), Path(settings.DATA_DIR) / "redis.log")

    def start(self) -> None:
        from webapp.lib.redis_connection import is_up

        if not self.service.alive:
            self.service.start()
        wait_for(is_up, "Redis to answer")

    def stop(self) -> None:
        self.service.ask_to_stop()
        self.service.stop(time.monotonic() + 5)


@pytest.fixture(scope="session")
def redis_process() -> Iterator[RedisProcess]:
    process = RedisProcess()
    process.start()
    yield process
    process.stop()


@pytest.fixture
def redis(redis_process: RedisProcess) -> RedisProcess:
    """A running, empty Redis."""
    from webapp.lib.redis_connection import connection

    redis_process.start()
    connection().flushall()
    return redis_process


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = PATIENCE_S) -> Any:
    """The condition's first true value. Fails with a sentence when it does not come in time."""
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {timeout_s:g} s in vain for {what}")


@pytest.fixture
def outages_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of outages stands still, so that the log says 0 s however slow the machine is."""
    monkeypatch.setattr("webapp.lib.outages.monotonic", lambda: 0.0)


@pytest.fixture
def working_here(redis: RedisProcess) -> Iterator[None]:
    """This process may work as a worker does, until a test shuts it down."""
    execution.SHUTTING_DOWN.clear()
    yield
    execution.SHUTTING_DOWN.clear()


# --- people and documents -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def owner(db: None) -> Membership:
    return member("ada")


@pytest.fixture
def lab(owner: Membership) -> Lab:
    return owner.lab


@pytest.fixture
def client(owner: Membership) -> Client:
    """A signed-in browser of the owner."""
    browser = Client(HTTP_HOST="127.0.0.1")
    browser.force_login(owner.user)
    return browser


@pytest.fixture
def document() -> dict[str, Any]:
    """A valid experiment that runs in a blink: NexMark Q1, two seconds of virtual time, eight frames."""
    return small_document()


def small_document(horizon_s: float = 2.0, per_s: float = 2000, frame_ms: float = 250, seed: int = 1) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    document["name"] = "Small Q1"
    document["workload"].update(horizon_s=horizon_s, warmup_s=0.0, seed=seed)
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = per_s
    document["measurement"]["frame_ms"] = frame_ms
    return document


def long_document(seed: int = 1) -> dict[str, Any]:
    """A valid experiment that takes about ten seconds, in many frames."""
    return small_document(horizon_s=450.0, per_s=40_000, frame_ms=100, seed=seed)


@pytest.fixture
def experiment(lab: Lab, document: dict[str, Any]) -> Experiment:
    return new_experiment(lab, document)


def new_experiment(lab: Lab, document: dict[str, Any]) -> Experiment:
    return Experiment.objects.create(lab=lab, name=document["name"], document=copy.deepcopy(document))


def new_run(experiment: Experiment) -> Run:
    """A queued run's row, without anything in the queue."""
    from webapp.lab.documents import check

    valid = check(experiment.document, experiment.lab).experiment
    assert valid is not None
    workload = valid.workload
    return Run.start(
        experiment, document=experiment.document, hash=valid.hash, setup=valid.setup_hash, seed=workload.seed,
        horizon_ns=workload.horizon_ns,
    )  # fmt: skip


# --- processes ----------------------------------------------------------------------------------------------------------------------------


def process_environment() -> dict[str, str]:
    """Environment in which a process uses the database of the running test."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        url = f"sqlite:///{name}"
    else:
        url = f"postgresql://postgres@/{name}?host={connection.settings_dict['OPTIONS']['host']}"
    return {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "webapp.settings", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def start_worker(transactional_db: None, redis: RedisProcess, tmp_path: Path) -> Iterator[Callable[[], Service]]:
    """Starts real Celery worker processes, and stops them at the end of the test."""
    yield from celery_workers("worker", "workers.app", "runs", tmp_path, MILLRACE_SNAPSHOT_EVERY_S="0.3")


def celery_workers(kind: str, application: str, queue: str, folder: Path, **usual: str) -> Iterator[Callable[..., Service]]:
    """What starts workers of an application, with options as their environment; in the end they are stopped."""
    workers: list[Service] = []

    def start(**environment: str) -> Service:
        name = f"{kind}{len(workers)}"
        options = f"--pool solo --queues {queue} --loglevel info --without-gossip --without-mingle --without-heartbeat --hostname {name}@%h"
        command = [str(PYTHON), "-m", "celery", "-A", application, "worker", *options.split()]
        worker = Service(name, command, {**process_environment(), **usual, **environment}, folder / f"{name}.log")
        worker.start()
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        worker.ask_to_stop()
    for worker in workers:
        worker.stop(time.monotonic() + 5)
        print(worker.log.read_text(errors="replace")[-3000:])


# --- Spark --------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def start_analysis(transactional_db: None, redis: RedisProcess, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts real analysis workers, and stops them at the end of the test. Options: their environment."""
    yield from celery_workers("analysis", "workers.spark.app", "spark", tmp_path, SPARK_MASTER="local[2]")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a standalone master with one worker of two cores, both from the installed PySpark."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "256m"}
    deploy, no_page = "org.apache.spark.deploy", ("--webui-port", "0")
    commands = {
        "master": [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), *no_page],
        "cluster-worker": [
            f"{deploy}.worker.Worker",
            "--cores",
            "2",
            "--memory",
            "1g",
            "--work-dir",
            str(tmp_path / "work"),
            *no_page,
            master,
        ],
    }
    services = [Service(name, [str(spark_class), *words], environment, tmp_path / f"{name}.log") for name, words in commands.items()]
    services[0].start()
    wait_for(lambda: answers(port), "the master to listen", 180)
    services[1].start()
    yield master
    for service in services[::-1]:
        service.ask_to_stop()
        service.stop(time.monotonic() + 5)
        print(service.log.read_text(errors="replace")[-2000:])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def processes_of_tests(word: str) -> list[int]:
    """Processes with this word in their command line that use the tests' data directory."""
    wanted, found = f"MILLRACE_DATA={os.environ['MILLRACE_DATA']}".encode(), []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word.encode() in (directory / "cmdline").read_bytes() and wanted in (directory / "environ").read_bytes().split(b"\0"):
                found.append(int(directory.name))
    return sorted(found)


def spark_drivers() -> list[int]:
    """JVMs of Spark that workers started. Not that of this process, which other tests may have left running."""
    own = f"PPid:\t{os.getpid()}\n"
    found = []
    for pid in processes_of_tests("SparkSubmit"):
        with suppress(OSError):
            if own not in Path(f"/proc/{pid}/status").read_text():
                found.append(pid)
    return found


def manage(*arguments: object, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Without any server: no REDIS_URL, no DATABASE_URL, an empty data directory."""
    environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    if data:
        environment["MILLRACE_DATA"] = str(data)
    command = [str(PYTHON), str(ROOT / "manage.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.fixture
def one_connection() -> Iterator[None]:
    """For requests through WSGI: they end within the test's transaction, whose connection must stay."""
    ends = (request_started, request_finished)
    for signal in ends:
        signal.disconnect(close_old_connections)
    yield
    for signal in ends:
        signal.connect(close_old_connections)


@pytest.fixture
def things(experiment: Experiment, redis: RedisProcess) -> dict[str, Any]:
    """One of everything that a route can name."""
    ada, lab = Membership.objects.get(user__username="ada"), experiment.lab
    run = new_run(experiment)
    selection = {"slowest": 1}
    rule = RetentionRule.objects.create(lab=lab, what="frames", days=30)
    record_creation(experiment, Author("ada"))
    return {
        "experiment_id": experiment.pk,
        "run_id": run.pk,
        "id": Waterfalls.objects.create(run=run, selection=selection, selection_hash=hash_of(selection)).pk,
        "dataset_id": Dataset.objects.create(lab=lab, name="d", file="d", rows=1, bytes=1, columns=[], timestamps=[]).pk,
        "job_id": SparkJob.objects.create(lab=lab, question={"kind": "summaries"}).pk,
        "calibration_id": CalibrationJob.objects.create(lab=lab, though_busy=False).pk,
        "spark_run_id": SparkRun.objects.create(run=run, files=2).pk,
        "study_id": Study.objects.create(lab=lab, experiment=experiment, name="s", document={}).pk,
        "view_id": View.objects.create(lab=lab, name="v", query={}).pk,
        "paper": "benchmark",
        "figure": "3.5",
        "study": "none",
        "name": "none",
        "epoch": 1,
        "number": 1,
        "token_id": ApiToken.issue(ada, "of ada")[0].pk,
        "person_id": ada.pk,
        "rule_id": rule.pk,
        "removal_id": Removal.objects.create(lab=lab, rule=rule, what="frames", day=timezone.now().date(), at=timezone.now()).pk,
        "invitation_id": Invitation.issue(lab, "member", ada.user, timedelta(days=1))[0].pk,
    }
