"""Settings of local stores and their changelogs that change while a query runs."""

from __future__ import annotations

from pydantic import model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Integer, Number, quantity


class Adjustment(Model):
    """Settings from a time on. Those that are not given stay as they are."""

    at_s: Number = quantity(unit="s", ge=0, le=1e9, title="At", description="Virtual time, before the end of the run.")
    commit_s: Number | None = quantity(None, unit="s", gt=0, le=1e6, title="Commit", description="Time between two commits.")
    dirty_ratio: Number | None = quantity(
        None, unit="share", ge=0, le=1, title="Dirty ratio", description="A log is cleaned when more of its closed bytes are dirty."
    )
    segment_ms: Number | None = quantity(
        None, unit="ms", gt=0, le=1e12, title="Segment", description="Time after which the next record closes a segment."
    )
    delete_retention_ms: Number | None = quantity(
        None, unit="ms", ge=0, le=1e12, title="Tombstones stay", description="How long a tombstone stays for readers that are behind."
    )
    backoff_s: Number | None = quantity(
        None, unit="s", gt=0, le=1e6, title="Back-off", description="Sleep of a cleaner's thread that finds no log due."
    )
    threads: Integer | None = quantity(None, ge=1, le=1000, title="Threads", description="Threads that clean.")
    batch: Integer | None = quantity(None, ge=1, le=10**7, title="Batch", description="Dirty entries that leave a cache together.")

    @model_validator(mode="after")
    def _changes_something(self) -> Adjustment:
        if not self.changed:
            message = "nothing is given beside at_s, so nothing would change; give a setting, such as dirty_ratio"
            raise Refusal(message, at=("at_s",), code="no_change", value=self.at_s)
        return self

    @property
    def changed(self) -> dict[str, float]:
        """The settings that are given, by name."""
        return {name: value for name, value in self if name != "at_s" and value is not None}
