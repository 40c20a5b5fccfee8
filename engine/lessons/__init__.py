"""Step-by-step explanations: small histories of messages and checkpoints, queries under a scheduling policy (documents in
`fixtures/lessons`), and recoveries of real runs. The steps are those of the rules of `engine.checkpointing` and of the policies of
`engine.scheduling`, as texts and marks in one kind of diagram."""

from .build_steps import AnyLesson, examine_lesson, explained
from .document import Lesson
from .files import LessonFiles
from .recovery import NotKnown, explained_recovery
from .steps import Diagram, Explained, LessonStep

__all__ = [
    "AnyLesson",
    "Diagram",
    "Explained",
    "Lesson",
    "LessonFiles",
    "LessonStep",
    "NotKnown",
    "examine_lesson",
    "explained",
    "explained_recovery",
]
