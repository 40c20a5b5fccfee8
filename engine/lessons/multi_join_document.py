"""The document of a lesson on joins of several streams (docs/incremental-checkpointing.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion

from .document import CaseHead, LessonHead, Name, refuse_twice


class JoinAct(Model):
    """A record of a stream comes. It belongs to a group, of which each stream has one record."""

    stream: Name
    group: Name


class MultiJoinCase(CaseHead):
    """way: all_in_one: an operator with a buffer for each stream; step_by_step: operators that join two streams each, with topics between
    them."""

    way: Literal["all_in_one", "step_by_step"]


class MultiJoinLesson(LessonHead):
    """streams: in the order in which they are joined step by step. acts: the same for all cases."""

    kind: Literal["multi_join"]
    streams: tuple[Name, ...] = Field(min_length=2, max_length=6)
    acts: tuple[JoinAct, ...] = Field(min_length=1, max_length=40)
    cases: tuple[MultiJoinCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _is_possible(self) -> MultiJoinLesson:
        refuse_twice("stream", self.streams, "streams")
        seen: set[tuple[str, str]] = set()
        for n, act in enumerate(self.acts):
            if act.stream not in self.streams:
                hint = suggestion(act.stream, self.streams)
                raise Refusal(f"there is no stream '{act.stream}'", at=("acts", n, "stream"), code="unknown", value=act.stream, hint=hint)
            if (act.stream, act.group) in seen:
                message = f"group '{act.group}' has a record of '{act.stream}' already; give this one another group"
                raise Refusal(message, at=("acts", n, "group"), code="twice", value=act.group)
            seen.add((act.stream, act.group))
        return self
