"""From the worker to five browsers: how long a message takes, with real processes and sockets while the engine is at work."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import time
from typing import Any

import pytest
import websockets
from launcher.check import Client

from .conftest import small_document

pytestmark = pytest.mark.clock

VIEWERS = 5
LAG_P95_S_MAX = 0.3


async def watch(client: Client, run_id: str) -> tuple[list[int], list[float]]:
    """Numbers of the frames seen, and the lag of each live message in seconds."""
    numbers, lags_s = [], []
    cookies = "; ".join(f"{name}={value}" for name, value in client.http.cookies.items())
    url = f"{client.base.replace('http', 'ws', 1)}/ws/runs/{run_id}?after=-1"
    async with websockets.connect(url, origin=client.base, additional_headers={"Cookie": cookies}, max_size=None, proxy=None) as socket:
        async for text in socket:
            received_s = time.time()
            message = json.loads(text)
            if message["type"] == "frames":
                numbers += [frame["n"] for frame in message["frames"]]
                if "at_s" in message:
                    lags_s.append(received_s - message["at_s"])
            elif message["type"] == "end":
                break
    return numbers, lags_s


def test_five_viewers_see_every_message_soon(installation: Any) -> None:
    link = installation.manage("signin_url", "--base", installation.url)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop running in this one
        seen = thread.submit(asyncio.run, follow_a_run(link)).result()
    lags_s = sorted(lag for _, lags in seen for lag in lags)
    p50_s, p95_s = lags_s[len(lags_s) // 2], lags_s[int(0.95 * len(lags_s))]
    print(f"lag of {len(lags_s)} messages to {VIEWERS} viewers: p50 {1000 * p50_s:.1f} ms, p95 {1000 * p95_s:.1f} ms")
    for numbers, _ in seen:
        assert numbers == list(range(1200))
    assert len(lags_s) > 20 * VIEWERS, "enough live messages for a percentile"
    assert p95_s <= LAG_P95_S_MAX


async def follow_a_run(link: str) -> list[tuple[list[int], list[float]]]:
    """Start a run that takes some seconds, and watch it with all viewers to its end."""
    client = Client(link)
    async with client.http:
        await client.http.get(client.link)
        await client.http.get("/")
        document = small_document(horizon_s=300.0, per_s=40_000)
        experiment = await client.ask("POST", "/api/experiments", 201, json={"document": document})
        run = await client.ask("POST", f"/api/experiments/{experiment['id']}/runs", 201, json={})
        return await asyncio.wait_for(asyncio.gather(*(watch(client, run["id"]) for _ in range(VIEWERS))), 120)
