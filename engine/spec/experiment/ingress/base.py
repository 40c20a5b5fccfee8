"""What the rest of the engine asks of every ingress policy, with the answers of one by which no host is ever full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ...base.problems import Problem
from ...base.variant import Variant

AT = ("policies", "ingress")
"""Where the policy stands in a document."""


class Marks(NamedTuple):
    """A host is full while it is above one of the first two marks, until it is down at both of the others. None: no such mark.

    queued_max, queued_resume: items in its queues. used_max, used_resume: bytes of its memory.
    """

    queued_max: int | None = None
    queued_resume: int | None = None
    used_max: int | None = None
    used_resume: int | None = None


class Ingress(Variant):
    """An ingress policy. One of another package has a method `marks`."""

    guards: ClassVar[bool] = True  # hosts may be full
    drops: ClassVar[bool] = False  # sources of a full host read on and throw away; otherwise they read nothing

    def marks(self, budget_bytes: int | None) -> Marks:
        """Those of a host with sources. budget_bytes: of its memory; None: it has no budget."""
        return Marks()

    def problems(self, draft: Any, placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
        """What keeps the policy from its work in an experiment.

        draft: `engine.spec.rules.draft.Draft`. placement: host indices by operator id, as far as it is known.
        """
        yield from ()
