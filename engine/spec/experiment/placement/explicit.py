"""Parameters of the placement `explicit`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...base.variant import Variant

HostNames = Annotated[
    tuple[str, ...],
    Field(
        description="One host per instance; a shorter list repeats. A host may occur more than once.",
        json_schema_extra={"title": "Host names", "x-editor": "hosts"},
    ),
]


class Explicit(Variant):
    """An explicit list of hosts per operator, cycled over the operator's instances."""

    title: ClassVar[str] = "Explicit"
    icon: ClassVar[str] = "map-pin"
    position: ClassVar[int] = 3
    kind: Literal["explicit"] = "explicit"
    hosts: dict[str, HostNames] = Field(title="Hosts", description="Host names by operator id.")
