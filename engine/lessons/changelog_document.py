"""The document of a lesson on a changelog and its cleaner (docs/incremental-checkpointing.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.services.topics import TombstoneRule

from .document import CaseHead, LessonHead, Name, OneVerb


class ChangelogAct(OneVerb):
    """One act, a second after the one before: the task puts or deletes a key, a thread of the cleaner looks at the log, or another store
    reads what it has not read yet."""

    VERBS = ("put", "delete", "clean", "read")

    put: Name | None = Field(default=None, description="key that gets the next value")
    delete: Name | None = Field(default=None, description="key that is deleted")
    clean: Literal[True] | None = None
    read: Literal[True] | None = None


class ChangelogCase(CaseHead):
    """retention_s: of tombstones. tombstone_rule: by which they go (`engine.services.topics.TombstoneRule`)."""

    retention_s: int = Field(default=2, ge=0, le=1000)
    tombstone_rule: TombstoneRule = "merged_segment_mtime"
    acts: tuple[ChangelogAct, ...] = Field(min_length=1, max_length=40)


class ChangelogLesson(LessonHead):
    """segment_s: a segment is closed before a record that comes later after its first one. dirty_share: above which the log is cleaned."""

    kind: Literal["changelog"]
    segment_s: int = Field(ge=1, le=1000)
    dirty_share: float = Field(ge=0, le=1)
    cases: tuple[ChangelogCase, ...] = Field(min_length=1, max_length=10)
