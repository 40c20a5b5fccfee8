"""Keeps machine code on disk, so that it is compiled once for each machine.

Files are written aside and renamed, hold the hash of their content and are never changed: readers need no locks, and a file cut off by a
full disk counts as missing. Who compiles holds a lock, so that processes that start together compile each kernel once. What was not used
for longest goes when there is more than BYTES_MAX.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

BYTES_MAX = 256 << 20
SUFFIX = ".kernel"
HASH_BYTES = 16


def load(key: str) -> bytes | None:
    """The code stored under this key, None if there is none."""
    path = directory() / (key + SUFFIX)
    try:
        content = path.read_bytes()
    except OSError:
        return None
    code = content[HASH_BYTES:]
    if content[:HASH_BYTES] != _hash(code):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return code


def save(key: str, code: bytes) -> None:
    """Store the code. Where that cannot be done (a full disk, no rights) it is compiled again next time."""
    place = directory()
    with contextlib.suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=place, prefix=key, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_hash(code) + code)
            os.replace(temporary, place / (key + SUFFIX))
        except OSError:
            os.unlink(temporary)
            raise
        _prune(place)


@contextlib.contextmanager
def lock(key: str) -> Iterator[None]:
    """Wait until no other process holds this lock, and hold it. Where there can be none (a full disk, no rights) nobody waits.

    The file goes when the code is stored: who waited for it then finds the code, and so does who makes the file anew.
    """
    path = directory() / f"{key}.lock"
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            file = held.enter_context(path.open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()


def directory() -> Path:
    """MILLRACE_KERNELS, else the user's cache, else a directory of the user's below the temporary one."""
    choices = [os.environ.get("MILLRACE_KERNELS"), os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~/.cache")]
    for path in [Path(choice) / "millrace-kernels" for choice in choices if choice] + [
        Path(tempfile.gettempdir()) / f"millrace-kernels-{os.getuid()}"
    ]:
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(path, os.W_OK) and path.stat().st_uid == os.getuid():  # what others write there we would execute
                return path
    return Path(tempfile.mkdtemp(prefix="millrace-kernels-"))


def _hash(code: bytes) -> bytes:
    return hashlib.blake2b(code, digest_size=HASH_BYTES).digest()


def _prune(place: Path) -> None:
    found = []
    for path in place.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):  # another process prunes, too
            about = path.stat()
            found.append((about.st_mtime_ns, about.st_size, path))
    kept = 0
    for _, size, path in sorted(found, reverse=True):
        kept += size
        if kept > BYTES_MAX:
            path.unlink(missing_ok=True)
