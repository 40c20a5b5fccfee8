"""The interface of operator kinds: ports, parameters, schemas. Kernels are in the same leaf file under `engine/operators/`."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from .records import FieldType, RecordSchema


class Model(BaseModel):
    """Base of all document models: frozen, without unknown fields, NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @property
    def in_words(self) -> str:
        """This value as a short phrase, such as "w1 is lost permanently at 30 s". Empty: its title and its settings say enough."""
        return ""

    def change_in_words(self, before: Any) -> str:
        """How this value differs from a former one of the same field, such as "x 1.5 from 30 s". Empty: field by field."""
        return ""


class Kind:
    """Attributes of a registered kind shown in the palette, forms and API docs."""

    kind: ClassVar[str]
    title: ClassVar[str]
    group: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    source: ClassVar[str] = ""  # paper, section; empty for common knowledge
    position: ClassVar[int] = 1000  # display order within the family; kinds of other packages come last


class Operator(Kind):
    """An operator kind. One leaf file each in `engine/operators/`, listed in `engine.operators.OPERATORS`, or registered there by another
    package.

    Params: pydantic model; its JSON Schema defines the form in the inspector.
    inputs, outputs: port names; an input port takes one or more edges, an output port any number.
    on_record, on_close, make_output, next_tick, key_hash: kernels, as static methods (`engine.core.weave.POINTS`).
    keeping: how a kind with keyed state keeps it (`engine.core.keeping.Keeping`). None: it has no state, or its state can be neither moved
    nor stored, and everything that would lose it is refused (`loses_state`).
    """

    inputs: ClassVar[tuple[str, ...]] = ("in",)
    outputs: ClassVar[tuple[str, ...]] = ("out",)

    keeping: ClassVar[Any] = None
    writes_only_wanted: ClassVar[bool] = False  # its outputs hold only the fields that are read downstream
    reads_as_records: ClassVar[bool] = False  # a stored record that a firing reads costs as much as one served, where a list has no price
    read_ps: ClassVar[int] = 0  # price of a stored record or a distance that a service reads, in price lists without one
    priced_as: ClassVar[str | tuple[str, ...]] = ""  # the kinds whose price applies, the first known one, in price lists without this kind
    own_thread: ClassVar[bool] = False  # on a pool its instances have threads of their own, beside the cores

    class Params(Model):
        pass

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        """Output schemas by output port. inputs: schemas by input port. Raises `Refusal` (path below params) if they do not fit."""
        raise NotImplementedError

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        """The output ports in use with these params; an edge from any other port is refused."""
        return cls.outputs

    @classmethod
    def required_key(cls, params: Any, port: str) -> str | None:
        """The field by which records on this input port must be partitioned if parallelism > 1, or None."""
        return None

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        """The name under which every output record contains this field of the record on `port`, unchanged; None if it does not.

        A forward edge preserves its sender's partitioning by a field only if the sender carries that field. By default, a kind whose
        outputs share the schema object of its single input is taken to forward its records unchanged.
        """
        schema = inputs[port]
        passes = len(inputs) == 1 and all(output is schema for output in cls.output_schemas(params, inputs).values())
        return field if passes else None

    @classmethod
    def reads(
        cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]] | None:
        """The fields that the kernel reads, by input port; None: all of them. Fields that no operator reads are not carried.

        wanted: output fields that are read downstream, by output port. The kernel locates its fields by the schemas passed to `lower`,
        which contain only the carried fields.
        """
        return None

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        """The parameters as words for the kernels. inputs: carried fields by port. lowering: `engine.lowering.plan.Lowering`."""
        raise NotImplementedError

    @classmethod
    def unscaled(cls, params: Any) -> str:
        """Why scaled records (`workload.scale`) would give wrong counts or costs here; empty if the kind can be scaled.

        Kinds cannot be scaled unless they override this: work must grow with the records, and state and timers must not depend on their
        number.
        """
        return "the kind does not declare how its work and results grow with the number of records"

    @classmethod
    def unlogged(cls, params: Any) -> str:
        """Why changes of its state cannot go to a changelog (`policies.state`); empty if its kernels note them."""
        return "this kind does not note the changes of its state"

    @classmethod
    def unreplayed(cls, params: Any) -> str:
        """Why an output log cannot keep its windows (`policies.state`); empty if records that come again, in the same order from each
        sender, change nothing that includes them already."""
        return "this kind does not tell which records its windows include"

    @classmethod
    def unmirrored(cls, params: Any) -> str:
        """Why a copy with the same input may give other results (`policies.state`); empty if they depend on nothing but its order."""
        return "this kind does not tell whether its results depend on the order of its input alone"

    @classmethod
    def weight_out(cls, params: Any, weight: int, port: str) -> int:
        """Number of real records per output record on this port, if each input record stands for `weight` real ones."""
        return weight

    @classmethod
    def compares(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> tuple[FieldType, ...]:
        """Types of the values that serving a record compares or folds, one for each time. inputs: all fields, by input port."""
        return ()

    @classmethod
    def usual_work(cls, params: Any) -> int:
        """Typical units of work per record."""
        return 1

    @classmethod
    def loses_state(cls) -> bool:
        """Whether it has state but does not declare how to keep it, so that no rescale or checkpoint can save it."""
        if cls.keeping is not None:
            return False
        has_state: bool = importlib.import_module("engine.core.weave").has_state(cls)  # imported on demand: documents do not load kernels
        return has_state

    @classmethod
    def marks_every_ns(cls, params: Any) -> int:
        """The period with which its instances send watermarks of the time, in place of those that they receive; 0: they do not."""
        return 0

    @classmethod
    def waits_for_watermarks(cls, params: Any) -> bool:
        """Whether it gives no output until a watermark closes a window."""
        return False

    @classmethod
    def deadlines(cls, params: Any) -> tuple[int, int] | None:
        """End of one of its event-time windows that give output when they end, counted from the start of the query, and the distance to the
        next, in ns. None: it has no such windows, or their ends cannot be known beforehand."""
        return None

    @classmethod
    def parallelism_max(cls, params: Any) -> int | None:
        """The largest parallelism with correct results (1 for a global aggregate), or None."""
        return None
