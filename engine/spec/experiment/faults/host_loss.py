"""Parameters of the fault `host_loss`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity, seconds_ns
from ...base.words import model_in_words, number_in_words
from .host_fault import HostFault


class HostLoss(HostFault):
    """The host is lost with everything in its memory and on its disk: services in progress, queues, state, unsent records. Records sent to
    it are lost as well. If it restarts, its instances start empty, and its sources continue after the last record they read; with
    checkpoints or changelogs they recover.
    """

    title: ClassVar[str] = "Host loss"
    icon: ClassVar[str] = "power"
    position: ClassVar[int] = 4
    loses_host: ClassVar[bool] = True
    disk_survives: ClassVar[bool] = False  # a local store on it can be used again
    verb: ClassVar[str] = "is lost"
    kind: Literal["host_loss"] = "host_loss"
    restart_after_s: Number | None = quantity(
        None, unit="s", ge=0.000000001, le=1e9, title="Restart after", description="Downtime of the host. Default: permanent."
    )

    @property
    def in_words(self) -> str:
        when = model_in_words(self.when)
        if self.restart_after_s is None:
            return f"{self.host} {self.verb} permanently {when}"
        return f"{self.host} {self.verb} {when} and restarts after {number_in_words(self.restart_after_s, 's')}"

    @property
    def span_ns(self) -> int | None:
        return None if self.restart_after_s is None else seconds_ns(self.restart_after_s)
