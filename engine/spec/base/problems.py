"""Problems of a document: the place, the message, the value found, and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

INCOMPLETE = frozenset({"missing", "missing_edge", "missing_workload", "no_source", "no_sink", "disconnected"})
"""Codes of problems that go when something is added to the document. Those with any other code contradict something."""


@dataclass(frozen=True)
class Problem:
    """One finding of validation.

    pointer: JSON pointer (RFC 6901) into the document as given, e.g. ``/query/operators/2/params/predicate``.
    code: a stable word for programs, e.g. ``unknown_field``.
    message: one sentence with the field, the value and the remedy.
    value: the offending value, JSON-able (shortened if long).
    hint: an optional suggestion such as ``did you mean 'state'?``.
    missing: the document is incomplete here rather than wrong. Everything that is being drawn begins so.
    """

    pointer: str
    code: str
    message: str
    value: Any = None
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    @property
    def missing(self) -> bool:
        return self.code in INCOMPLETE

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "missing": self.missing}


class Refusal(ValueError):
    """Raised inside an operator's or workload's own checks; validation turns it into a `Problem`.

    at: path below the object under check, e.g. ``("predicate",)`` inside an operator's params.
    """

    def __init__(self, message: str, *, at: Sequence[str | int] = (), code: str = "invalid", value: Any = None, hint: str = ""):
        super().__init__(message)
        self.at, self.code, self.value, self.hint = tuple(at), code, value, hint


@contextmanager
def refusals_below(*parts: str | int) -> Iterator[None]:
    """Prefix the path of refusals raised inside with `parts`, the path of the object under check."""
    try:
        yield
    except Refusal as refusal:
        raise Refusal(str(refusal), at=(*parts, *refusal.at), code=refusal.code, value=refusal.value, hint=refusal.hint) from None


class InvalidExperiment(ValueError):
    """A document with at least one error; carries all its problems."""

    def __init__(self, problems: Sequence[Problem]):
        self.problems = list(problems)
        super().__init__("\n".join(f"{p.pointer or '/'}: {p.message}" for p in self.problems))


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the nearest known name, otherwise up to eight known names, or ''."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}" if known else ""


def pointer(*parts: str | int) -> str:
    """JSON pointer from path parts, escaped as in RFC 6901."""
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in parts)
