"""Who holds a run: a name for each attempt, from which a process on the same machine can tell whether the holder still lives."""

from __future__ import annotations

import os
import socket
import uuid

HOST = socket.gethostname()


def worker_name() -> str:
    """A name that no other process has: host and process."""
    return f"{HOST[:50]}:{os.getpid()}"


def new_holder() -> str:
    """A name that no other attempt has: the worker's with a random part."""
    return f"{worker_name()}:{uuid.uuid4().hex[:12]}"


def is_dead(holder: str) -> bool:
    """True if the holder was a process of this machine that is gone. False if it lives, or if that cannot be known from here."""
    host, _, rest = holder.partition(":")
    pid, _, _ = rest.partition(":")
    if host != HOST[:50] or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
