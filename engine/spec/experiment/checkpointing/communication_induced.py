"""Communication-induced checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number, quantity
from .logged import LoggedCheckpoints


class InducedCheckpoints(LoggedCheckpoints):
    """As uncoordinated, but every instance has a clock of its own, and records carry what their senders know of all checkpoints. Where that
    shows that one would become useless, the receiver takes another before it serves the record.
    """

    title: ClassVar[str] = "Communication-induced"
    position: ClassVar[int] = 4
    source: ClassVar[str] = "Siachamis 2024, 3.3.3 (CIC); Helary 2000 (HMNR); Briatico 1984 (BCS)"
    kind: Literal["communication_induced"] = "communication_induced"
    variant: Literal["hmnr", "bcs"] = Field(
        default="hmnr", title="Variant", description="HMNR: vectors over all instances; BCS: one number, and more forced checkpoints."
    )
    clock_test: bool = Field(
        default=True, title="Clock test", description="The first of HMNR's tests; without it checkpoints become useless."
    )
    cycle_test: bool = Field(default=True, title="Cycle test", description="The second of HMNR's tests.")
    piggyback_bytes: Integer = quantity(
        300,
        unit="bytes",
        ge=0,
        le=10**6,
        title="Piggyback",
        description="What every record carries more, whatever the number of instances ...",
    )
    entry_bytes: Number = quantity(
        2, unit="bytes", ge=0, le=1000, title="Per instance", description="... and for each instance of the run; BCS has one entry."
    )
    serialise_share: Number = Field(
        default=0.6,
        ge=0,
        le=10,
        title="Work of bytes",
        description="Share of an operator's work for a record that is writing and reading its bytes.",
    )
    message_bytes: Integer = quantity(
        450,
        unit="bytes",
        ge=1,
        le=10**6,
        title="Of so many bytes",
        description="Size of a record, envelope included, to which that share applies.",
    )

    def added_bytes(self, instances: int) -> int:
        """What a record carries more. Source: Siachamis 2024, 3.7.2, Table 3.2 (what messages grow by)."""
        return self.piggyback_bytes + round(self.entry_bytes * (1 if self.variant == "bcs" else instances))

    def added_work(self, record_ps: int, instances: int) -> float:
        return record_ps * self.serialise_share / 2 * self.added_bytes(instances) / self.message_bytes
