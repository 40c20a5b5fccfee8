"""The input of one source operator: its log records between any two times, as a pure function of the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import LOG_MARKER, LOG_WATERMARK, VECTOR_BITS
from engine.core.random import RandomStream
from engine.spec.base.problems import refusals_below
from engine.spec.base.records import VECTORS_MAX, RecordSchema
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.rates.recorded import RecordedRate
from engine.spec.experiment.streams import FileStream, Stream, SwitchedStream
from engine.spec.experiment.workload import DeviceWatermarks
from engine.spec.rules.event_time import event_zero_ns
from engine.spec.rules.flow import Datasets
from engine.spec.rules.max_layout import partitions

from .arrivals import Arrivals, arrivals_of
from .arrivals.fixed_times import Periodic, Recorded
from .delays import delays_of
from .delivery import BLOCK, AtOnce, Delivery, Late
from .files import FileRecords
from .generated import Generated
from .records import Records
from .streams import block_of
from .strings import Strings
from .switched import Switched
from .traces import file_of

NUMBER_BITS = 40  # a trigger has the source's number in the high bits and the record's number in the low bits


@dataclass(frozen=True)
class LogChunk:
    """n log records in order of arrival, ties by number.

    append_ns (n,) non-decreasing; event_ns (n,) >= 0; trigger (n,) source number << 40 | record number; partition int32 (n,), the record's
    log; words (n, fields of the feed). If devices generate watermarks, these are among the records, after records with the same arrival
    time: trigger LOG_WATERMARK, event_ns the watermark, words 0. Behind these come latency markers: trigger LOG_MARKER less their number,
    event_ns when they were made.
    """

    append_ns: NDArray[np.int64]
    event_ns: NDArray[np.int64]
    trigger: NDArray[np.int64]
    partition: NDArray[np.int32]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.append_ns)

    def later(self, start_ns: int, timestamps: Sequence[int]) -> LogChunk:
        """Return the records as if everything had happened so much later. timestamps: columns that hold times."""
        self.words[:, timestamps] += start_ns
        return LogChunk(self.append_ns + start_ns, self.event_ns + start_ns, self.trigger, self.partition, self.words)

    def chosen(self, rows: NDArray[np.bool_]) -> LogChunk:
        """Return some of the records. rows: (n,)."""
        return LogChunk(*(column[rows] for column in vars(self).values()))

    def merged_with(self, other: LogChunk) -> LogChunk:
        """Merge in order of arrival; with equal arrival times, the records of self first."""
        order = np.argsort(np.concatenate([self.append_ns, other.append_ns]), kind="stable")
        return LogChunk(*(np.concatenate(both)[order] for both in zip(vars(self).values(), vars(other).values(), strict=True)))


class Watermarks:
    """Watermarks of devices: every period, to every partition, the time minus the lag."""

    def __init__(self, delivery: Delivery, lag_ns: int, partitions: int, fields: int):
        self._delivery, self._lag_ns, self._partitions, self._fields = delivery, lag_ns, partitions, fields

    def chunk(self, from_ns: int, to_ns: int) -> LogChunk:
        numbers, made_ns, arrival_ns = self._delivery.between(from_ns, to_ns)
        partition = (numbers % self._partitions).astype(np.int32)
        marks = np.full(len(numbers), LOG_WATERMARK, np.int64)
        return LogChunk(arrival_ns, made_ns - self._lag_ns, marks, partition, np.zeros((len(numbers), self._fields), np.int64))


class Markers:
    """Latency markers: every period one in every partition. Their numbers differ among those of a time, and run on from one to the next."""

    def __init__(self, period_ns: int, partitions: int, fields: int):
        self._delivery, self._partitions, self._fields = AtOnce(Periodic(period_ns, partitions)), partitions, fields

    def chunk(self, from_ns: int, to_ns: int) -> LogChunk:
        numbers, made_ns, arrival_ns = self._delivery.between(from_ns, to_ns)
        period, partition = np.divmod(numbers, self._partitions)
        triggers = LOG_MARKER - (period + partition)
        return LogChunk(arrival_ns, made_ns, triggers, partition.astype(np.int32), np.zeros((len(numbers), self._fields), np.int64))


class Feed:
    """The contents of a source operator's logs.

    schema: the records' fields. fields: names of the generated fields, in the order of a chunk's columns. closes_ns: when the logs close:
    the horizon, or, for a file that ends earlier, the append time of its last record. count: number of records that arrive before the
    horizon, without watermarks and markers. partitions: number of logs. weight: number of real records per record. start_ns: of the
    source's query. Records, delivery, watermarks and markers know nothing of it: their times count from there.
    """

    def __init__(
        self,
        records: Records,
        delivery: Delivery,
        horizon_ns: int,
        partitions: int,
        random: RandomStream,
        source_number: int,
        weight: int = 1,
        watermarks: Watermarks | None = None,
        start_ns: int = 0,
        markers: Markers | None = None,
    ):
        self._records, self._delivery, self.weight = records, delivery, weight
        self._start_ns, self._lasts_ns = start_ns, horizon_ns - start_ns
        self.partitions, self._random, self._watermarks, self._markers = partitions, random, watermarks, markers
        self._first_trigger = source_number << NUMBER_BITS
        self.schema: RecordSchema = records.schema
        self.fields: tuple[str, ...] = records.fields
        self._timestamps = [c for c, name in enumerate(self.fields) if self.schema.type_of(name) == "timestamp"]
        vectors = [field.name for field in self.schema.fields if field.type == "vector"]
        self._vectors = {name: source_number * VECTORS_MAX + n for n, name in enumerate(vectors) if name in self.fields}
        self.count = delivery.count_before(self._lasts_ns)
        self.closes_ns = start_ns + delivery.end_ns(self._lasts_ns)

    def count_before(self, time_ns: int) -> int:
        """Return the number of records with append time < time_ns."""
        own_ns = time_ns - self._start_ns
        return self.count if own_ns >= self._lasts_ns else self._delivery.count_before(max(own_ns, 0))

    def vectors(self, before_ns: int | None = None) -> dict[int, NDArray[np.float64]]:
        """The vectors of all records, or of those that arrive before a time, by number of their field in the run: that of field f of source
        s is s * VECTORS_MAX + f. Record n has row n, and carries the number of the field << VECTOR_BITS | n. Shapes (records,
        dimensions)."""
        if not self._vectors:
            return {}
        last_ns = self._lasts_ns if before_ns is None else min(before_ns - self._start_ns, self._lasts_ns)
        numbers, made_ns, _ = self._delivery.between(0, last_ns)
        count = int(numbers.max()) + 1 if len(numbers) else 0
        found = {}
        for name, number in self._vectors.items():
            found[number] = np.zeros((count, self.schema.field(name).dimensions))
            for start in range(0, len(numbers), BLOCK):
                these, then_ns = numbers[start : start + BLOCK], made_ns[start : start + BLOCK]
                found[number][these] = self._records.vectors(name, these, self._records.event_ns(these, then_ns))
        return found

    def chunk(self, from_ns: int, to_ns: int) -> LogChunk:
        """Return the records with from_ns <= append time < to_ns, independent of how time is divided."""
        from_ns, to_ns = max(from_ns - self._start_ns, 0), max(min(to_ns - self._start_ns, self._lasts_ns), 0)
        records = self._records_between(from_ns, to_ns)
        found = records if self._watermarks is None else records.merged_with(self._watermarks.chunk(from_ns, to_ns))
        if self._markers is not None:
            found = found.merged_with(self._markers.chunk(from_ns, min(to_ns, self.closes_ns - self._start_ns)))
        return found.later(self._start_ns, self._timestamps) if self._start_ns else found

    def _records_between(self, from_ns: int, to_ns: int) -> LogChunk:
        numbers, made_ns, append_ns = self._delivery.between(from_ns, to_ns)
        count = len(numbers)
        event_ns = np.empty(count, np.int64)
        partition = np.empty(count, np.int32)
        words = np.empty((count, len(self.fields)), np.int64)
        for start in range(0, count, BLOCK):
            block = slice(start, start + BLOCK)
            event_ns[block] = self._records.event_ns(numbers[block], made_ns[block])
            partition[block] = self._random.below(numbers[block], self.partitions)
            words[block] = self._records.words(numbers[block], event_ns[block])
            for name, number in self._vectors.items():
                words[block, self.fields.index(name)] = (number << VECTOR_BITS) + numbers[block]
        return LogChunk(append_ns, event_ns, self._first_trigger + numbers, partition, words)


def _made(stream: Stream, seed: int, operator_id: str, strings: Strings, fields: Sequence[str] | None) -> Records:
    """The records of a stream that is generated."""
    if isinstance(stream, SwitchedStream):
        before, after = (_made(one, seed, operator_id, strings, fields) for one in (stream.before, stream.after))
        return Switched(stream.record_schema(), before, stream.at_ns, after)
    return Generated(block_of(stream), stream, seed, operator_id, strings, fields)


def build_feed(
    experiment: Experiment,
    operator_id: str,
    source_number: int,
    strings: Strings,
    datasets: Datasets,
    fields: Sequence[str] | None = None,
) -> Feed:
    """Build the feed of a source operator.

    source_number: 0, 1, ... over the sources of the document; part of the triggers. strings: the run's dictionary, in which all texts
    of the stream are registered. datasets: finds an uploaded file by name. fields: those that are read; default: all. Raises `Refusal`
    (path below the source's entry) for a file that is unknown or invalid.
    """
    workload = experiment.workload
    source = workload.sources[operator_id]
    with refusals_below("disorder"):
        delays = delays_of(source.disorder, workload.seed, operator_id, datasets)
    delivery: Delivery
    records: Records
    if isinstance(source.stream, FileStream):
        with refusals_below("stream"):
            dataset = file_of(source.stream.dataset, datasets)
            source.stream.record_schema(dataset)  # checks the data set
            zero_ns = event_zero_ns(workload.sources, datasets)
            assert zero_ns is not None
            records = FileRecords(source.stream, dataset, zero_ns, delays, strings, fields)
        if isinstance(source.rate, RecordedRate):
            times: Arrivals = Recorded(records.places_ns, source.rate.speed, workload.horizon_ns)
        else:
            times = arrivals_of(workload, operator_id, datasets)
        delivery = AtOnce(times, len(records))
    else:
        records = _made(source.stream, workload.seed, operator_id, strings, fields)
        times = arrivals_of(workload, operator_id, datasets)
        delivery = AtOnce(times) if delays is None else Late(times, delays)
    logs = partitions(experiment, operator_id)
    watermarks = None
    if isinstance(source.watermarks, DeviceWatermarks):
        made = Periodic(source.watermarks.period_ns, logs)
        late = delays_of(source.disorder, workload.seed, operator_id, datasets, "disorder of watermarks")
        marks = AtOnce(made) if late is None else Late(made, late)
        watermarks = Watermarks(marks, source.watermarks.lag_ns, logs, len(records.fields))
    partition = RandomStream(workload.seed, operator_id, "partition")
    start_ns = experiment.query.starts_ns.get(operator_id, 0)
    markers = None
    if (marker_ns := experiment.measurement.marker_ns) is not None:
        markers = Markers(marker_ns, logs, len(records.fields))
    return Feed(records, delivery, workload.horizon_ns, logs, partition, source_number, workload.scale, watermarks, start_ns, markers)
