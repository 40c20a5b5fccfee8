"""Base of synthetic streams: records are generated block by block, and only the fields that are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.experiment.skew import AnySkew
from engine.spec.experiment.streams import Stream

from . import draws
from .draws import Floats, Integers
from .keys import happens, keys
from .strings import Strings

Bools = NDArray[np.bool_]
StreamType = TypeVar("StreamType", bound=Stream)


class Block(Generic[StreamType]):
    """Some records of a synthetic stream, few enough for the processor's cache.

    Each field of the schema is a lazily computed property of that name, as are values that several fields share. A draw depends only on the
    workload's seed, the operator, the draw's purpose and the record's number.

    texts: all texts of the stream, by name; `self.text("name", which)` gives their codes.
    """

    makes: ClassVar[str]  # the kind of stream
    texts: ClassVar[Mapping[str, Sequence[str]]] = {}

    def __init__(self, source: Generated, numbers: Integers, event_ns: Integers):
        self.source, self.numbers, self.event_ns = source, numbers, event_ns
        self.stream: StreamType = source.stream  # the document's parameters

    @classmethod
    def tables(cls, source: Generated) -> Any:
        """Return tables that are computed once per run, as `self.source.tables`."""
        return None

    @property
    def time(self) -> Integers:
        return self.event_ns

    # Draws, one per record or per counter

    def below(self, purpose: str, bounds: int | Integers, counters: Integers | None = None) -> Integers:
        """Draw uniform integers from [0, bound)."""
        return self.source.random(purpose).below(self.numbers if counters is None else counters, bounds)

    def unit(self, purpose: str, counters: Integers | None = None) -> Floats:
        """Draw uniform numbers from (0, 1)."""
        return draws.unit(self.source.random(purpose), self.numbers if counters is None else counters)

    def normal(self, purpose: str) -> Floats:
        return draws.normal(self.source.random(purpose), self.numbers)

    def happens(self, purpose: str, probability: float, counters: Integers | None = None) -> Bools:
        return happens(self.source.random(purpose), self.numbers if counters is None else counters, probability)

    def keys(self, purpose: str, law: AnySkew, count: int) -> Integers:
        """Draw keys from 0 to count - 1."""
        return keys(law, count, self.source.random(purpose), self.source.random(f"{purpose} hot"), self.numbers)

    def text(self, name: str, which: Integers) -> Integers:
        """Return codes of the stream's texts."""
        return self.source.codes[name][which]


class Generated:
    """The records of a synthetic stream.

    fields: names of the fields to generate, in this order. strings: the run's dictionary, in which all texts of the stream are registered,
    whatever the fields.
    """

    def __init__(
        self, block: type[Block[Any]], stream: Stream, seed: int, operator_id: str, strings: Strings, fields: Sequence[str] | None = None
    ):
        self.stream: Any = stream
        self.schema = stream.record_schema()
        self.fields = self.schema.names if fields is None else tuple(fields)
        self.codes = {name: strings.codes(texts) for name, texts in block.texts.items()}
        self._block, self._seed, self._operator_id = block, seed, operator_id
        self._streams: dict[str, RandomStream] = {}
        self.tables = block.tables(self)

    def random(self, purpose: str) -> RandomStream:
        """Return the random stream for a purpose; a purpose that starts with a slash has the same draws in all operators."""
        stream = self._streams.get(purpose)
        if stream is None:
            owner = "" if purpose.startswith("/") else self._operator_id
            stream = self._streams[purpose] = RandomStream(self._seed, owner, purpose)
        return stream

    def event_ns(self, numbers: Integers, made_ns: Integers) -> Integers:
        return made_ns

    def words(self, numbers: Integers, event_ns: Integers) -> Integers:
        block = self._block(self, numbers, event_ns)
        words = np.zeros((len(numbers), len(self.fields)), np.int64)
        for column, name in zip(words.T, self.fields, strict=True):
            if self.schema.type_of(name) != "vector":
                values = getattr(block, name)
                column[:] = values.view(np.int64) if values.dtype == np.float64 else values
        return words

    def vectors(self, field: str, numbers: Integers, event_ns: Integers) -> Floats:
        made: Floats = getattr(self._block(self, numbers, event_ns), field)
        return made
