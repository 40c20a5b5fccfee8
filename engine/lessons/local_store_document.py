"""The document of a lesson on a task's local store and its changelog (docs/incremental-checkpointing.md)."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from engine.spec.base.problems import Refusal

from .document import CaseHead, LessonHead, Name, OneVerb


class StoreAct(OneVerb):
    """One act, a second after the one before: a tuple comes for a window, which adds it to its value or keeps it as it is; a window closes;
    the task commits; it crashes and is restored; it processes again what came after its last commit."""

    VERBS = ("add", "keep", "close", "commit", "crash", "replay")

    add: Name | None = Field(default=None, description="window whose value grows by one: it is read by a scan, and written")
    keep: Name | None = Field(default=None, description="window that keeps the tuple under a key of its own")
    close: Name | None = Field(default=None, description="window whose entries are deleted")
    commit: Literal[True] | None = None
    crash: Literal["process", "disk"] | None = Field(default=None, description="what is lost: the process, or the disk as well")
    replay: Literal[True] | None = None


class StoreCase(CaseHead):
    """commit_order: whether a commit first brings the store to disk, or first notes the position in the input."""

    commit_order: Literal["flush_then_position", "position_then_flush"] = "flush_then_position"
    crash_in_commit: bool = Field(default=False, description="the last commit before a crash does only the first of its two things")
    acts: tuple[StoreAct, ...] = Field(min_length=1, max_length=30)

    @model_validator(mode="after")
    def _crashes_after_a_commit(self) -> StoreCase:
        verbs = [act.verb for act in self.acts]
        if self.crash_in_commit and not any(pair == ("commit", "crash") for pair in pairwise(verbs)):
            message = "crash_in_commit is true, but no crash comes right after a commit; add both, one after the other"
            raise Refusal(message, at=("crash_in_commit",), code="no_crash", value=True)
        return self

    @model_validator(mode="after")
    def _replays_before_it_goes_on(self) -> StoreCase:
        crashed = False
        for n, act in enumerate(self.acts):
            if crashed and act.verb in ("add", "keep", "close"):
                message = f"{act.verb} follows a crash, but the input goes on behind the last commit; put replay before it"
                raise Refusal(message, at=("acts", n), code="no_replay", value=act.verb)
            crashed = act.verb == "crash" or (crashed and act.verb != "replay")
        return self


class StoreLesson(LessonHead):
    """batch: with so many dirty entries the cache writes out."""

    kind: Literal["local_store"]
    batch: int = Field(default=3, ge=1, le=100)
    cases: tuple[StoreCase, ...] = Field(min_length=1, max_length=10)
