"""The files of a run, and what can go wrong with them."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_disk_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in DISK_FULL


def disk_full_message(directory: Path, t_ns: int) -> str:
    """What happened, how much space there is, and what to do."""
    place = directory
    while not place.exists():
        place = place.parent
    free_bytes = shutil.disk_usage(place).free
    return (
        f"the disk is full: telemetry could not be written to {directory} at {t_ns / 1e9:.3f} s of virtual time; {free_bytes:,} bytes are "
        "free there. What was written before is kept. Free some space, or set MILLRACE_DATA to a larger disk, and run it again"
    )
