"""Step-by-step explanations of checkpoint consistency: small histories of messages and checkpoints (documents, `fixtures/lessons`), and
recoveries of real runs. The steps are those of the rules of `engine.checkpointing`, presented as texts and marks in one kind of diagram."""

from .build_steps import examine_lesson, explained
from .document import Lesson
from .files import LessonFiles
from .recovery import NotKnown, explained_recovery
from .steps import Diagram, Explained, LessonStep

__all__ = ["Diagram", "Explained", "Lesson", "LessonFiles", "LessonStep", "NotKnown", "examine_lesson", "explained", "explained_recovery"]
