"""How deep the tests go.

MILLRACE_TESTS is `fast`, `ci` (the default) or `all`: scripts/test sets it. A test that tries many cases asks here how many; one that is
for `all` alone is marked `deep`.
"""

from __future__ import annotations

import os
from typing import TypeVar

TIER = os.environ.get("MILLRACE_TESTS", "ci")
EXAMPLES = {"fast": 5, "ci": 40, "all": 200}

Kind = TypeVar("Kind")


def tier(ci: Kind, all: Kind) -> Kind:
    """What holds for this call: `all` with scripts/test --all, else `ci`."""
    return all if TIER == "all" else ci


def deep(values: list[Kind] | tuple[Kind, ...], ci: int) -> list[Kind]:
    """All of these with scripts/test --all, else so many of them, spread evenly from the first to the last."""
    if TIER == "all" or ci >= len(values):
        return list(values)
    return [values[n * (len(values) - 1) // max(ci - 1, 1)] for n in range(ci)]
