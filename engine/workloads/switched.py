"""The records of a stream that changes at a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.records import RecordSchema

from .records import Records

Integers = NDArray[np.int64]


class Switched:
    """Records of `before` with event times below `at_ns`, of `after` with others. Their numbers run on."""

    def __init__(self, schema: RecordSchema, before: Records, at_ns: int, after: Records):
        self.schema, self.fields = schema, before.fields
        self._before, self._at_ns, self._after = before, at_ns, after

    def event_ns(self, numbers: Integers, made_ns: Integers) -> Integers:
        return made_ns

    def words(self, numbers: Integers, event_ns: Integers) -> Integers:
        words = np.empty((len(numbers), len(self.fields)), np.int64)
        for rows, records in self._parts(event_ns):
            words[rows] = records.words(numbers[rows], event_ns[rows])
        return words

    def vectors(self, field: str, numbers: Integers, event_ns: Integers) -> NDArray[np.float64]:
        found = np.empty((len(numbers), self.schema.field(field).dimensions))
        for rows, records in self._parts(event_ns):
            found[rows] = records.vectors(field, numbers[rows], event_ns[rows])
        return found

    def _parts(self, event_ns: Integers) -> list[tuple[NDArray[np.bool_], Records]]:
        """Which rows are whose, without parts that have none."""
        early = event_ns < self._at_ns
        return [(rows, records) for rows, records in ((early, self._before), (~early, self._after)) if rows.any()]
