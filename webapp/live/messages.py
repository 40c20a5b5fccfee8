"""What the WebSockets send, for the OpenAPI document and the pages. docs/web-api.md says when."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from webapp.lab.schemas import ReproductionShape, RunShape, SparkJobShape, StudyShape, WaterfallsShape

from .frames import Frame


class FramesMessage(TypedDict):
    """at_s: unix time at which the worker sent live frames."""

    type: Literal["frames"]
    frames: list[Frame]
    at_s: NotRequired[float]


class StateMessage(TypedDict):
    type: Literal["state"]
    run: RunShape


class EndMessage(TypedDict):
    type: Literal["end"]


class PongMessage(TypedDict):
    type: Literal["pong"]


RunMessage = FramesMessage | StateMessage | EndMessage | PongMessage


class ReadyMessage(TypedDict):
    """From now on changes are told; those before are not."""

    type: Literal["ready"]


class RunsMessage(TypedDict):
    type: Literal["runs"]
    runs: list[RunShape]


class QuestionsMessage(TypedDict):
    type: Literal["questions"]
    questions: list[WaterfallsShape]


class StudiesMessage(TypedDict):
    type: Literal["studies"]
    studies: list[StudyShape]


class ReproductionsMessage(TypedDict):
    type: Literal["reproductions"]
    reproductions: list[ReproductionShape]


class AnalysesMessage(TypedDict):
    type: Literal["analyses"]
    analyses: list[SparkJobShape]


class ListsMessage(TypedDict):
    """Other runs may be in a list, or have other tags."""

    type: Literal["lists"]


NewsMessage = (
    ReadyMessage | RunsMessage | QuestionsMessage | StudiesMessage | ReproductionsMessage | AnalysesMessage | ListsMessage | PongMessage
)
