"""The process that reads uploads (`webapp.lib.limited`). Nothing else imports this module: it sets Arrow up for memory that counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the others reserve memory ahead, which would count

import pyarrow as pa

from . import learning_checks, readers

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "convert": readers.convert,
    "preview": readers.preview,
    "why_unfit": learning_checks.why_unfit,
}


def read(function: str, *arguments: Any) -> Any:
    """Call one of the functions."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    return FUNCTIONS[function](*arguments)
