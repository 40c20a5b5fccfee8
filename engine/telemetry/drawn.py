"""Measurements by what the document draws: copies of a query count as instances of the drawn operators, and each query is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.tables import Arrays, Words
from engine.spec.experiment.experiment import Experiment
from engine.spec.rules.copies import copies_by_id


class QueryPlace(NamedTuple):
    """A query of the document. first, end: numbers of its copies among those of all queries. counted: whether it has copies."""

    name: str
    first: int
    end: int
    counted: bool


@dataclass(frozen=True)
class ByCopy:
    """Measurements of the copies of all queries in a span; arrays have the shape (copies,).

    read: by their sources. served: by all their operators. histogram: (copies, buckets) by latency. sums_ns: of its samples, by latency and
    copy.
    """

    read: Words
    served: Words
    late: Words
    queue: Words
    histogram: dict[str, Words]
    sums_ns: dict[str, list[int]]


class Drawn:
    """How the operators of a run stand for those of its document.

    experiment: the document. run_ids: the run's operators, copies written out. sinks: ids of the run's sinks.

    operators: ids of the drawn operators. number: that of the drawn operator, by id of the run's. copies: names of the copies of all
    queries. latencies: rows of the latencies that are measured by query, by name; the main one has an empty name.
    """

    def __init__(self, experiment: Experiment, run_ids: Sequence[str], sinks: Sequence[str]):
        query, also = experiment.query, experiment.measurement.also
        # one to read belongs to a source, and stands under the first sink
        self.latencies = {"": 0} | {further.name: k for k, further in enumerate(also, start=1) if further.to != "read"}
        self.operators = [spec.id for spec in query.operators]
        ids = copies_by_id(query.operators, query.queries)
        self._drawn = np.repeat(np.arange(len(self.operators)), [len(ids[id]) for id in self.operators])
        self._first = np.flatnonzero(np.diff(self._drawn, prepend=-1))
        self.number = {copy: n for n, id in enumerate(self.operators) for copy in ids[id]}
        self.queries: list[QueryPlace] = []
        self.copies: list[str] = []
        copy_of = dict.fromkeys(run_ids, -1)
        for named in query.queries:
            first = len(self.copies)
            self.copies += [named.named(k) for k in range(named.copy_count)]
            self.queries.append(QueryPlace(named.name, first, len(self.copies), named.copies is not None))
            copy_of |= {copy: first + k for id in named.operators for k, copy in enumerate(ids[id])}
        self._copy_of_operator = np.array([copy_of[id] for id in run_ids], np.int64)
        self._sinks = len(sinks)
        self._copies_of_sinks = [(sink, copy_of[id]) for sink, id in enumerate(sinks) if copy_of[id] >= 0]

    def arrays(self, w: Arrays) -> Arrays:
        """The world with the drawn operators in place of their copies. An instance's index counts the instances of the copies before it."""
        if len(self._first) == len(self._drawn):
            return w
        inst, op = w.inst.copy(), w.op[self._first]
        inst[:, L.I_OP] = self._drawn[inst[:, L.I_OP]]
        inst[:, L.I_INDEX] = np.arange(len(inst)) - op[inst[:, L.I_OP], L.O_FIRST]
        return w._replace(inst=inst, op=op)

    def sinks(self, w: Arrays) -> Iterator[tuple[str, list[int]]]:
        """The run's sinks: the id of the drawn one; start of its parameters, instances, real records per record."""
        for o in np.flatnonzero(w.op[:, L.O_SINK] >= 0).tolist():
            yield self.operators[self._drawn[o]], w.op[o, [L.O_PARAMS, L.O_STRIDE, L.O_WEIGHT]].tolist()

    def query_names(self, w: Arrays) -> NDArray[np.object_] | None:
        """The name of each instance's copy, empty for instances of no query; None if the document names no queries. Shape (instances,)."""
        return np.array([*self.copies, ""], object)[self._copies_of_instances(w)] if self.queries else None

    def _copies_of_instances(self, w: Arrays) -> Words:
        """The number of each instance's copy, -1 for instances of no query. Shape (instances,)."""
        found: Words = self._copy_of_operator[w.inst[:, L.I_OP]]
        return found

    def by_copy(self, w: Arrays, served: Words, late: Words, queued: Words, histogram: Words, sums_ns: Sequence[int]) -> ByCopy:
        """Sum measurements by copy. served, late, queued: real records, (instances,). histogram: (sinks by latency, buckets). sums_ns: of
        the samples, by its row."""
        count = len(self.copies)
        copy_of = self._copies_of_instances(w)
        here = copy_of >= 0

        def total(values: Words) -> Words:
            sums = np.zeros(count, np.int64)
            np.add.at(sums, copy_of[here], values[here])
            return sums

        counts = {name: np.zeros((count, histogram.shape[1]), np.int64) for name in self.latencies}
        sums = {name: [0] * count for name in self.latencies}
        for name, kind in self.latencies.items():
            for sink, copy in self._copies_of_sinks:
                row = kind * self._sinks + sink
                counts[name][copy] += histogram[row]
                sums[name][copy] += sums_ns[row]
        return ByCopy(total(served * w.inst[:, L.I_SOURCE]), total(served), total(late), total(queued), counts, sums)

    def longest_ns(self, place: QueryPlace, samples_ns: Words) -> dict[str, int]:
        """The largest sample of a query, by latency. samples_ns: the largest ones, (sinks by latency,)."""
        sinks = [sink for sink, copy in self._copies_of_sinks if place.first <= copy < place.end]
        return {
            name: max((int(samples_ns[kind * self._sinks + sink]) for sink in sinks), default=0) for name, kind in self.latencies.items()
        }
