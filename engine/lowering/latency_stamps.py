"""Clocks that records must carry so that the sinks can measure an experiment's latencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core import layout as L
from engine.core.tables import Words
from engine.spec.experiment.experiment import FurtherLatency, Measurement

CLOCKS = {"event": L.CLOCK_EVENT, "append": L.CLOCK_APPEND, "ingest": L.CLOCK_INGEST}
ANCHORS = {"trigger": L.M_CLOCK, "newest": L.M_NEWEST, "oldest": L.M_OLDEST, "mixed": L.MIXED}
POINTS = {"sink": L.TO_SINK, "emit": L.TO_EMIT, "read": L.TO_READ, "watermark": L.TO_WATERMARK, "marker": L.TO_MARKER}
OF_MARKS = {"ingest": L.M_CLOCK, "append": L.M_NEWEST, "event": L.M_OLDEST}


@dataclass(frozen=True)
class Stamps:
    """The stamps that records carry in addition to the header: each clock and anchor once, except those already in the header.

    places: number of the stamp by clock and anchor. sent: 1 if messages carry their send time.
    """

    places: Mapping[tuple[str, str], int]
    sent: int

    @classmethod
    def of(cls, measurement: Measurement) -> Stamps:
        measured = measurement.latency.clock
        told = [further for further in measurement.also if further.to in ("sink", "emit")]  # the others need nothing of records
        asked = dict.fromkeys(
            (further.clock, further.anchor) for further in told if further.clock != "deadline" and not in_header(further, measured)
        )
        return cls({what: n for n, what in enumerate(asked)}, int(bool(measurement.also)))

    @property
    def message_words(self) -> int:
        return len(self.places) + self.sent

    def tell(self, g: Words, measurement: Measurement, message_columns: int) -> None:
        """Write the measured latencies into a world's scalars. message_columns: width of a message's row."""
        g[L.G_CLOCK], g[L.G_ANCHOR] = CLOCKS[measurement.latency.clock], ANCHORS[measurement.latency.anchor]
        g[L.G_STAMPS], g[L.G_MEASURES] = len(self.places), len(measurement.also)
        for (clock, anchor), n in self.places.items():
            g[L.G_STAMP_CLOCK + n], g[L.G_STAMP_ANCHOR + n] = CLOCKS[clock], ANCHORS[anchor]
        for n, further in enumerate(measurement.also):
            if further.to in ("watermark", "marker"):
                column = OF_MARKS[further.clock]
            elif further.clock == "deadline" or further.to == "read":
                column = L.M_EVENT
            elif in_header(further, measurement.latency.clock):
                column = ANCHORS[further.anchor]
            else:
                column = message_columns - 1 - self.places[further.clock, further.anchor]
            g[L.G_MEASURE_FROM + n], g[L.G_MEASURE_TO + n] = column, POINTS[further.to]
        g[L.G_SWEEPING] = int(any(further.to == "watermark" for further in measurement.also))


def in_header(further: FurtherLatency, measured: str) -> bool:
    """Of the measured clock, a message's header has the trigger's, the newest and the oldest value."""
    return further.clock == measured and further.anchor != "mixed"
