"""Warnings about event-time windows that no watermark will ever close."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.problems import Problem, pointer
from .draft import Draft


def watermark_warnings(draft: Draft, params: Mapping[str, Any]) -> Iterator[Problem]:
    """One warning per source without watermarks that feeds an operator whose output waits for them.

    params: typed parameters by operator id, None if they are invalid.
    """
    waiting = [id for id, kind in draft.kinds.items() if params.get(id) is not None and kind.waits_for_watermarks(params[id])]
    silent = [id for id, workload in draft.sources.items() if workload.watermarks.kind == "none"]
    if not waiting or not silent:
        return
    for source in silent:
        reached = downstream(draft, source)  # feedback edges carry no watermarks
        stuck = [f"'{id}'" for id in waiting if id in reached]
        if stuck:
            message = (
                f"source '{source}' sends no watermarks, so the windows of {' and '.join(stuck)} never close and give no output; "
                "choose watermarks for the source, or the processing clock for the windows"
            )
            yield Problem(pointer("workload", "sources", source, "watermarks"), "never_closes", message, "none", severity="warning")


def downstream(draft: Draft, source: str) -> set[str]:
    """The operators that records of the source reach without a feedback edge."""
    receivers: defaultdict[str, set[str]] = defaultdict(set)
    for edge in draft.edges.values():
        if not edge.feedback:
            receivers[edge.source].add(edge.target)
    reached: set[str] = set()
    ahead = [source]
    while ahead:
        new = receivers.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached
