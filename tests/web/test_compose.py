"""docker-compose.yml is valid as far as that can be known without Docker, and fits the code."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from webapp.lab.models import SparkJob
from webapp.messaging.queue import QUEUE

from .conftest import ROOT

FILE = ROOT / "docker-compose.yml"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return loaded


def test_all_parts_of_a_lab_are_there(compose: dict[str, Any]) -> None:
    ours, others = {"migrate", "web", "worker", "analysis", "advice"}, {"postgres", "redis", "spark-master", "spark-worker"}
    assert set(compose["services"]) == ours | others


def test_what_a_service_refers_to_exists(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert ("image" in service) != ("build" in service), name
        assert set(service.get("depends_on", {})) <= set(compose["services"]), name
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in compose["volumes"], name


def test_a_service_that_is_waited_for_has_a_health_check(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        waited = service.get("depends_on", {})
        for other, how in waited.items() if isinstance(waited, dict) else ():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in compose["services"][other]


def test_every_part_has_a_health_check(compose: dict[str, Any]) -> None:
    assert {name for name, service in compose["services"].items() if "healthcheck" not in service} == {"migrate"}  # which ends
    for part in ("web", "worker", "analysis", "advice"):
        assert compose["services"][part]["healthcheck"]["test"] == ["CMD", "python", "-m", "workers.healthy", part]


def settings_read() -> set[str]:
    """Variables by which a lab is set up. The image sets the directory of the data itself."""
    files = [file for part in ("webapp", "workers") for file in (ROOT / part).rglob("*.py")]
    found = {name for file in files for name in re.findall(r'environ(?:ment)?[.\w]*[(\[]\s*"([A-Z_]+)"', file.read_text())}
    ours = ("MILLRACE_", "SPARK_", "DATABASE_", "REDIS_", "ALLOWED_", "CSRF_")
    return {name for name in found if name.startswith(ours)} - {"MILLRACE_DATA"}


def test_every_setting_is_passed_through(compose: dict[str, Any]) -> None:
    assert len(settings_read()) > 8
    assert settings_read() <= set(compose["x-millrace"]["environment"])


def test_no_log_grows_without_end(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert set(service["logging"]["options"]) == {"max-size", "max-file"}, name


def test_images_are_pinned(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert "image" not in service or re.search(r":\d", service["image"])


def test_the_worker_listens_to_the_queue_that_the_web_server_fills(compose: dict[str, Any]) -> None:
    assert f"--queues {QUEUE} " in compose["services"]["worker"]["command"]


def test_the_analysis_worker_listens_to_a_queue_of_its_own(compose: dict[str, Any]) -> None:
    assert f"--queues {SparkJob.QUEUE} " in compose["services"]["analysis"]["command"]


def test_spark_is_the_version_that_the_analysis_worker_has(compose: dict[str, Any]) -> None:
    version = re.search(r"^pyspark==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert version
    assert compose["services"]["spark-master"]["image"] == f"apache/spark:{version[1]}"


def test_compose_itself_accepts_it() -> None:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "compose", "version"], capture_output=True).returncode != 0:
        pytest.skip("docker compose is not installed here")
    environment = {"POSTGRES_PASSWORD": "x", "MILLRACE_SECRET_KEY": "x", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    done = subprocess.run([docker, "compose", "-f", str(FILE), "config", "-q"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_requirement_is_pinned_and_has_a_reason() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    for file in ("requirements.txt", "requirements-test.txt"):
        lines = [line for line in (ROOT / file).read_text().splitlines() if line and not line.startswith(("#", "-r"))]
        assert lines == sorted(lines, key=lambda line: line.partition("==")[0].lower()), file
        for line in lines:
            name, equals, version = line.partition("==")
            assert equals, line
            assert version[0].isdigit(), line
            assert name.partition("[")[0] in reasons, name
