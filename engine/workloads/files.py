"""The rows of an uploaded file as a stream.

All files of a document share one zero of event time, the earliest first record of any of them (`engine.spec.rules.event_time`): every
timestamp is in ns since then. A record's event time is its own time, whatever the rate at which it is replayed. Disorder moves a record's
*place* in the stream back by its delay and leaves its event time as the file has it, so a record is at most `max_ms` of event time older
than any before it, as in generated streams.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.spec.base.records import FieldType, RecordSchema
from engine.spec.experiment.streams import FileStream

from .datasets import DatasetInfo, read
from .delays import Delays
from .epochs import epoch_ns
from .strings import Strings


class FileRecords:
    """All rows of a file, ordered by place; ties keep the file's order.

    zero_ns: event time 0 in ns since 1970. places_ns: when a record arrives by the event-time clock (its own time plus delay),
    non-decreasing; the first may be greater than 0.
    """

    def __init__(
        self,
        stream: FileStream,
        dataset: DatasetInfo,
        zero_ns: int,
        delays: Delays | None,
        strings: Strings,
        fields: Sequence[str] | None,
    ):
        self.schema: RecordSchema = stream.record_schema(dataset).counted_from(zero_ns)
        self.fields = self.schema.names if fields is None else tuple(fields)
        table = read(dataset.path)
        own_ns = epoch_ns(table[stream.timestamp], stream.timestamp)
        own_ns -= zero_ns
        in_time = np.argsort(own_ns, kind="stable")
        event_ns = own_ns[in_time]
        self.places_ns: NDArray[np.int64] = event_ns
        rows = in_time
        if delays is not None:
            late_ns = event_ns + delays.of(np.arange(len(event_ns), dtype=np.int64), event_ns)
            order = np.argsort(late_ns, kind="stable")
            self.places_ns, event_ns, rows = late_ns[order], event_ns[order], in_time[order]
        self._event_ns: NDArray[np.int64] = event_ns
        self._words = np.zeros((len(rows), len(self.fields)), np.int64)
        self._vectors: dict[str, NDArray[np.float64]] = {}
        for field in self.schema.fields:
            if field.name in self.fields:
                own = field.name == stream.timestamp
                if field.type == "vector":
                    self._vectors[field.name] = _vectors(table[field.name], rows)
                else:
                    words = self._event_ns if own else _column_words(table[field.name], field.type, zero_ns, strings, rows)
                    self._words[:, self.fields.index(field.name)] = words
            elif field.type == "string":
                _column_words(table[field.name], field.type, zero_ns, strings, rows[:0])  # registers the texts, even if they are not read

    def __len__(self) -> int:
        return len(self._event_ns)

    def event_ns(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._event_ns[numbers]

    def words(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._words[numbers]

    def vectors(self, field: str, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._vectors[field][numbers]


def _vectors(column: pa.ChunkedArray, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column of lists of equal length, in the order of `rows`. Shape (n, dimensions)."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    found: NDArray[np.float64] = flat.reshape(len(column), -1)[rows]
    return found


def _column_words(column: pa.ChunkedArray, type: FieldType, zero_ns: int, strings: Strings, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a column as 64-bit words, in the order of `rows`. Strings are registered in the file's order, independent of the disorder."""
    if type == "string":
        encoded = column.combine_chunks().dictionary_encode()
        codes = strings.codes(encoded.dictionary.to_pylist())
        words: NDArray[np.int64] = codes[np.asarray(encoded.indices)[rows]]
        return words
    if type == "timestamp":
        return epoch_ns(column, "")[rows] - zero_ns
    values = np.asarray(column)[rows]
    return values.astype(np.float64).view(np.int64) if type == "float" else values.astype(np.int64)
