"""What a study costs beyond its runs, and what a second worker brings: python -m benchmarks.studies [--rounds N] [--runs N] [--json]

A real installation (Redis, workers, the web server) on SQLite. The study is a sweep over rates, each run a minute of NexMark Q1 in virtual
time.

* overhead_ms: of a run in a study with one worker, beyond what the engine takes for it alone: the wall-clock time of the study divided by
  its runs, less the mean time of `engine.run` on the same documents in a process of its own. Each of the small studies stands
  between two times of the engine alone, since the machine is not as quick at all times; the median over these rounds, the least and the
  largest.
* processor_overhead_ms: the same in processor time of the worker, all its threads.
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
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from launcher.environment import PYTHON  # noqa: E402
from launcher.services import Installation, Service, free_port  # noqa: E402

TOGETHER = 10
AGAIN = 6000.0  # other rates than those of the rounds: what the lab has is not run again
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


def documents(runs: int, first: float = 3000.0) -> list[dict[str, Any]]:
    made = []
    for rate in rates(runs, first):
        document = copy.deepcopy(experiment())
        document["workload"]["sources"]["bids"]["rate"]["per_s"] = rate
        made.append(document)
    return made


ALONE = """
import json, sys, time
import engine
for line in sys.stdin:
    began_s, worked_s = time.perf_counter(), time.process_time()
    for document in json.loads(line):
        engine.run(document)
    print(time.perf_counter() - began_s, time.process_time() - worked_s, flush=True)
"""


class Alone:
    """The engine in a process of its own, without Millrace around it."""

    def __enter__(self) -> Alone:
        command = [str(PYTHON), "-c", ALONE]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.run(documents(1))  # everything is loaded
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def begin(self, made: list[dict[str, Any]]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(made) + "\n")
        self.process.stdin.flush()

    def end(self) -> tuple[float, float]:
        """Seconds on the clock and of the processor."""
        assert self.process.stdout is not None
        clock_s, processor_s = map(float, self.process.stdout.readline().split())
        return clock_s, processor_s

    def run(self, made: list[dict[str, Any]]) -> tuple[float, float]:
        self.begin(made)
        return self.end()


def engine_speed_up(runs: int) -> float:
    """Of two processes with the engine alone over one."""
    made = documents(runs, AGAIN)
    with Alone() as one, Alone() as other:
        before_s, _ = one.run(made)
        began_s = time.perf_counter()
        one.begin(made[::2])
        other.run(made[1::2])
        one.end()
        both_s = time.perf_counter() - began_s
        after_s, _ = one.run(made)
    return (before_s + after_s) / 2 / both_s


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
        self.installation.start_last()
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
        """Wall-clock seconds from when it was stored to its end, as its row says."""
        study = self.ask("POST", "/api/studies", {"document": document})
        while (now := self.ask("GET", "/api/studies?limit=1")["items"][0])["state"] in ("queued", "running"):
            time.sleep(0.2)  # more often would take the processor from the worker
        assert (now["id"], now["state"]) == (study["id"], "succeeded"), now
        began, ended = (datetime.fromisoformat(now[name]) for name in ("created_at", "finished_at"))
        return (ended - began).total_seconds()


def measure(rounds: int, runs: int) -> dict[str, Any]:
    """rounds: of `TOGETHER` runs. runs: of the studies with one worker and with two."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        took_s = {}
        over: list[tuple[float, float, float]] = []  # the engine alone, and beyond it on the clock and of the processor, of a run
        for workers in (1, 2):
            (folder / str(workers)).mkdir()
            with Lab(folder / str(workers), workers) as lab, Alone() as engine:
                lab.study_s(sweep(2 * workers, 2000.0))  # everything is loaded
                for n in range(rounds if workers == 1 else 0):
                    first = 3000.0 + 10 * TOGETHER * n
                    before = engine.run(documents(TOGETHER, first))
                    began_s = lab.processor_s()
                    study_s = lab.study_s(sweep(TOGETHER, first))
                    worked_s = lab.processor_s() - began_s
                    after = engine.run(documents(TOGETHER, first))
                    alone_s, alone_processor_s = ((one + other) / 2 for one, other in zip(before, after, strict=True))
                    over.append((alone_s, study_s - alone_s, worked_s - alone_processor_s))
                took_s[workers] = lab.study_s(sweep(runs, AGAIN))
                again_s = lab.study_s({**sweep(runs, AGAIN), "name": "Again"})
        engine_ms, overhead_ms, processor_ms = ([1000 * value / TOGETHER for value in column] for column in zip(*over, strict=True))
    return {
        "rounds": rounds,
        "runs": runs,
        "engine_ms": round(statistics.median(engine_ms), 1),
        "overhead_ms": round(statistics.median(overhead_ms), 1),
        "overhead_range_ms": [round(extreme(overhead_ms), 1) for extreme in (min, max)],
        "processor_overhead_ms": round(statistics.median(processor_ms), 1),
        "processor_overhead_range_ms": [round(extreme(processor_ms), 1) for extreme in (min, max)],
        "speed_up": round(took_s[1] / took_s[2], 2),
        "engine_speed_up": round(engine_speed_up(runs), 2),
        "reused_ms": round(1000 * again_s / runs, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    print(json.dumps(measure(asked.rounds, asked.runs), indent=None if asked.json else 2))


if __name__ == "__main__":
    main()
