"""The document of a lesson on similarity joins: records with directions that meet in worksets (docs/similarity.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model

from .document import CaseHead, LessonHead, Name, refuse_twice

Direction = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False, description="of a vector in the plane, in half turns")]


class PlacedRecord(Model):
    name: Name
    stream: Literal["left", "right"] = "left"
    at: Direction


class SimilarityCase(CaseHead):
    """records: in the order in which they come, in one window. The others change a rule, to show what it is for. parity: of two spaces only
    one gets copies of the other's records. replay: copies that came before a workset are sent to it. lower_bound: copies go only to
    worksets beyond half the threshold, as the definition is printed."""

    records: tuple[PlacedRecord, ...] = Field(min_length=2, max_length=12)
    parity: bool = True
    replay: bool = True
    lower_bound: bool = False

    @model_validator(mode="after")
    def _names_are_there_once(self) -> SimilarityCase:
        refuse_twice("record", [record.name for record in self.records], "records", field="name")
        return self


class SimilarityLesson(LessonHead):
    """spaces: directions of their centroids. threshold: the largest distance of a pair, in half turns."""

    kind: Literal["similarity"]
    spaces: tuple[Direction, ...] = Field(min_length=1, max_length=6)
    threshold: float = Field(gt=0, le=0.5)
    cases: tuple[SimilarityCase, ...] = Field(min_length=1, max_length=10)
