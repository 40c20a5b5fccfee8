"""Errors while writing the files of a run."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_disk_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in DISK_FULL


def disk_full_message(error: BaseException, directory: Path, t_ns: int) -> str:
    """Return a message with the cause, the space that was free when it could not be written, and a remedy."""
    place = directory
    while not place.exists():
        place = place.parent
    free_bytes = getattr(error, "free_bytes", None)
    free = f"{shutil.disk_usage(place).free:,} bytes are free now" if free_bytes is None else f"{free_bytes:,} bytes were free"
    return (
        f"the disk is full: telemetry could not be written to {directory} at {t_ns / 1e9:.3f} s of virtual time; {free} there. Earlier "
        "telemetry is kept. Free some space or set MILLRACE_DATA to a larger disk, then run it again"
    )
