"""What a task on Spark ends with, whatever happens to Spark meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.spec import InvalidExperiment, Refusal
from webapp.lab.models import RunState
from webapp.lib import outages
from workers.artifacts import is_disk_full
from workers.execution import SHUTTING_DOWN, failed
from workers.run_monitor import Cancelled, LeaseLost, ShuttingDown

from .session import SESSION, SparkUnavailable, first_line

log = logging.getLogger(__name__)

NO_SPACE = "No space left on device"
"""What errors of Java say when the disk is full."""

NOTICE_S = 1.0
"""Grace period after Spark disconnects before checking whether this worker is shutting down."""


def outcome_of(make: Callable[[], dict[str, Any]], what: str, directory: Path, less: str) -> dict[str, Any]:
    """The outcome as changes of the row. make: does the work; it is called again if Spark dies under it. what: the task, as errors name it.
    directory: where it writes. less: what needs less memory. Raises LeaseLost and ShuttingDown."""
    for again in (False, True):
        deaths = SESSION.deaths()
        try:
            return make()
        except (LeaseLost, ShuttingDown):
            raise
        except Cancelled:
            return {"state": RunState.CANCELLED}
        except (SparkUnavailable, Refusal) as why:
            return failed(str(why))
        except InvalidExperiment as why:
            return failed(f"the experiment has become invalid: {why}")
        except MemoryError:
            return failed(f"the worker ran out of memory; {less}")
        except Exception as error:
            outages.pass_on(error)
            if is_disk_full(error) or NO_SPACE in str(error):
                return failed(f"the disk is full: cannot write below {directory}; free some space and ask again")
            log.exception("%s failed", what)
            if SHUTTING_DOWN.wait(NOTICE_S):
                raise ShuttingDown from None
            if SESSION.deaths() == deaths:
                return failed(f"{what} failed: {first_line(error)}; the log of the analysis worker has the details")
            if again:
                return failed("Spark died twice during this job, probably out of memory; give it more (SPARK_DRIVER_MEMORY)")
            log.warning("%s: Spark died; continuing with a new session", what)
    raise AssertionError
