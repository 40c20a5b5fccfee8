"""Parameters of the occurrence `in_commit`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer
from .base import Occurrence


class InCommit(Occurrence):
    """Once, amid a commit of the host's local stores: between two of its steps, which are not atomic."""

    title: ClassVar[str] = "Amid a commit"
    position: ClassVar[int] = 2
    kind: Literal["in_commit"] = "in_commit"
    commit: Integer = Field(default=1, ge=1, le=10**9, title="Commit", description="Which commit of the host, from 1 on.")
    before: Literal["flush", "offset"] = Field(
        default="offset",
        title="Before",
        description="The step that does not happen any more. flush: stores are written out; offset: the input positions become durable.",
    )

    @property
    def in_words(self) -> str:
        step = "its stores are flushed" if self.before == "flush" else "its positions are durable"
        return f"in commit {self.commit}, before {step}"
