"""Takes over records from a source on another host, in batches by the time of receipt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.core.layout import FAR, I_PERIOD, I_WATERMARK, M_EVENT
from engine.spec.base.operator import Model
from engine.spec.base.units import seconds_ns

from .receiver import Receiver, receiver_on_record


def block_receiver_on_record(slot, box, msg, inst, i, g, stamps, t):
    """Forward the message itself. Its event time is now, but before the end of the batch that is being received."""
    msg[slot, M_EVENT] = t
    if inst[i, I_WATERMARK] > -FAR:
        msg[slot, M_EVENT] = min(t, inst[i, I_WATERMARK] + inst[i, I_PERIOD] - 1)
    return receiver_on_record(slot, box, msg, g, stamps, t)


class BlockReceiver(Receiver):
    """Takes over records from a source on another host in batches, as Spark Streaming does. The event time of a record becomes that of its
    receipt. At each multiple of the batch interval a watermark of that time leaves, behind all records of the batch, and watermarks of the
    source end here. So windows behind it are those of the time of receipt, and each watermark is the end of a batch. When the source has
    ended, the next one closes all windows.

    It has a thread of its own beside the cores of a pool. Cost: that of a source, record_ps per record.
    """

    kind, title, group, icon = "block_receiver", "Receiver in batches", "Stateless", "broker"
    source = "Karimov 2020, 2.2"
    position = 5
    priced_as = "source"
    own_thread = True
    on_record = staticmethod(block_receiver_on_record)

    class Params(Model):
        batch_s: float = Field(4.0, gt=0, le=1e6, description="time from one batch to the next", json_schema_extra={"x-unit": "s"})

    @classmethod
    def marks_every_ns(cls, params: Any) -> int:
        return max(1, seconds_ns(params.batch_s))
