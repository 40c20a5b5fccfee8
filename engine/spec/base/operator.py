"""What an operator kind declares: ports, parameters, schemas. Its kernels stand in the same leaf file under `engine/operators/`."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from .records import RecordSchema


class Model(BaseModel):
    """Base of everything in the document: frozen, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Kind:
    """What every registered kind shows to the palette, the forms and the API docs."""

    kind: ClassVar[str]
    title: ClassVar[str]
    group: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    source: ClassVar[str] = ""  # paper, section; empty for common knowledge
    position: ClassVar[int] = 1000  # among the kinds of its family, where they are offered; kinds of other packages come last


class Operator(Kind):
    """A kind of operator. One leaf file each in `engine/operators/`, listed in `engine.operators.OPERATORS`, or one from outside the
    package, registered there.

    Params: pydantic model; its JSON Schema is the form in the inspector.
    inputs, outputs: port names; every input port takes exactly one or more edges, an output port any number.
    on_record, on_close, next_tick, key_hash: kernels, as static methods (`engine.core.weave.POINTS`).
    keeping: how a kind with keyed state keeps it (`engine.core.keeping.Keeping`). None: it has no state, or its state can be neither moved
    nor stored, and what would lose it is refused (`loses_state`).
    """

    inputs: ClassVar[tuple[str, ...]] = ("in",)
    outputs: ClassVar[tuple[str, ...]] = ("out",)

    keeping: ClassVar[Any] = None
    writes_only_wanted: ClassVar[bool] = False  # its outputs hold only the fields that somebody reads
    priced_as: ClassVar[str] = ""  # the kind whose price holds in price lists that do not know this one

    class Params(Model):
        pass

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        """Schemas by output port; `inputs` has one by input port. Raises `Refusal` (path below params) when they do not fit."""
        raise NotImplementedError

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        """The output ports that records can leave by with these params; an edge from another port is refused."""
        return cls.outputs

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        """The field by which records on this input port must be partitioned when parallelism > 1, or None."""
        return None

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        """The name under which every output record holds this field of the record on `port`, unchanged; None if it does not.

        A forward edge keeps its sender's partitioning by a field only if the sender carries that field. By default, a kind whose
        outputs have the very schema object of its one input hands on the records themselves.
        """
        schema = inputs[port]
        passes = len(inputs) == 1 and all(output is schema for output in cls.output_schemas(params, inputs).values())
        return field if passes else None

    @classmethod
    def reads(
        cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]] | None:
        """The fields that the kernel reads, by input port; None: all of them. What nobody reads is not carried.

        wanted: the fields of its outputs that somebody reads, by output port. The kernel finds its fields through the schemas given to
        `lower`, which hold the carried fields only.
        """
        return None

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        """The parameters as words, for the kernels. inputs: the fields carried, by port. lowering: `engine.lowering.plan.Lowering`."""
        raise NotImplementedError

    @classmethod
    def unscaled(cls, params: Any) -> str:
        """Why records that stand for several real ones (`workload.scale`) would give wrong counts or costs here; empty if they do not.

        A kind that says nothing is not scaled: its work must grow with its records, and its state and timers must not depend on their
        number.
        """
        return "nobody has said how its work and its results grow with the number of records"

    @classmethod
    def weight_out(cls, params: Any, weight: int, port: str) -> int:
        """How many real records one that leaves by this port stands for, where each record that it serves stands for `weight`."""
        return weight

    @classmethod
    def usual_work(cls, params: Any) -> int:
        """The units of work that a record is as a rule."""
        return 1

    @classmethod
    def loses_state(cls) -> bool:
        """Whether it has state, but does not say how to keep it: then no rescale and no checkpoint can save that state."""
        if cls.keeping is not None:
            return False
        has_state: bool = importlib.import_module("engine.core.weave").has_state(cls)  # on demand: documents know no kernels
        return has_state

    @classmethod
    def parallelism_max(cls, params: Any) -> int | None:
        """The largest parallelism that gives right results (1 for a global aggregate), or None."""
        return None
