"""From the worker to five viewers, with real processes and sockets while the engine is at work: everyone sees everything, live."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from typing import Any

import pytest
import websockets
from launcher.check import Client

from .conftest import small_document

pytestmark = pytest.mark.slow

VIEWERS = 5


async def watch(client: Client, run_id: str) -> tuple[list[int], int]:
    """Numbers of the frames seen, and how many messages came while they were made."""
    numbers, live = [], 0
    cookies = "; ".join(f"{name}={value}" for name, value in client.http.cookies.items())
    url = f"{client.base.replace('http', 'ws', 1)}/ws/runs/{run_id}?after=-1"
    async with websockets.connect(url, origin=client.base, additional_headers={"Cookie": cookies}, max_size=None, proxy=None) as socket:
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "frames":
                numbers += [frame["n"] for frame in message["frames"]]
                live += "at_s" in message
            elif message["type"] == "end":
                break
    return numbers, live


@pytest.mark.deep
def test_five_viewers_see_every_frame_as_it_is_made(installation: Any) -> None:
    link = installation.manage("signin_url", "--base", installation.url)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop running in this one
        seen = thread.submit(asyncio.run, follow_a_run(link)).result()
    for numbers, live in seen:
        assert numbers == list(range(1200))
        assert live > 10, "it was seen while it went on, not read afterwards"


async def follow_a_run(link: str) -> list[tuple[list[int], int]]:
    """Start a run that takes some seconds, and watch it with all viewers to its end."""
    client = Client(link)
    async with client.http:
        await client.http.get(client.link)
        await client.http.get("/")
        document = small_document(horizon_s=300.0, per_s=40_000)
        experiment = await client.ask("POST", "/api/experiments", 201, json={"document": document})
        run = await client.ask("POST", f"/api/experiments/{experiment['id']}/runs", 201, json={})
        return await asyncio.wait_for(asyncio.gather(*(watch(client, run["id"]) for _ in range(VIEWERS))), 120)
