"""The lab's tables, one file per subject."""

from .datasets import Dataset
from .experiments import Experiment
from .notes import Note, Tag
from .people import Lab, Membership
from .runs import Run, RunSummary
from .waterfalls import Waterfalls
from .work import RunState, Work

__all__ = ["Dataset", "Experiment", "Lab", "Membership", "Note", "Run", "RunState", "RunSummary", "Tag", "Waterfalls", "Work"]
