"""Base of states that are lost with their host, and computed again from input that is kept upstream."""

from __future__ import annotations

from pydantic import Field

from ...base.operator import Model
from ...base.origins import ASSUMED, Charge
from ...base.units import Integer, Number, quantity
from ...base.variant import Variant
from .base import KEY_TEXT, OPERATORS, VALUE_BYTES

RESTORE = Charge("fitted", "the costs of a restored record of a changelog", ("incremental/4.7",))


class LogCosts(Model):
    """Time that an output log takes, in normal operation and in a recovery."""

    write_us: Number = quantity(
        13.2, unit="us", ge=0, le=1e6, title="Write", description="CPU time to append a record about a window.", charge=ASSUMED
    )
    read_us: Number = quantity(
        0.7, unit="us", ge=0, le=1e6, title="Read", description="Time to read a record in a recovery.", charge=RESTORE
    )
    read_byte_ns: Number = quantity(2.5, unit="ns", ge=0, le=1e6, title="Byte", description="Time for each of its bytes.", charge=RESTORE)
    load_us: Number = quantity(
        1.943, unit="us", ge=0, le=1e6, title="Load", description="Time to put a window into the operator's state.", charge=RESTORE
    )


class ReplayedState(Variant):
    """Operators keep their state in memory. An output log, which outlives the host, has their results and which windows are open. Senders
    keep what they have sent until no recovery needs it."""

    operators: tuple[str, ...] = OPERATORS
    key_text: str = KEY_TEXT
    value_bytes: Integer | None = VALUE_BYTES
    costs: LogCosts = Field(default=LogCosts(), title="Costs", description="What the output log takes on the operator's host.")

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """Most records that a recovery may read, and most of the input that it may process again. None: any number."""
        return None, None
