"""How checkpoints fit together, step by step: small histories of messages and checkpoints (documents, `fixtures/lessons`), and recoveries
of real runs. The steps are what the rules of `engine.checkpointing` do; here they are put into words and marks of one kind of picture."""

from .build_steps import examine_lesson, explained
from .document import Lesson
from .files import LessonFiles
from .recovery import NotKnown, explained_recovery
from .steps import Diagram, Explained, LessonStep

__all__ = ["Diagram", "Explained", "Lesson", "LessonFiles", "LessonStep", "NotKnown", "examine_lesson", "explained", "explained_recovery"]
