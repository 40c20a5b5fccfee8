"""The document of a lesson on watermarks: what comes to a window operator, in the order of its arrival (docs/scheduling.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion

from .document import CaseHead, LessonHead, Name, refuse_twice

Time = Annotated[int, Field(ge=0, le=1000)]


class Arrival(Model):
    """An `event` or a `watermark`, by its time, at an input; with one input that need not be named."""

    event: Time | None = None
    watermark: Time | None = None
    input: Name | None = None

    @property
    def time(self) -> int:
        found = self.event if self.watermark is None else self.watermark
        assert found is not None
        return found

    @model_validator(mode="after")
    def _is_one_thing(self) -> Arrival:
        if (self.event is None) == (self.watermark is None):
            found = "neither" if self.event is None else "both"
            raise Refusal(f"an arrival is an event or a watermark; this one has {found}", code="no_arrival", value=found)
        return self


class ArrivalsCase(CaseHead):
    arrivals: tuple[Arrival, ...] = Field(min_length=1, max_length=40)


class WindowsLesson(LessonHead):
    """Tumbling windows over one or more inputs. includes: which of its ends belongs to a window."""

    kind: Literal["windows"]
    group: str = Field(default="Watermarks", max_length=40)
    inputs: tuple[Name, ...] = Field(min_length=1, max_length=4)
    size: int = Field(ge=1, le=100)
    includes: Literal["start", "end"] = "start"
    cases: tuple[ArrivalsCase, ...] = Field(min_length=1, max_length=10)

    def input_of(self, arrival: Arrival) -> int:
        return self.inputs.index(arrival.input) if arrival.input is not None else 0

    @model_validator(mode="after")
    def _names_are_there(self) -> WindowsLesson:
        refuse_twice("input", self.inputs, "inputs")
        for n, case in enumerate(self.cases):
            for k, arrival in enumerate(case.arrivals):
                at = ("cases", n, "arrivals", k)
                if arrival.input is None and len(self.inputs) > 1:
                    raise Refusal(
                        f"there are {len(self.inputs)} inputs; name the one that this comes to", at=(*at, "input"), code="missing"
                    )
                if arrival.input is not None and arrival.input not in self.inputs:
                    message, hint = f"there is no input '{arrival.input}'", suggestion(arrival.input, self.inputs)
                    raise Refusal(message, at=(*at, "input"), code="unknown", value=arrival.input, hint=hint)
                if self.includes == "end" and arrival.event == 0:
                    message = "event is 0, and windows that include their end begin after 0; give a later time"
                    raise Refusal(message, at=(*at, "event"), code="out_of_range", value=0)
        return self
