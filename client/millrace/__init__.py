"""A Millrace lab from a notebook: experiments, runs, studies and figures, with pandas.

    lab = millrace.connect("http://127.0.0.1:8000", token="millrace_...")
    run = lab.submit("experiment.yaml", seed=3).wait()
    run.frames()["latency_ms.p99"].max()

Refused requests raise LabError. Its text names field and value, and says how to fix them.
"""

from .analyses import Analysis
from .documents import read_document
from .errors import LabError
from .experiments import Experiment
from .figures import Figure
from .lab import Lab, connect
from .runs import Run
from .studies import Study

__all__ = ["Analysis", "Experiment", "Figure", "Lab", "LabError", "Run", "Study", "connect", "read_document"]
