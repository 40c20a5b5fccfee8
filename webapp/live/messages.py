"""Types of WebSocket messages for the OpenAPI document and the pages; docs/web-api.md says when they are sent."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from webapp.lab.schemas import (
    CalibrationJobShape,
    ExperimentNews,
    LearningJobShape,
    PresenceShape,
    ReproductionShape,
    RunShape,
    SparkJobShape,
    SparkRunShape,
    StudyShape,
    WaterfallsShape,
)

from .frames import Frame


class FramesMessage(TypedDict):
    """at_s: Unix time at which the worker sent live frames."""

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
    """Changes are sent from now on; earlier ones are not."""

    type: Literal["ready"]


class RunsMessage(TypedDict):
    type: Literal["runs"]
    runs: list[RunShape]


class ExperimentsMessage(TypedDict):
    """Experiments that were saved."""

    type: Literal["experiments"]
    experiments: list[ExperimentNews]


class PresencesMessage(TypedDict):
    """Who has experiments open now."""

    type: Literal["presences"]
    presences: list[PresenceShape]


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


class LearningJobsMessage(TypedDict):
    type: Literal["learning_jobs"]
    learning_jobs: list[LearningJobShape]


class SparkRunsMessage(TypedDict):
    type: Literal["spark_runs"]
    spark_runs: list[SparkRunShape]


class CalibrationsMessage(TypedDict):
    type: Literal["calibrations"]
    calibrations: list[CalibrationJobShape]


class ListsMessage(TypedDict):
    """Lists of runs or their tags may have changed."""

    type: Literal["lists"]


NewsMessage = (
    ReadyMessage
    | RunsMessage
    | ExperimentsMessage
    | PresencesMessage
    | QuestionsMessage
    | StudiesMessage
    | ReproductionsMessage
    | AnalysesMessage
    | LearningJobsMessage
    | SparkRunsMessage
    | CalibrationsMessage
    | ListsMessage
    | PongMessage
)
