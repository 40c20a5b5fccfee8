"""An occurrence of faults from outside the package, all of it in one file: parameters and times."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from engine.spec.base.units import Number, quantity, seconds_ns
from engine.spec.experiment.occurrences.base import Occurrence


class Periodic(Occurrence):
    """At a time of the run, and then every period. What would begin during the one before is left out."""

    title: ClassVar[str] = "Periodic"
    source: ClassVar[str] = "Newcomer et al., section 15"
    kind: Literal["periodic"] = "periodic"
    begins_field: ClassVar[str] = "first_s"
    first_s: Number = quantity(1.0, unit="s", ge=0, le=1e8, title="First", description="Virtual time of the first one.")
    every_s: Number = quantity(10.0, unit="s", ge=0.001, le=1e8, title="Every", description="Time from the start of one to the next.")

    def next_ns(self, random: Any, begun: int, now_ns: int) -> int:
        first_ns, every_ns = seconds_ns(self.first_s), seconds_ns(self.every_s)
        return first_ns if not begun else first_ns + ((now_ns - first_ns) // every_ns + 1) * every_ns
