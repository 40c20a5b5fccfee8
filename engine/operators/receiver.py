"""Takes over records that a source on another host hands it, and begins their ingestion time anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from engine.core.layout import CLOCK_INGEST, G_CLOCK, G_STAMP_CLOCK, M_CLOCK, M_NEWEST, M_OLDEST

from .union import Union, union_on_record


def receiver_on_record(slot, box, msg, g, stamps, t):
    """Forward the message itself. Wherever it carries its ingestion time, that is now."""
    if g[G_CLOCK] == CLOCK_INGEST:
        msg[slot, M_CLOCK] = t
        msg[slot, M_NEWEST] = t
        msg[slot, M_OLDEST] = t
    for k in range(stamps):
        if g[G_STAMP_CLOCK + k] == CLOCK_INGEST:
            msg[slot, msg.shape[1] - 1 - k] = t
    return union_on_record(slot, box)


class Receiver(Union):
    """Takes over records from a source on another host, as an engine pulls them from a driver. Their ingestion time is the start of its
    service. Stateless.

    With bounded channels it reads no faster than it serves, and what it does not take waits in the source's log. Engine profiles put one
    behind every source (docs/engines.md). Cost: that of a source, record_ps per record.
    """

    kind, title, group, icon = "receiver", "Receiver", "Stateless", "broker"
    source = "Karimov 2020, 3.2"
    position = 5
    priced_as = "source"
    on_record: ClassVar[Callable[..., int]] = staticmethod(receiver_on_record)  # one in batches takes more arguments
