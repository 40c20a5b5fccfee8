"""Interface of all ingress policies. With the defaults no host is ever full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ...base.problems import Problem
from ...base.variant import Variant

AT = ("policies", "ingress")
"""Path of the policy in a document."""


class Marks(NamedTuple):
    """High and low watermarks of a host's load. It is full from exceeding a maximum until it is down to both resume marks.

    queued_max, queued_resume: items in its queues. used_max, used_resume: bytes of its memory. None: no such mark.
    """

    queued_max: int | None = None
    queued_resume: int | None = None
    used_max: int | None = None
    used_resume: int | None = None


class Ingress(Variant):
    """An ingress policy. A kind of another package has a method `marks`."""

    guards: ClassVar[bool] = True  # hosts can be full
    drops: ClassVar[bool] = False  # sources of a full host read on and drop; otherwise they stop reading

    def marks(self, budget_bytes: int | None) -> Marks:
        """The marks of a host with sources. budget_bytes: its memory budget, or None."""
        return Marks()

    def problems(self, draft: Any, placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
        """Yield reasons why the policy cannot work in an experiment.

        draft: `engine.spec.rules.draft.Draft`. placement: host indices by operator id, as far as known.
        """
        yield from ()
