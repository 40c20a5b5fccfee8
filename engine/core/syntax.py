"""Python's own parser, for expressions in documents and for sources of kernels."""

from __future__ import annotations

import ast
import threading
from typing import Any

TRIES = 3
LOCK = threading.Lock()


def parsed(source: str, mode: str = "exec") -> Any:
    """Return the syntax tree. Raises what ast.parse raises.

    Python counts how deep a tree is once for all threads (python/cpython#106905). Where two threads parse at a time, or one is interrupted,
    the next call can fail with a SystemError, although nothing is wrong. Therefore one thread parses at a time, and tries again.
    """
    with LOCK:
        for _ in range(TRIES - 1):
            try:
                return ast.parse(source, mode=mode)
            except SystemError:
                continue
        return ast.parse(source, mode=mode)
