"""Names for those who hold leases, from which a process of the same place can tell whether the holder still lives.

A name is `host:place:process:started:attempt`. The *place* stands for host name, boot and process namespace. Process numbers mean
something within one place only: in another container, or after a restart of the machine, the same number is another process or none.
So a holder is known to be dead only within its own place. Of all others, also of those named by earlier versions, the lease decides.
"""

from __future__ import annotations

import hashlib
import os
import socket
import uuid
from pathlib import Path

HOST = socket.gethostname()


def place_here() -> str:
    """Hash of host name, boot and process namespace. Empty where there is no /proc, or only that of another namespace."""
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
    """When the process was started, in clock ticks since boot. Empty where that cannot be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # after the name of the program, which may hold spaces and brackets


def worker_name() -> str:
    """Unique process name: host, place, process number and start."""
    pid = os.getpid()
    return f"{HOST[:40]}:{PLACE}:{pid}:{started(pid) if PLACE else ''}"


def new_holder() -> str:
    """Unique name of an attempt: the worker's with a random part. At most 100 characters."""
    return f"{worker_name()}:{uuid.uuid4().hex[:12]}"


def is_dead(holder: str) -> bool:
    """True if the holder was a process of this place that is gone, even if another process has its number now.

    False if it lives, or if that cannot be known from here: then its lease counts until it runs out.
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
        pass  # it lives, and is somebody else's
    now = started(pid)
    return bool(began and now) and began != now
