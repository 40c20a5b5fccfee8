"""The parts of scripts/up: ports, sockets, processes, and steps that are skipped when nothing has changed."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from launcher import boot, environment, services
from launcher.environment import Trouble, unless_unchanged
from launcher.services import SOCKET_PATH_BYTES_MAX, Installation, Service, free_port, redis_socket

from .conftest import wait_for


def test_the_port_is_remembered_and_left_when_somebody_else_has_it(tmp_path: Path) -> None:
    file = tmp_path / "data" / "port"
    port = free_port(file)
    assert free_port(file) == port
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert free_port(file) != port


@pytest.mark.parametrize("content", ["", "odd", "99999"])
def test_a_damaged_memory_of_the_port_is_no_obstacle(tmp_path: Path, content: str) -> None:
    (tmp_path / "port").write_text(content)
    assert 0 < free_port(tmp_path / "port") < 65536


def test_a_long_path_gets_a_private_directory_for_its_socket(tmp_path: Path) -> None:
    assert redis_socket(Path("/short")) == Path("/short/redis.sock")
    deep = tmp_path / ("d" * 120)
    path = redis_socket(deep)
    try:
        assert len(str(path)) <= SOCKET_PATH_BYTES_MAX
        assert path.parent.stat().st_mode & 0o077 == 0
        assert redis_socket(tmp_path / ("e" * 120)).parent != path.parent
    finally:
        for directory in (path.parent, redis_socket(tmp_path / ("e" * 120)).parent):
            directory.rmdir()


def test_all_parts_have_few_arenas_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert {service.environment["MALLOC_ARENA_MAX"] for service in Installation(tmp_path, 8000, workers=1).services} == {"2"}
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    assert {service.environment["MALLOC_ARENA_MAX"] for service in Installation(tmp_path, 8000, workers=1).services} == {"8"}


def test_stopping_a_service_stops_what_it_started(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"trap '' TERM; sleep 60 & echo $! > {pid_file}; wait; wait"
    service = Service("stubborn", ["sh", "-c", script], dict(os.environ), tmp_path / "log")
    service.start()
    child = int(wait_for(lambda: pid_file.is_file() and pid_file.read_text().strip(), "the child"))
    service.ask_to_stop()
    service.stop(time.monotonic() + 0.3)
    assert not service.alive
    wait_for(lambda: not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text(), "the child's end", 5)


@pytest.mark.skipif(sys.platform != "linux", reason="priorities are set on Linux")
def test_workers_for_runs_yield_to_pages_and_advice(tmp_path: Path) -> None:
    services = Installation(tmp_path, free_port(tmp_path / "port"), workers=2).services
    assert {service.name for service in services if service.yields} == {"worker-1", "worker-2"}
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    for yields in (False, True):
        told = tmp_path / f"{yields}"
        script = "import os, sys; print(os.getpriority(os.PRIO_PROCESS, 0), file=open(sys.argv[1], 'w'))"
        service = Service("one", [sys.executable, "-c", script, str(told)], dict(os.environ), tmp_path / "log", yields)
        service.start()
        assert service.process is not None
        assert service.process.wait() == 0
        assert int(told.read_text()) == min(19, usual + (10 if yields else 0))


def flapping(tmp_path: Path, end: str = "exit 3") -> Installation:
    installation = Installation(tmp_path, free_port(tmp_path / "port"), workers=0)
    installation.services = [Service("web", ["sh", "-c", f"echo the reason; {end}"], dict(os.environ), tmp_path / "log")]
    installation.start("web")
    return installation


def test_what_dies_over_and_over_is_restarted_with_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes nobody along, says why, and is restarted at once when it has run for long."""
    now_s = 0.0
    monkeypatch.setattr(services.time, "monotonic", lambda: now_s)
    installation = flapping(tmp_path)
    (service,) = installation.services
    starts: list[float] = []
    for _ in range(10):
        assert service.process is not None
        service.process.wait()
        installation.watch()
        while service.process.poll() is not None and service.due_s is not None:  # not started yet
            now_s = service.due_s
            installation.watch()
        starts.append(service.started_s)
    assert [b - a for a, b in pairwise(starts)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    said = capsys.readouterr().out
    assert said.count("the reason") >= 2
    assert "web ended (3), restarting it in 60 s" in said
    now_s += 61
    service.process.wait()
    installation.watch()
    assert service.started_s == now_s, "it has run long enough"


WRITES_AND_WAITS = """
import os, time
for n in range(0, 3_000, 100):
    os.write(1, b"".join(b"line %d\\n" % (n + k) for k in range(100)))
    while os.fstat(1).st_size > 2_000:
        time.sleep(0.001)
time.sleep(60)
"""
"""What a process writes while its log is being emptied may be lost. So this one waits, and all of its lines must be there."""


def test_a_log_is_kept_short_while_its_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line is in the log or in the one before, in order, and both have an end."""
    monkeypatch.setattr(services, "LOG_BYTES_MAX", 2_000)
    service = Service("web", [sys.executable, "-c", WRITES_AND_WAITS], dict(os.environ), tmp_path / "web.log")
    service.start()
    moved: list[str] = []

    def written() -> bool:
        before = service.log_since_s
        service.keep_log_short()
        if service.log_since_s != before:
            moved.extend(service.log.with_suffix(".old.log").read_text().splitlines())
        return "line 2999" in [*moved, *service.log.read_text().splitlines()][-1:]

    try:
        wait_for(written, "all lines")
        assert moved, "28,890 bytes are more than the log may have"
        assert [*moved, *service.log.read_text().splitlines()] == [f"line {n}" for n in range(3_000)]
    finally:
        service.stop(0.0)


def test_an_old_log_is_moved_aside(tmp_path: Path) -> None:
    service = Service("web", ["true"], dict(os.environ), tmp_path / "web.log")
    service.log.write_text("long ago\n")
    service.keep_log_short()
    assert service.log.read_text() == "long ago\n"
    service.log_since_s -= services.LOG_AGE_S_MAX + 1
    service.keep_log_short()
    assert (service.log.read_text(), service.log.with_suffix(".old.log").read_text()) == ("", "long ago\n")


def test_what_cannot_start_is_told_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "PAUSE_S_MAX", 0.0)
    with pytest.raises(Trouble, match=r"(?s)web does not start.*the reason"):
        flapping(tmp_path).wait_until_healthy(lambda: False)


def test_what_is_killed_over_and_over_does_not_end_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can start, so far as anybody knows."""
    monkeypatch.setattr(services, "PAUSE_S_MAX", 0.0)
    installation = flapping(tmp_path, end="kill -9 $$")
    installation.wait_until_healthy(lambda: installation.services[0].failures > 2 * services.STARTS_MAX)


def test_a_start_may_take_long_as_long_as_something_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "STANDS_STILL_S", 1.0)
    installation = Installation(tmp_path, free_port(tmp_path / "port"), workers=0)
    command = "for n in 1 2 3 4 5 6; do echo $n; sleep 0.5; done; sleep 60"
    installation.services = [Service("web", ["sh", "-c", command], dict(os.environ), tmp_path / "log")]
    installation.start("web")
    try:
        with pytest.raises(Trouble, match=r"(?s)nothing has happened for 1 s; no answer from: web.*6"):
            installation.wait_until_healthy(lambda: False)
    finally:
        installation.stop()


@pytest.fixture
def without_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """An installation whose database cannot be opened until the directory `away` is there."""
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'away' / 'millrace.sqlite3'}")
    return Installation(tmp_path / "data", free_port(tmp_path / "data" / "port"), workers=0)


@pytest.mark.slow
def test_a_start_waits_for_the_database(without_database: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        (without_database.data.parent / "away").mkdir()

    monkeypatch.setattr(services, "say", say)
    assert without_database.manage("showmigrations", "--plan")
    (sentence,) = said
    assert sentence.startswith("  manage.py: the database cannot be opened: ")


def test_a_start_does_not_wait_for_ever(without_database: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "STANDS_STILL_S", 0.0)
    with pytest.raises(Trouble, match=r"showmigrations failed:\nmanage.py: the database cannot be opened") as trouble:
        without_database.manage("showmigrations")
    assert "Traceback" not in str(trouble.value)


def test_a_step_is_done_once_for_the_same_inputs_and_again_after_a_failure(tmp_path: Path) -> None:
    done: list[str] = []
    stamp = tmp_path / "stamp"

    def failing() -> None:
        raise Trouble("no space")

    unless_unchanged(stamp, "a", lambda: done.append("a"))
    unless_unchanged(stamp, "a", lambda: done.append("a again"))
    with pytest.raises(Trouble):
        unless_unchanged(stamp, "b", failing)
    unless_unchanged(stamp, "b", lambda: done.append("b"))
    assert done == ["a", "b"]


def test_packages_behind_a_link_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm follows the link and begins by emptying what it leads to."""
    theirs, frontend = tmp_path / "theirs", tmp_path / "frontend"
    theirs.mkdir()
    (theirs / "react").touch()
    frontend.mkdir()
    (frontend / "package-lock.json").touch()
    (frontend / "node_modules").symlink_to(theirs)
    monkeypatch.setattr(environment, "FRONTEND", frontend)
    with pytest.raises(Trouble, match="is a link"):
        environment.node_packages()
    assert (theirs / "react").exists()


def test_the_unit_starts_as_the_command_does(tmp_path: Path) -> None:
    """Names with spaces, % and $ stay what they are. Other settings of the shell are not passed on."""
    settings = {"MILLRACE_WORKERS": "3", "DATABASE_URL": 'x"$y\\', "EDITOR": "vi", "PATH": "/usr/bin"}
    text = boot.unit(tmp_path / "a b%c", settings, "/py$thon 3")
    lines = text.splitlines()
    assert f'Environment="MILLRACE_DATA={tmp_path}/a b%%c"' in lines
    assert 'Environment="MILLRACE_WORKERS=3"' in lines
    assert 'Environment="DATABASE_URL=x\\"$y\\\\"' in lines
    assert f'ExecStart="/py$$thon 3" "{environment.ROOT}/scripts/up"' in lines
    assert "EDITOR" not in text
    assert {"KillSignal=SIGINT", "Restart=always", "UMask=0077"} <= set(lines)


def test_a_unit_is_written_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot.shutil, "which", lambda name: f"/bin/{name}")
    said = boot.write(tmp_path / "data", tmp_path)
    file = tmp_path / "systemd" / "user" / "millrace.service"
    assert str(file) in said
    assert "systemctl --user enable --now millrace.service" in said
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(boot.shutil, "which", lambda name: None)
    assert "There is no systemd here" in boot.write(tmp_path / "data", tmp_path)


def test_two_launchers_of_one_checkout_install_one_after_the_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = tmp_path / "constraints.txt"
    lock.touch()
    order: list[str] = []

    def second() -> None:
        with environment.alone(lock, "installing"):
            order.append("second")

    thread = threading.Thread(target=second)
    with environment.alone(lock, "installing"):
        thread.start()
        wait_for(lambda: "another process in this checkout is installing, waiting for it" in capsys.readouterr().out, "the second to wait")
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
