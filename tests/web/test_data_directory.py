"""Who may read the data directory. Catches: a database with sessions that other users of the machine can open, a directory that was open
before and stays so, and one whose owner shares it and finds it closed."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from launcher.environment import PYTHON
from launcher.services import Installation, free_port

from webapp.data_directory import keep_private

from .conftest import ROOT, wait_for


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """As most shells have it."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, str]:
    """Of the directory and all that is in it, in octal, by path; links as they are."""
    paths = [directory, *directory.rglob("*")]
    return {str(path.relative_to(directory)): f"{stat.S_IMODE(path.lstat().st_mode):o}" for path in paths}


def installed(directory: Path) -> Path:
    """What an earlier version left: all but the key is open to everybody."""
    (directory / "runs" / "1" / "telemetry").mkdir(parents=True)
    for name in ("millrace.sqlite3", "millrace.sqlite3-wal", "secret_key", "runs/1/telemetry/part-00000.parquet"):
        (directory / name).touch()
    (directory / "secret_key").chmod(0o600)
    return directory


def test_a_new_directory_is_the_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert keep_private(data) == ""
    (data / "millrace.sqlite3").touch()
    (data / "runs").mkdir()
    assert modes(data) == {".": "700", "millrace.sqlite3": "600", "runs": "700"}
    assert keep_private(data) == ""


def test_an_installation_that_was_open_is_closed_and_says_so_once(tmp_path: Path) -> None:
    data = installed(tmp_path / "data")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    (data / "runs" / "link").symlink_to(elsewhere)
    said = keep_private(data)
    assert said.startswith(f"data directory {data}: closed 7 files and folders to other users of this machine")
    assert "\n" not in said
    closed = modes(data)
    del closed["runs/link"]
    assert closed == {
        ".": "700",
        "millrace.sqlite3": "600",
        "millrace.sqlite3-wal": "600",
        "secret_key": "600",
        "runs": "700",
        "runs/1": "700",
        "runs/1/telemetry": "700",
        "runs/1/telemetry/part-00000.parquet": "600",
    }
    assert modes(elsewhere)["."] == "644", "what a link leads to is left alone"
    assert keep_private(data) == ""


def test_closing_that_was_interrupted_is_taken_up_again(tmp_path: Path) -> None:
    data = installed(tmp_path / "data")
    data.chmod(0o700)
    (data / "millrace.sqlite3").chmod(0o600)
    assert "closed 5 files and folders" in keep_private(data)
    assert modes(data / "runs")["1/telemetry/part-00000.parquet"] == "600"


@pytest.mark.parametrize("name", ["photos", "sticky"])
def test_a_directory_with_other_things_keeps_its_mode_and_only_what_is_ours_is_closed(tmp_path: Path, name: str) -> None:
    data = installed(tmp_path / "data")
    if name == "sticky":  # as /tmp
        data.chmod(0o1777)
    else:
        (data / name).mkdir()
    before = modes(data)
    assert keep_private(data)
    after = modes(data)
    assert after["."] == before["."]
    assert after.get(name) == before.get(name)
    assert (after["millrace.sqlite3"], after["runs"]) == ("600", "700")


@pytest.mark.parametrize(("mode", "of_folders", "of_files"), [(0o2755, "750", "640"), (0o2775, "770", "660"), (0o2700, "700", "600")])
def test_a_directory_that_is_shared_with_a_group_stays_so(tmp_path: Path, mode: int, of_folders: str, of_files: str) -> None:
    """The set-group-ID bit says so. New files have the rights that the group has on the directory, and nobody else has any."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(mode)
    assert ("users outside its group" in keep_private(data)) == (of_folders != "700")
    (data / "runs").mkdir()
    (data / "millrace.sqlite3").touch()
    found = modes(data)
    assert (found["."], found["runs"].removeprefix("2"), found["millrace.sqlite3"]) == (f"2{of_folders}", of_folders, of_files)
    assert keep_private(data) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="to become another user needs root")
def test_what_cannot_be_closed_is_named_with_what_to_do() -> None:
    program = "import os, sys; from pathlib import Path; from webapp.data_directory import keep_private; "
    program += "os.setgroups([]); os.setgid(65534); os.setuid(65534); print(keep_private(Path(sys.argv[1])))"
    with tempfile.TemporaryDirectory() as place:  # pytest's own directories let nobody else in
        Path(place).chmod(0o755)
        data = installed(Path(place) / "data")
        done = subprocess.run([str(PYTHON), "-c", program, str(data)], cwd=ROOT, capture_output=True, text=True)
    assert "7 files and folders are open to other users of this machine and cannot be closed" in done.stdout, done.stderr
    assert f"run: chmod -R go-rwx {data}" in done.stdout


def manage(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"MILLRACE_DATA": str(data), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    return subprocess.run([str(PYTHON), "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, umask=0o022)


@pytest.mark.slow
def test_what_manage_py_makes_and_finds_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    done = manage(data, "migrate", "--verbosity", "0")
    assert (done.returncode, "data directory" in done.stderr) == (0, False), done.stderr
    assert {name: mode for name, mode in modes(data).items() if int(mode, 8) & 0o077} == {}
    assert modes(data)["millrace.sqlite3"] == "600"
    for path in (data, *data.iterdir()):
        path.chmod(0o755)
    done = manage(data, "migrate", "--check")
    assert done.returncode == 0
    assert [f"data directory {data}: closed" in line for line in done.stderr.splitlines() if "data directory" in line] == [True]
    assert {name: mode for name, mode in modes(data).items() if int(mode, 8) & 0o077} == {}


def test_what_the_launcher_and_its_redis_make_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("REDIS_URL")
    data = installed(tmp_path / "data")
    installation = Installation(data, free_port(data / "port"), workers=0)
    assert f"data directory {data}: closed" in capsys.readouterr().out
    try:
        installation.start("redis")
        wait_for(lambda: answers(installation.redis_socket), "Redis to answer")
        wait_for(lambda: list((data / "redis").rglob("*.aof")), "Redis to keep a file")
        assert {name: mode for name, mode in modes(data).items() if int(mode, 8) & 0o077} == {}
        assert "logs/redis.log" in modes(data)
    finally:
        installation.stop()


def answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0
