"""Errors for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

SHOWN_MAX = 20
VALUE_LENGTH_MAX = 80


class LabError(Exception):
    """The lab refused a request, or is unreachable. The text names fields and values, and says how to fix them.

    status: HTTP status, None without a response. problems: as returned by the API, each `{pointer, code, message, value, hint, severity}`.
    """

    def __init__(self, detail: str, status: int | None = None, problems: Sequence[dict[str, Any]] = ()) -> None:
        self.detail, self.status, self.problems = detail, status, list(problems)
        super().__init__(detail)

    def __str__(self) -> str:
        lines = [self.detail, *(f"  {told(problem)}" for problem in self.problems[:SHOWN_MAX])]
        more = len(self.problems) - SHOWN_MAX
        return "\n".join(lines + ([f"  and {more} more, in .problems"] if more > 0 else []))

    def _render_traceback_(self) -> list[str]:
        """IPython shows this: the message, without a traceback."""
        return [str(self)]


def told(problem: dict[str, Any]) -> str:
    """Format a problem in one line: where, what, the value unless the message contains it, and a hint."""
    text = f"{problem.get('pointer') or '/'}: {problem.get('message', '')}"
    value = problem.get("value")
    if value is not None:
        shown = json.dumps(value, ensure_ascii=False)
        if len(shown) <= VALUE_LENGTH_MAX and shown.strip('"') not in text:
            text += f" (it is {shown})"
    return f"{text}; {problem['hint']}" if problem.get("hint") else text
