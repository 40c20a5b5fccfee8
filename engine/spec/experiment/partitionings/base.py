"""Base class of all partitionings. Its defaults fit a partitioning that ignores keys."""

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

    scheme: how a value maps to an instance. Two edges send equal values to the same instance if scheme and groups agree. groups: number of
    key groups; 0 if there are no key groups that a rescale could move to another instance.
    """

    field: str
    scheme: str
    groups: int = 0


class Partitioning(Variant):
    """Which instance of the receiving operator gets which record of an edge.

    A partitioning of another package also has a static kernel `choose_receiver`, compiled into the event loop. It returns the index of the
    receiver; an index beyond the parallelism wraps around. Its arguments are variables of the loop
    (`engine.core.kernels.event_loop.emission`): usually `msg` and `slot` (the record), `k` (index of the sender), `parallel` (number of
    receivers), and `route`, `edge` and `e` for the words that `words` returns. It must have no side effects: after a wait, the loop may
    call it again for the same record.
    """

    one_to_one: ClassVar[bool] = False  # each sender has one channel, to the receiver of its own index
    field_params: ClassVar[tuple[str, ...]] = ()  # parameters that name fields of the record
    features: ClassVar[tuple[str, ...]] = ()  # features of the event loop that the kernel needs (`engine.core.weave.FEATURES`)

    @property
    def keying(self) -> Keying | None:
        """How equal keys reach the same instance; None if that is not guaranteed."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields of the record that decide on the receiver."""
        return tuple(getattr(self, name) for name in self.field_params)

    def words(self, schema: RecordSchema) -> Sequence[int]:
        """Words for the kernel, at `route[edge[e, E_ROUTE]]`. schema: the fields that records carry on the edge."""
        return ()

    def check_records(self, schema: RecordSchema) -> None:
        """Raise `Refusal` (path below the partitioning) if records of this schema cannot be partitioned."""
        for name in self.field_params:
            field = getattr(self, name)
            if field not in schema:
                message = f"{name} is '{field}', which is not a field of the records; it must be one of {', '.join(schema.names)}"
                raise Refusal(message, at=(name,), code="unknown_field", value=field, hint=suggestion(field, schema.names))

    def check_parallelism(self, senders: int, receivers: int) -> None:
        """Raise `Refusal` (path below the partitioning) if these parallelisms cannot be connected."""
