"""What the rest of the engine asks of every partitioning, with the answers of one that spreads records regardless of keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...base.problems import Refusal, suggestion
from ...base.records import RecordSchema
from ...base.variant import Variant


@dataclass(frozen=True)
class Keying:
    """Records with equal values of `field` reach the same instance.

    scheme: how a value finds its instance. Two edges send equal values to the same instance if scheme and groups agree. groups: number of
    key groups; 0 where keys are not in groups that a rescale can hand to another instance.
    """

    field: str
    scheme: str
    groups: int = 0


class Partitioning(Variant):
    """Which instance of the receiving operator gets which record of an edge.

    One of another package also has a static kernel `choose_receiver`, compiled into the event loop. It returns the index of the receiver;
    indices from the parallelism on wrap around. Its arguments are variables of the loop (`engine.core.kernels.event_loop.emission`), most
    often `msg` and `slot` (the record), `k` (index of the sender), `parallel` (number of receivers), and `route` and `edge` and `e` for
    the words that `words` returns. It may be asked again for the same record after a wait, so it changes nothing.
    """

    one_to_one: ClassVar[bool] = False  # each sender has one channel, to the receiver of its own index
    features: ClassVar[tuple[str, ...]] = ()  # what the kernel needs of the event loop (`engine.core.weave.FEATURES`)

    @property
    def keying(self) -> Keying | None:
        """How equal keys meet in one instance; None if they may not."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """Fields of the record that decide on the receiver."""
        return () if self.keying is None else (self.keying.field,)

    def words(self, schema: RecordSchema) -> Sequence[int]:
        """Words for the kernel, at `route[edge[e, E_ROUTE]]`. schema: the fields that records carry on the edge."""
        return ()

    def check_records(self, schema: RecordSchema) -> None:
        """Raise `Refusal` (path below the partitioning) if records of this schema cannot be partitioned."""
        for field in self.reads:
            if field not in schema:
                message = f"partitioning reads '{field}', which is no field of the records; it must be one of {', '.join(schema.names)}"
                raise Refusal(message, code="unknown_field", value=field, hint=suggestion(field, schema.names))

    def check_parallelism(self, senders: int, receivers: int) -> None:
        """Raise `Refusal` (path below the partitioning) if so many instances cannot be joined."""
