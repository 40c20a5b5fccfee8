"""Waiting for work, with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tqdm.auto import tqdm

from .connection import Unreachable
from .errors import LabError

LOOK_S, LOOK_MAX_S, SLOWER = 0.1, 2.0, 1.3
"""Polling interval: starts short for short runs, grows for long ones."""
PATIENCE_S = 60.0
"""How long the server may be unreachable while waiting."""
ENDED = ("succeeded", "failed", "cancelled")


def wait(look: Callable[[], dict[str, Any]], name: str, timeout_s: float | None, progress: bool) -> dict[str, Any]:
    """Poll `look` (state, and progress from 0 to 1) until the work has ended, and return its result. Raises LabError after timeout_s."""
    began_s = answered_s = time.monotonic()
    pause_s = LOOK_S
    with tqdm(total=1.0, desc=name, disable=not progress, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}") as bar:
        while True:
            try:
                told = look()
                answered_s = time.monotonic()
                bar.n = told["progress"]
                bar.set_postfix_str(state_text(told))
                if told["state"] in ENDED:
                    return told
            except Unreachable:
                if time.monotonic() - answered_s > PATIENCE_S:
                    raise
                bar.set_postfix_str("server unreachable, retrying")
            if timeout_s is not None and time.monotonic() - began_s > timeout_s:
                raise LabError(f"{name} has not ended after {timeout_s:g} s; it keeps running, and you can wait for it again")
            time.sleep(pause_s)
            pause_s = min(LOOK_MAX_S, pause_s * SLOWER)


def state_text(told: dict[str, Any]) -> str:
    if told.get("compiling"):
        return "compiling its query"
    eta_s = told.get("eta_s")
    return told["state"] if eta_s is None else f"{told['state']}, {eta_s:.0f} s left"


def checked(told: dict[str, Any], name: str) -> None:
    """Raise LabError unless the work succeeded."""
    if told["state"] == "cancelled":
        raise LabError(f"{name} was cancelled")
    if told["state"] == "failed":
        raise LabError(f"{name} failed: {told['error']}")
