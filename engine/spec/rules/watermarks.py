"""Warnings about event-time windows that no watermark will ever close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..base.problems import Problem, pointer
from .draft import Draft


def watermark_warnings(draft: Draft, params: Mapping[str, Any]) -> Iterator[Problem]:
    """One warning per source without watermarks that feeds an operator whose output waits for them.

    params: typed parameters by operator id, None if they are invalid.
    """
    waiting = [id for id, kind in draft.kinds.items() if params.get(id) is not None and kind.waits_for_watermarks(params[id])]
    for source, workload in draft.sources.items():
        reached = _downstream(draft, source) if workload.watermarks.kind == "none" else set()
        stuck = [f"'{id}'" for id in waiting if id in reached]
        if stuck:
            message = (
                f"source '{source}' sends no watermarks, so the windows of {' and '.join(stuck)} never close and give no output; "
                "choose watermarks for the source, or the processing clock for the windows"
            )
            yield Problem(pointer("workload", "sources", source, "watermarks"), "never_closes", message, "none", severity="warning")


def _downstream(draft: Draft, source: str) -> set[str]:
    """The operators that watermarks of the source would reach: feedback edges carry none."""
    reached: set[str] = set()
    ahead = [source]
    while ahead:
        id = ahead.pop()
        receivers = {edge.target for edge in draft.edges.values() if edge.source == id and not edge.feedback} - reached
        reached |= receivers
        ahead += receivers
    return reached
