"""Names of lease holders, from which a process in the same place can tell whether the holder is alive.

A name is `host:place:process:started:attempt`. The *place* stands for host name, boot and process namespace. Process ids are meaningful
only within one place: in another container, or after a reboot, the same id is another process or none. So a holder can be known to be dead
only within its own place. For all others, including holders named by earlier versions, the lease decides.
"""

from __future__ import annotations

import hashlib
import os
import socket
import uuid
from pathlib import Path

HOST = socket.gethostname()


def place_here() -> str:
    """Return a hash of host name, boot and process namespace. Empty without /proc, or with the /proc of another namespace."""
    try:
        if os.readlink("/proc/self") != str(os.getpid()):
            return ""
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.blake2b(f"{HOST} {boot} {namespace}".encode(), digest_size=8).hexdigest()


PLACE = place_here()


def started(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot; empty if it cannot be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # after the program name, which may contain spaces and brackets


def worker_name() -> str:
    """Return the unique name of this process: host, place, process id and start time."""
    pid = os.getpid()
    return f"{HOST[:40]}:{PLACE}:{pid}:{started(pid) if PLACE else ''}"


def new_holder() -> str:
    """Return a unique name for an attempt: the worker's name with a random part. At most 100 characters."""
    return f"{worker_name()}:{uuid.uuid4().hex[:12]}"


def is_dead(holder: str) -> bool:
    """Return True if the holder was a process of this place that has died, even if another process has its id now.

    False if it is alive, or if that cannot be determined from here: then its lease is valid until it expires.
    """
    words = holder.rsplit(":", 4)
    if len(words) < 5:  # named by an earlier version, without a place
        return False
    _, place, number, began, _ = words
    if not PLACE or place != PLACE or not number.isdecimal():
        return False
    pid = int(number)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # alive, and owned by another user
    now = started(pid)
    return bool(began and now) and began != now
