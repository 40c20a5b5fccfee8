"""The lab's tables, one file per subject."""

from .answers import KeptAnswer
from .baselines import Baseline
from .calibrations import CalibrationJob
from .datasets import Dataset
from .experiments import Experiment
from .fields import FieldName
from .figures import FigureResult, Reproduction
from .learning import LearningJob
from .parameters import RunParameter
from .people import Lab, Membership
from .retention import Removal, RetentionRule
from .runs import Executor, Run, RunSummary
from .spark import SparkJob
from .spark_runs import SparkRun
from .studies import Study, Trial, TrialState
from .tags import Tag
from .versions import ExperimentVersion
from .views import View
from .waterfalls import Waterfalls
from .work import RunState, Work

__all__ = [
    "Baseline",
    "CalibrationJob",
    "Dataset",
    "Executor",
    "Experiment",
    "ExperimentVersion",
    "FieldName",
    "FigureResult",
    "KeptAnswer",
    "Lab",
    "LearningJob",
    "Membership",
    "Removal",
    "Reproduction",
    "RetentionRule",
    "Run",
    "RunParameter",
    "RunState",
    "RunSummary",
    "SparkJob",
    "SparkRun",
    "Study",
    "Tag",
    "Trial",
    "TrialState",
    "View",
    "Waterfalls",
    "Work",
]
