"""manage.py's own commands, as a person calls them: in a process of their own."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from tests.support.clerk import Clerk
from tests.support.patience import PATIENCE_S

from .conftest import ROOT, manage, small_document

FIXTURES = ROOT / "fixtures" / "experiments"


def test_run_prints_one_json_object(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small_document()))
    done = manage("run", file, "--json", "--out", tmp_path / "out", data=tmp_path / "data")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert set(result) == {"digest", "summary", "artifacts"}
    twin = engine.run(small_document())
    assert result["digest"] == twin.digest
    assert {**result["summary"], "wall_s": 0} == {**twin.summary, "wall_s": 0}
    assert {Path(path).parent.name for path in result["artifacts"]} == {"telemetry", "latency", "live"}
    assert all(Path(path).is_file() for path in result["artifacts"])
    assert not (tmp_path / "data" / "millrace.sqlite3").exists()


@pytest.mark.slow
def test_run_says_where_the_time_of_the_slowest_records_went(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small_document()))
    done = manage("run", file, "--slowest", 2, "--json", data=tmp_path / "data")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["waterfalls"] == [waterfall.as_dict() for waterfall in engine.run(small_document()).waterfalls(slowest=2)]
    assert max(waterfall["latency_ns"] for waterfall in result["waterfalls"]) / 1e6 == result["summary"]["latency_ms"]["max"]
    wrong = manage("run", file, "--slowest", "many", data=tmp_path / "data")
    assert (wrong.returncode, "1 to 1000" in wrong.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nexmark_q3", "flights"])
def test_run_knows_the_examples_and_their_files(name: str, tmp_path: Path) -> None:
    done = manage("run", FIXTURES / f"{name}.yaml", data=tmp_path)
    assert done.returncode == 0
    assert "throughput" in done.stdout
    assert "p99" in done.stdout


@pytest.mark.slow
def test_run_lists_the_problems_of_an_invalid_document(tmp_path: Path) -> None:
    document = small_document()
    document["workload"]["horizon_s"] = -1
    document["query"]["operators"][1]["kind"] = "mapp"
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document))
    done = manage("run", file, data=tmp_path)
    assert done.returncode == 2
    assert "/workload/horizon_s" in done.stderr
    assert "did you mean 'map'?" in done.stderr
    as_json = manage("run", file, "--json", data=tmp_path)
    assert as_json.returncode == 2
    assert {"/workload/horizon_s", "/query/operators/1/kind"} <= {problem["pointer"] for problem in json.loads(as_json.stdout)["problems"]}


@pytest.mark.slow
def test_run_says_that_there_is_no_such_file(tmp_path: Path) -> None:
    done = manage("run", tmp_path / "none.yaml", data=tmp_path)
    assert done.returncode == 6
    assert "none.yaml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_schema_prints_the_json_schema(tmp_path: Path) -> None:
    schema = json.loads(manage("schema", data=tmp_path).stdout)
    assert schema["properties"]["workload"]


@pytest.mark.slow
def test_migrations_are_complete(tmp_path: Path) -> None:
    assert manage("makemigrations", "--check", "--dry-run", data=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_fresh_directory_gets_a_database_examples_and_a_private_key(tmp_path: Path) -> None:
    clerk = Clerk({**os.environ, "MILLRACE_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "webapp.settings"})
    clerk.manage("migrate", "--verbosity", "0")
    assert "nexmark_q3.yaml" in clerk.manage("load_fixtures")
    assert "already" in clerk.manage("load_fixtures")
    assert re.fullmatch(r"http://127.0.0.1:1234/signin\?token=\S+", clerk.manage("prepare", "--base", "http://127.0.0.1:1234/"))
    assert clerk.manage("signin_url", "--base", "http://127.0.0.1:1234/").startswith("http://127.0.0.1:1234/signin?token=")
    assert clerk.manage("signin_url").startswith("http://127.0.0.1:8000/signin?token=")
    (tmp_path / "port").write_text("4321")
    assert clerk.manage("signin_url").startswith("http://127.0.0.1:4321/signin?token="), "where scripts/up listens"
    assert clerk.manage("api_token", "notebook").startswith("millrace_")
    assert "revoked 1" in clerk.manage("api_token", "notebook", "--revoke")
    clerk.stop()
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("command", "place"), [("scripts/up", "/sys/millrace"), ("scripts/up", "/proc/nowhere"), ("manage.py", "/sys/millrace")]
)
def test_a_directory_that_cannot_be_made_is_named(command: str, place: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"} | {"MILLRACE_DATA": place}
    words = [sys.executable, str(ROOT / command), *(["check"] if command == "manage.py" else [])]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert place in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_two_launchers_that_start_at_once(tmp_path: Path) -> None:
    """The second one finds the lock, and no port yet."""
    with (tmp_path / "up.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**os.environ, "MILLRACE_DATA": str(tmp_path)}
        command = [sys.executable, str(ROOT / "scripts" / "up")]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert f"another scripts/up starts in {tmp_path} right now" in done.stderr
    assert "Traceback" not in done.stderr
