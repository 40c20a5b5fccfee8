"""How much of a disk was free when it could not be written."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress


def note_free_space(error: BaseException, directory: str | os.PathLike[str]) -> None:
    """Note it at the error, as `free_bytes`. Call it before unfinished files are removed: afterwards there is room again."""
    if isinstance(error, OSError):
        with suppress(OSError):
            error.free_bytes = shutil.disk_usage(directory).free  # type: ignore[attr-defined]
