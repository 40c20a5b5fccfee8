"""How a lab answers while it is busy: python -m benchmarks.busy_lab [PART ...] [--json]

A real installation, started by scripts/up, on SQLite. Times are the 95th percentile and the largest.

* posts: 50 viewers follow a run by WebSocket while 200 runs are asked for, four at a time. lag: from when the worker sends a message to
  when a viewer has it, meanwhile; joining: the same in the seconds before, in which all 50 connect at once. post: a POST of a run, over
  HTTP. Bars: 100 ms of lag, 200 of a POST.
* upload: /api/me, asked every 50 ms, while a large file of text is read that the reader refuses in the end. Bar: 100 ms. `quiet` is the
  same without the upload.
* back: all processes are killed at once, as when the machine is switched off, and scripts/up is started again. ready: until pages are
  served; whole: until a worker answers, too. Bar: 20 s.
* spark: a run's query on Spark, for the third time, asked for its micro-batches every 20 ms. first: from the POST to the first of them;
  behind: from the end of one until it is served. Bars: 5 s and 500 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.soak import Installation

from .viewers import Lag, live_document, percentiles, watch_all

VIEWERS, POSTS, AT_ONCE = 50, 200, 4
QUIET_S, EVERY_S = 5.0, 0.05
HOSTILE_ROWS = 400_000
SPARK_FILES = 20


class Busy:
    """The installation, and a program of its owner."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        headers = {"Authorization": f"Bearer {installation.token()}"}
        self.client = httpx.Client(base_url=installation.url, headers=headers, timeout=600.0)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self.client.post(path, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def took_ms(self, ask: Callable[[], httpx.Response]) -> float:
        began_s = time.perf_counter()
        answer = ask()
        assert answer.is_success, answer.text
        return 1000 * (time.perf_counter() - began_s)


def posts(at: Busy) -> dict[str, Any]:
    document = live_document(horizon_s=600.0)
    live = at.post("/api/experiments", {"document": document})["id"]
    run = at.post(f"/api/experiments/{live}/runs", {"pace": 5})["id"]
    while at.client.get(f"/api/runs/{run}").json()["frames"] < 8:
        time.sleep(0.2)
    small = at.post("/api/experiments", {"document": live_document(horizon_s=10.0)})["id"]
    token = at.client.headers["Authorization"]
    # The viewers are a process of their own: in one with the threads that ask, they would be late by themselves.
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads, concurrent.futures.ProcessPoolExecutor(1) as viewers:
        watching = viewers.submit(watched, at.installation.url, run, token)
        time.sleep(4)
        began_s = time.time()
        path = f"/api/experiments/{small}/runs"
        asked = [threads.submit(at.took_ms, lambda seed=n: at.client.post(path, json={"seed": seed})) for n in range(POSTS)]
        posts_ms = [one.result() for one in asked]
        ended_s = time.time()
        at.client.post(f"/api/runs/{run}/cancel")
        lags = watching.result()
    busy_ms = [lag_ms for at_s, lag_ms in lags if began_s <= at_s <= ended_s]
    joining_ms = [lag_ms for at_s, lag_ms in lags if at_s < began_s]
    found = {"lag_ms": busy_ms, "joining_ms": joining_ms, "post_ms": posts_ms}
    return {"viewers": VIEWERS, "posts": POSTS, **{name: percentiles(values) for name, values in found.items()}}


def watched(url: str, run: str, token: str) -> list[Lag]:
    return asyncio.run(watch_all(url, run, {"Authorization": token}, VIEWERS))


def upload(at: Busy) -> dict[str, Any]:
    with tempfile.TemporaryFile() as file:
        file.write(b"at," + ",".join(f"c{n}" for n in range(40)).encode() + b"\n")
        for n in range(HOSTILE_ROWS):
            file.write(f"{n}.5,{','.join(str(n * k % 1009) for k in range(40))}\n".encode())
        file.write(b"end,of,it\n")  # ragged: the reader refuses the file when it gets there
        size_mb = file.tell() / 1e6
        file.seek(0)
        quiet_ms = me_ms(at, lambda began_s: time.monotonic() - began_s > QUIET_S)
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            sent = thread.submit(at.client.post, "/api/datasets", files={"file": ("hostile.csv", file)})
            busy_ms = me_ms(at, lambda began_s: sent.done())
            answer = sent.result()
    return {
        "mb": round(size_mb), "status": answer.status_code, "said": answer.json()["detail"][:100], "requests": len(busy_ms),
        "me_ms": percentiles(busy_ms), "quiet_me_ms": percentiles(quiet_ms),
    }  # fmt: skip


def me_ms(at: Busy, is_over: Callable[[float], bool]) -> list[float]:
    """Ask until it is over, with a connection of its own."""
    began_s, found = time.monotonic(), []
    with httpx.Client(base_url=at.client.base_url, headers=at.client.headers) as client:
        while not is_over(began_s) or not found:
            found.append(at.took_ms(lambda: client.get("/api/me")))
            time.sleep(EVERY_S)
    return found


def back(at: Busy) -> dict[str, Any]:
    found = {"ready_s": [], "whole_s": []}
    for _ in range(3):
        for process in at.installation.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert at.installation.launcher is not None
        at.installation.launcher.wait()
        began_s = time.monotonic()
        at.installation.start()
        for name, path in (("ready_s", "/api/health/ready"), ("whole_s", "/api/health")):
            while not answers(at, path):
                time.sleep(0.05)
            found[name].append(round(time.monotonic() - began_s, 1))
    return found


def spark(at: Busy) -> dict[str, Any]:
    experiment = at.post("/api/experiments", {"document": live_document(horizon_s=10.0)})["id"]
    run = at.post(f"/api/experiments/{experiment}/runs", {})["id"]
    while at.client.get(f"/api/runs/{run}").json()["state"] != "succeeded":
        time.sleep(0.2)
    return [executed_on_spark(at, f"/api/runs/{run}/spark") for _ in range(3)][-1]


def executed_on_spark(at: Busy, path: str) -> dict[str, Any]:
    began_s = time.time()
    id = at.post(path, {"files": SPARK_FILES})["id"]
    seen_s: dict[int, float] = {}
    while True:
        now = at.client.get(f"{path}/{id}").json()
        for batch in now["micro_batches"]:
            seen_s.setdefault(batch["batch"], time.time())
        if now["state"] not in ("queued", "running"):
            break
        time.sleep(0.02)
    assert now["state"] == "succeeded", now["error"]
    ends_s = {batch["batch"]: batch["began_s"] + batch["took_ms"] / 1000 for batch in now["micro_batches"]}
    behind_ms = [1000 * (seen_s[number] - end_s) for number, end_s in ends_s.items() if number in seen_s]
    return {"first_s": round(min(seen_s.values()) - began_s, 2), "behind_ms": percentiles(behind_ms)}


def answers(at: Busy, path: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(at.installation.url + path, timeout=2.0).status_code == 200
    return False


PARTS: dict[str, Callable[[Busy], dict[str, Any]]] = {"back": back, "upload": upload, "posts": posts, "spark": spark}


@contextlib.contextmanager
def busy() -> Iterator[Busy]:
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder), "sqlite")
        installation.start()
        try:
            installation.wait_for_link()
            yield Busy(installation)
        finally:
            installation.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which to measure; all if none is named")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    with busy() as at:
        found: dict[str, Any] = {}
        for name in asked.parts or PARTS:
            found[name] = PARTS[name](at)
            if not asked.json:
                print(name, json.dumps(found[name]), flush=True)
    if asked.json:
        print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
