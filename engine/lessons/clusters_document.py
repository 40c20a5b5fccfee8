"""The document of a lesson on ClusterJoin: many partitions that share few keys (docs/similarity.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from .document import CaseHead, LessonHead, refuse_twice
from .similarity_document import Direction, PlacedRecord


class ClusterCase(CaseHead):
    """records: in the order in which they come, in one window. meet: by key, or by partition. dedupe: a pair counts only where both copies
    are of one partition."""

    records: tuple[PlacedRecord, ...] = Field(min_length=2, max_length=12)
    meet: Literal["key", "partition"] = "key"
    dedupe: bool = False

    @model_validator(mode="after")
    def _names_are_there_once(self) -> ClusterCase:
        refuse_twice("record", [record.name for record in self.records], "records", field="name")
        return self


class ClustersLesson(LessonHead):
    """partitions: directions of their centroids. keys: how many the partitions share. workers: on which keys are. threshold: the largest
    distance of a pair, in half turns."""

    kind: Literal["clusters"]
    partitions: tuple[Direction, ...] = Field(min_length=1, max_length=12)
    keys: int = Field(ge=1, le=12)
    workers: int = Field(ge=1, le=12)
    threshold: float = Field(gt=0, le=0.5)
    cases: tuple[ClusterCase, ...] = Field(min_length=1, max_length=10)
