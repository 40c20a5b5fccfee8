"""Fills the sources' logs: exogenous input, generated from the document one stretch of virtual time ahead of the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.active_instances import owners
from engine.core.kernels import bulk
from engine.core.source_logs import BEGINNING, Place
from engine.core.tables import Arrays, Words, lines
from engine.lowering.plan import Plan
from engine.workloads.feed import Feed, LogChunk

RECORDS_AHEAD = 50_000
"""Few enough to stay in the processor's cache from generation to service."""


class Logs:
    """Loads the records of all sources up to `until_ns` (exclusive) and keeps those not yet served.

    A source has partitions. Each belongs to one of its active instances, which reads its partitions merged in the order of arrival. An
    instance may be set back (`seek`); `reload` then generates the records again and fills its log.
    owners: by source operator, the index of the instance that owns each partition.
    """

    def __init__(self, plan: Plan):
        self._plan = plan
        self._horizon_ns = plan.experiment.workload.horizon_ns
        self._close_ns = max((feed.closes_ns for feed in plan.feeds.values()), default=0)
        records = sum(feed.count for feed in plan.feeds.values())
        self._stretch_ns = max(1_000_000, int(self._horizon_ns * RECORDS_AHEAD // max(records, 1)))
        self._columns = {
            operator: np.array([feed.fields.index(name) for name in plan.schemas[f"{operator}.out"].names], np.int64)
            for operator, feed in plan.feeds.items()
        }
        self.until_ns = 0
        self._sought: dict[int, Place] = {}  # by instance whose log is empty until `reload`: where it resumes
        self.owners: dict[str, Words] = {}
        for operator, feed in plan.feeds.items():
            o = plan.operators.index(operator)
            self.owners[operator] = owners(feed.partitions, plan.parallelism[o], plan.begins[o])
        self._floors: dict[str, list[Place]] = {}  # earliest resume position of each partition, where owners have changed
        self._current: Words | None = None
        self._spare: Words | None = None  # two alternating buffers: the old rows are read while the new ones are written

    @property
    def exhausted(self) -> bool:
        """Whether all input has been loaded."""
        return self.until_ns >= L.FAR and not self._sought

    def offered(self, t_ns: int, w: Arrays) -> int:
        """Real records appended at times <= t_ns, over all sources. w: the world at t_ns."""
        return sum(self.appended(w, operator, t_ns) for operator in self._plan.feeds)

    def appended(self, w: Arrays, operator: str, t_ns: int) -> int:
        """Real records of one source appended at times <= t_ns. w: the world at t_ns."""
        feed, here = self._plan.feeds[operator], self._instances(operator)
        waits = w.inst[here.start, L.I_SHIFT] >= 0  # then its records are generated when they are read
        return feed.weight * (int(w.inst[here, L.I_IN].sum()) if waits else feed.count_before(t_ns + 1))

    def _instances(self, operator: str) -> slice:
        """All instances that the operator is laid out with."""
        op = self._plan.arrays.op[self._plan.operators.index(operator)]
        return slice(int(op[L.O_FIRST]), int(op[L.O_FIRST] + op[L.O_STRIDE]))

    def _owners(self, operator: str) -> list[int]:
        """The instances that own partitions."""
        found: list[int] = (self._instances(operator).start + np.unique(self.owners[operator])).tolist()
        return found

    def fork(self) -> Logs:
        copy = Logs(self._plan)
        copy.restore(self.state())
        return copy

    def state(self) -> Any:
        """State as JSON values. The rows themselves belong to the world."""
        return {
            "until_ns": self.until_ns,
            "sought": [[i, *place] for i, place in sorted(self._sought.items())],
            "owners": {operator: owner.tolist() for operator, owner in self.owners.items()},
            "floors": {operator: [list(place) for place in floors] for operator, floors in self._floors.items()},
        }

    def restore(self, state: Any) -> None:
        self.until_ns = state["until_ns"]
        self._sought = {i: Place(*place) for i, *place in state["sought"]}
        self.owners = {operator: np.array(owner, np.int64) for operator, owner in state["owners"].items()}
        self._floors = {operator: [Place(*place) for place in floors] for operator, floors in state["floors"].items()}

    def _buffer(self, rows: int, columns: int) -> Words:
        """Buffer of shape (rows, at least `columns`): the one of the load before last, if it is large enough."""
        found = self._spare
        if found is None or len(found) < rows:
            found = lines(max(rows, 2 * RECORDS_AHEAD), columns)
        self._spare, self._current = self._current, found
        return found[:rows]

    def load(self, w: Arrays) -> Arrays:
        """Append the next stretch to the logs and drop rows already served."""
        inst = w.inst
        unread = inst[:, L.I_LOG_END] - inst[:, L.I_LOG]
        start = self.until_ns
        end = start + self._stretch_ns * max(1, int(unread.sum()) // RECORDS_AHEAD)  # a long backlog is copied less often
        if end > max(self._horizon_ns, self._close_ns):
            end = L.FAR
        chunks, closing = {}, []
        for operator, feed in self._plan.feeds.items():
            here = self._instances(operator)
            chunk = self._owned(operator, feed.chunk(start, min(end, max(self._horizon_ns, self._close_ns) + 1)))
            gone_back = [i - here.start for i in self._sought if here.start <= i < here.stop]  # `reload` fills their logs
            chunks[operator] = chunk.chosen(~np.isin(chunk.partition, gone_back)) if gone_back else chunk
            if operator in self._plan.watermarked and start <= feed.closes_ns < end:
                closing += [i for i in self._owners(operator) if i not in self._sought]
        w, sizes = self._appended(w, chunks, closing)
        first_new = inst[:, L.I_LOG] + sizes[:, 0]
        waiting = (sizes[:, 0] == 0) & (sizes[:, 1] > 0) & (inst[:, L.I_SHIFT] > 0)
        w.log[first_new[waiting], L.D_APPEND] += inst[waiting, L.I_SHIFT]
        new = sizes[:, 1] + sizes[:, 2] > 0
        np.minimum.at(w.next_ns, inst[new, L.I_HOST], w.log[first_new[new], L.D_APPEND])
        self.until_ns = end
        bulk.await_logs(inst, w.host, w.memory, w.agenda, w.log)
        return w

    def _owned(self, operator: str, chunk: LogChunk) -> LogChunk:
        """The chunk with each record's partition replaced by the index of the owning instance."""
        return replace(chunk, partition=self.owners[operator][chunk.partition].astype(np.int32))

    def _appended(self, w: Arrays, chunks: Mapping[str, LogChunk], closing: Sequence[int]) -> tuple[Arrays, Words]:
        """A new table of logs: the unread rows, the chunks by source operator (`_owned`), then the ends of the logs of the instances
        `closing`. Also returns the number of rows of each of these three sorts by instance, (instances, 3)."""
        inst = w.inst
        sizes = np.zeros((len(inst), 3), np.int64)
        sizes[:, 0] = inst[:, L.I_LOG_END] - inst[:, L.I_LOG]
        sizes[closing, 2] = 1
        for operator, chunk in chunks.items():
            here = self._instances(operator)
            sizes[here, 1] = np.bincount(chunk.partition, minlength=here.stop - here.start)
        ends = np.cumsum(sizes.sum(axis=1))
        starts = ends - sizes.sum(axis=1)
        log = self._buffer(max(int(ends[-1]), 1), w.log.shape[1])
        bulk.keep_unread(inst, starts, w.log, log)
        cursor = starts + sizes[:, 0]
        for operator, chunk in chunks.items():
            made = (chunk.append_ns, chunk.event_ns, chunk.trigger, chunk.words)
            bulk.place_records(chunk.partition, cursor[self._instances(operator)], *made, self._columns[operator], log)
        for operator, feed in self._plan.feeds.items():
            here = self._instances(operator)
            ending = ends[here][sizes[here, 2] == 1] - 1
            log[ending, : L.D_PAYLOAD] = feed.closes_ns, 0, L.LOG_END
        inst[:, L.I_LOG], inst[:, L.I_LOG_END] = starts, ends
        return w._replace(log=log), sizes

    # -- setting instances back ------------------------------------------------------------------------------------------------

    def place(self, w: Arrays, i: int) -> Place:
        """Position at which instance `i` continues in its log."""
        row = int(w.inst[i, L.I_LOG])
        if i in self._sought:
            return self._sought[i]
        if row < w.inst[i, L.I_LOG_END]:
            return Place(*w.log[row, : L.D_PAYLOAD].tolist())
        return Place(self.until_ns, 0, L.LOG_AHEAD)

    def seek(self, w: Arrays, i: int, place: Place) -> None:
        """Empty the log of instance `i`, until `reload` fills it from this position on."""
        w.inst[i, L.I_LOG] = w.inst[i, L.I_LOG_END]
        if any(i in self._owners(operator) for operator in self.owners):  # an instance without partitions has nothing to read
            self._sought[i] = place

    def reload(self, w: Arrays) -> Arrays:
        """Generate the logs of the instances that were set back, up to what is loaded. These instances must not be running."""
        chunks, closing = {}, []
        for operator, feed in self._plan.feeds.items():
            here = self._instances(operator)
            sought = {i - here.start: self._sought[i] for i in self._owners(operator) if i in self._sought}
            if sought:
                chunks[operator] = self._owned(operator, self._from_places(operator, feed, sought))
                if operator in self._plan.watermarked and feed.closes_ns < self.until_ns:
                    closing += [here.start + p for p, place in sought.items() if place.append_ns <= feed.closes_ns]
        self._sought = {}
        return self._appended(w, chunks, closing)[0] if chunks else w

    def _from_places(self, operator: str, feed: Feed, sought: Mapping[int, Place]) -> LogChunk:
        """The records of some instances' partitions, up to what is loaded: each partition from its owner's position on, but not before its
        own floor. sought: position by index."""
        loaded_ns = min(self.until_ns, max(self._horizon_ns, self._close_ns) + 1)
        chunk = feed.chunk(min(loaded_ns, *(place.append_ns for place in sought.values())), loaded_ns)
        owner = self.owners[operator]
        first = np.full(len(owner), len(chunk), np.int64)  # first row of the chunk, by partition
        for index, place in sought.items():
            first[owner == index] = _row(chunk, place, owner[chunk.partition] == index)
        for partition, floor in enumerate(self._floors.get(operator, ())):
            first[partition] = max(first[partition], _row(chunk, floor, np.ones(len(chunk), np.bool_)))
        return chunk.chosen(np.arange(len(chunk)) >= first[chunk.partition])

    # -- partitions and owners --------------------------------------------------------------------------------------------------

    def floors(self, operator: str) -> list[Place]:
        """Earliest position at which each partition resumes."""
        return self._floors.get(operator, [BEGINNING] * len(self.owners[operator]))

    def places(self, w: Arrays, operator: str) -> list[Place]:
        """Position at which each partition continues: that of its owner, or its floor if that is later."""
        first = self._instances(operator).start
        pairs = zip(self.owners[operator].tolist(), self.floors(operator), strict=True)
        return [max(self.place(w, first + index), floor, key=_turn) for index, floor in pairs]

    def assign(self, w: Arrays, operator: str, owner: Words, floors: Sequence[Place]) -> None:
        """Give partition k to the instance with index owner[k], to be read from floors[k] on (`places` gives the current positions).
        The logs of all instances are empty until `reload` fills them."""
        self.owners[operator], self._floors[operator] = np.array(owner, np.int64), list(floors)
        here = self._instances(operator)
        for i in range(here.start, here.stop):
            self.to_floors(w, operator, i)

    def set_floors(self, operator: str, floors: Sequence[Place]) -> None:
        """Set the positions at which `to_floors` lets instances resume. Logs in use do not change."""
        self._floors[operator] = list(floors)

    def to_floors(self, w: Arrays, operator: str, i: int) -> None:
        """Let instance `i` resume at the floors of its partitions, once `reload` has filled its log. If all its partitions have been read,
        it reads the end of its log again; otherwise it would hold back its initial watermark."""
        index = i - self._instances(operator).start
        mine = [floor.append_ns for floor, k in zip(self.floors(operator), self.owners[operator].tolist(), strict=True) if k == index]
        w.inst[i, L.I_LOG] = w.inst[i, L.I_LOG_END]
        self._sought.pop(i, None)
        if mine:
            end = Place(self._plan.feeds[operator].closes_ns, 0, L.LOG_END)
            self._sought[i] = min(Place(min(mine), 0, L.LOG_AHEAD), end, key=_turn)


def _turn(place: Place) -> tuple[int, int, int]:
    """Sort key of positions in a log. Of what arrives together records come first, by number, then watermarks, markers and the end."""
    if place.trigger >= 0:
        return place.append_ns, 1, place.trigger
    if place.trigger <= L.LOG_MARKER:
        return place.append_ns, 3, L.LOG_MARKER - place.trigger
    return place.append_ns, {L.LOG_AHEAD: 0, L.LOG_WATERMARK: 2, L.LOG_END: 4}[place.trigger], 0


def _row(chunk: LogChunk, place: Place, among: NDArray[np.bool_]) -> int:
    """The first row of a chunk at or after a position. among: rows that the position may refer to."""
    start, stop = map(int, np.searchsorted(chunk.append_ns, [place.append_ns, place.append_ns + 1]))  # rows of the same append time
    same = (chunk.event_ns[start:stop] == place.event_ns) & (chunk.trigger[start:stop] == place.trigger) & among[start:stop]
    found = np.flatnonzero(same)
    if len(found):
        return start + int(found[0])
    return stop if place.trigger == L.LOG_END else start
