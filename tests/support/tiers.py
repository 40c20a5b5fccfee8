"""How deep the tests go.

MILLRACE_TESTS is `fast`, `ci` (the default) or `all`; scripts/test sets it. Tests that try many cases ask here how many. Tests and
parameters that are for `all` alone are marked `deep`, and `-m "not deep"` leaves them out.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import pytest

TIER = os.environ.get("MILLRACE_TESTS", "ci")
EXAMPLES = {"fast": 5, "ci": 40, "all": 200}
"""Random cases of each property, where it says nothing else."""

Kind = TypeVar("Kind")


def tier(ci: Kind, all: Kind) -> Kind:
    """What holds in this call: `all` with scripts/test --all, else `ci`."""
    return all if TIER == "all" else ci


def spread(values: Sequence[Any], ci: int, first: int = 0) -> list[Any]:
    """These as parameters: `ci` of them at equal distances, beginning with the one numbered `first`, and the others marked `deep`.

    Variants of one set of cases begin with different numbers, so that together they try most of them.
    """
    step = max(1, len(values) // ci)
    return only(values, ci=[values[(first + n * step) % len(values)] for n in range(ci)])


def only(values: Sequence[Any], ci: Collection[Any]) -> list[Any]:
    """These as parameters, those that are not in `ci` marked `deep`. Marks that they have already stay."""
    found = []
    for value in values:
        given = value if hasattr(value, "marks") else pytest.param(*(value if isinstance(value, tuple) else (value,)))
        found.append(pytest.param(*given.values, marks=[*given.marks, *([] if value in ci else [pytest.mark.deep])], id=given.id))
    return found
