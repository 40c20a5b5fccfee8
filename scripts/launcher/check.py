"""`scripts/up --check`: performs the actions of a user in the browser through the same HTTP API and WebSocket.

Runs with the Python of .venv: `python -m scripts.launcher.check <sign-in link>`. Exit status 0 on success, otherwise 1 with the reason.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import websockets
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "fixtures" / "experiments"
UPLOAD = ROOT / "fixtures" / "data" / "flights.parquet"
RUN_TIMEOUT_S = 300


class Failed(Exception):
    """A step failed. The text names it."""


@dataclass
class Followed:
    """Frames that a viewer of a run received. Times in seconds. Lag: from sending by the worker to receipt by the viewer."""

    frames: list[dict[str, Any]]
    states: list[str]
    first_frame_s: float
    lags_s: list[float]


class Client:
    """A signed-in user."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self.base, self.host = f"{parts.scheme}://{parts.netloc}", parts.netloc
        self.http = httpx.AsyncClient(base_url=self.base, timeout=60, trust_env=False)
        self.link = link

    async def sign_in(self) -> None:
        answer = await self.http.get(self.link)
        if answer.status_code != 302:
            raise Failed(f"the sign-in link answers {answer.status_code}: {answer.text[:200]}")
        page = await self.http.get("/")
        if page.status_code != 200 or "<script" not in page.text:
            raise Failed(f"the first page answers {page.status_code} but is not the workbench: {page.text[:200]}")

    async def ask(self, method: str, path: str, wanted: int, **options: Any) -> Any:
        headers = {"X-CSRFToken": self.http.cookies.get("csrftoken", "")} if method != "GET" else {}
        answer = await self.http.request(method, path, headers=headers, **options)
        if answer.status_code != wanted:
            raise Failed(f"{method} {path} answers {answer.status_code} instead of {wanted}: {answer.text[:500]}")
        return answer.json()

    async def follow(self, run_id: str) -> Followed:
        """Watch a run from its first frame to its end."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        url = f"{self.base.replace('http', 'ws', 1)}/ws/runs/{run_id}?after=-1"
        seen, began_s = Followed([], [], 0.0, []), time.monotonic()
        async with websockets.connect(url, origin=self.base, additional_headers={"Cookie": cookies}, max_size=None, proxy=None) as socket:
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "frames":
                    seen.first_frame_s = seen.first_frame_s or time.monotonic() - began_s
                    if "at_s" in message:
                        seen.lags_s.append(time.time() - message["at_s"])
                    seen.frames += message["frames"]
                elif message["type"] == "state":
                    seen.states.append(message["run"]["state"])
                elif message["type"] == "end":
                    return seen
        raise Failed(f"the live stream of run {run_id} ended early, after {len(seen.frames)} frames")

    async def run(self, title: str, experiment_id: str) -> None:
        """Run an experiment, watch it, and print the result."""
        run = await self.ask("POST", f"/api/experiments/{experiment_id}/runs", 201, json={})
        try:
            seen = await asyncio.wait_for(self.follow(run["id"]), RUN_TIMEOUT_S)
        except TimeoutError:
            raise Failed(f"{title}: not finished after {RUN_TIMEOUT_S} s") from None
        run = await self.ask("GET", f"/api/runs/{run['id']}", 200)
        if run["state"] != "succeeded":
            raise Failed(f"{title}: {run['state']}: {run['error']}")
        if [frame["n"] for frame in seen.frames] != list(range(run["frames"])):
            raise Failed(f"{title}: {run['frames']} frames were produced, the viewer received {len(seen.frames)}, or not in order")
        if not run["summary"]["records_out"]:
            raise Failed(f"{title}: no record was delivered")
        report(title, run, seen)


def report(title: str, run: dict[str, Any], seen: Followed) -> None:
    summary, latency = run["summary"], run["summary"]["latency_ms"]
    lag_ms = 1000 * sorted(seen.lags_s)[int(0.95 * (len(seen.lags_s) - 1))] if seen.lags_s else 0.0
    print(f"\n{title}")
    print(f"  throughput   {summary['throughput_in_per_s']:,.0f} records/s in, {summary['throughput_out_per_s']:,.0f} records/s out")
    print(
        f"  latency      p50 {latency['p50']:.3f} ms, p95 {latency['p95']:.3f} ms, p99 {latency['p99']:.3f} ms, max {latency['max']:.3f} ms"
    )
    print(f"  records      {summary['records_in']:,} in, {summary['records_out']:,} out, {summary['late']:,} late")
    print(f"  took         {summary['wall_s']:.2f} s for {summary['virtual_s']:g} s of virtual time")
    print(f"  live         {len(seen.frames)} frames, the first after {seen.first_frame_s:.2f} s, lag p95 {lag_ms:.1f} ms")
    print(f"  digest       {run['digest']}", flush=True)


async def uploaded_file_example(client: Client) -> str:
    """Upload the file and use it in the example instead of the one from the fixtures. Returns the experiment's id."""
    with UPLOAD.open("rb") as file:
        dataset = await client.ask("POST", "/api/datasets", 201, files={"file": (UPLOAD.name, file)}, data={"name": "flights uploaded"})
    document = yaml.safe_load((EXPERIMENTS / "flights.yaml").read_text())
    for source in document["workload"]["sources"].values():
        source["stream"]["dataset"] = dataset["name"]
    experiment = await client.ask("POST", "/api/experiments", 201, json={"document": document})
    if any(problem["severity"] == "error" for problem in experiment["problems"]):
        raise Failed(f"the example with the uploaded file has problems: {experiment['problems']}")
    return str(experiment["id"])


async def check(link: str) -> None:
    client = Client(link)
    async with client.http:
        await client.sign_in()
        name = yaml.safe_load((EXPERIMENTS / "nexmark_q3.yaml").read_text())["name"]
        examples = {item["name"]: item["id"] for item in await client.ask("GET", "/api/experiments", 200)}
        if name not in examples:
            raise Failed(f"the example '{name}' is not in the lab; it has {sorted(examples)}")
        await client.run(name, examples[name])
        await client.run("Uploaded file (flights)", await uploaded_file_example(client))


def main() -> int:
    try:
        asyncio.run(check(sys.argv[1]))
    except (Failed, httpx.HTTPError, websockets.WebSocketException, OSError) as error:
        print(f"\ncheck: {error or type(error).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
