"""Placement strategies: which instance stands on which host. A file each, of the name of its kind, with a function `place`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.spec.base.family import implementation
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.query import OperatorSpec


def place(placement: Any, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance, as the document's placement gives them.

    Raises `Refusal` (path below the placement) when the hosts do not suffice or are unknown.
    """
    indices: dict[str, list[int]] = implementation(type(placement), __name__, "place")(placement, operators, hosts)
    return indices
