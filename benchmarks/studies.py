"""What a study costs beyond its runs, and what a second worker brings: python -m benchmarks.studies [--runs N] [--json]

A real installation (Redis, workers, the web server) on SQLite. The study is a sweep over rates, each run a minute of NexMark Q1 in virtual
time.

* overhead_ms: of a run in a study with one worker, beyond what the engine takes for it alone: the wall-clock time of the study divided by
  its runs, less the median time of `engine.run` on the same documents in a process of its own, measured before and after.
* processor_overhead_ms: the same in processor time of the worker, all its threads, which what else the machine does changes less.
* speed_up: wall-clock time of the same sweep with one worker over that with two. No more than the machine's cores bring:
  `engine_speed_up` is the same for one and two processes that run the documents without Millrace around them.
* reused_ms: of a run that the lab has already.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from launcher.environment import PYTHON  # noqa: E402
from launcher.services import Installation, Service, free_port  # noqa: E402

RATE = "/workload/sources/bids/rate/per_s"


def experiment(horizon_s: float = 60.0) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    document["workload"].update(horizon_s=horizon_s, warmup_s=0.0)
    return document


def rates(runs: int, first: float = 3000.0) -> list[float]:
    return [first + 10 * n for n in range(runs)]


def sweep(runs: int, first: float) -> dict[str, Any]:
    axis = {"name": "rate", "fields": [RATE], "values": {"kind": "list", "of": rates(runs, first)}}
    return {"name": "Benchmark", "experiment": experiment(), "axes": [axis], "seeds": [1]}


def documents(runs: int) -> list[dict[str, Any]]:
    made = []
    for rate in rates(runs):
        document = copy.deepcopy(experiment())
        document["workload"]["sources"]["bids"]["rate"]["per_s"] = rate
        made.append(document)
    return made


ALONE = """
import json, sys, time
import engine
documents = json.load(open(sys.argv[1]))
engine.run(documents[0])
print("ready", flush=True)
sys.stdin.readline()
for document in documents:
    began_s, worked_s = time.perf_counter(), time.process_time()
    engine.run(document)
    print(time.perf_counter() - began_s, time.process_time() - worked_s, flush=True)
"""


@dataclass(frozen=True)
class Alone:
    """The engine alone: medians over its runs, on the clock and of processor time, and the time for all on the clock."""

    run_s: float
    processor_s: float
    all_s: float


def alone(folder: Path, runs: int, processes: int) -> Alone:
    """The runs shared out over so many processes at once."""
    parts = [documents(runs)[n::processes] for n in range(processes)]
    started = []
    for n, part in enumerate(parts):
        file = folder / f"documents{n}.json"
        file.write_text(json.dumps(part))
        command = [str(PYTHON), "-c", ALONE, str(file)]
        started.append(subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    began_s = time.perf_counter()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [line.split() for process in started for line in process.communicate()[0].splitlines()]
    all_s = time.perf_counter() - began_s
    run_s, processor_s = (statistics.median(map(float, took)) for took in zip(*told, strict=True))
    return Alone(run_s, processor_s, all_s)


class Lab:
    """An installation with so many workers, and a signed-in client."""

    def __init__(self, folder: Path, workers: int) -> None:
        for name in ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
            os.environ.pop(name, None)
        self.installation = Installation(folder, free_port(folder / "port"), workers=workers)

    def __enter__(self) -> Lab:
        self.installation.start_first()
        self.installation.manage("migrate", "--verbosity", "0")
        self.installation.start("web")
        self.installation.wait_until_healthy(lambda: False)
        self.client = httpx.Client(base_url=self.installation.url, follow_redirects=True, timeout=60, trust_env=False)
        self.client.get(self.installation.manage("signin_url", "--base", self.installation.url))
        return self

    def __exit__(self, *_: object) -> None:
        self.installation.stop()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-CSRFToken": self.client.cookies.get("csrftoken", ""), "Referer": self.installation.url}
        answer = self.client.request(method, path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()

    def processor_s(self) -> float:
        """That the workers have used, as Linux counts it."""
        stats = [Path(f"/proc/{worker.process.pid}/stat").read_text() for worker in self.workers if worker.process]
        ticks = [int(ticks) for stat in stats for ticks in stat.rpartition(")")[2].split()[11:13]]  # user and system
        return sum(ticks) / os.sysconf("SC_CLK_TCK")

    @property
    def workers(self) -> list[Service]:
        return [service for service in self.installation.services if service.name.startswith("worker-")]

    def study_s(self, document: dict[str, Any]) -> float:
        """Wall-clock seconds from asking to its end."""
        began_s = time.perf_counter()
        study = self.ask("POST", "/api/studies", {"document": document})
        while (now := self.ask("GET", "/api/studies?limit=1")["items"][0])["state"] in ("queued", "running"):
            time.sleep(0.2)  # more often would take the processor from the worker
        assert (now["id"], now["state"]) == (study["id"], "succeeded"), now
        return time.perf_counter() - began_s


def measure(runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = alone(folder, runs, 1)
        took_s, worked_s = {}, {}
        for workers in (1, 2):
            (folder / str(workers)).mkdir()
            with Lab(folder / str(workers), workers) as lab:
                lab.study_s(sweep(2 * workers, 2000.0))  # everything is loaded
                began_s = lab.processor_s()
                took_s[workers] = lab.study_s(sweep(runs, 3000.0))
                worked_s[workers] = lab.processor_s() - began_s
                again_s = lab.study_s({**sweep(runs, 3000.0), "name": "Again"})
        after, two = alone(folder, runs, 1), alone(folder, runs, 2)
    engine_s, engine_processor_s = ((getattr(before, name) + getattr(after, name)) / 2 for name in ("run_s", "processor_s"))
    return {
        "runs": runs,
        "engine_ms": round(1000 * engine_s, 1),
        "study_ms": round(1000 * took_s[1] / runs, 1),
        "overhead_ms": round(1000 * (took_s[1] / runs - engine_s), 1),
        "engine_processor_ms": round(1000 * engine_processor_s, 1),
        "processor_overhead_ms": round(1000 * (worked_s[1] / runs - engine_processor_s), 1),
        "speed_up": round(took_s[1] / took_s[2], 2),
        "engine_speed_up": round((before.all_s + after.all_s) / 2 / two.all_s, 2),
        "reused_ms": round(1000 * again_s / runs, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    print(json.dumps(measure(asked.runs), indent=None if asked.json else 2))


if __name__ == "__main__":
    main()
