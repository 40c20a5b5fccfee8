"""Communication-induced checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.origins import Charge
from ...base.units import Integer, Number, quantity
from .logged import LoggedCheckpoints

BYTES = Charge("fitted", fitted_to=("checkmate/table-3.2",))


class InducedCheckpoints(LoggedCheckpoints):
    """Like uncoordinated, but every instance has its own clock, and records piggyback what their senders know of all checkpoints. If
    serving a record would make a checkpoint useless, the receiver takes a forced checkpoint first.
    """

    title: ClassVar[str] = "Communication-induced"
    position: ClassVar[int] = 4
    source: ClassVar[str] = "Siachamis 2024, 3.3.3 (CIC); Helary 2000 (HMNR); Briatico 1984 (BCS)"
    kind: Literal["communication_induced"] = "communication_induced"
    variant: Literal["hmnr", "bcs"] = Field(
        default="hmnr",
        title="Variant",
        description="HMNR: vectors over all instances. BCS: a single number, at the price of more forced checkpoints.",
    )
    clock_test: bool = Field(default=True, title="Clock test", description="HMNR's first test. Without it, checkpoints can become useless.")
    cycle_test: bool = Field(default=True, title="Cycle test", description="HMNR's second test.")
    piggyback_bytes: Integer = quantity(
        300,
        unit="bytes",
        ge=0,
        le=10**6,
        title="Piggyback",
        description="Fixed number of bytes added to every record.",
        charge=BYTES,
    )
    entry_bytes: Number = quantity(
        2,
        unit="bytes",
        ge=0,
        le=1000,
        title="Per instance",
        description="Bytes added to every record per instance of the run; BCS counts a single entry.",
        charge=BYTES,
    )
    serialise_share: Number = quantity(
        0.6,
        ge=0,
        le=10,
        title="Serialisation share",
        description="Serialising and deserialising a record, as a share of an operator's work per record.",
        charge=Charge("fitted", fitted_to=("checkmate/3.7",)),
    )
    message_bytes: Integer = quantity(
        450,
        unit="bytes",
        ge=1,
        le=10**6,
        title="Reference size",
        description="Record size, envelope included, to which the serialisation share applies.",
        charge=Charge("fitted", fitted_to=("checkmate/3.7",)),
    )

    def added_bytes(self, instances: int) -> int:
        """Bytes added to a record. Source: Siachamis 2024, 3.7.2, Table 3.2 (growth of messages)."""
        return self.piggyback_bytes + round(self.entry_bytes * (1 if self.variant == "bcs" else instances))

    def added_work(self, record_ps: int, instances: int) -> float:
        return record_ps * self.serialise_share / 2 * self.added_bytes(instances) / self.message_bytes
