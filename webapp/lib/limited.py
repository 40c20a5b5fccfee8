"""Work on files of strangers: a function in a process of its own, with limits, that ends when nobody waits for it.

The process is forked from a server process that has imported what the functions need (multiprocessing's forkserver), so that it starts
within milliseconds and has none of the web process's connections and open files. It answers in JSON, which runs nothing where it is read.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

LOOKS_S = 0.2
"""How often it is checked whether the client is still there."""
ANSWER_BYTES_MAX = 64 << 20
EXCEEDED = json.dumps({"exceeded": True}).encode()
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    memory_mb: int
    cpu_s: int
    wall_s: float


class LimitExceeded(Exception):
    """The work has exceeded a limit; the message says which. It is a clause: "needs more than 1,024 MB of memory"."""


class Abandoned(Exception):
    """Nobody waits for the work any more."""


class WorkFailed(Exception):
    """The process has ended without an answer, for a reason that is not known."""


@cache
def _server(module: str) -> Any:
    """The context of processes that are forked where `module` is imported already. The first module that is asked for decides."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, module])
    return context


def call(place: str, arguments: Sequence[Any], limits: Limits, is_gone: Callable[[], bool] = lambda: False) -> Any:
    """Call the function at `place` ("module:name") within the limits. Returns its answer, which is JSON.

    is_gone: whether nobody waits for the answer. Raises LimitExceeded, Abandoned, WorkFailed.
    """
    module, _, _ = place.partition(":")
    context = _server(module)
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(place, tuple(arguments), limits, sending), daemon=True)
    with receiving:
        process.start()
        sending.close()
        try:
            _wait(receiving, process, limits, is_gone)
            answer = receiving.recv_bytes(ANSWER_BYTES_MAX)
        except (EOFError, OSError):
            process.join(LOOKS_S)
            raise _ended(process.exitcode, limits) from None
        finally:
            process.kill()
            process.join()
            process.close()
    found = json.loads(answer)
    if found["exceeded"]:
        raise LimitExceeded(_too_much_memory(limits))
    return found["answer"]


def _wait(receiving: Connection, process: Any, limits: Limits, is_gone: Callable[[], bool]) -> None:
    """Wait for an answer, or for the end of the process."""
    until_s = time.monotonic() + limits.wall_s
    while not wait([receiving, process.sentinel], timeout=LOOKS_S):
        if is_gone():
            raise Abandoned
        if time.monotonic() > until_s:
            raise LimitExceeded(f"takes longer than {limits.wall_s:,.0f} s")


def _ended(status: int | None, limits: Limits) -> Exception:
    """What it means that there is no answer. The kernel kills what has used up its time, and libraries abort where memory ends."""
    if status == -signal.SIGXCPU:
        return LimitExceeded(f"takes more than {limits.cpu_s:,} s of processor time")
    if status in (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS):
        return LimitExceeded(_too_much_memory(limits))
    return WorkFailed(f"the process has ended with status {status}")


def _too_much_memory(limits: Limits) -> str:
    return f"needs more than {limits.memory_mb:,} MB of memory"


# --- in the process -----------------------------------------------------------------------------------------------------------------------


def _work(place: str, arguments: Sequence[Any], limits: Limits, sending: Connection) -> None:
    module, _, name = place.partition(":")
    function = getattr(importlib.import_module(module), name)
    _limit(limits)
    try:
        answer = json.dumps({"exceeded": False, "answer": function(*arguments)}).encode()
    except MemoryError:  # and that of Arrow, which is one
        answer = EXCEEDED
    with suppress(OSError):  # nobody waits for it any more
        sending.send_bytes(answer)


def _limit(limits: Limits) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(ValueError, OSError):  # the machine's own limit is lower
        cpu_s = math.ceil(time.process_time()) + limits.cpu_s  # it may have imported what it needs only now
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        memory_bytes = _data_bytes() + (limits.memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))  # unlike RLIMIT_AS, without what is only reserved
    with suppress(OSError):
        os.nice(5)  # whoever waits for a page comes first


def _data_bytes() -> int:
    """Memory that the process has already, from what it was forked from."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:")), 0)
