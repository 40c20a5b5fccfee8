"""Fills the sources' logs: exogenous input, made from the document a stretch of virtual time ahead of the loop."""

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
"""Few enough to stay in the processor's cache between their making and their service."""


class Logs:
    """Loads the records of all sources up to `until_ns` (exclusive) and keeps those not yet served.

    A source has partitions, each of which belongs to one of its active instances; what an instance reads is in the order of arrival,
    whatever partition it is in. An instance may go back (`seek`): what it reads then is made again, and stands in its log once it is there
    (`reload`).
    owners: by source operator, the instance (its index) to which each partition belongs.
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
        self._sought: dict[int, Place] = {}  # where instances go on whose logs are empty meanwhile
        self.owners: dict[str, Words] = {}
        for operator, feed in plan.feeds.items():
            active = plan.parallelism[plan.operators.index(operator)]
            self.owners[operator] = owners(feed.partitions, active)
        self._floors: dict[str, list[Place]] = {}  # of partitions that have changed hands: where each goes on at the earliest
        self._current: Words | None = None
        self._spare: Words | None = None  # two in turn: the old rows are read while the new ones are written

    @property
    def exhausted(self) -> bool:
        """All that will ever stand in the logs has been loaded."""
        return self.until_ns >= L.FAR and not self._sought

    def offered(self, t_ns: int, w: Arrays) -> int:
        """Real records appended at times <= t_ns, over all sources; w: the world then."""
        return sum(self.appended(w, operator, t_ns) for operator in self._plan.feeds)

    def appended(self, w: Arrays, operator: str, t_ns: int) -> int:
        """The same of one source."""
        feed, here = self._plan.feeds[operator], self._instances(operator)
        waits = w.inst[here.start, L.I_SHIFT] >= 0  # then its records are made when they are taken
        return feed.weight * (int(w.inst[here, L.I_IN].sum()) if waits else feed.count_before(t_ns + 1))

    def _instances(self, operator: str) -> slice:
        """All that the operator is laid out with."""
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
        """As JSON values; the rows themselves are the world's."""
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
        """Shape (rows, at least so many columns): that of the load before the last, if it is large enough."""
        found = self._spare
        if found is None or len(found) < rows:
            found = lines(max(rows, 2 * RECORDS_AHEAD), columns)
        self._spare, self._current = self._current, found
        return found[:rows]

    def load(self, w: Arrays) -> Arrays:
        """Append the next stretch to the logs; rows already served are dropped."""
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
            gone_back = [i - here.start for i in self._sought if here.start <= i < here.stop]  # these get all of it by `reload`
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
        """The chunk with the index of the instance that reads each record in the place of its partition."""
        return replace(chunk, partition=self.owners[operator][chunk.partition].astype(np.int32))

    def _appended(self, w: Arrays, chunks: Mapping[str, LogChunk], closing: Sequence[int]) -> tuple[Arrays, Words]:
        """A new table of logs: what is unread, behind it the chunks by source operator (`_owned`), then the ends of the logs of the
        instances `closing`. Returns with it how many rows of each sort each instance has, (instances, 3)."""
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

    # -- going back ------------------------------------------------------------------------------------------------------------

    def place(self, w: Arrays, i: int) -> Place:
        """Where instance `i` goes on in its log."""
        row = int(w.inst[i, L.I_LOG])
        if i in self._sought:
            return self._sought[i]
        if row < w.inst[i, L.I_LOG_END]:
            return Place(*w.log[row, : L.D_PAYLOAD].tolist())
        return Place(self.until_ns, 0, L.LOG_AHEAD)

    def seek(self, w: Arrays, i: int, place: Place) -> None:
        """The log of instance `i` is empty, until `reload` fills it from this place on."""
        w.inst[i, L.I_LOG] = w.inst[i, L.I_LOG_END]
        if any(i in self._owners(operator) for operator in self.owners):  # others have nothing to read, and nobody would wait for them
            self._sought[i] = place

    def reload(self, w: Arrays) -> Arrays:
        """What stands in the logs of instances that went back is made again, up to what is loaded. They must not be running."""
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
        """The records of some instances' partitions up to what is loaded, each partition from the place of its owner on, but not before its
        own floor. sought: by index."""
        loaded_ns = min(self.until_ns, max(self._horizon_ns, self._close_ns) + 1)
        chunk = feed.chunk(min(loaded_ns, *(place.append_ns for place in sought.values())), loaded_ns)
        owner = self.owners[operator]
        first = np.full(len(owner), len(chunk), np.int64)  # row of the chunk, by partition
        for index, place in sought.items():
            first[owner == index] = _row(chunk, place, owner[chunk.partition] == index)
        for partition, floor in enumerate(self._floors.get(operator, ())):
            first[partition] = max(first[partition], _row(chunk, floor, np.ones(len(chunk), np.bool_)))
        return chunk.chosen(np.arange(len(chunk)) >= first[chunk.partition])

    # -- who reads what ---------------------------------------------------------------------------------------------------------

    def floors(self, operator: str) -> list[Place]:
        """Where each partition goes on at the earliest."""
        return self._floors.get(operator, [BEGINNING] * len(self.owners[operator]))

    def places(self, w: Arrays, operator: str) -> list[Place]:
        """Where each partition goes on: where its owner is, or at its floor if that lies behind."""
        first = self._instances(operator).start
        pairs = zip(self.owners[operator].tolist(), self.floors(operator), strict=True)
        return [max(self.place(w, first + index), floor, key=_turn) for index, floor in pairs]

    def assign(self, w: Arrays, operator: str, owner: Words, floors: Sequence[Place]) -> None:
        """From now on partition k belongs to the instance with index owner[k], and is read from floors[k] on (`places` up to now). The logs
        of all instances are empty until `reload` fills them."""
        self.owners[operator], self._floors[operator] = np.array(owner, np.int64), list(floors)
        here = self._instances(operator)
        for i in range(here.start, here.stop):
            self.to_floors(w, operator, i)

    def set_floors(self, operator: str, floors: Sequence[Place]) -> None:
        """Whoever goes on at the floors (`to_floors`) does so from here on; what is read now is not touched."""
        self._floors[operator] = list(floors)

    def to_floors(self, w: Arrays, operator: str, i: int) -> None:
        """Instance `i` goes on at the floors of its partitions, once `reload` has filled its log. Where all of these have been read
        it reads the end of its log again: else it would hold back the watermark with which it begins."""
        index = i - self._instances(operator).start
        mine = [floor.append_ns for floor, k in zip(self.floors(operator), self.owners[operator].tolist(), strict=True) if k == index]
        w.inst[i, L.I_LOG] = w.inst[i, L.I_LOG_END]
        self._sought.pop(i, None)
        if mine:
            end = Place(self._plan.feeds[operator].closes_ns, 0, L.LOG_END)
            self._sought[i] = min(Place(min(mine), 0, L.LOG_AHEAD), end, key=_turn)


def _turn(place: Place) -> tuple[int, int]:
    """What comes earlier in a log has the lesser one: records that come together stand there by number."""
    return place.append_ns, {L.LOG_AHEAD: -1, L.LOG_END: L.FAR}.get(place.trigger, place.trigger)


def _row(chunk: LogChunk, place: Place, among: NDArray[np.bool_]) -> int:
    """The first row of a chunk that lies at a place, or behind it. among: rows of which the place may be one."""
    start, stop = map(int, np.searchsorted(chunk.append_ns, [place.append_ns, place.append_ns + 1]))  # they came together
    same = (chunk.event_ns[start:stop] == place.event_ns) & (chunk.trigger[start:stop] == place.trigger) & among[start:stop]
    found = np.flatnonzero(same)
    if len(found):
        return start + int(found[0])
    return stop if place.trigger == L.LOG_END else start
